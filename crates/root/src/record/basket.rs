//! Baskets: the header that every basket has, and the contents of one that was stored inside its branch.

use std::ops::Range;

use forthwith_plan::{Error, Result};

use super::cursor::Cursor;
use super::key::RawKey;

/// The header of a `TBasket`: behind the key of a record, or in the list of baskets inside a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BasketHeader {
    /// Length of the record, by its key. 0 for a basket that never was one.
    pub nbytes: i32,
    /// Length of the payload, decompressed, by its key. Meaningless inside a branch.
    pub objlen: u32,
    /// Length of the key with this header. `last` and the offsets of entries count from the first byte of the
    /// key.
    pub keylen: u16,
    /// Offset of the record in the file, by its key. 0 for a basket that never was one.
    pub seek: u64,
    /// Class version.
    pub version: i16,
    /// Size of the buffer in the writing process.
    pub buffer_size: i32,
    /// Room for entries if they have offsets, else the size of each.
    pub nev_buf_size: u32,
    /// Bits that say how it is stored, if a newer ROOT used one of its features.
    pub io_bits: Option<u8>,
    /// Number of entries.
    pub nev_buf: i32,
    /// The end of the last entry.
    pub last: i32,
    /// The flag of the parts that follow. 0 in a record: nothing.
    pub flag: u8,
}

/// The parts of a basket that was stored inside its branch: positions in the payload.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EmbeddedBasket {
    /// Offsets of the entries: big-endian `i32`. Their number stands before them, in the same way.
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
        let key = RawKey::parse(cursor)?;
        Self::behind(&key, cursor)
    }

    /// Parses a basket's header behind its key. Inlined, because every basket has one.
    ///
    /// # Errors
    /// The bytes end before.
    #[inline]
    pub fn behind(key: &RawKey<'_>, cursor: &mut Cursor<'_>) -> Result<Self> {
        let RawKey { nbytes, objlen, keylen, seek, .. } = *key;
        let version = cursor.i16()?;
        let buffer_size = cursor.i32()?;
        let nev_buf_size = cursor.i32()?;
        Ok(Self {
            nbytes,
            objlen,
            keylen,
            seek,
            version,
            buffer_size,
            nev_buf_size: nev_buf_size.unsigned_abs(),
            // The sign says that one more byte follows.
            io_bits: if nev_buf_size < 0 { Some(cursor.u8()?) } else { None },
            nev_buf: cursor.i32()?,
            last: cursor.i32()?,
            flag: cursor.u8()?,
        })
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
        return Err(Error::out_of_range(what, count, i64::MAX).at_byte(begin as u64));
    };
    cursor.skip(count as u64 * size as u64)?;
    Ok(begin..cursor.position())
}
