//! Columns that are computed, and entries that are chosen.

use crate::{
    array::{Array, Buffer, place},
    arrow,
    batch_reader::BatchReader,
    errors,
    handle::Handle,
    read::listening,
};
use forthwith::{Step, columns::Column, expr::Expression, plan::Result};
use pyo3::{prelude::*, types::PyCapsule};
use std::sync::Arc;

/// Columns of a table, read or computed, of some entries.
#[pyclass(frozen, module = "forthwith._forthwith")]
pub(crate) struct Selection {
    pub(crate) handle: Arc<Handle>,
    pub(crate) selection: forthwith::Selection,
    /// Whether a file object is read of.
    asks: bool,
}

impl Selection {
    pub(crate) fn new(handle: Arc<Handle>, selection: forthwith::Selection, asks: bool) -> Self {
        Self { handle, selection, asks }
    }

    fn forms(&self) -> Result<Vec<(String, forthwith::columns::Form)>> {
        Ok(self.selection.names().map(str::to_owned).zip(self.selection.forms()?).collect())
    }
}

#[pymethods]
impl Selection {
    /// The fields that are read.
    #[getter]
    fn fields(&self) -> Vec<u32> {
        self.selection.fields().to_vec()
    }

    /// Whether entries may be left out.
    #[getter]
    fn chooses_entries(&self) -> bool {
        self.selection.chooses_entries()
    }

    /// The type of each column.
    fn types(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let forms = self.handle.run(py, || self.selection.forms())?;
        Ok(forms.iter().map(forthwith::columns::Form::type_string).collect())
    }

    /// The parts of a range of entries in which the cut may hold by the file's statistics.
    fn promising(&self, py: Python<'_>, start: u64, stop: u64) -> PyResult<Vec<(u64, u64)>> {
        let parts = self.handle.run(py, || self.selection.promising(start..stop))?;
        Ok(parts.into_iter().map(|part| (part.start, part.end)).collect())
    }

    /// An array for each column, and the entries that they have if these may not be all.
    #[pyo3(signature = (start, stop, threads=None, progress=None))]
    fn read(
        &self,
        py: Python<'_>,
        start: u64,
        stop: u64,
        threads: Option<usize>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(Vec<Array>, Option<Buffer>)> {
        let selected = listening(py, &self.handle, progress.as_ref(), |tick| {
            self.selection.read(start..stop, threads, Some(tick))
        })?;
        let uri = self.handle.file.uri();
        let text = self.selection.table().text_policy();
        let made = |(array, path)| Array::new(py, array, place(uri, path, selected.entries.start), text);
        let paths = self.selection.paths();
        let arrays = selected.arrays.iter().zip(paths).map(made).collect::<PyResult<_>>()?;
        Ok((arrays, selected.kept.map(kept)))
    }

    #[pyo3(signature = (start, stop, entries=None, bytes=None))]
    fn batches(
        &self,
        py: Python<'_>,
        start: u64,
        stop: Option<u64>,
        entries: Option<u64>,
        bytes: Option<u64>,
    ) -> PyResult<BatchReader> {
        let step = entries.map_or(Step::Bytes(bytes.unwrap_or(u64::MAX)), Step::Entries);
        let range = start..stop.unwrap_or(u64::MAX);
        let reader = self.handle.run(py, || self.selection.steps(range, step))?;
        Ok(BatchReader::new(Arc::clone(&self.handle), reader))
    }

    #[pyo3(signature = (*, choices))]
    fn schema<'py>(&self, py: Python<'py>, choices: arrow::Choices<'_>) -> PyResult<Bound<'py, PyCapsule>> {
        let forms = self.handle.run(py, || self.forms())?;
        arrow::schema(py, &forms, &choices, &arrow::Kept::of(self.selection.table()))
    }

    #[pyo3(signature = (reader, threads=None, *, choices))]
    fn stream<'py>(
        &self,
        py: Python<'py>,
        reader: &Bound<'_, BatchReader>,
        threads: Option<usize>,
        choices: arrow::Choices<'_>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        self.handle.check_open(py)?;
        let forms = self.handle.run(py, || self.forms())?;
        let reader = reader.get().take(py)?;
        arrow::stream(
            py,
            &self.handle,
            forms,
            reader,
            threads,
            &choices,
            self.asks,
            &arrow::Kept::of(self.selection.table()),
        )
    }
}

/// Numbers of entries, for NumPy.
pub(crate) fn kept(entries: Vec<u64>) -> Buffer {
    Buffer::new(Column::from_vec(entries.into_iter().map(|entry| entry as i64).collect::<Vec<_>>()))
}

/// The names in an expression.
#[pyfunction]
pub(crate) fn expression_names(py: Python<'_>, text: &str) -> PyResult<Vec<String>> {
    match Expression::parse(text) {
        Ok(expression) => Ok(expression.names().into_iter().map(str::to_owned).collect()),
        Err(error) => Err(errors::request(py, error.to_string())),
    }
}
