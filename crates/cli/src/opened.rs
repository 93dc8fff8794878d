//! From what was typed to an opened tree.

use crate::{
    cancellation::Cancellation,
    console::Console,
    failure::{Failure, Result},
    human,
    interrupt::is_asked,
    target::Target,
    words::Words,
};
use forthwith::{
    Engine, File, OpenOptions, Options, Table,
    columns::TextPolicy,
    files::{self, IndexPlace, StoreOptions},
    io::Source,
    plan::ErrorKind,
};
use std::{collections::BTreeSet, fmt, path::Path, sync::Arc};

/// How the values of tables are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Values {
    /// Treatment of text that is not UTF-8.
    pub(crate) text: TextPolicy,
    /// Whether times are the whole numbers that they are stored as.
    pub(crate) times_as_integers: bool,
}

/// How files are opened.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct Opening {
    /// Threads to read with; `None` leaves it to the engine.
    pub(crate) threads: Option<usize>,
    /// ROOT files are opened by their records.
    pub(crate) recover: bool,
    /// Checksums that a format verifies unless it is told not to.
    pub(crate) no_checksums: bool,
    /// Options of the file's format.
    pub(crate) format: Vec<(String, String)>,
    /// Options for stores, which may be secrets.
    pub(crate) store: Vec<(String, String)>,
    /// The index of the file, or the folder that it is in.
    pub(crate) index: Option<String>,
    /// Summaries of columns that are beside the file are not used.
    pub(crate) no_cache: bool,
    /// Ends all reading of the file, if another thread may do so.
    pub(crate) cancellation: Option<Cancellation>,
}

/// Without what may be a secret.
impl fmt::Debug for Opening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.store.iter().map(|(name, _)| name).collect();
        f.debug_struct("Opening")
            .field("threads", &self.threads)
            .field("recover", &self.recover)
            .field("no_checksums", &self.no_checksums)
            .field("format", &self.format)
            .field("store", &names)
            .field("index", &self.index)
            .field("no_cache", &self.no_cache)
            .finish()
    }
}

impl Opening {
    /// Whether summaries of the file's columns are used and kept: they are those of the values as they are usually read.
    pub(crate) fn keeps_stats(&self) -> bool {
        !self.no_cache && !self.recover && self.format.is_empty()
    }

    /// How stores are reached.
    pub(crate) fn store(&self) -> StoreOptions {
        self.store.iter().fold(StoreOptions::new(), |store, (name, value)| store.with(name, value))
    }
}

/// Opens the file.
pub(crate) fn file(target: &Target, opening: &Opening) -> Result<File> {
    let file = of_source(source(target, opening)?, opening)?;
    let stats = files::read_stats(file.uri(), file.source().as_ref()).filter(|_| opening.keeps_stats());
    Ok(match stats {
        Some(stats) => file.with_stats(stats),
        None => file,
    })
}

/// The same for a reader of the whole file: one behind a network is copied first.
pub(crate) fn whole_file(target: &Target, opening: &Opening) -> Result<File> {
    of_source(files::whole(source(target, opening)?)?, opening)
}

fn source(target: &Target, opening: &Opening) -> Result<Arc<dyn Source>> {
    let cancellation = opening.cancellation.clone();
    let is_cancelled = move || cancellation.as_ref().is_some_and(Cancellation::is_cancelled);
    // A signal that is noted ends the wait for a pipe or a server.
    let store = opening.store().going_on(move || !is_asked() && !is_cancelled());
    let name = target.name();
    let index = match &opening.index {
        Some(index) => files::read_index(&target.uri, &IndexPlace::At(index.clone()), &store)?,
        None => None,
    };
    let opened = match index {
        Some(index) => files::source_indexed(name, index, &store),
        None => files::source_with(name, &store),
    };
    let guarded = opened.map(|source| match &opening.cancellation {
        Some(cancellation) => cancellation.guard(source),
        None => source,
    });
    guarded.map_err(|error| match above(target) {
        Some((file, inner)) => Failure::from(error)
            .hinted(format!("{file} is a file: what is in it is named behind a colon, as in {file}:{inner}")),
        None => error.into(),
    })
}

/// The file that a name leads through as if it were a folder, and what is behind it.
fn above(target: &Target) -> Option<(&str, &str)> {
    let file = Path::new(&target.uri).ancestors().skip(1).find(|path| path.is_file())?.to_str()?;
    let inner = target.uri.strip_prefix(file)?.trim_start_matches('/');
    (target.path.is_none() && !inner.is_empty()).then_some((file, inner))
}

/// The source of a file, with the engine and the options to open it by.
pub(crate) fn parts(
    target: &Target,
    opening: &Opening,
) -> Result<(Arc<dyn Source>, Arc<Engine>, OpenOptions)> {
    let (engine, options) = reading(opening)?;
    Ok((source(target, opening)?, engine, options))
}

fn of_source(source: Arc<dyn Source>, opening: &Opening) -> Result<File> {
    let (engine, options) = reading(opening)?;
    Ok(File::from_source_with(source, engine, &options)?)
}

/// An engine with the threads of the command line.
pub(crate) fn engine(opening: &Opening) -> Arc<Engine> {
    Arc::new(Engine::new(opening.threads.map_or_else(Options::default, Options::with_threads)))
}

/// How files are read.
fn reading(opening: &Opening) -> Result<(Arc<Engine>, OpenOptions)> {
    let mut format = OpenOptions::new();
    if opening.recover {
        format.set("recover", true);
    }
    if opening.no_checksums {
        format.set("checksums", false);
    }
    for (name, value) in &opening.format {
        format.set_text(name, value)?;
    }
    Ok((engine(opening), format))
}

/// Says what was found of a file that was opened by its records.
pub(crate) fn tell_of_recovery(file: &File, console: &mut Console<'_>) {
    let Some(found) = file.recovery() else { return };
    let mut text = format!(
        "{} was read from record to record: {} and {}",
        human::clean(file.uri()),
        human::counted(found.objects as u64, "object", "objects"),
        human::counted(found.blocks as u64, "basket", "baskets")
    );
    if let Some(first) = found.gaps.first() {
        let bytes = found.gaps.iter().fold(0, |sum, gap| sum + (gap.end - gap.begin));
        let (bytes, why) = (human::bytes(bytes), human::clean(&first.what));
        text += &format!("; {bytes} from byte {} on were passed over: {why}", first.begin);
    }
    if let Some(why) = &found.stopped {
        let (end, size) = (human::bytes(found.end), human::bytes(found.size));
        text += &format!("; the walk ended after {end} of {size}: {}", human::clean(why));
    }
    console.note(&text);
}

/// Opens the file and finds the tree and branch in it.
pub(crate) fn place_of(target: &Target, opening: &Opening) -> Result<Place> {
    place_in(&file(target, opening)?, target)
}

/// Finds the tree and branch in a file that is open. The branch may be a column that the folders of the file say.
pub(crate) fn place_in(file: &File, target: &Target) -> Result<Place> {
    let object = target.object.as_str();
    let missing = match place(file, object) {
        Ok(place) => return place.with_constants(target),
        Err(failure) => failure,
    };
    let is_said = |name: &str| target.constants.iter().any(|constant| constant.name == name);
    let (above, name) = match object.rsplit_once('/') {
        _ if is_said(object) => ("", object),
        Some((above, name)) if is_said(name) => (above, name),
        _ => return Err(missing),
    };
    let Ok(whole @ Place { branch: None, .. }) = place(file, above) else { return Err(missing) };
    let whole = whole.with_constants(target)?;
    let branch = Some(whole.table.find(name)?);
    Ok(Place { branch, ..whole })
}

/// A tree, and perhaps one of its branches.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) table: Table,
    pub(crate) branch: Option<u32>,
    /// Whether the tree was named; otherwise it was the only one.
    pub(crate) named: bool,
    pub(crate) words: &'static Words,
}

impl Place {
    /// With the columns that the folders of the file say.
    pub(crate) fn with_constants(self, target: &Target) -> Result<Self> {
        Ok(Self { table: self.table.with_constants(&target.constants)?, ..self })
    }

    /// With values read in another way.
    pub(crate) fn with_values(self, values: Values) -> Self {
        let table = self.table.with_text_policy(values.text);
        Self { table: table.with_times_as_integers(values.times_as_integers), ..self }
    }

    /// The advice for a user who did not name the tree. The table of a file that has but one needs no name.
    pub(crate) fn tell(&self, console: &mut Console<'_>) {
        if console.width.is_some() && !self.named && !self.table.file().is_one_table() {
            let path = crate::human::clean(self.table.path());
            console.note(&format!("the only {} is {path}", self.words.table));
        }
    }

    /// The error of a command that needs a branch and got the table alone.
    pub(crate) fn which_branch(&self) -> Failure {
        let (file, column) = (self.table.file(), self.words.column[0]);
        let (uri, placeholder) = (file.uri(), column.to_uppercase());
        // The table of a file that has but one needs no name, and some have none.
        if file.is_one_table() {
            return Failure::WhichBranch { column, typed: format!("{uri}:{placeholder}"), table: uri.into() };
        }
        let table = format!("{uri}:{}", self.table.path());
        Failure::WhichBranch { column, typed: format!("{table}/{placeholder}"), table }
    }

    /// The name of the table.
    pub(crate) fn name(&self) -> String {
        match self.table.path() {
            "" => "the table".into(),
            path => path.to_owned(),
        }
    }
}

/// Finds the tree, and the branch, that a path in a file means. The longest path that is a tree wins; the
/// rest is the branch, whose name may contain `/` too. No path means the only tree there is, and a path that
/// is nothing else is a branch of it.
pub(crate) fn place(file: &File, object: &str) -> Result<Place> {
    let words = file.words();
    let whole = |table: Table, named| Place { words: table.words(), table, branch: None, named };
    if object.is_empty() {
        return Ok(whole(only_tree(file)?, false));
    }
    let missing = match files::locate(file, object) {
        Ok(files::Place::Table(table)) => return Ok(whole(table, true)),
        Ok(files::Place::Field { table, field, named }) => {
            return Ok(Place { words: table.words(), table, branch: Some(field), named });
        }
        Ok(files::Place::Object(key)) => {
            return Err(Failure::WrongObject { uri: file.uri().to_owned(), key: Box::new(key) });
        }
        Err(error) => error,
    };
    // A name that is similar says more than that there is one table.
    if file.is_one_table() || !matches!(missing.kind, ErrorKind::NotFound { what: "object", .. }) {
        return Err(missing.into());
    }
    let hint = match only_tree(file) {
        Ok(table) => Some(format!("nor is it a {} of {}, the only tree", words.column[0], table.path())),
        Err(Failure::WhichTree { trees, .. }) => trees.iter().take(SEARCHED).find_map(|path| {
            file.table(path).ok()?.find(object).ok()?;
            Some(format!("{path} has a {} of that name: {}:{path}/{object}", words.column[0], file.uri()))
        }),
        Err(_) => None,
    };
    let failure = Failure::from(missing);
    Err(match hint {
        Some(hint) => failure.hinted(hint),
        None => failure,
    })
}

/// Trees of a file that are searched for a branch whose tree is not named.
const SEARCHED: usize = 32;

/// The paths of all trees of a file, in its order, each once however many cycles it has.
pub(crate) fn trees(file: &File) -> Result<Vec<String>> {
    let mut seen = BTreeSet::new();
    let tables = file.keys("", true)?.into_iter().filter(|key| key.is_table).map(|key| key.path);
    Ok(tables.filter(|path| seen.insert(path.clone())).collect())
}

fn only_tree(file: &File) -> Result<Table> {
    let mut trees = trees(file)?;
    if trees.is_empty()
        && let Some(table) = other_table(file)?
    {
        return Ok(file.table(&table)?);
    }
    match (trees.pop(), trees.is_empty()) {
        (Some(path), true) => Ok(file.table(&path)?),
        (last, _) => {
            trees.extend(last);
            Err(Failure::WhichTree { uri: file.uri().to_owned(), trees })
        }
    }
}

/// A table of a kind that is no tree: the façade names it precisely as not supported.
pub(crate) fn other_table(file: &File) -> Result<Option<String>> {
    Ok(file.keys("", true)?.into_iter().find(|key| key.is_unsupported_table).map(|key| key.path))
}
