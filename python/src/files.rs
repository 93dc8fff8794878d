//! From what is typed to files.

use crate::{desk::heard, handle::error_of};
use forthwith::{
    files::{self, Place, StoreOptions},
    io,
    plan::Result,
};
use pyo3::prelude::*;
use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    sync::Arc,
};

/// The files that names, patterns and folders mean.
#[pyfunction]
pub(crate) fn expand_files(py: Python<'_>, names: Vec<PathBuf>) -> PyResult<Vec<OsString>> {
    let found = py.detach(|| files::expand(&names)).map_err(|error| error_of(py, error, None, None))?;
    Ok(found.into_iter().map(PathBuf::into_os_string).collect())
}

/// The URLs of objects of a store that match a pattern.
#[pyfunction]
pub(crate) fn expand_stored(py: Python<'_>, pattern: &str, store: Store) -> PyResult<Vec<String>> {
    let store = options(&store.unwrap_or_default());
    py.detach(|| files::expand_stored(pattern, &store)).map_err(|error| error_of(py, error, None, None))
}

/// Options of a store, by their names.
pub(crate) type Store = Option<Vec<(String, String)>>;

pub(crate) fn options(store: &[(String, String)]) -> StoreOptions {
    store.iter().fold(StoreOptions::new().going_on(heard), |store, (name, value)| store.with(name, value))
}

/// The file and the object of `FILE:OBJECT`; the object is empty if there is none.
#[pyfunction]
pub(crate) fn split_name(text: &str) -> (&str, String) {
    files::split(text, |name| Path::new(name).exists())
}

/// The bytes that a name means, with options for a store. Where a stream or a network is waited for, signals are heard; the exception of
/// their handlers goes to `stopped`, or ends a later call.
pub(crate) fn source(
    path: &Path,
    store: Vec<(String, String)>,
    stopped: &mut Option<PyErr>,
) -> Result<Arc<dyn io::Source>> {
    let store = options(&store);
    files::source_with(path, &store, &mut || match Python::try_attach(|py| py.check_signals()) {
        Some(Err(exception)) => {
            *stopped = Some(exception);
            false
        }
        _ => true,
    })
}

/// The table or other object that a path means, and the field of the table if the path goes on to one.
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
