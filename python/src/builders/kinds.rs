//! Classification of Python objects.

use pyo3::{
    PyTypeCheck, PyTypeInfo,
    prelude::*,
    types::{
        PyBool, PyBytes, PyComplex, PyDate, PyDateTime, PyDelta, PyDict, PyFloat, PyInt, PyList, PyString,
        PyTime, PyTuple, PyType,
    },
};
use std::collections::HashMap;

/// The kind of value of a Python object.
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
    /// `numpy.ndarray`, but not a subclass.
    Array,
    /// NumPy scalars that are not instances of Python's types.
    NumpyBool,
    NumpyInt,
    NumpyFloat,
    /// `numpy.datetime64` and `numpy.timedelta64`.
    NumpyTime,
    DateTime,
    Date,
    Time,
    Delta,
    /// An object that may be iterable.
    Other,
}

/// Cache of the kinds of types.
pub(crate) struct Kinds {
    /// The addresses of common types, the most frequent ones first.
    common: [(usize, Kind); 8],
    /// Kinds of other types, by address. The references keep the addresses from being reused.
    met: HashMap<usize, (Py<PyType>, Kind)>,
}

impl Kinds {
    pub(crate) fn new(py: Python<'_>) -> Self {
        let common = [
            (PyFloat::type_object_raw(py).addr(), Kind::Float),
            (PyInt::type_object_raw(py).addr(), Kind::Int),
            (PyString::type_object_raw(py).addr(), Kind::Str),
            (PyDict::type_object_raw(py).addr(), Kind::Dict),
            (PyList::type_object_raw(py).addr(), Kind::List),
            (PyBool::type_object_raw(py).addr(), Kind::Bool),
            (PyTuple::type_object_raw(py).addr(), Kind::Tuple),
            (PyBytes::type_object_raw(py).addr(), Kind::Bytes),
        ];
        Self { common, met: HashMap::new() }
    }

    #[inline]
    pub(crate) fn is_float(&self, object: &Bound<'_, PyAny>) -> bool {
        object.get_type_ptr().addr() == self.common[0].0
    }

    #[inline]
    pub(crate) fn is_int(&self, object: &Bound<'_, PyAny>) -> bool {
        object.get_type_ptr().addr() == self.common[1].0
    }

    #[inline]
    pub(crate) fn of(&mut self, object: &Bound<'_, PyAny>) -> PyResult<Kind> {
        let found = object.get_type_ptr().addr();
        match self.common.iter().find(|(address, _)| *address == found) {
            Some((_, kind)) => Ok(*kind),
            None if object.is_none() => Ok(Kind::None),
            None => self.look_up(object),
        }
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

/// Maximum number of cached types, for code that creates types in a loop.
const MOST_MET: usize = 256;

/// Classifies an object. The order of the checks is that of Awkward Array, for instances of several types.
fn classify(object: &Bound<'_, PyAny>) -> PyResult<Kind> {
    let kinds: [(Is, Kind); 7] = [
        (is::<PyInt>, Kind::Int),
        (is::<PyFloat>, Kind::Float),
        (is::<PyComplex>, Kind::Complex),
        (is::<PyBytes>, Kind::Bytes),
        (is::<PyString>, Kind::Str),
        (is::<PyTuple>, Kind::Tuple),
        (is::<PyDict>, Kind::Dict),
    ];
    let found = kinds.into_iter().find(|(is, _)| is(object));
    found.map_or_else(|| classify_rest(object), |(_, kind)| Ok(kind))
}

type Is = fn(&Bound<'_, PyAny>) -> bool;

fn is<T: PyTypeCheck>(object: &Bound<'_, PyAny>) -> bool {
    object.is_instance_of::<T>()
}

fn classify_rest(object: &Bound<'_, PyAny>) -> PyResult<Kind> {
    let py = object.py();
    let class = object.get_type();
    // NumPy is used only if it was imported already.
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
    if class.hasattr("__iter__")? || class.hasattr("__getitem__")? {
        return Ok(Kind::Other);
    }
    let times: [(Is, Kind); 4] = [
        (is::<PyDateTime>, Kind::DateTime),
        (is::<PyDate>, Kind::Date),
        (is::<PyTime>, Kind::Time),
        (is::<PyDelta>, Kind::Delta),
    ];
    Ok(times.into_iter().find(|(is, _)| is(object)).map_or(Kind::Other, |(_, kind)| kind))
}
