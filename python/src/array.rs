//! Arrays and their buffers, handed over without a copy.

use crate::{arrow, errors, layout};
use forthwith::{
    columns::{self, Column, Form},
    plan::{Error, ErrorKind},
};
use pyo3::{
    prelude::*,
    types::{PyCapsule, PyDict},
};
use std::collections::HashMap;

/// Items in memory that NumPy takes over as they are.
#[pyclass(frozen, module = "forthwith._forthwith")]
pub(crate) struct Buffer {
    column: Column,
    /// NumPy's word for an item; not always the column's own, as raw blocks are bytes of something.
    typestr: &'static str,
    items: usize,
}

impl Buffer {
    pub(crate) fn new(column: Column) -> Self {
        Self { typestr: column.dtype().typestr(), items: column.len(), column }
    }

    /// The column's bytes as items of `size` bytes; what is left over at the end is left out.
    pub(crate) fn viewed(column: Column, typestr: &'static str, size: usize) -> Self {
        Self { typestr, items: column.nbytes() / size.max(1), column }
    }
}

#[pymethods]
impl Buffer {
    #[getter]
    fn typestr(&self) -> &'static str {
        self.typestr
    }

    #[getter]
    fn nbytes(&self) -> usize {
        self.column.nbytes()
    }

    #[getter]
    fn writable(&self) -> bool {
        self.column.writable()
    }

    fn __len__(&self) -> usize {
        self.items
    }

    /// A holder of the address keeps this object, and so the memory.
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
    /// Numbers for which NumPy has a type, such as times, are handed over under that type.
    typed: bool,
}

impl Array {
    /// Takes an array over, with options and unions where Awkward Array wants them.
    pub(crate) fn new(py: Python<'_>, array: &columns::Array) -> PyResult<Self> {
        let flat = array.for_awkward();
        let flat = flat.map_err(|error| damaged(py, error.to_string()))?;
        Ok(Self { array: flat, typed: false })
    }
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
        // More rows than addresses cannot be in memory; entries without data can be that many.
        usize::try_from(self.array.length).unwrap_or(usize::MAX)
    }

    fn buffers(&self) -> Vec<(String, Buffer)> {
        let mut types = HashMap::new();
        if self.typed {
            typestrs(&self.array.form, &mut types);
        }
        let buffer = |(key, column): &(String, Column)| {
            let buffer = match key.strip_suffix("-data").and_then(|key| types.get(key)) {
                Some(typestr) => Buffer::viewed(column.clone(), typestr, column.dtype().size()),
                None => Buffer::new(column.clone()),
            };
            (key.clone(), buffer)
        };
        self.array.columns.iter().map(buffer).collect()
    }

    fn layout<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        layout::layout(py, &self.array, self.typed)
    }

    /// Dates and times under NumPy's types for them, decimals of up to 18 digits as whole numbers.
    fn logical(&self, py: Python<'_>) -> PyResult<Self> {
        let array = py.detach(|| self.array.logical()).map_err(|error| damaged(py, error.to_string()))?;
        Ok(Self { array, typed: true })
    }

    #[pyo3(signature = (*, maps=false, union_as_struct=false))]
    fn arrow<'py>(
        &self,
        py: Python<'py>,
        maps: bool,
        union_as_struct: bool,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        arrow::array(py, &self.array, &arrow::options(maps, union_as_struct))
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        // The protocol lets a producer that cannot convert ignore the wish.
        drop(requested_schema);
        arrow::array(py, &self.array, &arrow::options(false, false))
    }

    fn __repr__(&self) -> String {
        format!("<Array {} * {}>", self.array.length, self.array.form.type_string())
    }
}

/// The types of NumPy for the numbers of nodes, by their keys.
fn typestrs<'f>(form: &'f Form, found: &mut HashMap<&'f str, &'static str>) {
    match form {
        Form::Meant { meaning, content } => match &**content {
            Form::Numpy { key, dtype, .. } => {
                found.extend(meaning.typestr(*dtype).map(|typestr| (&**key, typestr)))
            }
            content => typestrs(content, found),
        },
        Form::List { content, .. } | Form::Option { content, .. } | Form::Regular { content, .. } => {
            typestrs(content, found);
        }
        Form::Record { contents, .. } | Form::Union { contents, .. } => {
            contents.iter().for_each(|content| typestrs(content, found));
        }
        _ => {}
    }
}

/// An array that contradicts itself: a defect, or data that lie.
pub(crate) fn export_error(py: Python<'_>, error: &columns::arrow::ExportError) -> PyErr {
    damaged(py, error.to_string())
}

pub(crate) fn damaged(py: Python<'_>, what: String) -> PyErr {
    errors::exception(py, &Error::new(ErrorKind::Fault { what }))
}
