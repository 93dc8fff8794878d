//! Zlib and raw deflate streams in Rust, for targets without a C compiler.

use flate2::{Compress as Encoder, Compression, Decompress, FlushCompress, FlushDecompress, Status};

use super::append::{Room, STEP, place};
use super::{Codec, CodecError};

/// Empty: these functions reuse nothing between blocks.
pub(super) type Context = ();

/// Length of the zlib header in bytes.
const ZLIB_HEADER: usize = 2;
/// Length of the Adler-32 checksum after the deflate stream in bytes.
const ZLIB_TRAILER: usize = 4;

pub(super) fn zlib((): &mut Context, stored: &[u8], out: &mut [u8]) -> Result<usize, CodecError> {
    let codec = Codec::Zlib;
    if stored.len() < ZLIB_HEADER + ZLIB_TRAILER {
        return Err(CodecError::Truncated { codec, stored: stored.len() });
    }
    // Bit 5 of the flags (FDICT) requires a preset dictionary, which is not part of the stream.
    let valid = u16::from_be_bytes([stored[0], stored[1]]).is_multiple_of(31) && stored[0] & 0x0F == 8;
    if valid && stored[1] & 0x20 != 0 {
        return Err(CodecError::Unsupported { codec, feature: "a preset dictionary" });
    }
    let done = exactly(codec, true, stored, out);
    if valid && done == Err(CodecError::Corrupt { codec }) {
        // The library does not distinguish a wrong checksum from other errors.
        let (body, trailer) = stored[ZLIB_HEADER..].split_at(stored.len() - ZLIB_HEADER - ZLIB_TRAILER);
        exactly(codec, false, body, out).map_err(|_| CodecError::Corrupt { codec })?;
        let expected = trailer.iter().fold(0, |sum, &byte| sum << 8 | u64::from(byte));
        return Err(CodecError::Checksum { codec, expected, found: adler32(out).into() });
    }
    done
}

/// Returns the Adler-32 checksum of zlib (RFC 1950, section 8.2).
fn adler32(bytes: &[u8]) -> u32 {
    let (mut a, mut b) = (1, 0);
    for byte in bytes {
        a = (a + u32::from(*byte)) % 65521;
        b = (b + a) % 65521;
    }
    b << 16 | a
}

pub(super) fn bare((): &mut Context, stored: &[u8], out: &mut [u8]) -> Result<usize, CodecError> {
    let codec = Codec::OldDeflate;
    if stored.is_empty() {
        return Err(CodecError::Truncated { codec, stored: 0 });
    }
    exactly(codec, false, stored, out)
}

fn exactly(codec: Codec, header: bool, stored: &[u8], out: &mut [u8]) -> Result<usize, CodecError> {
    let expected = out.len();
    let mut stream = Decompress::new(header);
    // A byte of output beyond the expected ones shows that the block is too long.
    let mut beyond = [0];
    loop {
        // The totals are at most the lengths of the slices given.
        let (used, produced) = (stream.total_in() as usize, stream.total_out() as usize);
        let room = if produced < expected { &mut out[produced..] } else { &mut beyond[..] };
        let status = stream
            .decompress(&stored[used..], room, FlushDecompress::Finish)
            .map_err(|_| CodecError::Corrupt { codec })?;
        let now = (stream.total_in() as usize, stream.total_out() as usize);
        match status {
            _ if now.1 > expected => return Err(CodecError::TooLong { codec, expected }),
            Status::StreamEnd if now.1 == expected => return Ok(stored.len()),
            Status::StreamEnd => return Err(CodecError::WrongLength { codec, expected, produced: now.1 }),
            // libdeflate reports a truncated stream as corrupt, too.
            _ if now == (used, produced) => return Err(CodecError::Corrupt { codec }),
            _ => {}
        }
    }
}

/// Returns `false`: gzip members are decoded by `flate2`.
pub(super) const fn gzip_member((): &mut Context, _: &[u8], _: &mut [u8]) -> bool {
    false
}

/// Decompresses a raw deflate stream of unknown length. `ratio` is the compression ratio of the previous
/// stream, from which the first size of the buffer is estimated, and is updated.
pub(super) fn append(
    (): &mut Context,
    ratio: &mut usize,
    stored: &[u8],
    room: &mut Room<'_>,
) -> Result<usize, CodecError> {
    let codec = Codec::OldDeflate;
    if stored.is_empty() {
        return Err(CodecError::Truncated { codec, stored: 0 });
    }
    let mut stream = Decompress::new(false);
    room.make(stored.len().saturating_mul((*ratio).max(2) + 1).max(STEP))?;
    loop {
        let (used, produced) = (stream.total_in() as usize, stream.total_out() as usize);
        let status = stream
            .decompress(&stored[used..], &mut room.make(0)?[produced..], FlushDecompress::Finish)
            .map_err(|_| CodecError::Corrupt { codec })?;
        let now = (stream.total_in() as usize, stream.total_out() as usize);
        match status {
            Status::StreamEnd => {
                *ratio = (now.1 / stored.len()).min(1032);
                return Ok(now.1);
            }
            _ if now.1 == room.make(0)?.len() => room.more()?,
            _ if now == (used, produced) => return Err(CodecError::Corrupt { codec }),
            _ => {}
        }
    }
}

/// Compresses blocks.
#[derive(Default)]
pub(super) struct Compress;

impl Compress {
    /// Compresses a block into `scratch` from offset `front` on, and returns its compressed length. Levels
    /// above 9 are taken as 9.
    pub(super) fn run(
        &mut self,
        codec: Codec,
        level: i32,
        bytes: &[u8],
        scratch: &mut Vec<u8>,
        front: usize,
    ) -> Result<usize, CodecError> {
        let refused = |_| CodecError::OutOfMemory { codec };
        let level = Compression::new(level.unsigned_abs().min(9));
        let mut stream = Encoder::new(level, codec == Codec::Zlib);
        loop {
            let (used, made) = (stream.total_in() as usize, stream.total_out() as usize);
            let room = place(scratch, front + made, STEP, codec)?;
            let status = stream.compress(&bytes[used..], room, FlushCompress::Finish).map_err(refused)?;
            if status == Status::StreamEnd {
                return Ok(stream.total_out() as usize);
            }
        }
    }
}
