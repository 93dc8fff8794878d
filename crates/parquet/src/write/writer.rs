//! Writer of Parquet files, by way of Arrow's types.

use super::{
    encode::{EncoderOptions, PageCodec},
    group_file::GroupFile,
    library_error::failed,
    row_groups::{RowGroups, bytes_of_rows},
};
use crate::hints::ARROW_SCHEMA;
use arrow_array::{Array as _, ArrayRef};
use arrow_schema::{DataType, Field};
use bytes::Bytes;
use forthwith_columns::{
    Array, Form, LogicalType,
    arrow::{self, ExportError, RecordBatch, SchemaRef},
    repeated_name,
};
use forthwith_io::{Codec, Counted, Sink};
use forthwith_plan::{
    BlockRunner, Error, Result, TableWriter, WriteOptions, Written, check_digits, check_headroom,
};
use parquet::{
    arrow::{ArrowSchemaConverter, add_encoded_arrow_schema_to_metadata},
    basic::{BrotliLevel, Compression, GzipLevel, ZstdLevel},
    errors::ParquetError,
    file::{metadata::KeyValue, properties::WriterProperties},
};
use std::{collections::HashMap, sync::Arc};

/// Memory in bytes above which a row group is written, regardless of its number of entries.
const LARGEST_GROUP: usize = 256 << 20;
/// Default number of entries of a row group.
const ENTRIES: u64 = 1 << 20;

/// Writer of a Parquet file.
///
/// Columns get the types of their export to Arrow: lists with 64-bit offsets, text, structs, options as
/// nulls, decimals, dates and times. Arrow's schema is stored in the file, so that readers of Arrow restore
/// the exact types. Tuples become structs with fields `0`, `1`, …, and lists of pairs with text keys become
/// maps. By default, a row group has 1048576 entries, or fewer if these exceed 256 MiB of memory. The default
/// codec is `zstd`; `none`, `snappy`, `gzip`, `brotli` and `lz4` (raw blocks) are supported as well. `gzip`,
/// `brotli` and `zstd` have levels.
pub struct ParquetWriter {
    groups: RowGroups<Counted<Box<dyn Sink>>>,
    /// Whether flat columns are encoded by this crate.
    is_flat: bool,
    schema: SchemaRef,
    /// Forms of the columns, for errors.
    forms: Vec<Form>,
    uri: String,
    entries: u64,
}

impl ParquetWriter {
    /// Names of the supported codecs.
    pub const CODECS: [&'static str; 6] = ["none", "snappy", "gzip", "brotli", "lz4", "zstd"];

    /// Starts a file with columns of these names and Forms. The runner encodes columns, possibly in parallel.
    ///
    /// # Errors
    /// Returns an error for a table without columns, a repeated name, an invalid option, or a type that
    /// Parquet does not support, such as a union; the last one names the column.
    pub fn new(
        fields: &[(String, Form)],
        sink: Box<dyn Sink>,
        options: &WriteOptions,
        runner: Arc<dyn BlockRunner>,
    ) -> Result<Self> {
        let uri = sink.uri().to_owned();
        Self::begin(fields, sink, options, runner).map_err(|e| e.in_file(&uri))
    }

    fn begin(
        fields: &[(String, Form)],
        sink: Box<dyn Sink>,
        options: &WriteOptions,
        runner: Arc<dyn BlockRunner>,
    ) -> Result<Self> {
        if fields.is_empty() {
            return Err(Error::invalid("a table without columns"));
        }
        if let Some(name) = repeated_name(fields.iter().map(|(name, _)| name.as_str())) {
            return Err(Error::invalid(format!("two columns are called {name:?}")));
        }
        let mut arrow_fields = Vec::with_capacity(fields.len());
        for (name, form) in fields {
            let field = arrow::field(form, name, &kinds()).map_err(|e| export(name, &e))?;
            if let Some(what) = unsupported(field.data_type()).or_else(|| meaningless(form)) {
                let what = format!("{what} in Parquet (column {name:?}, {})", form.type_string());
                return Err(Error::unsupported(what));
            }
            arrow_fields.push(field);
        }
        let schema: SchemaRef = arrow::Schema::new(arrow_fields).into();
        let compression = compression(options.codec.as_deref().unwrap_or("zstd"), options.level)?;
        let entries = usize::try_from(options.block_entries.unwrap_or(ENTRIES)).unwrap_or(usize::MAX);
        let words = words(&options.metadata)?;
        let word = |word: &KeyValue| (word.key.clone(), word.value.clone().unwrap_or_default());
        let arrow_words: HashMap<String, String> = words.iter().map(word).collect();
        let mut properties = WriterProperties::builder()
            .set_compression(compression)
            .set_dictionary_enabled(options.dictionary.unwrap_or(true))
            .set_key_value_metadata(Some(words))
            .set_created_by(concat!("forthwith version ", env!("CARGO_PKG_VERSION")).into())
            .build();
        let uri = sink.uri().to_owned();
        let kept = options.arrow.as_deref().map(|original| arrow::with_original(&schema, original, true));
        // Some readers of Arrow look for the metadata in its schema only.
        let kept = kept.unwrap_or_else(|| schema.as_ref().clone()).with_metadata(arrow_words);
        add_encoded_arrow_schema_to_metadata(&kept, &mut properties);
        let descriptor = ArrowSchemaConverter::new().convert(&schema).map_err(|e| failed(&e))?;
        let file = GroupFile::new(Counted(sink, 0), Arc::new(descriptor), &properties)?;
        let encoders = EncoderOptions {
            properties: Arc::new(properties),
            codec: page_codec(compression, options.level),
            dictionary: options.dictionary.unwrap_or(true),
        };
        let is_flat = encoders.is_flat();
        let groups = RowGroups::new(file, Arc::clone(&schema), encoders, entries, runner);
        let forms = fields.iter().map(|(_, form)| form.clone()).collect();
        Ok(Self { groups, is_flat, schema, forms, uri, entries: 0 })
    }

    /// Appends batches, and completes the last row group if no more follow.
    fn append(&mut self, batches: &[RecordBatch], is_last: bool) -> Result<()> {
        self.groups.write(batches, is_last)?;
        if self.groups.open_bytes() > LARGEST_GROUP {
            self.groups.flush()?;
        }
        self.entries += batches.iter().map(|batch| batch.num_rows() as u64).sum::<u64>();
        Ok(())
    }

    fn step(&mut self, columns: &[Array]) -> Result<()> {
        // Memory for the Arrow arrays and for the pages.
        let bytes: usize = columns.iter().map(Array::nbytes).sum();
        check_headroom("the entries of a Parquet file", bytes.saturating_mul(2))?;
        let batch = self.batch(columns)?;
        self.append(&[batch], false)
    }

    /// Converts a step to Arrow.
    fn batch(&self, columns: &[Array]) -> Result<RecordBatch> {
        let fields = self.schema.fields();
        if columns.len() != fields.len() {
            let (expected, found) = (fields.len() as u64, columns.len() as u64);
            return Err(Error::mismatch("the number of columns of a step", expected, found));
        }
        check_digits(fields.iter().map(|field| field.name().as_str()).zip(columns), self.entries)?;
        let arrays = fields.iter().zip(columns).zip(&self.forms).map(|((field, array), form)| {
            let name = field.name();
            let (_, data) = arrow::export(array, name, &kinds()).map_err(|e| export(name, &e))?;
            if data.data_type() != field.data_type() || data.null_count() > 0 && !field.is_nullable() {
                return Err(Error::invalid(format!(
                    "column {name:?} is {} from entry {} on, and {} before",
                    array.form.type_string(),
                    self.entries,
                    form.type_string(),
                )));
            }
            Ok(data)
        });
        let arrays = arrays.collect::<Result<Vec<_>>>()?;
        RecordBatch::try_new(self.schema.clone(), arrays).map_err(|e| Error::invalid(e.to_string()))
    }
}

impl TableWriter for ParquetWriter {
    fn write(&mut self, columns: &[Array]) -> Result<()> {
        self.step(columns).map_err(|e| e.in_file(&self.uri))
    }

    fn write_batches(&mut self, batches: &[RecordBatch], is_last: bool) -> Result<bool> {
        let fields = self.schema.fields();
        let fits = |batch: &RecordBatch| {
            let columns = batch.columns().iter().zip(fields);
            batch.num_columns() == fields.len()
                && columns.into_iter().all(|(column, field)| is_alike(column, field))
        };
        if !self.is_flat || !batches.iter().all(fits) {
            return Ok(false);
        }
        let columns = batches.iter().flat_map(RecordBatch::columns);
        let bytes = columns.map(bytes_of_rows).fold(0, usize::saturating_add);
        check_headroom("the entries of a Parquet file", bytes)
            .and_then(|()| self.append(batches, is_last))
            .map_err(|e| e.in_file(&self.uri))?;
        Ok(true)
    }

    fn finish(self: Box<Self>) -> Result<Written> {
        let Self { groups, uri, entries, .. } = *self;
        let Counted(sink, bytes) = groups.into_inner().map_err(|e| e.in_file(&uri))?;
        sink.finish()?;
        Ok(Written { entries, bytes })
    }
}

/// Whether the values of an array are stored like those of a column.
fn is_alike(array: &ArrayRef, field: &Field) -> bool {
    let is_stored_alike = match (array.data_type(), field.data_type()) {
        (DataType::Utf8, DataType::LargeUtf8) | (DataType::Binary, DataType::LargeBinary) => true,
        (found, wanted) => found == wanted && !found.is_nested(),
    };
    is_stored_alike && (field.is_nullable() || array.null_count() == 0)
}

/// Converts metadata to key-value metadata of the file.
fn words(metadata: &[(String, Bytes)]) -> Result<Vec<KeyValue>> {
    let word = |(name, value): &(String, Bytes)| {
        if name == ARROW_SCHEMA {
            return Err(Error::invalid(format!(
                "metadata called {name:?}, which is the name of Arrow's own schema"
            )));
        }
        match std::str::from_utf8(value) {
            Ok(text) => Ok(KeyValue::new(name.clone(), text.to_owned())),
            Err(_) => {
                Err(Error::invalid(format!("metadata {name:?} that are not UTF-8: Parquet has text only")))
            }
        }
    };
    metadata.iter().map(word).collect()
}

/// Describes the part of a type that Parquet does not support.
fn unsupported(data_type: &DataType) -> Option<&'static str> {
    match data_type {
        DataType::Union(..) => Some("unions"),
        DataType::FixedSizeList(_, 0) => Some("lists of no items"),
        DataType::Struct(fields) if fields.is_empty() => Some("records without fields"),
        DataType::Struct(fields) => fields.iter().find_map(|field| unsupported(field.data_type())),
        DataType::LargeList(item) | DataType::FixedSizeList(item, _) | DataType::Map(item, _) => {
            unsupported(item.data_type())
        }
        _ => None,
    }
}

/// Describes the part of a Form whose logical type cannot be stored, so that its values would change their
/// meaning.
fn meaningless(form: &Form) -> Option<&'static str> {
    let is_long = |node: &Form| matches!(node, Form::Logical { meaning: LogicalType::Decimal { precision, .. }, .. } if *precision > 76);
    form.nodes().any(is_long).then_some("decimals of more than 76 digits")
}

/// Returns the options of the conversion to Arrow. Fixed-length lists in a missing record have no items,
/// which readers of Arrow refuse unless the lists may be missing themselves.
fn kinds() -> arrow::Options {
    arrow::Options::default().with_maps(true).with_missing_lists(true)
}

fn compression(name: &str, level: Option<i32>) -> Result<Compression> {
    let bad = |e: ParquetError| Error::invalid(format!("level {} of {name}: {e}", level.unwrap_or_default()));
    let positive = || u32::try_from(level.unwrap_or_default()).unwrap_or(u32::MAX);
    Ok(match (name.to_ascii_lowercase().as_str(), level) {
        ("gzip", Some(_)) => Compression::GZIP(GzipLevel::try_new(positive()).map_err(bad)?),
        ("gzip", None) => Compression::GZIP(GzipLevel::default()),
        ("brotli", Some(_)) => Compression::BROTLI(BrotliLevel::try_new(positive()).map_err(bad)?),
        ("brotli", None) => Compression::BROTLI(BrotliLevel::default()),
        ("zstd" | "zstandard", Some(level)) => Compression::ZSTD(ZstdLevel::try_new(level).map_err(bad)?),
        ("zstd" | "zstandard", None) => Compression::ZSTD(ZstdLevel::try_new(3).map_err(bad)?),
        ("none" | "uncompressed" | "null", None) => Compression::UNCOMPRESSED,
        ("snappy", None) => Compression::SNAPPY,
        ("lz4" | "lz4_raw", None) => Compression::LZ4_RAW,
        ("none" | "uncompressed" | "null" | "snappy" | "lz4" | "lz4_raw", Some(_)) => {
            return Err(Error::invalid(format!("the codec {name} has no levels")));
        }
        _ => {
            let known = ParquetWriter::CODECS.join(", ");
            return Err(Error::invalid(format!("unknown codec {name:?}: Parquet has the codecs {known}")));
        }
    })
}

/// Returns the codec of pages; `None` if only the `parquet` crate supports it.
fn page_codec(compression: Compression, level: Option<i32>) -> Option<PageCodec> {
    let codec = match compression {
        Compression::UNCOMPRESSED => None,
        Compression::SNAPPY => Some((Codec::RawSnappy, None)),
        Compression::ZSTD(_) => Some((Codec::Zstd, level)),
        Compression::LZ4_RAW => Some((Codec::Lz4, None)),
        _ => return None,
    };
    Some(PageCodec { compression, codec })
}

fn export(name: &str, error: &ExportError) -> Error {
    let what = format!("column {name:?}: {error}");
    if matches!(error, ExportError::Text { .. }) { Error::not_utf8(what) } else { Error::invalid(what) }
}

forthwith_io::impl_debug!(ParquetWriter, |it| "uri": it.uri, "entries": it.entries);
