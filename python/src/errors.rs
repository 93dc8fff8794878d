//! Conversion of errors to exceptions: a class of `forthwith._errors` for each kind.

use forthwith::{
    forth::{CompileError, Location, RunError},
    io, plan,
};
use plan::{Error, ErrorKind, Place};
use pyo3::{prelude::*, types::PyDict};

mod classes {
    pyo3::import_exception!(forthwith._errors, Cancelled);
    pyo3::import_exception!(forthwith._errors, ClosedFileError);
    pyo3::import_exception!(forthwith._errors, DamagedFileError);
    pyo3::import_exception!(forthwith._errors, ForthCompileError);
    pyo3::import_exception!(forthwith._errors, ForthRunError);
    pyo3::import_exception!(forthwith._errors, InternalError);
    pyo3::import_exception!(forthwith._errors, KeyInFileError);
    pyo3::import_exception!(forthwith._errors, DeniedFileError);
    pyo3::import_exception!(forthwith._errors, MissingFileError);
    pyo3::import_exception!(forthwith._errors, OutOfMemoryError);
    pyo3::import_exception!(forthwith._errors, RequestError);
    pyo3::import_exception!(forthwith._errors, SourceError);
    pyo3::import_exception!(forthwith._errors, UnsupportedError);
}

/// Returns the exception for an error, with its text and place.
pub(crate) fn exception(py: Python<'_>, error: &Error) -> PyErr {
    make(py, error).unwrap_or_else(|failure| failure)
}

/// Returns the exception for reading from a closed file.
pub(crate) fn closed(py: Python<'_>, uri: &str) -> PyErr {
    let place = Place { uri: Some(uri.to_owned()), ..Place::default() };
    let text = format!("the file has been closed\n  in {uri}");
    let class = py.get_type::<classes::ClosedFileError>();
    build(py, class.as_any(), &text, &place).map_or_else(|failure| failure, PyErr::from_value)
}

/// Returns the exception for bytes that a Python object did not accept; `taken` bytes were written before.
pub(crate) fn not_written(py: Python<'_>, uri: &str, taken: u64, what: &str) -> PyErr {
    let place = Place { uri: Some(uri.to_owned()), byte: Some(taken), ..Place::default() };
    let text = format!("{what}; {taken} bytes had been written before\n  in {uri}");
    let class = py.get_type::<classes::SourceError>();
    build(py, class.as_any(), &text, &place).map_or_else(|failure| failure, PyErr::from_value)
}

/// Returns the exception for an invalid request.
pub(crate) fn request(py: Python<'_>, text: String) -> PyErr {
    let class = py.get_type::<classes::RequestError>();
    class.call1((text,)).map_or_else(|failure| failure, PyErr::from_value)
}

/// Returns the exception for a program that does not compile.
pub(crate) fn compile(py: Python<'_>, error: &CompileError) -> PyErr {
    let class = py.get_type::<classes::ForthCompileError>();
    let arguments = (error.to_string(), error.line(), error.column());
    class.call1(arguments).map_or_else(|failure| failure, PyErr::from_value)
}

/// Returns the exception for a program that stopped with an error.
pub(crate) fn run(py: Python<'_>, error: RunError, location: Option<&Location>) -> PyErr {
    let text = error.to_string();
    let made = match error {
        RunError::OutOfMemory | RunError::OutputLimitExceeded => {
            py.get_type::<classes::OutOfMemoryError>().call1((text,))
        }
        RunError::InputMismatch | RunError::OutputMismatch => return request(py, text),
        _ => {
            let class = py.get_type::<classes::ForthRunError>();
            let place = location.map(|at| (at.line, at.column, at.bytecode, &at.instruction, &at.word));
            class.call1((text, error.name(), place))
        }
    };
    made.map_or_else(|failure| failure, PyErr::from_value)
}

/// Whether callers may have this error returned by its name instead of raised.
pub(crate) fn can_be_silenced(error: RunError) -> bool {
    use RunError as E;
    matches!(
        error,
        E::UserHalt(_)
            | E::RecursionDepthExceeded
            | E::StackUnderflow
            | E::StackOverflow
            | E::ReadBeyond
            | E::SeekBeyond
            | E::SkipBeyond
            | E::RewindBeyond
            | E::DivisionByZero
            | E::VarintTooBig
            | E::TextNumberMissing
            | E::QuotedStringMissing
            | E::EnumerationMissing
    )
}

/// Returns the text of an error, with a hint for Python before the place.
fn text(error: &Error) -> String {
    let hint = match &error.kind {
        ErrorKind::MissingValues { .. } => {
            "mktree(name, columns, nulls=-1) writes this number in their place, and empty texts and lists; mkrntuple keeps them missing"
        }
        _ => return error.to_string(),
    };
    let text = error.to_string();
    match text.split_once('\n') {
        Some((what, place)) => format!("{what}: {hint}\n{place}"),
        None => format!("{text}: {hint}"),
    }
}

fn make(py: Python<'_>, error: &Error) -> PyResult<PyErr> {
    let class = class(py, &error.kind);
    // Errors of sources name their file themselves.
    let mut place = error.place.clone();
    if let (None, ErrorKind::Source(source)) = (&place.uri, &error.kind) {
        place.uri = Some(source.uri.clone());
        place.byte = place.byte.or(source.at);
    }
    let exception = build(py, &class, &text(error), &place)?;
    match &error.kind {
        ErrorKind::NotFound { name, near, .. } => {
            exception.setattr("key", name)?;
            exception.setattr("near", near)?;
        }
        ErrorKind::Source(io::Error { kind, uri, .. })
            if matches!(
                kind,
                io::ErrorKind::NotFound | io::ErrorKind::NotListed | io::ErrorKind::PermissionDenied
            ) =>
        {
            let name = if matches!(kind, io::ErrorKind::PermissionDenied) { "EACCES" } else { "ENOENT" };
            exception.setattr("errno", py.import("errno")?.getattr(name)?)?;
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
            io::ErrorKind::NotFound | io::ErrorKind::NotListed => py.get_type::<classes::MissingFileError>(),
            io::ErrorKind::PermissionDenied => py.get_type::<classes::DeniedFileError>(),
            io::ErrorKind::UnsupportedScheme { .. } => py.get_type::<classes::UnsupportedError>(),
            // The file refers to bytes beyond its end.
            io::ErrorKind::BeyondEnd { .. } => py.get_type::<classes::DamagedFileError>(),
            io::ErrorKind::OutOfMemory { .. } => py.get_type::<classes::OutOfMemoryError>(),
            io::ErrorKind::Cancelled => py.get_type::<classes::Cancelled>(),
            _ => py.get_type::<classes::SourceError>(),
        },
        ErrorKind::NotFound { .. } => py.get_type::<classes::KeyInFileError>(),
        ErrorKind::Unsupported { .. } | ErrorKind::MissingValues { .. } => {
            py.get_type::<classes::UnsupportedError>()
        }
        ErrorKind::Invalid { .. } | ErrorKind::NotUtf8 { .. } => py.get_type::<classes::RequestError>(),
        ErrorKind::OutOfMemory { .. } | ErrorKind::Codec(io::CodecError::OverLimit { .. }) => {
            py.get_type::<classes::OutOfMemoryError>()
        }
        ErrorKind::Cancelled => py.get_type::<classes::Cancelled>(),
        ErrorKind::Compile(_) => py.get_type::<classes::InternalError>(),
        _ => py.get_type::<classes::DamagedFileError>(),
    }
    .into_any()
}
