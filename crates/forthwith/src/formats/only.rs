//! Files that are one table.

use crate::Key;
use forthwith_io::Source;
use forthwith_plan::{Error, ErrorKind, Result};

/// The one table of a file that has nothing else.
pub(crate) struct OnlyTable {
    uri: String,
    key: Key,
}

impl OnlyTable {
    /// Under a name, with the name of the format as its class. Data begin at a byte of the file.
    pub(crate) fn new(
        source: &dyn Source,
        format: &str,
        name: String,
        title: String,
        begin: u64,
    ) -> Result<Self> {
        let bytes = source.size()?.saturating_sub(begin);
        let key = Key {
            path: name.clone(),
            name,
            cycle: 1,
            class: format.into(),
            title,
            stored_bytes: bytes,
            object_bytes: bytes,
            is_directory: false,
            is_table: true,
            is_unsupported_table: false,
        };
        Ok(Self { uri: source.uri().to_owned(), key })
    }

    /// As [`Container::keys`].
    pub(crate) fn keys(&self, directory: &str) -> Result<Vec<Key>> {
        if directory.is_empty() { Ok(vec![self.key.clone()]) } else { Err(self.missing(directory)) }
    }

    /// As [`Container::find`]. An empty path means the table, too.
    pub(crate) fn find(&self, path: &str) -> Result<Key> {
        let name = &self.key.name;
        let found = path.is_empty() || path == name || path.strip_suffix(";1") == Some(name);
        if found { Ok(self.key.clone()) } else { Err(self.missing(path)) }
    }

    fn missing(&self, path: &str) -> Error {
        let near = vec![self.key.name.clone()];
        Error::new(ErrorKind::NotFound { what: "object", name: path.to_owned(), near }).in_file(&self.uri)
    }
}
