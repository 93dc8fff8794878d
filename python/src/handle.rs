//! What a file and its tables share.

use crate::{errors, gate::Gate, object::Cause};
use forthwith::plan::{Error, ErrorKind, Result};
use pyo3::{exceptions::PyException, prelude::*};
use std::sync::{Arc, PoisonError};

/// An opened file, the gate to its bytes, and the last exception of the file object behind it, if there is one.
pub(crate) struct Handle {
    pub(crate) file: forthwith::File,
    pub(crate) gate: Arc<Gate>,
    pub(crate) cause: Option<Cause>,
}

impl Handle {
    /// Runs something without the interpreter, and turns its error into an exception.
    pub(crate) fn run<T: Send>(&self, py: Python<'_>, f: impl FnOnce() -> Result<T> + Send) -> PyResult<T> {
        py.detach(f).map_err(|error| self.error(py, error))
    }

    /// Refuses to go on with a closed file, even where everything needed is in memory.
    pub(crate) fn check_open(&self, py: Python<'_>) -> PyResult<()> {
        if self.gate.is_closed() { Err(errors::closed(py, self.file.uri())) } else { Ok(()) }
    }

    pub(crate) fn error(&self, py: Python<'_>, error: Error) -> PyErr {
        error_of(py, error, Some(&self.gate), self.cause.as_ref())
    }
}

pub(crate) fn error_of(py: Python<'_>, error: Error, gate: Option<&Gate>, cause: Option<&Cause>) -> PyErr {
    if !matches!(error.kind, ErrorKind::Source(_)) {
        return errors::exception(py, &error);
    }
    if gate.is_some_and(Gate::is_closed) {
        return errors::closed(py, error.place.uri.as_deref().unwrap_or_default());
    }
    let cause = cause.and_then(|cause| cause.lock().unwrap_or_else(PoisonError::into_inner).take());
    match cause {
        // KeyboardInterrupt and SystemExit are not for us to wrap.
        Some(cause) if !cause.is_instance_of::<PyException>(py) => cause,
        cause => {
            let exception = errors::exception(py, &error);
            exception.set_cause(py, cause);
            exception
        }
    }
}
