//! Friends: tables whose entries belong to those of another table.

use crate::{File, OpenOptions, Table};
use forthwith_plan::{Error, FriendName, Result};
use std::{
    path::{Component, Path, PathBuf},
    sync::Arc,
};

/// A table that is read together with another one, under a name: `f.x` is its column `x`.
///
/// Entries are matched by their number. If the file has an index of the friend by two numbers, and the other
/// table has columns of these names, entries are matched by the two numbers, and may have no match.
#[derive(Clone, Debug)]
pub struct Friend {
    pub(crate) name: String,
    /// Tables, concatenated.
    pub(crate) tables: Vec<Table>,
    pub(crate) before: u64,
}

impl Friend {
    /// Makes a friend of a table.
    #[must_use]
    pub fn new(name: impl Into<String>, table: Table) -> Self {
        Self { name: name.into(), tables: vec![table], before: 0 }
    }

    /// Appends another table, which must have columns of the same names and types.
    #[must_use]
    pub fn then(mut self, table: Table) -> Self {
        self.tables.push(table);
        self
    }

    /// Declares that the friend's first `entries` entries belong to tables before the other one. An index
    /// finds entries regardless.
    #[must_use]
    pub fn before(mut self, entries: u64) -> Self {
        self.before = entries;
        self
    }
}

impl Table {
    /// Returns the friends that the table's file names.
    ///
    /// # Errors
    /// Damaged metadata.
    pub fn friends(&self) -> Result<Vec<FriendName>> {
        self.here(self.dataset().friends())
    }

    /// Returns the expressions of the two numbers that the table's index is made of, if the file has one.
    ///
    /// # Errors
    /// Damaged metadata.
    pub fn index_names(&self) -> Result<Option<(String, String)>> {
        let index = self.here(self.dataset().index())?;
        Ok(index.map(|index| (index.major, index.minor)))
    }

    /// Returns the path of a friend's file relative to the directory of this table's file; empty if it is the
    /// same file, and `None` if it is outside that directory.
    #[must_use]
    pub fn beside(&self, friend: &FriendName) -> Option<String> {
        let name = name_beside(self.file().uri(), &friend.file)?;
        let own = Path::new(self.file().uri()).file_name().and_then(|own| own.to_str());
        Some(if own == Some(&name) { String::new() } else { name })
    }

    /// Opens a friend that the file names. A friend in another file is only opened if that is within the
    /// directory of this file, as the author of the file chose the path.
    ///
    /// # Errors
    /// The friend is outside that directory, or does not exist.
    pub fn open_friend(&self, friend: &FriendName) -> Result<Self> {
        let refused = |place: &str| {
            let (name, file) = (&friend.name, &friend.file);
            let what = format!(
                "the friend {name:?} is in {file:?}, {place}: it is opened if it is given by this name"
            );
            Error::invalid(what).in_file(self.file().uri()).in_object(self.path())
        };
        let outside = "outside of the folder of the file that names it";
        let name = self.beside(friend).ok_or_else(|| refused(outside))?;
        if name.is_empty() {
            // Like ROOT, look for it in the directory of the tree, then at the top.
            let inner = self.path().rsplit_once('/').map(|(folder, _)| format!("{folder}/{}", friend.path));
            if let Some(Ok(table)) = inner.map(|path| self.file().table(&path)) {
                return Ok(table);
            }
            return self.file().table(&friend.path);
        }
        let source = self.file().source().beside(&name).map_err(|error| match error.kind {
            forthwith_io::ErrorKind::Elsewhere => refused(outside),
            forthwith_io::ErrorKind::NothingBeside { .. } => {
                refused("which is looked for beside local files alone")
            }
            _ => Error::from(error).in_object(self.path()),
        })?;
        let file = File::from_source_with(source, Arc::clone(self.file().engine()), &OpenOptions::new())?;
        let table = file.table(&friend.path)?.with_text_policy(self.text_policy());
        Ok(table.with_times_as_integers(self.has_times_as_integers()))
    }
}

/// Returns the path of a file relative to the directory of another, given by a relative or absolute path;
/// `None` if it is outside.
fn name_beside(uri: &str, file: &str) -> Option<String> {
    let path = Path::new(file);
    let folder = std::path::absolute(uri).ok().and_then(|own| own.parent().map(Path::to_path_buf));
    let inner = match folder {
        Some(folder) if path.is_absolute() && !uri.contains("://") => path.strip_prefix(&folder).ok()?,
        _ => path,
    };
    let mut parts = inner.components().filter(|part| !matches!(part, Component::CurDir));
    let is_plain = !file.contains("://") && parts.clone().all(|part| matches!(part, Component::Normal(_)));
    is_plain.then(|| parts.by_ref().collect::<PathBuf>().to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::name_beside;

    #[test]
    fn paths_within_the_folder_are_names_beside() {
        let own = std::path::absolute("folder/events.root").expect("a path");
        let (own, other) = (own.to_string_lossy(), own.with_file_name("other.root"));
        for (file, name) in [
            ("", ""),
            ("other.root", "other.root"),
            (".///other.root", "other.root"),
            ("below/other.root", "below/other.root"),
            (&*other.to_string_lossy(), "other.root"),
        ] {
            assert_eq!(name_beside(&own, file).as_deref(), Some(name), "{file}");
            assert_eq!(name_beside("folder/events.root", file).as_deref(), Some(name), "{file}");
        }
        for file in
            ["../other.root", "below/../../other.root", "/elsewhere/other.root", "https://host/other.root"]
        {
            assert_eq!(name_beside(&own, file), None, "{file}");
        }
        // Of what is no local file, all paths from the top are elsewhere.
        assert_eq!(name_beside("https://host/events.root", "/other.root"), None);
    }
}
