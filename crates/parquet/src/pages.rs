//! Pages of a column chunk: they are located, checked against the footer, decompressed and split.

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

/// Number of values of a page that take no bits: nulls in one run, or a repeated value. Writers have made row
/// groups of 64 Mi rows with one page per column. The memory that such pages decode to is bounded by
/// `memory=` only.
const MOST_WEIGHTLESS: u64 = 1 << 26;
/// Number of bytes that zstd and brotli may produce from almost no input.
const LARGEST_REPEATED: u64 = 256 << 20;

/// The sections of a decompressed page.
pub(crate) struct Page<'a> {
    pub(crate) header: PageHeader,
    pub(crate) rep: &'a [u8],
    pub(crate) def: &'a [u8],
    pub(crate) values: &'a [u8],
}

/// Iterator over the data pages of a chunk.
pub(crate) struct Pages<'a> {
    pub(crate) leaf: &'a Leaf,
    pub(crate) codec: u32,
    pub(crate) stored: &'a [u8],
    pub(crate) at: usize,
    /// Offset of the current page.
    pub(crate) page: u64,
    /// Number of rows of the pages so far, if the values are not in lists.
    pub(crate) rows: u64,
    /// Number of rows in skipped pages that were not reported yet.
    pub(crate) skipped: u64,
    /// Number of values in the footer, and how many of them the remaining pages have.
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

    /// Returns an error if another page follows that exceeds the number of rows or values. Other bytes may
    /// follow the last page.
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

    /// Returns the next page with requested rows, as it is stored.
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
                    // The number of values in the footer is checked, because nothing else confirms that of a
                    // page.
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
        // No page is left.
        if self.left > 0 { Err(self.wrong_values(self.values - self.left)) } else { Ok(None) }
    }
}

#[cold]
pub(crate) fn wrong_rows(expected: u64, found: u64) -> Error {
    Error::mismatch("the number of rows of a column chunk", expected, found)
}

/// Converts a length in a header to `u64`.
fn sized(length: i64) -> Result<u64> {
    let found = length;
    u64::try_from(length).map_err(|_| Error::out_of_range("the length of a page", found, i32::MAX))
}

/// Checks that lengths and counts of a page header are plausible.
pub(crate) fn check(header: &PageHeader, codec: u32, stored: u64) -> Result<()> {
    let impossible = |what, found, limit: u64| {
        Err(Error::out_of_range(what, found, i64::try_from(limit).unwrap_or(i64::MAX)))
    };
    let least = if matches!(codec, 4 | 6) { LARGEST_REPEATED } else { 4096 };
    let most = stored.saturating_mul(LARGEST_EXPANSION).saturating_add(least);
    // The decompressed length of an uncompressed page is not used.
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
    // Length of the page when decompressed.
    let bytes = if codec == 0 { stored } else { uncompressed.unsigned_abs() };
    let most = bytes.saturating_mul(8).saturating_add(MOST_WEIGHTLESS);
    if u64::try_from(header.values).map_or(true, |values| values > most) {
        return impossible("the number of values of a page", header.values, most);
    }
    Ok(())
}

/// Verifies the CRC-32 checksum of a page's bytes, if there is one. The header stores it as a signed integer.
pub(crate) fn verify(header: &PageHeader, body: &[u8]) -> Result<()> {
    let Some(crc) = header.crc else { return Ok(()) };
    let (expected, found) = (crc as u32, crc32fast::hash(body));
    if expected != found {
        return Err(Error::mismatch("the checksum of a page", expected, found));
    }
    Ok(())
}

/// Appends a decompressed page to `memory`, and returns its range; `None` if the page is used as it is
/// stored. The levels of pages of version 2 are not compressed, and are copied.
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
        // The decompressed length does not matter for such a page. But some pages are compressed although
        // their header denies it, and would be decoded to arbitrary values.
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
    // Some writers do not compress an empty section, others compress it to some bytes.
    if whole > levels {
        decompress(codec, &body[levels..], &mut memory[start + levels..], codecs)?;
    }
    Ok(start..start + whole)
}

/// Splits a decompressed page into its sections.
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

/// Returns the number of bits of a level.
pub(crate) const fn width(max: u8) -> u32 {
    8 - max.leading_zeros()
}
