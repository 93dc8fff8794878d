//! Codecs of Parquet's pages, whose decompressed length is known: snappy without a checksum, gzip, brotli,
//! and the deprecated LZ4, which does not define its framing.

use super::{Codec, CodecError, deflate};
use std::io::Read;

/// Decodes a raw snappy block.
pub(super) fn snappy(
    context: &mut snap::raw::Decoder,
    stored: &[u8],
    out: &mut [u8],
) -> Result<usize, CodecError> {
    let codec = Codec::RawSnappy;
    let expected = out.len();
    let corrupt = |_| CodecError::Corrupt { codec };
    match snap::raw::decompress_len(stored).map_err(corrupt)? {
        length if length > expected => return Err(CodecError::TooLong { codec, expected }),
        _ => {}
    }
    exactly(codec, stored, expected, context.decompress(stored, out).map_err(corrupt)?)
}

/// Decodes gzip members. A single one, the usual case, is decoded at once by the faster library.
pub(super) fn gzip(
    context: &mut deflate::Context,
    stored: &[u8],
    out: &mut [u8],
) -> Result<usize, CodecError> {
    match deflate::gzip_member(context, stored, out) {
        true => Ok(stored.len()),
        false => fill(Codec::Gzip, stored, &mut flate2::read::MultiGzDecoder::new(stored), out),
    }
}

#[cfg(feature = "brotli")]
pub(super) fn brotli(stored: &[u8], out: &mut [u8]) -> Result<usize, CodecError> {
    fill(Codec::Brotli, stored, &mut brotli_decompressor::Decompressor::new(stored, 4096), out)
}

#[cfg(not(feature = "brotli"))]
pub(super) fn brotli(_: &[u8], _: &mut [u8]) -> Result<usize, CodecError> {
    Err(CodecError::Unsupported { codec: Codec::Brotli, feature: "a decoder that was left out" })
}

/// Decodes chunks in Hadoop's framing, a raw block or a frame, in this order of attempts.
pub(super) fn old_lz4(stored: &[u8], out: &mut [u8]) -> Result<usize, CodecError> {
    if hadoop(stored, out) == Some(out.len()) || super::lz4::decompress(stored, out).is_ok() {
        return Ok(stored.len());
    }
    fill(Codec::HadoopLz4, stored, &mut lz4_flex::frame::FrameDecoder::new(stored), out)
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

/// Reads a stream to its end, which has to be reached when `out` is full.
fn fill(codec: Codec, stored: &[u8], reader: &mut dyn Read, out: &mut [u8]) -> Result<usize, CodecError> {
    let expected = out.len();
    let failed = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::UnexpectedEof => CodecError::Truncated { codec, stored: stored.len() },
        _ => CodecError::Corrupt { codec },
    };
    let mut produced = 0;
    while produced < expected {
        match reader.read(&mut out[produced..]).map_err(failed)? {
            0 => break,
            read => produced += read,
        }
    }
    if produced == expected && reader.read(&mut [0]).map_err(failed)? > 0 {
        return Err(CodecError::TooLong { codec, expected });
    }
    exactly(codec, stored, expected, produced)
}

fn exactly(codec: Codec, stored: &[u8], expected: usize, produced: usize) -> Result<usize, CodecError> {
    match produced {
        produced if produced == expected => Ok(stored.len()),
        produced => Err(CodecError::WrongLength { codec, expected, produced }),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Codec, CodecError, Decompressor, tests::compress};

    const TEXT: &[u8] = b"one two three one two three one two three one two three";

    #[test]
    fn as_many_bytes_as_are_there_and_no_others() {
        for codec in [Codec::RawSnappy, Codec::Gzip, Codec::HadoopLz4] {
            let stored = compress(codec, TEXT);
            let mut codecs = Decompressor::new();
            let mut out = vec![0; TEXT.len()];
            assert_eq!(codecs.decompress(codec, &stored, &mut out), Ok(stored.len()), "{codec:?}");
            assert_eq!(out, TEXT);
            for length in [0, 1, TEXT.len() - 1, TEXT.len() + 1, 1000] {
                let wrong = codecs.decompress(codec, &stored, &mut vec![0; length]);
                assert!(wrong.is_err(), "{codec:?} {length}: {wrong:?}");
            }
            // Only whole pieces could be left out.
            for cut in 0..stored.len() {
                assert!(codecs.decompress(codec, &stored[..cut], &mut out).is_err(), "{codec:?} {cut}");
            }
        }
    }

    #[test]
    fn the_limit_holds_for_them() {
        let mut codecs = Decompressor::new();
        codecs.set_limit(Some(10));
        let error = codecs.decompress(Codec::Gzip, &compress(Codec::Gzip, TEXT), &mut [0; 55]);
        assert_eq!(error, Err(CodecError::OverLimit { codec: "gzip", limit: 10 }));
    }
}
