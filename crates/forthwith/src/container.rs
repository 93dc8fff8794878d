//! The trait of opened files of all formats.

use crate::{DiffOptions, File, Merge, MergeProgress, Merged, ObjectDiff, RecoverProgress, RecoverReport};
use bytes::Bytes;
use forthwith_io::{Sink, Source};
use forthwith_plan::{CheckReport, Dataset, Error, ErrorKind, NameListing, Result};
use serde::Serialize;
use std::{any::Any, sync::Arc};

/// A part of a file whose entries cannot be separated, or not even counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// Number of entries that are read before it.
    pub entry: u64,
    /// Number of the block.
    pub block: u64,
    /// Byte offset of its start.
    pub byte: u64,
    /// Byte offset of its end, if the format records it.
    pub end_byte: Option<u64>,
    /// Number of its entries, if it can be read.
    pub entries: Option<u64>,
    /// Description of the fault.
    pub what: String,
}

/// A table without the undecodable parts of its file, and these parts.
pub type AroundDamage = (Arc<dyn Dataset>, Vec<Gap>);

/// An opened file. The default methods return an error that names the missing ability of the format.
pub trait Container: Send + Sync {
    /// Returns the name of the format, which is that of its [`Format`](crate::Format).
    fn format(&self) -> &'static str;

    /// Returns the source of its bytes.
    fn source(&self) -> &Arc<dyn Source>;

    /// Returns the metadata of the file.
    ///
    /// # Errors
    /// The size of the source is unknown.
    fn info(&self) -> Result<FileInfo>;

    /// Returns the only table of a format whose files are one table.
    fn only_table(&self) -> Option<&Key> {
        None
    }

    /// Returns key-value metadata of the file. Empty by default.
    fn metadata(&self) -> Vec<(String, Bytes)> {
        Vec::new()
    }

    /// Returns the [metadata](Self::metadata) without those of the format itself, for another file of the
    /// same columns.
    fn user_metadata(&self) -> Vec<(String, Bytes)> {
        Vec::new()
    }

    /// Returns the schema of the file in the format's own language, if it has one, for writing another file
    /// of the same columns.
    fn schema(&self) -> Option<String> {
        None
    }

    /// Lists the objects in a directory (`""` is the root), in file order; with `recursive` also those in its
    /// subdirectories. The only object of a file that is one table is the table.
    ///
    /// # Errors
    /// The directory does not exist or cannot be read.
    fn keys(&self, directory: &str, recursive: bool) -> Result<Vec<Key>> {
        let _ = recursive;
        let only = self.only_table().filter(|_| directory.is_empty());
        only.map(|key| vec![key.clone()]).ok_or_else(|| self.missing(directory))
    }

    /// Returns the object of a path.
    ///
    /// # Errors
    /// [`NotFound`](forthwith_plan::ErrorKind::NotFound) with the most similar names.
    fn find(&self, path: &str) -> Result<Key> {
        let is_meant =
            |key: &&Key| path.is_empty() || path == key.name || path.strip_suffix(";1") == Some(&key.name);
        self.only_table().filter(is_meant).cloned().ok_or_else(|| self.missing(path))
    }

    /// Opens a table.
    ///
    /// # Errors
    /// No object has the path; the object is not a table, with its class; damaged metadata.
    fn dataset(&self, path: &str) -> Result<Arc<dyn Dataset>>;

    /// Opens a table without the undecodable parts of its file, and returns these. `None`, the default, is
    /// for formats in which a damaged block does not hide others.
    ///
    /// # Errors
    /// Errors of [`dataset`](Self::dataset).
    fn dataset_around_damage(&self, path: &str) -> Result<Option<AroundDamage>> {
        let _ = path;
        Ok(None)
    }

    /// Reads an object that is not a table.
    ///
    /// # Errors
    /// By default, objects are unsupported.
    fn object(&self, path: &str) -> Result<Object> {
        let _ = path;
        Err(self.lacks("objects in"))
    }

    /// Reads the whole file and checks its parts for consistency.
    ///
    /// # Errors
    /// The source cannot be read; faults of the file are findings. By default, checking is unsupported.
    fn check(&self) -> Result<CheckReport> {
        Err(self.lacks("checking"))
    }

    /// Compares two objects that are not tables.
    ///
    /// # Errors
    /// The object cannot be read. By default, objects are unsupported.
    fn diff_objects(&self, left: &Object, right: &Object, options: &DiffOptions) -> Result<ObjectDiff> {
        let _ = (left, right, options);
        Err(self.lacks("objects in"))
    }

    /// Writes the objects of several files of this format, starting with this one, to a new file; see
    /// [`merge`](crate::merge()).
    ///
    /// # Errors
    /// By default, copying stored blocks is unsupported.
    fn merge(
        &self,
        files: &[&dyn Container],
        sink: Box<dyn Sink>,
        merge: &Merge,
        progress: &mut MergeProgress<'_>,
    ) -> Result<Merged> {
        let _ = (files, sink, merge, progress);
        let what = format!(
            "copying the stored blocks of {} files: the command forthwith convert reads several and writes their entries",
            self.format()
        );
        Err(Error::unsupported(what).in_file(self.source().uri()))
    }

    /// Writes all readable data of this file, which may be damaged, to a new file; see
    /// [`recover`](crate::recover()). `file` is this file, for reading its tables.
    ///
    /// # Errors
    /// By default, recovering is unsupported.
    fn recover(
        &self,
        file: &File,
        sink: Box<dyn Sink>,
        progress: &mut RecoverProgress<'_>,
    ) -> Result<RecoverReport> {
        let _ = (file, sink, progress);
        Err(self.lacks("recovering"))
    }

    /// Returns the format's terms for the parts of its files.
    fn words(&self) -> &'static Words {
        &Words::PLAIN
    }

    /// Returns the terms for one of the file's tables, by default those of the file.
    fn words_of(&self, dataset: &dyn Dataset) -> &'static Words {
        let _ = dataset;
        self.words()
    }

    /// Returns the recovered objects, if the file was opened by its records instead of its directories.
    fn recovery(&self) -> Option<Recovery> {
        None
    }

    /// Returns the format's own type of the file, for format-specific access. See
    /// [`File::own`](crate::File::own).
    fn own(&self) -> &dyn Any;

    /// Returns the error for an absent object in a file that is one table.
    fn missing(&self, path: &str) -> Error {
        let near = self.only_table().map(|key| key.name.clone()).into_iter().collect();
        let kind = ErrorKind::NotFound {
            what: "object",
            name: path.to_owned(),
            near,
            known: NameListing::default(),
        };
        Error::new(kind).in_file(self.source().uri())
    }

    /// Returns the error for an ability that the format lacks.
    fn lacks(&self, ability: &str) -> Error {
        Error::unsupported(format!("{ability} {} files", self.format())).in_file(self.source().uri())
    }
}

/// The metadata of a file as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FileInfo {
    /// Name of the file.
    pub uri: String,
    /// Name of the format.
    pub format: String,
    /// Version of the software that wrote the file, or of the format.
    pub version: String,
    /// Compression of the data, or the default for new objects; single blocks may differ.
    pub compression: String,
    /// UUID of the file in its canonical notation, if it has one.
    pub uuid: Option<String>,
    /// Identity of the content, which differs if another file takes its place: the UUID, or another value
    /// that is unique to each file.
    #[serde(skip)]
    pub identity: Option<String>,
    /// Size in bytes; for a stream, the number of bytes that have arrived.
    pub size: u64,
    /// Numbers of the file's header, by the format's names.
    pub header: Vec<(&'static str, i64)>,
}

impl FileInfo {
    /// Returns the metadata that files of all formats have: name, size and format.
    ///
    /// # Errors
    ///
    /// The size of the source is unknown.
    pub fn of(file: &dyn Container) -> Result<Self> {
        let (uri, size) = (file.source().uri().to_owned(), file.source().size_so_far()?);
        Ok(Self { uri, format: file.format().into(), size, ..Self::default() })
    }
}

/// Terms of a format for the parts of its files, in singular and plural.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Words {
    /// Term for a table.
    pub table: &'static str,
    /// Terms for columns.
    pub column: [&'static str; 2],
    /// Terms for the parts of a file that hold the bytes of columns.
    pub block: [&'static str; 2],
    /// Whether a block has the values of all columns, so that a column has no size of its own.
    pub rows: bool,
}

impl Words {
    /// Default terms: a table of columns in blocks.
    pub const PLAIN: Self =
        Self { table: "table", column: ["column", "columns"], block: ["block", "blocks"], rows: false };
}

/// Entry of a directory: an object of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Key {
    /// Path from the listed directory, without a cycle: `dir/name`.
    pub path: String,
    /// Name of the object.
    pub name: String,
    /// Cycle, which distinguishes objects of one name.
    pub cycle: u16,
    /// Class as stored in the file; the name of the format for the table of a file that is one table.
    pub class: String,
    /// Title of the object.
    pub title: String,
    /// Number of bytes in the file, including the key.
    pub stored_bytes: u64,
    /// Number of bytes after decompression.
    pub object_bytes: u64,
    /// Whether it is a directory.
    pub is_directory: bool,
    /// Whether [`File::table`](crate::File::table) opens it.
    pub is_table: bool,
    /// Whether it is a table of an unsupported kind. [`File::table`](crate::File::table) returns an error
    /// with the reason.
    pub is_unsupported_table: bool,
}

/// Result of opening a file by its records.
#[derive(Debug)]
pub struct Recovery {
    /// Number of objects, including directories.
    pub objects: usize,
    /// Number of blocks of tables.
    pub blocks: usize,
    /// Number of deleted records, which were skipped.
    pub deleted: usize,
    /// Paths of objects that the file's directories do not list.
    pub unlisted: Vec<String>,
    /// Whether the streamer info of the file's classes was found.
    pub describes_classes: bool,
    /// Byte offset of the end of the last whole record.
    pub end: u64,
    /// Size of the file in bytes.
    pub size: u64,
    /// Reason that the recovery ended before the end of the file, if it did.
    pub stopped: Option<String>,
    /// Parts of the file before its end that were skipped.
    pub gaps: Vec<DamagedPart>,
}

/// A part of a file that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DamagedPart {
    /// Byte offset of its start.
    pub begin: u64,
    /// Byte offset of its end.
    pub end: u64,
    /// Number of its first block, if the file is one table of blocks.
    pub block: Option<u64>,
    /// Number of its entries, if it can be read.
    pub entries: Option<u64>,
    /// Description of the fault.
    pub what: String,
}

/// An object that is not a table, in its format's own type.
pub struct Object {
    class: String,
    own: Box<dyn Any + Send + Sync>,
}

impl Object {
    /// Makes an object of a class from a value of the format's own type.
    pub fn new<T: Any + Send + Sync>(class: &str, own: T) -> Self {
        Self { class: class.to_owned(), own: Box::new(own) }
    }

    /// Returns the class as stored in the file.
    #[must_use]
    pub fn class(&self) -> &str {
        &self.class
    }

    /// Returns the value, if it has type `T`.
    #[must_use]
    pub fn own<T: Any>(&self) -> Option<&T> {
        self.own.downcast_ref()
    }

    /// Returns the owned value.
    ///
    /// # Errors
    /// The object itself, if its value has another type.
    pub fn into_own<T: Any>(self) -> std::result::Result<T, Self> {
        let Self { class, own } = self;
        match own.downcast() {
            Ok(own) => Ok(*own),
            Err(own) => Err(Self { class, own }),
        }
    }
}

forthwith_io::impl_debug!(Object, |it| "class": it.class);
