//! Resolution of names and patterns to files.

use crate::{
    desk::{heard, raised},
    handle::error_of,
};
use forthwith::{
    files::{self, IndexPlace, Place, StoreOptions},
    io::{self, Index, Indexed},
    plan::{Constant, Result, Value},
};
use pyo3::prelude::*;
use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    sync::Arc,
};

/// Returns the files that names, patterns and folders refer to.
#[pyfunction]
pub(crate) fn expand_files(py: Python<'_>, names: Vec<PathBuf>) -> PyResult<Vec<OsString>> {
    let found = py.detach(|| files::expand(&names)).map_err(|error| error_of(py, error, None, None))?;
    Ok(found.into_iter().map(PathBuf::into_os_string).collect())
}

/// A Hive partition column: name, value as text, whether it is an integer, and whether some files lack it.
type Said = (String, Option<String>, bool, bool);

/// Returns the Hive partition columns of each file, given with the name or folder that it was found by.
#[pyfunction]
pub(crate) fn partitions(files: Vec<(PathBuf, PathBuf)>) -> Vec<Vec<Said>> {
    let said = |Constant { name, value, may_lack }: Constant| match value {
        Value::Whole(value) => (name, value.map(|value| value.to_string()), true, may_lack),
        Value::Text(value) => (name, value, false, may_lack),
    };
    files::partitions(&files).into_iter().map(|all| all.into_iter().map(said).collect()).collect()
}

/// Returns the URLs of stored objects that match a pattern.
#[pyfunction]
pub(crate) fn expand_stored(py: Python<'_>, pattern: &str, store: Store) -> PyResult<Vec<String>> {
    let store = options(&store.unwrap_or_default());
    py.detach(|| files::expand_stored(pattern, &store)).map_err(|error| error_of(py, error, None, None))
}

/// Options of a store, by name.
pub(crate) type Store = Option<Vec<(String, String)>>;

pub(crate) fn options(store: &[(String, String)]) -> StoreOptions {
    store.iter().fold(StoreOptions::new().going_on(heard), |store, (name, value)| store.with(name, value))
}

/// Returns a text with user, password and query removed from its URLs, for errors and logs.
#[pyfunction]
pub(crate) fn redact(text: &str) -> String {
    files::redact(text)
}

/// Splits `FILE:OBJECT`; without an object, the second part is empty.
#[pyfunction]
pub(crate) fn split_name(text: &str) -> (&str, String) {
    files::split(text, |name| Path::new(name).exists())
}

/// Opens the source that a path or URL names, with its index if given, and with options for a store.
pub(crate) fn source(path: &Path, index: Option<Index>, store: &StoreOptions) -> Result<Arc<dyn io::Source>> {
    match index {
        Some(index) => files::source_indexed(path, index, store),
        None => files::source_with(path, store),
    }
}

/// Returns the source, with its index if given.
pub(crate) fn with_index(source: Arc<dyn io::Source>, index: Option<Index>) -> Result<Arc<dyn io::Source>> {
    match index {
        Some(index) => Ok(Arc::new(Indexed::over(source, index)?)),
        None => Ok(source),
    }
}

/// Reads the index of a file; `None` if none is requested or none exists.
pub(crate) fn index(file: &str, place: Option<IndexPlace>, store: &StoreOptions) -> Result<Option<Index>> {
    let Some(place) = place else { return Ok(None) };
    files::read_index(file, &place, store)
}

/// Converts the option `index`: `True` means beside the file, and text is the name of an index or a folder.
pub(crate) fn index_place(index: Option<&Bound<'_, PyAny>>) -> PyResult<Option<IndexPlace>> {
    let Some(index) = index else { return Ok(None) };
    Ok(match index.extract::<bool>() {
        Ok(beside) => beside.then_some(IndexPlace::Beside),
        Err(_) => Some(IndexPlace::At(index.extract()?)),
    })
}

/// Creates the index of a file, writes it and returns its name.
#[pyfunction]
pub(crate) fn make_index(
    py: Python<'_>,
    path: PathBuf,
    index: &Bound<'_, PyAny>,
    store: Store,
) -> PyResult<String> {
    let place = index_place(Some(index))?.unwrap_or(IndexPlace::Beside);
    let made = py.detach(|| {
        let (store, name) = (options(&store.unwrap_or_default()), path.to_string_lossy());
        let index = forthwith::index(source(&path, None, &store)?)?;
        files::write_index(&index, &name, &place, &store)
    });
    match raised() {
        Some(raised) => Err(raised),
        None => made.map_err(|error| error_of(py, error, None, None)),
    }
}

/// Returns a callback that checks for signals while a stream or the network is waited for. It returns `false`
/// after an exception, which is stored in `stopped`.
pub(crate) fn hearing(stopped: &mut Option<PyErr>) -> impl FnMut() -> bool {
    || match Python::try_attach(|py| py.check_signals()) {
        Some(Err(exception)) => {
            *stopped = Some(exception);
            false
        }
        _ => true,
    }
}

/// Returns the path of the table or other object that a path names, and the field if the path continues into
/// a table.
pub(crate) fn locate(file: &forthwith::File, path: &str) -> Result<(String, Option<String>)> {
    Ok(match files::locate(file, path)? {
        Place::Table(table) => (table.path().to_owned(), None),
        Place::Object(key) => (key.path, None),
        Place::Field { table, field, .. } => {
            let name = table.fields()?.get(field as usize).map(|field| field.path.clone());
            (table.path().to_owned(), name)
        }
    })
}
