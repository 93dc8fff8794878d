//! Baskets: their header, and the contents of a basket that was stored in its branch.

use std::ops::Range;

use forthwith_plan::{Error, Result};

use super::cursor::Cursor;
use super::key::RawKey;

/// Header of a `TBasket`, after the key of a record or in the list of baskets of a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BasketHeader {
    /// Length of the record, from its key. 0 for a basket that never was a record.
    pub nbytes: i32,
    /// Decompressed length of the payload, from its key. Meaningless in a branch.
    pub objlen: u32,
    /// Length of the key with this header. `last` and the offsets of entries count from the first byte of the
    /// key.
    pub keylen: u16,
    /// Offset of the record in the file, from its key. 0 for a basket that never was a record.
    pub seek: u64,
    /// Version of the class.
    pub version: i16,
    /// Size of the writer's buffer in bytes.
    pub buffer_size: i32,
    /// Capacity for entries if they have offsets, and otherwise the size of each.
    pub nev_buf_size: u32,
    /// I/O feature bits, if a newer version of ROOT used one.
    pub io_bits: Option<u8>,
    /// Number of entries.
    pub nev_buf: i32,
    /// End of the last entry.
    pub last: i32,
    /// Flag of the parts after the header. 0 in a record, which has none.
    pub flag: u8,
}

/// Parts of a basket that was stored in its branch, as ranges of the payload.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EmbeddedBasket {
    /// Offsets of the entries: big-endian `i32`, preceded by their number as `i32`.
    pub offsets: Option<Range<usize>>,
    /// Displacements of the entries: big-endian `i32`.
    pub displacements: Option<Range<usize>>,
    /// Buffer: space for the key, then the entries, never compressed.
    pub buffer: Option<Range<usize>>,
}

impl BasketHeader {
    /// Parses a basket's key and header.
    ///
    /// # Errors
    /// Returns an error if the bytes end early.
    pub fn parse(cursor: &mut Cursor<'_>) -> Result<Self> {
        let key = RawKey::parse(cursor)?;
        Self::behind(&key, cursor)
    }

    /// Parses a basket's header after its key. Inlined, because every basket has one.
    ///
    /// # Errors
    /// Returns an error if the bytes end early.
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
            // The sign tells that one more byte follows.
            io_bits: if nev_buf_size < 0 { Some(cursor.u8()?) } else { None },
            nev_buf: cursor.i32()?,
            last: cursor.i32()?,
            flag: cursor.u8()?,
        })
    }

    /// Finds the parts after the header of a basket in a branch, and moves the cursor after them.
    ///
    /// # Errors
    /// Returns an error if the bytes end early, or if a count is negative.
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
