//! Parses `FILE[:OBJECT]` as typed.

use crate::failure::Result;
use forthwith::{
    files::{self, Expanded, StoreOptions},
    plan::Constant,
};
use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
};

/// A file and an optional object in it, as typed. The object may be an object, a branch or both; this is
/// resolved after opening the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// Name or URI of the file.
    pub(crate) uri: String,
    /// The file name, if not valid Unicode.
    pub(crate) path: Option<PathBuf>,
    /// The path in the file; empty if not given.
    pub(crate) object: String,
    /// Columns whose values come from folder names.
    pub(crate) constants: Vec<Constant>,
}

impl Target {
    /// Splits an argument into file and object. An argument that is not valid Unicode is taken as a file
    /// name.
    pub(crate) fn of(typed: &OsStr, exists: impl Fn(&str) -> bool) -> Self {
        match typed.to_str() {
            Some(text) => {
                let (uri, object) = files::split(text, exists);
                Self { uri: uri.to_owned(), path: None, object, constants: Vec::new() }
            }
            None => Self {
                uri: typed.to_string_lossy().into_owned(),
                path: Some(typed.into()),
                object: String::new(),
                constants: Vec::new(),
            },
        }
    }

    /// Returns the target as typed.
    pub(crate) fn typed(&self) -> String {
        if self.object.is_empty() { self.uri.clone() } else { format!("{}:{}", self.uri, self.object) }
    }

    /// Expands a glob pattern or folder into the matching files, each with the same object. Also returns the
    /// files skipped because their names mark them as backups or still being written. Any other name expands
    /// to itself.
    ///
    /// # Errors
    /// Nothing matches the pattern, or the folder has no file of a known format.
    pub(crate) fn expanded(self, store: &StoreOptions) -> Result<(Vec<Self>, Vec<PathBuf>)> {
        let Expanded { files, partial, .. } = files::expand_with(&[self.name()], store)?;
        let target = |path: PathBuf| match path.into_os_string().into_string() {
            Ok(uri) => Self { uri, path: None, object: self.object.clone(), constants: Vec::new() },
            Err(name) => {
                let uri = name.to_string_lossy().into_owned();
                Self { uri, path: Some(name.into()), object: self.object.clone(), constants: Vec::new() }
            }
        };
        Ok((files.into_iter().map(target).collect(), partial))
    }

    /// Returns whether the file is standard input or a pipe, which can be read only once.
    pub(crate) fn is_stream(&self) -> bool {
        let name = self.name();
        name == Path::new(files::STANDARD_INPUT) || name.exists() && !name.is_file()
    }

    /// Returns the name of the file.
    pub(crate) fn name(&self) -> &Path {
        self.path.as_deref().unwrap_or(Path::new(&self.uri))
    }
}
