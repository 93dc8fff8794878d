//! Dictionaries: the values to which the keys of a column refer.

use crate::{
    array_data::Expansion,
    buffers::Source,
    layout::{Part, has_runs},
    message::Batch,
    reachable::Reachable,
    value_bytes::bytes_of,
};
use arrow_array::{Array as _, ArrayRef, cast::AsArray as _, make_array};
use arrow_data::{ArrayData, transform::MutableArrayData};
use arrow_schema::DataType;
use bytes::Bytes;
use forthwith_io::Decompressor;
use forthwith_plan::{Error, Result};
use serde::{Deserialize, Serialize};

/// A dictionary message as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stored {
    /// Id of the dictionary in the schema.
    pub id: i64,
    /// Whether the values are appended to those of earlier messages; otherwise they replace them.
    pub is_delta: bool,
    /// Header of the values.
    pub batch: Batch,
    /// Body of the message.
    #[serde(with = "hexadecimal")]
    pub body: Bytes,
}

/// The values of a dictionary after some of its messages.
///
/// Each segment is longer than all later ones together, so that appending deltas copies each value a
/// logarithmic number of times.
#[derive(Debug, Default)]
pub(crate) struct Dictionary {
    messages: usize,
    segments: Vec<ArrayData>,
    /// Index of the first value of each segment.
    starts: Vec<usize>,
    length: usize,
}

impl Dictionary {
    /// Decodes the values as they are after the first `count` messages. The limits are those of rows and of
    /// memory in bytes.
    pub(crate) fn after(
        &mut self,
        stored: &[Stored],
        count: usize,
        data_type: &DataType,
        (most_rows, limit): (u64, Option<usize>),
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
            let (bytes, union_validity, has_runs) = (&message.body, false, has_runs(data_type));
            let mut source =
                Source { part, bytes, codec, decompressor, most_rows, has_runs, union_validity, limit };
            let values = source.array(data_type, &None, &mut |_, _| {
                Err(Error::unsupported("dictionaries within the values of a dictionary"))
            })?;
            if !message.is_delta {
                self.segments.clear();
            }
            self.append(values)?;
            self.messages += 1;
        }
        match self.segments.is_empty() {
            true => Err(Error::fault("a record batch precedes the values of its dictionary")),
            false => Ok(()),
        }
    }

    /// Appends a segment, after joining it with preceding ones that are not longer.
    fn append(&mut self, values: ArrayData) -> Result<()> {
        let (mut first, mut length) = (self.segments.len(), values.len());
        while let Some(before) = first.checked_sub(1)
            && self.segments[before].len() <= length
        {
            first = before;
            length += self.segments[before].len();
        }
        let mut joined = self.segments.split_off(first);
        joined.push(values);
        self.segments.push(concatenated(joined)?);
        self.starts.clear();
        self.length = 0;
        for segment in &self.segments {
            self.starts.push(self.length);
            self.length += segment.len();
        }
        Ok(())
    }

    /// Returns the segment of a value and its row in the segment; `None` if the dictionary has no such value.
    fn find(&self, number: usize) -> Option<(usize, usize)> {
        let segment = self.starts.partition_point(|start| *start <= number).checked_sub(1)?;
        (number < self.length).then(|| (segment, number - self.starts[segment]))
    }

    /// Checks that the values of all keys fit in memory and the limit, which a short dictionary with many
    /// keys can exceed.
    fn check_memory(&self, keys: &[Option<usize>], limit: Option<usize>) -> Result<()> {
        // A long value may be measured for many keys; the first excess ends the loop.
        let mut memory = Expansion::new("dictionary", "the values of a dictionary", limit);
        for (segment, row) in keys.iter().flatten().filter_map(|key| self.find(*key)) {
            memory.add(bytes_of(&self.segments[segment], row..row + 1))?;
        }
        memory.check()
    }

    /// Returns the value of each key. Keys that are not reachable need not have a value. `limit` is the upper
    /// bound on the bytes of all values.
    pub(crate) fn values(
        &self,
        keys: ArrayData,
        reachable: &Reachable,
        limit: Option<usize>,
    ) -> Result<ArrayData> {
        let keys = indexes(&make_array(keys))?;
        self.check_memory(&keys, limit)?;
        let mut out = MutableArrayData::new(self.segments.iter().collect(), true, keys.len());
        let mut shown = reachable.as_ref().map(|ranges| ranges.iter().peekable());
        for (row, key) in keys.into_iter().enumerate() {
            let is_reachable = shown.as_mut().is_none_or(|ranges| {
                while ranges.next_if(|range| range.end <= row).is_some() {}
                ranges.peek().is_some_and(|range| range.start <= row)
            });
            let extended = match key.map(|key| (key, self.find(key))) {
                Some((_, Some((segment, at)))) => out.try_extend(segment, at, at + 1),
                Some((key, None)) if is_reachable => {
                    let limit = self.length.saturating_sub(1);
                    return Err(Error::out_of_range("an index into a dictionary", key as u64, limit as u64));
                }
                _ => out.try_extend_nulls(1),
            };
            extended.map_err(|error| Error::fault(error.to_string()))?;
        }
        Ok(out.freeze())
    }
}

fn concatenated(mut parts: Vec<ArrayData>) -> Result<ArrayData> {
    if parts.len() == 1 {
        return Ok(parts.remove(0));
    }
    let length = parts.iter().map(ArrayData::len).sum();
    let mut all = MutableArrayData::new(parts.iter().collect(), false, length);
    for (at, part) in parts.iter().enumerate() {
        all.try_extend(at, 0, part.len()).map_err(|error| Error::fault(error.to_string()))?;
    }
    let all = all.freeze();
    // Views would keep the buffers of all parts, of which there may be as many as messages.
    Ok(match all.data_type() {
        DataType::Utf8View => make_array(all).as_string_view().gc().into_data(),
        DataType::BinaryView => make_array(all).as_binary_view().gc().into_data(),
        _ => all,
    })
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

/// Serialisation of bytes as hexadecimal text, for plans.
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
