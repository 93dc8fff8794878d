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

/// An opened file. Metadata are read on demand. Cheap to clone, and `Sync`.
#[derive(Clone)]
pub struct File {
    container: Arc<dyn Container>,
    engine: Arc<Engine>,
    text: TextPolicy,
    times_as_integers: bool,
    stats: Option<Arc<StatsCache>>,
}

impl File {
    /// Opens a file with its own engine. The path is a local path, a `file://` URL, `-` for standard input,
    /// or a named pipe.
    ///
    /// # Errors
    /// The file cannot be read, or its format is unknown.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, &OpenOptions::new())
    }

    /// Maps a local file so that its bytes can be borrowed: where data are not compressed, [raw
    /// blocks](crate::Table::raw) and [raw numbers](crate::rows::Be) are views of the file. They reflect
    /// concurrent writes to the file, and are zero where it is truncated.
    ///
    /// # Errors
    /// Errors of [`open`](Self::open); the file cannot be mapped.
    pub fn map(path: impl AsRef<Path>) -> Result<Self> {
        let source = forthwith_io::MappedFile::open(path)?;
        Self::from_source(Arc::new(source), Arc::new(Engine::new(Options::default())))
    }

    /// Opens a file with options for its format, and with its own engine.
    ///
    /// # Errors
    /// Errors of [`open`](Self::open); an option that the file's format does not support.
    pub fn open_with(path: impl AsRef<Path>, options: &OpenOptions) -> Result<Self> {
        Self::from_source_with(
            crate::files::source(path)?,
            Arc::new(Engine::new(Options::default())),
            options,
        )
    }

    /// Opens a file from a source, with the given engine.
    ///
    /// # Errors
    /// The source cannot be read, or its format is unknown.
    pub fn from_source(source: Arc<dyn Source>, engine: Arc<Engine>) -> Result<Self> {
        Self::from_source_with(source, engine, &OpenOptions::new())
    }

    /// Opens a file from a source, with the given engine and options for the file's format.
    ///
    /// # Errors
    /// Errors of [`from_source`](Self::from_source); an option that the format does not support.
    pub fn from_source_with(
        source: Arc<dyn Source>,
        engine: Arc<Engine>,
        options: &OpenOptions,
    ) -> Result<Self> {
        let container = formats::open(source, options, &engine)?;
        let times_as_integers = options.flag(OpenOptions::TIMES_AS_INTEGERS, false);
        Ok(Self { container, engine, text: options.text_policy(), times_as_integers, stats: None })
    }

    /// Adds summaries of the columns, such as those from [`read_stats`](crate::files::read_stats): blocks
    /// that they exclude are not read. They must describe the current content of the file.
    #[must_use]
    pub fn with_stats(mut self, stats: StatsCache) -> Self {
        self.stats = Some(Arc::new(stats));
        self
    }

    /// Returns the summaries of its columns, if it was given any.
    #[must_use]
    pub fn stats(&self) -> Option<&StatsCache> {
        self.stats.as_deref()
    }

    /// Returns its name.
    #[must_use]
    pub fn uri(&self) -> &str {
        self.source().uri()
    }

    /// Returns the source of its bytes.
    #[must_use]
    pub fn source(&self) -> &Arc<dyn Source> {
        self.container.source()
    }

    /// Returns the engine that reads its tables.
    #[must_use]
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// Returns the name of its format.
    #[must_use]
    pub fn format(&self) -> &'static str {
        self.container.format()
    }

    /// Returns the format's own type of the file, if it is `T`: `file.own::<forthwith::root::RootFile>()`.
    #[must_use]
    pub fn own<T: Any>(&self) -> Option<&T> {
        self.container.own().downcast_ref()
    }

    /// Returns the metadata of the file.
    ///
    /// # Errors
    /// The size of the source is unknown.
    pub fn info(&self) -> Result<FileInfo> {
        self.container.info()
    }

    /// Returns key-value metadata of the file, if its format has any.
    #[must_use]
    pub fn metadata(&self) -> Vec<(String, Bytes)> {
        self.container.metadata()
    }

    /// Returns the [metadata](Self::metadata) without those of the format itself, for another file of the
    /// same columns.
    #[must_use]
    pub fn user_metadata(&self) -> Vec<(String, Bytes)> {
        self.container.user_metadata()
    }

    /// Returns the schema of the file in the format's own language, if it has one, for writing another file
    /// of the same columns ([`WriteOptions::schema`](forthwith_plan::WriteOptions::schema)).
    #[must_use]
    pub fn schema(&self) -> Option<String> {
        self.container.schema()
    }

    /// Whether the file is one table and nothing else, which then has the empty path.
    #[must_use]
    pub fn is_one_table(&self) -> bool {
        self.container.only_table().is_some()
    }

    /// Lists the objects in a directory (`""` is the root), in file order; with `recursive` also those in its
    /// subdirectories. The only object of a file that is one table is the table.
    ///
    /// # Errors
    /// The directory does not exist or cannot be read.
    pub fn keys(&self, directory: &str, recursive: bool) -> Result<Vec<Key>> {
        self.container.keys(directory, recursive)
    }

    /// Returns the object of a path: `name`, `name;cycle`, `dir/name;cycle`. Without a cycle, the one with
    /// the highest cycle.
    ///
    /// # Errors
    /// [`NotFound`](forthwith_plan::ErrorKind::NotFound) with the most similar names.
    pub fn find(&self, path: &str) -> Result<Key> {
        self.container.find(path)
    }

    /// Reads an object that is not a table, with all objects that it refers to.
    ///
    /// # Errors
    /// No object has the path; the object cannot be read, or its class is not described; the format has no
    /// objects.
    pub fn object(&self, path: &str) -> Result<Object> {
        let object = self.container.object(path)?;
        self.source().confirm()?;
        Ok(object)
    }

    /// Opens a table. The empty path is that of a file that is one table.
    ///
    /// # Errors
    /// No object has the path; the object is not a table, with its class; damaged metadata.
    pub fn table(&self, path: &str) -> Result<Table> {
        let table = Table::new(self.clone(), self.container.dataset(path)?);
        let summaries = self.summaries(&table);
        let table = table.with_summaries(summaries);
        Ok(table.with_text_policy(self.text).with_times_as_integers(self.times_as_integers))
    }

    /// Reads the whole file and checks its parts for consistency.
    ///
    /// # Errors
    /// The source cannot be read; faults of the file are findings. The format does not support checking.
    pub fn check(&self) -> Result<CheckReport> {
        self.container.check()
    }

    /// Returns the format's terms for the parts of its files.
    #[must_use]
    pub fn words(&self) -> &'static Words {
        self.container.words()
    }

    /// Returns the summaries of a table, if they cover all its entries and no other table has its path, such
    /// as an older cycle.
    fn summaries(&self, table: &Table) -> Option<Arc<TableSummaries>> {
        let summaries = self.stats.as_ref()?.table(table.path())?;
        // Counting entries may read the file.
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

    /// Returns the recovered objects, if the file was opened by its records instead of its directories.
    #[must_use]
    pub fn recovery(&self) -> Option<Recovery> {
        self.container.recovery()
    }
}

forthwith_io::impl_debug!(File, |it| "uri": it.uri());
