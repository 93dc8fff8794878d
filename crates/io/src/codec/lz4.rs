//! Bare LZ4 blocks, by lz4_flex.

use lz4_flex::block::DecompressError;

use super::{Codec, CodecError};

pub(super) fn decompress(stored: &[u8], out: &mut [u8]) -> Result<usize, CodecError> {
    let codec = Codec::Lz4;
    let expected = out.len();
    match lz4_flex::block::decompress_into(stored, out) {
        Ok(produced) if produced == expected => Ok(stored.len()),
        Ok(produced) => Err(CodecError::WrongLength { codec, expected, produced }),
        Err(DecompressError::OutputTooSmall { .. }) => Err(CodecError::TooLong { codec, expected }),
        Err(DecompressError::LiteralOutOfBounds | DecompressError::ExpectedAnotherByte) => {
            Err(CodecError::Truncated { codec, stored: stored.len() })
        }
        Err(_) => Err(CodecError::Corrupt { codec }),
    }
}
