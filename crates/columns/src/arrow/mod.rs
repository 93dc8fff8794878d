//! Columns as Arrow: plain types, copied only where the layouts differ.
//!
//! Numbers, offsets and bytes are shared. Booleans are packed into bits, options are expanded to an item for
//! each row, and union offsets are narrowed. Lists become `LargeList`, text `LargeUtf8` (checked), bytes
//! `LargeBinary`, inner dimensions and regular lists `FixedSizeList`, records `Struct` (slots of tuples are
//! named `0`, `1`, …), and options validity bitmaps. Unions become dense unions or, for consumers without
//! union support, structs with one nullable field for each alternative.
//!
//! ```
//! use forthwith_columns::{Array, Column, DType, Form, arrow};
//!
//! let array = Array {
//!     form: Form::Numpy { key: "node0".into(), dtype: DType::Float32, shape: vec![] },
//!     length: 3,
//!     columns: vec![("node0-data".into(), Column::from_slice(&[1.5f32, 2.5, 3.5]))],
//! };
//! let batch = arrow::record_batch(&[("pt", &array)], &arrow::Options::default())?;
//! assert_eq!(batch.num_rows(), 3);
//! # Ok::<(), arrow::ExportError>(())
//! ```

mod data;
mod import;
mod import_stream;
mod original;
mod request;
mod schema;
mod spread;
mod text_views;

pub use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
pub use arrow_array::{ArrayRef, RecordBatch, RecordBatchReader};
pub use arrow_data::ffi::FFI_ArrowArray;
pub use arrow_schema::ffi::FFI_ArrowSchema;
pub use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
pub use import::{ImportError, import};
pub use import_stream::{Streamed, import_all, import_batches, import_stream};
pub use original::with_original;
pub use request::{StringLayout, adapted, requested};

use crate::{Array, Form, Invalid};
use arrow_array::{Array as _, RecordBatchIterator, RecordBatchOptions, StructArray};
use arrow_schema::{FieldRef, Fields};
use std::{collections::HashMap, sync::Arc};

/// Returns fields by name; of several fields with one name, the first.
fn by_name(fields: &Fields) -> HashMap<&str, &FieldRef> {
    fields.iter().rev().map(|field| (field.name().as_str(), field)).collect()
}

/// Options of the export to Arrow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// Text becomes `LargeBinary`, unchecked.
    pub binary: bool,
    /// Unions become structs with one nullable field for each alternative, named after its type.
    pub union_as_struct: bool,
    /// Lists of pairs whose first item is text become `Map`, with 32-bit offsets and fields named
    /// `key_value`, `key` and `value`.
    pub maps: bool,
    /// Text and bytes become views, except in dictionaries.
    pub views: bool,
    /// `FixedSizeList` fields of records that may be null become nullable as well.
    pub missing_lists: bool,
}

impl Options {
    /// Sets whether text is exported as `LargeBinary`, unchecked.
    #[must_use]
    pub const fn with_binary(mut self, binary: bool) -> Self {
        self.binary = binary;
        self
    }

    /// Sets whether unions are exported as structs.
    #[must_use]
    pub const fn with_union_as_struct(mut self, union_as_struct: bool) -> Self {
        self.union_as_struct = union_as_struct;
        self
    }

    /// Sets whether lists of pairs are exported as maps.
    #[must_use]
    pub const fn with_maps(mut self, maps: bool) -> Self {
        self.maps = maps;
        self
    }

    /// Sets whether text and bytes are exported as views.
    #[must_use]
    pub const fn with_views(mut self, views: bool) -> Self {
        self.views = views;
        self
    }

    /// Sets whether `FixedSizeList` fields of nullable records are nullable.
    #[must_use]
    pub const fn with_missing_lists(mut self, missing_lists: bool) -> Self {
        self.missing_lists = missing_lists;
        self
    }
}

impl Array {
    /// Exports the array with the default [`Options`] and a field named `item`.
    pub fn to_arrow(&self) -> Result<(Field, ArrayRef), ExportError> {
        export(self, "item", &Options::default())
    }
}

/// Validates and exports an array; returns its field, named `name`, and the data.
pub fn export(array: &Array, name: &str, options: &Options) -> Result<(Field, ArrayRef), ExportError> {
    array.validate()?;
    let field = schema::field(&array.form, name, options)?;
    let data = data::export(array, options)?;
    Ok((field, data))
}

/// Returns the field that [`export`] gives, without data.
pub fn field(form: &Form, name: &str, options: &Options) -> Result<Field, ExportError> {
    schema::field(form, name, options)
}

/// Returns the schema of several named columns.
pub fn schema(forms: &[(&str, &Form)], options: &Options) -> Result<SchemaRef, ExportError> {
    let fields: Result<Vec<_>, _> =
        forms.iter().map(|(name, form)| schema::field(form, name, options)).collect();
    Ok(Arc::new(Schema::new(fields?)))
}

/// Exports named arrays of equal length as a record batch.
pub fn record_batch(arrays: &[(&str, &Array)], options: &Options) -> Result<RecordBatch, ExportError> {
    record_batch_of(arrays.first().map_or(0, |(_, array)| array.length), arrays, options)
}

/// Exports named arrays of `rows` rows as a record batch, which has this number of rows even without columns.
pub fn record_batch_of(
    rows: u64,
    arrays: &[(&str, &Array)],
    options: &Options,
) -> Result<RecordBatch, ExportError> {
    if let Some((name, array)) = arrays.iter().find(|(_, array)| array.length != rows) {
        return Err(ExportError::Lengths { name: (*name).into(), found: array.length, wanted: rows });
    }
    let rows = usize::try_from(rows).map_err(|_| ExportError::Long { key: String::new() })?;
    let mut fields = Vec::with_capacity(arrays.len());
    let mut columns = Vec::with_capacity(arrays.len());
    for (name, array) in arrays {
        let (field, column) = export(array, name, options)?;
        fields.push(field);
        columns.push(column);
    }
    let known = RecordBatchOptions::new().with_row_count(Some(rows));
    Ok(RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &known)?)
}

/// Exports batches as a C stream, as `__arrow_c_stream__` returns it. Batches are pulled one by one, on the
/// consumer's thread.
pub fn stream<I>(schema: SchemaRef, batches: I) -> FFI_ArrowArrayStream
where
    I: IntoIterator<Item = Result<RecordBatch, ArrowError>>,
    I::IntoIter: Send + 'static,
{
    FFI_ArrowArrayStream::new(Box::new(RecordBatchIterator::new(batches.into_iter(), schema)))
}

/// Exports an array over the C data interface, as `__arrow_c_array__` returns it.
pub fn c_array(field: &Field, array: &ArrayRef) -> Result<(FFI_ArrowSchema, FFI_ArrowArray), ExportError> {
    Ok((FFI_ArrowSchema::try_from(field)?, FFI_ArrowArray::new(&array.to_data())))
}

/// Exports a batch over the C data interface, as a struct array and its schema.
pub fn c_batch(batch: &RecordBatch) -> Result<(FFI_ArrowArray, FFI_ArrowSchema), ExportError> {
    let array = FFI_ArrowArray::new(&StructArray::from(batch.clone()).to_data());
    Ok((array, c_schema(&batch.schema())?))
}

/// Exports a schema over the C data interface, as `__arrow_c_schema__` returns it.
pub fn c_schema(schema: &Schema) -> Result<FFI_ArrowSchema, ExportError> {
    Ok(FFI_ArrowSchema::try_from(schema)?)
}

/// Reason that columns could not be exported to Arrow.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The columns contradict their Form.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// Text that is not UTF-8.
    #[error("{key}: string {row} is not valid UTF-8; export text as binary to keep its bytes")]
    Text {
        /// Key of the node.
        key: String,
        /// Row of the string within the node.
        row: u64,
    },
    /// A decimal with more digits than its Arrow type can hold.
    #[error("{key}: row {row} has more digits than its decimal type")]
    Decimal {
        /// Key of the node.
        key: String,
        /// Row within the node.
        row: u64,
    },
    /// A length or offset exceeds Arrow's 32-bit limit.
    #[error("{key}: longer than Arrow's 32-bit offsets allow")]
    Long {
        /// Key of the node; empty for a node without a key.
        key: String,
    },
    /// Columns of one batch differ in length.
    #[error("column {name} has {found} rows where the first has {wanted}")]
    Lengths {
        /// Name of the column.
        name: String,
        /// Its number of rows.
        found: u64,
        /// Number of rows of the first column.
        wanted: u64,
    },
    /// Values that a requested layout cannot hold.
    #[error("column {column} {what}")]
    Layout {
        /// Name of the column.
        column: String,
        /// The limit that is exceeded.
        what: &'static str,
    },
    /// An error of the Arrow library.
    #[error(transparent)]
    Arrow(#[from] ArrowError),
}
