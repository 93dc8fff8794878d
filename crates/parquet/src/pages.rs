//! The pages of a column chunk: found, compared with what the footer says, decompressed and taken apart.

use crate::{
    codec::{self, decompress},
    leaf::Leaf,
    page::PageHeader,
    thrift::Compact,
    values::Dictionary,
};
use forthwith_io::{Decompressor, LARGEST_EXPANSION};
use forthwith_plan::{Error, ErrorKind, Result};
use std::ops::Range;

/// Values that a page may have without bits for them: nulls in one run, or one value that repeats. Writers
/// have made row groups of 64 Mi rows, with a page for each column. What more than that a reader makes of a
/// file is bounded by its `memory=` alone.
const MOST_WEIGHTLESS: u64 = 1 << 26;
/// The number of bytes that zstd and brotli may make from almost none.
const LARGEST_REPEATED: u64 = 256 << 20;

/// A page's parts, decompressed.
pub(crate) struct Page<'a> {
    pub(crate) header: PageHeader,
    pub(crate) rep: &'a [u8],
    pub(crate) def: &'a [u8],
    pub(crate) values: &'a [u8],
}

/// The data pages of a chunk.
pub(crate) struct Pages<'a> {
    pub(crate) leaf: &'a Leaf,
    pub(crate) codec: u32,
    pub(crate) stored: &'a [u8],
    pub(crate) at: usize,
    /// Where the last one began.
    pub(crate) page: u64,
    /// Rows of the pages so far, as far as they can be told without looking into them.
    pub(crate) rows: u64,
    /// Of those, rows of pages that were left out and not yet told of.
    pub(crate) skipped: u64,
    /// Values that there are by the footer's account, and those of them that the pages so far have not.
    pub(crate) values: u64,
    pub(crate) left: u64,
    pub(crate) entries: u64,
    pub(crate) wanted: Range<u64>,
    pub(crate) dictionary: Option<Dictionary>,
}

pub(crate) const DATA: i64 = 0;
pub(crate) const DICTIONARY: i64 = 2;
pub(crate) const DATA_2: i64 = 3;

impl<'a> Pages<'a> {
    pub(crate) fn take_skipped(&mut self) -> u64 {
        std::mem::take(&mut self.skipped)
    }

    /// Refuses a page of more rows or values than there are. Bytes that are no page may stand behind the last
    /// one.
    fn no_more(&self) -> Result<()> {
        let Ok(PageHeader { kind: DATA | DATA_2, values: more @ 1.., .. }) =
            Compact::new(&self.stored[self.at..]).page_header()
        else {
            return Ok(());
        };
        let more = more.unsigned_abs();
        if self.leaf.max_rep == 0 && self.rows >= self.entries {
            return Err(wrong_rows(self.entries, self.rows.saturating_add(more)));
        }
        if self.left == 0 { Err(self.wrong_values(self.values.saturating_add(more))) } else { Ok(()) }
    }

    #[cold]
    fn wrong_values(&self, found: u64) -> Error {
        Error::mismatch("the number of values in the pages of a column chunk", self.values, found)
    }

    /// The next page of which something is wanted, as it is stored.
    pub(crate) fn next(
        &mut self,
        spare: &mut Vec<u8>,
        codecs: &mut Decompressor,
    ) -> Result<Option<(PageHeader, &'a [u8])>> {
        while self.at < self.stored.len() {
            if self.left == 0 || self.leaf.max_rep == 0 && self.rows >= self.wanted.end {
                return self.no_more().map(|()| None);
            }
            let start = self.at as u64;
            self.page = start;
            let here = |error: Error| error.at_byte(start);
            let mut compact = Compact::new(&self.stored[self.at..]);
            let header = compact.page_header().map_err(|error| error.behind(start))?;
            let rest = &self.stored[self.at + compact.at..];
            let needed = sized(header.compressed).map_err(here)?;
            sized(header.uncompressed).map_err(here)?;
            let Some((length, body)) =
                usize::try_from(needed).ok().and_then(|length| rest.get(..length).map(|body| (length, body)))
            else {
                return Err(here(Error::truncated("a page", needed, rest.len())));
            };
            self.at += compact.at + length;
            match header.kind {
                DATA | DATA_2 => {
                    check(&header, self.codec, body.len() as u64).map_err(here)?;
                    // A count that is not that of the footer is wrong, or the footer's is. No page says what
                    // its levels hold but by this.
                    let values = header.values as u64;
                    let left = self.left.checked_sub(values);
                    self.left =
                        left.ok_or_else(|| here(self.wrong_values(self.values - self.left + values)))?;
                    if self.leaf.max_rep == 0 {
                        self.rows += header.values as u64;
                        if self.rows <= self.wanted.start {
                            self.skipped += header.values as u64;
                            continue;
                        }
                    }
                    verify(&header, body).map_err(here)?;
                    return Ok(Some((header, body)));
                }
                DICTIONARY => {
                    if self.dictionary.is_some() {
                        return Err(here(Error::fault("a second dictionary")));
                    }
                    if !matches!(header.encoding, 0 | 2) {
                        let what = format!("a dictionary encoded as number {}", header.encoding);
                        return Err(here(Error::unsupported(what)));
                    }
                    verify(&header, body).map_err(here)?;
                    check(&header, self.codec, body.len() as u64).map_err(here)?;
                    spare.clear();
                    let bytes =
                        match inflate(self.leaf, &header, self.codec, body, spare, codecs).map_err(here)? {
                            None => body,
                            Some(range) => &spare[range],
                        };
                    self.dictionary = Some(Dictionary::new(header.values, bytes, self.leaf).map_err(here)?);
                }
                _ => {}
            }
        }
        // All pages have gone by.
        if self.left > 0 { Err(self.wrong_values(self.values - self.left)) } else { Ok(None) }
    }
}

#[cold]
pub(crate) fn wrong_rows(expected: u64, found: u64) -> Error {
    Error::mismatch("the number of rows of a column chunk", expected, found)
}

/// A length that a header gives.
fn sized(length: i64) -> Result<u64> {
    let found = length;
    u64::try_from(length).map_err(|_| Error::out_of_range("the length of a page", found, i32::MAX))
}

/// Refuses lengths and counts that no page has.
pub(crate) fn check(header: &PageHeader, codec: u32, stored: u64) -> Result<()> {
    let impossible = |what, found, limit: u64| {
        Err(Error::out_of_range(what, found, i64::try_from(limit).unwrap_or(i64::MAX)))
    };
    let least = if matches!(codec, 4 | 6) { LARGEST_REPEATED } else { 4096 };
    let most = stored.saturating_mul(LARGEST_EXPANSION).saturating_add(least);
    // Where nothing is decompressed nothing is made of it.
    let uncompressed = header.uncompressed;
    if codec != 0 && u64::try_from(uncompressed).map_or(true, |bytes| bytes > most) {
        return impossible("the length of a page", uncompressed, most);
    }
    for (what, length) in [
        ("the number of rows of a page", header.rows),
        ("the length of a page's definition levels", header.def_bytes),
        ("the length of a page's repetition levels", header.rep_bytes),
    ] {
        if length < 0 {
            return impossible(what, length, most);
        }
    }
    // What a page really has when decompressed, not what it might be.
    let bytes = if codec == 0 { stored } else { uncompressed.unsigned_abs() };
    let most = bytes.saturating_mul(8).saturating_add(MOST_WEIGHTLESS);
    if u64::try_from(header.values).map_or(true, |values| values > most) {
        return impossible("the number of values of a page", header.values, most);
    }
    Ok(())
}

/// Compares a page's bytes with their checksum, if there is one: CRC-32, of which the header has the bits as
/// a signed number.
pub(crate) fn verify(header: &PageHeader, body: &[u8]) -> Result<()> {
    let Some(crc) = header.crc else { return Ok(()) };
    let (expected, found) = (crc as u32, crc32fast::hash(body));
    if expected != found {
        return Err(Error::mismatch("the checksum of a page", expected, found));
    }
    Ok(())
}

/// Decompresses a page behind what is in memory; the levels of the second version are as they are. Answers
/// where, or nothing if the page is to be taken as it is stored.
pub(crate) fn inflate(
    leaf: &Leaf,
    header: &PageHeader,
    codec: u32,
    body: &[u8],
    memory: &mut Vec<u8>,
    codecs: &mut Decompressor,
) -> Result<Option<Range<usize>>> {
    if codec == 0 {
        return Ok(None);
    }
    let of_levels = header.kind == DATA_2;
    if of_levels && !header.is_compressed && !leaf.always_compressed {
        // What the sizes say of that is usually right, and not of importance. But there are pages that are
        // compressed in spite of it, which would be read as numbers of some kind.
        let levels = header.def_bytes.saturating_add(header.rep_bytes);
        if header.uncompressed != body.len() as i64 && header.uncompressed > levels {
            let start = memory.len();
            let is_wrong = unpack(header, codec, body, memory, codecs).is_ok();
            memory.truncate(start);
            if is_wrong {
                let sizes = format!("{} bytes are {} when decompressed", body.len(), header.uncompressed);
                return Err(Error::fault(format!("a page that is said not to be compressed: its {sizes}")));
            }
        }
        return Ok(None);
    }
    unpack(header, codec, body, memory, codecs).map(Some)
}

fn unpack(
    header: &PageHeader,
    codec: u32,
    body: &[u8],
    memory: &mut Vec<u8>,
    codecs: &mut Decompressor,
) -> Result<Range<usize>> {
    let levels = if header.kind == DATA_2 { header.def_bytes.saturating_add(header.rep_bytes) } else { 0 };
    let whole = usize::try_from(header.uncompressed).unwrap_or(usize::MAX);
    let levels = usize::try_from(levels).ok().filter(|levels| *levels <= body.len() && *levels <= whole);
    let levels = levels.ok_or_else(|| Error::fault("levels longer than their page"))?;
    let start = memory.len();
    codecs.allow(codec::known_name(codec.into()).unwrap_or("unknown"), start.saturating_add(whole))?;
    let refused = |_| Error::new(ErrorKind::OutOfMemory { what: "a page", bytes: whole as u64 });
    memory.try_reserve(whole).map_err(refused)?;
    memory.extend_from_slice(&body[..levels]);
    memory.resize(start + whole, 0);
    // Nothing was compressed to something by some writers, to nothing by others.
    if whole > levels {
        decompress(codec, &body[levels..], &mut memory[start + levels..], codecs)?;
    }
    Ok(start..start + whole)
}

/// A decompressed page's parts.
pub(crate) fn split<'p>(leaf: &Leaf, header: PageHeader, bytes: &'p [u8]) -> Result<Page<'p>> {
    let mut rest = bytes;
    let mut take = |length: usize| {
        let (levels, more) =
            rest.split_at_checked(length).ok_or_else(|| Error::fault("levels longer than their page"))?;
        rest = more;
        Ok::<_, Error>(levels)
    };
    let mut levels = |max: u8, encoding: i64, length: i64| -> Result<&'p [u8]> {
        match (header.kind, encoding) {
            (DATA_2, _) => take(usize::try_from(length).unwrap_or(usize::MAX)),
            (_, _) if max == 0 => Ok(&[][..]),
            (_, 4) => take((header.values as usize).saturating_mul(width(max) as usize).div_ceil(8)),
            (_, 3) => {
                let length = take(4)?.first_chunk::<4>().map_or(0, |bytes| u32::from_le_bytes(*bytes));
                take(length as usize)
            }
            (_, other) => Err(Error::unsupported(format!("levels encoded as number {other}"))),
        }
    };
    let rep = levels(leaf.max_rep, header.rep_encoding, header.rep_bytes)?;
    let def = levels(leaf.max_def, header.def_encoding, header.def_bytes)?;
    Ok(Page { header, rep, def, values: rest })
}

/// Bits of a level.
pub(crate) const fn width(max: u8) -> u32 {
    8 - max.leading_zeros()
}
