//! Arrays that Python hands over, to be written.

use crate::{errors, forth::Lent};
use forthwith::{
    columns::{self, AwkwardImportError, arrow::ImportError},
    plan::{Error, ErrorKind},
};
use pyo3::{
    prelude::*,
    types::{PyCapsule, PyDict},
};
use std::collections::HashMap;

/// What `ak.to_buffers` gives, as columns of ours. The bytes are lent: writers have what they need of them when they return,
/// and compare what they read while others may write.
#[pyclass(frozen, module = "forthwith._forthwith")]
pub(crate) struct Given(pub(crate) columns::Array);

#[pymethods]
impl Given {
    #[new]
    fn new(py: Python<'_>, form: &str, length: u64, buffers: &Bound<'_, PyDict>) -> PyResult<Self> {
        let mut held = HashMap::with_capacity(buffers.len());
        for (key, buffer) in buffers.iter() {
            let key = key.extract::<String>()?;
            let bytes = Lent::of(&key, &buffer)?;
            held.insert(key, bytes);
        }
        let taken = py.detach(|| columns::Array::from_awkward(form, length, &mut |key| held.remove(key)));
        taken.map(Self).map_err(|error| {
            let error = match error {
                AwkwardImportError::Unsupported { what } => Error::unsupported(what),
                other => Error::invalid(other.to_string()),
            };
            errors::exception(py, &error)
        })
    }

    /// All there is in a capsule of Arrow's C stream interface: records of its columns.
    #[staticmethod]
    fn from_arrow(py: Python<'_>, stream: &Bound<'_, PyCapsule>) -> PyResult<Self> {
        let stream = crate::arrow::taken(stream)?;
        // The producer of the stream attaches to the interpreter by itself, where it needs to.
        let taken = py.detach(|| columns::arrow::import_stream(stream));
        taken.map(Self).map_err(|error| {
            let what = error.to_string();
            let error = match error {
                ImportError::Unsupported { .. } => {
                    Error::unsupported(what.trim_end_matches(" is not supported here"))
                }
                ImportError::Memory { bytes, .. } => {
                    Error::new(ErrorKind::OutOfMemory { what: "the rows of a column", bytes })
                }
                _ => Error::invalid(what),
            };
            errors::exception(py, &error)
        })
    }

    /// Arrays of one length as the fields of records.
    #[staticmethod]
    fn from_fields(py: Python<'_>, names: Vec<String>, arrays: Vec<Bound<'_, Self>>) -> PyResult<Self> {
        let arrays = arrays.iter().map(|array| array.get().0.clone()).collect();
        let made = columns::Array::from_fields(names, arrays).map(Self);
        made.map_err(|error| errors::exception(py, &Error::invalid(error.to_string())))
    }

    /// The only field of records.
    fn only(&self) -> Option<Self> {
        let mut fields = self.0.clone().into_fields();
        (fields.len() == 1).then(|| fields.remove(0)).map(Self)
    }

    /// The fields of records with their types.
    fn types(&self) -> Vec<(String, String)> {
        match &self.0.form {
            columns::Form::Record { fields: Some(names), contents, .. } => {
                names.iter().cloned().zip(contents.iter().map(columns::Form::type_string)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Records as a stream of one batch, anything else as its only column, `value`.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // What Arrow's interface allows: the consumer casts.
        drop(requested_schema);
        crate::arrow::batch(py, &self.0)
    }

    #[getter]
    fn type_string(&self) -> String {
        self.0.form.type_string()
    }

    fn __len__(&self) -> usize {
        usize::try_from(self.0.length).unwrap_or(usize::MAX)
    }
}
