//! `.xz` containers in Rust, for targets without a C compiler.

use lzma_rust2::{Action, Status, XzOptions, XzReader, XzStream, XzWriter};
use std::io::{BufRead, Error, ErrorKind, Read, Write};

use super::append::{Room, STEP, place};
use super::{Codec, CodecError};

const CODEC: Codec = Codec::Xz;

/// Upper bound on the memory of a decoder in bytes. The highest preset of `xz` requires 65 MiB.
const MEMORY_LIMIT: u64 = 128 << 20;

fn stream() -> XzStream {
    XzStream::new_mem_limit(false, (MEMORY_LIMIT >> 10) as u32)
}

/// Decodes one stream; bytes after it are ignored.
pub(super) fn decompress(stored: &[u8], out: &mut [u8]) -> Result<usize, CodecError> {
    let expected = out.len();
    let mut stream = stream();
    let (mut used, mut produced) = (0, 0);
    loop {
        let done = stream
            .process(&stored[used..], &mut out[produced..], Action::Finish)
            .map_err(|error| explain(&error, stored.len()))?;
        let before = (used, produced);
        used += done.bytes_consumed;
        produced += done.bytes_produced;
        match done.status {
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

fn explain(error: &Error, stored: usize) -> CodecError {
    match error.kind() {
        ErrorKind::UnexpectedEof => CodecError::Truncated { codec: CODEC, stored },
        ErrorKind::OutOfMemory => CodecError::MemoryLimit { codec: CODEC, limit: MEMORY_LIMIT },
        ErrorKind::Unsupported => CodecError::Unsupported { codec: CODEC, feature: "a filter" },
        _ => CodecError::Corrupt { codec: CODEC },
    }
}

/// Decodes one stream of unknown length.
pub(super) fn append(stored: &[u8], room: &mut Room<'_>) -> Result<usize, CodecError> {
    let mut stream = stream();
    let (mut used, mut produced) = (0, 0);
    room.make(stored.len().saturating_mul(4).max(STEP))?;
    loop {
        let done = stream
            .process(&stored[used..], &mut room.make(0)?[produced..], Action::Finish)
            .map_err(|error| explain(&error, stored.len()))?;
        used += done.bytes_consumed;
        produced += done.bytes_produced;
        match done.status {
            Status::StreamEnd => return Ok(produced),
            _ if produced == room.make(0)?.len() => room.more()?,
            _ if (done.bytes_consumed, done.bytes_produced) == (0, 0) => {
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
    let refused = |_: Error| CodecError::OutOfMemory { codec: CODEC };
    let mut writer = XzWriter::new(Vec::new(), XzOptions::with_preset(level)).map_err(refused)?;
    writer.write_all(bytes).map_err(refused)?;
    let made = writer.finish().map_err(refused)?;
    place(scratch, front, made.len(), CODEC)?[..made.len()].copy_from_slice(&made);
    Ok(made.len())
}

/// Returns a reader of the decompressed bytes of one or more concatenated streams.
pub fn reader<'a>(input: impl BufRead + Send + 'a) -> Box<dyn Read + Send + 'a> {
    Box::new(XzReader::new_mem_limit(input, true, (MEMORY_LIMIT >> 10) as u32))
}
