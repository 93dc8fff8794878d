//! Reading the tables of many files at once.

use crate::{
    array::{Array, place},
    file::format_options,
    files::{self, Store},
    read::listening,
    table::{Constant, Table, constants},
};
use forthwith::{Chain, ChainFile, ChainOptions};
use pyo3::{prelude::*, types::PyDict};
use std::{path::PathBuf, sync::Arc};

/// The path of a file, the table in it, and the columns that its folders say.
type Part = (PathBuf, String, Vec<Constant>);

/// An array for each field, and the number of entries of each file, as far as known.
type Read = (Vec<Array>, Vec<Option<u64>>);

/// Fields of the first table from all files, if these have the same fields in the same types; the number of entries of each
/// file, as far as known. Nothing if they have not, or if something is wrong with one of them.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "the arguments of Python")]
#[pyo3(signature = (first, fields, parts, start=0, stop=None, *, bits=false, threads=None, options=None, store=None))]
pub(crate) fn read_alike(
    py: Python<'_>,
    first: &Bound<'_, Table>,
    fields: Vec<u32>,
    parts: Vec<Part>,
    start: u64,
    stop: Option<u64>,
    bits: bool,
    threads: Option<usize>,
    options: Option<&Bound<'_, PyDict>>,
    store: Store,
) -> PyResult<Option<Read>> {
    let first = first.get();
    let made = parts.into_iter().map(|(path, object, said)| {
        let constants = constants(said);
        ChainFile { path, object, constants }
    });
    let options = ChainOptions {
        open: format_options(options)?,
        store: files::options(&store.unwrap_or_default()),
        engine: Some(Arc::clone(first.table.file().engine())),
        ..ChainOptions::default()
    };
    let chain = Chain::new(made.collect(), options);
    let chain = chain.map_err(|error| first.handle.error(py, error))?;
    let entries = start..stop.unwrap_or(u64::MAX);
    let table = &first.table;
    let read = listening(py, &first.handle, None, |tick| {
        chain.read_alike(table, &fields, entries, bits, threads, Some(tick))
    })?;
    let Some(arrays) = read else { return Ok(None) };
    let names = table.fields().map_err(|error| first.handle.error(py, error))?;
    let made = arrays.iter().zip(&fields).map(|(array, field)| {
        let path = names.get(*field as usize).map(|field| field.path.clone()).unwrap_or_default();
        Array::new(py, array, place(table.file().uri(), path, start), table.text_policy())
    });
    Ok(Some((made.collect::<PyResult<_>>()?, chain.known_lengths())))
}
