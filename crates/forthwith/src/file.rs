//! An opened file.

use crate::Table;
use forthwith_avro::AvroFile;
use forthwith_engine::{Engine, Options};
use forthwith_io::Source;
use forthwith_parquet::ParquetFile;
use forthwith_plan::{Error, ErrorKind, Result};
use forthwith_root::{Found, Objects, Recovered, RootFile, Tree};
use serde::Serialize;
use std::sync::Arc;

/// An opened file. Only metadata that were asked for have been read. Cheap to clone, shared between threads as it is.
#[derive(Clone)]
pub struct File {
    content: Content,
    engine: Arc<Engine>,
}

/// What the formats make of a file.
#[derive(Clone)]
enum Content {
    Root(RootFile),
    Avro(AvroFile),
    Parquet(ParquetFile),
}

/// What a file says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileInfo {
    /// Its name.
    pub uri: String,
    /// The format: `"ROOT"`, `"Avro"` or `"Parquet"`.
    pub format: String,
    /// The version of ROOT that wrote it, `"6.40/00"`, or of the format.
    pub version: String,
    /// The compression new objects were to get, such as `"ZLIB level 1"`; single objects may differ. The codecs of Avro and
    /// Parquet.
    pub compression: String,
    /// The file's UUID in the usual spelling, if it has one.
    pub uuid: Option<String>,
    /// Bytes.
    pub size: u64,
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
    /// The class, as the file says.
    pub class: String,
    /// The title.
    pub title: String,
    /// Bytes in the file, the key included.
    pub stored_bytes: u64,
    /// Bytes when decompressed.
    pub object_bytes: u64,
    /// Whether it is a directory.
    pub is_directory: bool,
    /// Whether [`File::table`] opens it.
    pub is_table: bool,
}

/// The formats there are.
const KNOWN: &str = "a ROOT, Avro or Parquet file";

/// Formats that somebody might take for one of them, by how their files begin.
const OTHERS: [(&[u8], &str); 6] = [
    (b"ARROW1", "an Arrow file (IPC)"),
    (b"FEA1", "a Feather file"),
    (b"ORC", "an ORC file"),
    (b"\x89HDF", "an HDF5 file"),
    (b"\x1f\x8b", "a file compressed by gzip"),
    (b"PK\x03\x04", "a ZIP archive"),
];

/// What stands at the beginning of a file that is of none of them.
fn begins(head: &[u8]) -> String {
    match head {
        [] => "nothing at all: it is empty".into(),
        _ if let Some((_, name)) = OTHERS.iter().find(|(magic, _)| head.starts_with(magic)) => (*name).into(),
        _ if head.len() < 4 => format!("no more than {} bytes", head.len()),
        _ if head.iter().all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\r' | b'\t')) => {
            format!("text that begins with {:?}", String::from_utf8_lossy(head))
        }
        _ => format!("bytes that begin with {head:02x?}"),
    }
}

impl File {
    /// Opens a local file with an engine of its own.
    ///
    /// # Errors
    /// The file cannot be read, or is of no format that is known.
    pub fn open(uri: &str) -> Result<Self> {
        Self::from_source(forthwith_io::open(uri)?, Arc::new(Engine::new(Options::default())))
    }

    /// Opens what a source holds, to be read by the given engine.
    ///
    /// # Errors
    /// The source cannot be read, or holds no file of a format that is known.
    pub fn from_source(source: Arc<dyn Source>, engine: Arc<Engine>) -> Result<Self> {
        let head = source.read_one(0..source.size()?.min(8))?;
        let content = if AvroFile::is_avro(&head) {
            Content::Avro(AvroFile::open(source)?)
        } else if ParquetFile::is_parquet(&head) {
            Content::Parquet(ParquetFile::open(source)?)
        } else if !head.starts_with(b"root") {
            let error = Error::from(ErrorKind::NotA { what: KNOWN, found: begins(&head) });
            return Err(error.in_file(source.uri()));
        } else {
            Content::Root(RootFile::open(source)?)
        };
        Ok(Self { content, engine })
    }

    /// Opens a ROOT file that was not closed, by walking from record to record.
    ///
    /// # Errors
    /// The source cannot be read, or has not even the first record of a ROOT file.
    pub fn recover(source: Arc<dyn Source>, engine: Arc<Engine>) -> Result<(Self, Recovered)> {
        let (root, recovered) = RootFile::recover(source)?;
        Ok((Self { content: Content::Root(root), engine }, recovered))
    }

    /// Its name.
    #[must_use]
    pub fn uri(&self) -> &str {
        match &self.content {
            Content::Root(root) => root.uri(),
            Content::Avro(avro) => avro.uri(),
            Content::Parquet(parquet) => parquet.uri(),
        }
    }

    /// Where its bytes come from.
    #[must_use]
    pub fn source(&self) -> &Arc<dyn Source> {
        match &self.content {
            Content::Root(root) => root.source(),
            Content::Avro(avro) => avro.source(),
            Content::Parquet(parquet) => parquet.source(),
        }
    }

    /// What reads its tables.
    #[must_use]
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// The format's own view of a ROOT file.
    #[must_use]
    pub const fn root(&self) -> Option<&RootFile> {
        match &self.content {
            Content::Root(root) => Some(root),
            _ => None,
        }
    }

    /// The format's own view of an Avro file.
    #[must_use]
    pub const fn avro(&self) -> Option<&AvroFile> {
        match &self.content {
            Content::Avro(avro) => Some(avro),
            _ => None,
        }
    }

    /// The format's own view of a Parquet file.
    #[must_use]
    pub const fn parquet(&self) -> Option<&ParquetFile> {
        match &self.content {
            Content::Parquet(parquet) => Some(parquet),
            _ => None,
        }
    }

    /// What the file says of itself.
    ///
    /// # Errors
    /// Its size cannot be had.
    pub fn info(&self) -> Result<FileInfo> {
        let root = match &self.content {
            Content::Root(root) => root,
            Content::Avro(avro) => {
                return Ok(FileInfo {
                    uri: self.uri().to_owned(),
                    format: "Avro".into(),
                    version: "1".into(),
                    compression: avro.header().codec.name().into(),
                    uuid: None,
                    size: avro.source().size()?,
                });
            }
            Content::Parquet(parquet) => {
                return Ok(FileInfo {
                    uri: self.uri().to_owned(),
                    format: "Parquet".into(),
                    version: parquet.version().to_string(),
                    compression: parquet.codecs().join(", "),
                    uuid: None,
                    size: parquet.source().size()?,
                });
            }
        };
        let header = root.header();
        let (major, minor, patch) = header.root_version();
        Ok(FileInfo {
            uri: self.uri().to_owned(),
            format: "ROOT".into(),
            version: format!("{major}.{minor:02}/{patch:02}"),
            compression: compression(header.compression),
            uuid: header.uuid.map(|u| uuid(&u)),
            size: root.source().size()?,
        })
    }

    /// The objects in a directory (`""` is the top), in the file's order; with `recursive` also those in directories below.
    ///
    /// # Errors
    /// The directory does not exist or cannot be read.
    pub fn keys(&self, directory: &str, recursive: bool) -> Result<Vec<Key>> {
        let root = match &self.content {
            Content::Root(root) => root,
            _ if directory.is_empty() => return Ok(vec![self.values()?]),
            _ => return Err(self.missing(directory)),
        };
        let top = root.top();
        let directory = if directory.is_empty() { top } else { top.open(&root.find(directory)?.key)? };
        let prefix = directory.path().to_owned();
        if recursive {
            let strip = |f: Found| {
                let path = f.path.strip_prefix(&prefix).unwrap_or(&f.path).trim_start_matches('/').to_owned();
                key(&path, &f.key)
            };
            Ok(directory.keys_recursive()?.into_iter().map(strip).collect())
        } else {
            Ok(directory.keys()?.iter().map(|k| key(&k.name, k)).collect())
        }
    }

    /// Finds an object: `name`, `name;cycle`, `dir/name;cycle`. Without a cycle, the highest one.
    ///
    /// # Errors
    /// [`NotFound`](forthwith_plan::ErrorKind::NotFound) with the most similar names.
    pub fn find(&self, path: &str) -> Result<Key> {
        match &self.content {
            Content::Root(root) => {
                let found = root.find(path)?;
                Ok(key(&found.path, &found.key))
            }
            _ if self.is_values(path) => self.values(),
            _ => Err(self.missing(path)),
        }
    }

    /// Reads any object of a ROOT file, with everything it points to.
    ///
    /// # Errors
    /// Nothing of that name; the object cannot be read, or the file does not say how.
    pub fn object(&self, path: &str) -> Result<Objects> {
        let Content::Root(root) = &self.content else {
            return Err(Error::unsupported("objects of a file that is no ROOT file").in_file(self.uri()));
        };
        let found = root.find(path)?;
        root.object(&found.key)
    }

    /// Opens a tree, or the values of a file that is one table, as those of Avro and Parquet are.
    ///
    /// # Errors
    /// Nothing of that name; an object of another class, by name; damaged metadata.
    pub fn table(&self, path: &str) -> Result<Table> {
        let root = match &self.content {
            Content::Root(root) => root,
            Content::Avro(_) => return self.avro_table(path, &forthwith_avro::Options::default()),
            Content::Parquet(_) => return self.parquet_table(path, &forthwith_parquet::Options::default()),
        };
        let found = root.find(path)?;
        if !Tree::is_tree(&found.key.class_name) {
            let what = format!("{} as a table", found.key.class_name);
            return Err(Error::unsupported(what).in_file(self.uri()).in_object(&found.path));
        }
        let tree = Tree::open_found(root, &found)?;
        Ok(Table::of_tree(self.clone(), tree))
    }

    /// Opens the values of an Avro file as a reader's schema wants them, or without what is damaged.
    ///
    /// # Errors
    /// It is no Avro file; nothing of that name; a block that cannot be found, unless such blocks are left out; schemas that do not go
    /// together.
    pub fn avro_table(&self, path: &str, options: &forthwith_avro::Options) -> Result<Table> {
        let Content::Avro(avro) = &self.content else {
            let what = "options for Avro, for a file that is none".into();
            return Err(Error::new(ErrorKind::Invalid { what }).in_file(self.uri()));
        };
        if !self.is_values(path) {
            return Err(self.missing(path));
        }
        let table = Table::of_avro(self.clone(), avro.table(options)?);
        let table = table.with_unchecked_text(options.unchecked_text);
        if options.skip_damaged { table.without_damage() } else { Ok(table) }
    }

    /// Opens the values of a Parquet file, or of some of its row groups.
    ///
    /// # Errors
    /// It is no Parquet file; nothing of that name; no such row group; damaged metadata.
    pub fn parquet_table(&self, path: &str, options: &forthwith_parquet::Options) -> Result<Table> {
        let Content::Parquet(parquet) = &self.content else {
            let what = "options for Parquet, for a file that is none".into();
            return Err(Error::new(ErrorKind::Invalid { what }).in_file(self.uri()));
        };
        if !self.is_values(path) {
            return Err(self.missing(path));
        }
        let table = Table::of_parquet(self.clone(), parquet.table(options)?);
        Ok(table.with_unchecked_text(options.unchecked_text))
    }

    /// What the table of a file is called that has only one.
    fn values_name(&self) -> String {
        match &self.content {
            Content::Avro(avro) => avro.name(),
            _ => "table".into(),
        }
    }

    /// Whether a path means the values of a file that is one table.
    fn is_values(&self, path: &str) -> bool {
        let name = self.values_name();
        path.is_empty() || path == name || path.strip_suffix(";1") == Some(&name)
    }

    fn values(&self) -> Result<Key> {
        let name = self.values_name();
        let (class, title, begin) = match &self.content {
            Content::Avro(avro) => {
                let header = avro.header();
                ("Avro", header.schema.root().doc.clone().unwrap_or_default(), header.end)
            }
            _ => ("Parquet", String::new(), 0),
        };
        let stored = self.source().size()?.saturating_sub(begin);
        Ok(Key {
            path: name.clone(),
            name,
            cycle: 1,
            class: class.into(),
            title,
            stored_bytes: stored,
            object_bytes: stored,
            is_directory: false,
            is_table: true,
        })
    }

    fn missing(&self, path: &str) -> Error {
        let near = vec![self.values_name()];
        Error::new(ErrorKind::NotFound { what: "object", name: path.to_owned(), near }).in_file(self.uri())
    }
}

fn key(path: &str, key: &forthwith_root::Key) -> Key {
    Key {
        path: path.to_owned(),
        name: key.name.to_string(),
        cycle: key.cycle,
        class: key.class_name.to_string(),
        title: key.title.to_string(),
        stored_bytes: u64::from(key.nbytes.unsigned_abs()),
        object_bytes: u64::from(key.objlen),
        is_directory: key.is_directory(),
        is_table: Tree::is_tree(&key.class_name),
    }
}

/// ROOT's setting: algorithm times 100 plus level; below 100 it means zlib.
fn compression(setting: i32) -> String {
    let name = match setting / 100 {
        _ if setting == 0 => return "none".into(),
        0 | 1 => "ZLIB",
        2 => "LZMA",
        3 => "old deflate",
        4 => "LZ4",
        5 => "ZSTD",
        other => return format!("algorithm {other} level {}", setting % 100),
    };
    format!("{name} level {}", setting % 100)
}

fn uuid(bytes: &[u8; 16]) -> String {
    let mut text = String::with_capacity(36);
    for (at, byte) in bytes.iter().enumerate() {
        if matches!(at, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text.push_str(&format!("{byte:02x}"));
    }
    text
}

impl std::fmt::Debug for File {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("File").field("uri", &self.uri()).finish_non_exhaustive()
    }
}
