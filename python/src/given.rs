//! Arrays from Python, for writers.

use crate::{errors, forth::Lent};
use bytes::Bytes;
use forthwith::{
    columns::{
        self, AwkwardImportError,
        arrow::{DataType, Field, ImportError, RecordBatch, Schema, SchemaRef, Streamed},
    },
    plan::{Error, ErrorKind},
};
use pyo3::{
    prelude::*,
    types::{PyCapsule, PyDict},
};
use std::{collections::HashMap, sync::Arc};

/// The result of `ak.to_buffers` as an array, with the schema if it is from Arrow. Its buffers are borrowed:
/// writers are done with them when they return, and validate the copies that they use, as other threads may
/// modify the buffers.
#[pyclass(frozen, module = "forthwith._forthwith")]
pub(crate) struct Given(pub(crate) columns::Array, Option<SchemaRef>);

impl Given {
    fn of(array: columns::Array) -> Self {
        Self(array, None)
    }

    /// Returns the Arrow field of a single column under another name; for a column from elsewhere, a field
    /// with the name only.
    fn field(&self, name: &str) -> Field {
        match self.1.as_ref().map(|schema| schema.fields()) {
            Some(fields) if fields.len() == 1 => fields[0].as_ref().clone().with_name(name),
            _ => Field::new(name, DataType::Null, true),
        }
    }

    /// Returns the fields of records with their Forms.
    fn fields(&self) -> impl Iterator<Item = (&String, &columns::Form)> {
        let (names, contents): (&[String], &[columns::Form]) = match &self.0.form {
            columns::Form::Record { fields: Some(names), contents, .. } => (names, contents),
            _ => (&[], &[]),
        };
        names.iter().zip(contents)
    }

    pub(crate) fn schema(&self) -> Option<&SchemaRef> {
        self.1.as_ref()
    }

    /// Returns the metadata of the Arrow schema, sorted by name.
    pub(crate) fn words(&self) -> Vec<(String, Bytes)> {
        let all = self.1.iter().flat_map(|schema| schema.metadata().iter());
        let mut words: Vec<_> = all.map(|(name, value)| (name.clone(), Bytes::from(value.clone()))).collect();
        words.sort();
        words
    }
}

/// Returns the exception for Arrow data that cannot be imported.
fn refused(py: Python<'_>, error: ImportError) -> PyErr {
    let error = match error {
        ImportError::Unsupported { column, data_type } => {
            Error::unsupported(format!("column {column:?}, of Arrow's type {data_type}"))
        }
        ImportError::Memory { bytes, .. } => {
            Error::new(ErrorKind::OutOfMemory { what: "the rows of a column", bytes })
        }
        other => Error::invalid(other.to_string()),
    };
    errors::exception(py, &error)
}

/// The batches of an Arrow stream, for writers that accept batches, or its array.
#[pyclass(frozen, module = "forthwith._forthwith")]
pub(crate) struct GivenBatches(pub(crate) Streamed, SchemaRef);

impl GivenBatches {
    /// Returns the columns with their schema; batches are left out.
    pub(crate) fn columns(&self) -> Given {
        let array = match &self.0 {
            Streamed::Batches { form, .. } => {
                columns::Array { form: form.clone(), length: 0, columns: Vec::new() }
            }
            Streamed::Array(array) => array.clone(),
        };
        Given(array, Some(Arc::clone(&self.1)))
    }
}

#[pymethods]
impl GivenBatches {
    /// Reads all batches of a capsule of Arrow's C stream interface.
    #[new]
    fn new(py: Python<'_>, stream: &Bound<'_, PyCapsule>) -> PyResult<Self> {
        let stream = crate::arrow::taken(stream)?;
        let taken = py.detach(|| columns::arrow::import_batches(stream));
        taken.map(|(streamed, schema)| Self(streamed, schema)).map_err(|error| refused(py, error))
    }

    fn __len__(&self) -> usize {
        match &self.0 {
            Streamed::Batches { batches, .. } => batches.iter().map(RecordBatch::num_rows).sum(),
            Streamed::Array(array) => usize::try_from(array.length).unwrap_or(usize::MAX),
        }
    }
}

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
        taken.map(Self::of).map_err(|error| {
            let error = match error {
                AwkwardImportError::Unsupported { what } => Error::unsupported(what),
                other => Error::invalid(other.to_string()),
            };
            errors::exception(py, &error)
        })
    }

    /// Imports all batches of a capsule of Arrow's C stream interface as records of its columns.
    #[staticmethod]
    fn from_arrow(py: Python<'_>, stream: &Bound<'_, PyCapsule>) -> PyResult<Self> {
        let stream = crate::arrow::taken(stream)?;
        // Producers attach to the interpreter themselves if they need it.
        let taken = py.detach(|| columns::arrow::import_stream(stream));
        taken.map(|(array, schema)| Self(array, Some(schema))).map_err(|error| refused(py, error))
    }

    /// Creates records from arrays of the same length.
    #[staticmethod]
    fn from_fields(py: Python<'_>, names: Vec<String>, arrays: Vec<Bound<'_, Self>>) -> PyResult<Self> {
        let field = |(name, array): (&String, &Bound<'_, Self>)| array.get().field(name);
        let fields: Vec<_> = names.iter().zip(&arrays).map(field).collect();
        let schema = Some(Schema::new(fields).into());
        let arrays = arrays.iter().map(|array| array.get().0.clone()).collect();
        let made = columns::Array::from_fields(names, arrays).map(|array| Self(array, schema));
        made.map_err(|error| errors::exception(py, &Error::invalid(error.to_string())))
    }

    /// Returns the Form in the notation of options for opening files.
    fn form_text(&self) -> String {
        forthwith::form_text(&self.0.form)
    }

    /// Returns the field of records with exactly one field; otherwise `None`.
    fn only(&self) -> Option<Self> {
        let mut fields = self.0.clone().into_fields();
        let array = (fields.len() == 1).then(|| fields.remove(0))?;
        Some(Self(array, self.1.clone()))
    }

    /// Returns names and types of the fields of records.
    fn types(&self) -> Vec<(String, String)> {
        self.fields().map(|(name, form)| (name.clone(), form.type_string())).collect()
    }

    /// Returns names and types of the fields that contain dates or times.
    fn times(&self) -> Vec<(String, String)> {
        let is_time = |form: &columns::Form| match form {
            columns::Form::Logical { meaning, .. } => {
                !matches!(meaning, columns::LogicalType::Decimal { .. } | columns::LogicalType::Half)
            }
            _ => false,
        };
        let times = self.fields().filter(|(_, form)| form.nodes().any(is_time));
        times.map(|(name, form)| (name.clone(), form.type_string())).collect()
    }

    /// Exports records as a stream of one batch, and other arrays as a batch with the one column `value`.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // Arrow's interface permits to ignore the requested schema; the consumer casts.
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
