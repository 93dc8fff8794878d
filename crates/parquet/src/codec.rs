//! Codecs of pages: the length of what comes out is known.

use forthwith_io::{Codec, CodecError, Decompressor};
use forthwith_plan::{Error, ErrorKind, Result};
use std::io::Read;

/// The codecs by the numbers that files have for them.
pub(crate) const CODECS: [(u32, &str); 7] =
    [(0, "none"), (1, "snappy"), (2, "gzip"), (4, "brotli"), (5, "lz4"), (6, "zstd"), (7, "lz4_raw")];

/// The name of a codec.
pub(crate) fn name(number: i64) -> String {
    known_name(number).map_or_else(|| format!("codec {number}"), ToOwned::to_owned)
}

/// The name of a codec that there is.
pub(crate) fn known_name(number: i64) -> Option<&'static str> {
    CODECS.iter().find(|(known, _)| i64::from(*known) == number).map(|(_, name)| *name)
}

#[cold]
fn bad(codec: &str, what: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Fault { what: format!("a page compressed by {codec}: {what}") })
}

/// Decompresses so much, and no more or less.
pub(crate) fn decompress(codec: u32, stored: &[u8], out: &mut [u8], codecs: &mut Decompressor) -> Result<()> {
    let produced = match codec {
        1 => {
            let length = snap::raw::decompress_len(stored).map_err(|e| bad("snappy", e))?;
            if length > out.len() {
                return Err(bad("snappy", format_args!("it holds {length} bytes rather than {}", out.len())));
            }
            snap::raw::Decoder::new().decompress(stored, out).map_err(|e| bad("snappy", e))?
        }
        2 => gzip(stored, out)?,
        4 => {
            let mut reader = brotli_decompressor::Decompressor::new(stored, 4096);
            fill(&mut reader, out).map_err(|e| bad("brotli", e))?
        }
        5 => old_lz4(stored, out, codecs)?,
        6 => exactly(Codec::Zstd, stored, out, codecs)?,
        7 => exactly(Codec::Lz4, stored, out, codecs)?,
        other => return Err(Error::unsupported(format!("pages compressed by codec number {other}"))),
    };
    if produced != out.len() {
        let (expected, found) = (out.len() as u64, produced as u64);
        return Err(ErrorKind::Mismatch { what: "the length of a page", expected, found }.into());
    }
    Ok(())
}

fn exactly(codec: Codec, stored: &[u8], out: &mut [u8], codecs: &mut Decompressor) -> Result<usize> {
    codecs.decompress(codec, stored, out).map_err(|e: CodecError| Error::new(e))?;
    Ok(out.len())
}

/// Reads until nothing is left or `out` is full; if more is left, the answer is more than fits.
fn fill(reader: &mut dyn Read, out: &mut [u8]) -> std::io::Result<usize> {
    let mut at = 0;
    while at < out.len() {
        match reader.read(&mut out[at..])? {
            0 => return Ok(at),
            read => at += read,
        }
    }
    Ok(at + reader.read(&mut [0])?)
}

/// One member as a rule, and then whole and fast.
fn gzip(stored: &[u8], out: &mut [u8]) -> Result<usize> {
    match libdeflater::Decompressor::new().gzip_decompress(stored, out) {
        Ok(produced) if produced == out.len() => Ok(produced),
        _ => {
            let mut members = flate2::read::MultiGzDecoder::new(stored);
            fill(&mut members, out).map_err(|e| bad("gzip", e))
        }
    }
}

/// What was called LZ4 before it was said what that is: Hadoop's pieces with their lengths before them, or a bare block, or a frame.
fn old_lz4(stored: &[u8], out: &mut [u8], codecs: &mut Decompressor) -> Result<usize> {
    if let Some(produced) = hadoop(stored, out) {
        return Ok(produced);
    }
    if codecs.decompress(Codec::Lz4, stored, out).is_ok() {
        return Ok(out.len());
    }
    fill(&mut lz4_flex::frame::FrameDecoder::new(stored), out).map_err(|e| bad("lz4", e))
}

fn hadoop(mut stored: &[u8], out: &mut [u8]) -> Option<usize> {
    let mut at = 0usize;
    while !stored.is_empty() {
        let (whole, rest) = stored.split_first_chunk::<4>()?;
        let (packed, rest) = rest.split_first_chunk::<4>()?;
        let (whole, packed) = (u32::from_be_bytes(*whole) as usize, u32::from_be_bytes(*packed) as usize);
        let (block, rest) = rest.split_at_checked(packed)?;
        let to = out.get_mut(at..at.checked_add(whole)?)?;
        if lz4_flex::block::decompress_into(block, to).ok()? != whole {
            return None;
        }
        at += whole;
        stored = rest;
    }
    Some(at)
}
