//! Bytes given to a Python object's `write`: the one place that looks at how many it took.

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

/// Bytes offered at a time at most, so that signals are looked at between two calls.
const MOST: usize = 1 << 20;
/// And at least, however little the object took the last time.
const LEAST: usize = 4 << 10;

/// Gives all bytes to `object.write`, which may take them in pieces, as raw files, pipes and sockets do.
///
/// `taken` counts what the object says it took, and is right where this is an error, too.
///
/// # Errors
/// The object takes nothing, says nothing of how much it took (`None`: a file that does not block has no room), claims a number that
/// cannot be, or raises. What is no `Exception` (`KeyboardInterrupt`) is passed on as it is.
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

/// How many bytes of a piece an object says it took, or what is wrong with its answer.
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

/// What a `BlockingIOError` says was taken before there was no more room.
fn said_by(py: Python<'_>, error: &PyErr, offered: usize) -> usize {
    if !error.is_instance_of::<PyBlockingIOError>(py) {
        return 0;
    }
    let said = error.value(py).getattr("characters_written").and_then(|said| said.extract::<usize>());
    said.map_or(0, |said| said.min(offered))
}

fn named(py: Python<'_>, error: &PyErr) -> String {
    // Its own text may be code of Python that fails, too.
    let text = error.value(py).str().map(|text| text.to_string()).unwrap_or_default();
    let class = error.get_type(py).name().map_or_else(|_| "an exception".to_owned(), |name| name.to_string());
    if text.is_empty() { class } else { format!("{class}: {text}") }
}

fn failed(py: Python<'_>, name: &str, taken: u64, what: &str, cause: Option<PyErr>) -> PyErr {
    let error = errors::not_written(py, name, taken, what);
    let errno = cause.as_ref().filter(|cause| cause.is_instance_of::<PyOSError>(py));
    if let Some(errno) = errno.and_then(|cause| cause.value(py).getattr("errno").ok()) {
        // Who looks at the number finds it here as well; without it there is the cause.
        let _ = error.value(py).setattr("errno", errno);
    }
    error.set_cause(py, cause);
    error
}

/// A sink that gives its bytes to a Python object as they come: what was given cannot be taken back.
pub(crate) struct ObjectSink {
    object: Py<PyAny>,
    name: String,
    taken: u64,
    /// The exception of the last call: errors of a sink carry text only.
    cause: Cause,
}

impl ObjectSink {
    /// A sink of what is at a path and is no file: a pipe, a device. Python opens it, whose waiting is ended by signals.
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
        // Left unfinished: there is nothing to say to anybody, and a warning of Python's that it was not closed would say less.
        let _ = Python::try_attach(|py| self.object.call_method0(py, "close").map(drop));
    }
}

/// Where a writer's bytes go, by a path or a URL: a file of that name, what is there and is none, or an object of a store.
pub(crate) fn sink_for(path: &Path, store: &Store, cause: &Cause) -> Result<Box<dyn Sink>> {
    match std::fs::metadata(path) {
        Ok(there) if !there.is_file() && !there.is_dir() => Ok(Box::new(ObjectSink::open(path, cause)?)),
        _ => files::sink(path, &options(store.as_deref().unwrap_or_default())),
    }
}

/// Looks at signals between the pieces that a writer gives to its sink: an exception of their handlers ends the writing.
struct Listening {
    sink: Box<dyn Sink>,
    cause: Cause,
    listened: Instant,
}

/// How often signals are looked at.
const LISTEN: Duration = Duration::from_millis(20);

/// A sink that looks at signals.
pub(crate) fn listening(sink: Box<dyn Sink>, cause: &Cause) -> Box<dyn Sink> {
    Box::new(Listening { sink, cause: Arc::clone(cause), listened: Instant::now() })
}

impl Listening {
    fn look(&mut self) -> std::io::Result<()> {
        if self.listened.elapsed() < LISTEN || known_as_main() == Some(false) {
            return Ok(());
        }
        match Python::try_attach(heard) {
            // Others' looks must not count.
            Some(Ok(true)) => self.listened = Instant::now(),
            Some(Err(error)) => {
                keep(&self.cause, error);
                // Not Interrupted, after which a writer would try again.
                return Err(std::io::Error::other("the writing was interrupted"));
            }
            _ => {}
        }
        Ok(())
    }
}

/// Looks at signals, if they are this thread's to look at. A handler may also run in what this calls of Python.
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

/// Gives a whole file to an object.
#[pyfunction]
pub(crate) fn give_all(object: &Bound<'_, PyAny>, name: &str, data: &Bound<'_, PyBytes>) -> PyResult<()> {
    give(object, name, data.as_bytes(), &mut 0)
}
