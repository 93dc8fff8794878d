//! State shared by a file and its tables.

use crate::{
    desk::{Entered, raised},
    errors, formats,
    gate::Gate,
    object::{Cause, FileObject, INSIDE},
};
use forthwith::{
    io::Source as _,
    plan::{Error, ErrorKind, Result},
};
use pyo3::{exceptions::PyException, prelude::*};
use std::sync::{Arc, PoisonError};

/// An open file, the gate to its source, and the file object that it is read from, if any.
pub(crate) struct Handle {
    pub(crate) file: forthwith::File,
    pub(crate) gate: Arc<Gate>,
    pub(crate) object: Option<FileObject>,
}

impl Handle {
    /// Calls `f` without the interpreter, and converts its error to an exception.
    pub(crate) fn run<T: Send>(&self, py: Python<'_>, f: impl FnOnce() -> Result<T> + Send) -> PyResult<T> {
        let _entered = self.enter(py)?;
        let outcome = py.detach(f);
        match raised() {
            Some(raised) => Err(raised),
            None => outcome.map_err(|error| self.error(py, error)),
        }
    }

    /// Returns the guard for calls that may read from the file object; `None` for other sources.
    ///
    /// # Errors
    /// Returns an error if the code of the file object makes the call: it would wait for itself.
    pub(crate) fn enter(&self, py: Python<'_>) -> PyResult<Option<Entered>> {
        let Some(object) = &self.object else { return Ok(None) };
        if object.reader.is_inside() {
            return Err(errors::request(py, format!("{INSIDE}\n  in {}", self.file.uri())));
        }
        Entered::new(py, &object.reader).map(Some)
    }

    /// Cancels waits for the file object or the network in all threads.
    pub(crate) fn give_up(&self) {
        self.gate.give_up();
        if let Some(object) = &self.object {
            object.reader.give_up();
        }
    }

    /// Returns an error if the file is closed, even if no further bytes are needed.
    pub(crate) fn check_open(&self, py: Python<'_>) -> PyResult<()> {
        if self.gate.is_closed() { Err(errors::closed(py, self.file.uri())) } else { Ok(()) }
    }

    pub(crate) fn error(&self, py: Python<'_>, error: Error) -> PyErr {
        error_of(py, error, Some(&self.gate), self.object.as_ref().map(|object| &object.cause))
    }
}

pub(crate) fn error_of(py: Python<'_>, error: Error, gate: Option<&Gate>, cause: Option<&Cause>) -> PyErr {
    if !matches!(error.kind, ErrorKind::Source(_)) {
        return formats::raised(&error).unwrap_or_else(|| errors::exception(py, &error));
    }
    if gate.is_some_and(Gate::is_closed) {
        return errors::closed(py, error.place.uri.as_deref().unwrap_or_default());
    }
    let cause = cause.and_then(|cause| cause.lock().unwrap_or_else(PoisonError::into_inner).take());
    match cause {
        // `KeyboardInterrupt` and `SystemExit` are raised unchanged.
        Some(cause) if !cause.is_instance_of::<PyException>(py) => cause,
        cause => {
            let exception = errors::exception(py, &error);
            exception.set_cause(py, cause);
            exception
        }
    }
}
