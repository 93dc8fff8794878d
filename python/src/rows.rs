//! Conversion of arrays to Python objects, row by row.

use crate::{
    array::{Array, damaged},
    errors,
};
use forthwith::{
    columns::{self, DType, Form, Invalid, LogicalType, Lookup, MAP},
    plan::{Error, Place},
};
use moments::Moments;
use pyo3::{
    exceptions::PyMemoryError,
    prelude::*,
    types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple},
};

mod moments;

/// Values of a column, one for each row.
type Objects<'py> = Vec<Bound<'py, PyAny>>;

/// Converts an array to Python values: dicts for records and maps, lists, and objects of Python's own classes
/// for dates, times and decimals. With `whole_nanoseconds`, times in nanoseconds are integers, as those
/// classes are limited to microseconds. With `tagged`, values of unions are pairs of tag and value.
pub(crate) fn objects<'py>(
    py: Python<'py>,
    array: &columns::Array,
    place: &Place,
    whole_nanoseconds: bool,
    tagged: bool,
) -> PyResult<Bound<'py, PyList>> {
    PyList::new(py, values_of(py, array, place, whole_nanoseconds, tagged)?)
}

fn values_of<'py>(
    py: Python<'py>,
    array: &columns::Array,
    place: &Place,
    whole_nanoseconds: bool,
    tagged: bool,
) -> PyResult<Objects<'py>> {
    let invalid = |error: &Invalid| damaged(py, error, array, place);
    py.detach(|| array.validate()).map_err(|error| invalid(&error))?;
    let moments = Moments::new(py, place, whole_nanoseconds)?;
    match (Rows { py, lookup: Lookup::of(array), moments, tagged }).node(&array.form, array.length) {
        Ok(objects) => Ok(objects),
        Err(Trouble::Invalid(error)) => Err(invalid(&error)),
        Err(Trouble::Raised(error)) => Err(error),
    }
}

/// The values of one key of the rows.
#[derive(FromPyObject)]
pub(crate) enum RowValues<'py> {
    /// Objects, used unchanged.
    Objects(Bound<'py, PyList>),
    /// An array, which is converted as by [`objects`].
    Array(Bound<'py, Array>),
}

/// Converts columns to rows, one dict for each row.
#[pyfunction]
#[pyo3(signature = (labels, columns, length, *, whole_nanoseconds=false))]
pub(crate) fn rows_of<'py>(
    py: Python<'py>,
    labels: Vec<Bound<'py, PyString>>,
    columns: Vec<RowValues<'py>>,
    length: usize,
    whole_nanoseconds: bool,
) -> PyResult<Bound<'py, PyList>> {
    let mut values = Vec::with_capacity(columns.len());
    for column in columns {
        values.push(match column {
            RowValues::Objects(list) => list.iter().collect(),
            RowValues::Array(array) => {
                let (array, place) = array.get().parts();
                values_of(py, array, place, whole_nanoseconds, false)?
            }
        });
    }
    if values.iter().any(|column| column.len() != length) {
        return Err(errors::request(py, "columns of different lengths".into()));
    }
    PyList::new(py, dicts(py, &labels, values, length)?)
}

/// Returns a dict for each row, copied from a template with all keys, so that dicts do not grow key by key.
fn dicts<'py>(
    py: Python<'py>,
    keys: &[Bound<'py, PyString>],
    columns: Vec<Objects<'py>>,
    length: usize,
) -> PyResult<Objects<'py>> {
    let template = PyDict::new(py);
    for key in keys {
        template.set_item(key, py.None())?;
    }
    let mut columns: Vec<_> = keys.iter().zip(columns.into_iter().map(Vec::into_iter)).collect();
    let mut rows = reserved(length)?;
    for _ in 0..length {
        let dict = template.copy()?;
        for (key, values) in &mut columns {
            if let Some(value) = values.next() {
                dict.set_item(*key, value)?;
            }
        }
        rows.push(dict.into_any());
    }
    Ok(rows)
}

enum Trouble {
    Invalid(Invalid),
    Raised(PyErr),
}

impl From<Invalid> for Trouble {
    fn from(error: Invalid) -> Self {
        Self::Invalid(error)
    }
}

impl From<PyErr> for Trouble {
    fn from(error: PyErr) -> Self {
        Self::Raised(error)
    }
}

type Made<T> = Result<T, Trouble>;

struct Rows<'py, 'a> {
    py: Python<'py>,
    lookup: Lookup<'a>,
    moments: Moments<'py, 'a>,
    tagged: bool,
}

impl<'py> Rows<'py, '_> {
    /// Converts a node whose buffers were validated.
    fn node(&self, form: &Form, length: u64) -> Made<Objects<'py>> {
        match form {
            Form::Empty => self.nothing(length),
            Form::Numpy { shape, .. } if !shape.is_empty() => match form.fixed() {
                Some((size, content)) => self.regular(&content, size, length),
                None => self.nothing(0),
            },
            Form::Numpy { key, dtype, .. } => self.numbers(key, *dtype, length),
            Form::String { key, binary } => self.strings(key, *binary, length),
            Form::Categorical { key, categories } => self.categories(key, categories, length),
            Form::List { key, content } => self.lists(key, content, length),
            Form::Regular { size, content } => self.regular(content, *size, length),
            Form::Record { fields, contents, .. } => self.records(fields.as_deref(), contents, length),
            Form::Option { key, content } => {
                let index = self.lookup.integers(key, "index", length)?;
                let content = self.node(content, columns::rows_of(index.iter().copied()))?;
                let none = self.py.None().into_bound(self.py);
                self.each(index.iter().map(|row| {
                    let value = usize::try_from(*row).ok().and_then(|row| content.get(row));
                    Ok(value.unwrap_or(&none).clone())
                }))
            }
            Form::Union { key, contents } => self.unions(key, contents, length),
            Form::Logical { meaning, content } => self.logical(*meaning, content, length),
            other => Err(self.refused(other)),
        }
    }

    #[cold]
    fn refused(&self, form: &Form) -> Trouble {
        errors::exception(self.py, &Error::unsupported(format!("rows of {}", form.type_string()))).into()
    }

    fn each<T>(&self, values: impl ExactSizeIterator<Item = Made<T>>) -> Made<Vec<T>> {
        let mut made = reserved(values.len())?;
        for value in values {
            made.push(value?);
        }
        Ok(made)
    }

    fn nothing(&self, length: u64) -> Made<Objects<'py>> {
        let count = usize::try_from(length).unwrap_or(usize::MAX);
        let none = self.py.None().into_bound(self.py);
        self.each((0..count).map(|_| Ok(none.clone())))
    }

    fn numbers(&self, key: &str, dtype: DType, length: u64) -> Made<Objects<'py>> {
        let (py, column) = (self.py, self.lookup.column(key, "data", dtype, length)?);
        let count = length as usize; // no more than the column's length
        match dtype {
            DType::Bool => self.each(
                column
                    .as_bytes()
                    .iter()
                    .take(count)
                    .map(|byte| Ok(PyBool::new(py, *byte != 0).to_owned().into_any())),
            ),
            DType::Float32 => {
                let value = |at| f64::from(column.item::<f32>(at).unwrap_or_default());
                self.each((0..count).map(|at| Ok(PyFloat::new(py, value(at)).into_any())))
            }
            DType::Float64 => {
                let value = |at| column.item::<f64>(at).unwrap_or_default();
                self.each((0..count).map(|at| Ok(PyFloat::new(py, value(at)).into_any())))
            }
            DType::UInt64 => {
                let value = |at| column.item::<u64>(at).unwrap_or_default();
                self.each((0..count).map(|at| Ok(PyInt::new(py, value(at)).into_any())))
            }
            _ => {
                let values = self.integers(key, dtype, length)?;
                self.each(values.into_iter().map(|value| Ok(PyInt::new(py, value).into_any())))
            }
        }
    }

    /// Returns integers of at most 64 bits, signed.
    fn integers(&self, key: &str, dtype: DType, length: u64) -> Made<Vec<i64>> {
        let column = self.lookup.column(key, "data", dtype, length)?;
        let value = |at| column.integer(at).and_then(|value| i64::try_from(value).ok());
        self.each((0..length as usize).map(|at| Ok(value(at).unwrap_or_default())))
    }

    /// Returns the byte strings of a node.
    fn bytes(&self, key: &str, length: u64) -> Made<Vec<&[u8]>> {
        let offsets = self.lookup.integers(key, "offsets", length.saturating_add(1))?;
        let data = self.lookup.any(key, "data")?.as_bytes();
        self.each(offsets.windows(2).map(|ends| {
            let (start, end) = (ends[0].unsigned_abs() as usize, ends[1].unsigned_abs() as usize);
            Ok(data.get(start..end).unwrap_or_default())
        }))
    }

    fn strings(&self, key: &str, binary: bool, length: u64) -> Made<Objects<'py>> {
        let py = self.py;
        self.each(self.bytes(key, length)?.into_iter().map(|bytes| {
            if binary {
                return Ok(PyBytes::new(py, bytes).into_any());
            }
            // Invalid UTF-8 in text that was not validated becomes replacement characters.
            Ok(PyString::new(py, &String::from_utf8_lossy(bytes)).into_any())
        }))
    }

    fn categories(&self, key: &str, categories: &[String], length: u64) -> Made<Objects<'py>> {
        let texts: Vec<_> = categories.iter().map(|text| PyString::new(self.py, text).into_any()).collect();
        let index = self.lookup.column(key, "index", DType::Int32, length)?;
        let none = self.py.None().into_bound(self.py);
        self.each((0..length as usize).map(|at| {
            let number = index.item::<i32>(at).and_then(|number| usize::try_from(number).ok());
            Ok(number.and_then(|number| texts.get(number)).unwrap_or(&none).clone())
        }))
    }

    fn lists(&self, key: &str, content: &Form, length: u64) -> Made<Objects<'py>> {
        let (py, offsets) = (self.py, self.lookup.integers(key, "offsets", length.saturating_add(1))?);
        let ends =
            offsets.windows(2).map(|ends| (ends[0].unsigned_abs() as usize, ends[1].unsigned_abs() as usize));
        let last = offsets.last().map_or(0, |last| last.unsigned_abs());
        if let Form::Record { fields: None, contents, name } = content
            && let [key, value] = &contents[..]
            && (matches!(key, Form::String { binary: false, .. }) || name.as_deref() == Some(MAP))
        {
            let (keys, values) = (self.node(key, last)?, self.node(value, last)?);
            return self.each(ends.map(|(start, end)| {
                let dict = PyDict::new(py);
                for (key, value) in keys[start..end].iter().zip(&values[start..end]) {
                    dict.set_item(key, value)?;
                }
                Ok(dict.into_any())
            }));
        }
        let items = self.node(content, last)?;
        self.each(ends.map(|(start, end)| Ok(PyList::new(py, &items[start..end])?.into_any())))
    }

    fn regular(&self, content: &Form, size: u64, length: u64) -> Made<Objects<'py>> {
        let items = self.node(content, size.saturating_mul(length))?;
        let size = size as usize; // no more than there are items, or none
        self.each((0..usize::try_from(length).unwrap_or(usize::MAX)).map(|row| {
            let items = items.get(row * size..(row + 1) * size).unwrap_or_default();
            Ok(PyList::new(self.py, items)?.into_any())
        }))
    }

    fn records(&self, names: Option<&[String]>, contents: &[Form], length: u64) -> Made<Objects<'py>> {
        let (py, rows) = (self.py, usize::try_from(length).unwrap_or(usize::MAX));
        let columns = contents.iter().map(|content| self.node(content, length));
        let columns = columns.collect::<Made<Vec<_>>>()?;
        let Some(names) = names else {
            return self.each(
                (0..rows)
                    .map(|row| Ok(PyTuple::new(py, columns.iter().map(|column| &column[row]))?.into_any())),
            );
        };
        let names: Vec<_> = names.iter().map(|name| PyString::intern(py, name)).collect();
        Ok(dicts(py, &names, columns, rows)?)
    }

    fn unions(&self, key: &str, contents: &[Form], length: u64) -> Made<Objects<'py>> {
        let tags = self.lookup.column(key, "tags", DType::Int8, length)?;
        let index = self.lookup.integers(key, "index", length)?;
        let mut needed = vec![0; contents.len()];
        let tag = |row| tags.item::<i8>(row).and_then(|tag| usize::try_from(tag).ok());
        for (row, at) in index.iter().enumerate() {
            if let Some(rows) = tag(row).and_then(|tag| needed.get_mut(tag)) {
                *rows = at.saturating_add(1).max(*rows);
            }
        }
        let alternatives = contents.iter().zip(needed);
        let alternatives = alternatives.map(|(form, rows)| self.node(form, rows.unsigned_abs()));
        let alternatives = alternatives.collect::<Made<Vec<_>>>()?;
        let none = self.py.None().into_bound(self.py);
        self.each(index.iter().enumerate().map(|(row, at)| {
            let values = tag(row).and_then(|tag| alternatives.get(tag));
            let value =
                values.and_then(|values| values.get(usize::try_from(*at).ok()?)).unwrap_or(&none).clone();
            if self.tagged { Ok((tag(row), value).into_pyobject(self.py)?.into_any()) } else { Ok(value) }
        }))
    }

    fn logical(&self, meaning: LogicalType, content: &Form, length: u64) -> Made<Objects<'py>> {
        let py = self.py;
        match (meaning, content) {
            (LogicalType::Decimal { scale, .. }, Form::String { key, .. }) => {
                let bytes = self.bytes(key, length)?;
                self.each(
                    bytes
                        .into_iter()
                        .map(|bytes| Ok(self.moments.decimal_of_bytes(meaning, bytes, scale)?)),
                )
            }
            (_, Form::Numpy { key, dtype, shape }) if shape.is_empty() => {
                let values = self.integers(key, *dtype, length)?;
                self.each(values.into_iter().map(|value| match meaning {
                    LogicalType::Half => {
                        let bits = u16::try_from(value).unwrap_or_default();
                        Ok(PyFloat::new(py, f64::from(LogicalType::half(bits))).into_any())
                    }
                    _ => Ok(self.moments.object(meaning, value)?),
                }))
            }
            (_, content) => self.node(content, length),
        }
    }
}

/// Returns an empty vector with capacity for `count` values.
fn reserved<T>(count: usize) -> PyResult<Vec<T>> {
    let mut values = Vec::new();
    let enough = values.try_reserve_exact(count);
    enough.map_err(|_| PyMemoryError::new_err(format!("no memory for {count} rows")))?;
    Ok(values)
}
