//! Selections: stored and computed columns of selected entries.

use crate::{
    array::{Array, Buffer, place},
    arrow,
    batch_reader::BatchReader,
    column_form::ColumnForm,
    errors,
    handle::Handle,
    read::listening,
};
use forthwith::{Loss, Selected, Step, UnitedColumn, columns::Column, expr::Expression, plan::Result};
use pyo3::{prelude::*, types::PyCapsule};
use std::sync::Arc;

/// The type of a column in several tables, as Python passes it.
#[derive(FromPyObject)]
pub(crate) enum Like<'py> {
    /// The type of an array.
    Array(Bound<'py, Array>),
    Form(Bound<'py, ColumnForm>),
}

/// A column of several tables: its name, its field if this table has it, its type in all of them, and whether
/// some tables lack it.
pub(crate) type United<'py> = (String, Option<u32>, Like<'py>, bool);

pub(crate) fn united_columns(united: Vec<United<'_>>) -> Vec<UnitedColumn> {
    let column = |(name, field, like, may_lack): United<'_>| {
        let form = match like {
            Like::Array(array) => array.get().of_form().clone(),
            Like::Form(form) => form.get().0.clone(),
        };
        UnitedColumn { name, field, form: if may_lack { form.optional() } else { form } }
    };
    united.into_iter().map(column).collect()
}

/// Converts bytes to 64-bit integers in native byte order.
pub(crate) fn numbers(bytes: &[u8]) -> Vec<u64> {
    bytes.as_chunks().0.iter().map(|number| u64::from_ne_bytes(*number)).collect()
}

/// Stored and computed columns of selected entries of a table.
#[pyclass(frozen, module = "forthwith._forthwith")]
pub(crate) struct Selection {
    pub(crate) handle: Arc<Handle>,
    pub(crate) selection: forthwith::Selection,
    /// Whether a Python file object is read.
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
    /// Returns the fields that are read.
    #[getter]
    fn fields(&self) -> Vec<u32> {
        self.selection.fields().to_vec()
    }

    /// Whether entries may be excluded.
    #[getter]
    fn chooses_entries(&self) -> bool {
        self.selection.chooses_entries()
    }

    /// Returns the type of each column.
    fn types(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let forms = self.handle.run(py, || self.selection.forms())?;
        Ok(forms.iter().map(forthwith::columns::Form::type_string).collect())
    }

    /// Returns the parts of a range of entries in which the filter may hold according to the file's
    /// statistics.
    fn promising(&self, py: Python<'_>, start: u64, stop: u64) -> PyResult<Vec<(u64, u64)>> {
        let parts = self.handle.run(py, || self.selection.promising(start..stop))?;
        Ok(parts.into_iter().map(|part| (part.start, part.end)).collect())
    }

    /// Reads a range of entries; returns an array for each column, and the entries of these arrays if some
    /// may be excluded.
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
        let arrays = arrays(py, &self.selection, &selected)?;
        Ok((arrays, selected.kept.map(kept)))
    }

    /// Reads a range of entries around damage; with `nulls`, damaged values are missing instead. Returns
    /// arrays, the entries of these arrays if some may be excluded, and losses.
    #[expect(clippy::too_many_arguments, reason = "the arguments of Python")]
    #[pyo3(signature = (start, stop, nulls, bits, threads=None, progress=None))]
    fn read_around(
        &self,
        py: Python<'_>,
        start: u64,
        stop: u64,
        nulls: bool,
        bits: bool,
        threads: Option<usize>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(Vec<Array>, Option<Buffer>, Vec<Lost>)> {
        let selection = self.selection.clone().with_bits(bits);
        let (selected, losses) = listening(py, &self.handle, progress.as_ref(), |tick| match nulls {
            true => selection.read_with_nulls(start..stop, threads, tick),
            false => selection.read_around(start..stop, threads, tick),
        })?;
        let arrays = arrays(py, &self.selection, &selected)?;
        Ok((arrays, selected.kept.map(kept), lost(py, &self.handle, losses)))
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

/// Lost entries: the first, the one after the last, and the exception with the reason.
pub(crate) type Lost = (u64, u64, Py<PyAny>);

/// Converts the errors of losses to exceptions.
pub(crate) fn lost(py: Python<'_>, handle: &Handle, losses: impl IntoIterator<Item = Loss>) -> Vec<Lost> {
    let lost = losses.into_iter().map(|Loss { entries, error }| {
        (entries.start, entries.end, handle.error(py, error).into_value(py).into_any())
    });
    lost.collect()
}

/// Returns the arrays of a selection, with the places for their errors.
pub(crate) fn arrays(
    py: Python<'_>,
    selection: &forthwith::Selection,
    selected: &Selected,
) -> PyResult<Vec<Array>> {
    let (uri, text) = (selection.table().file().uri(), selection.table().text_policy());
    let made = |(array, path)| Array::new(py, array, place(uri, path, selected.entries.start), text);
    selected.arrays.iter().zip(selection.paths()).map(made).collect()
}

/// Returns entry numbers as a buffer for NumPy.
pub(crate) fn kept(entries: Vec<u64>) -> Buffer {
    Buffer::new(Column::from_vec(entries.into_iter().map(|entry| entry as i64).collect::<Vec<_>>()))
}

/// Returns the names in an expression.
#[pyfunction]
pub(crate) fn expression_names(py: Python<'_>, text: &str) -> PyResult<Vec<String>> {
    match Expression::parse(text) {
        Ok(expression) => Ok(expression.names().into_iter().map(str::to_owned).collect()),
        Err(error) => Err(errors::request(py, error.to_string())),
    }
}
