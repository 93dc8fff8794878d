//! Indexes: copies of the metadata of a file, which are stored apart from it.
//!
//! An index is built from the ranges that a [`Recorder`] saw being read while a file of any format was opened
//! and planned. A file that is opened [with the index](Indexed) serves these ranges from memory, and reads
//! only data from the source.
//!
//! An index is a file in little-endian order: the magic `FWINDEX1`, the size of the indexed file (8 bytes),
//! the length of that file's mark and the number of parts (4 each), the mark, start and length of each part
//! (8 each; ascending and disjoint), the bytes of all parts, and the 64-bit XXH3 of all preceding bytes.

mod recorder;
mod source;

pub use recorder::Recorder;
pub use source::Indexed;

use crate::{
    error::{Error, ErrorKind, Result},
    hash::xxh3,
};
use bytes::Bytes;
use std::ops::Range;

const MAGIC: &[u8; 8] = b"FWINDEX1";
/// Length in bytes of the fields before the mark.
const HEAD: usize = 24;
/// Length in bytes of the start and length of a part.
const PLACE: usize = 16;
/// Length of the checksum in bytes.
const SUM: usize = 8;

/// Copies of parts of a file, with the size and the mark that the file had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Index {
    name: String,
    size: u64,
    mark: Option<String>,
    /// The copies, ascending and disjoint.
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Part {
    start: u64,
    bytes: Bytes,
}

impl Part {
    fn range(&self) -> Range<u64> {
        self.start..self.start.saturating_add(self.bytes.len() as u64)
    }
}

impl Index {
    /// Suffix that is appended to the name of a file for that of its index.
    pub const ENDING: &'static str = ".fwi";

    /// Upper bound on the length of an index in bytes.
    pub const MOST: u64 = 1 << 30;

    /// Parses an index. `name` is the name of the index, which errors mention.
    ///
    /// # Errors
    /// [`ErrorKind::Index`] if `bytes` is not an index, or corrupt.
    pub fn parse(name: &str, bytes: &Bytes) -> Result<Self> {
        let damaged = |what: &str, at: usize| {
            Error::new(ErrorKind::Index { what: what.to_owned() }, name).at(at as u64)
        };
        if !bytes.starts_with(MAGIC) {
            return Err(damaged("not an index of a file: it does not begin with FWINDEX1", 0));
        }
        let Some(end) = bytes.len().checked_sub(SUM).filter(|end| *end >= HEAD) else {
            return Err(damaged("the index is damaged: it ends within its header", bytes.len()));
        };
        if number(bytes, end) != xxh3(&bytes[..end]) {
            return Err(damaged("the index is damaged: its checksum does not match its bytes", end));
        }
        let size = number(bytes, 8);
        let lengths = number(bytes, 16);
        let (marked, count) = (lengths as u32 as usize, (lengths >> 32) as usize);
        let places = HEAD.checked_add(marked).filter(|places| *places <= end);
        let data = places
            .and_then(|places| places.checked_add(count.checked_mul(PLACE)?))
            .filter(|data| *data <= end);
        let (Some(places), Some(mut at)) = (places, data) else {
            return Err(damaged("the index is damaged: its list of parts is longer than it", 16));
        };
        let mark = std::str::from_utf8(&bytes[HEAD..places])
            .map_err(|_| damaged("the index is damaged: the mark of its file is not text", HEAD))?;
        let mut parts = Vec::with_capacity(count);
        let mut reached = 0;
        for place in (places..).step_by(PLACE).take(count) {
            let (start, length) = (number(bytes, place), number(bytes, place + 8));
            let stop = start.checked_add(length).filter(|stop| start >= reached && *stop <= size);
            let after = usize::try_from(length).ok().and_then(|length| at.checked_add(length));
            let (Some(stop), Some(after)) = (stop, after.filter(|after| *after <= end)) else {
                return Err(damaged("the index is damaged: a part is not where it may be", place));
            };
            parts.push(Part { start, bytes: bytes.slice(at..after) });
            (reached, at) = (stop, after);
        }
        if at != end {
            return Err(damaged("the index is damaged: there are bytes behind its parts", at));
        }
        let mark = (!mark.is_empty()).then(|| mark.to_owned());
        Ok(Self { name: name.to_owned(), size, mark, parts })
    }

    /// Serialises the index to the bytes that [`parse`](Self::parse) takes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mark = self.mark.as_deref().unwrap_or_default();
        let length = HEAD + mark.len() + self.parts.len() * PLACE + SUM;
        let mut bytes =
            Vec::with_capacity(length + self.parts.iter().map(|part| part.bytes.len()).sum::<usize>());
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&self.size.to_le_bytes());
        bytes.extend_from_slice(&(mark.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&(self.parts.len() as u32).to_le_bytes());
        bytes.extend_from_slice(mark.as_bytes());
        for part in &self.parts {
            bytes.extend_from_slice(&part.start.to_le_bytes());
            bytes.extend_from_slice(&(part.bytes.len() as u64).to_le_bytes());
        }
        self.parts.iter().for_each(|part| bytes.extend_from_slice(&part.bytes));
        let sum = xxh3(&bytes);
        bytes.extend_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// Returns the name of the index.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the size in bytes of the indexed file.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Returns the [mark](crate::Source::mark) of the indexed file; `None` if its source has none.
    #[must_use]
    pub fn mark(&self) -> Option<&str> {
        self.mark.as_deref()
    }

    /// Returns the byte ranges of the indexed file that the index contains, ascending and disjoint.
    #[must_use]
    pub fn ranges(&self) -> Vec<Range<u64>> {
        self.parts.iter().map(Part::range).collect()
    }

    /// Returns the bytes of a range of the indexed file; `None` unless one part contains the whole range.
    fn slice(&self, range: &Range<u64>) -> Option<Bytes> {
        let at = self.parts.partition_point(|part| part.range().end < range.end);
        let part = self.parts.get(at).filter(|part| part.start <= range.start && range.start <= range.end)?;
        // The casts are lossless: both ends are inside the part, whose length is a `usize`.
        Some(part.bytes.slice((range.start - part.start) as usize..(range.end - part.start) as usize))
    }

    /// Returns the error of an index that belongs to another state of the file.
    fn stale(&self, uri: &str, what: impl std::fmt::Display) -> Error {
        let what = format!(
            "the index {} belongs to another file or to another state of this one ({what}): make a new one",
            self.name
        );
        Error::new(ErrorKind::Index { what }, uri)
    }
}

/// Decodes the little-endian `u64` at offset `at`. Panics if `bytes` is too short.
fn number(bytes: &[u8], at: usize) -> u64 {
    let mut number = [0; 8];
    number.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(number)
}

#[cfg(test)]
mod tests;
