//! Avro: writing of files, encoding and decoding of datums and messages, and report of skipped blocks.

use super::avro_rows::Rows;
use crate::{
    array::Array,
    errors,
    files::Store,
    given::Given,
    held::Held,
    table::Table,
    write::{Destination, Written, keep_words, other_fields},
};
use forthwith::{
    Engine, Options, avro,
    columns::{Form, TextPolicy},
    io,
    plan::{Error, Place, Result, TableWriter, WriteOptions},
};
use pyo3::{prelude::*, sync::PyOnceLock, types::PyBytes};
use std::{path::PathBuf, sync::Arc};

/// A container file that is being written. It begins with the first array, which determines its columns, or
/// with the first rows.
#[pyclass(frozen, module = "forthwith._forthwith")]
pub(super) struct AvroWriter {
    held: Held<State>,
    schema: Option<String>,
    /// Whether rows must have all fields of the schema.
    strict: bool,
    /// Encoder of rows, created on first use.
    rows: PyOnceLock<Rows>,
}

struct State {
    to: Destination,
    options: avro::Writing,
    open: Option<Open>,
    /// Whether the file was finished or abandoned, which Python code called while a row is encoded may do.
    ended: bool,
}

struct Open {
    writer: Box<avro::AvroWriter>,
    /// Names of the columns. The inner `None` means values that are not records; the outer one, that only
    /// rows were written.
    names: Option<Option<Vec<String>>>,
}

impl State {
    fn write(&mut self, given: &Given) -> Result<()> {
        let array = &given.0;
        if self.open.is_none() {
            self.keep_words(given);
        }
        let names = match &array.form {
            Form::Record { fields: Some(names), .. } if !names.is_empty() => Some(names.clone()),
            _ => None,
        };
        if self.open.is_none() {
            let sink = self.begin()?;
            let writer = match &array.form {
                Form::Record { fields: Some(names), contents, .. } if !names.is_empty() => {
                    let columns: Vec<_> = names.iter().cloned().zip(contents.iter().cloned()).collect();
                    let mut options = self.options.clone();
                    if let (None, Form::Record { name, .. }) = (&options.options.name, &array.form) {
                        options.options.name.clone_from(name);
                    }
                    avro::AvroWriter::new(sink, &columns, &options)?
                }
                form => avro::AvroWriter::of_values(sink, form, &self.options)?,
            };
            self.open = Some(Open { writer: Box::new(writer), names: Some(names.clone()) });
        }
        let Some(open) = &mut self.open else { return Ok(()) };
        if open.names.is_none() {
            open.writer.announce(names.as_deref())?;
            open.names = Some(names.clone());
        }
        if open.names.as_ref() != Some(&names) {
            let known = open.names.iter().flatten().flatten().cloned().collect::<Vec<_>>();
            let what = other_fields(&known, names.as_deref().unwrap_or_default());
            return Err(Error::invalid(what).in_file(&self.to.uri));
        }
        match names {
            Some(_) => open.writer.write(&array.clone().into_fields()),
            None => open.writer.write(std::slice::from_ref(array)),
        }
    }

    /// Adds the metadata of an Arrow table, except that of pandas, which describes types that Avro does not
    /// preserve, and keys of Avro itself.
    fn keep_words(&mut self, given: &Given) {
        let options = &mut self.options.options;
        let own = options.metadata.len();
        keep_words(options, given);
        let mut at = 0;
        options.metadata.retain(|(name, _)| {
            at += 1;
            at <= own || (name != "pandas" && !name.starts_with("avro."))
        });
    }

    fn begin(&self) -> Result<Box<dyn io::Sink>> {
        forthwith::check_ending("Avro", &self.to.uri)?;
        if self.ended {
            return Err(Error::invalid("a file that was closed").in_file(&self.to.uri));
        }
        self.to.sink()
    }

    fn write_datums(&mut self, bytes: &[u8], ends: &[usize]) -> Result<()> {
        self.open_for_datums()?.writer.write_datums(bytes, ends)
    }

    fn open_for_datums(&mut self) -> Result<&mut Open> {
        if self.open.is_none() {
            let writer = avro::AvroWriter::of_datums(self.begin()?, &self.options)?;
            self.open = Some(Open { writer: Box::new(writer), names: None });
        }
        self.open.as_mut().ok_or_else(|| Error::invalid("a writer that was not begun"))
    }

    fn finish(&mut self) -> Result<Option<(u64, u64)>> {
        if self.options.schema.is_some() && !self.ended {
            self.open_for_datums()?;
        }
        self.ended = true;
        match self.open.take() {
            Some(open) => open.writer.finish().map(|written| Some((written.entries, written.bytes))),
            None => Ok(None),
        }
    }
}

impl Written for State {
    fn to(&self) -> &Destination {
        &self.to
    }

    fn abandon(&mut self) {
        (self.open, self.ended) = (None, true);
    }
}

#[pymethods]
impl AvroWriter {
    #[new]
    #[pyo3(signature = (path, memory, schema, codec, level, block_bytes, block_entries, name, metadata, marker, append, strict, store))]
    #[expect(clippy::too_many_arguments, reason = "keywords, given by name in Python")]
    fn new(
        path: PathBuf,
        memory: bool,
        schema: Option<String>,
        codec: Option<String>,
        level: Option<i32>,
        block_bytes: usize,
        block_entries: Option<u64>,
        name: Option<String>,
        metadata: Vec<(String, Vec<u8>)>,
        marker: Option<[u8; 16]>,
        append: bool,
        strict: bool,
        store: Store,
    ) -> Self {
        let options = avro::Writing {
            options: WriteOptions {
                codec,
                level,
                block_entries,
                name,
                metadata: metadata.into_iter().map(|(name, value)| (name, value.into())).collect(),
                ..WriteOptions::default()
            },
            schema: schema.clone(),
            block_bytes,
            marker,
            append,
        };
        let state = State { to: Destination::new(path, memory, store), options, open: None, ended: false };
        Self { held: Held::new(state), schema, strict, rows: PyOnceLock::new() }
    }

    fn write(&self, py: Python<'_>, array: &Given) -> PyResult<()> {
        State::with(py, &self.held, |state| state.write(array))
    }

    /// Appends rows of Python values, a list or tuple, encoded with the schema of the file.
    fn write_rows(&self, py: Python<'_>, rows: &Bound<'_, PyAny>) -> PyResult<()> {
        let Some(schema) = &self.schema else { return Err(errors::request(py, "rows need a schema".into())) };
        let known = self
            .rows
            .get_or_try_init(py, || parse(py, schema).map(|schema| Rows::new(py, &schema, self.strict)))?;
        let (bytes, ends) = known.encode(rows, false)?;
        State::with(py, &self.held, |state| state.write_datums(&bytes, &ends))
    }

    /// Completes the file; returns its entries and bytes, or `None` if nothing was written.
    fn finish(&self, py: Python<'_>) -> PyResult<Option<(u64, u64)>> {
        State::with(py, &self.held, State::finish)
    }

    /// Returns the bytes of a complete file in memory; otherwise `None`.
    fn bytes<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        State::bytes(py, &self.held)
    }

    /// Discards the file.
    fn abandon(&self, py: Python<'_>) -> PyResult<()> {
        State::give_up(py, &self.held)
    }
}

fn parse(py: Python<'_>, text: &str) -> PyResult<Arc<avro::Schema>> {
    avro::Schema::parse(text).map(Arc::new).map_err(|error| errors::exception(py, &error))
}

/// Returns the default schema of an array.
#[pyfunction]
pub(super) fn avro_schema(py: Python<'_>, array: &Given, name: &str) -> PyResult<String> {
    avro::schema_of(&array.0.form, name).map_err(|error| errors::exception(py, &error))
}

/// Returns the Parsing Canonical Form of a schema, and its fingerprint.
#[pyfunction]
pub(super) fn avro_canonical(py: Python<'_>, schema: &str) -> PyResult<(String, u64)> {
    let schema = parse(py, schema)?;
    Ok((schema.canonical(), schema.fingerprint()))
}

/// Whether both schemas encode values to the same bytes with the same meaning.
#[pyfunction]
pub(super) fn avro_is_alike(py: Python<'_>, one: &str, other: &str) -> PyResult<bool> {
    Ok(parse(py, one)?.is_alike(&*parse(py, other)?))
}

/// Encodes an array; returns one datum, or message, for each entry.
#[pyfunction]
pub(super) fn avro_encode<'py>(
    py: Python<'py>,
    schema: &str,
    array: &Given,
    message: bool,
) -> PyResult<Vec<Bound<'py, PyBytes>>> {
    let schema = parse(py, schema)?;
    let encoded = py.detach(|| avro::encode_datums(&schema, &array.0, message));
    let (bytes, ends) = encoded.map_err(|error| errors::exception(py, &error))?;
    Ok(cut(py, &bytes, &ends))
}

/// Encodes rows of Python values; returns one datum, or message, for each row.
#[pyfunction]
pub(super) fn avro_encode_rows<'py>(
    py: Python<'py>,
    schema: &str,
    rows: &Bound<'_, PyAny>,
    message: bool,
    strict: bool,
) -> PyResult<Vec<Bound<'py, PyBytes>>> {
    let (bytes, ends) = Rows::new(py, &*parse(py, schema)?, strict).encode(rows, message)?;
    Ok(cut(py, &bytes, &ends))
}

fn cut<'py>(py: Python<'py>, bytes: &[u8], ends: &[usize]) -> Vec<Bound<'py, PyBytes>> {
    let starts = std::iter::once(0).chain(ends.iter().copied());
    starts.zip(ends).map(|(start, end)| PyBytes::new(py, &bytes[start..*end])).collect()
}

/// Decodes datums, with a policy for text that is not valid UTF-8.
fn read(mut plan: forthwith::plan::Plan, text: TextPolicy) -> Result<Option<forthwith::columns::Array>> {
    plan.utf8 &= text == TextPolicy::Strict;
    let engine = Engine::new(Options { threads: 1, ..Options::default() });
    let source: Arc<dyn io::Source> = Arc::new(io::Memory::new("datums", Vec::new()));
    let mut array = engine.read(&plan, &source, forthwith::format(&plan.format)?, None, None)?.pop();
    if let Some(array) = &mut array {
        text.convert(array, 1).map_err(|error| Error::fault(error.to_string()))?;
    }
    Ok(array)
}

fn policy(py: Python<'_>, name: &str) -> PyResult<TextPolicy> {
    TextPolicy::parse(name).ok_or_else(|| {
        errors::request(py, format!("text must be {}, not {name:?}", TextPolicy::NAMES.join(", ")))
    })
}

fn delivered(
    py: Python<'_>,
    read: Result<Option<forthwith::columns::Array>>,
    text: TextPolicy,
) -> PyResult<Array> {
    match read {
        Ok(Some(array)) => Array::new(py, &array, Place::default(), text),
        Ok(None) => Err(errors::request(py, "nothing was read".into())),
        Err(error) => Err(errors::exception(py, &error)),
    }
}

/// Decodes `count` concatenated datums.
#[pyfunction]
pub(super) fn avro_joined(
    py: Python<'_>,
    schema: &str,
    reader: Option<&str>,
    data: &[u8],
    count: u64,
    text: &str,
) -> PyResult<Array> {
    let (writer, reader) = (parse(py, schema)?, reader.map(|text| parse(py, text)).transpose()?);
    let (data, text) = (data.to_vec(), policy(py, text)?);
    let array = py.detach(|| {
        avro::Datums::new(&writer, reader.as_ref()).and_then(|d| read(d.joined(data, count)?, text))
    });
    delivered(py, array, text)
}

/// Decodes a list of datums.
#[pyfunction]
pub(super) fn avro_apart(
    py: Python<'_>,
    schema: &str,
    reader: Option<&str>,
    datums: Vec<Bound<'_, PyBytes>>,
    text: &str,
) -> PyResult<Array> {
    let (writer, reader) = (parse(py, schema)?, reader.map(|text| parse(py, text)).transpose()?);
    let text = policy(py, text)?;
    let held: Vec<&[u8]> = datums.iter().map(|datum| datum.as_bytes()).collect();
    let array = py.detach(|| {
        avro::Datums::new(&writer, reader.as_ref()).and_then(|d| read(d.apart(held.iter().copied())?, text))
    });
    delivered(py, array, text)
}

/// Messages of one schema, with their positions in the list of all messages.
struct Messages<'a> {
    schema: &'a Arc<avro::Schema>,
    datums: Vec<&'a [u8]>,
    numbers: Vec<usize>,
}

/// Decodes messages, grouped by schema; returns the array of each group, with the positions of its messages.
#[pyfunction]
pub(super) fn avro_messages(
    py: Python<'_>,
    schemas: Vec<String>,
    reader: Option<&str>,
    messages: Vec<Bound<'_, PyBytes>>,
) -> PyResult<Vec<(Array, Vec<usize>)>> {
    let reader = reader.map(|text| parse(py, text)).transpose()?;
    let mut store = avro::SchemaStore::new();
    for schema in &schemas {
        store.add(parse(py, schema)?);
    }
    let held: Vec<&[u8]> = messages.iter().map(|message| message.as_bytes()).collect();
    let mut groups: Vec<Messages<'_>> = Vec::new();
    for (number, message) in held.iter().enumerate() {
        let (schema, datum) = store
            .open(message)
            .map_err(|e| errors::exception(py, &e.in_block(number as u64).in_unit("message")))?;
        match groups.iter_mut().find(|group| Arc::ptr_eq(group.schema, schema)) {
            Some(group) => {
                group.datums.push(datum);
                group.numbers.push(number);
            }
            None => groups.push(Messages { schema, datums: vec![datum], numbers: vec![number] }),
        }
    }
    let decode = |group: Messages<'_>| {
        let array = py.detach(|| {
            let datums = avro::Datums::new(group.schema, reader.as_ref())?;
            read(datums.apart(group.datums.iter().copied())?, TextPolicy::default())
        });
        Ok((delivered(py, array, TextPolicy::default())?, group.numbers))
    };
    groups.into_iter().map(decode).collect()
}

/// A skipped part of a file: number of the block, first byte, byte after the last, reason.
type LeftOut = (u64, u64, u64, String);

/// Returns the skipped blocks of a table; none for formats that do not skip blocks.
#[pyfunction]
pub(super) fn avro_damage(table: &Bound<'_, Table>) -> Vec<LeftOut> {
    let damage = table.get().table.own::<avro::AvroTable>().map(avro::AvroTable::damage).unwrap_or_default();
    damage.into_iter().map(|d| (d.block, d.bytes.start, d.bytes.end, d.what)).collect()
}
