//! Creation of Awkward Arrays, node by node.
//!
//! Creates the layouts that `ak.from_buffers` creates for a Form: the same classes with the same arguments,
//! without the conversion to and from JSON, which dominates the time to read small branches.

use crate::{array::Buffer, empty, errors};
use forthwith::{
    columns::{Array, Column, DType, Form, LogicalType, Native},
    plan::Error,
};
use pyo3::{
    intern,
    prelude::*,
    sync::PyOnceLock,
    types::{PyDict, PyList, PyString, PyTuple},
};
use std::collections::HashMap;

macro_rules! classes {
    ($($name:ident: $module:literal $class:literal,)*) => {
        /// Classes of Awkward Array and functions of NumPy.
        struct Classes { $($name: Py<PyAny>,)* }

        impl Classes {
            fn of(py: Python<'_>) -> PyResult<&'static Self> {
                static CLASSES: PyOnceLock<Classes> = PyOnceLock::new();
                CLASSES.get_or_try_init(py, || {
                    Ok(Self { $($name: py.import($module)?.getattr($class)?.unbind(),)* })
                })
            }
        }
    };
}

classes! {
    empty: "awkward.contents" "EmptyArray",
    numpy: "awkward.contents" "NumpyArray",
    list: "awkward.contents" "ListOffsetArray",
    regular: "awkward.contents" "RegularArray",
    record: "awkward.contents" "RecordArray",
    indexed: "awkward.contents" "IndexedArray",
    option: "awkward.contents" "IndexedOptionArray",
    unmasked: "awkward.contents" "UnmaskedArray",
    union: "awkward.contents" "UnionArray",
    index8: "awkward.index" "Index8",
    index32: "awkward.index" "Index32",
    index64: "awkward.index" "Index64",
    array: "numpy" "asarray",
}

/// Returns the layout of an array whose options and unions are nested as Awkward Array supports it. With
/// `typed`, times have NumPy's types.
pub(crate) fn layout<'py>(py: Python<'py>, array: &Array, typed: bool) -> PyResult<Bound<'py, PyAny>> {
    let columns = array.columns.iter().map(|(key, column)| (key.as_str(), column)).collect();
    let mut nodes =
        Nodes { py, classes: Classes::of(py)?, columns: Some(columns), name: String::new(), typed };
    nodes.node(&array.form, array.length, None, 0)
}

/// Returns the layout of a Form without rows. Its buffers are read-only.
pub(crate) fn without_rows<'py>(
    py: Python<'py>,
    form: &Form,
    logical: Option<&str>,
    typed: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let mut nodes = Nodes { py, classes: Classes::of(py)?, columns: None, name: String::new(), typed };
    nodes.node(form, 0, logical, 0)
}

/// Maximum depth of nesting, which bounds the recursion.
const DEEPEST: u32 = 256;

struct Nodes<'a, 'py> {
    py: Python<'py>,
    classes: &'static Classes,
    /// `None` for a layout without rows.
    columns: Option<HashMap<&'a str, &'a Column>>,
    /// Scratch buffer for names of columns.
    name: String,
    typed: bool,
}

impl<'a, 'py> Nodes<'a, 'py> {
    /// Creates a node of `length` rows. `logical` is the text of its logical type.
    fn node(
        &mut self,
        form: &Form,
        length: u64,
        logical: Option<&str>,
        depth: u32,
    ) -> PyResult<Bound<'py, PyAny>> {
        if depth > DEEPEST {
            return Err(self.wrong("more levels of structure than there can be"));
        }
        let (py, classes, below) = (self.py, self.classes, depth + 1);
        if length == 0
            && self.columns.is_some()
            && let Some(known) = empty::layout(py, form, logical, self.typed)?
        {
            return Ok(known);
        }
        let (class, arguments, parameter) = match form {
            Form::Empty if length > 0 => return Err(self.wrong("rows of unknown type")),
            Form::Empty => (&classes.empty, PyTuple::empty(py), None),
            Form::Numpy { key, dtype, shape } => {
                let items = shape.iter().try_fold(length, |rows, each| rows.checked_mul(*each));
                let items = items.ok_or_else(|| self.wrong("more items than there can be"))?;
                let mut data = self.array(key, "data", *dtype, items)?.1;
                if !shape.is_empty() {
                    let shape = PyTuple::new(py, [&[length][..], shape].concat())?;
                    data = data.call_method1(intern!(py, "reshape"), (shape,))?;
                }
                (&classes.numpy, PyTuple::new(py, [data])?, None)
            }
            Form::String { key, binary } => {
                let (outer, inner) = if *binary { ("bytestring", "byte") } else { ("string", "char") };
                let (offsets, end) = self.offsets(key, length)?;
                let data = self.array(key, "data", DType::UInt8, end)?.1;
                let data = PyTuple::new(py, [data])?;
                let data = make(py, &classes.numpy, data, None, Some(("__array__", inner)))?;
                (&classes.list, PyTuple::new(py, [offsets, data])?, Some(("__array__", outer)))
            }
            Form::Categorical { key, categories } => {
                let (column, index) = self.array(key, "index", DType::Int32, length)?;
                // All categories, even if these rows use fewer: other steps may use others.
                let rows = rows::<i32>(&column).max(categories.len() as u64);
                let index = classes.index32.bind(py).call1((index,))?;
                let texts = Form::String { key: key.clone(), binary: false };
                let texts = self.node(&texts, rows, None, below)?;
                (&classes.indexed, PyTuple::new(py, [index, texts])?, Some(("__array__", "categorical")))
            }
            Form::List { key, content } => {
                let (offsets, end) = self.offsets(key, length)?;
                let content = self.node(content, end, None, below)?;
                (&classes.list, PyTuple::new(py, [offsets, content])?, None)
            }
            Form::Regular { size, content } => {
                let items = length.checked_mul(*size);
                let items = items.ok_or_else(|| self.wrong("more items than there can be"))?;
                let content = self.node(content, items, None, below)?;
                (&classes.regular, (content, *size, length).into_pyobject(py)?, None)
            }
            Form::Record { fields, contents, name } => {
                let contents = contents.iter().map(|content| self.node(content, length, None, below));
                let contents = PyList::new(py, contents.collect::<PyResult<Vec<_>>>()?)?;
                let fields = fields.as_ref().map(|names| PyList::new(py, names)).transpose()?;
                let arguments = (contents, fields, length).into_pyobject(py)?;
                return make(
                    py,
                    &classes.record,
                    arguments,
                    logical,
                    name.as_ref().map(|name| ("__record__", name.as_str())),
                );
            }
            Form::Option { key, content } => {
                let column = self.column(key, "index", DType::Int64, length)?;
                if length > 0 && column.counts_up() {
                    // An option without missing rows needs no index.
                    let content = self.node(content, length, None, below)?;
                    (&classes.unmasked, PyTuple::new(py, [content])?, None)
                } else {
                    let rows = rows::<i64>(&column);
                    let index = classes.array.bind(py).call1((Buffer::new(column),))?;
                    let index = classes.index64.bind(py).call1((index,))?;
                    let content = self.node(content, rows, None, below)?;
                    (&classes.option, PyTuple::new(py, [index, content])?, None)
                }
            }
            Form::Union { key, contents } => {
                let (tag_column, tags) = self.array(key, "tags", DType::Int8, length)?;
                let (index_column, index) = self.array(key, "index", DType::Int64, length)?;
                let mut needed = vec![0; contents.len()];
                let each = numbers::<i8>(&tag_column).zip(numbers::<i64>(&index_column));
                for (tag, at) in each {
                    if let Some(rows) = usize::try_from(tag).ok().and_then(|tag| needed.get_mut(tag)) {
                        *rows = at.saturating_add(1).max(*rows);
                    }
                }
                let tags = classes.index8.bind(py).call1((tags,))?;
                let index = classes.index64.bind(py).call1((index,))?;
                let contents = contents.iter().zip(needed);
                let contents = contents.map(|(form, rows)| self.node(form, rows.unsigned_abs(), None, below));
                let contents = PyList::new(py, contents.collect::<PyResult<Vec<_>>>()?)?;
                (&classes.union, (tags, index, contents).into_pyobject(py)?, None)
            }
            Form::Logical { meaning, content } => {
                if let Some((key, dtype, typestr)) = times(*meaning, content).filter(|_| self.typed) {
                    let column = self.column(key, "data", dtype, length)?;
                    let column = Buffer::viewed(column, typestr, dtype.size());
                    let data = PyTuple::new(py, [classes.array.bind(py).call1((column,))?])?;
                    let said = (!meaning.is_typed()).then(|| meaning.to_string());
                    return make(py, &classes.numpy, data, said.as_deref(), None);
                }
                let meaning = meaning.to_string();
                return self.node(content, length, Some(logical.unwrap_or(&meaning)), below);
            }
            // New types of nodes have to be added above.
            _ => return Err(self.wrong("an unknown kind of node")),
        };
        make(py, class, arguments, logical, parameter)
    }

    /// Returns the first `items` items of a buffer, and a NumPy array of them.
    fn array(
        &mut self,
        key: &str,
        part: &str,
        dtype: DType,
        items: u64,
    ) -> PyResult<(Column, Bound<'py, PyAny>)> {
        let column = self.column(key, part, dtype, items)?;
        let array = self.classes.array.bind(self.py).call1((Buffer::new(column.clone()),))?;
        Ok((column, array))
    }

    /// Returns the first `items` items of a buffer.
    fn column(&mut self, key: &str, part: &str, dtype: DType, items: u64) -> PyResult<Column> {
        let Some(columns) = &self.columns else {
            let zeros = Column::from_slice(&[0_u64]).to_bytes();
            return Ok(Column::from_bytes(dtype, zeros).slice(0..bounded(items)));
        };
        self.name.clear();
        self.name.extend([key, "-", part]);
        let Some(column) = columns.get(self.name.as_str()).copied() else {
            return Err(self.wrong(&format!("there is no buffer {}", self.name)));
        };
        if column.dtype() != dtype {
            return Err(self.wrong(&format!("buffer {} holds {}, not {dtype}", self.name, column.dtype())));
        }
        let found = column.len();
        let Some(items) = usize::try_from(items).ok().filter(|items| *items <= found) else {
            return Err(self.wrong(&format!("buffer {} holds {found} items of {items}", self.name)));
        };
        Ok(if items == found { column.clone() } else { column.slice(0..items) })
    }

    /// Returns the offsets of `length` lists, and the end of the last list.
    fn offsets(&mut self, key: &str, length: u64) -> PyResult<(Bound<'py, PyAny>, u64)> {
        let count = length.checked_add(1).ok_or_else(|| self.wrong("more lists than there can be"))?;
        let (column, offsets) = self.array(key, "offsets", DType::Int64, count)?;
        let last = column.item::<i64>(bounded(length)).and_then(|last| u64::try_from(last).ok());
        let last = last.ok_or_else(|| self.wrong("offsets that are negative"))?;
        Ok((self.classes.index64.bind(self.py).call1((offsets,))?, last))
    }

    #[cold]
    fn wrong(&self, what: &str) -> PyErr {
        errors::exception(self.py, &Error::fault(what))
    }
}

/// Returns key, type and NumPy's type string of numbers that have a logical type of NumPy.
fn times(meaning: LogicalType, content: &Form) -> Option<(&str, DType, &'static str)> {
    match content {
        Form::Numpy { key, dtype, shape } if shape.is_empty() => {
            meaning.typestr(*dtype).map(|typestr| (&**key, *dtype, typestr))
        }
        _ => None,
    }
}

/// Creates an instance of a class, with up to two parameters: `parameter`, and `logical`.
fn make<'py>(
    py: Python<'py>,
    class: &Py<PyAny>,
    arguments: Bound<'py, PyTuple>,
    logical: Option<&str>,
    parameter: Option<(&str, &str)>,
) -> PyResult<Bound<'py, PyAny>> {
    let class = class.bind(py);
    if logical.is_none() && parameter.is_none() {
        return class.call1(arguments);
    }
    let parameters = PyDict::new(py);
    for (name, value) in parameter.into_iter().chain(logical.map(|logical| ("logical", logical))) {
        parameters.set_item(PyString::intern(py, name), PyString::intern(py, value))?;
    }
    let named = PyDict::new(py);
    named.set_item(intern!(py, "parameters"), parameters)?;
    class.call(arguments, Some(&named))
}

/// Returns the items of a column; none if its type differs.
fn numbers<T: Native>(column: &Column) -> impl Iterator<Item = T> {
    (0..column.len()).filter_map(|at| column.item(at))
}

/// Returns the number of rows that an index refers to. Negative items are missing.
fn rows<T: Native + Into<i64>>(index: &Column) -> u64 {
    let last = match index.items::<T>() {
        Some(index) => index.iter().fold(-1, |last, row| last.max((*row).into())),
        None => numbers::<T>(index).map(Into::into).fold(-1, i64::max),
    };
    last.saturating_add(1).unsigned_abs()
}

fn bounded(length: u64) -> usize {
    usize::try_from(length).unwrap_or(usize::MAX)
}
