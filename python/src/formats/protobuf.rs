//! ProtoBuf: messages from a list, or from a column.

use crate::{array::Array, arrow::columns_of, errors, given::Given};
use forthwith::{
    Engine, Options,
    columns::{self, Column, Form, TextPolicy},
    io,
    plan::{Error, Place, Result},
    protobuf::{Mapping, Messages, Schema, schema_of},
};
use pyo3::{prelude::*, types::PyBytes};
use std::sync::Arc;

/// Decodes a list of messages, some of which may be missing.
#[pyfunction]
pub(super) fn protobuf_messages(
    py: Python<'_>,
    schema: &str,
    message: Option<&str>,
    messages: Vec<Option<Bound<'_, PyBytes>>>,
    mapping: (bool, bool, u32),
    threads: Option<usize>,
) -> PyResult<Array> {
    let mapping = as_mapping(mapping);
    let held: Vec<Option<&[u8]>> =
        messages.iter().map(|message| message.as_ref().map(PyBytesMethods::as_bytes)).collect();
    let read = py.detach(|| {
        let missing = held.iter().any(Option::is_none);
        let index = missing.then(|| index(held.iter().map(Option::is_some)));
        read((schema, message, mapping), held.iter().copied().flatten(), index, threads)
    });
    delivered(py, read)
}

/// Decodes the messages in a column of bytes.
#[pyfunction]
pub(super) fn protobuf_column(
    py: Python<'_>,
    schema: &str,
    message: Option<&str>,
    column: &Given,
    mapping: (bool, bool, u32),
    threads: Option<usize>,
) -> PyResult<Array> {
    let mapping = as_mapping(mapping);
    let read = py.detach(|| {
        let rows = Rows::of(&column.0)?;
        let index = rows.index.as_deref().map(|rows| index(rows.iter().map(|row| *row >= 0)));
        let messages = rows.messages()?;
        read((schema, message, mapping), messages.into_iter(), index, threads)
    });
    delivered(py, read)
}

/// Returns the default schema of the columns of an array, as text.
#[pyfunction]
pub(super) fn protobuf_schema(py: Python<'_>, array: &Given, message: Option<&str>) -> PyResult<String> {
    let (names, columns) = columns_of(&array.0);
    let forms = columns.iter().map(|column| column.form.clone());
    let columns: Vec<_> = names.into_iter().zip(forms).collect();
    schema_of(&columns, message).map_err(|error| errors::exception(py, &error))
}

/// Converts the options: whether times are records, whether enums are numbers, and the depth of recursive
/// types.
const fn as_mapping((times_as_records, enum_numbers, recursion): (bool, bool, u32)) -> Mapping {
    Mapping { times: !times_as_records, enum_numbers, recursion }
}

/// Returns the index of an option: consecutive numbers for present rows, and -1 for missing ones.
fn index(present: impl Iterator<Item = bool>) -> Vec<i64> {
    let mut next = 0;
    let number = |is_present| {
        next += i64::from(is_present);
        if is_present { next - 1 } else { -1 }
    };
    present.map(number).collect()
}

/// The values of a column of bytes.
struct Rows<'a> {
    offsets: &'a [i64],
    bytes: &'a [u8],
    /// The value of each row, if some are missing; negative numbers are missing rows.
    index: Option<Vec<i64>>,
    length: usize,
}

impl<'a> Rows<'a> {
    fn of(array: &'a columns::Array) -> Result<Self> {
        let wrong = || {
            let found = array.form.type_string();
            Error::invalid(format!("messages are bytes, and this is a column of {found}"))
        };
        let length = usize::try_from(array.length).map_err(|_| wrong())?;
        let (form, index) = match array.form.kept() {
            Form::Option { key, content } => {
                let rows = array.column(&format!("{key}-index")).ok_or_else(wrong)?;
                let row = |at| rows.integer(at).and_then(|row| i64::try_from(row).ok());
                (content.kept(), Some((0..length).map(row).collect::<Option<_>>().ok_or_else(wrong)?))
            }
            form => (form, None),
        };
        let Form::String { key, .. } = form else { return Err(wrong()) };
        let part = |part: &str| array.column(&format!("{key}-{part}")).ok_or_else(wrong);
        let offsets = part("offsets")?.items().ok_or_else(wrong)?;
        Ok(Self { offsets, bytes: part("data")?.as_bytes(), index, length })
    }

    fn messages(&self) -> Result<Vec<&'a [u8]>> {
        let message = |row: usize| {
            let at = |row: usize| self.offsets.get(row).and_then(|at| usize::try_from(*at).ok());
            self.bytes.get(at(row)?..at(row.checked_add(1)?)?)
        };
        let messages = match &self.index {
            None => (0..self.length).map(message).collect(),
            Some(rows) => {
                let present = rows.iter().filter_map(|row| usize::try_from(*row).ok());
                present.map(message).collect::<Option<_>>()
            }
        };
        messages.ok_or_else(|| Error::invalid("a column whose offsets are outside of its bytes"))
    }
}

/// Decodes messages. With an index, they become the content of an option.
fn read<'m>(
    (schema, message, mapping): (&str, Option<&str>, Mapping),
    messages: impl Iterator<Item = &'m [u8]>,
    index: Option<Vec<i64>>,
    threads: Option<usize>,
) -> Result<Option<columns::Array>> {
    let plan = Messages::new(&Schema::parse(schema)?, message, mapping)?.plan(messages)?;
    let engine = Engine::new(Options::default());
    let source: Arc<dyn io::Source> = Arc::new(io::Memory::new("messages", Vec::new()));
    let read = engine.read(&plan, &source, forthwith::format(&plan.format)?, threads, None)?.pop();
    let Some(index) = index else { return Ok(read) };
    Ok(read.map(|mut array| {
        let key = "messages";
        array.length = index.len() as u64;
        array.columns.push((format!("{key}-index"), Column::from_vec(index)));
        array.form = Form::Option { key: key.into(), content: Box::new(array.form) };
        array
    }))
}

fn delivered(py: Python<'_>, read: Result<Option<columns::Array>>) -> PyResult<Array> {
    match read {
        Ok(Some(array)) => Array::new(py, &array, Place::default(), TextPolicy::default()),
        Ok(None) => Err(errors::request(py, "nothing was read".into())),
        Err(error) => Err(errors::exception(py, &error)),
    }
}
