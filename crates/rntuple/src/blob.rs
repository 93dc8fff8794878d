//! Reads the bytes at locators and links.

use crate::frame::{Link, Locator, Reader};
use bytes::Bytes;
use forthwith_io::{Decompressor, Source, xxh3};
use forthwith_plan::{Error, ErrorKind, Result};
use forthwith_root::{check_record, decompress_record};

/// Reads the bytes at a locator, and `checksum` further bytes. If there are more than `longest`, the rest is
/// in other records, whose positions are at the end of the first; 0 means no limit.
pub(crate) fn read(source: &dyn Source, locator: Locator, checksum: u64, longest: u64) -> Result<Bytes> {
    let whole = locator.size.saturating_add(checksum);
    let one = |position: u64, size: u64| -> Result<Bytes> {
        Ok(source.read_one(Locator { size, position }.range()?)?)
    };
    if longest == 0 || whole <= longest {
        return one(locator.position, whole);
    }
    let size = source.size()?;
    if whole > size {
        return Err(Error::truncated("a blob in several records", whole, size));
    }
    let mut pieces = whole.div_ceil(longest);
    // The positions of the other records have to fit into the first one.
    if pieces * longest - whole < (pieces - 1).saturating_mul(8) {
        pieces += 1;
    }
    let positions = (pieces - 1).saturating_mul(8);
    let Some(kept) = longest.checked_sub(positions) else {
        return Err(Error::out_of_range("the number of records of a blob", pieces, longest / 8));
    };
    let first = one(locator.position, longest)?;
    let (mut bytes, rest) =
        first.split_at_checked(kept as usize).map(|(kept, rest)| (kept.to_vec(), rest)).unwrap_or_default();
    for position in rest.as_chunks::<8>().0 {
        let more = longest.min(whole - bytes.len() as u64);
        bytes.extend_from_slice(&one(u64::from_le_bytes(*position), more)?);
    }
    if bytes.len() as u64 != whole {
        return Err(Error::mismatch("the length of a blob in several records", whole, bytes.len()));
    }
    Ok(bytes.into())
}

/// Reads the payload of a record, decompressed.
pub(crate) fn object(source: &dyn Source, link: Link) -> Result<Bytes> {
    decompressed(&read(source, link.locator, 0, 0)?, link.length, ENVELOPE)
}

/// Kind of an envelope: the number with which it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Envelope {
    Header = 1,
    Footer = 2,
    PageList = 3,
}

impl Envelope {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Header => "header",
            Self::Footer => "footer",
            Self::PageList => "page list",
        }
    }
}

/// Reads an envelope and decompresses it. With `verify`, its checksum is verified, which is the last eight of
/// the bytes returned.
pub(crate) fn envelope(
    source: &dyn Source,
    link: Link,
    kind: Envelope,
    longest: u64,
    verify: bool,
) -> Result<Bytes> {
    let here = |error: Error| error.in_member(kind.name()).at_byte(link.locator.position);
    let bytes = envelope_of(source, link, kind, longest, verify).map_err(here)?;
    Ok(bytes)
}

fn envelope_of(source: &dyn Source, link: Link, kind: Envelope, longest: u64, verify: bool) -> Result<Bytes> {
    let stored = read(source, link.locator, 0, longest)?;
    let bytes = decompressed(&stored, link.length, ENVELOPE)?;
    let Some((all, hash)) = bytes.split_last_chunk::<8>().filter(|(all, _)| all.len() >= 8) else {
        return Err(Error::truncated("an envelope", 16, bytes.len()));
    };
    let (found, expected) = (xxh3(all), u64::from_le_bytes(*hash));
    if verify && found != expected {
        return Err(Error::mismatch("the checksum of an envelope", expected, found));
    }
    let word = Reader::new(all, 0).u64("an envelope")?;
    let (is, length) = (word & 0xffff, word >> 16);
    if is != kind as u64 {
        return Err(Error::mismatch("the type of an envelope", kind as u64, is));
    }
    if length != link.length {
        return Err(Error::mismatch("the length of an envelope", link.length, length));
    }
    Ok(bytes)
}

/// Returns a reader of an envelope's body, which is between its first word and its checksum.
pub(crate) fn body(envelope: &[u8]) -> Reader<'_> {
    Reader::new(envelope.get(8..envelope.len().saturating_sub(8)).unwrap_or_default(), 8)
}

/// Returns the checksum of an envelope.
pub(crate) fn checksum(envelope: &[u8]) -> u64 {
    envelope.last_chunk().map_or(0, |hash| u64::from_le_bytes(*hash))
}

/// Descriptions of an envelope's length and of an envelope, for errors.
const ENVELOPE: [&str; 2] = ["the stored length", "an envelope"];

/// Returns stored bytes, decompressed unless they have the length already.
pub(crate) fn decompressed(stored: &Bytes, length: u64, [what, of]: [&'static str; 2]) -> Result<Bytes> {
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    if length < stored.len() {
        return Err(Error::mismatch(what, length, stored.len()));
    }
    if length == stored.len() {
        return Ok(stored.clone());
    }
    check_record(stored, length)?;
    let mut bytes = Vec::new();
    if bytes.try_reserve_exact(length).is_err() {
        return Err(ErrorKind::OutOfMemory { what: of, bytes: length as u64 }.into());
    }
    bytes.resize(length, 0);
    decompress_record(stored, &mut bytes, &mut Decompressor::new())?;
    Ok(bytes.into())
}
