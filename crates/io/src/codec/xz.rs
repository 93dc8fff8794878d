//! `.xz` containers, by liblzma.

use liblzma::stream::{Action, Error, Status, Stream};

use super::{Codec, CodecError};

const CODEC: Codec = Codec::Xz;

/// The highest preset of `xz` needs 65 MiB to decompress.
pub(super) const MEMORY_LIMIT: u64 = 128 << 20;

/// One stream; what follows it is left alone. The library offers no way to reset a decoder, so each block
/// makes one; setting it up is small beside the work of decoding.
pub(super) fn decompress(stored: &[u8], out: &mut [u8]) -> Result<usize, CodecError> {
    let expected = out.len();
    let mut stream = Stream::new_stream_decoder(MEMORY_LIMIT, 0).map_err(explain)?;
    let (mut used, mut produced) = (0, 0);
    loop {
        let status =
            stream.process(&stored[used..], &mut out[produced..], Action::Finish).map_err(explain)?;
        // The totals are at most the lengths of the slices given.
        let before = (used, produced);
        (used, produced) = (stream.total_in() as usize, stream.total_out() as usize);
        match status {
            Status::StreamEnd if produced == expected => return Ok(used),
            Status::StreamEnd => return Err(CodecError::WrongLength { codec: CODEC, expected, produced }),
            _ if (used, produced) != before => {}
            // No progress: it lacks input if there is none left, and otherwise room.
            _ if used == stored.len() => {
                return Err(CodecError::Truncated { codec: CODEC, stored: stored.len() });
            }
            _ => return Err(CodecError::TooLong { codec: CODEC, expected }),
        }
    }
}

pub(super) fn explain(error: Error) -> CodecError {
    match error {
        Error::Options => CodecError::Unsupported { codec: CODEC, feature: "a filter" },
        Error::MemLimit => CodecError::MemoryLimit { codec: CODEC, limit: MEMORY_LIMIT },
        Error::Mem => CodecError::OutOfMemory { codec: CODEC },
        _ => CodecError::Corrupt { codec: CODEC },
    }
}
