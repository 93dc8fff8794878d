//! Batches of columns, as pointers to numbers and offsets or as Arrow data.

use crate::{
    pointer::{Out, free, handle},
    status::{Failure, Status, guard, guard_value},
};
use forthwith::columns::{
    self, Array, DType, Form,
    arrow::{self, FFI_ArrowArray, FFI_ArrowSchema, RecordBatch},
};
use std::{ffi::c_void, ops::Range};

/// Columns of some entries. Several threads may use it at once.
#[derive(Debug)]
pub struct BatchHandle {
    entries: Range<u64>,
    kept: Option<Vec<u64>>,
    rows: u64,
    names: Vec<String>,
    arrays: Vec<Array>,
}

/// Layout of a column.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// `size` numbers in each row.
    Numbers = 0,
    /// Row `i` has the items from `offsets[i]` to before `offsets[i + 1]`, each of `size` numbers.
    Lists = 1,
    /// Row `i` has the bytes from `offsets[i]` to before `offsets[i + 1]`, which are UTF-8.
    Text = 2,
    /// Row `i` has the bytes from `offsets[i]` to before `offsets[i + 1]`, which are arbitrary.
    Bytes = 3,
}

/// Type of the numbers of a column.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberType {
    /// A byte, 0 or 1.
    Bool = 0,
    /// `int8_t`.
    Int8 = 1,
    /// `int16_t`.
    Int16 = 2,
    /// `int32_t`.
    Int32 = 3,
    /// `int64_t`.
    Int64 = 4,
    /// `uint8_t`.
    Uint8 = 5,
    /// `uint16_t`.
    Uint16 = 6,
    /// `uint32_t`.
    Uint32 = 7,
    /// `uint64_t`.
    Uint64 = 8,
    /// `float`.
    Float32 = 9,
    /// `double`.
    Float64 = 10,
}

/// A column of a batch, in memory that belongs to the batch.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Layout of the column.
    pub kind: ColumnKind,
    /// Type of the numbers in `data`.
    pub number: NumberType,
    /// Number of rows.
    pub rows: u64,
    /// Number of numbers in each row, or in each item of a list.
    pub size: u64,
    /// `rows + 1` offsets in ascending order; null for numbers.
    pub offsets: *const i64,
    /// Numbers, aligned for their type; not null even if `count` is 0.
    pub data: *const c_void,
    /// Number of numbers in `data`.
    pub count: u64,
}

impl BatchHandle {
    pub(crate) fn new(
        entries: Range<u64>,
        kept: Option<Vec<u64>>,
        names: Vec<String>,
        mut arrays: Vec<Array>,
    ) -> Self {
        for (_, column) in arrays.iter_mut().flat_map(|array| &mut array.columns) {
            // Columns that are views of a file may be misaligned.
            if column.address() % column.dtype().size() != 0 {
                *column = column.compact();
            }
        }
        let all = kept.as_ref().map_or(entries.end - entries.start, |kept| kept.len() as u64);
        let rows = arrays.first().map_or(all, |array| array.length);
        Self { entries, kept, rows, names, arrays }
    }

    pub(crate) fn to_arrow(&self) -> Result<RecordBatch, Failure> {
        let named: Vec<_> = self.names.iter().map(String::as_str).zip(&self.arrays).collect();
        Ok(arrow::record_batch_of(self.rows, &named, &arrow::Options::default())?)
    }

    fn column(&self, index: usize) -> Result<Column, Failure> {
        let count = self.arrays.len();
        let array = self.arrays.get(index);
        let array = array.ok_or_else(|| {
            Failure::invalid(format!("column {index} of {count}: the first one is column 0"))
        })?;
        array.validate()?;
        let found = match array.form.kept() {
            Form::String { key, binary } => {
                let kind = if *binary { ColumnKind::Bytes } else { ColumnKind::Text };
                Some((kind, Some(key), key, DType::UInt8, 1))
            }
            Form::List { key, content } => {
                numbers(content).map(|(data, dtype, size)| (ColumnKind::Lists, Some(key), data, dtype, size))
            }
            form => numbers(form).map(|(data, dtype, size)| (ColumnKind::Numbers, None, data, dtype, size)),
        };
        let Some((kind, offsets, data, dtype, size)) = found else {
            let name = self.names.get(index).map_or("", String::as_str);
            return Err(Failure {
                status: Status::Unsupported,
                message: format!(
                    "column {name:?} is {}, not numbers, lists of numbers or text: take the batch as Arrow data",
                    array.form.type_string()
                ),
            });
        };
        let data = part(array, data, "data")?;
        let offsets = offsets.map(|key| part(array, key, "offsets")).transpose()?;
        Ok(Column {
            kind,
            number: number_type(dtype),
            rows: array.length,
            size,
            offsets: offsets.map_or(std::ptr::null(), |offsets| offsets.as_bytes().as_ptr().cast()),
            data: data.as_bytes().as_ptr().cast(),
            count: data.len() as u64,
        })
    }
}

/// Returns a buffer of an array, which was validated.
fn part<'a>(array: &'a Array, key: &str, part: &str) -> Result<&'a columns::Column, Failure> {
    let column = array.column(&format!("{key}-{part}"));
    column.ok_or_else(|| Failure { status: Status::Internal, message: format!("there is no {key}-{part}") })
}

/// Returns the key, the type and the number of numbers in each row of numbers with fixed dimensions; `None`
/// for other types.
fn numbers(form: &Form) -> Option<(&String, DType, u64)> {
    match form.kept() {
        Form::Numpy { key, dtype, shape } => {
            let size = shape.iter().try_fold(1_u64, |size, of| size.checked_mul(*of))?;
            Some((key, *dtype, size))
        }
        Form::Regular { size, content } => {
            let (key, dtype, inner) = numbers(content)?;
            Some((key, dtype, inner.checked_mul(*size)?))
        }
        _ => None,
    }
}

const fn number_type(dtype: DType) -> NumberType {
    match dtype {
        DType::Bool => NumberType::Bool,
        DType::Int8 => NumberType::Int8,
        DType::Int16 => NumberType::Int16,
        DType::Int32 => NumberType::Int32,
        DType::Int64 => NumberType::Int64,
        DType::UInt8 => NumberType::Uint8,
        DType::UInt16 => NumberType::Uint16,
        DType::UInt32 => NumberType::Uint32,
        DType::UInt64 => NumberType::Uint64,
        DType::Float32 => NumberType::Float32,
        DType::Float64 => NumberType::Float64,
    }
}

/// Returns the number of rows; 0 for null.
///
/// # Safety
/// `batch` is null or a batch that is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn forthwith_batch_rows(batch: *const BatchHandle) -> u64 {
    // SAFETY: the caller's promise.
    guard_value(0, || unsafe { handle(batch, "batch") }.map_or(0, |batch| batch.rows))
}

/// Writes the range of entries that were read, from `*begin` to before `*end`; in a chain, counted over all
/// files.
///
/// # Safety
/// `batch` is a batch that is not freed; `begin` and `end` may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn forthwith_batch_range(
    batch: *const BatchHandle,
    begin: *mut u64,
    end: *mut u64,
) -> Status {
    guard(|| {
        // SAFETY: the caller's promise.
        let (batch, begin, end) =
            unsafe { (handle(batch, "batch")?, Out::new(begin, "begin")?, Out::new(end, "end")?) };
        begin.write(batch.entries.start);
        end.write(batch.entries.end);
        Ok(())
    })
}

/// Returns the entry of each row, valid until the batch is freed; null if the rows are all entries of the
/// range.
///
/// # Safety
/// `batch` is null or a batch that is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn forthwith_batch_kept(batch: *const BatchHandle) -> *const u64 {
    guard_value(std::ptr::null(), || {
        // SAFETY: the caller's promise.
        let batch = unsafe { handle(batch, "batch") }.ok();
        batch.and_then(|batch| batch.kept.as_ref()).map_or(std::ptr::null(), |kept| kept.as_ptr())
    })
}

/// Describes a column, by its position in the selection, for loops without copies. Records, missing values
/// and nested lists have the status `FORTHWITH_STATUS_UNSUPPORTED`: read them with `forthwith_batch_arrow`,
/// or select simpler columns by expressions.
///
/// # Safety
/// `batch` is a batch that is not freed; `out` may be written to. Its pointers are valid until the batch is
/// freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn forthwith_batch_column(
    batch: *const BatchHandle,
    index: usize,
    out: *mut Column,
) -> Status {
    guard(|| {
        // SAFETY: the caller's promise.
        let (out, batch) = unsafe { (Out::new(out, "out")?, handle(batch, "batch")?) };
        out.write(batch.column(index)?);
        Ok(())
    })
}

/// Exports all columns as a struct array over Arrow's C data interface. Numbers, offsets and bytes are
/// shared, not copied.
///
/// # Safety
/// `batch` is a batch that is not freed; it may be freed before the data. `array` and `schema` may be written
/// to, and each is released by its `release`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn forthwith_batch_arrow(
    batch: *const BatchHandle,
    array: *mut FFI_ArrowArray,
    schema: *mut FFI_ArrowSchema,
) -> Status {
    guard(|| {
        // SAFETY: the caller's promise.
        let array = unsafe { Out::with(array, "array", FFI_ArrowArray::empty()) }?;
        // SAFETY: the caller's promise.
        let schema = unsafe { Out::with(schema, "schema", FFI_ArrowSchema::empty()) }?;
        // SAFETY: the caller's promise.
        let batch = unsafe { handle(batch, "batch") }?;
        let (made_array, made_schema) = arrow::c_batch(&batch.to_arrow()?)?;
        array.write(made_array);
        schema.write(made_schema);
        Ok(())
    })
}

/// Frees a batch and the memory of its columns; null is ignored.
///
/// # Safety
/// `batch` is null or a batch that is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn forthwith_batch_free(batch: *mut BatchHandle) {
    // SAFETY: the caller's promise.
    guard_value((), || unsafe { free(batch) });
}
