//! Conversion of Arrow arrays to columns.

use crate::{Array, Column, DType, Form, LogicalType, MAP, Presence, TimeUnit, Zone};
use arrow_array::{
    Array as _, ArrayRef, FixedSizeListArray, MapArray, StructArray, UnionArray,
    cast::AsArray as _,
    make_array,
    types::{ByteArrayType, ByteViewType},
};
use arrow_buffer::{ArrowNativeType, Buffer, NullBuffer};
use arrow_data::{ArrayData, transform::MutableArrayData};
use arrow_schema::{ArrowError, DataType, Field, TimeUnit as Unit, UnionMode};
use bytes::Bytes;
use std::{collections::HashMap, ops::Range};

/// Reason that Arrow arrays could not be imported.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// A type that columns cannot represent.
    #[error("column {column:?}, of Arrow's type {data_type}, is not supported here")]
    Unsupported {
        /// Path of the column, fields separated by dots.
        column: String,
        /// Its Arrow type.
        data_type: String,
    },
    /// A value that its column cannot represent.
    #[error("column {column:?}: {what}")]
    Value {
        /// Path of the column, fields separated by dots.
        column: String,
        /// Description of the value.
        what: String,
    },
    /// An allocation for the rows of a column failed.
    #[error("column {column:?}: no memory for {bytes} bytes")]
    Memory {
        /// Path of the column, fields separated by dots.
        column: String,
        /// Size of the allocation, in bytes.
        bytes: u64,
    },
    /// An error of the Arrow library.
    #[error(transparent)]
    Arrow(#[from] ArrowError),
}

pub(super) type Result<T> = std::result::Result<T, ImportError>;

/// Imports the chunks of a column and concatenates them.
///
/// # Errors
/// [`ImportError::Unsupported`] for a type, [`ImportError::Value`] for a value that columns cannot represent,
/// and [`ImportError::Memory`] if an allocation fails.
pub fn import(field: &Field, chunks: &[ArrayRef]) -> Result<Array> {
    supported(field, &mut String::new())?;
    let whole = match chunks {
        [] => arrow_array::new_empty_array(field.data_type()),
        [only] => only.clone(),
        many => {
            let data: Vec<_> = many.iter().map(|chunk| chunk.to_data()).collect();
            let rows = data.iter().map(ArrayData::len).sum();
            let mut all = MutableArrayData::new(data.iter().collect(), false, rows);
            for (at, chunk) in data.iter().enumerate() {
                all.try_extend(at, 0, chunk.len())?;
            }
            make_array(all.freeze())
        }
    };
    let mut import = Import { columns: Vec::new(), nodes: 0, path: Vec::new(), around: None };
    let mut form = import.nullable(&whole, field.is_nullable())?;
    if let (Form::Record { fields, .. }, DataType::Struct(columns)) = (&mut form, field.data_type()) {
        // A table keeps its column names, even if they look like the slots of a tuple.
        *fields = Some(columns.iter().map(|column| column.name().clone()).collect());
    }
    Ok(Array { form, length: whole.len() as u64, columns: import.columns })
}

/// Checks that a type is supported, before its values are imported.
pub(super) fn supported(field: &Field, path: &mut String) -> Result<()> {
    let before = path.len();
    if !path.is_empty() && !field.name().is_empty() {
        path.push('.');
    }
    path.push_str(field.name());
    match field.data_type() {
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::FixedSizeList(item, _)
        | DataType::Map(item, _) => supported(item, path)?,
        DataType::Struct(fields) => fields.iter().try_for_each(|field| supported(field, path))?,
        DataType::Union(fields, _) => fields.iter().try_for_each(|(_, field)| supported(field, path))?,
        DataType::Dictionary(_, of) => supported(&Field::new("", (**of).clone(), true), path)?,
        DataType::Decimal32(_, scale)
        | DataType::Decimal64(_, scale)
        | DataType::Decimal128(_, scale)
        | DataType::Decimal256(_, scale)
            if *scale >= 0 => {}
        DataType::Decimal32(..)
        | DataType::Decimal64(..)
        | DataType::Decimal128(..)
        | DataType::Decimal256(..)
        | DataType::Interval(_)
        | DataType::ListView(_)
        | DataType::LargeListView(_)
        | DataType::RunEndEncoded(..) => {
            let data_type = field.data_type().to_string();
            return Err(ImportError::Unsupported { column: path.clone(), data_type });
        }
        _ => {}
    }
    path.truncate(before);
    Ok(())
}

struct Import {
    columns: Vec<(String, Column)>,
    nodes: usize,
    path: Vec<String>,
    /// Nulls of the records and lists that enclose the next array: its values at these rows are ignored.
    around: Option<NullBuffer>,
}

impl Import {
    fn key(&mut self) -> String {
        self.nodes += 1;
        format!("arrow{}", self.nodes - 1)
    }

    fn value(&self, what: impl Into<String>) -> ImportError {
        ImportError::Value { column: self.path.join("."), what: what.into() }
    }

    fn unsupported(&self, data_type: &DataType) -> ImportError {
        ImportError::Unsupported { column: self.path.join("."), data_type: data_type.to_string() }
    }

    fn field(&mut self, field: &Field, array: &ArrayRef) -> Result<Form> {
        self.path.push(field.name().clone());
        let form = self.nullable(array, field.is_nullable());
        self.path.pop();
        form
    }

    /// Imports an array as an option if its field is nullable or it has nulls that no enclosing null covers.
    fn nullable(&mut self, array: &ArrayRef, nullable: bool) -> Result<Form> {
        let nulls = array.logical_nulls();
        if matches!(array.data_type(), DataType::Union(..)) {
            self.around = None;
            return self.node(array);
        }
        let around = self.around.take();
        self.around = NullBuffer::union(nulls.as_ref(), around.as_ref());
        let is_there = |nulls: &NullBuffer| {
            nulls.null_count() == 0 || around.as_ref().is_some_and(|around| around.contains(nulls))
        };
        if !nullable && nulls.as_ref().is_none_or(is_there) {
            return self.node(array);
        }
        let key = self.key();
        let index = match nulls.filter(|nulls| nulls.null_count() > 0) {
            None => Column::of_rows(Presence::complete(array.len())),
            Some(nulls) => {
                let mut index: Vec<i64> = Vec::new();
                let bytes = array.len() as u64 * 8;
                let refused = |_| ImportError::Memory { column: self.path.join("."), bytes };
                index.try_reserve_exact(array.len()).map_err(refused)?;
                index.extend(0..array.len() as i64);
                (!nulls.inner()).set_indices().for_each(|row| index[row] = -1);
                Column::from_vec(index)
            }
        };
        self.columns.push((format!("{key}-index"), index));
        Ok(Form::Option { key, content: Box::new(self.node(array)?) })
    }

    fn node(&mut self, array: &ArrayRef) -> Result<Form> {
        let data_type = array.data_type();
        let around = self.around.take();
        Ok(match data_type {
            DataType::Null => Form::Empty,
            DataType::Boolean => {
                let bits = array.as_boolean().values();
                let bytes: Vec<u8> = bits.iter().map(u8::from).collect();
                self.numbers(DType::Bool, Column::from_bytes(DType::Bool, bytes.into()))
            }
            DataType::Int8 => self.raw::<i8>(array),
            DataType::Int16 => self.raw::<i16>(array),
            DataType::Int32 => self.raw::<i32>(array),
            DataType::Int64 => self.raw::<i64>(array),
            DataType::UInt8 => self.raw::<u8>(array),
            DataType::UInt16 => self.raw::<u16>(array),
            DataType::UInt32 => self.raw::<u32>(array),
            DataType::UInt64 => self.raw::<u64>(array),
            DataType::Float16 => meant(LogicalType::Half, self.raw::<u16>(array)),
            DataType::Float32 => self.raw::<f32>(array),
            DataType::Float64 => self.raw::<f64>(array),
            DataType::Decimal32(..) => meant(decimal(data_type), self.raw::<i32>(array)),
            DataType::Decimal64(..) => meant(decimal(data_type), self.raw::<i64>(array)),
            DataType::Decimal128(..) => {
                let bytes = values::<i128>(array).iter().flat_map(|value| value.to_be_bytes()).collect();
                meant(decimal(data_type), self.fixed(bytes, 16, array.len()))
            }
            DataType::Decimal256(..) => {
                let numbers = values::<arrow_buffer::i256>(array);
                let bytes = numbers.iter().flat_map(|value| value.to_be_bytes()).collect();
                meant(decimal(data_type), self.fixed(bytes, 32, array.len()))
            }
            DataType::Date32 => meant(LogicalType::Date, self.raw::<i32>(array)),
            DataType::Date64 => {
                let is_day = |ms: &i64| ms.rem_euclid(86_400_000) == 0;
                let days =
                    |ms: i64| Some(ms).filter(is_day).and_then(|ms| i32::try_from(ms / 86_400_000).ok());
                let wrong = "a date with a time of day, or beyond 32 bits of days";
                let days = self.each(array, values::<i64>(array), days, wrong)?;
                meant(LogicalType::Date, self.numbers(DType::Int32, Column::from_vec(days)))
            }
            DataType::Time32(Unit::Second) => {
                let seconds = values::<i32>(array);
                let millis = |s: i32| s.checked_mul(1000);
                let millis = self.each(array, seconds, millis, "a time beyond 32 bits of milliseconds")?;
                meant(
                    LogicalType::Time(TimeUnit::Milli),
                    self.numbers(DType::Int32, Column::from_vec(millis)),
                )
            }
            DataType::Time32(_) => meant(LogicalType::Time(TimeUnit::Milli), self.raw::<i32>(array)),
            DataType::Time64(of) => {
                let (unit, form) = self.timed(array, *of)?;
                meant(LogicalType::Time(unit), form)
            }
            DataType::Timestamp(of, zone) => {
                let (unit, form) = self.timed(array, *of)?;
                meant(LogicalType::Timestamp { unit, zone: zone.as_deref().map(Zone::of) }, form)
            }
            DataType::Duration(Unit::Second) => {
                meant(LogicalType::Duration(TimeUnit::Second), self.raw::<i64>(array))
            }
            DataType::Duration(of) => {
                let (unit, form) = self.timed(array, *of)?;
                meant(LogicalType::Duration(unit), form)
            }
            DataType::Utf8 => self.text(array.as_string::<i32>(), false),
            DataType::LargeUtf8 => self.text(array.as_string::<i64>(), false),
            DataType::Binary => self.text(array.as_binary::<i32>(), true),
            DataType::LargeBinary => self.text(array.as_binary::<i64>(), true),
            DataType::Utf8View => self.view(array.as_string_view(), false),
            DataType::BinaryView => self.view(array.as_binary_view(), true),
            DataType::FixedSizeBinary(size) => {
                let items = array.as_fixed_size_binary();
                let bytes = (0..items.len()).flat_map(|row| items.value(row).to_vec()).collect();
                self.fixed(bytes, usize::try_from(*size).unwrap_or(0), items.len())
            }
            DataType::List(item) => {
                let list = array.as_list::<i32>();
                let offsets = list.offsets().iter().map(|at| i64::from(*at)).collect();
                self.list(offsets, item, list.values())?
            }
            DataType::LargeList(item) => {
                let list = array.as_list::<i64>();
                self.list(list.offsets().to_vec(), item, list.values())?
            }
            DataType::FixedSizeList(item, size) => {
                let list: &FixedSizeListArray = array.as_fixed_size_list();
                self.around = around.map(|around| around.expand(usize::try_from(*size).unwrap_or(0)));
                let content = Box::new(self.field(item, list.values())?);
                Form::Regular { size: u64::try_from(*size).unwrap_or(0), content }
            }
            DataType::Map(..) => {
                let map: &MapArray = array.as_map();
                let DataType::Struct(fields) = map.entries().data_type() else {
                    return Err(self.unsupported(data_type));
                };
                let [key_field, value_field] = &fields[..] else { return Err(self.unsupported(data_type)) };
                let ends = map.offsets();
                let (from, to) = (ends.first().as_usize(), ends.last().as_usize());
                let offsets = ends.iter().map(|at| i64::from(*at) - from as i64).collect();
                let key = self.key();
                self.columns.push((format!("{key}-offsets"), Column::from_vec(offsets)));
                let keys = self.field(key_field, &map.keys().slice(from, to - from))?;
                let values = self.field(value_field, &map.values().slice(from, to - from))?;
                let text =
                    matches!(keys.kept(), Form::String { binary: false, .. } | Form::Categorical { .. });
                let name = (!text).then(|| MAP.to_owned());
                let pair = Form::Record { fields: None, contents: vec![keys, values], name };
                Form::List { key, content: Box::new(pair) }
            }
            DataType::Struct(fields) => {
                let array: &StructArray = array.as_struct();
                // Fields named `0`, `1`, … are a tuple, as the export names its slots.
                let tuple = (0..).zip(fields).all(|(at, field): (usize, _)| *field.name() == at.to_string());
                let names = fields.iter().map(|field| field.name().clone()).collect();
                let names = (!tuple || fields.is_empty()).then_some(names);
                let contents = fields.iter().zip(array.columns());
                let contents = contents.map(|(field, column)| {
                    self.around.clone_from(&around);
                    self.field(field, column)
                });
                Form::Record { fields: names, contents: contents.collect::<Result<_>>()?, name: None }
            }
            DataType::Dictionary(..) => self.dictionary(array)?,
            DataType::Union(fields, mode) => {
                let union: &UnionArray = array.as_union();
                let places: HashMap<i8, i8> = fields.iter().map(|(id, _)| id).zip(0..).collect();
                let tags: Option<Vec<i8>> =
                    union.type_ids().iter().map(|id| places.get(id).copied()).collect();
                let tags = tags.ok_or_else(|| self.value("a union's tag without an alternative"))?;
                let index: Vec<i64> = match (mode, union.offsets()) {
                    (UnionMode::Dense, Some(offsets)) => offsets.iter().map(|at| i64::from(*at)).collect(),
                    _ => (0..union.len() as i64).collect(),
                };
                let key = self.key();
                let tags = tags.into_iter().map(|tag| tag as u8).collect::<Vec<_>>();
                self.columns.push((format!("{key}-tags"), Column::from_bytes(DType::Int8, tags.into())));
                self.columns.push((format!("{key}-index"), Column::from_vec(index)));
                let contents = fields.iter().map(|(id, field)| {
                    let field = Field::new(field.name(), field.data_type().clone(), false);
                    self.field(&field, union.child(id))
                });
                Form::Union { key, contents: contents.collect::<Result<_>>()? }
            }
            other => return Err(self.unsupported(other)),
        })
    }

    fn numbers(&mut self, dtype: DType, column: Column) -> Form {
        let key = self.key();
        self.columns.push((format!("{key}-data"), column));
        Form::Numpy { key, dtype, shape: vec![] }
    }

    /// Imports numbers without a copy.
    fn raw<T: crate::Native>(&mut self, array: &ArrayRef) -> Form {
        let data = array.to_data();
        let size = size_of::<T>();
        let column = match data.buffers().first() {
            Some(buffer) => {
                shared(T::DTYPE, buffer, data.offset() * size..(data.offset() + data.len()) * size)
            }
            None => Column::from_vec(Vec::<T>::new()),
        };
        self.numbers(T::DTYPE, column)
    }

    /// Converts each number. Numbers at null rows may be anything, and become the default if they cannot be
    /// converted.
    fn each<T: Copy, U: Default>(
        &self,
        array: &ArrayRef,
        values: Vec<T>,
        change: impl Fn(T) -> Option<U>,
        what: &str,
    ) -> Result<Vec<U>> {
        let rows = values.into_iter().enumerate();
        let changed = rows.map(|(row, value)| match change(value) {
            None if array.is_null(row) => Ok(U::default()),
            None => Err(self.value(format!("{what} (row {row})"))),
            Some(value) => Ok(value),
        });
        changed.collect()
    }

    /// Imports 64-bit times. Seconds are converted to milliseconds.
    fn timed(&mut self, array: &ArrayRef, unit: Unit) -> Result<(TimeUnit, Form)> {
        let unit = match unit {
            Unit::Second => {
                let seconds = values::<i64>(array);
                let millis = |s: i64| s.checked_mul(1000);
                let millis =
                    self.each(array, seconds, millis, "a time that is too large for milliseconds")?;
                return Ok((TimeUnit::Milli, self.numbers(DType::Int64, Column::from_vec(millis))));
            }
            Unit::Millisecond => TimeUnit::Milli,
            Unit::Microsecond => TimeUnit::Micro,
            Unit::Nanosecond => TimeUnit::Nano,
        };
        Ok((unit, self.raw::<i64>(array)))
    }

    fn strings(&mut self, offsets: Vec<i64>, bytes: Column, binary: bool) -> Form {
        let key = self.key();
        self.columns.push((format!("{key}-offsets"), Column::from_vec(offsets)));
        self.columns.push((format!("{key}-data"), bytes));
        Form::String { key, binary }
    }

    fn fixed(&mut self, bytes: Vec<u8>, size: usize, rows: usize) -> Form {
        self.strings((0..=rows).map(|row| (row * size) as i64).collect(), Column::from_vec(bytes), true)
    }

    fn text<T: ByteArrayType>(&mut self, array: &arrow_array::GenericByteArray<T>, binary: bool) -> Form {
        let ends = array.offsets();
        let (from, to) = (ends.first().as_usize(), ends.last().as_usize());
        let offsets = ends.iter().map(|at| (at.as_usize() - from) as i64).collect();
        self.strings(offsets, shared(DType::UInt8, array.values(), from..to), binary)
    }

    fn view<T: ByteViewType>(&mut self, array: &arrow_array::GenericByteViewArray<T>, binary: bool) -> Form {
        let (mut offsets, mut bytes) = (vec![0], Vec::<u8>::new());
        for row in 0..array.len() {
            if !array.is_null(row) {
                bytes.extend(AsRef::<[u8]>::as_ref(array.value(row)));
            }
            offsets.push(bytes.len() as i64);
        }
        self.strings(offsets, Column::from_vec(bytes), binary)
    }

    fn list(&mut self, mut offsets: Vec<i64>, item: &Field, values: &ArrayRef) -> Result<Form> {
        let (from, to) = (offsets.first().copied().unwrap_or(0), offsets.last().copied().unwrap_or(0));
        offsets.iter_mut().for_each(|at| *at -= from);
        let key = self.key();
        self.columns.push((format!("{key}-offsets"), Column::from_vec(offsets)));
        // In range: Arrow has validated the offsets.
        let content = self.field(item, &values.slice(from as usize, (to - from) as usize))?;
        Ok(Form::List { key, content: Box::new(content) })
    }

    /// Imports a dictionary: text becomes categories, without duplicates; other values are expanded to one
    /// for each row.
    fn dictionary(&mut self, array: &ArrayRef) -> Result<Form> {
        let dictionary = array.as_any_dictionary();
        let (keys, texts) = (dictionary.keys(), dictionary.values());
        let rows = if texts.is_empty() { vec![0; keys.len()] } else { dictionary.normalized_keys() };
        let strings: Option<Vec<&str>> = match texts.data_type() {
            _ if texts.logical_null_count() > 0 => None,
            DataType::Utf8 => Some(texts.as_string::<i32>().iter().flatten().collect()),
            DataType::LargeUtf8 => Some(texts.as_string::<i64>().iter().flatten().collect()),
            DataType::Utf8View => Some(texts.as_string_view().iter().flatten().collect()),
            _ => None,
        };
        let Some(strings) = strings else {
            let data = texts.to_data();
            let mut out = MutableArrayData::new(vec![&data], true, rows.len());
            for (at, row) in rows.into_iter().enumerate() {
                match row < data.len() && !keys.is_null(at) {
                    true => out.try_extend(0, row, row + 1)?,
                    false => out.try_extend_nulls(1)?,
                }
            }
            return self.node(&make_array(out.freeze()));
        };
        let (mut categories, mut known, mut numbers) = (Vec::new(), HashMap::new(), Vec::new());
        for text in strings {
            let number = *known.entry(text).or_insert_with(|| {
                categories.push(text.to_owned());
                categories.len() - 1
            });
            numbers.push(
                i32::try_from(number).map_err(|_| self.value("more categories than 32 bits can number"))?,
            );
        }
        let mut index: Vec<i32> =
            rows.into_iter().map(|row| numbers.get(row).copied().unwrap_or(0)).collect();
        if let Some(nulls) = keys.nulls() {
            (!nulls.inner()).set_indices().for_each(|row| index[row] = 0);
        }
        if categories.is_empty() && !index.is_empty() {
            // All rows are null, and each needs a category to refer to.
            categories.push(String::new());
        }
        let key = self.key();
        self.columns.push((format!("{key}-index"), Column::from_vec(index)));
        self.columns.extend(crate::text::texts(&key, &categories));
        Ok(Form::Categorical { key, categories })
    }
}

/// Returns a column that shares `bytes` of a buffer; the range is clamped to its length.
fn shared(dtype: DType, buffer: &Buffer, bytes: Range<usize>) -> Column {
    let start = bytes.start.min(buffer.len());
    let length = bytes.end.clamp(start, buffer.len()) - start;
    Column::from_bytes(dtype, Bytes::from_owner(buffer.slice_with_length(start, length)))
}

fn meant(meaning: LogicalType, form: Form) -> Form {
    Form::Logical { meaning, content: Box::new(form) }
}

/// Returns the logical type of a decimal, whose scale is not negative (see [`supported`]).
fn decimal(data_type: &DataType) -> LogicalType {
    let (precision, scale) = match data_type {
        DataType::Decimal32(precision, scale)
        | DataType::Decimal64(precision, scale)
        | DataType::Decimal128(precision, scale)
        | DataType::Decimal256(precision, scale) => (*precision, *scale),
        _ => (0, 0),
    };
    LogicalType::Decimal { precision: precision.into(), scale: u32::try_from(scale).unwrap_or(0) }
}

/// Copies the numbers of a primitive array.
fn values<T: ArrowNativeType>(array: &ArrayRef) -> Vec<T> {
    let data = array.to_data();
    data.buffer::<T>(0).iter().take(data.len()).copied().collect()
}
