//! Baskets: the header that every basket has, and the contents of one that was stored inside its branch.

use std::ops::Range;

use forthwith_plan::Result;

use super::cursor::{Cursor, out_of_range};
use crate::file::Key;

/// What a `TBasket` says of itself: behind the key of a record, or in the list of baskets inside a branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BasketHeader {
    /// Its key. `last` and the offsets of entries count from the first byte of it.
    pub key: Key,
    /// Class version.
    pub version: i16,
    /// Size of the buffer in the writing process.
    pub buffer_size: i32,
    /// Room for entries if they have offsets, else the size of each.
    pub nev_buf_size: i32,
    /// Bits that say how it is stored; 0 unless a newer ROOT used one of its features.
    pub io_bits: u8,
    /// Number of entries.
    pub nev_buf: i32,
    /// Where the last entry ends.
    pub last: i32,
    /// What follows. 0 in a record: nothing.
    pub flag: u8,
}

/// Where the parts of a basket are that was stored inside its branch: positions in the payload.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EmbeddedBasket {
    /// Offsets of the entries: big-endian `i32`.
    pub offsets: Option<Range<usize>>,
    /// How far the entries have moved: big-endian `i32`.
    pub displacements: Option<Range<usize>>,
    /// The buffer: room for the key, then the entries, never compressed.
    pub buffer: Option<Range<usize>>,
}

impl BasketHeader {
    /// Parses a basket's header from its key on.
    ///
    /// # Errors
    /// The bytes end before.
    pub fn parse(cursor: &mut Cursor<'_>) -> Result<Self> {
        let key = Key::parse(cursor)?;
        let version = cursor.i16()?;
        let buffer_size = cursor.i32()?;
        let nev_buf_size = cursor.i32()?;
        let io_bits = if nev_buf_size < 0 { cursor.u8()? } else { 0 };
        let nev_buf = cursor.i32()?;
        let last = cursor.i32()?;
        let flag = cursor.u8()?;
        let nev_buf_size = nev_buf_size.saturating_abs();
        Ok(Self { key, version, buffer_size, nev_buf_size, io_bits, nev_buf, last, flag })
    }

    /// Finds what follows the header of a basket inside a branch, and goes behind it.
    ///
    /// # Errors
    /// The bytes end before, or a count is negative.
    pub fn embedded(&self, cursor: &mut Cursor<'_>) -> Result<EmbeddedBasket> {
        let mut parts = EmbeddedBasket::default();
        if self.flag == 0 {
            return Ok(parts);
        }
        let generated = self.flag >= 80;
        let flag = if generated { self.flag - 80 } else { self.flag };
        if !generated && flag % 10 != 2 {
            if self.nev_buf > 0 {
                let count = cursor.i32()?;
                parts.offsets = Some(span(cursor, "number of entry offsets", count, 4)?);
            }
            if flag > 40 {
                let count = cursor.i32()?;
                parts.displacements = Some(span(cursor, "number of displacements", count, 4)?);
            }
        }
        if flag == 1 || flag > 10 {
            let length = if self.version > 1 { self.last } else { cursor.i32()? };
            parts.buffer = Some(span(cursor, "length of a basket's buffer", length, 1)?);
        }
        Ok(parts)
    }
}

fn span(cursor: &mut Cursor<'_>, what: &'static str, count: i32, size: usize) -> Result<Range<usize>> {
    let begin = cursor.position();
    let Ok(count) = usize::try_from(count) else {
        return Err(out_of_range(what, i64::from(count), i64::MAX).at_byte(begin as u64));
    };
    cursor.skip(count as u64 * size as u64)?;
    Ok(begin..cursor.position())
}
