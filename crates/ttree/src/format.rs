//! Baskets: how a stored block of a tree becomes the bytes of its entries.

use std::ops::Range;

use forthwith_plan::{
    Block, BlockFormat, Decoder, Error, ErrorKind, Framing, Group, Kernel, Result, Scratch, Task,
};

use forthwith_root::{BasketHeader, Cursor, RawKey, check_record, decompress_record, lossy};

/// The [`BlockFormat`] of `TTree` baskets.
///
/// A basket is a key, a header inside the key's length, the entries' bytes, and behind them where each entry
/// begins, unless all are of one size. Most baskets are records of their own, compressed behind the key; one
/// that was never flushed is part of the tree's own record
/// ([`Stored::Inline`](forthwith_plan::Stored::Inline)), laid out differently and never compressed.
#[derive(Clone, Copy, Debug, Default)]
pub struct TreeFormat;

impl TreeFormat {
    /// The id that plans of trees carry.
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

/// The needs of a decoder besides the bytes of a basket's entries.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Asked {
    /// The offsets at which entries begin.
    pub(crate) bounds: bool,
    /// They may have been left out: a counter tells.
    pub(crate) counted: bool,
    /// Entries may be of several sizes although the basket says one: what decodes them notices where one does
    /// not end.
    pub(crate) uneven: bool,
}

impl Asked {
    /// The needs of a decoder.
    pub(crate) fn by(decoder: &Decoder, counted: bool) -> Self {
        let uneven = matches!(decoder, Decoder::Program(program) if !program.to_end);
        Self { bounds: needs_bounds(decoder), counted, uneven }
    }
}

/// The entries of a basket, which is to hold these, and what is asked of it: where those begin that are
/// wanted.
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
    // Not more than there are: the header has 32 bits for them.
    let count = |to: u64| to.saturating_sub(entries.start).min(expected) as u32;
    let wanted = count(wanted.start)..count(wanted.end);
    if basket.is_embedded() {
        basket.embedded(cursor, asked, &wanted, scratch)
    } else {
        basket.record(stored, asked, &wanted, scratch)
    }
}

/// Why a basket cannot be where its branch says, in a file of that size.
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

/// Whether a decoder asks where entries begin; for others the array is not even looked at.
fn needs_bounds(decoder: &Decoder) -> bool {
    match decoder {
        Decoder::Kernel(Kernel::Flat { .. } | Kernel::Slots { .. }) => false,
        Decoder::Program(program) => program.bounded,
        _ => true,
    }
}

/// The key and header of a basket, found to make sense.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Basket {
    /// As the file has it.
    pub(crate) header: BasketHeader,
    /// Offset of the header, for errors.
    at: usize,
    /// Length of the record. 0 for a basket that never was one.
    pub(crate) nbytes: u32,
    /// Length of the key with the header.
    pub(crate) keylen: u32,
    /// Number of entries.
    pub(crate) entries: u32,
    /// The end of the entries' bytes, counted from the beginning of the key.
    pub(crate) last: u32,
}

/// The offsets at which the entries of a basket begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    /// Nothing is asked of it.
    Unasked,
    /// All have the size in the header, but possibly the last.
    Fixed,
    /// It was left out, because it follows from the values of a counter.
    Generated,
    /// An array of big-endian `i32` says it.
    Stored,
}

impl Basket {
    /// Parses key and header and leaves the cursor behind them.
    pub(crate) fn parse(cursor: &mut Cursor<'_>) -> Result<Self> {
        let begin = cursor.position();
        let key = RawKey::parse(cursor)?;
        let positive = |what, number: i32, at| {
            u32::try_from(number).map_err(|_| Error::out_of_range(what, number, i32::MAX).at_byte(at as u64))
        };
        let nbytes = positive("length of the basket", key.nbytes, begin)?;
        if key.class_name != b"TBasket" {
            let found = lossy(&key.class_name[..key.class_name.len().min(80)]);
            // Behind the key's numbers.
            let at = begin + if key.version > 1000 { 34 } else { 26 };
            return Err(Error::not_a("a basket", found).at_byte(at as u64));
        }
        let at = cursor.position();
        let header = BasketHeader::behind(&key, cursor)?;
        // Behind version and two sizes. ROOT writes the byte only if a bit is set, and has defined no others.
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

    /// Whether the basket was streamed into another record rather than written as one.
    pub(crate) fn is_embedded(&self) -> bool {
        !self.header.flag.is_multiple_of(GENERATED)
    }

    /// Whether entries say where they stood when they were written, for the pointers in them.
    pub(crate) fn has_displacements(&self) -> bool {
        let packed = PACKED.contains(&(self.header.flag % GENERATED));
        if self.is_embedded() || packed {
            return packed || (41..GENERATED).contains(&(self.header.flag % GENERATED));
        }
        let tail = u64::from(self.header.objlen).saturating_sub(self.data_len() as u64);
        tail > 8 + 4 * u64::from(self.entries)
    }

    /// Whether it is a record that is not compressed.
    fn is_plain(&self) -> bool {
        !self.is_embedded() && self.keylen.checked_add(self.header.objlen) == Some(self.nbytes)
    }

    /// Length of the entries' bytes.
    fn data_len(&self) -> usize {
        // `parse` has checked the order.
        (self.last - self.keylen) as usize
    }

    /// How the entries are laid out, with `tail` bytes behind them. What this allows needs no more room than
    /// the stored bytes.
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
        // A branch of pointers to arrays that were not there when it was made has no offsets, whatever is in
        // them later. The size is that of the first entry, and ROOT counts with it, so that it finds only
        // those that begin there.
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

    /// A basket inside the tree's record: its arrays, then a copy of the writer's buffer, which begins with
    /// room for the key.
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
        // With their number, which has been read.
        let offsets = parts.offsets.map_or(&[][..], |offsets| &data[offsets.start - 4..offsets.end]);
        let layout = self.layout(asked, offsets.len())?;
        let (_, bounds, _) = scratch.rooms(0, bounds_len(layout, wanted))?;
        self.bounds(layout, offsets, wanted, bounds)?;
        let origin = u64::from(self.keylen);
        Ok(Block { payload, entries: u64::from(self.entries), bounds, origin })
    }

    /// Fills `out` with where the wanted entries begin and end. `tail` is the array with its length, if there
    /// is one.
    fn bounds(&self, layout: Layout, tail: &[u8], wanted: &Range<u32>, out: &mut [u8]) -> Result<()> {
        let out = out.as_chunks_mut::<4>().0;
        if layout == Layout::Fixed {
            for (i, bound) in (wanted.start..).zip(out) {
                // `layout` has checked that the last begins within the data, which end below 2^32.
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
        // Embedded baskets have exactly one for each entry, records one more.
        if count != self.entries && count.checked_sub(1) != Some(self.entries) {
            let expected = u64::from(self.entries) + 1;
            return Err(
                Error::mismatch("length of the entry offsets", expected, count).at_byte(self.last.into())
            );
        }
        // As many as there are entries: in a record there is one more, of no meaning.
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
        // A few at a time, so that they are still near when they are compared.
        for (bounds, array) in out.chunks_mut(FEW).zip(array.chunks(FEW)) {
            if sizes {
                // The array holds the entries' sizes, each where the next entry begins.
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

/// Bytes for where the wanted entries begin and end.
fn bounds_len(layout: Layout, wanted: &Range<u32>) -> usize {
    match layout {
        Layout::Unasked | Layout::Generated => 0,
        Layout::Fixed | Layout::Stored => 4 * (wanted.len() + 1),
    }
}

/// Whether bounds never fall, from `last` on.
fn ascending(last: u32, bounds: &[[u8; 4]]) -> bool {
    let pairs = bounds.iter().zip(bounds.get(1..).unwrap_or_default());
    // No early exit: this way it is done many at a time.
    let falls = pairs.fold(false, |bad, (&a, &b)| bad | (u32::from_le_bytes(a) > u32::from_le_bytes(b)));
    !falls && bounds.first().is_none_or(|&first| last <= u32::from_le_bytes(first))
}

/// The number of bounds that are converted before they are compared.
const FEW: usize = 2048;
/// In the I/O features: entry offsets may be left out, or be stored as sizes.
const GENERATE_OFFSETS: u8 = 1;
/// The I/O features that ROOT has defined. The second is reserved (for the classes in the basket), and no
/// ROOT reads it.
const DEFINED: u8 = GENERATE_OFFSETS | 1 << 1;
/// Added to the flag of a basket whose entry offsets were left out.
const GENERATED: u8 = 80;
/// Flags of baskets whose entry offsets have displacements packed into them.
const PACKED: Range<u8> = 21..40;
/// The rest of an entry offset that has a displacement packed into it, as the earliest versions did.
const OLD_OFFSET: u32 = 0x00FF_FFFF;
