//! Files that are opened with an index of their metadata.

use super::{StoreOptions, remote, sink, source_with};
use forthwith_io::{self as io, Index, Indexed, Source};
use forthwith_plan::Result;
use std::{io::Write, path::Path, sync::Arc};

/// Where the index of a file is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IndexPlace {
    /// Beside the file, if there is one: its name with [`Index::ENDING`].
    Beside,
    /// Under this name, a path or a URL. In a folder, if it ends in `/` or is one: then under the file's own name with
    /// [`Index::ENDING`], if there is one.
    At(String),
}

impl IndexPlace {
    /// The name of the index of a file, and whether it has to be there.
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

/// A URL, and its query.
fn at_query(url: &str) -> (&str, &str) {
    url.split_at(url.find('?').unwrap_or(url.len()))
}

/// Reads the index of a file. `None` if it need not be there and is not.
///
/// # Errors
/// It cannot be read, is damaged, or is no index.
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

/// The options for the store of an index: those of the file, if it is of the same store.
fn of_index(name: &str, file: &str, store: &StoreOptions) -> StoreOptions {
    if origin(name) == origin(file) { store.clone() } else { store.for_another_store() }
}

/// Scheme and host.
fn origin(url: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = url.split_once("://")?;
    Some((scheme, rest.split(['/', '?']).next().unwrap_or(rest)))
}

fn is_absent(error: &forthwith_plan::Error) -> bool {
    use forthwith_plan::ErrorKind::Source;
    matches!(&error.kind, Source(io::Error { kind: io::ErrorKind::NotFound, .. }))
}

/// Opens the bytes that a name means as [`source_with`] does, with an index of its metadata. Of a file behind a network nothing is read;
/// that the file is the one that the index is of, its first answer has to show.
///
/// # Errors
/// As [`source_with`]; the index is of another state of the file.
pub fn source_indexed(name: impl AsRef<Path>, index: Index, store: &StoreOptions) -> Result<Arc<dyn Source>> {
    let url = name.as_ref().to_str().filter(|name| remote::is_remote(name));
    if let (Some(url), Some(mark)) = (url, index.mark())
        && let Some(source) = remote::open_marked(url, store, index.size(), mark)?
    {
        return Ok(Arc::new(Indexed::over(source, index)?));
    }
    Ok(Arc::new(Indexed::over(source_with(name, store)?, index)?))
}

/// Writes the index of a file, under the name that [`IndexPlace::of`] gives. It is there once it is complete. The answer is its name.
///
/// # Errors
/// It cannot be written; its name ends as those of files with data do.
pub fn write_index(index: &Index, file: &str, place: &IndexPlace, store: &StoreOptions) -> Result<String> {
    let (name, _) = place.of(file);
    crate::check_ending("an index", &name)?;
    let mut sink = sink(&name, &of_index(&name, file, store))?;
    let written = sink.write_all(&index.to_bytes());
    written.map_err(|error| io::Error::new(error.into(), &*name))?;
    sink.finish()?;
    Ok(name)
}
