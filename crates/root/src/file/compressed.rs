//! Framing of compressed payloads: blocks of up to 16 MiB, each with a header of its codec and both lengths.

use forthwith_io::{Codec, Decompressor, xxh64};
use forthwith_plan::{Error, ErrorKind, Result};

use crate::record::lossy;

/// Decompresses the stored bytes of a record to `out`, which must have the payload's length.
///
/// The payload is compressed if and only if its length exceeds the stored length; otherwise it is copied.
/// Before allocating `out`, call [`check_record`] to compare its length with the stored bytes.
///
/// # Errors
/// Returns an error if a block's header or data are invalid, or if the blocks do not fill `out`.
pub fn decompress_record(stored: &[u8], out: &mut [u8], decompressor: &mut Decompressor) -> Result<()> {
    if out.len() <= stored.len() {
        out.copy_from_slice(&stored[..out.len()]);
        return Ok(());
    }
    decompress_blocks(stored, out, decompressor)
}

/// Decompresses blocks as [`decompress_record`] does, but whatever their length: in ROOT up to 3.04/01,
/// compressed baskets may have exactly the length of their data.
///
/// # Errors
/// Returns an error if a block's header or data are invalid, or if the blocks do not fill `out`.
pub fn decompress_blocks(stored: &[u8], out: &mut [u8], decompressor: &mut Decompressor) -> Result<()> {
    let mut blocks = Blocks::new(stored);
    let mut filled = 0;
    while filled < out.len() {
        let at = blocks.position;
        let block = blocks.next().ok_or_else(|| truncated(out.len() - filled).at_byte(at as u64))??;
        if filled == 0 {
            decompressor.allow(block.codec.name(), out.len())?;
        }
        let room = out.len() - filled;
        if block.length > room {
            return Err(Error::mismatch(
                "length of the decompressed blocks",
                out.len(),
                filled + block.length,
            )
            .at_byte(at as u64));
        }
        block
            .decompress(&mut out[filled..filled + block.length], decompressor)
            .map_err(|error| error.at_byte(at as u64))?;
        filled += block.length;
    }
    Ok(())
}

/// Returns the name and level of ROOT's compression setting: 100 times the algorithm plus the level. Settings
/// below 100 are zlib.
#[must_use]
pub fn setting_name(setting: i32) -> String {
    let name = match setting / 100 {
        _ if setting == 0 => return "none".into(),
        0 | 1 => "ZLIB",
        2 => "LZMA",
        3 => "old deflate",
        4 => "LZ4",
        5 => "ZSTD",
        other => return format!("algorithm {other} level {}", setting % 100),
    };
    format!("{name} level {}", setting % 100)
}

/// Checks by the blocks' headers that the stored bytes can decompress to `length` bytes.
///
/// The expansion of zlib and LZ4 blocks has a known bound. An xz or zstd block may expand to 16 MiB, so that
/// the allocation is bounded by 16 MiB for each such block rather than by the file's size.
///
/// # Errors
/// Returns an error if the headers are invalid or do not add up to `length`, or if a block cannot expand to
/// its length.
pub fn check_record(stored: &[u8], length: usize) -> Result<()> {
    if length <= stored.len() {
        return Ok(());
    }
    let mut total = 0;
    for block in Blocks::new(stored) {
        total += block?.length;
        if total >= length {
            break;
        }
    }
    if total == length {
        Ok(())
    } else {
        Err(Error::mismatch("length of the decompressed blocks", length, total))
    }
}

/// Returns the payload of a record in a buffer that grows with each decompressed block.
pub(crate) fn decompress_growing(stored: &[u8], length: usize) -> Result<Vec<u8>> {
    check_record(stored, length)?;
    let mut decompressor = Decompressor::new();
    let mut out = Vec::new();
    for block in Blocks::new(stored) {
        let block = block?;
        let begin = out.len();
        if out.try_reserve(block.length).is_err() {
            return Err(ErrorKind::OutOfMemory { what: "a payload", bytes: length as u64 }.into());
        }
        out.resize(begin + block.length, 0);
        block.decompress(&mut out[begin..], &mut decompressor)?;
        if out.len() >= length {
            break;
        }
    }
    Ok(out)
}

/// Iterator over the compressed blocks of a record.
struct Blocks<'a> {
    stored: &'a [u8],
    position: usize,
}

struct Block<'a> {
    codec: Codec,
    hash: Option<u64>,
    stored: &'a [u8],
    length: usize,
}

impl<'a> Blocks<'a> {
    fn new(stored: &'a [u8]) -> Self {
        Self { stored, position: 0 }
    }

    fn block(&self, header: &[u8; HEADER], rest: &'a [u8]) -> Result<(Block<'a>, usize)> {
        let compressed = le24(&header[3..6]);
        let length = le24(&header[6..9]);
        if compressed > rest.len() {
            return Err(Error::truncated("a compressed block", compressed, rest.len()));
        }
        let mut stored = &rest[..compressed];
        let mut hash = None;
        let codec = match &header[..2] {
            b"ZL" => Codec::Zlib,
            b"CS" => Codec::OldDeflate,
            b"XZ" => Codec::Xz,
            b"ZS" => Codec::Zstd,
            b"L4" => {
                let Some((first, body)) = stored.split_first_chunk() else {
                    return Err(truncated(8 - stored.len()));
                };
                hash = Some(u64::from_be_bytes(*first));
                stored = body;
                Codec::Lz4
            }
            other => {
                return Err(Error::not_a("a known compression", format!("{:?}", lossy(other))));
            }
        };
        let limit = match codec {
            Codec::Zlib | Codec::OldDeflate => stored.len().saturating_mul(1032).saturating_add(1032),
            Codec::Lz4 => stored.len().saturating_mul(255).saturating_add(255),
            _ => length,
        };
        if length > limit {
            return Err(Error::out_of_range("decompressed length", length, limit));
        }
        Ok((Block { codec, hash, stored, length }, HEADER + compressed))
    }
}

impl<'a> Iterator for Blocks<'a> {
    type Item = Result<Block<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        let (header, rest) = self.stored[self.position..].split_first_chunk()?;
        Some(match self.block(header, rest) {
            Ok((block, used)) => {
                // Uses the length in the header, as an xz stream may have bytes after it that its decoder
                // does not consume.
                self.position += used;
                Ok(block)
            }
            Err(error) => {
                let at = self.position as u64;
                self.position = self.stored.len();
                Err(error.at_byte(at))
            }
        })
    }
}

impl Block<'_> {
    fn decompress(&self, out: &mut [u8], decompressor: &mut Decompressor) -> Result<()> {
        if let Some(expected) = self.hash {
            let found = xxh64(self.stored);
            if found != expected {
                return Err(Error::mismatch("hash of a compressed block", expected, found));
            }
        }
        if self.codec == Codec::Lz4 && self.stored.len() == out.len() {
            // ROOT's LZ4 layer can store an incompressible block without a mark. Such bytes need not be valid
            // LZ4, and an LZ4 block of exactly its own length is valid only by accident.
            if decompressor.decompress(self.codec, self.stored, out).is_err() {
                out.copy_from_slice(self.stored);
            }
            return Ok(());
        }
        decompressor.decompress(self.codec, self.stored, out)?;
        Ok(())
    }
}

fn le24(bytes: &[u8]) -> usize {
    usize::from(bytes[0]) | usize::from(bytes[1]) << 8 | usize::from(bytes[2]) << 16
}

#[cold]
fn truncated(needed: usize) -> Error {
    Error::truncated("a compressed block", needed, 0)
}

/// Length of a block's header: two letters, a method, and two lengths of three bytes, little-endian.
const HEADER: usize = 9;

/// Returns whether a payload is compressed by a codec whose blocks have checksums, according to the first
/// block.
#[must_use]
pub fn has_checksums(stored: &[u8]) -> bool {
    [b"ZL", b"L4", b"XZ"].iter().any(|codec| stored.starts_with(*codec))
}
