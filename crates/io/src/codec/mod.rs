//! Compression codecs of blocks, whose decompressed length is known to the caller or not.

mod append;
mod compress;
#[cfg(not(any(target_family = "wasm", feature = "rust-codecs")))]
mod deflate;
#[cfg(any(target_family = "wasm", feature = "rust-codecs"))]
#[path = "portable/deflate.rs"]
mod deflate;
mod lz4;
mod pages;
#[cfg(test)]
mod tests;
#[cfg(not(any(target_family = "wasm", feature = "rust-codecs")))]
mod xz;
#[cfg(any(target_family = "wasm", feature = "rust-codecs"))]
#[path = "portable/xz.rs"]
mod xz;
#[cfg(not(any(target_family = "wasm", feature = "rust-codecs")))]
mod zstd;
#[cfg(any(target_family = "wasm", feature = "rust-codecs"))]
#[path = "portable/zstd.rs"]
mod zstd;

pub use compress::{Compressor, levels};
pub use xz::reader as xz_reader;
pub use zstd::reader as zstd_reader;

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;

/// Expansion ratio that most codecs stay below. It bounds the memory that is reserved for sizes that a file
/// declares.
pub const LARGEST_EXPANSION: u64 = 1100;

/// Compression method of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Codec {
    /// A zlib stream (RFC 1950): a header of two bytes, a deflate stream and the Adler-32 checksum.
    Zlib,
    /// A raw deflate stream (RFC 1951) without header and checksum. ROOT wrote such blocks before it used
    /// zlib.
    OldDeflate,
    /// A `.xz` container.
    Xz,
    /// A raw LZ4 block without frame, length and checksum.
    Lz4,
    /// One or more Zstandard frames.
    Zstd,
    /// A raw snappy block followed by the big-endian CRC-32 of the decompressed bytes, as in Avro files.
    Snappy,
    /// A `.bz2` stream.
    Bzip2,
    /// A raw snappy block.
    RawSnappy,
    /// One or more gzip members.
    Gzip,
    /// A brotli stream (feature `brotli`).
    Brotli,
    /// A raw LZ4 block preceded by its decompressed length, a little-endian `u32`, as fastavro writes it to
    /// Avro files.
    SizedLz4,
    /// Parquet's deprecated `LZ4` codec: Hadoop's framing (chunks preceded by their lengths), a raw LZ4 block
    /// or an LZ4 frame, all of which were written under this name.
    HadoopLz4,
}

impl Codec {
    /// Returns the name of the codec for messages. Variants of one method have the same name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Zlib => "zlib",
            Self::OldDeflate => "deflate",
            Self::Xz => "xz",
            Self::Lz4 => "lz4",
            Self::Zstd => "zstd",
            Self::Snappy | Self::RawSnappy => "snappy",
            Self::Bzip2 => "bzip2",
            Self::Gzip => "gzip",
            Self::Brotli => "brotli",
            Self::SizedLz4 | Self::HadoopLz4 => "lz4",
        }
    }
}

impl fmt::Display for Codec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Error of a codec. The caller adds the position of the block in the file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CodecError {
    /// The block ends too early.
    #[error("the {codec} block is cut off after {stored} bytes")]
    Truncated {
        /// The codec.
        codec: Codec,
        /// Length of the block in bytes.
        stored: usize,
    },
    /// The bytes of the block are not valid for the codec.
    #[error("the {codec} block is corrupt")]
    Corrupt {
        /// The codec.
        codec: Codec,
    },
    /// The block is valid, but its decompressed length is not the expected one.
    #[error("the {codec} block holds {produced} bytes where {expected} are expected")]
    WrongLength {
        /// The codec.
        codec: Codec,
        /// Bytes the caller expects.
        expected: usize,
        /// Decompressed length of the block in bytes.
        produced: usize,
    },
    /// The decompressed length of the block exceeds the expected one.
    #[error("the {codec} block holds more than the {expected} bytes expected")]
    TooLong {
        /// The codec.
        codec: Codec,
        /// Bytes the caller expects.
        expected: usize,
    },
    /// The checksum of the decompressed bytes does not match the stored one.
    #[error("the {codec} block's checksum is {found:#x} where {expected:#x} is stored")]
    Checksum {
        /// The codec.
        codec: Codec,
        /// The checksum stored with the block.
        expected: u64,
        /// The checksum of the decompressed bytes.
        found: u64,
    },
    /// The block is valid, but requires a feature that is not supported.
    #[error("the {codec} block uses {feature}, which is not supported")]
    Unsupported {
        /// The codec.
        codec: Codec,
        /// The missing feature, such as a preset dictionary.
        feature: &'static str,
    },
    /// The block requires more working memory to decompress than is allowed.
    #[error("the {codec} block asks for more than {limit} bytes of working memory")]
    MemoryLimit {
        /// The codec.
        codec: Codec,
        /// The limit in bytes.
        limit: u64,
    },
    /// The decompressed length of the block exceeds the limit that was set for the [`Decompressor`].
    #[error("the {codec} block holds more than {limit} bytes, the limit set for memory")]
    OverLimit {
        /// The codec's name.
        codec: &'static str,
        /// The limit in bytes.
        limit: usize,
    },
    /// Memory for the codec's context or its output cannot be allocated.
    #[error("no memory for the {codec} context")]
    OutOfMemory {
        /// The codec.
        codec: Codec,
    },
}

/// Decompresses blocks and reuses the contexts of the codecs. Each worker thread has its own.
///
/// Each context has at most a few hundred KiB. The dictionary of an xz stream comes on top, for which more
/// than 128 MiB of memory are refused.
#[derive(Default)]
pub struct Decompressor {
    deflate: Option<deflate::Context>,
    zstd: zstd::Context,
    snappy: snap::raw::Decoder,
    /// Compression ratio of the previous raw deflate stream of unknown length.
    ratio: usize,
    /// Output buffer of codecs that [`decompress`](Self::decompress) runs without knowing the length.
    spare: Vec<u8>,
    /// Upper bound on the decompressed bytes in one buffer; unlimited if `None`.
    limit: Option<usize>,
    /// Makes the type `!Sync`: each thread has a decompressor of its own.
    not_sync: PhantomData<Cell<()>>,
}

impl Decompressor {
    /// Creates a decompressor; the context of each codec is created on first use.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the upper bound on the decompressed bytes in one buffer; `None` removes it.
    pub fn set_limit(&mut self, limit: Option<usize>) {
        self.limit = limit;
    }

    /// Checks a decompressed length against the limit, for callers that know it before they allocate.
    ///
    /// # Errors
    /// [`CodecError::OverLimit`].
    pub fn allow(&self, codec: &'static str, bytes: usize) -> Result<(), CodecError> {
        match self.limit {
            Some(limit) if bytes > limit => Err(CodecError::OverLimit { codec, limit }),
            _ => Ok(()),
        }
    }

    /// Decompresses one block into `out`, and returns how many bytes of `stored` belong to it. The
    /// decompressed length has to be `out.len()`. After an error, the contents of `out` are unspecified.
    ///
    /// Bytes after the block are ignored if the codec marks its end, as most do, but not [`Codec::Lz4`]. The
    /// library for [`Codec::Zlib`] and [`Codec::OldDeflate`] does not report that position, so all of
    /// `stored` is counted.
    pub fn decompress(&mut self, codec: Codec, stored: &[u8], out: &mut [u8]) -> Result<usize, CodecError> {
        self.allow(codec.name(), out.len())?;
        match codec {
            Codec::Zlib => deflate::zlib(self.deflate.get_or_insert_default(), stored, out),
            Codec::OldDeflate => deflate::bare(self.deflate.get_or_insert_default(), stored, out),
            Codec::Xz => xz::decompress(stored, out),
            Codec::Lz4 => lz4::decompress(stored, out),
            Codec::RawSnappy => pages::snappy(&mut self.snappy, stored, out),
            Codec::Gzip => pages::gzip(self.deflate.get_or_insert_default(), stored, out),
            Codec::Brotli => pages::brotli(stored, out),
            Codec::HadoopLz4 => pages::old_lz4(stored, out),
            Codec::Zstd => zstd::decompress(&mut self.zstd, stored, out),
            Codec::Snappy | Codec::Bzip2 | Codec::SizedLz4 => {
                let mut spare = std::mem::take(&mut self.spare);
                let produced = self.append(codec, stored, &mut spare, 0, out.len());
                if let Ok(produced) = produced {
                    out[..produced].copy_from_slice(&spare[..produced]);
                }
                self.spare = spare;
                match produced? {
                    produced if produced == out.len() => Ok(stored.len()),
                    produced => Err(CodecError::WrongLength { codec, expected: out.len(), produced }),
                }
            }
        }
    }

    /// Decompresses one block of unknown length to offset `at` of `into`, and returns its decompressed
    /// length. `into` grows if needed; its bytes after the block are unspecified. It is an error if the block
    /// has more than `limit` bytes, or if `at` and the block together exceed the [limit](Self::set_limit) of
    /// the decompressor.
    pub fn append(
        &mut self,
        codec: Codec,
        stored: &[u8],
        into: &mut Vec<u8>,
        at: usize,
        limit: usize,
    ) -> Result<usize, CodecError> {
        let left = self.limit.map_or(usize::MAX, |all| all.saturating_sub(at));
        let mut room = append::Room::new(into, at, limit.min(left), codec);
        let done = match codec {
            Codec::OldDeflate => {
                deflate::append(self.deflate.get_or_insert_default(), &mut self.ratio, stored, &mut room)
            }
            Codec::Snappy => append::snappy(&mut self.snappy, stored, &mut room),
            Codec::SizedLz4 => append::sized_lz4(stored, &mut room),
            Codec::Zstd => zstd::append(&mut self.zstd, stored, &mut room),
            Codec::Bzip2 => append::bzip2(stored, &mut room),
            Codec::Xz => xz::append(stored, &mut room),
            Codec::Zlib | Codec::Lz4 | Codec::RawSnappy | Codec::Gzip | Codec::Brotli | Codec::HadoopLz4 => {
                Err(CodecError::Unsupported { codec, feature: "a block of unknown length" })
            }
        };
        match (done, self.limit) {
            (Err(CodecError::TooLong { .. }), Some(all)) if left < limit => {
                Err(CodecError::OverLimit { codec: codec.name(), limit: all })
            }
            (done, _) => done,
        }
    }
}

impl fmt::Debug for Decompressor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decompressor").finish_non_exhaustive()
    }
}
