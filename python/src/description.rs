//! Descriptions of how fields are read.

use forthwith::{
    columns::{DType, Encoding, Form},
    plan::{self, Decoder, Kernel},
};
use pyo3::{prelude::*, types::PyString};
use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// Description of how a field is read.
#[pyclass(frozen, module = "forthwith._forthwith")]
pub(crate) struct Description {
    #[pyo3(get)]
    typename: String,
    #[pyo3(get)]
    entries: u64,
    #[pyo3(get)]
    blocks: u64,
    #[pyo3(get)]
    stored_bytes: u64,
    #[pyo3(get)]
    payload_bytes: u64,
    /// The reason if the field cannot be read.
    #[pyo3(get)]
    problem: Option<String>,
    #[pyo3(get)]
    form: Option<Py<PyString>>,
    reading: Option<plan::Reading>,
}

impl Description {
    pub(crate) fn new(py: Python<'_>, described: plan::Description, types: &ColumnTypes) -> Self {
        let plan::Description { type_name, reading, entries, blocks, stored_bytes, payload_bytes } =
            described;
        let (reading, problem) = match reading {
            Ok(reading) => (Some(reading), None),
            Err(problem) => (None, Some(problem)),
        };
        Self {
            typename: type_name,
            entries,
            blocks,
            stored_bytes,
            payload_bytes,
            problem,
            form: reading.as_ref().map(|reading| types.text(py, &reading.form)),
            reading,
        }
    }
}

#[pymethods]
impl Description {
    #[getter]
    fn type_string(&self) -> Option<String> {
        self.reading.as_ref().map(|reading| reading.form.type_string())
    }

    #[getter]
    fn decoder(&self) -> Option<&'static str> {
        self.reading.as_ref().map(|reading| reading.decoder.kind())
    }

    #[getter]
    fn layout(&self) -> Option<String> {
        self.reading.as_ref().map(|reading| layout(&reading.decoder))
    }

    #[getter]
    fn reason(&self) -> Option<&str> {
        self.reading.as_ref().map(|reading| &*reading.reason)
    }

    #[getter]
    fn forth(&self) -> Option<String> {
        match &self.reading.as_ref()?.decoder {
            Decoder::Program(program) => Some(program.source.clone()),
            other => forthwith::own_program(other),
        }
    }
}

/// The type of a column, shared by columns of the same type.
#[pyclass(frozen, get_all, module = "forthwith._forthwith")]
pub(crate) struct ColumnType {
    typename: Py<PyString>,
    form: Option<Py<PyString>>,
    /// Bytes before the values of an entry, if entries are lists of numbers.
    header: Option<u32>,
}

/// Type name, Form, and bytes before the values of an entry.
type Key = (String, Option<Form>, Option<u32>);

/// Cache of the types of a table's columns, and of the text of their Forms. Most tables have few distinct
/// types.
#[derive(Default)]
pub(crate) struct ColumnTypes {
    types: Mutex<HashMap<Key, Py<ColumnType>>>,
    forms: Mutex<HashMap<Form, Py<PyString>>>,
}

impl ColumnTypes {
    /// Maximum number of cached types. Further types are made for each column.
    const MOST: usize = 1024;

    pub(crate) fn of(&self, py: Python<'_>, described: plan::Description) -> PyResult<Py<ColumnType>> {
        let plan::Description { type_name, reading, .. } = described;
        let reading = reading.ok();
        let header = reading.as_ref().and_then(|reading| match reading.decoder {
            Decoder::Kernel(Kernel::Jagged { header, .. }) => Some(header),
            _ => None,
        });
        let key = (type_name, reading.map(|reading| reading.form), header);
        if let Some(known) = lock(&self.types).get(&key) {
            return Ok(known.clone_ref(py));
        }
        let typename = PyString::new(py, &key.0).unbind();
        let form = key.1.as_ref().map(|form| self.text(py, form));
        let made = Py::new(py, ColumnType { typename, form, header })?;
        let mut types = lock(&self.types);
        if types.len() < Self::MOST {
            types.insert(key, made.clone_ref(py));
        }
        Ok(made)
    }

    fn text(&self, py: Python<'_>, form: &Form) -> Py<PyString> {
        if let Some(text) = lock(&self.forms).get(form) {
            return text.clone_ref(py);
        }
        // A Form that Awkward Array does not support fails when it is read; its own JSON is shown here.
        let text = form
            .for_awkward()
            .map_or_else(|_| form.to_awkward_json(), |flat| flat.logical().to_logical_json());
        let text = PyString::new(py, &text).unbind();
        let mut forms = lock(&self.forms);
        if forms.len() < Self::MOST {
            forms.insert(form.clone(), text.clone_ref(py));
        }
        text
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns a phrase about the layout that a decoder reads.
fn layout(decoder: &Decoder) -> String {
    match decoder {
        Decoder::Kernel(Kernel::Flat { wire, per_entry: 1 }) => format!("one {} an entry", wire_text(*wire)),
        Decoder::Kernel(Kernel::Flat { wire, per_entry }) => {
            format!("{per_entry} {} an entry", wire_text(*wire))
        }
        Decoder::Kernel(Kernel::Slots { size, slots }) => {
            format!("{} members in {size} bytes an entry", slots.len())
        }
        Decoder::Kernel(Kernel::Jagged { header, wire, per_item }) => {
            let items = if *per_item == 1 { String::new() } else { format!("{per_item} ") };
            let header = if *header == 0 { String::new() } else { format!(" after {header} bytes") };
            format!("lists of {items}{}{header}", wire_text(*wire))
        }
        Decoder::Program(program) => format!("{} outputs", program.outputs.len()),
        other if forthwith::own_program(other).is_some() => "a registered program".into(),
        _ => String::new(),
    }
}

fn wire_text(wire: Encoding) -> String {
    match wire {
        Encoding::Big(dtype) if dtype.size() > 1 => format!("big-endian {dtype}"),
        Encoding::Little(dtype) if dtype.size() > 1 => format!("little-endian {dtype}"),
        Encoding::Big(dtype) | Encoding::Little(dtype) => dtype.to_string(),
        Encoding::Bool | Encoding::StrictBool => "bool".into(),
        Encoding::Widened => "float32 widened to float64".into(),
        Encoding::Scaled { to, .. } => format!("integer scaled to {to}"),
        Encoding::Truncated { bits, to } => format!("{to} with {bits} bits of mantissa"),
        _ => "value".into(),
    }
}

/// Returns NumPy's type string of a value as it is stored, and its size in bytes.
pub(crate) fn raw_type(wire: Encoding) -> (&'static str, usize) {
    match wire {
        Encoding::Big(dtype) if dtype != DType::Bool => (dtype.ordered_typestr(true), dtype.size()),
        Encoding::Little(dtype) if dtype != DType::Bool => (dtype.ordered_typestr(false), dtype.size()),
        Encoding::Widened => (">f4", 4),
        Encoding::Scaled { .. } => (">u4", 4),
        // NumPy has no type of three bytes, and stored booleans may have other values than 0 and 1.
        _ => ("|u1", 1),
    }
}
