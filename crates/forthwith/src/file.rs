//! An opened file.

use crate::Table;
use forthwith_engine::{Engine, Options};
use forthwith_io::Source;
use forthwith_plan::{Error, Result};
use forthwith_root::{Found, RootFile, Tree};
use serde::Serialize;
use std::sync::Arc;

/// An opened file. Only metadata that were asked for have been read. Cheap to clone, shared between threads as it is.
#[derive(Clone)]
pub struct File {
    root: RootFile,
    engine: Arc<Engine>,
}

/// What a file says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileInfo {
    /// Its name.
    pub uri: String,
    /// The format: `"ROOT"`.
    pub format: String,
    /// The version of ROOT that wrote it: `"6.40/00"`.
    pub version: String,
    /// The compression new objects were to get, such as `"ZLIB level 1"`; single objects may differ.
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

impl File {
    /// Opens a local file with an engine of its own.
    ///
    /// # Errors
    /// The file cannot be read, or is no ROOT file.
    pub fn open(uri: &str) -> Result<Self> {
        Self::from_source(forthwith_io::open(uri)?, Arc::new(Engine::new(Options::default())))
    }

    /// Opens what a source holds, to be read by the given engine.
    ///
    /// # Errors
    /// The source cannot be read, or holds no ROOT file.
    pub fn from_source(source: Arc<dyn Source>, engine: Arc<Engine>) -> Result<Self> {
        Ok(Self { root: RootFile::open(source)?, engine })
    }

    /// Its name.
    #[must_use]
    pub fn uri(&self) -> &str {
        self.root.uri()
    }

    /// What reads its tables.
    #[must_use]
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// The format's own view.
    #[must_use]
    pub fn root(&self) -> &RootFile {
        &self.root
    }

    /// What the file says of itself.
    ///
    /// # Errors
    /// Its size cannot be had.
    pub fn info(&self) -> Result<FileInfo> {
        let header = self.root.header();
        let (major, minor, patch) = header.root_version();
        Ok(FileInfo {
            uri: self.uri().to_owned(),
            format: "ROOT".into(),
            version: format!("{major}.{minor:02}/{patch:02}"),
            compression: compression(header.compression),
            uuid: header.uuid.map(|u| uuid(&u)),
            size: self.root.source().size()?,
        })
    }

    /// The objects in a directory (`""` is the top), in the file's order; with `recursive` also those in directories below.
    ///
    /// # Errors
    /// The directory does not exist or cannot be read.
    pub fn keys(&self, directory: &str, recursive: bool) -> Result<Vec<Key>> {
        let top = self.root.top();
        let directory = if directory.is_empty() { top } else { top.open(&self.root.find(directory)?.key)? };
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
        let found = self.root.find(path)?;
        Ok(key(&found.path, &found.key))
    }

    /// Opens a tree.
    ///
    /// # Errors
    /// Nothing of that name; an object of another class, by name; damaged metadata.
    pub fn table(&self, path: &str) -> Result<Table> {
        let found = self.root.find(path)?;
        if !Tree::is_tree(&found.key.class_name) {
            let what = format!("{} as a table", found.key.class_name);
            return Err(Error::unsupported(what).in_file(self.uri()).in_object(&found.path));
        }
        let tree = Tree::open_found(&self.root, &found)?;
        Ok(Table::new(self.clone(), tree))
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
