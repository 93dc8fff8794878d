//! Envelopes and pages as records of the file.

use crate::frame::{Link, Locator};
use forthwith_io::Compressor;
use forthwith_plan::{Error, Result};
use forthwith_root::write::{Compression, DirectoryId, FileWriter, KeyKind, KeyText, compress};

/// Maximum size in bytes of a record of pages. ROOT continues longer ones in further records, which other
/// readers do not support.
pub(crate) const LONGEST: u64 = 1 << 30;

/// Writes an envelope, compressed.
pub(super) fn put(
    file: &mut FileWriter,
    compression: Compression,
    envelope: &[u8],
    longest: u64,
) -> Result<Link> {
    let stored = compress(compression, envelope, &mut Compressor::new())?;
    within(stored.len(), longest)?;
    let position = record(file, envelope.len(), &[&stored])?;
    let locator = Locator { size: stored.len() as u64, position };
    Ok(Link { length: envelope.len() as u64, locator })
}

/// Checks that readers do not expect a record to be continued in others.
pub(super) fn within(length: usize, longest: u64) -> Result<()> {
    if length as u64 <= longest {
        return Ok(());
    }
    let what = format!("a record of {length} bytes in an RNTuple whose records have at most {longest}");
    Err(Error::unsupported(what))
}

/// Appends a record that no directory lists. Returns the position of its payload.
pub(super) fn record(file: &mut FileWriter, length: usize, parts: &[&[u8]]) -> Result<u64> {
    let place = file.record(BLOB, DirectoryId::TOP, KeyKind::Blob, length, parts)?;
    Ok(place.position + u64::from(place.key_len))
}

/// Appends a record of a page and its checksum. Returns the position of the page.
pub(super) fn page(file: &mut FileWriter, bytes: &[u8]) -> Result<u64> {
    let place = file.hashed_record(BLOB, DirectoryId::TOP, KeyKind::Blob, bytes)?;
    Ok(place.position + u64::from(place.key_len))
}

/// Key of a record that no directory lists.
const BLOB: KeyText<'_> = KeyText { class: "RBlob", name: "", title: "" };
