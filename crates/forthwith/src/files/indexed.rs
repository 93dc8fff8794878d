//! Files that are opened with an index of their metadata.

use super::{StoreOptions, remote, sink, source_with};
use forthwith_io::{self as io, Index, Indexed, Source};
use forthwith_plan::Result;
use std::{io::Write, path::Path, sync::Arc};

/// Location of the index of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IndexPlace {
    /// Next to the file, under its name with [`Index::ENDING`], if it exists.
    Beside,
    /// At this path or URL. If it ends in `/` or is a directory, in that directory under the file's name with
    /// [`Index::ENDING`], if it exists.
    At(String),
}

impl IndexPlace {
    /// Returns the name of the index of a file, and whether it must exist.
    #[must_use]
    pub fn of(&self, file: &str) -> (String, bool) {
        let (path, query) = if remote::is_remote(file) { at_query(file) } else { (file, "") };
        match self {
            Self::Beside => (format!("{path}{}{query}", Index::ENDING), false),
            Self::At(name) if name.ends_with('/') || !remote::is_remote(name) && Path::new(name).is_dir() => {
                let own = path.rsplit(['/', std::path::MAIN_SEPARATOR]).next().unwrap_or(path);
                let slash = if name.ends_with('/') { "" } else { "/" };
                (format!("{name}{slash}{own}{}", Index::ENDING), false)
            }
            Self::At(name) => (name.clone(), true),
        }
    }
}

/// Splits a URL before its query.
fn at_query(url: &str) -> (&str, &str) {
    url.split_at(url.find('?').unwrap_or(url.len()))
}

/// Reads the index of a file. Returns `None` if it does not exist and need not.
///
/// # Errors
/// The index cannot be read, is damaged, or is not an index.
pub fn read_index(file: &str, place: &IndexPlace, store: &StoreOptions) -> Result<Option<Index>> {
    let (name, needed) = place.of(file);
    let opened = source_with(&name, &of_index(&name, file, store)).and_then(|source| {
        let size = source.size()?;
        if size > Index::MOST {
            let what = format!("{size} bytes are more than an index may have");
            return Err(io::Error::new(io::ErrorKind::Index { what }, source.uri()).into());
        }
        Ok(Index::parse(source.uri(), &source.read_one(0..size)?)?)
    });
    match opened {
        Err(error) if !needed && is_absent(&error) => Ok(None),
        opened => opened.map(Some),
    }
}

/// Returns the options for the store of an index: those of the file, if it is in the same store.
fn of_index(name: &str, file: &str, store: &StoreOptions) -> StoreOptions {
    if origin(name) == origin(file) { store.clone() } else { store.for_another_store() }
}

/// Returns scheme and host of a URL.
fn origin(url: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = url.split_once("://")?;
    Some((scheme, rest.split(['/', '?']).next().unwrap_or(rest)))
}

fn is_absent(error: &forthwith_plan::Error) -> bool {
    use forthwith_plan::ErrorKind::Source;
    matches!(&error.kind, Source(io::Error { kind: io::ErrorKind::NotFound, .. }))
}

/// Opens a source as [`source_with`] does, with an index of its metadata. No byte of a remote file is read;
/// its first response must show that the index is of this state of the file.
///
/// # Errors
/// Errors of [`source_with`]; the index is of another state of the file.
pub fn source_indexed(name: impl AsRef<Path>, index: Index, store: &StoreOptions) -> Result<Arc<dyn Source>> {
    let url = name.as_ref().to_str().filter(|name| remote::is_remote(name));
    if let (Some(url), Some(mark)) = (url, index.mark())
        && let Some(source) = remote::open_marked(url, store, index.size(), mark)?
    {
        return Ok(Arc::new(Indexed::over(source, index)?));
    }
    Ok(Arc::new(Indexed::over(source_with(name, store)?, index)?))
}

/// Writes the index of a file, under the name that [`IndexPlace::of`] returns. The index appears when it is
/// complete. Returns its name.
///
/// # Errors
/// The index cannot be written; its name has the extension of a data format.
pub fn write_index(index: &Index, file: &str, place: &IndexPlace, store: &StoreOptions) -> Result<String> {
    let (name, _) = place.of(file);
    crate::check_ending("an index", &name)?;
    let mut sink = sink(&name, &of_index(&name, file, store))?;
    let written = sink.write_all(&index.to_bytes());
    written.map_err(|error| io::Error::new(error.into(), &*name))?;
    sink.finish()?;
    Ok(name)
}
