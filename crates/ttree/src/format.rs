//! Decodes the frame of baskets: a stored block becomes the bytes of its entries.

use std::ops::Range;

use forthwith_plan::{
    Block, BlockFormat, Decoder, Error, ErrorKind, Framing, Group, Kernel, Result, Scratch, Task,
};

use forthwith_root::{BasketHeader, Cursor, RawKey, check_record, decompress_record, lossy};

/// The [`BlockFormat`] of `TTree` baskets.
///
/// A basket is a key, a header within the key's length, the bytes of the entries and, unless all entries have
/// one size, their offsets. Most baskets are records of their own, compressed after the key. A basket that
/// was never flushed is part of the tree's own record ([`Stored::Inline`](forthwith_plan::Stored::Inline)),
/// in another layout and never compressed.
#[derive(Clone, Copy, Debug, Default)]
pub struct TreeFormat;

impl TreeFormat {
    /// Id of the format in plans.
    pub const ID: &'static str = "root.ttree";
}

impl BlockFormat for TreeFormat {
    fn id(&self) -> &'static str {
        Self::ID
    }

    fn unframe<'a>(
        &self,
        group: &Group,
        task: &Task,
        stored: &'a [u8],
        scratch: &'a mut Scratch,
    ) -> Result<Block<'a>> {
        let asked = Asked::by(&group.decoder, group.counter.is_some());
        unframe(asked, &task.entries, &task.wanted, stored, scratch)
    }

    fn locate(&self, _: &Group, task: &Task, head: &[u8]) -> Framing {
        if head.is_empty() {
            return Framing::Whole;
        }
        let Ok(basket) = Basket::parse(&mut Cursor::new(head)) else { return Framing::Whole };
        let expected = task.entries.end.checked_sub(task.entries.start);
        let whole =
            Some(u64::from(basket.entries)) == expected && u64::from(basket.nbytes) == task.stored.len();
        let inside = basket.data_len() as u64 <= u64::from(basket.header.objlen);
        match basket.is_plain() && whole && inside {
            true => Framing::Plain(u64::from(basket.keylen)..u64::from(basket.last)),
            false => Framing::Whole,
        }
    }
}

/// What a decoder needs of a basket besides the bytes of its entries.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Asked {
    /// Whether it needs the offsets of entries.
    pub(crate) bounds: bool,
    /// Whether the offsets may have been left out, so that a counter has to supply them.
    pub(crate) counted: bool,
    /// Whether entries may differ in size although the basket has a fixed one. The decoder then detects
    /// entries that end elsewhere.
    pub(crate) uneven: bool,
}

impl Asked {
    /// Returns the needs of a decoder.
    pub(crate) fn by(decoder: &Decoder, counted: bool) -> Self {
        let uneven = matches!(decoder, Decoder::Program(program) if !program.to_end);
        Self { bounds: needs_bounds(decoder), counted, uneven }
    }
}

/// Returns the entries of a basket, which has to have the entries `entries`, with the offsets that `asked`
/// requires of those in `wanted`.
pub(crate) fn unframe<'a>(
    asked: Asked,
    entries: &Range<u64>,
    wanted: &Range<u64>,
    stored: &'a [u8],
    scratch: &'a mut Scratch,
) -> Result<Block<'a>> {
    let mut cursor = Cursor::new(stored);
    let basket = Basket::parse(&mut cursor)?;
    let expected = entries.end.saturating_sub(entries.start);
    if u64::from(basket.entries) != expected {
        let found = u64::from(basket.entries);
        return Err(
            Error::mismatch("number of entries in the basket", expected, found).at_byte(basket.at as u64)
        );
    }
    // The header has 32 bits for the number of entries, which bounds the range.
    let count = |to: u64| to.saturating_sub(entries.start).min(expected) as u32;
    let wanted = count(wanted.start)..count(wanted.end);
    if basket.is_embedded() {
        basket.embedded(cursor, asked, &wanted, scratch)
    } else {
        basket.record(stored, asked, &wanted, scratch)
    }
}

/// Returns the error for a basket whose position in its branch is invalid. `size` is that of the file.
#[cold]
pub(crate) fn misplaced(seek: i64, length: i64, size: u64) -> Error {
    let size = i64::try_from(size).unwrap_or(i64::MAX);
    match u64::try_from(seek).ok().filter(|&begin| begin > 0 && seek <= size) {
        None => Error::out_of_range("place of a basket", seek, size),
        Some(begin) => {
            Error::out_of_range("length of a basket", length, size.saturating_sub(seek)).at_byte(begin)
        }
    }
}

/// Returns whether a decoder needs entry offsets. For others, they are not parsed.
fn needs_bounds(decoder: &Decoder) -> bool {
    match decoder {
        Decoder::Kernel(Kernel::Flat { .. } | Kernel::Slots { .. }) => false,
        Decoder::Program(program) => program.bounded,
        _ => true,
    }
}

/// Key and header of a basket, with their consistency checked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Basket {
    /// Header as stored.
    pub(crate) header: BasketHeader,
    /// Offset of the header, for errors.
    at: usize,
    /// Length of the record in bytes; 0 for a basket that never was one.
    pub(crate) nbytes: u32,
    /// Length of the key with the header.
    pub(crate) keylen: u32,
    /// Number of entries.
    pub(crate) entries: u32,
    /// End of the entries' bytes, counted from the beginning of the key.
    pub(crate) last: u32,
}

/// Source of the offsets of a basket's entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    /// The offsets are not needed.
    Unasked,
    /// All entries have the size in the header, except perhaps the last.
    Fixed,
    /// The offsets were left out: they follow from the values of a counter.
    Generated,
    /// The offsets are an array of big-endian `i32`.
    Stored,
}

impl Basket {
    /// Parses key and header, after which the cursor stands.
    pub(crate) fn parse(cursor: &mut Cursor<'_>) -> Result<Self> {
        let begin = cursor.position();
        let key = RawKey::parse(cursor)?;
        let positive = |what, number: i32, at| {
            u32::try_from(number).map_err(|_| Error::out_of_range(what, number, i32::MAX).at_byte(at as u64))
        };
        let nbytes = positive("length of the basket", key.nbytes, begin)?;
        if key.class_name != b"TBasket" {
            let found = lossy(&key.class_name[..key.class_name.len().min(80)]);
            // The class name follows the numbers of the key.
            let at = begin + if key.version > 1000 { 34 } else { 26 };
            return Err(Error::not_a("a basket", found).at_byte(at as u64));
        }
        let at = cursor.position();
        let header = BasketHeader::behind(&key, cursor)?;
        // The bits follow the version and two sizes. ROOT writes the byte only if a bit is set, and has
        // defined no others.
        let bits_at = at as u64 + 10;
        if let Some(bits) = header.io_bits.filter(|&bits| bits == 0 || bits & !DEFINED != 0) {
            let found = format!("{bits:#04x}");
            return Err(Error::not_a("I/O features of a basket", found).at_byte(bits_at));
        }
        let entries = positive("number of entries", header.nev_buf, at)?;
        let keylen = u32::from(header.keylen);
        let end = cursor.position() - begin;
        if end != keylen as usize {
            return Err(Error::mismatch("length of the basket's key", end, keylen).at_byte(begin as u64));
        }
        if let Some(bits) = header.io_bits.filter(|&bits| bits != GENERATE_OFFSETS) {
            let what = format!("a basket with I/O features {bits:#04x}");
            return Err(Error::unsupported(what).at_byte(bits_at));
        }
        let last = u32::try_from(header.last).ok().filter(|&last| last >= keylen).ok_or_else(|| {
            Error::mismatch("end of the entries", keylen, header.last as u64).at_byte(at as u64)
        })?;
        Ok(Self { header, at, nbytes, keylen, entries, last })
    }

    /// Returns whether the basket was streamed into another record rather than written as one.
    pub(crate) fn is_embedded(&self) -> bool {
        !self.header.flag.is_multiple_of(GENERATED)
    }

    /// Returns whether entries have displacements, which give their original offsets for pointers in them.
    pub(crate) fn has_displacements(&self) -> bool {
        let packed = PACKED.contains(&(self.header.flag % GENERATED));
        if self.is_embedded() || packed {
            return packed || (41..GENERATED).contains(&(self.header.flag % GENERATED));
        }
        let tail = u64::from(self.header.objlen).saturating_sub(self.data_len() as u64);
        tail > 8 + 4 * u64::from(self.entries)
    }

    /// Returns whether the basket is an uncompressed record.
    fn is_plain(&self) -> bool {
        !self.is_embedded() && self.keylen.checked_add(self.header.objlen) == Some(self.nbytes)
    }

    /// Returns the length of the entries in bytes.
    fn data_len(&self) -> usize {
        // `parse` has checked the order.
        (self.last - self.keylen) as usize
    }

    /// Returns the source of the entry offsets; `tail` is the number of bytes after the entries. The offsets
    /// of a valid layout need no more memory than the stored bytes.
    fn layout(&self, asked: Asked, tail: usize) -> Result<Layout> {
        if !asked.bounds {
            return Ok(Layout::Unasked);
        }
        if tail > 0 {
            let needed = 4 + 4 * u64::from(self.entries);
            if (tail as u64) < needed {
                let error =
                    ErrorKind::Truncated { what: "the entry offsets", needed, available: tail as u64 };
                return Err(Error::new(error).at_byte(u64::from(self.last)));
            }
            return Ok(Layout::Stored);
        }
        if self.header.flag >= GENERATED {
            if !asked.counted {
                let what = "entry offsets that were left out, in a branch that does not say so";
                return Err(Error::unsupported(what).at_byte(self.at as u64));
            }
            return Ok(Layout::Generated);
        }
        let size = u64::from(self.header.nev_buf_size);
        let (found, expected) = (size * u64::from(self.entries), self.data_len() as u64);
        // A branch of pointers to arrays that were null when it was made has no offsets, whatever its entries
        // have later. The size is that of the first entry. ROOT computes offsets from it, and so reads only
        // the entries at these.
        let last_begins_within = asked.uneven
            && u64::from(self.entries).checked_sub(1).is_some_and(|before| before * size < expected);
        if size == 0 || (found != expected && !last_begins_within) {
            return Err(Error::mismatch("length of all entries", expected, found).at_byte(self.at as u64));
        }
        Ok(Layout::Fixed)
    }

    fn record<'a>(
        &self,
        stored: &'a [u8],
        asked: Asked,
        wanted: &Range<u32>,
        scratch: &'a mut Scratch,
    ) -> Result<Block<'a>> {
        if self.nbytes as usize != stored.len() {
            return Err(Error::mismatch("length of the basket", stored.len(), self.nbytes).at_byte(0));
        }
        let keylen = self.keylen as usize;
        let objlen = self.header.objlen as usize;
        let data_len = self.data_len();
        if data_len > objlen {
            let limit = i64::from(self.keylen) + i64::from(self.header.objlen);
            return Err(Error::out_of_range("end of the entries", self.last, limit).at_byte(self.at as u64));
        }
        let layout = self.layout(asked, objlen - data_len)?;
        // `parse` has read that many bytes.
        let body = &stored[keylen..];
        let compressed = objlen > body.len();
        if compressed {
            check_record(body, objlen).map_err(|error| error.behind(keylen as u64))?;
        }
        let payload_room = if compressed { objlen } else { 0 };
        let (room, bounds, decompressor) = scratch.rooms(payload_room, bounds_len(layout, wanted))?;
        let payload = if compressed {
            decompress_record(body, room, decompressor).map_err(|error| error.behind(keylen as u64))?;
            &*room
        } else {
            &body[..objlen]
        };
        let (data, tail) = payload.split_at(data_len);
        self.bounds(layout, tail, wanted, bounds)?;
        let origin = u64::from(self.keylen);
        Ok(Block { payload: data, entries: u64::from(self.entries), bounds, origin })
    }

    /// Returns the entries of a basket in the tree's record: its arrays, then a copy of the writer's buffer,
    /// which begins with space for the key.
    fn embedded<'a>(
        &self,
        mut cursor: Cursor<'a>,
        asked: Asked,
        wanted: &Range<u32>,
        scratch: &'a mut Scratch,
    ) -> Result<Block<'a>> {
        let parts = self.header.embedded(&mut cursor)?;
        let data = cursor.data();
        let Some(buffer) = parts.buffer else {
            let error =
                ErrorKind::NotA { what: "a basket with data", found: format!("flag {}", self.header.flag) };
            return Err(Error::new(error).at_byte(self.at as u64));
        };
        let available = buffer.len() as u64;
        let Some(payload) = data[buffer].get(self.keylen as usize..self.last as usize) else {
            return Err(Error::truncated("the basket's buffer", self.last, available));
        };
        // The offsets include their count, which has been read.
        let offsets = parts.offsets.map_or(&[][..], |offsets| &data[offsets.start - 4..offsets.end]);
        let layout = self.layout(asked, offsets.len())?;
        let (_, bounds, _) = scratch.rooms(0, bounds_len(layout, wanted))?;
        self.bounds(layout, offsets, wanted, bounds)?;
        let origin = u64::from(self.keylen);
        Ok(Block { payload, entries: u64::from(self.entries), bounds, origin })
    }

    /// Fills `out` with the bounds of the wanted entries. `tail` is the stored array after its length, or
    /// empty.
    fn bounds(&self, layout: Layout, tail: &[u8], wanted: &Range<u32>, out: &mut [u8]) -> Result<()> {
        let out = out.as_chunks_mut::<4>().0;
        if layout == Layout::Fixed {
            for (i, bound) in (wanted.start..).zip(out) {
                // `layout` has checked that the last entry begins within the data, whose end is below 2^32.
                let begins = i.wrapping_mul(self.header.nev_buf_size);
                *bound = if i == self.entries { self.last - self.keylen } else { begins }.to_le_bytes();
            }
            return Ok(());
        }
        if out.is_empty() {
            return Ok(());
        }
        let (count, array) = tail.split_at(4);
        let count = u32::from_be_bytes([count[0], count[1], count[2], count[3]]);
        // Embedded baskets have exactly one offset for each entry, records one more.
        if count != self.entries && count.checked_sub(1) != Some(self.entries) {
            let expected = u64::from(self.entries) + 1;
            return Err(
                Error::mismatch("length of the entry offsets", expected, count).at_byte(self.last.into())
            );
        }
        // The additional offset of a record has no meaning.
        let array = array.as_chunks::<4>().0;
        let array = &array[..array.len().min(self.entries as usize)];
        let sizes = self.header.io_bits.is_some() && !self.is_embedded();
        let mask = if PACKED.contains(&(self.header.flag % GENERATED)) { OLD_OFFSET } else { u32::MAX };
        let (before, array) = array.split_at(array.len().min(wanted.start as usize));
        let mut position = 0u32;
        if sizes {
            position = before.iter().fold(0, |sum: u32, size| sum.wrapping_add(u32::from_be_bytes(*size)));
        }
        let mut last = 0;
        let mut rises = true;
        // Converts a few at a time, so that they are in cache when they are compared.
        for (bounds, array) in out.chunks_mut(FEW).zip(array.chunks(FEW)) {
            if sizes {
                // The array has the size of each entry, at the index of the next.
                for (bound, size) in bounds.iter_mut().zip(array) {
                    position = position.wrapping_add(u32::from_be_bytes(*size));
                    *bound = position.to_le_bytes();
                }
            } else {
                for (bound, offset) in bounds.iter_mut().zip(array) {
                    *bound = (u32::from_be_bytes(*offset) & mask).wrapping_sub(self.keylen).to_le_bytes();
                }
            }
            let bounds = &bounds[..bounds.len().min(array.len())];
            rises &= ascending(last, bounds);
            last = bounds.last().map_or(last, |bound| u32::from_le_bytes(*bound));
        }
        let end = self.last - self.keylen;
        if wanted.end == self.entries
            && let Some(bound) = out.last_mut()
        {
            *bound = end.to_le_bytes();
        }
        rises &= last <= end && (wanted.start > 0 || out.first() == Some(&[0; 4]));
        if !rises {
            return Err(self.not_ascending(wanted, out));
        }
        Ok(())
    }

    #[cold]
    fn not_ascending(&self, wanted: &Range<u32>, bounds: &[[u8; 4]]) -> Error {
        let mut low = 0;
        let bad = (wanted.start as usize..).zip(bounds).find_map(|(i, &bound)| {
            let bound = u32::from_le_bytes(bound);
            let wrong = bound < low || bound > self.last - self.keylen || (i == 0 && bound != 0);
            low = bound;
            wrong.then_some((i, bound))
        });
        let (entry, bound) = bad.unwrap_or_default();
        let found = i64::from(bound.wrapping_add(self.keylen));
        let mut error = Error::out_of_range("entry offset", found, self.last)
            .at_byte(u64::from(self.last) + 4 + 4 * entry as u64);
        error.place.entry = Some(entry as u64);
        error
    }
}

/// Returns the number of bytes for the bounds of the wanted entries.
fn bounds_len(layout: Layout, wanted: &Range<u32>) -> usize {
    match layout {
        Layout::Unasked | Layout::Generated => 0,
        Layout::Fixed | Layout::Stored => 4 * (wanted.len() + 1),
    }
}

/// Returns whether bounds are non-decreasing, beginning with `last`.
fn ascending(last: u32, bounds: &[[u8; 4]]) -> bool {
    let pairs = bounds.iter().zip(bounds.get(1..).unwrap_or_default());
    // Without an early exit, the loop is vectorized.
    let falls = pairs.fold(false, |bad, (&a, &b)| bad | (u32::from_le_bytes(a) > u32::from_le_bytes(b)));
    !falls && bounds.first().is_none_or(|&first| last <= u32::from_le_bytes(first))
}

/// Number of bounds that are converted before they are compared.
const FEW: usize = 2048;
/// I/O feature bit: entry offsets may be left out, or be stored as sizes.
const GENERATE_OFFSETS: u8 = 1;
/// Mask of the I/O features that ROOT has defined. The second is reserved (for the classes in the basket),
/// and no version of ROOT reads it.
const DEFINED: u8 = GENERATE_OFFSETS | 1 << 1;
/// Offset of the flag of a basket whose entry offsets were left out.
const GENERATED: u8 = 80;
/// Flags of baskets whose entry offsets are packed with displacements.
const PACKED: Range<u8> = 21..40;
/// Mask of an entry offset that is packed with a displacement, as in the earliest versions.
const OLD_OFFSET: u32 = 0x00FF_FFFF;
