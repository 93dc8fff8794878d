//! Layouts without rows, made once.
//!
//! A pointer may lead to any of the classes of a file, and their members to others: the type of such a column has thousands of nodes, of
//! which most never have a row. Awkward Array takes ten microseconds to make a node; one without rows is the same whatever was read.

use crate::layout::{Classes, DEEPEST, make, times};
use forthwith::columns::{DType, Form};
use pyo3::{
    intern,
    prelude::*,
    sync::PyOnceLock,
    types::{PyBytes, PyDict, PyList, PyTuple},
};
use std::hash::{BuildHasher, RandomState};

/// Layouts kept; where there are more, all are forgotten.
const MOST: usize = 2048;

/// With fewer nodes there is nothing to gain.
const WORTH: usize = 8;

/// Facts about a process.
struct Known {
    layouts: Py<PyDict>,
    /// Two, because the hashes stand for the Forms.
    hashers: [RandomState; 2],
}

/// The layout of no rows, if the Form has enough nodes that it is worth keeping it.
pub(crate) fn layout<'py>(
    py: Python<'py>,
    classes: &Classes,
    form: &Form,
    logical: Option<&str>,
    typed: bool,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    static KNOWN: PyOnceLock<Known> = PyOnceLock::new();
    if !has_nodes(form, &mut { WORTH }) {
        return Ok(None);
    }
    let known = KNOWN.get_or_init(py, || Known {
        layouts: PyDict::new(py).unbind(),
        hashers: [RandomState::new(), RandomState::new()],
    });
    let key = known.hashers.each_ref().map(|hasher| hasher.hash_one((form, logical, typed)).to_ne_bytes());
    let (key, layouts) = (PyBytes::new(py, &key.concat()), known.layouts.bind(py));
    if let Some(found) = layouts.get_item(&key)? {
        return Ok(Some(found));
    }
    let Some(made) = (Empty { py, classes, typed }).node(form, logical, 0)? else { return Ok(None) };
    if layouts.len() >= MOST {
        layouts.clear();
    }
    layouts.set_item(key, &made)?;
    Ok(Some(made))
}

/// Whether a Form has at least the given number of nodes.
fn has_nodes(form: &Form, wanted: &mut usize) -> bool {
    *wanted = wanted.saturating_sub(1);
    *wanted == 0
        || match form {
            Form::List { content, .. }
            | Form::Regular { content, .. }
            | Form::Option { content, .. }
            | Form::Logical { content, .. } => has_nodes(content, wanted),
            Form::Record { contents, .. } | Form::Union { contents, .. } => {
                contents.iter().any(|content| has_nodes(content, wanted))
            }
            _ => false,
        }
}

struct Empty<'a, 'py> {
    py: Python<'py>,
    classes: &'a Classes,
    typed: bool,
}

impl<'py> Empty<'_, 'py> {
    /// A node without rows; nothing if there is a kind of node in it that is not known, or it is too deep.
    fn node(&self, form: &Form, logical: Option<&str>, depth: u32) -> PyResult<Option<Bound<'py, PyAny>>> {
        let (py, classes, below) = (self.py, self.classes, depth + 1);
        if depth > DEEPEST {
            return Ok(None);
        }
        let (class, arguments, parameter) = match form {
            Form::Empty => (&classes.empty, PyTuple::empty(py), None),
            Form::Numpy { dtype, shape, .. } => {
                let mut data = self.items(*dtype, 0)?;
                if !shape.is_empty() {
                    let shape = PyTuple::new(py, [&[0][..], shape].concat())?;
                    data = data.call_method1(intern!(py, "reshape"), (shape,))?;
                }
                (&classes.numpy, PyTuple::new(py, [data])?, None)
            }
            Form::String { binary, .. } => {
                let (outer, inner) = if *binary { ("bytestring", "byte") } else { ("string", "char") };
                let data = PyTuple::new(py, [self.items(DType::UInt8, 0)?])?;
                let data = make(py, &classes.numpy, data, None, Some(("__array__", inner)))?;
                (&classes.list, PyTuple::new(py, [self.offsets()?, data])?, Some(("__array__", outer)))
            }
            Form::List { content, .. } => {
                let Some(content) = self.node(content, None, below)? else { return Ok(None) };
                (&classes.list, PyTuple::new(py, [self.offsets()?, content])?, None)
            }
            Form::Regular { size, content } => {
                let Some(content) = self.node(content, None, below)? else { return Ok(None) };
                (&classes.regular, (content, *size, 0).into_pyobject(py)?, None)
            }
            Form::Record { fields, contents, name } => {
                let Some(contents) = self.nodes(contents, below)? else { return Ok(None) };
                let fields = fields.as_ref().map(|names| PyList::new(py, names)).transpose()?;
                let arguments = (contents, fields, 0).into_pyobject(py)?;
                let name = name.as_ref().map(|name| ("__record__", name.as_str()));
                return make(py, &classes.record, arguments, logical, name).map(Some);
            }
            Form::Option { content, .. } => {
                let Some(content) = self.node(content, None, below)? else { return Ok(None) };
                let index = classes.index64.bind(py).call1((self.items(DType::Int64, 0)?,))?;
                (&classes.option, PyTuple::new(py, [index, content])?, None)
            }
            Form::Union { contents, .. } => {
                let Some(contents) = self.nodes(contents, below)? else { return Ok(None) };
                let tags = classes.index8.bind(py).call1((self.items(DType::Int8, 0)?,))?;
                let index = classes.index64.bind(py).call1((self.items(DType::Int64, 0)?,))?;
                (&classes.union, (tags, index, contents).into_pyobject(py)?, None)
            }
            Form::Logical { meaning, content } => {
                if let Some((_, dtype, typestr)) = times(*meaning, content).filter(|_| self.typed) {
                    let data = self.items(dtype, 0)?.call_method1(intern!(py, "view"), (typestr,))?;
                    let said = (!meaning.is_typed()).then(|| meaning.to_string());
                    return make(py, &classes.numpy, PyTuple::new(py, [data])?, said.as_deref(), None)
                        .map(Some);
                }
                let meaning = meaning.to_string();
                return self.node(content, Some(logical.unwrap_or(&meaning)), below);
            }
            _ => return Ok(None),
        };
        make(py, class, arguments, logical, parameter).map(Some)
    }

    fn nodes(&self, forms: &[Form], depth: u32) -> PyResult<Option<Bound<'py, PyList>>> {
        let nodes =
            forms.iter().map(|form| self.node(form, None, depth)).collect::<PyResult<Option<Vec<_>>>>()?;
        nodes.map(|nodes| PyList::new(self.py, nodes)).transpose()
    }

    /// Zeros that cannot be changed.
    fn items(&self, dtype: DType, count: usize) -> PyResult<Bound<'py, PyAny>> {
        let numpy = self.py.import(intern!(self.py, "numpy"))?;
        let zeros = numpy.call_method1(intern!(self.py, "zeros"), (count, dtype.name()))?;
        zeros.call_method1(intern!(self.py, "setflags"), (false,))?;
        Ok(zeros)
    }

    fn offsets(&self) -> PyResult<Bound<'py, PyAny>> {
        self.classes.index64.bind(self.py).call1((self.items(DType::Int64, 1)?,))
    }
}
