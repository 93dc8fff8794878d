//! Inputs of a machine: objects with the buffer protocol, which are borrowed and not copied.

// The buffer protocol returns an address and a length. Only this file of the binding dereferences them.
#![allow(unsafe_code)]

use crate::errors;
use bytes::Bytes;
use forthwith::forth::Compiled;
use pyo3::{
    buffer::PyUntypedBuffer,
    exceptions::PyTypeError,
    prelude::*,
    types::{PyDict, PyMapping, PyMemoryView, PyString},
};

/// The inputs in the order of their declarations. The buffers are held, so that the exporters cannot be
/// resized or freed.
#[derive(Default)]
pub(crate) struct Inputs(Vec<PyUntypedBuffer>);

impl Inputs {
    /// Finds the buffer of each declared input by name. Returns an error for a missing or undeclared input,
    /// and for a buffer that is not contiguous.
    pub(crate) fn gather(compiled: &Compiled, given: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let declared = compiled.inputs();
        let Some(given) = given else { return Self::absent(declared.first()) };
        let py = given.py();
        let given = match given.cast::<PyDict>() {
            Ok(dict) => dict.clone(),
            Err(_) => {
                let dict = PyDict::new(py);
                dict.update(given.cast::<PyMapping>()?)?;
                dict
            }
        };
        let mut held = Vec::with_capacity(declared.len());
        for name in declared {
            match given.get_item(name)? {
                Some(object) => held.push(buffer(name, &object)?),
                None => return Self::absent(Some(name)),
            }
        }
        if given.len() > declared.len() {
            for key in given.keys() {
                let Ok(name) = key.cast::<PyString>() else {
                    return Err(PyTypeError::new_err("names of inputs are strings"));
                };
                if !declared.iter().any(|known| name == known.as_str()) {
                    return Err(errors::request(py, format!("input not found: {name}")));
                }
            }
        }
        Ok(Self(held))
    }

    fn absent(name: Option<&String>) -> PyResult<Self> {
        let Some(name) = name else { return Ok(Self::default()) };
        let text = format!("AwkwardForth source code defines an input that was not provided: {name}");
        Err(Python::attach(|py| errors::request(py, text)))
    }

    /// Whether no buffers are held.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn slices(&self) -> Vec<&[u8]> {
        self.0.iter().map(bytes).collect()
    }
}

/// A borrowed buffer, which is released when its bytes are dropped.
pub(crate) struct Lent(PyUntypedBuffer);

impl Lent {
    /// Returns the bytes of an object. They are copied if they are not aligned for 64-bit numbers.
    pub(crate) fn of(name: &str, object: &Bound<'_, PyAny>) -> PyResult<Bytes> {
        let lent = Self(buffer(name, object)?);
        let is_aligned = lent.as_ref().as_ptr().addr().is_multiple_of(align_of::<u64>());
        Ok(if is_aligned { Bytes::from_owner(lent) } else { Bytes::copy_from_slice(lent.as_ref()) })
    }
}

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        bytes(&self.0)
    }
}

fn buffer(name: &str, object: &Bound<'_, PyAny>) -> PyResult<PyUntypedBuffer> {
    // Exporters may omit the format or shape, which a memoryview adds. A zero-dimensional one is cast to
    // bytes.
    let buffer = PyUntypedBuffer::get(object).or_else(|error| {
        let view = PyMemoryView::from(object)?;
        let view = match PyUntypedBuffer::get(view.as_any()) {
            Err(_) => PyUntypedBuffer::get(&view.call_method1("cast", ("B",))?),
            buffer => buffer,
        };
        view.map_err(|_| error)
    })?;
    if buffer.is_c_contiguous() {
        return Ok(buffer);
    }
    let text = format!("input {name} is not contiguous; numpy.ascontiguousarray makes a copy that is");
    Err(errors::request(object.py(), text))
}

fn bytes(buffer: &PyUntypedBuffer) -> &[u8] {
    let length = buffer.len_bytes();
    if length == 0 || buffer.buf_ptr().is_null() {
        return &[];
    }
    // SAFETY: the exporter guarantees that these bytes, checked to be contiguous, remain valid until the
    // buffer is released, which the borrow prevents. Other threads may write to the object meanwhile, as for
    // every library that releases the interpreter while it uses a buffer: the machine uses the copies that it
    // has checked and never reads these bytes again, so that only the decoded values change. `mutable_inputs`
    // in the crate of the machine describes this, and what Rust's memory model says of it. Writers validate
    // their copies as well: see `Given`.
    unsafe { std::slice::from_raw_parts(buffer.buf_ptr().cast::<u8>(), length) }
}
