//! The kind of value that a Python object is.

use pyo3::{
    PyTypeInfo,
    prelude::*,
    types::{
        PyBool, PyBytes, PyComplex, PyDate, PyDateTime, PyDelta, PyDict, PyFloat, PyInt, PyList, PyString,
        PyTime, PyTuple, PyType,
    },
};
use std::collections::HashMap;

/// Kinds of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    None,
    Bool,
    Int,
    Float,
    Complex,
    Str,
    Bytes,
    List,
    Tuple,
    Dict,
    /// `numpy.ndarray` itself.
    Array,
    /// NumPy's scalars that are not Python's.
    NumpyBool,
    NumpyInt,
    NumpyFloat,
    /// `numpy.datetime64` and `numpy.timedelta64`.
    NumpyTime,
    DateTime,
    Date,
    Time,
    Delta,
    /// Something that may be iterated.
    Other,
}

/// The kinds of types that were met. The common ones are told by their address.
pub(crate) struct Kinds {
    float: usize,
    int: usize,
    str: usize,
    dict: usize,
    list: usize,
    bool: usize,
    tuple: usize,
    bytes: usize,
    /// What was found out of other types, which are kept so that no other type takes their address.
    met: HashMap<usize, (Py<PyType>, Kind)>,
}

impl Kinds {
    pub(crate) fn new(py: Python<'_>) -> Self {
        Self {
            float: PyFloat::type_object_raw(py).addr(),
            int: PyInt::type_object_raw(py).addr(),
            str: PyString::type_object_raw(py).addr(),
            dict: PyDict::type_object_raw(py).addr(),
            list: PyList::type_object_raw(py).addr(),
            bool: PyBool::type_object_raw(py).addr(),
            tuple: PyTuple::type_object_raw(py).addr(),
            bytes: PyBytes::type_object_raw(py).addr(),
            met: HashMap::new(),
        }
    }

    #[inline]
    pub(crate) fn is_float(&self, object: &Bound<'_, PyAny>) -> bool {
        object.get_type_ptr().addr() == self.float
    }

    #[inline]
    pub(crate) fn is_int(&self, object: &Bound<'_, PyAny>) -> bool {
        object.get_type_ptr().addr() == self.int
    }

    #[inline]
    pub(crate) fn of(&mut self, object: &Bound<'_, PyAny>) -> PyResult<Kind> {
        let found = object.get_type_ptr().addr();
        Ok(if found == self.float {
            Kind::Float
        } else if found == self.int {
            Kind::Int
        } else if found == self.str {
            Kind::Str
        } else if found == self.dict {
            Kind::Dict
        } else if found == self.list {
            Kind::List
        } else if found == self.bool {
            Kind::Bool
        } else if found == self.tuple {
            Kind::Tuple
        } else if found == self.bytes {
            Kind::Bytes
        } else if object.is_none() {
            Kind::None
        } else {
            return self.look_up(object);
        })
    }

    #[cold]
    #[inline(never)]
    fn look_up(&mut self, object: &Bound<'_, PyAny>) -> PyResult<Kind> {
        let key = object.get_type_ptr().addr();
        if let Some((_, kind)) = self.met.get(&key) {
            return Ok(*kind);
        }
        let kind = classify(object)?;
        if self.met.len() < MOST_MET {
            self.met.insert(key, (object.get_type().unbind(), kind));
        }
        Ok(kind)
    }
}

/// Types made in a loop are not all remembered.
const MOST_MET: usize = 256;

/// In the order in which Awkward Array asks, so that whatever is several things at once is the same.
fn classify(object: &Bound<'_, PyAny>) -> PyResult<Kind> {
    let kind = if object.is_instance_of::<PyInt>() {
        Kind::Int
    } else if object.is_instance_of::<PyFloat>() {
        Kind::Float
    } else if object.is_instance_of::<PyComplex>() {
        Kind::Complex
    } else if object.is_instance_of::<PyBytes>() {
        Kind::Bytes
    } else if object.is_instance_of::<PyString>() {
        Kind::Str
    } else if object.is_instance_of::<PyTuple>() {
        Kind::Tuple
    } else if object.is_instance_of::<PyDict>() {
        Kind::Dict
    } else {
        return classify_rest(object);
    };
    Ok(kind)
}

fn classify_rest(object: &Bound<'_, PyAny>) -> PyResult<Kind> {
    let py = object.py();
    let class = object.get_type();
    // NumPy is asked only if it is there; importing it is not for us.
    let modules = py.import("sys")?.getattr("modules")?;
    let numpy = modules.call_method1("get", ("numpy",))?;
    if !numpy.is_none() {
        if class.is(&numpy.getattr("ndarray")?) {
            return Ok(Kind::Array);
        }
        if object.is_instance(&numpy.getattr("generic")?)? {
            for (name, kind) in [
                ("datetime64", Kind::NumpyTime),
                ("timedelta64", Kind::NumpyTime),
                ("bool_", Kind::NumpyBool),
                ("integer", Kind::NumpyInt),
                ("floating", Kind::NumpyFloat),
            ] {
                if object.is_instance(&numpy.getattr(name)?)? {
                    return Ok(kind);
                }
            }
            return Ok(Kind::Other);
        }
    }
    let iterable = class.hasattr("__iter__")? || class.hasattr("__getitem__")?;
    Ok(if iterable {
        Kind::Other
    } else if object.is_instance_of::<PyDateTime>() {
        Kind::DateTime
    } else if object.is_instance_of::<PyDate>() {
        Kind::Date
    } else if object.is_instance_of::<PyTime>() {
        Kind::Time
    } else if object.is_instance_of::<PyDelta>() {
        Kind::Delta
    } else {
        Kind::Other
    })
}
