//! Codecs: one block in, exactly the expected bytes out; or as many as it holds, where nothing says how many.

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

/// More than most codecs make of a byte: bounds what a file's own account of its sizes may reserve.
pub const LARGEST_EXPANSION: u64 = 1100;

/// How a block is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Codec {
    /// A zlib stream (RFC 1950): two bytes of header, deflate, Adler-32.
    Zlib,
    /// A bare deflate stream (RFC 1951), with neither header nor checksum, as ROOT wrote it before it used
    /// zlib.
    OldDeflate,
    /// A `.xz` container.
    Xz,
    /// A bare LZ4 block: no frame, no length, no checksum.
    Lz4,
    /// Zstandard frames.
    Zstd,
    /// A bare snappy block with a big-endian CRC-32 of what it holds behind it, as Avro has them.
    Snappy,
    /// A `.bz2` stream.
    Bzip2,
    /// A bare snappy block.
    RawSnappy,
    /// Gzip members.
    Gzip,
    /// A brotli stream (feature `brotli`).
    Brotli,
    /// A bare LZ4 block behind its decompressed length, a little-endian number of four bytes: fastavro writes
    /// such blocks to Avro files.
    SizedLz4,
    /// LZ4 as Hadoop frames it, in pieces with their lengths before them; or a bare block, or a frame of
    /// LZ4's own, which were called the same.
    HadoopLz4,
}

impl Codec {
    /// Its name, for people.
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

/// Why a block could not be decompressed. Where it stood is known to the caller alone.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CodecError {
    /// The block stops in the middle.
    #[error("the {codec} block is cut off after {stored} bytes")]
    Truncated {
        /// The codec.
        codec: Codec,
        /// Bytes the block has.
        stored: usize,
    },
    /// The block is not what the codec writes.
    #[error("the {codec} block is corrupt")]
    Corrupt {
        /// The codec.
        codec: Codec,
    },
    /// The block ended properly, and too early.
    #[error("the {codec} block holds {produced} bytes where {expected} are expected")]
    WrongLength {
        /// The codec.
        codec: Codec,
        /// Bytes the caller expects.
        expected: usize,
        /// Bytes it holds.
        produced: usize,
    },
    /// The block goes on after the expected bytes.
    #[error("the {codec} block holds more than the {expected} bytes expected")]
    TooLong {
        /// The codec.
        codec: Codec,
        /// Bytes the caller expects.
        expected: usize,
    },
    /// The block decompresses, to something else than was compressed.
    #[error("the {codec} block's checksum is {found:#x} where {expected:#x} is stored")]
    Checksum {
        /// The codec.
        codec: Codec,
        /// The checksum stored with the block.
        expected: u64,
        /// The checksum of what it holds.
        found: u64,
    },
    /// A valid block that needs what is not provided: an external dictionary, a filter, a check.
    #[error("the {codec} block uses {feature}, which is not supported")]
    Unsupported {
        /// The codec.
        codec: Codec,
        /// The cargo feature it needs.
        feature: &'static str,
    },
    /// The block claims to need more working memory than is allowed.
    #[error("the {codec} block asks for more than {limit} bytes of working memory")]
    MemoryLimit {
        /// The codec.
        codec: Codec,
        /// The limit.
        limit: u64,
    },
    /// The block holds more than the reader allows.
    #[error("the {codec} block holds more than {limit} bytes, the limit set for memory")]
    OverLimit {
        /// The codec's name.
        codec: &'static str,
        /// Bytes allowed.
        limit: usize,
    },
    /// No memory for the codec's context.
    #[error("no memory for the {codec} context")]
    OutOfMemory {
        /// The codec.
        codec: Codec,
    },
}

/// Decompresses blocks, and keeps the contexts of the codecs between them. One per worker thread.
///
/// Beyond the caller's buffer it holds a context per codec used, a few hundred KiB at most; xz may ask for a
/// dictionary, and is refused beyond 128 MiB.
#[derive(Default)]
pub struct Decompressor {
    deflate: Option<deflate::Context>,
    zstd: zstd::Context,
    snappy: snap::raw::Decoder,
    /// The ratio by which the last bare deflate stream of unknown length was compressed.
    ratio: usize,
    /// Where blocks go that are checked to be of an expected length only when they are there.
    spare: Vec<u8>,
    /// Bytes that it may decompress to one place.
    limit: Option<usize>,
    /// Scratch is written through: sharing one between threads is never meant.
    not_sync: PhantomData<Cell<()>>,
}

impl Decompressor {
    /// A decompressor with no contexts yet; each is made when first needed.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Bytes that it may decompress to one place; there is no limit if there is none.
    pub fn set_limit(&mut self, limit: Option<usize>) {
        self.limit = limit;
    }

    /// Refuses a number of bytes that is more than the limit. For lengths that a caller knows before it makes
    /// room.
    ///
    /// # Errors
    /// [`CodecError::OverLimit`].
    pub fn allow(&self, codec: &'static str, bytes: usize) -> Result<(), CodecError> {
        match self.limit {
            Some(limit) if bytes > limit => Err(CodecError::OverLimit { codec, limit }),
            _ => Ok(()),
        }
    }

    /// Fills `out` from one block and returns how many bytes of `stored` belong to it. It is an error if the
    /// block holds any other number of bytes than `out`; what `out` holds then is unspecified.
    ///
    /// Bytes after the block are tolerated where the codec knows its own end, as most but [`Codec::Lz4`] do.
    /// The library for [`Codec::Zlib`] and [`Codec::OldDeflate`] does not tell where that was, so all of
    /// `stored` counts as used there.
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

    /// Decompresses one block of unknown length behind the first `at` bytes of `into`, and returns how many
    /// bytes it holds. `into` grows where it must; what is behind the block in it has no meaning. More than
    /// `limit` bytes are an error, and so are more bytes of `into` than the [limit](Self::set_limit) of all.
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
