//! Avro: files written, datums and messages read and written, blocks that were left out.

use crate::{
    array::Array,
    errors,
    files::Store,
    given::Given,
    table::Table,
    write::{Destination, Kind, TableWriter},
};
use forthwith::{
    Engine, Options, avro,
    columns::Form,
    io,
    plan::{self, Place, Result, WriteOptions},
};
use pyo3::{prelude::*, types::PyBytes};
use std::sync::Arc;

/// A container file to write.
#[pyfunction]
#[pyo3(signature = (uri, memory, schema, codec, level, block_bytes, block_entries, name, metadata, marker, store))]
#[expect(clippy::too_many_arguments, reason = "keywords, given by name in Python")]
pub(super) fn avro_writer(
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
) -> TableWriter {
    let options = avro::Writing {
        options: WriteOptions { codec, level, block_entries, name, ..WriteOptions::default() },
        schema,
        metadata: metadata.into_iter().map(|(name, value)| (name, value.into())).collect(),
        block_bytes,
        marker,
    };
    TableWriter::of(Destination::new(uri, memory, store), Box::new(options))
}

impl Kind for avro::Writing {
    fn has_values(&self) -> bool {
        true
    }

    fn is_known(&self) -> bool {
        self.schema.is_some()
    }

    fn begin(
        &self,
        sink: Box<dyn io::Sink>,
        columns: Option<&[(String, Form)]>,
        form: &Form,
    ) -> Result<Box<dyn plan::TableWriter>> {
        let Some(columns) = columns else {
            return Ok(Box::new(avro::AvroWriter::of_values(sink, form, self)?));
        };
        let mut options = self.clone();
        if let (None, Form::Record { name, .. }) = (&options.options.name, form) {
            options.options.name.clone_from(name);
        }
        Ok(Box::new(avro::AvroWriter::new(sink, columns, &options)?))
    }
}

fn parse(py: Python<'_>, text: &str) -> PyResult<Arc<avro::Schema>> {
    avro::Schema::parse(text).map(Arc::new).map_err(|error| errors::exception(py, &error))
}

/// The schema an array is written with if none is given.
#[pyfunction]
pub(super) fn avro_schema(py: Python<'_>, array: &Given, name: &str) -> PyResult<String> {
    avro::schema_of(&array.0.form, name).map_err(|error| errors::exception(py, &error))
}

/// The Parsing Canonical Form of a schema, and its fingerprint.
#[pyfunction]
pub(super) fn avro_canonical(py: Python<'_>, schema: &str) -> PyResult<(String, u64)> {
    let schema = parse(py, schema)?;
    Ok((schema.canonical(), schema.fingerprint()))
}

/// Datums of an array, one by one.
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
pub(super) fn avro_joined(
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
pub(super) fn avro_apart(
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
pub(super) fn avro_damage(table: &Bound<'_, Table>) -> Vec<LeftOut> {
    let damage = table.get().table.own::<avro::AvroTable>().map(avro::AvroTable::damage).unwrap_or_default();
    damage.into_iter().map(|d| (d.block, d.bytes.start, d.bytes.end, d.what)).collect()
}
