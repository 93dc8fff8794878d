//! Arrays that Python hands over, to be written.

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

/// What `ak.to_buffers` gives, as columns of ours. The bytes are lent: writers have what they need of them when they return,
/// and compare what they read while others may write. Of Arrow data, the schema is kept.
#[pyclass(frozen, module = "forthwith._forthwith")]
pub(crate) struct Given(pub(crate) columns::Array, Option<SchemaRef>);

impl Given {
    fn of(array: columns::Array) -> Self {
        Self(array, None)
    }

    /// What Arrow said of a single column; of one that came from elsewhere nothing but its name.
    fn field(&self, name: &str) -> Field {
        match self.1.as_ref().map(|schema| schema.fields()) {
            Some(fields) if fields.len() == 1 => fields[0].as_ref().clone().with_name(name),
            _ => Field::new(name, DataType::Null, true),
        }
    }

    /// The fields of records with their Forms.
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

    /// The metadata of a table of Arrow, in the order of their names.
    pub(crate) fn words(&self) -> Vec<(String, Bytes)> {
        let all = self.1.iter().flat_map(|schema| schema.metadata().iter());
        let mut words: Vec<_> = all.map(|(name, value)| (name.clone(), Bytes::from(value.clone()))).collect();
        words.sort();
        words
    }
}

/// The exception of data that Arrow has and columns do not.
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

/// What a stream of Arrow has, for writers that may take its batches as they are.
#[pyclass(frozen, module = "forthwith._forthwith")]
pub(crate) struct GivenBatches(pub(crate) Streamed, SchemaRef);

impl GivenBatches {
    /// The columns without entries, with what Arrow says of them.
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
    /// All there is in a capsule of Arrow's C stream interface.
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

    /// All there is in a capsule of Arrow's C stream interface: records of its columns.
    #[staticmethod]
    fn from_arrow(py: Python<'_>, stream: &Bound<'_, PyCapsule>) -> PyResult<Self> {
        let stream = crate::arrow::taken(stream)?;
        // The producer of the stream attaches to the interpreter by itself, where it needs to.
        let taken = py.detach(|| columns::arrow::import_stream(stream));
        taken.map(|(array, schema)| Self(array, Some(schema))).map_err(|error| refused(py, error))
    }

    /// Arrays of one length as the fields of records.
    #[staticmethod]
    fn from_fields(py: Python<'_>, names: Vec<String>, arrays: Vec<Bound<'_, Self>>) -> PyResult<Self> {
        let field = |(name, array): (&String, &Bound<'_, Self>)| array.get().field(name);
        let fields: Vec<_> = names.iter().zip(&arrays).map(field).collect();
        let schema = Some(Schema::new(fields).into());
        let arrays = arrays.iter().map(|array| array.get().0.clone()).collect();
        let made = columns::Array::from_fields(names, arrays).map(|array| Self(array, schema));
        made.map_err(|error| errors::exception(py, &Error::invalid(error.to_string())))
    }

    /// The Form, as options for opening files take it.
    fn form_text(&self) -> String {
        forthwith::form_text(&self.0.form)
    }

    /// The only field of records.
    fn only(&self) -> Option<Self> {
        let mut fields = self.0.clone().into_fields();
        let array = (fields.len() == 1).then(|| fields.remove(0))?;
        Some(Self(array, self.1.clone()))
    }

    /// The fields of records with their types.
    fn types(&self) -> Vec<(String, String)> {
        self.fields().map(|(name, form)| (name.clone(), form.type_string())).collect()
    }

    /// Those with dates and times in them.
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
