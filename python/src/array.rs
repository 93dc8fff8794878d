//! Arrays and their buffers, shared with Python without a copy.

use crate::{arrow, errors, layout, rows};
use forthwith::{
    columns::{self, Column, Form, TextPolicy, arrow::Options as ArrowOptions},
    plan::{Error, Place},
};
use pyo3::{
    prelude::*,
    types::{PyCapsule, PyDict, PyList},
};
use std::collections::HashMap;

/// A column that NumPy views through `__array_interface__`.
#[pyclass(frozen, module = "forthwith._forthwith")]
pub(crate) struct Buffer {
    column: Column,
    /// NumPy's type string of an item, which differs from the type of the column where a column of bytes
    /// holds items of another type.
    #[pyo3(get)]
    typestr: &'static str,
    items: usize,
}

impl Buffer {
    pub(crate) fn new(column: Column) -> Self {
        Self { typestr: column.dtype().typestr(), items: column.len(), column }
    }

    /// Returns the bytes of the column as items of `size` bytes. An incomplete last item is excluded.
    pub(crate) fn viewed(column: Column, typestr: &'static str, size: usize) -> Self {
        Self { typestr, items: column.nbytes() / size.max(1), column }
    }
}

#[pymethods]
impl Buffer {
    #[getter]
    fn nbytes(&self) -> usize {
        self.column.nbytes()
    }

    #[getter]
    fn writable(&self) -> bool {
        self.column.writable()
    }

    /// Whether the items are the sequence 0, 1, 2, …: an index without missing rows.
    #[getter]
    fn counts_up(&self) -> bool {
        self.column.counts_up()
    }

    fn __len__(&self) -> usize {
        self.items
    }

    /// NumPy keeps a reference to this object, and so the memory alive.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let interface = PyDict::new(py);
        interface.set_item("version", 3)?;
        interface.set_item("typestr", self.typestr)?;
        interface.set_item("shape", (self.items,))?;
        interface.set_item("data", (self.column.address(), !self.column.writable()))?;
        Ok(interface)
    }

    fn __repr__(&self) -> String {
        format!("<Buffer of {} {}>", self.items, self.typestr)
    }
}

/// A Form and its buffers.
#[pyclass(frozen, module = "forthwith._forthwith")]
pub(crate) struct Array {
    array: columns::Array,
    /// Whether numbers with a type of NumPy's own, such as timestamps, are exposed as that type.
    typed: bool,
    /// File, column and first entry of the array, for errors about its values.
    place: Place,
    /// The policy of the table for text that is not valid UTF-8.
    text: TextPolicy,
}

impl Array {
    /// Creates an array whose options and unions are nested as Awkward Array supports it.
    pub(crate) fn new(
        py: Python<'_>,
        array: &columns::Array,
        place: Place,
        text: TextPolicy,
    ) -> PyResult<Self> {
        match array.for_awkward() {
            Ok(array) => Ok(Self { array, typed: false, place, text }),
            Err(error) => Err(damaged(py, &error, array, &place)),
        }
    }

    /// Exports the array to Arrow capsules. Arrow text is UTF-8: in text with the policy
    /// [`TextPolicy::Stored`], invalid bytes become replacement characters.
    fn to_arrow<'py>(
        &self,
        py: Python<'py>,
        options: &ArrowOptions,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        if self.text != TextPolicy::Stored {
            return arrow::array(py, &self.array, &self.place, options);
        }
        let array = py.detach(|| arrow::valid_text(&self.array));
        let array = array.map_err(|error| damaged(py, &error, &self.array, &self.place))?;
        arrow::array(py, &array, &self.place, options)
    }

    /// Returns the array and the place for its errors.
    pub(crate) fn parts(&self) -> (&columns::Array, &Place) {
        (&self.array, &self.place)
    }

    /// Returns the Form of the array.
    pub(crate) fn of_form(&self) -> &Form {
        &self.array.form
    }
}

/// Returns the place for errors of a column that is read from entry `first` on.
pub(crate) fn place(uri: &str, column: String, first: u64) -> Place {
    Place { uri: Some(uri.into()), object: Some(column), entry: Some(first), ..Place::default() }
}

#[pymethods]
impl Array {
    #[getter]
    fn form(&self) -> String {
        if self.typed { self.array.form.to_logical_json() } else { self.array.form.to_awkward_json() }
    }

    #[getter]
    fn type_string(&self) -> String {
        self.array.form.type_string()
    }

    #[getter]
    fn nbytes(&self) -> usize {
        self.array.nbytes()
    }

    fn __len__(&self) -> usize {
        // In memory, there are fewer rows than addresses; an array without columns may have more.
        usize::try_from(self.array.length).unwrap_or(usize::MAX)
    }

    fn buffers(&self) -> Vec<(String, Buffer)> {
        let types = if self.typed { typestrs(&self.array.form) } else { HashMap::new() };
        let buffer = |(key, column): &(String, Column)| {
            let buffer = match key.strip_suffix("-data").and_then(|key| types.get(key)) {
                Some(typestr) => Buffer::viewed(column.clone(), typestr, column.dtype().size()),
                None => Buffer::new(column.clone()),
            };
            (key.clone(), buffer)
        };
        self.array.columns.iter().map(buffer).collect()
    }

    /// Returns the only column of an array of numbers; `None` for other types.
    fn numbers(&self) -> Option<Buffer> {
        let Form::Numpy { shape, .. } = &self.array.form else { return None };
        match &self.array.columns[..] {
            [(_, column)] if shape.is_empty() && column.len() as u64 == self.array.length => {
                Some(Buffer::new(column.clone()))
            }
            _ => None,
        }
    }

    fn layout<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        layout::layout(py, &self.array, self.typed)
    }

    /// Returns the array with dates and times under NumPy's types for them, and, with `decimals`, decimals of
    /// up to 18 digits as integers.
    #[pyo3(signature = (*, decimals=true))]
    fn logical(&self, py: Python<'_>, decimals: bool) -> PyResult<Self> {
        let array = py.detach(|| if decimals { self.array.logical() } else { self.array.logical_times() });
        let array = array.map_err(|error| damaged(py, &error, &self.array, &self.place))?;
        Ok(Self { array, typed: true, place: self.place.clone(), text: self.text })
    }

    /// Returns the values as Python objects.
    #[pyo3(signature = (*, whole_nanoseconds=false, tagged=false))]
    fn objects<'py>(
        &self,
        py: Python<'py>,
        whole_nanoseconds: bool,
        tagged: bool,
    ) -> PyResult<Bound<'py, PyList>> {
        rows::objects(py, &self.array, &self.place, whole_nanoseconds, tagged)
    }

    #[pyo3(signature = (*, maps=false, union_as_struct=false, views=false))]
    fn arrow<'py>(
        &self,
        py: Python<'py>,
        maps: bool,
        union_as_struct: bool,
        views: bool,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        self.to_arrow(py, &arrow::options(maps, union_as_struct).with_views(views))
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        // The protocol permits producers to ignore a requested schema that they cannot convert to.
        drop(requested_schema);
        self.to_arrow(py, &arrow::options(false, false))
    }

    fn __repr__(&self) -> String {
        format!("<Array {} * {}>", self.array.length, self.array.form.type_string())
    }
}

/// Returns NumPy's type strings of the logical types of a Form, by the keys of their nodes.
fn typestrs(form: &Form) -> HashMap<&str, &'static str> {
    let typestrs = form.nodes().filter_map(|node| {
        let Form::Logical { meaning, content } = node else { return None };
        let Form::Numpy { key, dtype, .. } = &**content else { return None };
        Some((key.as_str(), meaning.typestr(*dtype)?))
    });
    typestrs.collect()
}

/// Returns the exception for an array that cannot be converted, because of a defect or corrupt data. For text
/// that is not UTF-8 and for decimals with too many digits, it names the entry.
pub(crate) fn damaged(
    py: Python<'_>,
    error: &dyn std::error::Error,
    array: &columns::Array,
    place: &Place,
) -> PyErr {
    errors::exception(py, &fault(error, array, place))
}

pub(crate) fn fault(error: &dyn std::error::Error, array: &columns::Array, place: &Place) -> Error {
    let (column, first) = (place.object.as_deref().unwrap_or_default(), place.entry.unwrap_or(0));
    let error = match (array.check_digits(), array.check_text()) {
        (Err(many), _) => Error::fault(many.to_string()).in_many_digits(column, first, &many),
        (_, Err(bad)) => {
            let what = format!(
                "{bad}, which Arrow refuses: open the file with text=\"latin-1\", \"replace\" or \"bytes\""
            );
            Error::fault(what).in_row(column, first.saturating_add(bad.row), &bad.member)
        }
        _ if column.is_empty() => Error::fault(error.to_string()),
        _ => Error::fault(error.to_string()).in_object(column),
    };
    match &place.uri {
        Some(uri) => error.in_file(uri),
        None => error,
    }
}
