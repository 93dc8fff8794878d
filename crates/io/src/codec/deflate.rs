//! Zlib and raw deflate streams, by libdeflate, which processes a whole block at once.

use libdeflater::{CompressionLvl, Compressor, DecompressionError, Decompressor, adler32};

use super::append::{Room, STEP, place};
use super::{Codec, CodecError};
use crate::has_headroom;

/// Decompressor of the library, reused between blocks.
pub(super) type Context = Decompressor;

/// Length of the zlib header in bytes.
const ZLIB_HEADER: usize = 2;
/// Length of the Adler-32 checksum after the deflate stream in bytes.
const ZLIB_TRAILER: usize = 4;

pub(super) fn zlib(context: &mut Decompressor, stored: &[u8], out: &mut [u8]) -> Result<usize, CodecError> {
    let codec = Codec::Zlib;
    if stored.len() < ZLIB_HEADER + ZLIB_TRAILER {
        return Err(CodecError::Truncated { codec, stored: stored.len() });
    }
    // Bit 5 of the flags (FDICT) requires a preset dictionary, which is not part of the stream.
    let valid = u16::from_be_bytes([stored[0], stored[1]]).is_multiple_of(31) && stored[0] & 0x0F == 8;
    if valid && stored[1] & 0x20 != 0 {
        return Err(CodecError::Unsupported { codec, feature: "a preset dictionary" });
    }
    match context.zlib_decompress(stored, out) {
        Err(DecompressionError::BadData) => Err(why_bad(context, stored, out, valid)),
        result => finish(codec, stored, out, result),
    }
}

pub(super) fn bare(context: &mut Decompressor, stored: &[u8], out: &mut [u8]) -> Result<usize, CodecError> {
    let codec = Codec::OldDeflate;
    if stored.is_empty() {
        return Err(CodecError::Truncated { codec, stored: 0 });
    }
    let result = context.deflate_decompress(stored, out);
    finish(codec, stored, out, result)
}

fn finish(
    codec: Codec,
    stored: &[u8],
    out: &[u8],
    result: Result<usize, DecompressionError>,
) -> Result<usize, CodecError> {
    let expected = out.len();
    match result {
        Ok(produced) if produced == expected => Ok(stored.len()),
        Ok(produced) => Err(CodecError::WrongLength { codec, expected, produced }),
        Err(DecompressionError::InsufficientSpace) => Err(CodecError::TooLong { codec, expected }),
        Err(DecompressionError::BadData) => Err(CodecError::Corrupt { codec }),
    }
}

/// Returns the error of a block for which libdeflate reports only `BadData`: a checksum mismatch if the
/// deflate stream between header and checksum decompresses to `out.len()` bytes, otherwise a corrupt block.
fn why_bad(context: &mut Decompressor, stored: &[u8], out: &mut [u8], valid: bool) -> CodecError {
    let codec = Codec::Zlib;
    let (body, trailer) = stored[ZLIB_HEADER..].split_at(stored.len() - ZLIB_HEADER - ZLIB_TRAILER);
    if valid
        && let Ok(produced) = context.deflate_decompress(body, out)
        && produced == out.len()
    {
        let expected = trailer.iter().fold(0, |sum, &byte| sum << 8 | u64::from(byte));
        let found = u64::from(adler32(out));
        if found != expected {
            return CodecError::Checksum { codec, expected, found };
        }
    }
    CodecError::Corrupt { codec }
}

/// Decompresses one gzip member. Returns whether it is valid and has exactly `out.len()` bytes.
pub(super) fn gzip_member(context: &mut Decompressor, stored: &[u8], out: &mut [u8]) -> bool {
    context.gzip_decompress(stored, out).is_ok_and(|produced| produced == out.len())
}

/// Decompresses a raw deflate stream of unknown length. `ratio` is the compression ratio of the previous
/// stream, from which the first size of the buffer is estimated, and is updated.
pub(super) fn append(
    context: &mut Decompressor,
    ratio: &mut usize,
    stored: &[u8],
    room: &mut Room<'_>,
) -> Result<usize, CodecError> {
    let codec = Codec::OldDeflate;
    if stored.is_empty() {
        return Err(CodecError::Truncated { codec, stored: 0 });
    }
    room.make(stored.len().saturating_mul((*ratio).max(2) + 1).max(STEP))?;
    loop {
        match context.deflate_decompress(stored, room.make(0)?) {
            Ok(produced) => {
                *ratio = (produced / stored.len()).min(1032);
                return Ok(produced);
            }
            Err(DecompressionError::InsufficientSpace) => room.more()?,
            Err(DecompressionError::BadData) => return Err(CodecError::Corrupt { codec }),
        }
    }
}

/// Compresses blocks and reuses the library's compressor while the level stays the same.
#[derive(Default)]
pub(super) struct Compress(Option<(i32, Compressor)>);

impl Compress {
    /// Compresses a block into `scratch` from offset `front` on, and returns its compressed length.
    pub(super) fn run(
        &mut self,
        codec: Codec,
        level: i32,
        bytes: &[u8],
        scratch: &mut Vec<u8>,
        front: usize,
    ) -> Result<usize, CodecError> {
        let refused = CodecError::OutOfMemory { codec };
        let context = match &mut self.0 {
            Some((known, context)) if *known == level => context,
            other => {
                // The constructor of the library panics if allocation fails.
                if !has_headroom(0) {
                    return Err(refused);
                }
                let level_of = CompressionLvl::new(level).unwrap_or_default();
                &mut other.insert((level, Compressor::new(level_of))).1
            }
        };
        let zlib = codec == Codec::Zlib;
        let bound = match zlib {
            true => context.zlib_compress_bound(bytes.len()),
            false => context.deflate_compress_bound(bytes.len()),
        };
        let room = place(scratch, front, bound, codec)?;
        let written = match zlib {
            true => context.zlib_compress(bytes, room),
            false => context.deflate_compress(bytes, room),
        };
        written.map_err(|_| refused)
    }
}
