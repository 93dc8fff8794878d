//! `FILE[:OBJECT]`, as typed.

use crate::failure::Result;
use forthwith::{
    files::{self, Expanded, StoreOptions},
    plan::Constant,
};
use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
};

/// The two halves of what was typed. What the object part means (object, branch, both) only the opened file
/// can tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// The file.
    pub(crate) uri: String,
    /// Its name, where that is no text.
    pub(crate) path: Option<PathBuf>,
    /// The path in it; empty if none was given.
    pub(crate) object: String,
    /// Columns that its folders say.
    pub(crate) constants: Vec<Constant>,
}

impl Target {
    /// Splits what was typed. Of a name that is no text, all is the file's.
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

    /// As it was typed.
    pub(crate) fn typed(&self) -> String {
        if self.object.is_empty() { self.uri.clone() } else { format!("{}:{}", self.uri, self.object) }
    }

    /// The files that a pattern or a folder means, each with the same object in it, and those that are left
    /// out as their names say that they are still being written, or backups. Any other name means itself.
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

    /// Whether its bytes come once only: it is standard input or a pipe.
    pub(crate) fn is_stream(&self) -> bool {
        let name = self.name();
        name == Path::new(files::STANDARD_INPUT) || name.exists() && !name.is_file()
    }

    /// The name of the file.
    pub(crate) fn name(&self) -> &Path {
        self.path.as_deref().unwrap_or(Path::new(&self.uri))
    }
}
