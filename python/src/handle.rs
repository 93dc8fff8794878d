//! The state that a file and its tables share.

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

/// An opened file, the gate to its bytes, and the file object behind it, if there is one.
pub(crate) struct Handle {
    pub(crate) file: forthwith::File,
    pub(crate) gate: Arc<Gate>,
    pub(crate) object: Option<FileObject>,
}

impl Handle {
    /// Runs something without the interpreter, and turns its error into an exception.
    pub(crate) fn run<T: Send>(&self, py: Python<'_>, f: impl FnOnce() -> Result<T> + Send) -> PyResult<T> {
        let _entered = self.enter(py)?;
        let outcome = py.detach(f);
        match raised() {
            Some(raised) => Err(raised),
            None => outcome.map_err(|error| self.error(py, error)),
        }
    }

    /// What has to be there while bytes are asked of a file object.
    ///
    /// # Errors
    /// It is the code of that object that asks: it would wait for itself.
    pub(crate) fn enter(&self, py: Python<'_>) -> PyResult<Option<Entered>> {
        let Some(object) = &self.object else { return Ok(None) };
        if object.reader.is_inside() {
            return Err(errors::request(py, format!("{INSIDE}\n  in {}", self.file.uri())));
        }
        Entered::new(py, &object.reader).map(Some)
    }

    /// Threads that wait for a file object or for a network are to give up.
    pub(crate) fn give_up(&self) {
        self.gate.give_up();
        if let Some(object) = &self.object {
            object.reader.give_up();
        }
    }

    /// Refuses to go on with a closed file, even where everything needed is in memory.
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
        // KeyboardInterrupt and SystemExit are not for us to wrap.
        Some(cause) if !cause.is_instance_of::<PyException>(py) => cause,
        cause => {
            let exception = errors::exception(py, &error);
            exception.set_cause(py, cause);
            exception
        }
    }
}
