//! Blocks that do not say how much they hold.

use super::{Codec, CodecError, lz4};

/// Where a block is decompressed to: behind the first bytes of a vector, which grows, up to a limit. What is
/// behind the end in the vector is kept as it is, so that memory is made once and not for each block.
pub(super) struct Room<'a> {
    memory: &'a mut Vec<u8>,
    at: usize,
    limit: usize,
    codec: Codec,
}

/// The least that is grown by.
pub(super) const STEP: usize = 64 << 10;

impl<'a> Room<'a> {
    pub(super) fn new(memory: &'a mut Vec<u8>, at: usize, limit: usize, codec: Codec) -> Self {
        Self { memory, at, limit, codec }
    }

    /// Makes room for `wanted` bytes, or as many as are allowed.
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

    /// At least twice as much room as there was, or an error if that is not allowed.
    pub(super) fn more(&mut self) -> Result<(), CodecError> {
        let had = self.make(0)?.len();
        if had >= self.limit {
            return Err(CodecError::TooLong { codec: self.codec, expected: self.limit });
        }
        self.make(had.saturating_mul(2).max(STEP)).map(drop)
    }
}

/// Room for this number of bytes behind those before, which hold anything.
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

/// A snappy block with the checksum of what it holds behind it, four bytes, the most significant first.
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
    // No three bytes make more than sixty-four.
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

/// An LZ4 block behind its decompressed length, a little-endian number of four bytes.
pub(super) fn sized_lz4(stored: &[u8], room: &mut Room<'_>) -> Result<usize, CodecError> {
    let codec = Codec::SizedLz4;
    let Some((length, body)) = stored.split_first_chunk::<4>() else {
        return Err(CodecError::Truncated { codec, stored: stored.len() });
    };
    let length = u32::from_le_bytes(*length) as usize;
    // No byte makes more than 255.
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

/// One stream.
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
