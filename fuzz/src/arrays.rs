//! Random Arrow arrays of every type: slices with offsets, nulls below nulls, lists without items. Sound ones, or ones whose
//! offsets, tags, keys, views and text are damaged while all buffers keep the lengths that their types ask for.

use arbitrary::{Result, Unstructured};
use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions, make_array};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer};
use arrow_data::ArrayData;
use arrow_schema::{
    DataType, Field, FieldRef, Fields, IntervalUnit, Schema, TimeUnit, UnionFields, UnionMode,
};
use std::sync::Arc;

const UNITS: [TimeUnit; 4] =
    [TimeUnit::Second, TimeUnit::Millisecond, TimeUnit::Microsecond, TimeUnit::Nanosecond];
/// How deep types are nested.
const DEEPEST: usize = 3;
/// Rows behind a slice, at most: one for each record around it, and one of its own.
const SLICED: usize = DEEPEST + 2;

/// Whether rows of a type may be as many as one likes.
fn is_without_bytes(data_type: &DataType) -> bool {
    match data_type {
        DataType::Null => true,
        DataType::FixedSizeBinary(size) | DataType::FixedSizeList(_, size) => *size == 0,
        DataType::Struct(fields) => fields.iter().all(|field| is_without_bytes(field.data_type())),
        _ => false,
    }
}

/// Makes arrays of random bytes.
pub struct Arrays<'u, 'a> {
    bytes: &'u mut Unstructured<'a>,
    /// Whether contents are damaged.
    damaged: bool,
}

impl<'u, 'a> Arrays<'u, 'a> {
    /// Sound or damaged arrays of some bytes.
    pub fn new(bytes: &'u mut Unstructured<'a>, damaged: bool) -> Self {
        Self { bytes, damaged }
    }

    /// A type of columns and one or two batches of it.
    pub fn batches(&mut self) -> Result<(Arc<Schema>, Vec<RecordBatch>)> {
        let fields = self.fields(0, DEEPEST)?;
        let schema = Arc::new(Schema::new(fields));
        let count = self.bytes.int_in_range(1..=2)?;
        let batches = (0..count).map(|_| self.batch(&schema));
        Ok((Arc::clone(&schema), batches.collect::<Result<_>>()?))
    }

    fn batch(&mut self, schema: &Arc<Schema>) -> Result<RecordBatch> {
        let mut rows = self.bytes.int_in_range(0..=20)?;
        let is_empty = |field: &FieldRef| is_without_bytes(field.data_type());
        if self.damaged && schema.fields().iter().all(is_empty) && self.bytes.ratio(1, 2)? {
            // Claims that cost nothing.
            rows = 1 << self.bytes.int_in_range(30..=62)?;
        }
        let columns = schema.fields().iter().map(|field| Ok(make_array(self.field(field, rows)?)));
        let columns = columns.collect::<Result<Vec<ArrayRef>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)
            .map_err(|_| arbitrary::Error::IncorrectFormat)
    }

    fn fields(&mut self, least: usize, depth: usize) -> Result<Fields> {
        let count = self.bytes.int_in_range(least..=3)?;
        (0..count).map(|number| self.named(&format!("f{number}"), depth)).collect()
    }

    fn named(&mut self, name: &str, depth: usize) -> Result<FieldRef> {
        let data_type = self.data_type(depth)?;
        let nullable = data_type == DataType::Null || self.bytes.ratio(2, 3)?;
        Ok(Arc::new(Field::new(name, data_type, nullable)))
    }

    fn data_type(&mut self, depth: usize) -> Result<DataType> {
        let unit = *self.bytes.choose(&UNITS)?;
        let below = depth.saturating_sub(1);
        let choices = if depth == 0 { 27 } else { 34 };
        Ok(match self.bytes.int_in_range(0..=choices)? {
            0 => DataType::Null,
            1 => DataType::Boolean,
            2 => DataType::Int8,
            3 => DataType::Int16,
            4 => DataType::Int32,
            5 => DataType::Int64,
            6 => DataType::UInt8,
            7 => DataType::UInt16,
            8 => DataType::UInt32,
            9 => DataType::UInt64,
            10 => DataType::Float16,
            11 => DataType::Float32,
            12 => DataType::Float64,
            13 => DataType::Date32,
            14 => DataType::Date64,
            15 => DataType::Time32(if unit == TimeUnit::Second { unit } else { TimeUnit::Millisecond }),
            16 => DataType::Time64(if unit == TimeUnit::Nanosecond { unit } else { TimeUnit::Microsecond }),
            17 => DataType::Timestamp(
                unit,
                self.bytes.choose(&[None, Some("UTC"), Some("+05:30"), Some("Europe/Oslo")])?.map(Into::into),
            ),
            18 => DataType::Duration(unit),
            19 => DataType::Utf8,
            20 => DataType::LargeUtf8,
            21 => DataType::Binary,
            22 => DataType::LargeBinary,
            23 => DataType::Utf8View,
            24 => DataType::BinaryView,
            25 => DataType::FixedSizeBinary(self.bytes.int_in_range(0..=3)?),
            26 => self.decimal()?,
            27 => DataType::Interval(IntervalUnit::DayTime),
            28 => DataType::List(self.named("item", below)?),
            29 => DataType::LargeList(self.named("item", below)?),
            30 => DataType::FixedSizeList(self.named("item", below)?, self.bytes.int_in_range(0..=3)?),
            31 => DataType::Struct(self.fields(0, below)?),
            32 => self.map(below)?,
            33 => {
                let fields = self.fields(1, below)?;
                let mode = if self.bytes.arbitrary()? { UnionMode::Dense } else { UnionMode::Sparse };
                DataType::Union((0..).map(|id| id * 3).zip(fields.iter().cloned()).collect(), mode)
            }
            _ => {
                let keys =
                    [DataType::Int8, DataType::UInt8, DataType::Int32, DataType::Int64, DataType::UInt64];
                let keys = self.bytes.choose(&keys)?.clone();
                let values = if self.bytes.arbitrary()? { DataType::Utf8 } else { self.data_type(0)? };
                DataType::Dictionary(Box::new(keys), Box::new(values))
            }
        })
    }

    fn decimal(&mut self) -> Result<DataType> {
        let scale = self.bytes.int_in_range(-1..=5)?;
        Ok(match self.bytes.int_in_range(0..=3)? {
            0 => DataType::Decimal32(9, scale),
            1 => DataType::Decimal64(18, scale),
            2 => DataType::Decimal128(38, scale),
            _ => DataType::Decimal256(76, scale),
        })
    }

    fn map(&mut self, depth: usize) -> Result<DataType> {
        let key = Arc::new(Field::new("key", DataType::Utf8, false));
        let pair = DataType::Struct(vec![key, self.named("value", depth)?].into());
        Ok(DataType::Map(Arc::new(Field::new("entries", pair, false)), false))
    }

    fn field(&mut self, field: &Field, rows: usize) -> Result<ArrayData> {
        self.array(field.data_type(), field.is_nullable(), rows)
    }

    /// An array, mostly a part of a longer one.
    fn array(&mut self, data_type: &DataType, nullable: bool, rows: usize) -> Result<ArrayData> {
        let before = if self.bytes.arbitrary()? { self.bytes.int_in_range(1..=9)? } else { 0 };
        let all = before + rows + usize::from(self.bytes.arbitrary::<bool>()?);
        let whole = self.whole(data_type, nullable, all)?;
        Ok(whole.slice(before, rows))
    }

    fn whole(&mut self, data_type: &DataType, nullable: bool, rows: usize) -> Result<ArrayData> {
        let (buffers, children) = self.contents(data_type, rows)?;
        let can_be_null = nullable && !matches!(data_type, DataType::Null | DataType::Union(..));
        let nulls = if can_be_null && rows < 1 << 10 && self.bytes.arbitrary()? {
            let bits = (0..rows).map(|_| Ok(!self.bytes.ratio(1, 3)?)).collect::<Result<Vec<bool>>>()?;
            Some(NullBuffer::new(BooleanBuffer::from(bits)))
        } else {
            None
        };
        let builder = ArrayData::builder(data_type.clone())
            .len(rows)
            .nulls(nulls)
            .buffers(buffers)
            .child_data(children);
        // A null counted where none may be, or a number beyond its precision, is for the importer; the array is sound for memory.
        // SAFETY: buffers have the lengths that the type asks for, and children the rows.
        Ok(unsafe { builder.align_buffers(true).build_unchecked() })
    }

    fn contents(&mut self, data_type: &DataType, rows: usize) -> Result<(Vec<Buffer>, Vec<ArrayData>)> {
        Ok(match data_type {
            DataType::Null => (vec![], vec![]),
            DataType::Boolean => (vec![self.noise(rows.div_ceil(8))?], vec![]),
            DataType::FixedSizeBinary(size) => (vec![self.noise(rows * *size as usize)?], vec![]),
            DataType::Utf8 | DataType::Binary => {
                let (offsets, end) = self.offsets::<i32>(rows)?;
                (vec![offsets, self.text(end, *data_type == DataType::Utf8)?], vec![])
            }
            DataType::LargeUtf8 | DataType::LargeBinary => {
                let (offsets, end) = self.offsets::<i64>(rows)?;
                (vec![offsets, self.text(end, *data_type == DataType::LargeUtf8)?], vec![])
            }
            DataType::Utf8View | DataType::BinaryView => self.views(rows)?,
            DataType::List(item) | DataType::Map(item, _) => {
                let (offsets, end) = self.offsets::<i32>(rows)?;
                (vec![offsets], vec![self.field(item, end)?])
            }
            DataType::LargeList(item) => {
                let (offsets, end) = self.offsets::<i64>(rows)?;
                (vec![offsets], vec![self.field(item, end)?])
            }
            DataType::FixedSizeList(item, size) => (vec![], vec![self.field(item, rows * *size as usize)?]),
            DataType::Struct(fields) => {
                (vec![], fields.iter().map(|field| self.field(field, rows)).collect::<Result<_>>()?)
            }
            DataType::Union(fields, mode) => self.union(fields, *mode, rows)?,
            DataType::Dictionary(keys, values) => {
                let count = self.bytes.int_in_range(1..=4)?;
                let limit = if self.damaged && self.bytes.ratio(1, 4)? { 255 } else { count as u8 - 1 };
                let width = keys.primitive_width().unwrap_or(1);
                let mut buffer = vec![0; rows * width];
                for key in buffer.chunks_mut(width) {
                    key[0] = self.bytes.int_in_range(0..=limit)?;
                }
                (vec![buffer.into()], vec![self.array(values, true, count)?])
            }
            other => (vec![self.noise(rows * other.primitive_width().unwrap_or(8))?], vec![]),
        })
    }

    /// Offsets of a few items each, and where they end.
    fn offsets<T: TryFrom<i64> + arrow_buffer::ArrowNativeType>(
        &mut self,
        rows: usize,
    ) -> Result<(Buffer, usize)> {
        let mut end: i64 = if self.bytes.arbitrary()? { self.bytes.int_in_range(0..=3)? } else { 0 };
        let mut offsets = vec![end];
        for _ in 0..rows {
            end += self.bytes.int_in_range(0..=3)?;
            offsets.push(end);
        }
        // The last one, also of a slice, says how long a buffer is.
        if self.damaged && offsets.len() > SLICED && self.bytes.ratio(1, 4)? {
            let at = self.bytes.choose_index(offsets.len() - SLICED)?;
            offsets[at] = i64::from(self.bytes.arbitrary::<i32>()?);
        }
        let offsets: Vec<T> = offsets.into_iter().filter_map(|at| T::try_from(at).ok()).collect();
        Ok((Buffer::from_vec(offsets), end as usize))
    }

    fn text(&mut self, length: usize, is_text: bool) -> Result<Buffer> {
        if is_text && !(self.damaged && self.bytes.ratio(1, 4)?) {
            let letters = (0..length).map(|_| self.bytes.int_in_range(b' '..=b'~'));
            return Ok(letters.collect::<Result<Vec<u8>>>()?.into());
        }
        self.noise(length)
    }

    fn views(&mut self, rows: usize) -> Result<(Vec<Buffer>, Vec<ArrayData>)> {
        let long = b"a text that is longer than twelve bytes";
        let mut views = Vec::with_capacity(rows);
        for _ in 0..rows {
            let length = self.bytes.int_in_range(0..=20_u32)?;
            let mut view = [0; 16];
            view[..4].copy_from_slice(&length.to_le_bytes());
            if length <= 12 {
                view[4..4 + length as usize].copy_from_slice(&long[..length as usize]);
            } else {
                view[4..8].copy_from_slice(&long[..4]);
            }
            if self.damaged && self.bytes.ratio(1, 8)? {
                let at = self.bytes.choose_index(16)?;
                view[at] = self.bytes.arbitrary()?;
            }
            views.push(u128::from_le_bytes(view));
        }
        Ok((vec![Buffer::from_vec(views), Buffer::from(&long[..])], vec![]))
    }

    fn union(
        &mut self,
        fields: &UnionFields,
        mode: UnionMode,
        rows: usize,
    ) -> Result<(Vec<Buffer>, Vec<ArrayData>)> {
        let (mut tags, mut offsets, mut counts) = (Vec::new(), Vec::new(), vec![0; fields.len()]);
        for _ in 0..rows {
            let choice = self.bytes.choose_index(fields.len())?;
            let is_wrong = self.damaged && self.bytes.ratio(1, 16)?;
            tags.push(if is_wrong { self.bytes.arbitrary()? } else { choice as i8 * 3 });
            offsets.push(if is_wrong { self.bytes.arbitrary()? } else { counts[choice] });
            counts[choice] += 1;
        }
        let children = fields.iter().zip(counts).map(|((_, field), count)| {
            self.field(field, if mode == UnionMode::Dense { count as usize } else { rows })
        });
        let children = children.collect::<Result<_>>()?;
        let mut buffers = vec![Buffer::from_vec(tags)];
        if mode == UnionMode::Dense {
            buffers.push(Buffer::from_vec::<i32>(offsets));
        }
        Ok((buffers, children))
    }

    fn noise(&mut self, length: usize) -> Result<Buffer> {
        let mut bytes = vec![0; length];
        self.bytes.fill_buffer(&mut bytes)?;
        Ok(bytes.into())
    }
}
