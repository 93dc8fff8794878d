//! Opens files, and finds the tree and branch named on the command line.

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

/// How values of tables are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Values {
    /// Treatment of strings that are not valid UTF-8.
    pub(crate) text: TextPolicy,
    /// Whether times are read as the stored integers.
    pub(crate) times_as_integers: bool,
}

/// How files are opened.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct Opening {
    /// Number of threads; `None` uses the engine's default.
    pub(crate) threads: Option<usize>,
    /// Whether ROOT files are opened by scanning their records.
    pub(crate) recover: bool,
    /// Whether to skip checksums.
    pub(crate) no_checksums: bool,
    /// Options of the file's format.
    pub(crate) format: Vec<(String, String)>,
    /// Options for stores; may contain secrets.
    pub(crate) store: Vec<(String, String)>,
    /// The index of the file, or the folder with the index.
    pub(crate) index: Option<String>,
    /// Whether to ignore summaries cached next to the file.
    pub(crate) no_cache: bool,
    /// Cancels all reading of the file from another thread.
    pub(crate) cancellation: Option<Cancellation>,
}

/// Omits fields that may contain secrets.
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
    /// Returns whether cached summaries are used and written. They apply only to values read with default options.
    pub(crate) fn keeps_stats(&self) -> bool {
        !self.no_cache && !self.recover && self.format.is_empty()
    }

    /// Returns the options for stores.
    pub(crate) fn store(&self) -> StoreOptions {
        self.store.iter().fold(StoreOptions::new(), |store, (name, value)| store.with(name, value))
    }
}

/// Opens a file.
pub(crate) fn file(target: &Target, opening: &Opening) -> Result<File> {
    let file = of_source(source(target, opening)?, opening)?;
    let stats = files::read_stats(file.uri(), file.source().as_ref()).filter(|_| opening.keeps_stats());
    Ok(match stats {
        Some(stats) => file.with_stats(stats),
        None => file,
    })
}

/// Like [`file`], for reading the whole file: remote files are copied first.
pub(crate) fn whole_file(target: &Target, opening: &Opening) -> Result<File> {
    of_source(files::whole(source(target, opening)?)?, opening)
}

fn source(target: &Target, opening: &Opening) -> Result<Arc<dyn Source>> {
    let cancellation = opening.cancellation.clone();
    let is_cancelled = move || cancellation.as_ref().is_some_and(Cancellation::is_cancelled);
    // A signal ends waiting for a pipe or server.
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

/// Returns the file that a path passes through like a folder, and the rest of the path.
fn above(target: &Target) -> Option<(&str, &str)> {
    let file = Path::new(&target.uri).ancestors().skip(1).find(|path| path.is_file())?.to_str()?;
    let inner = target.uri.strip_prefix(file)?.trim_start_matches('/');
    (target.path.is_none() && !inner.is_empty()).then_some((file, inner))
}

/// Returns the source of a file, with the engine and options for opening it.
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

/// Creates an engine with the number of threads from the command line.
pub(crate) fn engine(opening: &Opening) -> Arc<Engine> {
    Arc::new(Engine::new(opening.threads.map_or_else(Options::default, Options::with_threads)))
}

/// Returns the engine and options for reading.
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

/// Notes the findings for a file opened by scanning its records.
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

/// Opens the file, and finds the tree and branch in it.
pub(crate) fn place_of(target: &Target, opening: &Opening) -> Result<Place> {
    place_in(&file(target, opening)?, target)
}

/// Finds the tree and branch in an open file. The branch may be a column derived from folder names.
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

/// A tree, and optionally one of its branches.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) table: Table,
    pub(crate) branch: Option<u32>,
    /// Whether the tree was named; otherwise it is the only one.
    pub(crate) named: bool,
    pub(crate) words: &'static Words,
}

impl Place {
    /// Adds the columns derived from folder names.
    pub(crate) fn with_constants(self, target: &Target) -> Result<Self> {
        Ok(Self { table: self.table.with_constants(&target.constants)?, ..self })
    }

    /// Sets how values are read.
    pub(crate) fn with_values(self, values: Values) -> Self {
        let table = self.table.with_text_policy(values.text);
        Self { table: table.with_times_as_integers(values.times_as_integers), ..self }
    }

    /// Tells a user on a terminal which tree was chosen, unless the file holds a single table.
    pub(crate) fn tell(&self, console: &mut Console<'_>) {
        if console.width.is_some() && !self.named && !self.table.file().is_one_table() {
            let path = crate::human::clean(self.table.path());
            console.note(&format!("the only {} is {path}", self.words.table));
        }
    }

    /// Returns the error for a command that needs a branch but got only a table.
    pub(crate) fn which_branch(&self) -> Failure {
        let (file, column) = (self.table.file(), self.words.column[0]);
        let (uri, placeholder) = (file.uri(), column.to_uppercase());
        // The table of a single-table file needs no name, and may have none.
        if file.is_one_table() {
            return Failure::WhichBranch { column, typed: format!("{uri}:{placeholder}"), table: uri.into() };
        }
        let table = format!("{uri}:{}", self.table.path());
        Failure::WhichBranch { column, typed: format!("{table}/{placeholder}"), table }
    }

    /// Returns the name of the table.
    pub(crate) fn name(&self) -> String {
        match self.table.path() {
            "" => "the table".into(),
            path => path.to_owned(),
        }
    }
}

/// Finds the tree and branch for a path in a file. The longest prefix naming a tree is the tree; the rest is
/// the branch, which may itself contain `/`. An empty path selects the only tree, and a path without a tree
/// is taken as a branch of the only tree.
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
    // The original error suggests similar names, which is more useful than naming the only table.
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

/// Maximum number of trees searched for a branch without a named tree.
const SEARCHED: usize = 32;

/// Returns the paths of all trees in file order, without repeating cycles.
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

/// Returns the path of the first table of an unsupported kind; opening it reports the exact reason.
pub(crate) fn other_table(file: &File) -> Result<Option<String>> {
    Ok(file.keys("", true)?.into_iter().find(|key| key.is_unsupported_table).map(|key| key.path))
}
