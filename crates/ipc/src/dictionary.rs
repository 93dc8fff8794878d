//! Dictionaries: the values that the numbers in a column stand for, as the file stores them.

use crate::{buffers::Source, layout::Part, message::Batch, reachable::Reachable};
use arrow_array::{Array as _, ArrayRef, cast::AsArray as _, make_array};
use arrow_data::{ArrayData, transform::MutableArrayData};
use arrow_schema::DataType;
use bytes::Bytes;
use forthwith_io::Decompressor;
use forthwith_plan::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};

/// A message with values of a dictionary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stored {
    /// The number by which fields name the dictionary.
    pub id: i64,
    /// Whether the values are appended to those of the messages before; otherwise they replace them.
    pub is_delta: bool,
    /// The header of the values.
    pub batch: Batch,
    /// The body of the message.
    #[serde(with = "hexadecimal")]
    pub body: Bytes,
}

/// The values of one dictionary after some of its messages.
#[derive(Debug, Default)]
pub(crate) struct Dictionary {
    messages: usize,
    values: Option<ArrayData>,
}

impl Dictionary {
    /// The values, if there were messages with any.
    pub(crate) const fn values(&self) -> Option<&ArrayData> {
        self.values.as_ref()
    }

    /// Decodes the values after the first `count` messages.
    pub(crate) fn after(
        &mut self,
        stored: &[Stored],
        count: usize,
        data_type: &DataType,
        most_rows: u64,
        decompressor: &mut Decompressor,
    ) -> Result<()> {
        if count < self.messages {
            *self = Self::default();
        }
        for message in stored.get(self.messages..count).unwrap_or_default() {
            let part = Part {
                nodes: message.batch.nodes.iter().copied().collect(),
                buffers: message.batch.buffers.iter().cloned().collect(),
                variadic: message.batch.variadic.iter().copied().collect(),
            };
            let codec = message.batch.codec;
            let mut source =
                Source { part, bytes: &message.body, codec, decompressor, most_rows, union_validity: false };
            let values = source.array(data_type, &None, &mut |_, _| {
                Err(Error::unsupported("dictionaries within the values of a dictionary"))
            })?;
            self.values = Some(match self.values.take() {
                Some(before) if message.is_delta => concatenated(&before, &values)?,
                _ => values,
            });
        }
        self.messages = count;
        match self.values {
            Some(_) => Ok(()),
            None => Err(Error::fault("a record batch precedes the values of its dictionary")),
        }
    }
}

fn concatenated(before: &ArrayData, more: &ArrayData) -> Result<ArrayData> {
    let mut all = MutableArrayData::new(vec![before, more], false, before.len() + more.len());
    for (at, part) in [before, more].into_iter().enumerate() {
        all.try_extend(at, 0, part.len()).map_err(|error| Error::fault(error.to_string()))?;
    }
    Ok(all.freeze())
}

/// The values that the keys of a dictionary stand for. Keys that are not reachable may stand for none.
pub(crate) fn values(keys: ArrayData, dictionary: &ArrayData, reachable: &Reachable) -> Result<ArrayData> {
    let keys = make_array(keys);
    let numbers = indexes(&keys)?;
    check_memory(&numbers, dictionary)?;
    let mut out = MutableArrayData::new(vec![dictionary], true, numbers.len());
    for (row, number) in numbers.into_iter().enumerate() {
        let is_reachable = reachable.as_ref().is_none_or(|flags| flags.get(row).copied().unwrap_or(false));
        let extended = match number.filter(|number| *number < dictionary.len() || is_reachable) {
            None => out.try_extend_nulls(1),
            Some(number) if number < dictionary.len() => out.try_extend(0, number, number + 1),
            Some(number) => {
                let limit = dictionary.len().saturating_sub(1);
                return Err(Error::out_of_range("an index into a dictionary", number as u64, limit as u64));
            }
        };
        extended.map_err(|error| Error::fault(error.to_string()))?;
    }
    Ok(out.freeze())
}

/// Refuses keys that stand for more than memory holds, which a short dictionary and its keys can.
fn check_memory(numbers: &[Option<usize>], dictionary: &ArrayData) -> Result<()> {
    let rows = numbers.iter().flatten();
    let array = make_array(dictionary.clone());
    let bytes = match dictionary.data_type() {
        DataType::Utf8 => {
            lengths(rows, |row| array.as_string::<i32>().value_length(row) as usize, dictionary)
        }
        DataType::LargeUtf8 => {
            lengths(rows, |row| array.as_string::<i64>().value_length(row) as usize, dictionary)
        }
        DataType::Binary => {
            lengths(rows, |row| array.as_binary::<i32>().value_length(row) as usize, dictionary)
        }
        DataType::LargeBinary => {
            lengths(rows, |row| array.as_binary::<i64>().value_length(row) as usize, dictionary)
        }
        // Of other values the mean has to do.
        _ => (array.get_array_memory_size() / dictionary.len().max(1)).saturating_mul(numbers.len()),
    };
    let refused =
        |_| Error::new(ErrorKind::OutOfMemory { what: "the values of a dictionary", bytes: bytes as u64 });
    Vec::<u8>::new().try_reserve_exact(bytes).map_err(refused)
}

/// The sum of the lengths of the values in some rows of a dictionary.
fn lengths<'n>(
    rows: impl Iterator<Item = &'n usize>,
    length: impl Fn(usize) -> usize,
    dictionary: &ArrayData,
) -> usize {
    rows.filter(|row| **row < dictionary.len()).fold(0, |sum: usize, row| sum.saturating_add(length(*row)))
}

fn indexes(keys: &ArrayRef) -> Result<Vec<Option<usize>>> {
    use arrow_array::types::{
        Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
    };
    macro_rules! of {
        ($($name:ident $type:ty),*) => {
            match keys.data_type() {
                $(DataType::$name => {
                    let index = |key| usize::try_from(key).unwrap_or(usize::MAX);
                    keys.as_primitive::<$type>().iter().map(|key| key.map(index)).collect()
                })*
                other => return Err(Error::unsupported(format!("keys of type {other}"))),
            }
        };
    }
    Ok(
        of!(Int8 Int8Type, Int16 Int16Type, Int32 Int32Type, Int64 Int64Type, UInt8 UInt8Type, UInt16 UInt16Type, UInt32 UInt32Type, UInt64 UInt64Type),
    )
}

/// Bytes in plans, which are text.
mod hexadecimal {
    use bytes::Bytes;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};
    use std::fmt::Write as _;

    pub(super) fn serialize<S: Serializer>(bytes: &Bytes, serializer: S) -> Result<S::Ok, S::Error> {
        let mut text = String::with_capacity(2 * bytes.len());
        for byte in bytes {
            // Writing to a string never fails.
            let _ = write!(text, "{byte:02x}");
        }
        serializer.serialize_str(&text)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Bytes, D::Error> {
        let text = String::deserialize(deserializer)?;
        let digit = |digit: u8| char::from(digit).to_digit(16);
        let pairs = text.as_bytes().as_chunks::<2>();
        let byte = |[high, low]: &[u8; 2]| Some((digit(*high)? << 4 | digit(*low)?) as u8);
        let bytes: Option<Vec<u8>> = pairs.0.iter().map(byte).collect();
        bytes
            .filter(|_| pairs.1.is_empty())
            .map(Bytes::from)
            .ok_or_else(|| D::Error::custom("not hexadecimal"))
    }
}
