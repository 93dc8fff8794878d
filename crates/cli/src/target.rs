//! `FILE[:OBJECT]`, as typed.

use crate::failure::Result;
use forthwith::files;
use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
};

/// The two halves of what was typed. What the object part means (object, branch, both) only the opened file can tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// The file.
    pub(crate) uri: String,
    /// Its name, where that is no text.
    pub(crate) path: Option<PathBuf>,
    /// The path in it; empty if none was given.
    pub(crate) object: String,
}

impl Target {
    /// Splits what was typed. Of a name that is no text, all is the file's.
    pub(crate) fn of(typed: &OsStr, exists: impl Fn(&str) -> bool) -> Self {
        match typed.to_str() {
            Some(text) => Self::split(text, exists),
            None => Self { path: Some(typed.into()), ..Self::whole(&typed.to_string_lossy()) },
        }
    }

    /// As it was typed.
    pub(crate) fn typed(&self) -> String {
        if self.object.is_empty() { self.uri.clone() } else { format!("{}:{}", self.uri, self.object) }
    }

    /// The files that a pattern or a folder means, each with the same object in it. Any other name means itself.
    ///
    /// # Errors
    /// Nothing matches the pattern, or the folder has no file of a known format.
    pub(crate) fn expanded(self) -> Result<Vec<Self>> {
        let files = files::expand(&[self.name()])?;
        let target = |path: PathBuf| match path.into_os_string().into_string() {
            Ok(uri) => Self { uri, path: None, object: self.object.clone() },
            Err(name) => {
                let uri = name.to_string_lossy().into_owned();
                Self { uri, path: Some(name.into()), object: self.object.clone() }
            }
        };
        Ok(files.into_iter().map(target).collect())
    }

    /// Whether its bytes come once only: it is standard input or a pipe.
    pub(crate) fn is_stream(&self) -> bool {
        let name = self.name();
        name == Path::new(files::STANDARD_INPUT) || name.exists() && !name.is_file()
    }

    /// The name of the file.
    fn name(&self) -> &Path {
        self.path.as_deref().unwrap_or(Path::new(&self.uri))
    }

    fn whole(uri: &str) -> Self {
        Self { uri: uri.to_owned(), path: None, object: String::new() }
    }

    /// Splits at the colon that makes the longest existing file name; `exists` says whether there is a file of a name. A file whose
    /// own name contains colons therefore wins over any splitting. If no file exists, the colon after the first
    /// ending of a format counts, else the first, so that the error names what was probably meant. Colons of `scheme://host:port` and of `C:\` never split.
    pub(crate) fn split(text: &str, exists: impl Fn(&str) -> bool) -> Self {
        if exists(text) {
            return Self::whole(text);
        }
        let colons = colons(text);
        let at = colons
            .iter()
            .rev()
            .find(|&&at| exists(&text[..at]))
            .or_else(|| colons.iter().find(|&&at| files::has_known_ending(&text[..at])))
            .or_else(|| colons.first());
        match at {
            Some(&at) => {
                let object = text[at + 1..].trim_matches('/').to_owned();
                Self { object, ..Self::whole(&text[..at]) }
            }
            None => Self::whole(text),
        }
    }
}

/// Positions of the colons that may separate a file from an object.
fn colons(text: &str) -> Vec<usize> {
    let from = match text.find("://") {
        // The authority may hold a port.
        Some(scheme) => text[scheme + 3..].find('/').map_or(text.len(), |slash| scheme + 3 + slash),
        None if is_drive(text) => 2,
        None => 0,
    };
    text.match_indices(':').map(|(at, _)| at).filter(|&at| at >= from).collect()
}

/// Whether the text begins like `C:\` or `C:/`.
fn is_drive(text: &str) -> bool {
    let bytes = text.as_bytes();
    matches!(bytes, [letter, b':', b'\\' | b'/', ..] if letter.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str, existing: &[&str]) -> (String, String) {
        let target = Target::split(text, |name| existing.contains(&name));
        (target.uri, target.object)
    }

    #[test]
    fn existing_files_decide() {
        for (text, existing, uri, object) in [
            ("a.root", &["a.root"][..], "a.root", ""),
            ("a.root:t", &["a.root"], "a.root", "t"),
            ("a.root:d/t/b;1", &["a.root"], "a.root", "d/t/b;1"),
            ("a.root:/d/t/", &["a.root"], "a.root", "d/t"),
            ("a.root:", &["a.root"], "a.root", ""),
            ("a:b.root", &["a:b.root", "a"], "a:b.root", ""),
            ("a:b.root:t", &["a:b.root", "a"], "a:b.root", "t"),
            ("a.root:t:u", &["a.root"], "a.root", "t:u"),
            ("C:\\d\\a.root:t", &["C:\\d\\a.root"], "C:\\d\\a.root", "t"),
            ("C:\\d\\a.root", &["C:\\d\\a.root"], "C:\\d\\a.root", ""),
            ("C:/a.root:t", &["C:/a.root", "C"], "C:/a.root", "t"),
        ] {
            assert_eq!(split(text, existing), (uri.into(), object.into()), "{text}");
        }
    }

    #[test]
    fn without_a_file_the_likely_name_is_taken() {
        for (text, uri, object) in [
            ("missing.root:t", "missing.root", "t"),
            ("run:7.root:t:u", "run:7.root", "t:u"),
            ("missing:t", "missing", "t"),
            ("missing", "missing", ""),
            ("C:\\missing.root", "C:\\missing.root", ""),
            ("C:\\missing.root:t", "C:\\missing.root", "t"),
            ("https://host:80/a.root:t", "https://host:80/a.root", "t"),
            ("https://host:80", "https://host:80", ""),
            ("root://host//d/a.root", "root://host//d/a.root", ""),
            (":t", "", "t"),
            ("", "", ""),
        ] {
            assert_eq!(split(text, &[]), (uri.into(), object.into()), "{text}");
        }
    }
}
