//! Arrays that Python hands over, to be written.

use crate::errors;
use forthwith::{
    columns::{self, GivenError},
    plan::{Error, ErrorKind},
};
use pyo3::{buffer::PyBuffer, prelude::*, types::PyDict};
use std::collections::HashMap;

/// What `ak.to_buffers` gives, as columns of ours. The bytes are copied, so that whoever has them may go on writing to them.
#[pyclass(frozen, module = "forthwith._forthwith")]
pub(crate) struct Given(pub(crate) columns::Array);

#[pymethods]
impl Given {
    #[new]
    fn new(py: Python<'_>, form: &str, length: u64, buffers: &Bound<'_, PyDict>) -> PyResult<Self> {
        let mut held = HashMap::with_capacity(buffers.len());
        for (key, buffer) in buffers.iter() {
            held.insert(
                key.extract::<String>()?,
                bytes::Bytes::from(PyBuffer::<u8>::get(&buffer)?.to_vec(py)?),
            );
        }
        let taken = py.detach(|| columns::Array::from_awkward(form, length, &mut |key| held.remove(key)));
        taken.map(Self).map_err(|error| {
            let kind = match error {
                GivenError::Unsupported { what } => ErrorKind::Unsupported { what },
                other => ErrorKind::Invalid { what: other.to_string() },
            };
            errors::exception(py, &Error::new(kind))
        })
    }

    #[getter]
    fn type_string(&self) -> String {
        self.0.form.type_string()
    }

    fn __len__(&self) -> usize {
        usize::try_from(self.0.length).unwrap_or(usize::MAX)
    }
}
