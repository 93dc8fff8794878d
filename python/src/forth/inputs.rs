//! The inputs of a machine: anything with the buffer protocol, held and not copied.

// The buffer protocol hands out an address and a length; this file is the one place of the binding that has to believe it.
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

/// The inputs in the order of their declarations. The exports are held, so that what they come from cannot be resized or go away.
#[derive(Default)]
pub(crate) struct Inputs(Vec<PyUntypedBuffer>);

impl Inputs {
    /// Finds each declared input in a mapping of names to buffers. Nothing else may be in it.
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

    /// Whether any are held.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn slices(&self) -> Vec<&[u8]> {
        self.0.iter().map(bytes).collect()
    }
}

/// A buffer that is held for as long as its bytes are used, and given back then.
pub(crate) struct Lent(PyUntypedBuffer);

impl Lent {
    /// The bytes of an object. They are copied if numbers of 64 bits would not be aligned in them.
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
    // Some leave out what they need not tell; a memoryview fills it in. What has no dimension has to be seen as bytes.
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
    // SAFETY: the exporter says that these bytes, contiguous as was checked, are there until the buffer is released, which the
    // borrow prevents. A program may write to the object meanwhile, as with every library that releases the interpreter over a
    // buffer: the machine uses what it has compared and never reads it again, so that what is decoded changes and nothing else.
    // `mutable_inputs` in the crate of the machine says how, and what Rust says of it. Writers compare as well: see `Given`.
    unsafe { std::slice::from_raw_parts(buffer.buf_ptr().cast::<u8>(), length) }
}
