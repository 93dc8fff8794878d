//! Several files as one table.

mod alike;
mod divide;
mod file_schemas;
mod fill;
mod opening;
mod parallel;
mod projection;
mod read;
mod rows;
mod schema;
mod selection;
mod steps;
mod survey;
mod walk;

pub use alike::{AlikeStep, AlikeSteps, FileEntries};
pub use divide::{Division, DivisionSchema};
pub use file_schemas::SchemaColumns;
pub use projection::{ChainProjection, FileProjection, ProjectedField, ProjectionError};
pub use read::{ChainRun, ChainSelected, Unlike};
pub use schema::{PayloadStep, SchemaExpressions, SchemaOptions};
pub use selection::ChainSelection;
pub use steps::{ChainStep, ChainSteps};

use crate::{
    File, Loss, OpenOptions, Step, Table,
    files::{self, StoreOptions},
};
use forthwith_columns::{Array, Form};
use forthwith_engine::{Engine, Options};
use forthwith_plan::{Constant, Error, ErrorKind, Result};
use std::{
    ops::{Range, RangeBounds},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

/// Tables of several files, concatenated. Cheap to clone, and `Sync`.
///
/// Files are opened when they are read, several at a time and in advance, and closed afterwards. Entries are
/// counted across all files. A read fills one array for each column from the blocks of all files, without
/// concatenation unless the files have different types, which are cast to their [common type](Form::unite).
///
/// ```
/// use forthwith::{Chain, SelectOptions};
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
///
/// let chain = Chain::of(&["tests/data/zmumu.root:events", "tests/data/zmumu.root:events"], Default::default())?;
/// assert_eq!((chain.len(), chain.entries()?), (2, 7200));
/// let columns = chain.columns(&["MET_pt", "nMuon"])?;
/// assert_eq!(columns[0].length, 7200);
///
/// let cut = SelectOptions { cut: Some("nMuon > 1".into()), ..Default::default() };
/// let selected = chain.select(&["Muon_pt*2"], cut)?.read(.., None, None)?;
/// assert_eq!(selected.kept.map(|kept| kept.len() as u64), Some(selected.arrays[0].length));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Chain {
    shared: Arc<Shared>,
}

struct Shared {
    files: Vec<ChainFile>,
    options: ChainOptions,
    /// Opens the tables instead of their paths.
    opener: Option<TableOpener>,
    engine: Arc<Engine>,
    /// Number of entries of each file, if known.
    lengths: Mutex<Vec<Option<u64>>>,
    /// Time zones of the first file, in which the times of all files are displayed.
    zones: OnceLock<Vec<(String, Form)>>,
}

/// Opens the table of a file, given its number.
type TableOpener = Arc<dyn Fn(usize) -> Result<Table> + Send + Sync>;

/// A file of a chain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChainFile {
    /// Path or URL.
    pub path: PathBuf,
    /// Path of the table in the file; empty for the only table.
    pub object: String,
    /// Columns of one value each, such as [Hive partitions](crate::files::partitions).
    pub constants: Vec<Constant>,
}

/// Options for opening and reading the files of a chain.
#[derive(Clone, Debug, Default)]
pub struct ChainOptions {
    /// Options of the format.
    pub open: OpenOptions,
    /// Options of the store of URLs.
    pub store: StoreOptions,
    /// Treatment of columns that some files lack.
    pub missing: MissingColumns,
    /// Treatment of damage.
    pub damage: Damage,
    /// Engine that reads all files; by default one with as many threads as processors.
    pub engine: Option<Arc<Engine>>,
}

/// Treatment of columns that some files lack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MissingColumns {
    /// Fails with an error that names the file.
    #[default]
    Raise,
    /// Fills in nulls for the entries of these files. All files are opened first, to determine the common
    /// types.
    Null,
}

/// Treatment of damage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Damage {
    /// Fails with an error that names file, object, block and byte.
    #[default]
    Raise,
    /// Leaves out damaged entries and files that cannot be opened, and lists them as [`Loss`].
    Skip,
    /// Replaces damaged values of a column by nulls; files that cannot be opened are an error. Not supported
    /// for computed columns.
    Null,
}

/// Lost entries of a file of a chain.
#[derive(Debug)]
pub struct ChainLoss {
    /// Number of the file.
    pub file: usize,
    /// Entries, counted within the file, and the reason. The range is empty for a file that could not be
    /// opened.
    pub loss: Loss,
}

impl Chain {
    /// Makes a chain of the tables that `name` refers to: `path:table`, where the path may be a glob pattern,
    /// a directory or a URL, and the table may be omitted if each file has only one. No file is opened.
    ///
    /// # Errors
    /// No file matches; a directory cannot be read.
    pub fn open(name: impl AsRef<str>) -> Result<Self> {
        Self::of(&[name], ChainOptions::default())
    }

    /// Makes a chain of the tables that several names refer to, in this order; see [`open`](Self::open).
    ///
    /// # Errors
    /// Errors of [`open`](Self::open).
    pub fn of<S: AsRef<str>>(names: &[S], options: ChainOptions) -> Result<Self> {
        let mut found = Vec::new();
        let mut objects = Vec::new();
        for name in names {
            let (given, object) = files::split(name.as_ref(), |name| Path::new(name).exists());
            for path in files::expand_with(&[given], &options.store)?.files {
                found.push((PathBuf::from(given), path));
                objects.push(object.clone());
            }
        }
        let constants = files::partitions(&found);
        let files = found.into_iter().zip(objects).zip(constants);
        let files = files.map(|(((_, path), object), constants)| ChainFile { path, object, constants });
        Self::new(files.collect(), options)
    }

    /// Makes a chain of files, in this order.
    ///
    /// # Errors
    /// `files` is empty.
    pub fn new(files: Vec<ChainFile>, options: ChainOptions) -> Result<Self> {
        Self::opened_by(None, files, options)
    }

    /// Makes a chain of files whose tables a function opens, such as one that keeps a stream open. It is
    /// called on several threads, and for some files more than once.
    ///
    /// ```
    /// use forthwith::{Chain, ChainFile, File};
    /// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data");
    ///
    /// let events = File::open(format!("{folder}/zmumu.root"))?.table("events")?;
    /// let twice = vec![ChainFile { path: "zmumu.root".into(), ..ChainFile::default() }; 2];
    /// let chain = Chain::with_opener(twice, Default::default(), move |_| Ok(events.clone()))?;
    /// assert_eq!(chain.entries()?, 7200);
    /// # Ok::<(), forthwith::plan::Error>(())
    /// ```
    ///
    /// # Errors
    /// `files` is empty.
    pub fn with_opener(
        files: Vec<ChainFile>,
        options: ChainOptions,
        opener: impl Fn(usize) -> Result<Table> + Send + Sync + 'static,
    ) -> Result<Self> {
        Self::opened_by(Some(Arc::new(opener)), files, options)
    }

    fn opened_by(opener: Option<TableOpener>, files: Vec<ChainFile>, options: ChainOptions) -> Result<Self> {
        if files.is_empty() {
            return Err(Error::invalid("a chain needs a file"));
        }
        let engine = options.engine.clone().unwrap_or_else(|| Arc::new(Engine::new(Options::default())));
        let (lengths, zones) = (Mutex::new(vec![None; files.len()]), OnceLock::new());
        Ok(Self { shared: Arc::new(Shared { files, options, opener, engine, lengths, zones }) })
    }

    /// Returns the files.
    #[must_use]
    pub fn files(&self) -> &[ChainFile] {
        &self.shared.files
    }

    /// Returns the number of files.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "there is always a file")]
    pub fn len(&self) -> usize {
        self.shared.files.len()
    }

    /// Returns the options that the chain was made with.
    #[must_use]
    pub fn options(&self) -> &ChainOptions {
        &self.shared.options
    }

    /// Returns a chain of the same files with another engine.
    pub(crate) fn with_engine(&self, engine: &Arc<Engine>) -> Self {
        let Shared { files, options, opener, .. } = &*self.shared;
        let (files, options, opener) = (files.clone(), options.clone(), opener.clone());
        let (engine, lengths) = (Arc::clone(engine), Mutex::new(self.known_lengths()));
        let zones = self.shared.zones.clone();
        Self { shared: Arc::new(Shared { files, options, opener, engine, lengths, zones }) }
    }

    /// Returns the engine that reads all files.
    #[must_use]
    pub fn engine(&self) -> &Arc<Engine> {
        &self.shared.engine
    }

    /// Opens the table of a file, with its constants, and with times in the zones of the first file.
    ///
    /// # Errors
    /// The file cannot be opened, has no table of the path, or has several tables and no path is given.
    pub fn table(&self, file: usize) -> Result<Table> {
        let mut table = self.open_table(file)?;
        if file > 0 && !table.zones().is_empty() {
            table = table.in_zones_of(self.zones()?)?;
        }
        let table = table.with_constants(&self.shared.files[file].constants)?;
        Ok(table)
    }

    fn open_table(&self, file: usize) -> Result<Table> {
        let Shared { files, options, engine, .. } = &*self.shared;
        let at = files.get(file).ok_or_else(|| Error::invalid(format!("the chain has no file {file}")))?;
        if let Some(opener) = &self.shared.opener {
            return opener(file);
        }
        let source = files::source_with(&at.path, &options.store)?;
        let opened = File::from_source_with(source, Arc::clone(engine), &options.open)?;
        if !at.object.is_empty() || opened.is_one_table() {
            return opened.table(&at.object);
        }
        let tables = files::tables(&opened)?;
        match (tables.first(), tables.len()) {
            (Some(only), 1) => opened.table(only),
            (_, count) => {
                let what =
                    format!("the file has {count} tables: name one, as in \"{}:events\"", opened.uri());
                Err(Error::invalid(what).in_file(opened.uri()))
            }
        }
    }

    fn zones(&self) -> Result<&[(String, Form)]> {
        if let Some(zones) = self.shared.zones.get() {
            return Ok(zones);
        }
        let zones = self.open_table(0)?.zones();
        Ok(self.shared.zones.get_or_init(|| zones))
    }

    /// Calls a function for each of some files, on several threads, and returns the results in order.
    ///
    /// ```
    /// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data");
    /// let chain = forthwith::Chain::open(format!("{folder}/zmumu.root:events"))?;
    /// let counts = chain.map_files(0..chain.len(), |file| chain.table(file)?.entries());
    /// assert_eq!(counts.into_iter().collect::<Result<Vec<_>, _>>()?, [3600]);
    /// # Ok::<(), forthwith::plan::Error>(())
    /// ```
    pub fn map_files<T: Send>(&self, files: Range<usize>, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
        opening::side_by_side(self, files, &work)
    }

    /// Returns the number of entries of each file. Files of unknown length are opened. If damage is not an
    /// error, only readable entries are counted, and a file that is left out has 0.
    ///
    /// # Errors
    /// A file cannot be opened or counted.
    pub fn lengths(&self) -> Result<Vec<u64>> {
        self.lengths_up_to(u64::MAX)
    }

    /// Returns the number of entries of each file, if it has been counted or read.
    #[must_use]
    pub fn known_lengths(&self) -> Vec<Option<u64>> {
        self.shared.lengths.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the numbers of entries of the first files, up to a total of `most`.
    fn lengths_up_to(&self, most: u64) -> Result<Vec<u64>> {
        let mut lengths = Vec::new();
        let mut total = 0_u64;
        // If the last file to read is unknown, no file is opened that may not be needed.
        let together = if most == u64::MAX { opening::together(self) } else { 1 };
        while lengths.len() < self.len() && (total < most || lengths.is_empty()) {
            let batch = lengths.len()..(lengths.len() + together).min(self.len());
            let known = |file: usize| self.known_length(file).map_or_else(|| self.count(file), Ok);
            for length in opening::side_by_side(self, batch, &known) {
                let length = length?;
                total = total.saturating_add(length);
                lengths.push(length);
            }
        }
        Ok(lengths)
    }

    fn count(&self, file: usize) -> Result<u64> {
        let damage = self.options().damage;
        let entries = match self.open_table(file) {
            Ok(table) if damage == Damage::Raise => table.entries()?,
            Ok(table) => table.sound()?.0.entries()?,
            Err(error) if damage == Damage::Skip && is_unreadable(&error) => 0,
            Err(error) => return Err(error),
        };
        self.set_length(file, entries);
        Ok(entries)
    }

    fn known_length(&self, file: usize) -> Option<u64> {
        self.shared.lengths.lock().unwrap_or_else(PoisonError::into_inner).get(file).copied().flatten()
    }

    fn set_length(&self, file: usize, entries: u64) {
        let mut lengths = self.shared.lengths.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(length) = lengths.get_mut(file) {
            *length = Some(entries);
        }
    }

    /// Returns the total number of entries.
    ///
    /// # Errors
    /// Errors of [`lengths`](Self::lengths).
    pub fn entries(&self) -> Result<u64> {
        Ok(self.lengths()?.iter().fold(0, |sum, length| sum.saturating_add(*length)))
    }

    /// Returns the paths of the columns that all files have, in the order of the first file; with
    /// [`MissingColumns::Null`], those that any file has. Opens all files.
    ///
    /// # Errors
    /// A file cannot be opened.
    pub fn names(&self) -> Result<Vec<String>> {
        let is_null = self.shared.options.missing == MissingColumns::Null;
        let mut names: Option<Vec<String>> = None;
        let of_file = |file: usize| column_names(&self.table(file)?);
        for found in opening::side_by_side(self, 0..self.len(), &of_file) {
            let found = found?;
            match &mut names {
                None => names = Some(found),
                Some(names) => {
                    let all: std::collections::HashSet<&String> = found.iter().collect();
                    if !is_null {
                        names.retain(|name| all.contains(name));
                        continue;
                    }
                    let known: std::collections::HashSet<String> = names.iter().cloned().collect();
                    names.extend(found.into_iter().filter(|name| !known.contains(name)));
                }
            }
        }
        Ok(names.unwrap_or_default())
    }

    /// Reads all entries of some columns: an array for each name, which is a column, an alias or an
    /// expression.
    ///
    /// # Errors
    /// Errors of [`select`](Self::select) and [`ChainSelection::read`].
    pub fn columns(&self, names: &[&str]) -> Result<Vec<Array>> {
        Ok(self.select(names, crate::SelectOptions::default())?.read(.., None, None)?.arrays)
    }

    /// Returns steps of some columns; a step never spans two files.
    ///
    /// # Errors
    /// Errors of [`select`](Self::select).
    pub fn steps(&self, names: &[&str], entries: impl RangeBounds<u64>, step: Step) -> Result<ChainSteps> {
        self.select(names, crate::SelectOptions::default())?.steps(entries, step)
    }

    /// Returns the files with entries of a range, each with its part of it; the unlimited range counts no
    /// entries.
    fn portions(&self, entries: &Range<u64>) -> Result<Vec<Portion>> {
        if *entries == (0..u64::MAX) {
            return Ok((0..self.len()).map(|file| Portion { file, entries: None, before: None }).collect());
        }
        let mut before = 0_u64;
        let mut portions = Vec::new();
        for (file, length) in self.lengths_up_to(entries.end)?.into_iter().enumerate() {
            let end = before.saturating_add(length);
            let (from, to) = (entries.start.max(before), entries.end.min(end));
            if from < to {
                portions.push(Portion {
                    file,
                    entries: Some(from - before..to - before),
                    before: Some(before),
                });
            }
            before = end;
        }
        if portions.is_empty() {
            portions.push(Portion { file: 0, entries: Some(0..0), before: Some(0) });
        }
        Ok(portions)
    }
}

/// Part of a file to read.
#[derive(Clone, Debug)]
struct Portion {
    file: usize,
    /// Entries, counted within the file; `None` for all.
    entries: Option<Range<u64>>,
    /// Number of entries of the files before it, if known.
    before: Option<u64>,
}

/// Returns the paths of the columns that have data.
fn column_names(table: &Table) -> Result<Vec<String>> {
    Ok(table.fields()?.iter().filter(|field| field.has_data).map(|field| field.path.clone()).collect())
}

/// Whether a file that failed to open with this error may be left out.
fn is_unreadable(error: &Error) -> bool {
    error.is_damage() || matches!(error.kind, ErrorKind::Source(_) | ErrorKind::Unsupported { .. })
}

forthwith_io::impl_debug!(Chain, |it| "files": it.shared.files.len(), "first": it.shared.files.first());
