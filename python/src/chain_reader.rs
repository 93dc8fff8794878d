//! Reading of the files of a chain in steps.

use crate::{
    array::{Array, Buffer},
    chain::{Part, chain, damage},
    errors,
    files::Store,
    handle::Handle,
    read::listening,
    selection::{self, Lost, Selection, United, numbers, united_columns},
    table::Table,
};
use forthwith::{
    AlikeStep, AlikeSteps, ChainStep, FileEntries, PayloadStep, SchemaExpressions, SchemaOptions,
    SelectOptions, Selected, Step,
    plan::{Error, Result},
};
use pyo3::{prelude::*, types::PyDict};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

/// Reader of the steps of a chain, whose columns are resolved once for each schema.
#[pyclass(frozen, module = "forthwith._forthwith")]
pub(crate) struct ChainReader {
    state: Mutex<ChainState>,
}

struct ChainState {
    steps: AlikeSteps,
    /// The file that [`begin`](ChainReader::begin) was called for.
    begun: Option<Arc<Handle>>,
    /// Files of the remembered schemas, by the numbers of these. They stay open.
    schemas: Vec<(u64, Arc<Handle>)>,
}

/// Number of the file's schema if it is remembered; uri of the file and path of the table in it; first entry
/// of the step and the entry after its last, relative to the file; arrays, their entries if some may be
/// excluded, and losses.
type ReadStep = (Option<u64>, String, String, u64, u64, Vec<Array>, Option<Buffer>, Vec<Lost>);

/// Aliases, and the filter.
type Expressions = (Vec<(String, String)>, Option<String>);

#[pymethods]
impl ChainReader {
    #[new]
    #[expect(clippy::too_many_arguments, reason = "the arguments of Python")]
    #[pyo3(signature = (parts, aliases, cut=None, chosen=None, start=0, stop=None, *, entries=None, bytes=None, bits=false, returns_empty=false, file_entries=None, errors="raise", options=None, store=None))]
    fn new(
        py: Python<'_>,
        parts: Vec<Part>,
        aliases: Vec<(String, String)>,
        cut: Option<String>,
        chosen: Option<Vec<u8>>,
        start: u64,
        stop: Option<u64>,
        entries: Option<u64>,
        bytes: Option<u64>,
        bits: bool,
        returns_empty: bool,
        file_entries: Option<(Option<i64>, Option<i64>)>,
        errors: &str,
        options: Option<&Bound<'_, PyDict>>,
        store: Store,
    ) -> PyResult<Self> {
        let chain = chain(parts, options, store, None, damage(errors))?;
        let chain = chain.ok_or_else(|| errors::request(py, "steps of no file".into()))?;
        let step = entries.map_or(Step::Bytes(bytes.unwrap_or(u64::MAX)), Step::Entries);
        let entries = chosen.as_deref().map(numbers);
        let options = SelectOptions { aliases, cut, entries, ..SelectOptions::default() };
        let steps = chain.alike_steps(options, start..stop.unwrap_or(u64::MAX), step);
        let mut steps = steps.with_bits(bits).with_empty_files(returns_empty);
        if let Some((start, stop)) = file_entries {
            steps = steps.with_file_entries(FileEntries { start, stop });
        }
        Ok(Self { state: Mutex::new(ChainState { steps, begun: None, schemas: Vec::new() }) })
    }

    /// Reads the next step; returns the number of its file, the entries of the files before that one, and the
    /// step. The step is `None` for a file with an unknown schema, for which a `begin` method or `skip` is to
    /// be called. Returns `None` after the last step.
    #[pyo3(signature = (threads=None, progress=None))]
    fn read(
        &self,
        py: Python<'_>,
        threads: Option<usize>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Option<(usize, u64, Option<ReadStep>)>> {
        let Some(handle) = lock(&self.state).ok().and_then(|state| state.handle()) else {
            // Without a remembered schema, this call reads no file.
            let step = lock(&self.state).and_then(|mut state| state.steps.read(threads, &mut |_| true));
            return match step {
                Ok(Some(AlikeStep::Unknown { file, before })) => Ok(Some((file, before, None))),
                Ok(_) => Ok(None),
                Err(error) => Err(errors::exception(py, &error)),
            };
        };
        let step = listening(py, &handle, progress.as_ref(), |tick| {
            let mut state = lock(&self.state)?;
            let step = state.steps.read(threads, tick)?;
            if !matches!(step, Some(AlikeStep::Read { schema: None, .. })) {
                state.begun = None;
            }
            Ok(step.map(|step| (step, state.steps.selection().cloned())))
        })?;
        let (schema, step, selection) = match step {
            Some((AlikeStep::Unknown { file, before }, _)) => return Ok(Some((file, before, None))),
            Some((AlikeStep::Read { schema, step }, Some(selection))) => (schema, step, selection),
            _ => return Ok(None),
        };
        let ChainStep { file, before, entries, kept, arrays, lost } = step;
        let read = Selected { entries, kept, arrays };
        let made = selection::arrays(py, &selection, &read)?;
        let lost = selection::lost(py, &handle, lost.into_iter().map(|lost| lost.loss));
        let table = selection.table();
        let place = (table.file().uri().to_owned(), table.path().to_owned());
        let (start, stop) = (read.entries.start, read.entries.end);
        let step = (schema, place.0, place.1, start, stop, made, read.kept.map(selection::kept), lost);
        Ok(Some((file, before, Some(step))))
    }

    /// Reads the returned file, and later files with the same fields in the same types, with columns of its
    /// table. `expressions` are aliases and filter that replace those of the chain; `payload` is a step size
    /// in decompressed bytes of some fields. Returns the number of the schema, and the numbers of forgotten
    /// schemas, whose files may be closed.
    #[expect(clippy::too_many_arguments, reason = "the arguments of Python")]
    #[pyo3(signature = (table, columns, united, *, expressions=None, payload=None, has_type_names=false))]
    fn begin_like(
        &self,
        py: Python<'_>,
        table: &Bound<'_, Table>,
        columns: Vec<(String, Option<u32>)>,
        united: Vec<United<'_>>,
        expressions: Option<Expressions>,
        payload: Option<(u64, Vec<u32>)>,
        has_type_names: bool,
    ) -> PyResult<(u64, Vec<u64>)> {
        let (table, united) = (table.get(), united_columns(united));
        let payload_step = payload.map(|(bytes, fields)| PayloadStep { bytes, fields });
        let expressions = expressions.map(|(aliases, cut)| SchemaExpressions { aliases, cut });
        let options = SchemaOptions { united, expressions, payload_step, has_type_names };
        let columns: Vec<_> = columns.iter().map(|(name, field)| (name.as_str(), *field)).collect();
        table.handle.run(py, || {
            let mut state = lock(&self.state)?;
            let id = state.steps.begin_like(&table.table, &columns, options)?;
            let kept: Vec<u64> = state.steps.schemas().collect();
            state.schemas.push((id, Arc::clone(&table.handle)));
            let (schemas, forgotten) =
                std::mem::take(&mut state.schemas).into_iter().partition(|(id, _)| kept.contains(id));
            state.schemas = schemas;
            let forgotten: Vec<(u64, Arc<Handle>)> = forgotten;
            Ok((id, forgotten.into_iter().map(|(id, _)| id).collect()))
        })
    }

    /// Reads only the returned file, with a selection of its table.
    fn begin(&self, py: Python<'_>, selection: &Bound<'_, Selection>) -> PyResult<()> {
        let Selection { handle, selection, .. } = selection.get();
        handle.run(py, || {
            let mut state = lock(&self.state)?;
            state.begun = Some(Arc::clone(handle));
            state.steps.begin(selection)
        })
    }

    /// Skips the returned file, which has `entries` entries.
    fn skip(&self, py: Python<'_>, entries: u64) -> PyResult<()> {
        let mut state = lock(&self.state).map_err(|error| errors::exception(py, &error))?;
        state.steps.pass(entries);
        Ok(())
    }

    /// Reads other columns of some entries of the last step's file.
    #[expect(clippy::too_many_arguments, reason = "the arguments of Python")]
    #[pyo3(signature = (columns, united, start, stop, *, bits=false, threads=None))]
    fn read_beside(
        &self,
        py: Python<'_>,
        columns: Vec<(String, Option<u32>)>,
        united: Vec<United<'_>>,
        start: u64,
        stop: u64,
        bits: bool,
        threads: Option<usize>,
    ) -> PyResult<Vec<Array>> {
        let found = lock(&self.state).ok().and_then(|state| {
            let table = state.steps.selection()?.table().clone();
            Some((table, state.handle()?))
        });
        let Some((table, handle)) = found else {
            return Err(errors::request(py, "columns beside no step".into()));
        };
        let columns: Vec<_> = columns.iter().map(|(name, field)| (name.as_str(), *field)).collect();
        let united = united_columns(united);
        let read = listening(py, &handle, None, |tick| {
            let options = SelectOptions { united, ..SelectOptions::default() };
            let selection = table.select_fields(&columns, options)?.with_bits(bits);
            Ok((selection.read(start..stop, threads, Some(tick))?, selection))
        })?;
        selection::arrays(py, &read.1, &read.0)
    }

    /// Returns the number of entries of the files before the current one, or of all files after the last
    /// step.
    fn entries_before(&self, py: Python<'_>) -> PyResult<u64> {
        let state = lock(&self.state).map_err(|error| errors::exception(py, &error))?;
        Ok(state.steps.entries_before())
    }

    /// Returns the number of entries of the current file, which may be an estimate; 0 without a current file.
    fn likely_entries(&self, py: Python<'_>) -> PyResult<u64> {
        let Some(handle) = lock(&self.state).ok().and_then(|state| state.handle()) else { return Ok(0) };
        handle.run(py, || match lock(&self.state)?.steps.selection() {
            Some(selection) => selection.table().likely_entries(),
            None => Ok(0),
        })
    }
}

impl ChainState {
    /// Returns a file that is open while the next step is read.
    fn handle(&self) -> Option<Arc<Handle>> {
        self.begun.as_ref().or_else(|| self.schemas.first().map(|(_, handle)| handle)).map(Arc::clone)
    }
}

/// Locks the state without blocking, which could deadlock: `progress` is called while a step is read.
fn lock(state: &Mutex<ChainState>) -> Result<MutexGuard<'_, ChainState>> {
    match state.try_lock() {
        Ok(state) => Ok(state),
        Err(TryLockError::Poisoned(state)) => Ok(PoisonError::into_inner(state)),
        Err(TryLockError::WouldBlock) => Err(Error::invalid("a step is being read already")),
    }
}
