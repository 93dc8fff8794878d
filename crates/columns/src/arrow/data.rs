//! Conversion of columns to Arrow arrays. The array has been validated.

use super::{
    ExportError, Options,
    request::{binary_views, string_views},
    schema,
    spread::{self, spread},
    text_views,
};
use crate::decimal::extend;
use crate::kernels::check_utf8;
use crate::lookup::Lookup;
use crate::validate::{items, offsets_end, union_lengths};
use crate::{Array, Column, DType, Form, Presence};
use arrow_array::types::{
    ArrowPrimitiveType, Decimal128Type, Decimal256Type, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    Array as _, ArrayRef, BooleanArray, DictionaryArray, FixedSizeListArray, LargeBinaryArray,
    LargeListArray, LargeStringArray, MapArray, NullArray, PrimitiveArray, StructArray, UnionArray,
    cast::AsArray as _, make_array,
};
use arrow_buffer::{BooleanBuffer, Buffer, OffsetBuffer, ScalarBuffer, i256};
use arrow_schema::{DataType, Field, FieldRef, UnionFields};
use forthwith_kernels::levels::levels_from;
use std::{borrow::Cow, sync::Arc};

pub(super) fn export(array: &Array, options: &Options) -> Result<ArrayRef, ExportError> {
    let lookup = Lookup::of(array);
    Exporter { lookup: &lookup, options }.node(&array.form, array.length, false)
}

struct Exporter<'a> {
    lookup: &'a Lookup<'a>,
    options: &'a Options,
}

impl Exporter<'_> {
    /// Exports a node. `missing` says whether an enclosing option makes its fields nullable.
    fn node(&self, form: &Form, length: u64, missing: bool) -> Result<ArrayRef, ExportError> {
        let rows = usize::try_from(length).map_err(|_| ExportError::Long { key: String::new() })?;
        match form {
            Form::Empty => Ok(Arc::new(NullArray::new(rows))),
            Form::Numpy { key, dtype, shape } => self.numbers(key, *dtype, shape, length),
            Form::String { key, binary } => self.texts(key, *binary || self.options.binary, length, None),
            Form::Categorical { key, categories } => {
                let numbers = self.lookup.column(key, "index", DType::Int32, length)?.slice(0..rows);
                let texts = self.text(key, self.options.binary, categories.len() as u64, None)?;
                let numbers = PrimitiveArray::<Int32Type>::new(scalars(&numbers), None);
                Ok(Arc::new(DictionaryArray::try_new(numbers, texts)?))
            }
            Form::List { key, content } => {
                let (offsets, end) = self.offsets(key, length)?;
                let items = self.node(content, end, false)?;
                if schema::pair(content, self.options).is_some() {
                    let DataType::Map(field, sorted) = self.data_type(form, missing)? else {
                        return Err(mismatch());
                    };
                    let DataType::Struct(fields) = field.data_type() else { return Err(mismatch()) };
                    let narrow = offsets.iter().map(|at| i32::try_from(*at)).collect::<Result<Vec<_>, _>>();
                    let narrow = narrow.map_err(|_| ExportError::Long { key: key.clone() })?;
                    let offsets = OffsetBuffer::new(narrow.into());
                    // Maps have other names for the two columns.
                    let pairs = items.as_struct().columns().to_vec();
                    let pairs = StructArray::try_new_with_length(fields.clone(), pairs, None, items.len())?;
                    return Ok(Arc::new(MapArray::try_new(field, offsets, pairs, None, sorted)?));
                }
                let field = self.field(content, "item")?;
                Ok(Arc::new(LargeListArray::try_new(field, offsets, items, None)?))
            }
            Form::Regular { size, content } => {
                let inner = self.node(content, items(length, &[*size])?, false)?;
                self.fixed(self.field(content, "item")?, *size, inner, rows)
            }
            Form::Record { contents, .. } => {
                let arrays: Result<Vec<_>, _> =
                    contents.iter().map(|content| self.node(content, length, missing)).collect();
                let DataType::Struct(fields) = self.data_type(form, missing)? else { return Err(mismatch()) };
                Ok(Arc::new(StructArray::try_new_with_length(fields, arrays?, None, rows)?))
            }
            Form::Logical { meaning, content } => match (schema::meant(*meaning, content), &**content) {
                (None, content) => self.node(content, length, missing),
                (Some(data_type), Form::String { key, .. }) => self.decimals(key, data_type, length),
                (Some(data_type @ DataType::Decimal128(..)), Form::Numpy { key, dtype, .. }) => {
                    let column = self.lookup.column(key, "data", *dtype, length)?.slice(0..rows);
                    let values: Vec<i128> = match column.dtype() {
                        DType::Int32 => scalars::<i32>(&column).iter().map(|v| i128::from(*v)).collect(),
                        _ => scalars::<i64>(&column).iter().map(|v| i128::from(*v)).collect(),
                    };
                    let array = PrimitiveArray::<Decimal128Type>::new(values.into(), None);
                    Ok(Arc::new(array.with_data_type(data_type)))
                }
                (Some(data_type), content) => {
                    // Only the data type changes.
                    let numbers = self.node(content, length, missing)?.into_data();
                    Ok(make_array(numbers.into_builder().data_type(data_type).build()?))
                }
            },
            Form::Option { key, content } => {
                if self.lookup.is_complete(key, length)? {
                    return self.node(content, length, true);
                }
                let there = self.lookup.rows_there(key, length)?;
                let known = self.lookup.presence(key, length)?;
                if known.is_none() && spread::keeps_places(content) {
                    // Imported from Arrow, whose arrays have an item for each null.
                    let index = self.lookup.integers(key, "index", length)?;
                    if let Some(nulls) = spread::nulls_in_place(&index) {
                        return spread::in_place(&self.node(content, there, true)?, nulls);
                    }
                }
                let rows = known.map(Cow::Borrowed);
                let rows = match rows {
                    Some(rows) => Some(rows),
                    None => {
                        let index = self.lookup.integers(key, "index", length)?;
                        Presence::of(&index, usize::try_from(there).unwrap_or(usize::MAX)).map(Cow::Owned)
                    }
                };
                match (rows, &**content) {
                    (Some(rows), Form::String { key, binary }) => {
                        let binary = *binary || self.options.binary;
                        self.texts(key, binary, there, Some(&rows))
                    }
                    (Some(rows), content) => spread::of_rows(&self.node(content, there, true)?, &rows),
                    (None, content) => {
                        let index = self.lookup.integers(key, "index", length)?;
                        spread(&self.node(content, there, true)?, &index)
                    }
                }
            }
            Form::Union { key, contents } => self.union(form, key, contents, length),
        }
    }

    fn numbers(&self, key: &str, dtype: DType, shape: &[u64], length: u64) -> Result<ArrayRef, ExportError> {
        let count = items(length, shape)?;
        let column = self.lookup.column(key, "data", dtype, count)?.slice(0..count as usize);
        let mut array = numbers(&column);
        // From the innermost dimension out; the rows of each are the product of the dimensions before.
        for (at, size) in shape.iter().enumerate().rev() {
            let rows = items(length, &shape[..at])?;
            let rows = usize::try_from(rows).map_err(|_| ExportError::Long { key: key.into() })?;
            let field = Field::new("item", array.data_type().clone(), false);
            array = self.fixed(Arc::new(field), *size, array, rows)?;
        }
        Ok(array)
    }

    /// Exports text or bytes in the layout that the options ask for; with `rows`, nulls are inserted for its
    /// missing rows.
    fn texts(
        &self,
        key: &str,
        binary: bool,
        length: u64,
        rows: Option<&Presence>,
    ) -> Result<ArrayRef, ExportError> {
        if !self.options.views {
            return self.text(key, binary, length, rows);
        }
        if let Some(texts) = self.lookup.texts(key, length)? {
            let refused = || match texts.first_not_text().filter(|_| !binary) {
                Some(row) => ExportError::Text { key: key.into(), row: row as u64 },
                // No buffer of views can hold a text of more than a GiB.
                None => ExportError::Long { key: key.into() },
            };
            return text_views::array(texts, binary, rows).ok_or_else(refused);
        }
        let array = self.text(key, binary, length, rows)?;
        Ok(if binary { binary_views(array.as_binary()) } else { string_views(array.as_string()) })
    }

    /// Exports text or bytes with 64-bit offsets, and checks that text is valid UTF-8.
    fn text(
        &self,
        key: &str,
        binary: bool,
        length: u64,
        rows: Option<&Presence>,
    ) -> Result<ArrayRef, ExportError> {
        let (offsets, end) = self.offsets(key, length)?;
        let nulls = rows.map(spread::nulls);
        let offsets = rows.map_or(offsets.clone(), |rows| spread::offsets(&offsets, rows));
        let column = self.lookup.column(key, "data", DType::UInt8, end)?.slice(0..end as usize);
        let bytes = Buffer::from(column.to_bytes());
        if binary {
            return Ok(Arc::new(LargeBinaryArray::try_new(offsets, bytes, nulls)?));
        }
        if bytes.is_ascii() && nulls.as_ref().is_none_or(|nulls| nulls.len() + 1 == offsets.len()) {
            // SAFETY: the last offset is the number of bytes (`end`), the nulls have one item less than the
            // offsets, and ASCII bytes are valid UTF-8.
            return Ok(Arc::new(unsafe { LargeStringArray::new_unchecked(offsets, bytes, nulls) }));
        }
        match LargeStringArray::try_new(offsets, bytes, nulls) {
            Ok(array) => Ok(Arc::new(array)),
            Err(error) => {
                let offsets = self.lookup.column(key, "offsets", DType::Int64, length + 1)?.compact();
                Err(match check_utf8(&offsets.slice(0..length as usize + 1), &column) {
                    Err(bad) => ExportError::Text { key: key.into(), row: bad.row },
                    Ok(()) => error.into(),
                })
            }
        }
    }

    /// Exports decimals that are stored as big-endian byte strings in two's complement.
    fn decimals(&self, key: &str, data_type: DataType, length: u64) -> Result<ArrayRef, ExportError> {
        let end = offsets_end(self.lookup, key, length)?;
        let offsets = self.lookup.integers(key, "offsets", length + 1)?;
        let data = self.lookup.column(key, "data", DType::UInt8, end)?.as_bytes();
        // Offsets are within the column, as `offsets_end` has checked them.
        let item = |row: usize| &data[offsets[row] as usize..offsets[row + 1] as usize];
        let beyond = |row: usize| ExportError::Decimal { key: key.into(), row: row as u64 };
        let rows = 0..offsets.len().saturating_sub(1);
        if let DataType::Decimal256(..) = data_type {
            let number = |row| extend::<32>(item(row)).map(i256::from_be_bytes).ok_or_else(|| beyond(row));
            let values = rows.map(number).collect::<Result<Vec<_>, _>>()?;
            let array = PrimitiveArray::<Decimal256Type>::new(values.into(), None);
            return Ok(Arc::new(array.with_data_type(data_type)));
        }
        let number = |row| extend::<16>(item(row)).map(i128::from_be_bytes).ok_or_else(|| beyond(row));
        let values = rows.map(number).collect::<Result<Vec<_>, _>>()?;
        Ok(Arc::new(PrimitiveArray::<Decimal128Type>::new(values.into(), None).with_data_type(data_type)))
    }

    fn union(&self, form: &Form, key: &str, contents: &[Form], length: u64) -> Result<ArrayRef, ExportError> {
        let lengths = union_lengths(self.lookup, key, contents.len(), length)?;
        let tags = self.lookup.tags(key, length)?;
        let index = self.lookup.integers(key, "index", length)?;
        let children = contents.iter().zip(lengths).map(|(content, rows)| self.node(content, rows, true));
        let mut children = children.collect::<Result<Vec<_>, _>>()?;
        match self.data_type(form, false)? {
            DataType::Union(fields, _) => {
                let mut index = index.to_vec();
                for (tag, child) in (0i8..).zip(&mut children) {
                    in_order(tag, tags, &mut index, child)?;
                }
                dense(key, fields, tags, &index, children)
            }
            DataType::Struct(fields) => {
                let spread_out = children.iter().enumerate().map(|(tag, child)| {
                    let rows = tags.iter().zip(index.iter());
                    let mine: Vec<_> =
                        rows.map(|(t, at)| if usize::try_from(*t) == Ok(tag) { *at } else { -1 }).collect();
                    spread(child, &mine)
                });
                let arrays = spread_out.collect::<Result<Vec<_>, _>>()?;
                Ok(Arc::new(StructArray::try_new_with_length(fields, arrays, None, tags.len())?))
            }
            _ => Err(mismatch()),
        }
    }

    fn fixed(
        &self,
        field: FieldRef,
        size: u64,
        inner: ArrayRef,
        rows: usize,
    ) -> Result<ArrayRef, ExportError> {
        let size = i32::try_from(size).map_err(|_| ExportError::Long { key: String::new() })?;
        Ok(Arc::new(FixedSizeListArray::try_new_with_length(field, size, inner, None, rows)?))
    }

    /// Returns the offsets and the last of them. They are not validated again, which would take as long as
    /// decoding them.
    fn offsets(&self, key: &str, length: u64) -> Result<(OffsetBuffer<i64>, u64), ExportError> {
        let column = self.lookup.column(key, "offsets", DType::Int64, length + 1)?;
        let offsets = scalars(&column.slice(0..length as usize + 1));
        // SAFETY: there is at least one offset, the first is not negative and none is less than its
        // predecessor: `export` has just validated the array, walking the same Form with the same lengths. A
        // program that changes the array's memory meanwhile could change it later as well.
        let offsets = unsafe { OffsetBuffer::<i64>::new_unchecked(offsets) };
        let end = offsets.last().unsigned_abs();
        Ok((offsets, end))
    }

    fn field(&self, form: &Form, name: &str) -> Result<FieldRef, ExportError> {
        Ok(Arc::new(schema::field(form, name, self.options)?))
    }

    fn data_type(&self, form: &Form, missing: bool) -> Result<DataType, ExportError> {
        schema::data_type(form, self.options, missing)
    }
}

fn numbers(column: &Column) -> ArrayRef {
    match column.dtype() {
        DType::Bool => Arc::new(BooleanArray::new(packed(column.as_bytes()), None)),
        DType::Int8 => primitive::<Int8Type>(column),
        DType::Int16 => primitive::<Int16Type>(column),
        DType::Int32 => primitive::<Int32Type>(column),
        DType::Int64 => primitive::<Int64Type>(column),
        DType::UInt8 => primitive::<UInt8Type>(column),
        DType::UInt16 => primitive::<UInt16Type>(column),
        DType::UInt32 => primitive::<UInt32Type>(column),
        DType::UInt64 => primitive::<UInt64Type>(column),
        DType::Float32 => primitive::<Float32Type>(column),
        DType::Float64 => primitive::<Float64Type>(column),
    }
}

/// Packs bytes into bits: a bit is set where the byte is not zero.
fn packed(bytes: &[u8]) -> BooleanBuffer {
    let mut bits = vec![0; bytes.len().div_ceil(64)];
    levels_from(bytes, 1, &mut bits);
    let bits: Vec<u64> = bits.into_iter().map(u64::to_le).collect();
    BooleanBuffer::new(Buffer::from_vec(bits), 0, bytes.len())
}

fn primitive<T: ArrowPrimitiveType>(column: &Column) -> ArrayRef {
    Arc::new(PrimitiveArray::<T>::new(scalars(column), None))
}

/// Returns the items without a copy, or a copy if they are not aligned, as Arrow requires.
fn scalars<T: arrow_buffer::ArrowNativeType>(column: &Column) -> ScalarBuffer<T> {
    if column.is_empty() {
        // The address of an empty slice need not be aligned.
        return Vec::new().into();
    }
    let aligned = column.address().is_multiple_of(align_of::<T>());
    let bytes = if aligned { column.to_bytes() } else { column.compact().to_bytes() };
    ScalarBuffer::new(Buffer::from(bytes), 0, column.len())
}

/// Makes the offsets into an alternative of a dense union non-decreasing, as Arrow requires. Indexes need not
/// be, for example if all nulls refer to one row; the child of such an alternative is then expanded to one
/// row for each offset.
fn in_order(tag: i8, tags: &[i8], index: &mut [i64], child: &mut ArrayRef) -> Result<(), ExportError> {
    let mine = || tags.iter().enumerate().filter(|(_, other)| **other == tag).map(|(row, _)| row);
    if mine().map(|row| index[row]).is_sorted() {
        return Ok(());
    }
    let asked: Vec<i64> = mine().map(|row| index[row]).collect();
    *child = spread(child, &asked)?;
    for (at, row) in (0..).zip(mine()) {
        index[row] = at;
    }
    Ok(())
}

fn dense(
    key: &str,
    fields: UnionFields,
    tags: &[i8],
    index: &[i64],
    children: Vec<ArrayRef>,
) -> Result<ArrayRef, ExportError> {
    let narrow: Result<Vec<i32>, _> = index.iter().map(|at| i32::try_from(*at)).collect();
    let offsets = narrow.map_err(|_| ExportError::Long { key: key.into() })?;
    let array = UnionArray::try_new(fields, tags.to_vec().into(), Some(offsets.into()), children)?;
    Ok(Arc::new(array))
}

/// Error for an array whose type is not that of its Form, which cannot happen: both come from one table.
fn mismatch() -> ExportError {
    arrow_schema::ArrowError::SchemaError("type and data disagree".into()).into()
}
