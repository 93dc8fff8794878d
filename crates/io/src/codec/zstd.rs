//! Zstandard frames, by the C library.

use zstd_safe::DCtx;

use super::{Codec, CodecError};

const CODEC: Codec = Codec::Zstd;

/// A block is usually one frame, but frames may follow each other: they are taken until `out` is full. A
/// frame goes straight into `out`, whose rest is the limit, so the size it claims (if it does) need not be
/// believed.
pub(super) fn decompress(
    context: &mut DCtx<'static>,
    stored: &[u8],
    out: &mut [u8],
) -> Result<usize, CodecError> {
    let expected = out.len();
    let (mut used, mut produced) = (0, 0);
    loop {
        let rest = &stored[used..];
        if rest.is_empty() && used > 0 {
            return Err(CodecError::WrongLength { codec: CODEC, expected, produced });
        }
        let fail = |code| explain(code, stored.len(), expected);
        // The library wants to be given whole frames and nothing after; finding the end only visits block
        // headers.
        let length = zstd_safe::find_frame_compressed_size(rest).map_err(fail)?;
        // The length found is inside `rest`; the comparison only spares us from trusting that.
        let frame = rest.get(..length).ok_or(CodecError::Corrupt { codec: CODEC })?;
        produced += context.decompress(&mut out[produced..], frame).map_err(fail)?;
        used += length;
        if produced == expected {
            return Ok(used);
        }
    }
}

pub(super) fn explain(code: usize, stored: usize, expected: usize) -> CodecError {
    // The library's stable error numbers (zstd_errors.h), which it returns negated.
    match code.wrapping_neg() {
        14 => CodecError::Unsupported { codec: CODEC, feature: "a frame parameter" },
        32 => CodecError::Unsupported { codec: CODEC, feature: "an external dictionary" },
        64 => CodecError::OutOfMemory { codec: CODEC },
        70 => CodecError::TooLong { codec: CODEC, expected },
        72 => CodecError::Truncated { codec: CODEC, stored },
        _ => CodecError::Corrupt { codec: CODEC },
    }
}
