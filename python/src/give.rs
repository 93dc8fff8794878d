//! Writing to the `write` method of a Python object, with a check of the number of bytes that it accepts.

use crate::{
    errors,
    files::{Store, options},
    forth::{in_main_thread, known_as_main},
    object::{Cause, keep},
};
use forthwith::{
    files,
    io::{self, Sink},
    plan::Result,
};
use forthwith_platform::Instant;
use pyo3::{
    exceptions::{PyBlockingIOError, PyException, PyOSError},
    prelude::*,
    types::{PyBool, PyBytes},
};
use std::{
    io::{IoSlice, Write},
    path::Path,
    sync::Arc,
    time::Duration,
};

/// Maximum number of bytes per call of `write`, so that signals are checked between two calls.
const MOST: usize = 1 << 20;
/// Minimum number of bytes per call, even if the last call accepted less.
const LEAST: usize = 4 << 10;

/// Writes all bytes with `object.write`, which may accept a part of them, as raw files, pipes and sockets do.
///
/// `taken` is increased by the number of accepted bytes, also if this function returns an error.
///
/// # Errors
/// Returns an error if the object accepts no bytes, returns no valid number of bytes (a non-blocking file
/// returns `None` when its buffer is full), or raises an exception. Exceptions that are not an `Exception`,
/// such as `KeyboardInterrupt`, are returned unchanged.
pub(crate) fn give(object: &Bound<'_, PyAny>, name: &str, bytes: &[u8], taken: &mut u64) -> PyResult<()> {
    let py = object.py();
    let (mut rest, mut offer) = (bytes, MOST);
    while !rest.is_empty() {
        py.check_signals()?;
        let piece = &rest[..rest.len().min(offer)];
        let answer = object.call_method1("write", (PyBytes::new(py, piece),));
        let count = match answer {
            Ok(answer) => count(&answer, piece.len()),
            Err(error) if !error.is_instance_of::<PyException>(py) => return Err(error),
            Err(error) => {
                *taken += said_by(py, &error, piece.len()) as u64;
                Err((format!("write raised {}", named(py, &error)), Some(error)))
            }
        };
        match count {
            Ok(count) => {
                *taken += count as u64;
                rest = &rest[count..];
                offer = count.saturating_mul(2).clamp(LEAST, MOST);
            }
            Err((what, cause)) => return Err(failed(py, name, *taken, &what, cause)),
        }
    }
    Ok(())
}

/// Returns the number of bytes of a piece that the object accepted, or the reason why its answer is invalid.
fn count(answer: &Bound<'_, PyAny>, offered: usize) -> Result<usize, (String, Option<PyErr>)> {
    let wrong = |what: String| Err((what, None));
    if answer.is_none() {
        return wrong(format!(
            "write returned None instead of the number of bytes it took of {offered} (as a file that does not block)"
        ));
    }
    let is_whole = !answer.is_instance_of::<PyBool>() && answer.hasattr("__index__").unwrap_or(false);
    if !is_whole {
        let class = answer.get_type().name().map_or_else(|_| "?".to_owned(), |name| name.to_string());
        return wrong(format!("write returned an object of type {class} instead of a number of bytes"));
    }
    match answer.extract::<usize>() {
        Ok(0) => wrong(format!("write took none of {offered} bytes")),
        Ok(count) if count <= offered => Ok(count),
        _ => {
            let text = answer.str().map_or_else(|_| "a number".to_owned(), |text| text.to_string());
            wrong(format!("write returned {text}, but was given {offered} bytes"))
        }
    }
}

/// Returns the number of bytes that were accepted before a `BlockingIOError`.
fn said_by(py: Python<'_>, error: &PyErr, offered: usize) -> usize {
    if !error.is_instance_of::<PyBlockingIOError>(py) {
        return 0;
    }
    let said = error.value(py).getattr("characters_written").and_then(|said| said.extract::<usize>());
    said.map_or(0, |said| said.min(offered))
}

fn named(py: Python<'_>, error: &PyErr) -> String {
    // `__str__` may be Python code that raises an exception as well.
    let text = error.value(py).str().map(|text| text.to_string()).unwrap_or_default();
    let class = error.get_type(py).name().map_or_else(|_| "an exception".to_owned(), |name| name.to_string());
    if text.is_empty() { class } else { format!("{class}: {text}") }
}

fn failed(py: Python<'_>, name: &str, taken: u64, what: &str, cause: Option<PyErr>) -> PyErr {
    let error = errors::not_written(py, name, taken, what);
    let errno = cause.as_ref().filter(|cause| cause.is_instance_of::<PyOSError>(py));
    if let Some(errno) = errno.and_then(|cause| cause.value(py).getattr("errno").ok()) {
        // Callers may read `errno`; if it cannot be set, they still have the cause.
        let _ = error.value(py).setattr("errno", errno);
    }
    error.set_cause(py, cause);
    error
}

/// A sink that writes each piece to a Python object at once. Written bytes cannot be retracted.
pub(crate) struct ObjectSink {
    object: Py<PyAny>,
    name: String,
    taken: u64,
    /// The last exception of the object. Errors of a sink only have text.
    cause: Cause,
}

impl ObjectSink {
    /// Opens a pipe or device by its path. Python opens it, so that signals interrupt the wait.
    pub(crate) fn open(path: &Path, cause: &Cause) -> io::Result<Self> {
        let name = path.to_string_lossy().into_owned();
        let opened = Python::try_attach(|py| {
            let open = py.import("builtins")?.getattr("open")?;
            Ok(open.call1((path.as_os_str(), "wb", 0))?.unbind())
        });
        let object = opened.unwrap_or_else(shutting_down).map_err(|error: PyErr| {
            let refused = Python::attach(|py| {
                if error.is_instance_of::<PyException>(py) {
                    let errno = error.value(py).getattr("errno").and_then(|errno| errno.extract());
                    let errno = errno.map_or_else(
                        |_| std::io::Error::other(error.to_string()),
                        std::io::Error::from_raw_os_error,
                    );
                    return errno;
                }
                keep(cause, error);
                std::io::ErrorKind::Interrupted.into()
            });
            io::Error::new(refused.into(), name.clone())
        })?;
        Ok(Self { object, name, taken: 0, cause: Arc::clone(cause) })
    }
}

fn shutting_down<T>() -> PyResult<T> {
    Err(PyOSError::new_err("the interpreter is shutting down"))
}

impl Write for ObjectSink {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let given = Python::try_attach(|py| give(self.object.bind(py), &self.name, bytes, &mut self.taken));
        match given.unwrap_or_else(shutting_down) {
            Ok(()) => Ok(bytes.len()),
            Err(error) => {
                let text = error.to_string();
                keep(&self.cause, error);
                Err(std::io::Error::other(text))
            }
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Sink for ObjectSink {
    fn uri(&self) -> &str {
        &self.name
    }

    fn needs_caller(&self) -> bool {
        true
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        let closed = Python::try_attach(|py| self.object.call_method0(py, "close"));
        match closed.unwrap_or_else(shutting_down) {
            Ok(_) => Ok(()),
            Err(error) => {
                let refused = io::Error::new(std::io::Error::other(error.to_string()).into(), &*self.name);
                keep(&self.cause, error);
                Err(refused)
            }
        }
    }
}

impl Drop for ObjectSink {
    fn drop(&mut self) {
        // An unfinished sink is dropped after an error; closing it avoids a `ResourceWarning` that would hide
        // that error.
        let _ = Python::try_attach(|py| self.object.call_method0(py, "close").map(drop));
    }
}

/// Returns the sink for a path or URL: a file, an existing pipe or device, or an object of a store.
pub(crate) fn sink_for(path: &Path, store: &Store, cause: &Cause) -> Result<Box<dyn Sink>> {
    match std::fs::metadata(path) {
        Ok(there) if !there.is_file() && !there.is_dir() => Ok(Box::new(ObjectSink::open(path, cause)?)),
        _ => files::sink(path, &options(store.as_deref().unwrap_or_default())),
    }
}

/// A sink that checks for signals before each piece. An exception of a signal handler ends the write.
struct Listening {
    sink: Box<dyn Sink>,
    cause: Cause,
    listened: Instant,
}

/// Interval of the checks for signals.
const LISTEN: Duration = Duration::from_millis(20);

/// Returns a sink that checks for signals.
pub(crate) fn listening(sink: Box<dyn Sink>, cause: &Cause) -> Box<dyn Sink> {
    Box::new(Listening { sink, cause: Arc::clone(cause), listened: Instant::now() })
}

impl Listening {
    fn look(&mut self) -> std::io::Result<()> {
        if self.listened.elapsed() < LISTEN || known_as_main() == Some(false) {
            return Ok(());
        }
        match Python::try_attach(heard) {
            // Only checks of the main thread count.
            Some(Ok(true)) => self.listened = Instant::now(),
            Some(Err(error)) => {
                keep(&self.cause, error);
                // After `Interrupted`, a writer would retry.
                return Err(std::io::Error::other("the writing was interrupted"));
            }
            _ => {}
        }
        Ok(())
    }
}

/// Runs pending signal handlers and returns whether this is the main thread. Handlers may also run in the
/// Python calls of `in_main_thread`.
fn heard(py: Python<'_>) -> PyResult<bool> {
    py.check_signals()?;
    in_main_thread(py)
}

impl Write for Listening {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.look()?;
        self.sink.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.sink.flush()
    }
}

impl Sink for Listening {
    fn uri(&self) -> &str {
        self.sink.uri()
    }

    fn write_pieces(&mut self, pieces: &mut [IoSlice<'_>]) -> std::io::Result<()> {
        self.look()?;
        self.sink.write_pieces(pieces)
    }

    fn needs_caller(&self) -> bool {
        self.sink.needs_caller()
    }

    fn listen(&mut self) -> std::io::Result<()> {
        self.look()
    }

    fn patch(&mut self, at: u64, bytes: &[u8]) -> std::io::Result<()> {
        self.sink.patch(at, bytes)
    }

    fn sync(&mut self) -> std::io::Result<()> {
        self.sink.sync()
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        self.sink.finish()
    }
}

/// Writes a whole file to an object.
#[pyfunction]
pub(crate) fn give_all(object: &Bound<'_, PyAny>, name: &str, data: &Bound<'_, PyBytes>) -> PyResult<()> {
    give(object, name, data.as_bytes(), &mut 0)
}
