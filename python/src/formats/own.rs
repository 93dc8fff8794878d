//! User-defined formats: their registration, and the calls of their functions.
//!
//! Python functions are called by the thread that opens a file, and their exceptions are raised by the call
//! that opens it. `forthwith._formats` converts these exceptions.

use crate::errors;
use forthwith::{
    OwnBlock, OwnFormat,
    io::Source,
    plan::{Error, ErrorKind, Result},
};
use pyo3::{prelude::*, types::PyBytes};
use std::{cell::RefCell, sync::Arc};

/// Registers a format. `blocks` are the bytes and entries of each block; `listed` and `recognised` are
/// functions of `forthwith._formats`.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
#[pyo3(signature = (name, program, described, magic, endings, *, recognised=None, header=None, entry_bytes=None, blocks=None, listed=None,
    replace=false))]
pub(super) fn register_format(
    py: Python<'_>,
    name: &str,
    program: &str,
    described: &str,
    magic: &[u8],
    endings: Vec<String>,
    recognised: Option<Py<PyAny>>,
    header: Option<u64>,
    entry_bytes: Option<u64>,
    blocks: Option<(u64, u64)>,
    listed: Option<Py<PyAny>>,
    replace: bool,
) -> PyResult<()> {
    let register = || {
        let mut format = OwnFormat::new(name, program, described)?.magic(magic);
        for ending in &endings {
            format = format.ending(ending);
        }
        if let Some(function) = recognised {
            let name = name.to_owned();
            format = format.recognise(move |head, uri| {
                called(&name, |py| function.bind(py).call1((PyBytes::new(py, head), uri))?.extract())
            });
        }
        if let Some(bytes) = header {
            format = format.header(bytes);
        }
        if let Some(bytes) = entry_bytes {
            format = format.even_entries(bytes);
        }
        if let Some((bytes, entries)) = blocks {
            format = format.even_blocks(bytes, entries);
        }
        if let Some(function) = listed {
            let name = name.to_owned();
            format = format.blocks(move |source| {
                called(&name, |py| {
                    let stored = Stored(Arc::clone(source));
                    let found: Vec<(u64, u64, u64)> = function.bind(py).call1((stored,))?.extract()?;
                    let block = |(start, end, entries)| OwnBlock { bytes: start..end, entries };
                    Ok(found.into_iter().map(block).collect())
                })
            });
        }
        if replace { forthwith::replace(format) } else { forthwith::register(format) }
    };
    py.detach(register).map_err(|error| errors::exception(py, &error))
}

/// Unregisters a format; returns whether it was registered.
#[pyfunction]
pub(super) fn unregister_format(py: Python<'_>, name: &str) -> bool {
    py.detach(|| forthwith::unregister(name))
}

/// Returns the names of registered formats, the last one first.
#[pyfunction]
pub(super) fn registered_formats() -> Vec<&'static str> {
    forthwith::registered().iter().map(|format| forthwith::Format::name(*format)).collect()
}

/// Returns the file extensions of registered formats, without the dot.
#[pyfunction]
pub(super) fn registered_endings() -> Vec<&'static str> {
    let formats = forthwith::registered();
    formats.iter().flat_map(|format| forthwith::Format::endings(*format)).copied().collect()
}

thread_local! {
    /// Formats whose functions this thread is executing.
    static INSIDE: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    /// The last exception of a function, and the text of the error that represents it.
    static RAISED: RefCell<Option<(String, PyErr)>> = const { RefCell::new(None) };
}

/// Returns the exception that an error represents, if it is from a function of a format.
pub(crate) fn raised(error: &Error) -> Option<PyErr> {
    let ErrorKind::Invalid { what } = &error.kind else { return None };
    RAISED.take().filter(|(text, _)| text == what).map(|(_, exception)| exception)
}

/// Guard that prevents recursive calls of the functions of a format by this thread.
struct Inside;

impl Inside {
    fn enter(name: &str) -> Result<Self> {
        INSIDE.with_borrow_mut(|inside| {
            if inside.iter().any(|known| known == name) {
                let what =
                    format!("the format {name}: its own function opens a file that may be of this format");
                return Err(Error::invalid(what));
            }
            inside.push(name.to_owned());
            Ok(Self)
        })
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        INSIDE.with_borrow_mut(|inside| drop(inside.pop()));
    }
}

/// Calls a function of a format.
fn called<T>(format: &str, call: impl FnOnce(Python<'_>) -> PyResult<T>) -> Result<T> {
    let _inside = Inside::enter(format)?;
    match Python::try_attach(call) {
        Some(Ok(answer)) => Ok(answer),
        Some(Err(exception)) => {
            let what = exception.to_string();
            RAISED.set(Some((what.clone(), exception)));
            Err(Error::invalid(what))
        }
        None => Err(Error::invalid("the interpreter is shutting down")),
    }
}

/// The bytes of a file whose blocks are being listed.
#[pyclass(frozen, module = "forthwith._forthwith")]
pub(crate) struct Stored(Arc<dyn Source>);

#[pymethods]
impl Stored {
    #[getter]
    fn uri(&self) -> &str {
        self.0.uri()
    }

    fn size(&self, py: Python<'_>) -> PyResult<u64> {
        py.detach(|| self.0.size()).map_err(|error| errors::exception(py, &error.into()))
    }

    /// Reads `count` bytes, or fewer at the end of the file.
    fn read<'py>(&self, py: Python<'py>, start: u64, count: u64) -> PyResult<Bound<'py, PyBytes>> {
        let read = || -> Result<_> {
            let size = self.0.size()?;
            Ok(self.0.read_one(start.min(size)..start.saturating_add(count).min(size))?)
        };
        let bytes = py.detach(read).map_err(|error| errors::exception(py, &error))?;
        Ok(PyBytes::new(py, &bytes))
    }
}
