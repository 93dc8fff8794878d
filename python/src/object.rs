//! A Python file object as a source.

use forthwith::io::ReadAt;
use pyo3::{prelude::*, types::PyBytes};
use std::sync::{Arc, Mutex, PoisonError};

/// The exception a file object raised last: errors of a source carry text only, and Python wants the cause.
pub(crate) type Cause = Arc<Mutex<Option<PyErr>>>;

/// An object with `seek` and `read`.
pub(crate) struct FileObject {
    object: Py<PyAny>,
    cause: Cause,
}

impl FileObject {
    pub(crate) fn new(object: Py<PyAny>, cause: Cause) -> Self {
        Self { object, cause }
    }

    /// Calls the object with the interpreter attached, from whichever thread.
    fn call<T>(&self, f: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> Result<T, String> {
        let answer = Python::try_attach(|py| {
            f(self.object.bind(py)).map_err(|error| {
                let text = error.to_string();
                let last = self.cause.lock().unwrap_or_else(PoisonError::into_inner).replace(error);
                drop(last); // after the lock is free: what it refers to may run Python code when it goes
                text
            })
        });
        answer.unwrap_or_else(|| Err("the interpreter is shutting down".into()))
    }
}

impl ReadAt for FileObject {
    fn size(&mut self) -> Result<u64, String> {
        self.call(|object| object.call_method1("seek", (0, 2))?.extract())
    }

    fn read_at(&mut self, at: u64, into: &mut [u8]) -> Result<usize, String> {
        self.call(|object| {
            object.call_method1("seek", (at,))?;
            let data = object.call_method1("read", (into.len(),))?;
            // Nearly always these are bytes already; anything else with a buffer is made into them.
            let data = match data.cast_into::<PyBytes>() {
                Ok(data) => data,
                Err(other) => {
                    let bytes = object.py().get_type::<PyBytes>().call1((other.into_inner(),))?;
                    bytes.cast_into::<PyBytes>()?
                }
            };
            let data = data.as_bytes();
            if let Some(place) = into.get_mut(..data.len()) {
                place.copy_from_slice(data);
            }
            // More than was asked for: the source refuses it.
            Ok(data.len())
        })
    }
}
