//! Compression of payloads: ROOT's framing of blocks, the opposite of `file/compressed.rs`.

use std::borrow::Cow;

use forthwith_io::{Codec, CodecError, Compressor, xxh64};
use forthwith_plan::{Error, ErrorKind, Result};

/// How payloads are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compression {
    algorithm: Option<Algorithm>,
    level: u8,
}

/// The algorithms that files are written with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// zlib.
    Zlib,
    /// LZMA, in `.xz` containers.
    Lzma,
    /// LZ4. It has one level here.
    Lz4,
    /// Zstandard.
    Zstd,
}

impl Algorithm {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Zlib, Self::Lzma, Self::Lz4, Self::Zstd];

    /// Its name, in lower case.
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

/// The name, number and levels by which ROOT and this crate call an algorithm.
struct Facts {
    name: &'static str,
    /// ROOT's number for it.
    number: i32,
    /// The level that is taken if none is asked for: what ROOT recommends.
    usual: u8,
    /// The letters and the method before each block.
    magic: [u8; 3],
    codec: Codec,
    /// Levels of the codec for each of ROOT's.
    step: i32,
}

impl Compression {
    /// Payloads are stored as they are.
    pub const NONE: Self = Self { algorithm: None, level: 0 };

    /// An algorithm at its usual level.
    #[must_use]
    pub const fn of(algorithm: Algorithm) -> Self {
        Self { algorithm: Some(algorithm), level: algorithm.facts().usual }
    }

    /// An algorithm at one of ROOT's levels: 1 to 9; 0 is no compression.
    ///
    /// # Errors
    /// A level that there is not.
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

    /// An algorithm by its name, `"zstd"` or `"none"`, at a level or at its usual one.
    ///
    /// # Errors
    /// A name or a level that there is not.
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

    /// From ROOT's setting: a hundred times the algorithm, plus the level.
    ///
    /// # Errors
    /// An algorithm or a level that there is not.
    pub fn from_setting(setting: i32) -> Result<Self> {
        if setting == 0 {
            return Ok(Self::NONE);
        }
        // 0 is ROOT's own choice.
        let number = if setting / 100 == 0 { 1 } else { setting / 100 };
        match Algorithm::ALL.into_iter().find(|algorithm| algorithm.facts().number == number) {
            Some(algorithm) => Self::new(algorithm, setting % 100),
            None => Err(Error::invalid(format!("compression setting {setting}"))),
        }
    }

    /// ROOT's setting: a hundred times the algorithm, plus the level.
    #[must_use]
    pub fn setting(self) -> i32 {
        self.algorithm.map_or(0, |algorithm| algorithm.facts().number * 100 + i32::from(self.level))
    }

    /// The name that [`named`](Self::named) knows it by.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.algorithm.map_or("none", Algorithm::name)
    }

    /// The level, if payloads are compressed.
    #[must_use]
    pub fn level(self) -> Option<i32> {
        self.algorithm.map(|_| self.level.into())
    }

    /// The algorithm; none if payloads are stored as they are.
    #[must_use]
    pub const fn algorithm(self) -> Option<Algorithm> {
        self.algorithm
    }
}

impl Default for Compression {
    /// The default of ROOT itself for files: zlib at level 1.
    fn default() -> Self {
        Self::of(Algorithm::Zlib)
    }
}

/// The bytes that are stored for a payload: compressed blocks, or the payload itself if it is short or does
/// not get shorter.
///
/// # Errors
/// No memory.
pub fn compress<'a>(
    compression: Compression,
    payload: &'a [u8],
    compressor: &mut Compressor,
) -> Result<Cow<'a, [u8]>> {
    let mut stored = Vec::new();
    let compressed = compress_into(compression, payload, compressor, &mut stored)?;
    Ok(if compressed { Cow::Owned(stored) } else { Cow::Borrowed(payload) })
}

/// The compressed blocks of a payload, as [`compress_into`] makes them, in the compressor's own memory where they are
/// one; `None` if the payload is stored as it is.
///
/// # Errors
/// No memory.
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

/// Puts the compressed blocks of a payload in the place of what is in `out`, as [`compress_into`] makes them, and
/// answers `true`. One block is not copied: memory is exchanged with the compressor, which keeps that of `out`. If the
/// answer is `false`, the payload is stored as it is, and `out` holds anything.
///
/// # Errors
/// No memory; `out` holds anything then.
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
    // What `out` has is taken if it is more, so that one piece of memory is enough for block after block.
    if compressor.memory().capacity() < out.capacity() {
        std::mem::swap(compressor.memory(), out);
    }
    let Some(stored) = compressed(compression, payload, compressor)? else { return Ok(false) };
    let length = stored.len();
    std::mem::swap(compressor.memory(), out);
    out.truncate(length);
    Ok(true)
}

/// Appends the compressed blocks of a payload to `out`, whose memory may be that of an earlier one, and
/// answers `true`. If the payload is short or does not get shorter, it is stored as it is: then `out` remains
/// what it was, and the answer is `false`.
///
/// # Errors
/// No memory; `out` may have a part of the blocks then.
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
        // A payload counts as compressed if it is longer than what is stored, the last block included.
        let Some(stored) = stored.filter(|stored| out.len() - start + stored.len() < payload.len()) else {
            out.truncate(start);
            return Ok(false);
        };
        out.try_reserve(stored.len()).map_err(|_| ErrorKind::from(CodecError::OutOfMemory { codec }))?;
        out.extend_from_slice(stored);
    }
    Ok(true)
}

/// A compressed block with what precedes it, if that has room for its length and it is shorter than the bytes.
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

/// Payloads that are not worth a block of their own, as ROOT has it.
const LONGEST_PLAIN: usize = 256;
/// Lengths have three bytes.
const LONGEST_BLOCK: usize = 0xFF_FFFF;
/// Letters, method and both lengths.
const HEADER: usize = 9;
/// The checksum before an LZ4 block.
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
        // One byte less than the payload is compressed, and as many bytes are not.
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
