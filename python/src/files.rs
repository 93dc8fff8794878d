//! From what is typed to files.

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

/// The files that names, patterns and folders mean.
#[pyfunction]
pub(crate) fn expand_files(py: Python<'_>, names: Vec<PathBuf>) -> PyResult<Vec<OsString>> {
    let found = py.detach(|| files::expand(&names)).map_err(|error| error_of(py, error, None, None))?;
    Ok(found.into_iter().map(PathBuf::into_os_string).collect())
}

/// A column that the folders of a file say: its name, the value as text, whether it is a whole number, and whether some files have none.
type Said = (String, Option<String>, bool, bool);

/// The columns that folders say, for files with the names that were given for them.
#[pyfunction]
pub(crate) fn partitions(files: Vec<(PathBuf, PathBuf)>) -> Vec<Vec<Said>> {
    let said = |Constant { name, value, may_lack }: Constant| match value {
        Value::Whole(value) => (name, value.map(|value| value.to_string()), true, may_lack),
        Value::Text(value) => (name, value, false, may_lack),
    };
    files::partitions(&files).into_iter().map(|all| all.into_iter().map(said).collect()).collect()
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

/// A text whose URLs have no user, password and query, for errors and whatever else may be logged.
#[pyfunction]
pub(crate) fn redact(text: &str) -> String {
    files::redact(text)
}

/// The file and the object of `FILE:OBJECT`; the object is empty if there is none.
#[pyfunction]
pub(crate) fn split_name(text: &str) -> (&str, String) {
    files::split(text, |name| Path::new(name).exists())
}

/// The bytes that a name means, with the index of it if there is one, and options for a store.
pub(crate) fn source(path: &Path, index: Option<Index>, store: &StoreOptions) -> Result<Arc<dyn io::Source>> {
    match index {
        Some(index) => files::source_indexed(path, index, store),
        None => files::source_with(path, store),
    }
}

/// A source with its index, if there is one.
pub(crate) fn with_index(source: Arc<dyn io::Source>, index: Option<Index>) -> Result<Arc<dyn io::Source>> {
    match index {
        Some(index) => Ok(Arc::new(Indexed::over(source, index)?)),
        None => Ok(source),
    }
}

/// The index of a file, if one is asked for and there.
pub(crate) fn index(file: &str, place: Option<IndexPlace>, store: &StoreOptions) -> Result<Option<Index>> {
    let Some(place) = place else { return Ok(None) };
    files::read_index(file, &place, store)
}

/// `True` is beside the file, a text a name or a folder.
pub(crate) fn index_place(index: Option<&Bound<'_, PyAny>>) -> PyResult<Option<IndexPlace>> {
    let Some(index) = index else { return Ok(None) };
    Ok(match index.extract::<bool>() {
        Ok(beside) => beside.then_some(IndexPlace::Beside),
        Err(_) => Some(IndexPlace::At(index.extract()?)),
    })
}

/// Makes the index of a file and writes it; its name.
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

/// Whether to go on: asked while a stream or a network is waited for.
pub(crate) fn hearing(stopped: &mut Option<PyErr>) -> impl FnMut() -> bool {
    || match Python::try_attach(|py| py.check_signals()) {
        Some(Err(exception)) => {
            *stopped = Some(exception);
            false
        }
        _ => true,
    }
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
