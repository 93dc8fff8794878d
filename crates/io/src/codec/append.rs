//! Decompression of blocks whose decompressed length is not known in advance.

use super::{Codec, CodecError, lz4};

/// Output buffer of a block: the bytes of `memory` from offset `at` on. It grows on demand, up to `limit`
/// bytes. The vector is never shortened, so that its bytes are zeroed once and not for each block.
pub(super) struct Room<'a> {
    memory: &'a mut Vec<u8>,
    at: usize,
    limit: usize,
    codec: Codec,
}

/// Minimum number of bytes by which an output buffer grows.
pub(super) const STEP: usize = 64 << 10;

impl<'a> Room<'a> {
    pub(super) fn new(memory: &'a mut Vec<u8>, at: usize, limit: usize, codec: Codec) -> Self {
        Self { memory, at, limit, codec }
    }

    /// Grows the buffer to at least `wanted` bytes, or to the limit if that is lower, and returns all of it.
    pub(super) fn make(&mut self, wanted: usize) -> Result<&mut [u8], CodecError> {
        let length = self.at.saturating_add(wanted.min(self.limit));
        if self.memory.len() < length {
            let refused = |_| CodecError::OutOfMemory { codec: self.codec };
            self.memory.try_reserve(length - self.memory.len()).map_err(refused)?;
            self.memory.resize(length, 0);
        }
        let end = self.memory.len().min(self.at.saturating_add(self.limit));
        Ok(&mut self.memory[self.at..end])
    }

    /// Doubles the size of the buffer, up to the limit; an error if the buffer is already that large.
    pub(super) fn more(&mut self) -> Result<(), CodecError> {
        let had = self.make(0)?.len();
        if had >= self.limit {
            return Err(CodecError::TooLong { codec: self.codec, expected: self.limit });
        }
        self.make(had.saturating_mul(2).max(STEP)).map(drop)
    }
}

/// Returns `bytes` bytes of `scratch` from offset `before` on, with unspecified contents; `scratch` grows if
/// needed.
pub(super) fn place(
    scratch: &mut Vec<u8>,
    before: usize,
    bytes: usize,
    codec: Codec,
) -> Result<&mut [u8], CodecError> {
    let end = before + bytes;
    if scratch.len() < end {
        let missing = end - scratch.len();
        scratch.try_reserve(missing).map_err(|_| CodecError::OutOfMemory { codec })?;
        scratch.resize(end, 0);
    }
    Ok(&mut scratch[before..end])
}

/// Decodes a snappy block that is followed by the CRC-32 of the decompressed bytes, in big-endian order.
pub(super) fn snappy(
    context: &mut snap::raw::Decoder,
    stored: &[u8],
    room: &mut Room<'_>,
) -> Result<usize, CodecError> {
    let codec = Codec::Snappy;
    let Some((body, sum)) = stored.split_last_chunk::<4>() else {
        return Err(CodecError::Truncated { codec, stored: stored.len() });
    };
    let explain = |error: snap::Error| match error {
        snap::Error::Empty => CodecError::Truncated { codec, stored: stored.len() },
        snap::Error::TooBig { .. } | snap::Error::BufferTooSmall { .. } => {
            CodecError::TooLong { codec, expected: 0 }
        }
        _ => CodecError::Corrupt { codec },
    };
    let length = snap::raw::decompress_len(body).map_err(explain)?;
    // A copy element of three bytes produces at most 64 bytes.
    if length > body.len().saturating_mul(22).saturating_add(64) {
        return Err(CodecError::Corrupt { codec });
    }
    let out = room.make(length)?;
    if out.len() < length {
        return Err(CodecError::TooLong { codec, expected: out.len() });
    }
    let produced = context.decompress(body, &mut out[..length]).map_err(explain)?;
    let (expected, found) = (u32::from_be_bytes(*sum), crc32fast::hash(&out[..produced]));
    if expected != found {
        return Err(CodecError::Checksum { codec, expected: expected.into(), found: found.into() });
    }
    Ok(produced)
}

/// Decodes an LZ4 block that is preceded by its decompressed length, a little-endian `u32`.
pub(super) fn sized_lz4(stored: &[u8], room: &mut Room<'_>) -> Result<usize, CodecError> {
    let codec = Codec::SizedLz4;
    let Some((length, body)) = stored.split_first_chunk::<4>() else {
        return Err(CodecError::Truncated { codec, stored: stored.len() });
    };
    let length = u32::from_le_bytes(*length) as usize;
    // A byte of an LZ4 block produces at most 255 bytes.
    if length > body.len().saturating_mul(255) {
        return Err(CodecError::Corrupt { codec });
    }
    let out = room.make(length)?;
    if out.len() < length {
        return Err(CodecError::TooLong { codec, expected: out.len() });
    }
    lz4::decompress(body, &mut out[..length])?;
    Ok(length)
}

/// Decodes one bzip2 stream; bytes after it are ignored.
pub(super) fn bzip2(stored: &[u8], room: &mut Room<'_>) -> Result<usize, CodecError> {
    let codec = Codec::Bzip2;
    let mut stream = bzip2::Decompress::new(false);
    room.make(stored.len().saturating_mul(4).max(STEP))?;
    loop {
        let (used, produced) = (stream.total_in() as usize, stream.total_out() as usize);
        let status = stream
            .decompress(&stored[used..], &mut room.make(0)?[produced..])
            .map_err(|_| CodecError::Corrupt { codec })?;
        let now = (stream.total_in() as usize, stream.total_out() as usize);
        match status {
            bzip2::Status::StreamEnd => return Ok(now.1),
            _ if now.1 == room.make(0)?.len() => room.more()?,
            _ if now == (used, produced) || now.0 == stored.len() && now.1 == produced => {
                return Err(CodecError::Truncated { codec, stored: stored.len() });
            }
            _ => {}
        }
    }
}
