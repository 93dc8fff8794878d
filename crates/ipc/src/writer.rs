//! Writing of files, without compression.

use arrow_ipc::writer::FileWriter;
use bytes::Bytes;
use forthwith_columns::{
    Array, Form,
    arrow::{self, ArrowError, SchemaRef},
};
use forthwith_io::{Counted, Sink};
use forthwith_plan::{Error, Result, TableWriter, WriteOptions, Written, check_digits};
use std::{collections::HashMap, io};

/// Writes an Arrow IPC file, also known as Feather. Each step becomes a record batch.
pub struct IpcWriter {
    writer: FileWriter<Counted<io::BufWriter<Box<dyn Sink>>>>,
    schema: SchemaRef,
    uri: String,
    entries: u64,
}

/// Returns the options of conversion: maps become Arrow maps.
fn kinds() -> arrow::Options {
    arrow::Options::default().with_maps(true)
}

impl IpcWriter {
    /// Creates a file with columns of these names and Forms.
    ///
    /// # Errors
    /// A codec or level is requested; a type is not supported by Arrow, with the column; the sink fails.
    pub fn new(fields: &[(String, Form)], sink: Box<dyn Sink>, options: &WriteOptions) -> Result<Self> {
        let uri = sink.uri().to_owned();
        let here = |e: Error| e.in_file(&uri);
        let none = options.codec.as_deref().is_none_or(|codec| matches!(codec, "none" | "uncompressed"));
        if !none || options.level.is_some() {
            return Err(here(Error::unsupported("a codec in Arrow files")));
        }
        let fields: Vec<_> = fields.iter().map(|(name, form)| (name.as_str(), form)).collect();
        let schema = arrow::schema(&fields, &kinds());
        let schema = schema.map_err(|e| here(Error::invalid(e.to_string())))?;
        let described = described(&schema, options);
        let writer = FileWriter::try_new(Counted(io::BufWriter::new(sink), 0), &described);
        let writer = writer.map_err(|e| here(failed(e)))?;
        Ok(Self { writer, schema, uri, entries: 0 })
    }
}

/// Returns the schema with the metadata to write. Metadata of the file that are not UTF-8 are omitted, as
/// Arrow cannot represent them.
fn described(schema: &SchemaRef, options: &WriteOptions) -> arrow::Schema {
    let original = options.arrow.as_deref();
    let described = original.map(|original| arrow::with_original(schema, original, false));
    let text =
        |(name, value): &(String, Bytes)| Some((name.clone(), String::from_utf8(value.to_vec()).ok()?));
    let metadata: HashMap<String, String> = options.metadata.iter().filter_map(text).collect();
    described.unwrap_or_else(|| schema.as_ref().clone()).with_metadata(metadata)
}

fn failed(error: ArrowError) -> Error {
    match error {
        ArrowError::IoError(_, io) => Error::new(forthwith_io::Error::new(io.into(), "the output")),
        other => Error::invalid(other.to_string()),
    }
}

fn not_exported(error: &arrow::ExportError) -> Error {
    let what = error.to_string();
    match error {
        arrow::ExportError::Text { .. } => Error::not_utf8(what),
        _ => Error::invalid(what),
    }
}

impl TableWriter for IpcWriter {
    fn write(&mut self, columns: &[Array]) -> Result<()> {
        let names = self.schema.fields().iter().map(|field| field.name().as_str());
        let columns: Vec<_> = names.zip(columns).collect();
        check_digits(columns.iter().copied(), self.entries).map_err(|e| e.in_file(&self.uri))?;
        let batch = arrow::record_batch(&columns, &kinds());
        let batch = batch.map_err(|e| not_exported(&e).in_file(&self.uri))?;
        self.writer.write(&batch).map_err(|e| failed(e).in_file(&self.uri))?;
        self.entries += batch.num_rows() as u64;
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Written> {
        let Self { mut writer, uri, entries, .. } = *self;
        writer.finish().map_err(|e| failed(e).in_file(&uri))?;
        let Counted(buffered, bytes) = writer.into_inner().map_err(|e| failed(e).in_file(&uri))?;
        let sink = buffered
            .into_inner()
            .map_err(|e| Error::new(forthwith_io::Error::new(e.into_error().into(), uri.clone())))?;
        sink.finish()?;
        Ok(Written { entries, bytes })
    }
}
