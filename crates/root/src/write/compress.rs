//! Compression of payloads into ROOT's framed blocks. `file/compressed.rs` decompresses them.

use std::borrow::Cow;

use forthwith_io::{Codec, CodecError, Compressor, xxh64};
use forthwith_plan::{Error, ErrorKind, Result};

/// Algorithm and level of compression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compression {
    algorithm: Option<Algorithm>,
    level: u8,
}

/// A compression algorithm for writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// zlib.
    Zlib,
    /// LZMA, in `.xz` containers.
    Lzma,
    /// LZ4. All levels give the same result.
    Lz4,
    /// Zstandard.
    Zstd,
}

impl Algorithm {
    /// All algorithms.
    pub const ALL: [Self; 4] = [Self::Zlib, Self::Lzma, Self::Lz4, Self::Zstd];

    /// Returns the name in lower case, such as `zstd`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.facts().name
    }

    const fn facts(self) -> Facts {
        match self {
            Self::Zlib => {
                Facts { name: "zlib", number: 1, usual: 1, magic: *b"ZL\x08", codec: Codec::Zlib, step: 1 }
            }
            Self::Lzma => {
                Facts { name: "lzma", number: 2, usual: 7, magic: *b"XZ\0", codec: Codec::Xz, step: 1 }
            }
            Self::Lz4 => {
                Facts { name: "lz4", number: 4, usual: 4, magic: *b"L4\x01", codec: Codec::Lz4, step: 0 }
            }
            Self::Zstd => {
                Facts { name: "zstd", number: 5, usual: 5, magic: *b"ZS\x01", codec: Codec::Zstd, step: 2 }
            }
        }
    }
}

/// Constants of an algorithm in ROOT's format and in this crate.
struct Facts {
    name: &'static str,
    /// ROOT's number of the algorithm.
    number: i32,
    /// Default level, as ROOT recommends it.
    usual: u8,
    /// Two letters and the method byte, which begin each block.
    magic: [u8; 3],
    codec: Codec,
    /// Factor from ROOT's levels to those of the codec.
    step: i32,
}

impl Compression {
    /// No compression.
    pub const NONE: Self = Self { algorithm: None, level: 0 };

    /// Returns an algorithm at its default level.
    #[must_use]
    pub const fn of(algorithm: Algorithm) -> Self {
        Self { algorithm: Some(algorithm), level: algorithm.facts().usual }
    }

    /// Returns an algorithm at one of ROOT's levels, 1 to 9. Level 0 means no compression.
    ///
    /// # Errors
    /// Returns an error if the level is outside 0 to 9.
    pub fn new(algorithm: Algorithm, level: i32) -> Result<Self> {
        match u8::try_from(level) {
            Ok(0) => Ok(Self::NONE),
            Ok(level @ 1..=9) => Ok(Self { algorithm: Some(algorithm), level }),
            _ => {
                let what = format!(
                    "compression level {level} of {}: ROOT has 1 to 9, and 0 for none",
                    algorithm.name()
                );
                Err(Error::invalid(what))
            }
        }
    }

    /// Returns the algorithm with a name such as `"zstd"`, in any case, at a level or else at its default
    /// level. `"none"` and `"uncompressed"` mean no compression, whatever the level.
    ///
    /// # Errors
    /// Returns an error if the name is unknown, or the level is outside 0 to 9.
    pub fn named(name: &str, level: Option<i32>) -> Result<Self> {
        let lower = name.to_ascii_lowercase();
        if matches!(&*lower, "none" | "uncompressed") {
            return Ok(Self::NONE);
        }
        let algorithm = Algorithm::ALL.into_iter().find(|algorithm| algorithm.name() == lower);
        let Some(algorithm) = algorithm else {
            let known = Algorithm::ALL.map(Algorithm::name).join(", ");
            let what = format!("unknown codec {name:?}: choose none, {known}");
            return Err(Error::invalid(what));
        };
        level.map_or(Ok(Self::of(algorithm)), |level| Self::new(algorithm, level))
    }

    /// Parses ROOT's compression setting, `100 * algorithm + level`.
    ///
    /// # Errors
    /// Returns an error if the algorithm is unknown, or the level is above 9.
    pub fn from_setting(setting: i32) -> Result<Self> {
        if setting == 0 {
            return Ok(Self::NONE);
        }
        // Algorithm 0 is ROOT's default, zlib.
        let number = if setting / 100 == 0 { 1 } else { setting / 100 };
        match Algorithm::ALL.into_iter().find(|algorithm| algorithm.facts().number == number) {
            Some(algorithm) => Self::new(algorithm, setting % 100),
            None => Err(Error::invalid(format!("compression setting {setting}"))),
        }
    }

    /// Returns ROOT's compression setting, `100 * algorithm + level`; 0 if payloads are not compressed.
    #[must_use]
    pub fn setting(self) -> i32 {
        self.algorithm.map_or(0, |algorithm| algorithm.facts().number * 100 + i32::from(self.level))
    }

    /// Returns the name that [`named`](Self::named) accepts.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.algorithm.map_or("none", Algorithm::name)
    }

    /// Returns the level; `None` if payloads are not compressed.
    #[must_use]
    pub fn level(self) -> Option<i32> {
        self.algorithm.map(|_| self.level.into())
    }

    /// Returns the algorithm; `None` if payloads are not compressed.
    #[must_use]
    pub const fn algorithm(self) -> Option<Algorithm> {
        self.algorithm
    }
}

impl Default for Compression {
    /// Returns ROOT's default for files: zlib at level 1.
    fn default() -> Self {
        Self::of(Algorithm::Zlib)
    }
}

/// Returns the bytes to store for a payload: compressed blocks, or the payload itself if it is short or does
/// not get smaller.
///
/// # Errors
/// Returns an error if memory cannot be allocated.
pub fn compress<'a>(
    compression: Compression,
    payload: &'a [u8],
    compressor: &mut Compressor,
) -> Result<Cow<'a, [u8]>> {
    let mut stored = Vec::new();
    let compressed = compress_into(compression, payload, compressor, &mut stored)?;
    Ok(if compressed { Cow::Owned(stored) } else { Cow::Borrowed(payload) })
}

/// Compresses a payload as [`compress_into`] does, but borrows a single block from the compressor's own
/// buffer. Returns `None` if the payload is to be stored uncompressed.
///
/// # Errors
/// Returns an error if memory cannot be allocated.
pub fn compressed<'c>(
    compression: Compression,
    payload: &[u8],
    compressor: &'c mut Compressor,
) -> Result<Option<Cow<'c, [u8]>>> {
    if payload.len() > LONGEST_BLOCK {
        let mut stored = Vec::new();
        let shorter = compress_into(compression, payload, compressor, &mut stored)?;
        return Ok(shorter.then_some(Cow::Owned(stored)));
    }
    let Some(algorithm) = compression.algorithm.filter(|_| payload.len() > LONGEST_PLAIN) else {
        return Ok(None);
    };
    let stored = block(algorithm, compression.level, payload, compressor)?;
    Ok(stored.filter(|stored| stored.len() < payload.len()).map(Cow::Borrowed))
}

/// Replaces the contents of `out` by the compressed blocks of a payload, as [`compress_into`] makes them, and
/// returns `true`. A single block is not copied: `out` and the compressor swap their buffers. If the result
/// is `false`, the payload is to be stored uncompressed, and the contents of `out` are unspecified.
///
/// # Errors
/// Returns an error if memory cannot be allocated; the contents of `out` are unspecified then.
pub fn compress_instead(
    compression: Compression,
    payload: &[u8],
    compressor: &mut Compressor,
    out: &mut Vec<u8>,
) -> Result<bool> {
    if payload.len() > LONGEST_BLOCK {
        out.clear();
        return compress_into(compression, payload, compressor, out);
    }
    // The compressor gets the larger buffer, so that no block after the first allocates.
    if compressor.memory().capacity() < out.capacity() {
        std::mem::swap(compressor.memory(), out);
    }
    let Some(stored) = compressed(compression, payload, compressor)? else { return Ok(false) };
    let length = stored.len();
    std::mem::swap(compressor.memory(), out);
    out.truncate(length);
    Ok(true)
}

/// Appends the compressed blocks of a payload to `out`, and returns `true`. A payload that is short or does
/// not get smaller is to be stored uncompressed: the result is `false`, and `out` is unchanged.
///
/// # Errors
/// Returns an error if memory cannot be allocated; `out` may contain some of the blocks then.
pub fn compress_into(
    compression: Compression,
    payload: &[u8],
    compressor: &mut Compressor,
    out: &mut Vec<u8>,
) -> Result<bool> {
    let Some(algorithm) = compression.algorithm.filter(|_| payload.len() > LONGEST_PLAIN) else {
        return Ok(false);
    };
    let codec = algorithm.facts().codec;
    let start = out.len();
    for bytes in payload.chunks(LONGEST_BLOCK) {
        let stored = block(algorithm, compression.level, bytes, compressor)?;
        // Readers take a payload for compressed if it is longer than its stored bytes, with the last block.
        let Some(stored) = stored.filter(|stored| out.len() - start + stored.len() < payload.len()) else {
            out.truncate(start);
            return Ok(false);
        };
        out.try_reserve(stored.len()).map_err(|_| ErrorKind::from(CodecError::OutOfMemory { codec }))?;
        out.extend_from_slice(stored);
    }
    Ok(true)
}

/// Compresses one block and adds its header. Returns `None` if the block does not get smaller or its length
/// exceeds the header's three bytes.
fn block<'c>(
    algorithm: Algorithm,
    level: u8,
    bytes: &[u8],
    compressor: &'c mut Compressor,
) -> Result<Option<&'c [u8]>> {
    let Facts { magic, codec, step, .. } = algorithm.facts();
    let level = step * i32::from(level);
    let hash = if algorithm == Algorithm::Lz4 { HASH } else { 0 };
    let stored = compressor.compressed(codec, Some(level), bytes, HEADER + hash).map_err(ErrorKind::from)?;
    let length = stored.len() - HEADER;
    if length >= bytes.len() || length > LONGEST_BLOCK {
        return Ok(None);
    }
    let (header, rest) = stored.split_at_mut(HEADER);
    header[..3].copy_from_slice(&magic);
    header[3..6].copy_from_slice(&(length as u32).to_le_bytes()[..3]);
    header[6..].copy_from_slice(&(bytes.len() as u32).to_le_bytes()[..3]);
    let (place, block) = rest.split_at_mut(hash);
    if hash > 0 {
        place.copy_from_slice(&xxh64(block).to_be_bytes());
    }
    Ok(Some(stored))
}

/// Longest payload that is stored uncompressed, as ROOT does.
const LONGEST_PLAIN: usize = 256;
/// Longest block: lengths have three bytes.
const LONGEST_BLOCK: usize = 0xFF_FFFF;
/// Size of a block's header: letters, method and both lengths.
const HEADER: usize = 9;
/// Size of the checksum before an LZ4 block.
const HASH: usize = 8;

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a test fails by panicking

    use super::*;
    use crate::decompress_record;
    use forthwith_io::Decompressor;

    #[test]
    fn what_is_compressed_decompresses() {
        let long: Vec<u8> = (0..17_000_000u32).map(|n| (n / 99 % 251) as u8).collect();
        let mut noise = vec![0; 1000];
        let mut state = 1u32;
        noise.fill_with(|| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        });
        let (mut to, mut from) = (Compressor::new(), Decompressor::new());
        for algorithm in Algorithm::ALL {
            let fast = Compression::new(algorithm, 1).unwrap();
            for (payload, shorter) in
                [(&long[..], true), (&long[..3000], true), (&long[..256], false), (&noise, false)]
            {
                let stored = compress(fast, payload, &mut to).unwrap();
                assert_eq!(stored.len() < payload.len(), shorter, "{algorithm:?}, {} bytes", payload.len());
                let mut back = vec![0; payload.len()];
                decompress_record(&stored, &mut back, &mut from).unwrap();
                assert!(back == payload, "{algorithm:?}, {} bytes", payload.len());
            }
        }
    }

    #[test]
    fn blocks_are_appended_or_nothing_is() {
        let noise: Vec<u8> = (0..1000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        // A payload is compressed if it gets at least one byte smaller.
        let payloads = (200..400).map(|zeros| [&noise[..], &vec![0; zeros]].concat());
        let payloads: Vec<_> = payloads.chain([noise.clone(), vec![7; 100], vec![7; 1000]]).collect();
        let mut compressor = Compressor::new();
        for algorithm in Algorithm::ALL {
            for payload in &payloads {
                let mut out = b"before".to_vec();
                let compression = Compression::of(algorithm);
                let compressed = compress_into(compression, payload, &mut compressor, &mut out).unwrap();
                assert_eq!(&out[..6], b"before");
                assert_eq!(compressed, out.len() > 6);
                assert!(out.len() - 6 < payload.len());
                let fresh = compress(compression, payload, &mut Compressor::new()).unwrap();
                assert_eq!(&*fresh, if compressed { &out[6..] } else { payload });
                let lent = super::compressed(compression, payload, &mut compressor).unwrap();
                assert_eq!(lent.as_deref(), compressed.then_some(&out[6..]));
                let mut instead = b"whatever there was".to_vec();
                let is_shorter =
                    compress_instead(compression, payload, &mut compressor, &mut instead).unwrap();
                assert_eq!(is_shorter, compressed);
                assert!(!is_shorter || instead == out[6..]);
            }
        }
    }

    #[test]
    fn settings_are_those_of_root() {
        for setting in [0, 101, 207, 404, 505, 509] {
            assert_eq!(Compression::from_setting(setting).unwrap().setting(), setting);
        }
        assert_eq!(Compression::default().setting(), 101);
        assert_eq!(Compression::named("ZSTD", None).unwrap().setting(), 505);
        assert_eq!(Compression::named("none", Some(3)).unwrap(), Compression::NONE);
        assert!(Compression::named("brotli", None).is_err());
        assert!(Compression::new(Algorithm::Zstd, 22).is_err());
        assert!(Compression::from_setting(301).is_err());
    }
}
