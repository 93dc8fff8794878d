//! Errors as exceptions: one class of `forthwith._errors` for each kind.

use forthwith::{io, plan};
use plan::{Error, ErrorKind, Place};
use pyo3::{prelude::*, types::PyDict};

mod classes {
    pyo3::import_exception!(forthwith._errors, Cancelled);
    pyo3::import_exception!(forthwith._errors, ClosedFileError);
    pyo3::import_exception!(forthwith._errors, DamagedFileError);
    pyo3::import_exception!(forthwith._errors, InternalError);
    pyo3::import_exception!(forthwith._errors, KeyInFileError);
    pyo3::import_exception!(forthwith._errors, MissingFileError);
    pyo3::import_exception!(forthwith._errors, OutOfMemoryError);
    pyo3::import_exception!(forthwith._errors, RequestError);
    pyo3::import_exception!(forthwith._errors, SourceError);
    pyo3::import_exception!(forthwith._errors, UnsupportedError);
}

/// The exception for an error, with its text and its place.
pub(crate) fn exception(py: Python<'_>, error: &Error) -> PyErr {
    make(py, error).unwrap_or_else(|failure| failure)
}

/// The exception for reading from a closed file.
pub(crate) fn closed(py: Python<'_>, uri: &str) -> PyErr {
    let place = Place { uri: Some(uri.to_owned()), ..Place::default() };
    let text = format!("the file has been closed\n  in {uri}");
    let class = py.get_type::<classes::ClosedFileError>();
    build(py, class.as_any(), &text, &place).map_or_else(|failure| failure, PyErr::from_value)
}

fn make(py: Python<'_>, error: &Error) -> PyResult<PyErr> {
    let class = class(py, &error.kind);
    let exception = build(py, &class, &error.to_string(), &error.place)?;
    match &error.kind {
        ErrorKind::NotFound { name, near, .. } => {
            exception.setattr("key", name)?;
            exception.setattr("near", near)?;
        }
        ErrorKind::Source(io::Error { kind: io::ErrorKind::NotFound, uri, .. }) => {
            exception.setattr("errno", py.import("errno")?.getattr("ENOENT")?)?;
            exception.setattr("filename", uri)?;
        }
        ErrorKind::Source(io::Error { kind: io::ErrorKind::Io { code: Some(code), .. }, .. }) => {
            exception.setattr("errno", code)?;
        }
        _ => {}
    }
    Ok(PyErr::from_value(exception))
}

fn build<'py>(
    py: Python<'py>,
    class: &Bound<'py, PyAny>,
    text: &str,
    place: &Place,
) -> PyResult<Bound<'py, PyAny>> {
    let known = PyDict::new(py);
    known.set_item("file", &place.uri)?;
    known.set_item("object", &place.object)?;
    known.set_item("block", place.block)?;
    known.set_item("entry", place.entry)?;
    known.set_item("byte", place.byte)?;
    known.set_item("member", &place.member)?;
    class.call((text,), Some(&known))
}

fn class<'py>(py: Python<'py>, kind: &ErrorKind) -> Bound<'py, PyAny> {
    match kind {
        ErrorKind::Source(error) => match error.kind {
            io::ErrorKind::NotFound => py.get_type::<classes::MissingFileError>(),
            io::ErrorKind::UnsupportedScheme { .. } => py.get_type::<classes::UnsupportedError>(),
            // The file points beyond its own end.
            io::ErrorKind::BeyondEnd { .. } => py.get_type::<classes::DamagedFileError>(),
            io::ErrorKind::OutOfMemory { .. } => py.get_type::<classes::OutOfMemoryError>(),
            io::ErrorKind::Cancelled => py.get_type::<classes::Cancelled>(),
            _ => py.get_type::<classes::SourceError>(),
        },
        ErrorKind::NotFound { .. } => py.get_type::<classes::KeyInFileError>(),
        ErrorKind::Unsupported { .. } => py.get_type::<classes::UnsupportedError>(),
        ErrorKind::Invalid { .. } => py.get_type::<classes::RequestError>(),
        ErrorKind::OutOfMemory { .. } => py.get_type::<classes::OutOfMemoryError>(),
        ErrorKind::Cancelled => py.get_type::<classes::Cancelled>(),
        ErrorKind::Compile(_) => py.get_type::<classes::InternalError>(),
        _ => py.get_type::<classes::DamagedFileError>(),
    }
    .into_any()
}
