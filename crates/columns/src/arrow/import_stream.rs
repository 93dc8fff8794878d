//! Import of Arrow C streams, as columns or as unchanged record batches.

use super::import::{ImportError, Result, import, supported};
use crate::{Array, Form, Invalid, rows_without_bytes::RowsWithoutBytes};
use arrow_array::{
    Array as _, ArrayRef, RecordBatch, RecordBatchReader as _, StructArray,
    cast::AsArray as _,
    ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader},
};
use arrow_data::ArrayData;
use arrow_schema::{DataType, Field, Fields, SchemaRef, TimeUnit as Unit};
use std::sync::Arc;

/// Reads all batches of a C stream; returns them as one array of records, and the stream's schema.
///
/// # Errors
/// Errors of the stream; an unsupported type, with its column; invalid data; a failed allocation.
pub fn import_stream(stream: FFI_ArrowArrayStream) -> Result<(Array, SchemaRef)> {
    let batches = Batches::read(stream)?;
    Ok((import(&batches.field, &batches.arrays)?, batches.schema))
}

/// Batches of a stream, for writers.
#[derive(Debug)]
pub enum Streamed {
    /// Unchanged batches, whose columns are all numbers, booleans, text, bytes, dates or timestamps.
    Batches {
        /// Form of a record with these columns.
        form: Form,
        /// The batches, at least one.
        batches: Vec<RecordBatch>,
    },
    /// All batches as one array, for columns of other types.
    Array(Array),
}

/// Reads all batches of a stream like [`import_stream`], but returns them without a copy if their [columns
/// are plain](Streamed::Batches); also returns the stream's schema.
///
/// # Errors
/// Errors of [`import_stream`].
pub fn import_batches(stream: FFI_ArrowArrayStream) -> Result<(Streamed, SchemaRef)> {
    let Batches { field, arrays, schema } = Batches::read(stream)?;
    let has_nulls = |at: usize| arrays.iter().any(|array| array.as_struct().column(at).null_count() > 0);
    let mut fields = schema.fields().iter().enumerate();
    let is_plain =
        fields.all(|(at, field)| has_one_form(field.data_type()) && (field.is_nullable() || !has_nulls(at)));
    if arrays.is_empty() || schema.fields().is_empty() || !is_plain {
        return Ok((Streamed::Array(import(&field, &arrays)?), schema));
    }
    let form = import(&field, &[arrays[0].slice(0, 0)])?.form;
    let batches = arrays.iter().map(|array| RecordBatch::from(array.as_struct())).collect();
    Ok((Streamed::Batches { form, batches }, schema))
}

/// Imports batches as one array of records.
///
/// # Errors
/// Errors of [`import`].
pub fn import_all(batches: &[RecordBatch]) -> Result<Array> {
    let fields = batches.first().map_or_else(Fields::empty, |batch| batch.schema_ref().fields().clone());
    let field = Field::new("", DataType::Struct(fields), false);
    let arrays: Vec<_> =
        batches.iter().map(|batch| Arc::new(StructArray::from(batch.clone())) as ArrayRef).collect();
    import(&field, &arrays)
}

/// Whether a type has the same Form for all values, and every value can be imported.
fn has_one_form(data_type: &DataType) -> bool {
    data_type.is_integer()
        || matches!(
            data_type,
            DataType::Boolean
                | DataType::Float32
                | DataType::Float64
                | DataType::Utf8
                | DataType::LargeUtf8
                | DataType::Utf8View
                | DataType::Binary
                | DataType::LargeBinary
                | DataType::BinaryView
                | DataType::Date32
                | DataType::Timestamp(Unit::Millisecond | Unit::Microsecond | Unit::Nanosecond, _)
        )
}

/// Validated batches of a stream.
struct Batches {
    /// Struct field with the columns of the schema.
    field: Field,
    arrays: Vec<ArrayRef>,
    schema: SchemaRef,
}

impl Batches {
    fn read(stream: FFI_ArrowArrayStream) -> Result<Self> {
        let reader = RecordBatchStreamReader::try_new(stream)?;
        let schema = reader.schema();
        let field = Field::new("", DataType::Struct(schema.fields().clone()), false);
        // An unsupported type is reported before any batch is read.
        supported(&field, &mut String::new())?;
        let (mut arrays, mut rows, mut bytes) = (Vec::new(), RowsWithoutBytes::default(), 0);
        for batch in reader {
            let batch = batch?;
            let columns = || batch.columns().iter().zip(batch.schema_ref().fields());
            bytes += batch.columns().iter().map(|column| bytes_of(&column.to_data())).sum::<u64>();
            if batch.num_columns() == 0 {
                check_rows(batch.num_rows(), "", &mut rows, bytes)?;
            }
            for (column, field) in columns() {
                check_leaves(&column.to_data(), field.name(), &mut rows, bytes)?;
            }
            for (column, field) in columns() {
                // The interface passes addresses. Only the producer guarantees that offsets, views and
                // indices stay within the buffers, and that text is UTF-8.
                column.to_data().validate_full().map_err(|error| ImportError::Value {
                    column: field.name().clone(),
                    what: error.to_string(),
                })?;
            }
            arrays.push(Arc::new(StructArray::from(batch)) as ArrayRef);
        }
        Ok(Self { field, arrays, schema })
    }
}

/// Number of bytes in the buffers of an array and its children.
fn bytes_of(data: &ArrayData) -> u64 {
    let own: u64 = data.buffers().iter().map(|buffer| buffer.len() as u64).sum();
    own + data.child_data().iter().map(bytes_of).sum::<u64>()
}

/// Limits the rows of columns that take no memory by the total `bytes` of the batches.
fn check_leaves(data: &ArrayData, column: &str, rows: &mut RowsWithoutBytes, bytes: u64) -> Result<()> {
    let is_without_bytes = match data.data_type() {
        DataType::Null => true,
        DataType::Struct(fields) => fields.is_empty(),
        DataType::FixedSizeList(_, size) | DataType::FixedSizeBinary(size) => *size <= 0,
        _ => false,
    };
    if is_without_bytes {
        check_rows(data.len(), column, rows, bytes)?;
    }
    data.child_data().iter().try_for_each(|child| check_leaves(child, column, rows, bytes))
}

fn check_rows(count: usize, column: &str, rows: &mut RowsWithoutBytes, bytes: u64) -> Result<()> {
    let wrong = |error: Invalid| ImportError::Value { column: column.to_owned(), what: error.to_string() };
    rows.add(count as u64, bytes).map_err(wrong)
}
