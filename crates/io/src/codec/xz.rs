//! `.xz` containers, by liblzma.

use liblzma::bufread::XzDecoder;
use liblzma::stream::{Action, Check, Error, Status, Stream};
use std::io::{BufRead, Read};

use super::append::{Room, STEP, place};
use super::{Codec, CodecError};

const CODEC: Codec = Codec::Xz;

/// Upper bound on the memory of a decoder in bytes. The highest preset of `xz` requires 65 MiB.
const MEMORY_LIMIT: u64 = 128 << 20;

/// Decodes one stream; bytes after it are ignored. The library cannot reset a decoder, so each block creates
/// one; the cost is small compared to decoding.
pub(super) fn decompress(stored: &[u8], out: &mut [u8]) -> Result<usize, CodecError> {
    let expected = out.len();
    let mut stream = Stream::new_stream_decoder(MEMORY_LIMIT, 0).map_err(explain)?;
    let (mut used, mut produced) = (0, 0);
    loop {
        let status =
            stream.process(&stored[used..], &mut out[produced..], Action::Finish).map_err(explain)?;
        // The casts are lossless: the totals are at most the lengths of the slices.
        let before = (used, produced);
        (used, produced) = (stream.total_in() as usize, stream.total_out() as usize);
        match status {
            Status::StreamEnd if produced == expected => return Ok(used),
            Status::StreamEnd => return Err(CodecError::WrongLength { codec: CODEC, expected, produced }),
            _ if (used, produced) != before => {}
            // Without progress, either the input is at its end or the output is full.
            _ if used == stored.len() => {
                return Err(CodecError::Truncated { codec: CODEC, stored: stored.len() });
            }
            _ => return Err(CodecError::TooLong { codec: CODEC, expected }),
        }
    }
}

fn explain(error: Error) -> CodecError {
    match error {
        Error::Options => CodecError::Unsupported { codec: CODEC, feature: "a filter" },
        Error::MemLimit => CodecError::MemoryLimit { codec: CODEC, limit: MEMORY_LIMIT },
        Error::Mem => CodecError::OutOfMemory { codec: CODEC },
        _ => CodecError::Corrupt { codec: CODEC },
    }
}

/// Decodes one stream of unknown length.
pub(super) fn append(stored: &[u8], room: &mut Room<'_>) -> Result<usize, CodecError> {
    let mut stream = Stream::new_stream_decoder(MEMORY_LIMIT, 0).map_err(explain)?;
    room.make(stored.len().saturating_mul(4).max(STEP))?;
    loop {
        let (used, produced) = (stream.total_in() as usize, stream.total_out() as usize);
        let status = stream
            .process(&stored[used..], &mut room.make(0)?[produced..], Action::Finish)
            .map_err(explain)?;
        let now = (stream.total_in() as usize, stream.total_out() as usize);
        match status {
            Status::StreamEnd => return Ok(now.1),
            _ if now.1 == room.make(0)?.len() => room.more()?,
            _ if now == (used, produced) => {
                return Err(CodecError::Truncated { codec: CODEC, stored: stored.len() });
            }
            _ => {}
        }
    }
}

/// Compresses a block into `scratch` from offset `front` on, and returns its compressed length.
pub(super) fn compress(
    level: u32,
    bytes: &[u8],
    scratch: &mut Vec<u8>,
    front: usize,
) -> Result<usize, CodecError> {
    let refused = |_| CodecError::OutOfMemory { codec: CODEC };
    let mut stream = Stream::new_easy_encoder(level, Check::Crc64).map_err(refused)?;
    loop {
        let (used, made) = (stream.total_in() as usize, stream.total_out() as usize);
        let room = place(scratch, front + made, STEP, CODEC)?;
        if stream.process(&bytes[used..], room, Action::Finish).map_err(refused)? == Status::StreamEnd {
            return Ok(stream.total_out() as usize);
        }
    }
}

/// Returns a reader of the decompressed bytes of one or more concatenated streams.
pub fn reader<'a>(input: impl BufRead + Send + 'a) -> Box<dyn Read + Send + 'a> {
    Box::new(XzDecoder::new_multi_decoder(input))
}
