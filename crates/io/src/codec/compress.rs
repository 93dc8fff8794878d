//! Compression of blocks.

use super::append::{STEP, place};
use super::{Codec, CodecError, deflate, xz, zstd};
use bzip2::{Action as BzAction, Compress as BzCompress, Compression as BzCompression, Status as BzStatus};
use lz4_flex::block::CompressTable;
use std::fmt;

/// Compresses blocks and reuses the contexts of the codecs. Each writing thread has its own.
#[derive(Default)]
pub struct Compressor {
    deflate: deflate::Compress,
    zstd: zstd::Compress,
    snappy: Option<snap::raw::Encoder>,
    lz4: Tables,
    /// Output buffer of the codecs. Its bytes are zeroed when it grows, not for each block.
    scratch: Vec<u8>,
}

/// Hash tables of LZ4 for short and for long blocks: the compressed bytes of a block must not depend on
/// earlier blocks. The tables are boxed because their alignment exceeds that of Python objects, which may
/// contain a writer.
#[derive(Default)]
struct Tables {
    short: Option<Box<CompressTable>>,
    long: Option<Box<CompressTable>>,
}

/// Returns the lowest (fastest), the default and the highest level of a codec; `None` if it has no levels.
#[must_use]
pub const fn levels(codec: Codec) -> Option<(i32, i32, i32)> {
    match codec {
        Codec::Zlib | Codec::OldDeflate => Some((1, 6, 12)),
        Codec::Xz => Some((0, 6, 9)),
        Codec::Zstd => Some((1, 3, 22)),
        Codec::Bzip2 => Some((1, 9, 9)),
        Codec::Lz4
        | Codec::SizedLz4
        | Codec::Snappy
        | Codec::RawSnappy
        | Codec::Gzip
        | Codec::Brotli
        | Codec::HadoopLz4 => None,
    }
}

impl Compressor {
    /// Creates a compressor; the context of each codec is created on first use.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Compresses `bytes` and appends the block to `out`, in the form that
    /// [`Decompressor`](super::Decompressor) takes. A level outside the codec's range is clamped; `None` is
    /// the default level.
    ///
    /// # Errors
    /// [`OutOfMemory`](CodecError::OutOfMemory) if memory cannot be allocated;
    /// [`Unsupported`](CodecError::Unsupported) if the codec cannot compress, or not a block of this length.
    pub fn append(
        &mut self,
        codec: Codec,
        level: Option<i32>,
        bytes: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), CodecError> {
        let made = self.compressed(codec, level, bytes, 0)?;
        out.try_reserve(made.len()).map_err(|_| CodecError::OutOfMemory { codec })?;
        out.extend_from_slice(made);
        self.trim();
        Ok(())
    }

    /// Compresses one block as [`append`](Self::append) does, and returns it in the buffer of the compressor,
    /// which the next call overwrites. The block starts at offset `front`; the bytes before it are left for
    /// the header of a format and have unspecified contents.
    ///
    /// # Errors
    /// See [`append`](Self::append).
    pub fn compressed(
        &mut self,
        codec: Codec,
        level: Option<i32>,
        bytes: &[u8],
        front: usize,
    ) -> Result<&mut [u8], CodecError> {
        self.trim();
        let length = front + self.compress(codec, level, bytes, front)?;
        Ok(&mut self.scratch[..length])
    }

    /// Returns the buffer that [`compressed`](Self::compressed) writes to, with unspecified contents. A
    /// caller may replace it, to take a block without a copy and to provide memory for the next one.
    pub const fn memory(&mut self) -> &mut Vec<u8> {
        &mut self.scratch
    }

    /// Frees the buffer if it has more than [`LARGEST_KEPT`] bytes.
    fn trim(&mut self) {
        if self.scratch.len() > LARGEST_KEPT {
            self.scratch = Vec::new();
        }
    }

    /// Compresses one block into `scratch` from offset `front` on, and returns its compressed length.
    fn compress(
        &mut self,
        codec: Codec,
        level: Option<i32>,
        bytes: &[u8],
        front: usize,
    ) -> Result<usize, CodecError> {
        let (least, usual, most) = levels(codec).unwrap_or((0, 0, 0));
        let level = level.unwrap_or(usual).clamp(least, most);
        let refused = CodecError::OutOfMemory { codec };
        let scratch = &mut self.scratch;
        match codec {
            Codec::Zlib | Codec::OldDeflate => self.deflate.run(codec, level, bytes, scratch, front),
            Codec::Snappy => {
                let context = self.snappy.get_or_insert_with(snap::raw::Encoder::new);
                let bound = snap::raw::max_compress_len(bytes.len());
                let room = place(scratch, front, bound + 4, codec)?;
                let written = context.compress(bytes, room).map_err(|_| refused)?;
                room[written..][..4].copy_from_slice(&crc32fast::hash(bytes).to_be_bytes());
                Ok(written + 4)
            }
            Codec::RawSnappy => {
                let context = self.snappy.get_or_insert_with(snap::raw::Encoder::new);
                let room = place(scratch, front, snap::raw::max_compress_len(bytes.len()), codec)?;
                context.compress(bytes, room).map_err(|_| refused)
            }
            Codec::Zstd => self.zstd.run(level, bytes, scratch, front),
            Codec::Bzip2 => {
                let mut stream = BzCompress::new(BzCompression::new(level.unsigned_abs()), 0);
                loop {
                    let (used, made) = (stream.total_in() as usize, stream.total_out() as usize);
                    let room = place(scratch, front + made, STEP, codec)?;
                    let status = stream.compress(&bytes[used..], room, BzAction::Finish);
                    if status.map_err(|_| refused.clone())? == BzStatus::StreamEnd {
                        break Ok(stream.total_out() as usize);
                    }
                }
            }
            Codec::Xz => xz::compress(level.unsigned_abs(), bytes, scratch, front),
            Codec::SizedLz4 => {
                let length = u32::try_from(bytes.len());
                let length = length
                    .map_err(|_| CodecError::Unsupported { codec, feature: "a block of more than 4 GB" })?;
                let written = self.compress(Codec::Lz4, None, bytes, front + 4)?;
                self.scratch[front..front + 4].copy_from_slice(&length.to_le_bytes());
                Ok(written + 4)
            }
            Codec::Lz4 => {
                let bound = lz4_flex::block::get_maximum_output_size(bytes.len());
                let room = place(scratch, front, bound, codec)?;
                let table = match bytes.len() < SHORT {
                    true => self.lz4.short.get_or_insert_with(|| Box::new(CompressTable::small())),
                    false => self.lz4.long.get_or_insert_with(|| Box::new(CompressTable::large())),
                };
                lz4_flex::block::compress_into_with_table(bytes, room, table).map_err(|_| refused)
            }
            Codec::Gzip | Codec::Brotli | Codec::HadoopLz4 => {
                Err(CodecError::Unsupported { codec, feature: "writing" })
            }
        }
    }
}

/// Length in bytes below which a block uses LZ4's table of 16-bit positions.
const SHORT: usize = u16::MAX as usize;
/// Size in bytes up to which the buffer is kept: enough for the longest block of a ROOT file, which has 16
/// MB.
const LARGEST_KEPT: usize = 20 << 20;

impl fmt::Debug for Compressor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Compressor").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a test fails by panicking

    use super::*;
    use crate::Decompressor;

    const CODECS: [Codec; 8] = [
        Codec::OldDeflate,
        Codec::Snappy,
        Codec::Zstd,
        Codec::Bzip2,
        Codec::Xz,
        Codec::Zlib,
        Codec::Lz4,
        Codec::SizedLz4,
    ];

    #[test]
    fn contexts_can_be_in_objects_of_python() {
        assert!(align_of::<Compressor>() <= 16);
        assert!(align_of::<Decompressor>() <= 16);
    }

    #[test]
    fn blocks_do_not_depend_on_those_before_them() {
        let long: Vec<u8> = (0..300_000u32).flat_map(|n| (n / 7 * (n % 251)).to_le_bytes()).collect();
        for codec in CODECS {
            let mut used = Compressor::new();
            for bytes in [&long[..], &long[..30_000], &[], &long[5..70_000], &long[9..], &long[..30_000]] {
                let (mut one, mut other) = (Vec::new(), b"before".to_vec());
                used.append(codec, None, bytes, &mut one).unwrap();
                let made = used.compressed(codec, None, bytes, 3).unwrap();
                assert!(made[3..] == one, "{codec}, {} bytes behind others", bytes.len());
                Compressor::new().append(codec, None, bytes, &mut other).unwrap();
                assert!(one == other[6..], "{codec}, {} bytes", bytes.len());
            }
        }
    }

    #[test]
    fn what_is_compressed_decompresses() {
        let text: Vec<u8> = (0..300_000u32).flat_map(|n| (n / 7 * (n % 251)).to_le_bytes()).collect();
        let (mut to, mut from) = (Compressor::new(), Decompressor::new());
        for codec in CODECS {
            for bytes in [&text[..], &text[..1], &[]] {
                for level in [None, Some(-5), Some(1), Some(100)] {
                    let mut stored = b"before".to_vec();
                    to.append(codec, level.filter(|_| bytes.len() < 9), bytes, &mut stored).unwrap();
                    let mut back = vec![0; bytes.len()];
                    from.decompress(codec, &stored[6..], &mut back).unwrap();
                    assert_eq!(back, bytes, "{codec} {level:?}");
                }
            }
        }
    }
}
