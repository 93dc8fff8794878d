//! Reading the tables of many files at once.

use crate::{
    array::{Array, Buffer, place},
    desk::raised,
    errors,
    file::format_options,
    files::{self, Store},
    handle::Handle,
    read::listening,
    selection,
    table::{Constant, Table, constants},
};
use forthwith::{
    AlikeStep, Chain, ChainFile, ChainOptions, ChainSelected, ChainStep, ChainSteps, Engine, SelectOptions,
    Step, plan::Error,
};
use pyo3::{prelude::*, types::PyDict};
use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError, TryLockError},
};

/// The path of a file, the table in it, and the columns that its folders say.
type Part = (PathBuf, String, Vec<Constant>);

fn chain(
    parts: Vec<Part>,
    options: Option<&Bound<'_, PyDict>>,
    store: Store,
    engine: Option<Arc<Engine>>,
) -> PyResult<Option<Chain>> {
    let made = parts.into_iter().map(|(path, object, said)| {
        let constants = constants(said);
        ChainFile { path, object, constants }
    });
    let open = format_options(options)?;
    let store = files::options(&store.unwrap_or_default());
    Ok(Chain::new(made.collect(), ChainOptions { open, store, engine, ..ChainOptions::default() }).ok())
}

/// The number of entries of each file, which are opened side by side. Nothing if something is wrong with one of them.
#[pyfunction]
#[pyo3(signature = (parts, *, options=None, store=None))]
pub(crate) fn count_entries(
    py: Python<'_>,
    parts: Vec<Part>,
    options: Option<&Bound<'_, PyDict>>,
    store: Store,
) -> PyResult<Option<Vec<u64>>> {
    let Some(chain) = chain(parts, options, store, None)? else { return Ok(None) };
    let counted = py.detach(|| chain.lengths().ok());
    match raised() {
        Some(raised) => Err(raised),
        None => Ok(counted),
    }
}

/// For each file the first one with the same fields in the same types. Nothing if something is wrong with one of them.
#[pyfunction]
#[pyo3(signature = (parts, *, options=None, store=None))]
pub(crate) fn same_schemas(
    py: Python<'_>,
    parts: Vec<Part>,
    options: Option<&Bound<'_, PyDict>>,
    store: Store,
) -> PyResult<Option<Vec<usize>>> {
    let Some(chain) = chain(parts, options, store, None)? else { return Ok(None) };
    let found = py.detach(|| chain.same_schemas().ok());
    match raised() {
        Some(raised) => Err(raised),
        None => Ok(found),
    }
}

/// An array for each column, the entries that they have if these may not be all, and the number of entries of each file, as
/// far as known.
type Read = (Vec<Array>, Option<Buffer>, Vec<Option<u64>>);

/// Columns of all files, by the positions of their fields in the first table or as expressions, if the files have the same fields in
/// the same types. Nothing if they have not, or if something is wrong with one of them.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "the arguments of Python")]
#[pyo3(signature = (first, columns, parts, aliases, cut=None, start=0, stop=None, *, bits=false, threads=None, options=None, store=None))]
pub(crate) fn read_alike(
    py: Python<'_>,
    first: &Bound<'_, Table>,
    columns: Vec<(String, Option<u32>)>,
    parts: Vec<Part>,
    aliases: Vec<(String, String)>,
    cut: Option<String>,
    start: u64,
    stop: Option<u64>,
    bits: bool,
    threads: Option<usize>,
    options: Option<&Bound<'_, PyDict>>,
    store: Store,
) -> PyResult<Option<Read>> {
    let first = first.get();
    let engine = Arc::clone(first.table.file().engine());
    let Some(chain) = chain(parts, options, store, Some(engine))? else { return Ok(None) };
    let (table, entries) = (&first.table, start..stop.unwrap_or(u64::MAX));
    let columns: Vec<_> = columns.iter().map(|(name, field)| (name.as_str(), *field)).collect();
    let read = listening(py, &first.handle, None, |tick| {
        let options = SelectOptions { aliases, cut, ..SelectOptions::default() };
        let Ok(selection) = chain.select_like(table, &columns, options) else { return Ok(None) };
        selection.with_bits(bits).read_alike(entries, threads, Some(tick))
    })?;
    let Some(ChainSelected { kept: entries, arrays, .. }) = read else { return Ok(None) };
    let made = arrays.iter().zip(&columns).map(|(array, (name, _))| {
        Array::new(py, array, place(table.file().uri(), (*name).to_owned(), start), table.text_policy())
    });
    Ok(Some((made.collect::<PyResult<_>>()?, entries.map(selection::kept), chain.known_lengths())))
}

/// Steps over files that have the columns of the first one.
#[pyclass(frozen, module = "forthwith._forthwith")]
pub(crate) struct ChainReader {
    handle: Arc<Handle>,
    steps: Mutex<ChainSteps>,
}

/// The number of the file and its path; the entries of the files before it, the first entry of the step and the one after its last,
/// counted in the file; arrays, and their entries if some may have been left out. A file unlike the first has no path and no arrays.
type StepOfFile = (usize, Option<String>, u64, u64, u64, Option<Vec<Array>>, Option<Buffer>);

#[pymethods]
impl ChainReader {
    #[new]
    #[expect(clippy::too_many_arguments, reason = "the arguments of Python")]
    #[pyo3(signature = (first, columns, parts, aliases, cut=None, start=0, stop=None, *, entries=None, bytes=None, bits=false, options=None, store=None))]
    fn new(
        py: Python<'_>,
        first: &Bound<'_, Table>,
        columns: Vec<(String, Option<u32>)>,
        parts: Vec<Part>,
        aliases: Vec<(String, String)>,
        cut: Option<String>,
        start: u64,
        stop: Option<u64>,
        entries: Option<u64>,
        bytes: Option<u64>,
        bits: bool,
        options: Option<&Bound<'_, PyDict>>,
        store: Store,
    ) -> PyResult<Self> {
        let first = first.get();
        let handle = Arc::clone(&first.handle);
        let engine = Arc::clone(first.table.file().engine());
        let chain = chain(parts, options, store, Some(engine))?;
        let chain = chain.ok_or_else(|| errors::request(py, "steps of no file".into()))?;
        let step = entries.map_or(Step::Bytes(bytes.unwrap_or(u64::MAX)), Step::Entries);
        let steps = handle.run(py, || {
            let columns: Vec<_> = columns.iter().map(|(name, field)| (name.as_str(), *field)).collect();
            let options = SelectOptions { aliases, cut, ..SelectOptions::default() };
            let selection = chain.select_like(&first.table, &columns, options)?.with_bits(bits);
            selection.steps(start..stop.unwrap_or(u64::MAX), step)
        })?;
        Ok(Self { handle, steps: Mutex::new(steps) })
    }

    /// The next step; `None` after the last.
    #[pyo3(signature = (threads=None, progress=None))]
    fn read(
        &self,
        py: Python<'_>,
        threads: Option<usize>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Option<StepOfFile>> {
        let step = listening(py, &self.handle, progress.as_ref(), |tick| {
            // Waiting could be for ever: `progress` is called while a step is read.
            let mut steps = match self.steps.try_lock() {
                Ok(steps) => steps,
                Err(TryLockError::Poisoned(steps)) => steps.into_inner(),
                Err(TryLockError::WouldBlock) => return Err(Error::invalid("a step is being read already")),
            };
            let step = steps.read_alike(threads, tick)?;
            Ok(step.map(|step| (step, steps.selection().cloned())))
        })?;
        let (step, selection) = match step {
            None => return Ok(None),
            Some((AlikeStep::Other { file, before }, _)) => {
                return Ok(Some((file, None, before, 0, 0, None, None)));
            }
            Some((AlikeStep::Read(step), selection)) => (step, selection),
        };
        let Some(selection) = selection else { return Ok(None) };
        let ChainStep { file, before, entries, kept, arrays, .. } = step;
        let (uri, text) = (selection.table().file().uri(), selection.table().text_policy());
        let made = |(array, path)| Array::new(py, array, place(uri, path, entries.start), text);
        let arrays = arrays.iter().zip(selection.paths()).map(made).collect::<PyResult<_>>()?;
        let kept = kept.map(selection::kept);
        Ok(Some((file, Some(uri.to_owned()), before, entries.start, entries.end, Some(arrays), kept)))
    }

    /// Goes on behind a file that was not read, which has this number of entries.
    fn skip_other(&self, entries: u64) {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner).skip_other(entries);
    }
}
