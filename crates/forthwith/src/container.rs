//! The trait of an opened file, whatever its format.

use crate::{DiffOptions, File, Merge, MergeProgress, Merged, ObjectDiff, RecoverProgress, RecoverReport};
use bytes::Bytes;
use forthwith_io::{Sink, Source};
use forthwith_plan::{CheckReport, Dataset, Error, ErrorKind, NameListing, Result};
use serde::Serialize;
use std::{any::Any, sync::Arc};

/// A part of a file of which not even the number of entries can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The entries that are read before it.
    pub entry: u64,
    /// The number of the block.
    pub block: u64,
    /// Its first byte.
    pub byte: u64,
    /// The byte behind it, if the format says it.
    pub end_byte: Option<u64>,
    /// The number of its entries, if that can be read.
    pub entries: Option<u64>,
    /// The fault.
    pub what: String,
}

/// A table without parts of its file, and these parts.
pub type AroundDamage = (Arc<dyn Dataset>, Vec<Gap>);

/// An opened file of some format. A format that lacks an ability answers with an error that names it, which is what the
/// defaults do.
pub trait Container: Send + Sync {
    /// The name of the format: that of its [`Format`](crate::Format).
    fn format(&self) -> &'static str;

    /// Where its bytes come from.
    fn source(&self) -> &Arc<dyn Source>;

    /// The file's own metadata.
    ///
    /// # Errors
    /// Its size cannot be had.
    fn info(&self) -> Result<FileInfo>;

    /// The table that the file is, if it is one and nothing else.
    fn only_table(&self) -> Option<&Key> {
        None
    }

    /// Words that are kept with the file, by their names. None by default.
    fn metadata(&self) -> Vec<(String, Bytes)> {
        Vec::new()
    }

    /// Those of the [metadata](Self::metadata) that are not the format's own: what another file of the same columns keeps.
    fn user_metadata(&self) -> Vec<(String, Bytes)> {
        Vec::new()
    }

    /// The schema of the file's values in the format's own words, if it has such: what another file of the same columns can be written by.
    fn schema(&self) -> Option<String> {
        None
    }

    /// The objects in a directory (`""` is the top), in the file's order; with `recursive` also those in directories below. A file that
    /// is one table has that as its only object.
    ///
    /// # Errors
    /// The directory does not exist or cannot be read.
    fn keys(&self, directory: &str, recursive: bool) -> Result<Vec<Key>> {
        let _ = recursive;
        let only = self.only_table().filter(|_| directory.is_empty());
        only.map(|key| vec![key.clone()]).ok_or_else(|| self.missing(directory))
    }

    /// Finds an object by its path.
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
    /// Nothing of that name; an object that is no table, by its class; damaged metadata.
    fn dataset(&self, path: &str) -> Result<Arc<dyn Dataset>>;

    /// Opens a table around parts of the file in which nothing can be told apart, and says which these are. By default, the format has
    /// no blocks that are found one behind the other, so that damage in one hides none of the others.
    ///
    /// # Errors
    /// As [`dataset`](Self::dataset).
    fn dataset_around_damage(&self, path: &str) -> Result<Option<AroundDamage>> {
        let _ = path;
        Ok(None)
    }

    /// Reads an object that is no table.
    ///
    /// # Errors
    /// By default, that the format has none.
    fn object(&self, path: &str) -> Result<Object> {
        let _ = path;
        Err(self.lacks("objects in"))
    }

    /// Reads the whole file and compares what its parts say of each other.
    ///
    /// # Errors
    /// The source cannot be read; whatever is wrong with the file is a finding. By default, that the format has no check.
    fn check(&self) -> Result<CheckReport> {
        Err(self.lacks("checking"))
    }

    /// Compares two objects that are no tables, which files of this format have.
    ///
    /// # Errors
    /// By default, that the format has none.
    fn diff_objects(&self, left: &Object, right: &Object, options: &DiffOptions) -> Result<ObjectDiff> {
        let _ = (left, right, options);
        Err(self.lacks("objects in"))
    }

    /// Writes the objects of several files of this format, of which this is the first, to a new one; see [`merge`](crate::merge()).
    ///
    /// # Errors
    /// By default, that the format's blocks are not copied as they are stored.
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

    /// Writes everything that can be read of this file, which may be damaged, to a new one; see [`recover`](crate::recover()). `file` is
    /// this one, by which its tables are read.
    ///
    /// # Errors
    /// By default, that the format cannot do so.
    fn recover(
        &self,
        file: &File,
        sink: Box<dyn Sink>,
        progress: &mut RecoverProgress<'_>,
    ) -> Result<RecoverReport> {
        let _ = (file, sink, progress);
        Err(self.lacks("recovering"))
    }

    /// The format's words for the things in its files.
    fn words(&self) -> &'static Words {
        &Words::PLAIN
    }

    /// The words for one of the file's tables: those of the file, unless it has tables of several kinds.
    fn words_of(&self, dataset: &dyn Dataset) -> &'static Words {
        let _ = dataset;
        self.words()
    }

    /// The objects that were recovered, if the file was opened by its records and not by its directories.
    fn recovery(&self) -> Option<Recovery> {
        None
    }

    /// The format's own view of the file, for what by nature only one format has. See [`File::own`](crate::File::own).
    fn own(&self) -> &dyn Any;

    /// The error for an object that is not in a file of one table.
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

    /// The error for an ability that the format lacks.
    fn lacks(&self, ability: &str) -> Error {
        Error::unsupported(format!("{ability} {} files", self.format())).in_file(self.source().uri())
    }
}

/// The metadata of a file as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FileInfo {
    /// Its name.
    pub uri: String,
    /// The name of its format.
    pub format: String,
    /// The version of the software that wrote it, or of the format.
    pub version: String,
    /// How its data are compressed, or how new objects were to be; single blocks may differ.
    pub compression: String,
    /// The file's UUID in the usual spelling, if it has one.
    pub uuid: Option<String>,
    /// What tells the file from another one that takes its place: the UUID, or what else of the file is another each time.
    #[serde(skip)]
    pub identity: Option<String>,
    /// Bytes; of a stream as many as had arrived when it was asked for.
    pub size: u64,
    /// The numbers of the file's header, under the format's own names.
    pub header: Vec<(&'static str, i64)>,
}

impl FileInfo {
    /// What is known of a file of any format: its name, size and format.
    ///
    /// # Errors
    ///
    /// If the size cannot be asked for.
    pub fn of(file: &dyn Container) -> Result<Self> {
        let (uri, size) = (file.source().uri().to_owned(), file.source().size_so_far()?);
        Ok(Self { uri, format: file.format().into(), size, ..Self::default() })
    }
}

/// A format's words for the things in its files: for one of them, and for several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Words {
    /// A table.
    pub table: &'static str,
    /// Columns.
    pub column: [&'static str; 2],
    /// The parts of a file that hold the bytes of columns.
    pub block: [&'static str; 2],
    /// Whether a block has the values of all columns, so that a column has no size of its own.
    pub rows: bool,
}

impl Words {
    /// A table of columns in blocks.
    pub const PLAIN: Self =
        Self { table: "table", column: ["column", "columns"], block: ["block", "blocks"], rows: false };
}

/// One object of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Key {
    /// The path from the directory that was listed, without a cycle: `dir/name`.
    pub path: String,
    /// The object's own name.
    pub name: String,
    /// The cycle: objects of one name differ by it.
    pub cycle: u16,
    /// The class, as the file says; the name of the format for the table of a file that is one.
    pub class: String,
    /// The title.
    pub title: String,
    /// Bytes in the file, the key included.
    pub stored_bytes: u64,
    /// Bytes when decompressed.
    pub object_bytes: u64,
    /// Whether it is a directory.
    pub is_directory: bool,
    /// Whether [`File::table`](crate::File::table) opens it.
    pub is_table: bool,
    /// Whether it is a table that cannot be read yet. [`File::table`](crate::File::table) is the error that says so.
    pub is_unsupported_table: bool,
}

/// The result of opening a file by its records.
#[derive(Debug)]
pub struct Recovery {
    /// Objects, directories included.
    pub objects: usize,
    /// Blocks of tables.
    pub blocks: usize,
    /// Deleted records, passed over.
    pub deleted: usize,
    /// Objects that the file itself does not list.
    pub unlisted: Vec<String>,
    /// Whether the file still describes its classes.
    pub describes_classes: bool,
    /// Where the last whole record ends.
    pub end: u64,
    /// Bytes of the file.
    pub size: u64,
    /// Why the recovery ended before the end of the file, if it did.
    pub stopped: Option<String>,
    /// Parts of the file before its end that were passed over.
    pub gaps: Vec<DamagedPart>,
}

/// A part of a file that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DamagedPart {
    /// Its first byte.
    pub begin: u64,
    /// The byte behind it.
    pub end: u64,
    /// The number of the first block in it, if the file is one table of blocks.
    pub block: Option<u64>,
    /// The number of entries in it, if that can be read.
    pub entries: Option<u64>,
    /// The fault.
    pub what: String,
}

/// An object that is no table, as its format reads it.
pub struct Object {
    class: String,
    own: Box<dyn Any + Send + Sync>,
}

impl Object {
    /// An object of a class, of the format's own type.
    pub fn new<T: Any + Send + Sync>(class: &str, own: T) -> Self {
        Self { class: class.to_owned(), own: Box::new(own) }
    }

    /// Its class, as the file says.
    #[must_use]
    pub fn class(&self) -> &str {
        &self.class
    }

    /// The format's own type, if it is this one.
    #[must_use]
    pub fn own<T: Any>(&self) -> Option<&T> {
        self.own.downcast_ref()
    }

    /// The same, given away.
    ///
    /// # Errors
    /// It is of another type; the object comes back.
    pub fn into_own<T: Any>(self) -> std::result::Result<T, Self> {
        let Self { class, own } = self;
        match own.downcast() {
            Ok(own) => Ok(*own),
            Err(own) => Err(Self { class, own }),
        }
    }
}

forthwith_io::impl_debug!(Object, |it| "class": it.class);
