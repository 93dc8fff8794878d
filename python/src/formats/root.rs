//! Objects of a ROOT file: the tables of `forthwith::root::Objects`, one object at a time.
//!
//! Objects are identified by numbers here. `forthwith._objects` creates their Python objects, one for each
//! number; its `maker` is called for all values that are not of Python's own types.

use crate::table::Table;
use forthwith::{
    Object,
    columns::DType,
    plan::Error,
    rntuple::Ntuple,
    root::{self, Shape, Value, text},
};
use pyo3::{
    exceptions::PyIndexError,
    prelude::*,
    types::{PyBytes, PyDict, PyList, PyString, PyTuple},
};

/// Returns the objects of a record; the argument itself if it is from another format.
pub(super) fn object(py: Python<'_>, object: Object) -> Result<PyResult<Bound<'_, PyAny>>, Object> {
    let objects = Objects(object.into_own()?);
    Ok(Bound::new(py, objects).map(Bound::into_any))
}

/// The objects of one record. The stub file has the documentation.
#[pyclass(frozen, module = "forthwith._forthwith")]
pub(super) struct Objects(pub(super) root::Objects);

impl Objects {
    pub(super) fn at(&self, number: u32) -> PyResult<root::Object<'_>> {
        self.0.object(number).ok_or_else(|| PyIndexError::new_err(format!("no object {number}")))
    }
}

/// Class, version, first slot, slot after the last, depth of inheritance.
type Base<'a> = (&'a str, i32, usize, usize, u32);

#[pymethods]
impl Objects {
    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// Returns the size of the decompressed record in bytes.
    #[getter]
    fn payload_bytes(&self) -> usize {
        self.0.payload().len()
    }

    fn classname(&self, number: u32) -> PyResult<&str> {
        Ok(self.at(number)?.class())
    }

    fn version(&self, number: u32) -> PyResult<i16> {
        Ok(self.at(number)?.version())
    }

    /// Returns `"members"`, `"items"`, `"value"` or `"opaque"`.
    fn kind(&self, number: u32) -> PyResult<&'static str> {
        let object = self.at(number)?;
        Ok(if object.is_opaque() {
            "opaque"
        } else if object.inner().is_some() {
            "value"
        } else if object.collection_name().is_some() {
            "items"
        } else {
            "members"
        })
    }

    fn fault(&self, number: u32) -> PyResult<Option<String>> {
        Ok(self.at(number)?.fault().map(ToString::to_string))
    }

    fn raw<'py>(&self, py: Python<'py>, number: u32) -> PyResult<Bound<'py, PyBytes>> {
        let range = self.at(number)?.body();
        Ok(PyBytes::new(py, self.0.payload().get(range).unwrap_or_default()))
    }

    fn names(&self, number: u32) -> PyResult<Vec<&str>> {
        Ok(self.at(number)?.members().map(|(name, _)| name).collect())
    }

    fn labels(&self, number: u32, begin: usize, end: usize) -> PyResult<Option<Vec<String>>> {
        Ok(self.at(number)?.labels(begin..end))
    }

    fn value<'py>(&self, number: u32, slot: usize, maker: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let object = self.at(number)?;
        let Some((_, value)) = object.members().nth(slot) else {
            return Err(PyIndexError::new_err(format!("no member {slot}")));
        };
        let flat = |value| convert(value, maker);
        match value {
            Value::Array(array) => {
                let dimensions = object.dimensions(slot, array.bytes.len() / array.basic.size());
                numbers(maker, array.basic, array.bytes, dimensions.as_deref())
            }
            Value::Packed(packed) => match object.dimensions(slot, packed.len()) {
                Some(dimensions) => flat(value)?.call_method1("reshape", (dimensions,)),
                None => flat(value),
            },
            Value::Objects(_) | Value::List(_) => {
                let flat = flat(value)?;
                match flat.cast::<PyList>() {
                    Ok(items) => match object.dimensions(slot, items.len()) {
                        Some(dimensions) => nested(items, &dimensions),
                        None => Ok(flat),
                    },
                    Err(_) => Ok(flat),
                }
            }
            value => flat(value),
        }
    }

    fn inner<'py>(&self, number: u32, maker: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.at(number)?.inner().map(|value| convert(value, maker)).transpose()
    }

    fn items<'py>(&self, number: u32, maker: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        self.at(number)?.items().map(|item| optional(item, maker)).collect()
    }

    fn collection_name(&self, number: u32) -> PyResult<Option<String>> {
        Ok(self.at(number)?.collection_name())
    }

    /// Returns class, version, first slot, slot after the last and depth of inheritance of each base.
    fn bases(&self, number: u32) -> PyResult<Vec<Base<'_>>> {
        let bases = self.at(number)?.bases();
        Ok(bases
            .map(|base| (base.class, base.version, base.members.start, base.members.end, base.depth))
            .collect())
    }

    /// Returns class and reason of each value that could not be read.
    fn faults(&self) -> Vec<(String, String)> {
        self.0.faults().map(|(object, error)| (object.class().to_owned(), error.to_string())).collect()
    }

    /// Returns class, position and length of each sequence of undescribed bytes.
    fn leftovers(&self) -> Vec<(String, usize, usize)> {
        let left = self.0.leftovers().iter();
        left.map(|left| (left.class.to_string(), left.begin, left.length)).collect()
    }
}

/// Returns the contents of header, footer and page lists of an RNTuple as JSON.
#[pyfunction]
pub(super) fn ntuple_descriptor(py: Python<'_>, table: &Bound<'_, Table>) -> PyResult<String> {
    let Table { handle, table, .. } = table.get();
    handle.run(py, || ntuple_of(table)?.descriptor()?.to_json())
}

/// Returns header and footer of an RNTuple, decompressed, with their checksums.
#[pyfunction]
pub(super) fn ntuple_envelopes<'py>(
    py: Python<'py>,
    table: &Bound<'py, Table>,
) -> PyResult<[Bound<'py, PyBytes>; 2]> {
    let Table { handle, table, .. } = table.get();
    let found = handle.run(py, || ntuple_of(table)?.envelopes())?;
    Ok(found.map(|bytes| PyBytes::new(py, &bytes)))
}

fn ntuple_of(table: &forthwith::Table) -> forthwith::plan::Result<&Ntuple> {
    let what = || format!("the descriptor of {}, which is no RNTuple", table.path());
    table.own::<Ntuple>().ok_or_else(|| Error::unsupported(what()))
}

/// Registers the members of a class; without members, unregisters it and returns whether it was registered.
#[pyfunction]
#[pyo3(signature = (name, members, framed = true))]
pub(super) fn register_class(
    py: Python<'_>,
    name: &str,
    members: Option<Vec<(String, String)>>,
    framed: bool,
) -> PyResult<bool> {
    let Some(members) = members else { return Ok(root::forget_class(name)) };
    let members: Vec<_> = members.iter().map(|(name, kind)| (&**name, &**kind)).collect();
    let register = if framed { root::register_class } else { root::register_unframed };
    register(name, &members).map_err(|error| crate::errors::exception(py, &error))?;
    Ok(true)
}

fn optional<'py>(object: Option<root::Object<'_>>, maker: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    match object {
        Some(object) => maker.call_method1("object", (object.number(),)),
        None => Ok(maker.py().None().into_bound(maker.py())),
    }
}

fn convert<'py>(value: Value<'_>, maker: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = maker.py();
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(value) => value.into_pyobject(py)?.to_owned().into_any(),
        Value::Int(value) => value.into_pyobject(py)?.into_any(),
        Value::UInt(value) => value.into_pyobject(py)?.into_any(),
        Value::Float(value) => value.into_pyobject(py)?.into_any(),
        Value::Text(bytes) => PyString::new(py, &text(bytes)).into_any(),
        Value::Array(array) => numbers(maker, array.basic, array.bytes, None)?,
        Value::Packed(packed) => {
            let single = packed.is_single();
            let mut bytes = Vec::with_capacity(packed.len() * if single { 4 } else { 8 });
            for value in packed.floats() {
                match single {
                    true => bytes.extend((value as f32).to_be_bytes()),
                    false => bytes.extend(value.to_be_bytes()),
                }
            }
            let typestr = if single { ">f4" } else { ">f8" };
            maker.call_method1("array", (PyBytes::new(py, &bytes), typestr, py.None()))?
        }
        Value::Object(object) => optional(Some(object), maker)?,
        Value::Objects(items) => {
            let items = items.map(|item| optional(item, maker)).collect::<PyResult<Vec<_>>>()?;
            PyList::new(py, items)?.into_any()
        }
        Value::List(list) => {
            let shape = list.shape();
            let values = list.map(|value| convert(value, maker)).collect::<PyResult<Vec<_>>>()?;
            match shape {
                Shape::List | Shape::Set => PyList::new(py, values)?.into_any(),
                Shape::Pair => PyTuple::new(py, values)?.into_any(),
                Shape::Map => map(py, &values)?,
            }
        }
        Value::Elsewhere(position) => maker.call_method1("elsewhere", (position,))?,
        Value::Skipped(bytes) => maker.call_method1("unread", (PyBytes::new(py, bytes),))?,
        _ => return Err(PyIndexError::new_err("a value of a kind that Python does not know")),
    })
}

/// Returns the items as nested lists of the given dimensions.
fn nested<'py>(items: &Bound<'py, PyList>, dimensions: &[usize]) -> PyResult<Bound<'py, PyAny>> {
    let mut all = items.clone();
    for (at, &size) in dimensions.iter().enumerate().skip(1).rev() {
        let rows: usize = dimensions[..at].iter().product();
        let rows = (0..rows).map(|row| all.get_slice(row * size, (row + 1) * size));
        all = PyList::new(items.py(), rows.collect::<Vec<_>>())?;
    }
    Ok(all.into_any())
}

/// Returns a `dict`, or a list of pairs if keys are duplicate or unhashable.
fn map<'py>(py: Python<'py>, values: &[Bound<'py, PyAny>]) -> PyResult<Bound<'py, PyAny>> {
    let dict = PyDict::new(py);
    let hashable = values.chunks_exact(2).try_for_each(|pair| dict.set_item(&pair[0], &pair[1]));
    if hashable.is_ok() && dict.len() == values.len() / 2 {
        return Ok(dict.into_any());
    }
    let pairs = values.chunks_exact(2).map(|pair| PyTuple::new(py, pair)).collect::<PyResult<Vec<_>>>()?;
    Ok(PyList::new(py, pairs)?.into_any())
}

fn numbers<'py>(
    maker: &Bound<'py, PyAny>,
    basic: DType,
    bytes: &[u8],
    dimensions: Option<&[usize]>,
) -> PyResult<Bound<'py, PyAny>> {
    let typestr = basic.typestr().replace('<', ">");
    let shape = dimensions.map(<[usize]>::to_vec);
    maker.call_method1("array", (PyBytes::new(maker.py(), bytes), typestr, shape))
}
