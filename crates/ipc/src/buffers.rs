//! Construction of Arrow arrays from the buffers of a column. Buffers are checked before the Arrow library
//! gets them.

use crate::{
    array_data::{Head, built, check_limit},
    expanded::{View, runs},
    layout::{Part, is_nullable},
    reachable::{Reachable, in_lists, in_lists_of, in_member, in_records, in_views},
};
use arrow_array::{Array as _, UnionArray, make_array};
use arrow_buffer::{Buffer, ScalarBuffer};
use arrow_data::ArrayData;
use arrow_schema::{DataType, Field, UnionFields, UnionMode};
use forthwith_io::{Codec, Decompressor, LARGEST_EXPANSION};
use forthwith_plan::{Error, Result};
use std::{borrow::Cow, ops::Range};

/// Upper bound on the decompressed bytes per byte of LZ4.
const LZ4_EXPANSION: u64 = 255;
/// Allowance for the framing, in decompressed bytes.
const LZ4_FRAME: u64 = 64;
/// Number of rows without stored bytes, such as nulls, that a file of any size may have.
const MOST_WITHOUT_BYTES: u64 = 1 << 28;

/// The buffers of a column, or of the values of a dictionary.
pub(crate) struct Source<'a> {
    /// Remaining nodes and buffers.
    pub part: Part,
    /// Bytes that contain the buffers.
    pub bytes: &'a [u8],
    pub codec: Option<Codec>,
    pub decompressor: &'a mut Decompressor,
    pub most_rows: u64,
    /// Whether the type has run-end encoded arrays, which may have more rows than `most_rows`.
    pub has_runs: bool,
    pub union_validity: bool,
    /// Upper bound in bytes on expansions.
    pub limit: Option<usize>,
}

/// Replaces the keys of the next dictionary by their values. Keys that are not reachable need not have a
/// value.
pub(crate) type Hydrate<'h> = dyn FnMut(ArrayData, &Reachable) -> Result<ArrayData> + 'h;

impl Source<'_> {
    /// Returns an array of the stored type, with dictionaries replaced by their values.
    pub(crate) fn array(
        &mut self,
        stored: &DataType,
        reachable: &Reachable,
        hydrate: &mut Hydrate<'_>,
    ) -> Result<ArrayData> {
        let data = match stored {
            DataType::Null => {
                let (rows, _) = self.node()?;
                self.check_rows_without_bytes(rows)?;
                ArrayData::new_null(&DataType::Null, rows)
            }
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Binary | DataType::LargeBinary => {
                let (head, buffers) = (self.head()?, vec![self.buffer()?, self.buffer()?]);
                built(stored, head, buffers, vec![])?
            }
            DataType::Utf8View | DataType::BinaryView => {
                let head = self.head()?;
                let data = self.part.variadic.pop_front().unwrap_or(0);
                let buffers = (0..=data).map(|_| self.buffer()).collect::<Result<_>>()?;
                built(stored, head, buffers, vec![])?
            }
            DataType::List(item) | DataType::LargeList(item) | DataType::Map(item, _) => {
                let (head, offsets) = (self.head()?, self.buffer()?);
                let width = if matches!(stored, DataType::LargeList(_)) { 8 } else { 4 };
                let inner = in_lists(&offsets, width, head.1.as_deref(), item.data_type(), reachable);
                let content = self.array(item.data_type(), &inner, hydrate)?;
                let item = of_type(item, &content).into();
                let data_type = match stored {
                    DataType::List(_) => DataType::List(item),
                    DataType::Map(_, sorted) => DataType::Map(item, *sorted),
                    _ => DataType::LargeList(item),
                };
                built(&data_type, head, vec![offsets], vec![content])?
            }
            DataType::ListView(item) | DataType::LargeListView(item) => {
                let view = self.view(matches!(stored, DataType::LargeListView(_)))?;
                let inner = in_views(view.ranges(), item.data_type(), reachable);
                let items = self.array(item.data_type(), &inner, hydrate)?;
                view.lists(of_type(item, &items).into(), &items, self.limit)?
            }
            DataType::RunEndEncoded(ends, values) => {
                let (rows, _) = self.node()?;
                let ends = self.array(ends.data_type(), &None, hydrate)?;
                let values = self.array(values.data_type(), &None, hydrate)?;
                runs(rows, ends, &values, self.limit)?
            }
            DataType::FixedSizeList(item, size) => {
                let head = self.head()?;
                let items = usize::try_from(*size).unwrap_or(0);
                if items == 0 {
                    self.check_rows_without_bytes(head.0)?;
                }
                let inner = in_lists_of(items, head.0, head.1.as_deref(), item.data_type(), reachable);
                let content = self.array(item.data_type(), &inner, hydrate)?;
                let item = of_type(item, &content).into();
                built(&DataType::FixedSizeList(item, *size), head, vec![], vec![content])?
            }
            DataType::Struct(fields) => {
                let head = self.head()?;
                if fields.is_empty() {
                    self.check_rows_without_bytes(head.0)?;
                }
                let types: Vec<_> = fields.iter().map(|field| field.data_type()).collect();
                let inner = in_records(head.0, head.1.as_deref(), &types, reachable);
                let contents = types.into_iter().map(|field| self.array(field, &inner, hydrate));
                let contents = contents.collect::<Result<Vec<_>>>()?;
                let plain = fields.iter().zip(&contents).map(|(field, content)| of_type(field, content));
                built(&DataType::Struct(plain.collect()), head, vec![], contents)?
            }
            DataType::Union(fields, mode) => self.union(fields, *mode, hydrate)?,
            DataType::Dictionary(keys, _) => {
                let (head, buffer) = (self.head()?, self.buffer()?);
                hydrate(built(keys, head, vec![buffer], vec![])?, reachable)?
            }
            _ => {
                let (head, buffer) = (self.head()?, self.buffer()?);
                if matches!(stored, DataType::FixedSizeBinary(0)) {
                    self.check_rows_without_bytes(head.0)?;
                }
                built(stored, head, vec![buffer], vec![])?
            }
        };
        Ok(data)
    }

    fn union(
        &mut self,
        fields: &UnionFields,
        mode: UnionMode,
        hydrate: &mut Hydrate<'_>,
    ) -> Result<ArrayData> {
        let (rows, _) = self.node()?;
        if self.union_validity {
            self.buffer()?;
        }
        let mut numbers = |width: usize| {
            let buffer = self.buffer()?;
            match rows.checked_mul(width) {
                // The copy is aligned for numbers.
                Some(bytes) if bytes <= buffer.len() => Ok(Buffer::from(&buffer[..bytes])),
                _ => Err(Error::truncated(
                    "a buffer of a union",
                    rows.saturating_mul(width) as u64,
                    buffer.len() as u64,
                )),
            }
        };
        let tags = ScalarBuffer::<i8>::from(numbers(1)?);
        let offsets = match mode {
            UnionMode::Dense => Some(ScalarBuffer::<i32>::from(numbers(4)?)),
            UnionMode::Sparse => None,
        };
        let children = fields.iter().map(|(id, field)| {
            // In each row, only the member with the row's tag has a value.
            let chosen = in_member(id, &tags, offsets.as_deref(), field.data_type());
            self.array(field.data_type(), &chosen, hydrate).map(make_array)
        });
        let children = children.collect::<Result<Vec<_>>>()?;
        let plain = fields
            .iter()
            .zip(&children)
            .map(|((id, field), child)| (id, of_type(field, &child.to_data()).into()));
        let union = UnionArray::try_new(plain.collect(), tags, offsets, children);
        Ok(union.map_err(|error| Error::fault(error.to_string()))?.into_data())
    }

    /// Returns the validity, offsets and sizes of a list view.
    fn view(&mut self, is_large: bool) -> Result<View> {
        let ((rows, validity), offsets, sizes) = (self.head()?, self.buffer()?, self.buffer()?);
        let width = if is_large { 8 } else { 4 };
        let numbers = |buffer: &Buffer| {
            let bytes = rows.checked_mul(width).and_then(|bytes| buffer.get(..bytes));
            let short = || {
                let bytes = rows.saturating_mul(width) as u64;
                Error::truncated("a buffer of a list view", bytes, buffer.len() as u64)
            };
            let number = |bytes: &[u8]| match bytes.first_chunk() {
                Some(bytes) => i64::from_le_bytes(*bytes),
                None => bytes.first_chunk().map_or(-1, |bytes| i32::from_le_bytes(*bytes).into()),
            };
            let numbers = bytes.ok_or_else(short)?.chunks_exact(width).map(number);
            // Offsets and sizes of null rows are unspecified.
            Ok::<_, Error>(numbers.map(|number| usize::try_from(number).unwrap_or(usize::MAX)).collect())
        };
        Ok(View { rows, offsets: numbers(&offsets)?, sizes: numbers(&sizes)?, validity })
    }

    /// Returns the number of rows of the next node, and its stored number of nulls.
    fn node(&mut self) -> Result<(usize, i64)> {
        let (rows, nulls) = self.part.nodes.pop_front().unwrap_or_default();
        let rows = u64::try_from(rows).ok().filter(|rows| *rows <= self.most_rows || self.has_runs);
        let rows = rows.and_then(|rows| usize::try_from(rows).ok());
        let rows =
            rows.ok_or_else(|| Error::fault("a field has more rows than a file of this size can have"))?;
        Ok((rows, nulls))
    }

    /// Checks the number of rows of a type without stored bytes against the size of the file and the memory
    /// limit: each row takes an index item when it is read.
    fn check_rows_without_bytes(&self, rows: usize) -> Result<()> {
        let most = (self.most_rows / LARGEST_EXPANSION).max(MOST_WITHOUT_BYTES);
        if rows as u64 > most {
            return Err(Error::out_of_range("the number of rows that take no bytes", rows as u64, most));
        }
        check_limit("null", rows.saturating_mul(size_of::<i64>()), self.limit)
    }

    fn head(&mut self) -> Result<Head> {
        let (rows, nulls) = self.node()?;
        let validity = self.buffer()?;
        if nulls > 0 && rows > 0 && validity.is_empty() {
            return Err(Error::fault(format!("{nulls} of {rows} rows are null, but not said which")));
        }
        Ok((rows, (nulls != 0 && !validity.is_empty()).then_some(validity)))
    }

    /// Returns the next buffer, decompressed.
    fn buffer(&mut self) -> Result<Buffer> {
        let Range { start, end } = self.part.buffers.pop_front().unwrap_or_default();
        let range = usize::try_from(start).unwrap_or(usize::MAX)..usize::try_from(end).unwrap_or(usize::MAX);
        let stored = self
            .bytes
            .get(range)
            .ok_or_else(|| Error::truncated("a buffer", end, self.bytes.len() as u64))?;
        Ok(match self.codec {
            Some(codec) if !stored.is_empty() => match decompressed(codec, stored, self.decompressor)? {
                Cow::Owned(bytes) => Buffer::from_vec(bytes),
                Cow::Borrowed(bytes) => Buffer::from(bytes),
            },
            _ => Buffer::from(stored),
        })
    }
}

/// Returns the field with the type of the array that was read.
fn of_type(field: &Field, array: &ArrayData) -> Field {
    field.clone().with_data_type(array.data_type().clone()).with_nullable(is_nullable(field))
}

/// Decompresses a buffer, which is preceded by its decompressed length, or by -1 if it is uncompressed.
fn decompressed<'s>(
    codec: Codec,
    stored: &'s [u8],
    decompressor: &mut Decompressor,
) -> Result<Cow<'s, [u8]>> {
    let Some((length, stored)) = stored.split_first_chunk::<8>() else {
        return Err(Error::truncated("the length of a compressed buffer", 8u64, stored.len() as u64));
    };
    let length = i64::from_le_bytes(*length);
    if length == -1 {
        return Ok(Cow::Borrowed(stored));
    }
    let most = if codec == Codec::Zstd {
        u64::MAX
    } else {
        (stored.len() as u64).saturating_mul(LZ4_EXPANSION) + LZ4_FRAME
    };
    let claimed = u64::try_from(length).ok().filter(|length| *length <= most);
    let claimed = claimed.and_then(|length| usize::try_from(length).ok());
    let length =
        claimed.ok_or_else(|| Error::out_of_range("the length of a compressed buffer", length, most))?;
    let mut bytes = Vec::new();
    if codec == Codec::Zstd {
        // The buffer grows with the decompressed data, since the length is untrusted.
        let produced = decompressor.append(codec, stored, &mut bytes, 0, length)?;
        if produced != length {
            return Err(Error::mismatch(
                "the length of a decompressed buffer",
                length as u64,
                produced as u64,
            ));
        }
        bytes.truncate(length);
    } else {
        let refused =
            |_| Error::new(forthwith_plan::ErrorKind::OutOfMemory { what: "a buffer", bytes: length as u64 });
        decompressor.allow(codec.name(), length)?;
        bytes.try_reserve_exact(length).map_err(refused)?;
        bytes.resize(length, 0);
        decompressor.decompress(codec, stored, &mut bytes)?;
    }
    Ok(Cow::Owned(bytes))
}
