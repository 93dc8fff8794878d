//! An opened file.

use crate::{
    Container, FileInfo, Key, Object, OpenOptions, Recovery, StatsCache, Table, TableSummaries, Words,
    formats,
};
use bytes::Bytes;
use forthwith_columns::TextPolicy;
use forthwith_engine::{Engine, Options};
use forthwith_io::Source;
use forthwith_plan::{CheckReport, Dataset, Result};
use std::{any::Any, path::Path, sync::Arc};

/// An opened file. Only metadata that were asked for have been read. Cheap to clone, shared between threads as it is.
#[derive(Clone)]
pub struct File {
    container: Arc<dyn Container>,
    engine: Arc<Engine>,
    text: TextPolicy,
    times_as_integers: bool,
    stats: Option<Arc<StatsCache>>,
}

impl File {
    /// Opens a file with an engine of its own. A local path, a `file://` URL, `-` for standard input, or a pipe with a name.
    ///
    /// # Errors
    /// The file cannot be read, or is of no format that is known.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, &OpenOptions::new())
    }

    /// Opens a local file as a map whose bytes may be lent out: where nothing is compressed, [raw blocks](crate::Table::raw)
    /// and [raw numbers](crate::rows::Be) are views of the file and not copies. What is written to the file meanwhile
    /// shows in them, and what is cut off it is zeros.
    ///
    /// # Errors
    /// As [`open`](Self::open); a file that cannot be mapped.
    pub fn map(path: impl AsRef<Path>) -> Result<Self> {
        let source = forthwith_io::MappedFile::open(path)?;
        Self::from_source(Arc::new(source), Arc::new(Engine::new(Options::default())))
    }

    /// Opens a file with options for its format, and an engine of its own.
    ///
    /// # Errors
    /// As [`open`](Self::open); an option that the file's format does not understand.
    pub fn open_with(path: impl AsRef<Path>, options: &OpenOptions) -> Result<Self> {
        Self::from_source_with(
            crate::files::source(path)?,
            Arc::new(Engine::new(Options::default())),
            options,
        )
    }

    /// Opens what a source holds, to be read by the given engine.
    ///
    /// # Errors
    /// The source cannot be read, or holds no file of a format that is known.
    pub fn from_source(source: Arc<dyn Source>, engine: Arc<Engine>) -> Result<Self> {
        Self::from_source_with(source, engine, &OpenOptions::new())
    }

    /// The same, with options for the file's format.
    ///
    /// # Errors
    /// As [`from_source`](Self::from_source); an option that the format does not understand.
    pub fn from_source_with(
        source: Arc<dyn Source>,
        engine: Arc<Engine>,
        options: &OpenOptions,
    ) -> Result<Self> {
        let container = formats::open(source, options, &engine)?;
        let times_as_integers = options.flag(OpenOptions::TIMES_AS_INTEGERS, false);
        Ok(Self { container, engine, text: options.text_policy(), times_as_integers, stats: None })
    }

    /// Adds summaries of the columns, such as [`read_stats`](crate::files::read_stats) finds: blocks that they
    /// exclude are not read. They must be of the present state of the file.
    #[must_use]
    pub fn with_stats(mut self, stats: StatsCache) -> Self {
        self.stats = Some(Arc::new(stats));
        self
    }

    /// The summaries of its columns that it was given.
    #[must_use]
    pub fn stats(&self) -> Option<&StatsCache> {
        self.stats.as_deref()
    }

    /// Its name.
    #[must_use]
    pub fn uri(&self) -> &str {
        self.source().uri()
    }

    /// Where its bytes come from.
    #[must_use]
    pub fn source(&self) -> &Arc<dyn Source> {
        self.container.source()
    }

    /// The engine that reads its tables.
    #[must_use]
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// The name of its format.
    #[must_use]
    pub fn format(&self) -> &'static str {
        self.container.format()
    }

    /// The format's own view of the file, if it is of this type: `file.own::<forthwith::root::RootFile>()`.
    #[must_use]
    pub fn own<T: Any>(&self) -> Option<&T> {
        self.container.own().downcast_ref()
    }

    /// The file's own metadata.
    ///
    /// # Errors
    /// Its size cannot be had.
    pub fn info(&self) -> Result<FileInfo> {
        self.container.info()
    }

    /// Words that are kept with the file, by their names, where its format has any.
    #[must_use]
    pub fn metadata(&self) -> Vec<(String, Bytes)> {
        self.container.metadata()
    }

    /// Those of the [metadata](Self::metadata) that are not the format's own: what another file of the same columns keeps.
    #[must_use]
    pub fn user_metadata(&self) -> Vec<(String, Bytes)> {
        self.container.user_metadata()
    }

    /// The schema of its values in the format's own words, if the format has such: what another file of the same columns can be written
    /// by ([`WriteOptions::schema`](forthwith_plan::WriteOptions::schema)).
    #[must_use]
    pub fn schema(&self) -> Option<String> {
        self.container.schema()
    }

    /// Whether the file is one table and nothing else, which an empty path means then.
    #[must_use]
    pub fn is_one_table(&self) -> bool {
        self.container.only_table().is_some()
    }

    /// The objects in a directory (`""` is the top), in the file's order; with `recursive` also those in directories below. A file that
    /// is one table has that as its only object.
    ///
    /// # Errors
    /// The directory does not exist or cannot be read.
    pub fn keys(&self, directory: &str, recursive: bool) -> Result<Vec<Key>> {
        self.container.keys(directory, recursive)
    }

    /// Finds an object: `name`, `name;cycle`, `dir/name;cycle`. Without a cycle, the highest one.
    ///
    /// # Errors
    /// [`NotFound`](forthwith_plan::ErrorKind::NotFound) with the most similar names.
    pub fn find(&self, path: &str) -> Result<Key> {
        self.container.find(path)
    }

    /// Reads an object that is no table, with everything it points to.
    ///
    /// # Errors
    /// Nothing of that name; the object cannot be read, or the file does not say how; files of its format have no objects.
    pub fn object(&self, path: &str) -> Result<Object> {
        let object = self.container.object(path)?;
        self.source().confirm()?;
        Ok(object)
    }

    /// Opens a table. An empty path is that of a file that is one.
    ///
    /// # Errors
    /// Nothing of that name; an object of another class, by name; damaged metadata.
    pub fn table(&self, path: &str) -> Result<Table> {
        let table = Table::new(self.clone(), self.container.dataset(path)?);
        let summaries = self.summaries(&table);
        let table = table.with_summaries(summaries);
        Ok(table.with_text_policy(self.text).with_times_as_integers(self.times_as_integers))
    }

    /// Reads the whole file and compares what its parts say of each other.
    ///
    /// # Errors
    /// The source cannot be read; whatever is wrong with the file is a finding. There is no check for files of its format.
    pub fn check(&self) -> Result<CheckReport> {
        self.container.check()
    }

    /// The format's words for the things in its files.
    #[must_use]
    pub fn words(&self) -> &'static Words {
        self.container.words()
    }

    /// The summaries of a table, if they are of all its entries and it is the only one with its path: others may be older cycles.
    fn summaries(&self, table: &Table) -> Option<Arc<TableSummaries>> {
        let summaries = self.stats.as_ref()?.table(table.path())?;
        // Counting may mean to read the file.
        let is_of_all = !table.counts_blocks() && table.entries().ok()? == summaries.entries;
        let is_only = self.is_one_table() || {
            let keys = self.keys("", true).ok()?;
            keys.iter().filter(|key| key.path == table.path()).count() == 1
        };
        (is_of_all && is_only).then(|| Arc::clone(summaries))
    }

    pub(crate) fn container(&self) -> &dyn Container {
        &*self.container
    }

    pub(crate) fn words_of(&self, dataset: &dyn Dataset) -> &'static Words {
        self.container.words_of(dataset)
    }

    /// The objects that were recovered, if the file was opened by its records and not by its directories.
    #[must_use]
    pub fn recovery(&self) -> Option<Recovery> {
        self.container.recovery()
    }
}

forthwith_io::impl_debug!(File, |it| "uri": it.uri());
