//! Avro: files written, datums and messages read and written, blocks that were left out.

use crate::{
    array::Array,
    errors,
    files::Store,
    give::{listening, sink_for},
    given::Given,
    held::Held,
    object::Cause,
    table::Table,
    write::{in_memory, with},
};
use forthwith::{
    Engine, Options, avro,
    columns::Form,
    io::{self, MemorySink, Sink},
    plan::{Error, ErrorKind, Place, Result, TableWriter, WriteOptions},
};
use pyo3::{prelude::*, types::PyBytes};
use std::sync::Arc;

pub(super) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<AvroWriter>()?;
    module.add_function(wrap_pyfunction!(avro_schema, module)?)?;
    module.add_function(wrap_pyfunction!(avro_canonical, module)?)?;
    module.add_function(wrap_pyfunction!(avro_encode, module)?)?;
    module.add_function(wrap_pyfunction!(avro_joined, module)?)?;
    module.add_function(wrap_pyfunction!(avro_apart, module)?)?;
    module.add_function(wrap_pyfunction!(avro_messages, module)?)?;
    module.add_function(wrap_pyfunction!(avro_damage, module)?)
}

/// A container file being written. It begins with the first array, which says what the columns are.
#[pyclass(frozen, module = "forthwith._forthwith")]
struct AvroWriter(Held<State>);

struct State {
    uri: String,
    store: Store,
    memory: Option<MemorySink>,
    options: avro::Writing,
    cause: Cause,
    open: Option<Open>,
}

struct Open {
    writer: Box<avro::AvroWriter>,
    /// The names of the columns; none where values are no records.
    names: Option<Vec<String>>,
}

impl State {
    fn sink(&self) -> Result<Box<dyn Sink>> {
        let sink: Box<dyn Sink> = match &self.memory {
            Some(memory) => Box::new(memory.clone()),
            None => sink_for(&self.uri, &self.store, &self.cause)?,
        };
        Ok(listening(sink, &self.cause))
    }

    fn write(&mut self, array: &forthwith::columns::Array) -> Result<()> {
        let names = match &array.form {
            Form::Record { fields: Some(names), .. } if !names.is_empty() => Some(names.clone()),
            _ => None,
        };
        if self.open.is_none() {
            let sink = self.sink()?;
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
            self.open = Some(Open { writer: Box::new(writer), names: names.clone() });
        }
        let Some(open) = &mut self.open else { return Ok(()) };
        if open.names != names {
            let what = "an array of other fields than the first".into();
            return Err(Error::new(ErrorKind::Invalid { what }).in_file(&self.uri));
        }
        match names {
            Some(_) => open.writer.write(&array.clone().into_fields()),
            None => open.writer.write(std::slice::from_ref(array)),
        }
    }

    fn finish(&mut self) -> Result<Option<(u64, u64)>> {
        if self.open.is_none() && self.options.schema.is_some() {
            let sink = self.sink()?;
            let writer = avro::AvroWriter::new(sink, &[], &self.options)?;
            self.open = Some(Open { writer: Box::new(writer), names: None });
        }
        match self.open.take() {
            Some(open) => open.writer.finish().map(|written| Some((written.entries, written.bytes))),
            None => Ok(None),
        }
    }
}

#[pymethods]
impl AvroWriter {
    #[new]
    #[pyo3(signature = (uri, memory, schema, codec, level, block_bytes, block_entries, name, metadata, marker, store))]
    #[expect(clippy::too_many_arguments, reason = "keywords, given by name in Python")]
    fn new(
        uri: String,
        memory: bool,
        schema: Option<String>,
        codec: Option<String>,
        level: Option<i32>,
        block_bytes: usize,
        block_entries: Option<u64>,
        name: Option<String>,
        metadata: Vec<(String, Vec<u8>)>,
        marker: Option<[u8; 16]>,
        store: Store,
    ) -> Self {
        let options = avro::Writing {
            options: WriteOptions { codec, level, block_entries, name, ..WriteOptions::default() },
            schema,
            metadata: metadata.into_iter().map(|(name, value)| (name, value.into())).collect(),
            block_bytes,
            marker,
        };
        let memory = memory.then(|| MemorySink::new(uri.clone()));
        Self(Held::new(State { uri, store, memory, options, cause: Cause::default(), open: None }))
    }

    fn write(&self, py: Python<'_>, array: &Given) -> PyResult<()> {
        with(py, &self.0, |state| (state.write(&array.0), state.cause.clone()))
    }

    /// Entries and bytes; nothing if there was nothing to write.
    fn finish(&self, py: Python<'_>) -> PyResult<Option<(u64, u64)>> {
        with(py, &self.0, |state| (state.finish(), state.cause.clone()))
    }

    /// The file, if it was written to memory and is complete.
    fn bytes<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let mut turn = self.0.take(py)?;
        Ok(in_memory(py, turn.kept().and_then(|state| state.memory.as_ref())))
    }

    /// Leaves nothing behind.
    fn abandon(&self, py: Python<'_>) -> PyResult<()> {
        if let Some(state) = self.0.take(py)?.kept() {
            state.open = None;
        }
        Ok(())
    }
}

fn parse(py: Python<'_>, text: &str) -> PyResult<Arc<avro::Schema>> {
    avro::Schema::parse(text).map(Arc::new).map_err(|error| errors::exception(py, &error))
}

/// The schema an array is written with if none is given.
#[pyfunction]
fn avro_schema(py: Python<'_>, array: &Given, name: &str) -> PyResult<String> {
    avro::schema_of(&array.0.form, name).map_err(|error| errors::exception(py, &error))
}

/// The Parsing Canonical Form of a schema, and its fingerprint.
#[pyfunction]
fn avro_canonical(py: Python<'_>, schema: &str) -> PyResult<(String, u64)> {
    let schema = parse(py, schema)?;
    Ok((schema.canonical(), schema.fingerprint()))
}

/// Datums of an array, one by one.
#[pyfunction]
fn avro_encode<'py>(
    py: Python<'py>,
    schema: &str,
    array: &Given,
    message: bool,
) -> PyResult<Vec<Bound<'py, PyBytes>>> {
    let schema = parse(py, schema)?;
    let encoded = py.detach(|| avro::encode_datums(&schema, &array.0, message));
    let (bytes, ends) = encoded.map_err(|error| errors::exception(py, &error))?;
    let starts = std::iter::once(0).chain(ends.iter().copied());
    Ok(starts.zip(&ends).map(|(start, end)| PyBytes::new(py, &bytes[start..*end])).collect())
}

fn read(plan: &forthwith::plan::Plan) -> Result<Option<forthwith::columns::Array>> {
    let engine = Engine::new(Options { threads: 1, ..Options::default() });
    let source: Arc<dyn io::Source> = Arc::new(io::Memory::new("datums", Vec::new()));
    Ok(engine.read(plan, &source, forthwith::format(&plan.format)?, None, None)?.pop())
}

fn delivered(py: Python<'_>, read: Result<Option<forthwith::columns::Array>>) -> PyResult<Array> {
    match read {
        Ok(Some(array)) => Array::new(py, &array, Place::default()),
        Ok(None) => Err(errors::request(py, "nothing was read".into())),
        Err(error) => Err(errors::exception(py, &error)),
    }
}

/// Datums that follow each other directly.
#[pyfunction]
fn avro_joined(
    py: Python<'_>,
    schema: &str,
    reader: Option<&str>,
    data: &[u8],
    count: u64,
) -> PyResult<Array> {
    let (writer, reader) = (parse(py, schema)?, reader.map(|text| parse(py, text)).transpose()?);
    let data = data.to_vec();
    let array =
        py.detach(|| avro::Datums::new(&writer, reader.as_ref()).and_then(|d| read(&d.joined(data, count)?)));
    delivered(py, array)
}

/// Datums that are given one by one.
#[pyfunction]
fn avro_apart(
    py: Python<'_>,
    schema: &str,
    reader: Option<&str>,
    datums: Vec<Bound<'_, PyBytes>>,
) -> PyResult<Array> {
    let (writer, reader) = (parse(py, schema)?, reader.map(|text| parse(py, text)).transpose()?);
    let held: Vec<&[u8]> = datums.iter().map(|datum| datum.as_bytes()).collect();
    let array = py.detach(|| {
        avro::Datums::new(&writer, reader.as_ref()).and_then(|d| read(&d.apart(held.iter().copied())?))
    });
    delivered(py, array)
}

/// Messages written with one schema, and where they stood among all.
struct Messages<'a> {
    schema: &'a Arc<avro::Schema>,
    datums: Vec<&'a [u8]>,
    numbers: Vec<usize>,
}

/// Messages, by schema: for each the arrays and which messages they are.
#[pyfunction]
fn avro_messages(
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
            read(&datums.apart(group.datums.iter().copied())?)
        });
        Ok((delivered(py, array)?, group.numbers))
    };
    groups.into_iter().map(decode).collect()
}

/// A part of a file that was left out: number of the block, first byte, byte after the last, what is wrong with them.
type LeftOut = (u64, u64, u64, String);

/// The blocks that were left out of a table; none for formats that leave out no blocks.
#[pyfunction]
fn avro_damage(table: &Bound<'_, Table>) -> Vec<LeftOut> {
    let damage = table.get().table.own::<avro::AvroTable>().map(avro::AvroTable::damage).unwrap_or_default();
    damage.into_iter().map(|d| (d.block, d.bytes.start, d.bytes.end, d.what)).collect()
}
