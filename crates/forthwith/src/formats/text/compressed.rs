//! Files of text that are compressed as a whole: a source of what they decompress to.

use bytes::Bytes;
use forthwith_io::{ErrorKind, STREAM_IN_MEMORY, Source, read_stream, xz_reader, zstd_reader};
use forthwith_plan::{Error, Result};
use std::{
    io::{BufRead, Error as IoError, ErrorKind as IoKind, Read},
    sync::Arc,
};

/// Endings of their names, without the dot.
#[cfg(any(feature = "csv", feature = "json"))]
pub(in crate::formats) const COMPRESSED: [&str; 5] = ["gz", "zst", "zstd", "xz", "bz2"];

/// What a source decompresses to, if it is a compressed stream: in memory or, of more than 64 MiB, in a temporary file.
///
/// # Errors
/// The source cannot be read; the stream is damaged or cut.
pub(in crate::formats) fn decompressed(source: Arc<dyn Source>) -> Result<Arc<dyn Source>> {
    let head = source.read_one(0..source.size()?.min(Compression::HEAD as u64))?;
    match Compression::recognise(&head) {
        Some(compression) => compression.decompress(&source, STREAM_IN_MEMORY),
        None => Ok(source),
    }
}

/// Bytes read at a time.
const PIECE: u64 = 1 << 20;

/// A stream by which files are compressed as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compression {
    /// gzip, of one member or several.
    Gzip,
    /// Zstandard, of one frame or several.
    Zstd,
    /// XZ.
    Xz,
    /// bzip2.
    Bzip2,
}

impl Compression {
    /// Bytes of a file's beginning that are enough to recognise one.
    const HEAD: usize = 6;

    /// The one of a file that begins so.
    fn recognise(head: &[u8]) -> Option<Self> {
        Some(match head {
            [0x1f, 0x8b, ..] => Self::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Self::Zstd,
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Self::Xz,
            [b'B', b'Z', b'h', b'1'..=b'9', ..] => Self::Bzip2,
            _ => return None,
        })
    }

    /// Its name.
    const fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Xz => "xz",
            Self::Bzip2 => "bzip2",
        }
    }

    /// Decompresses a whole source, into memory or a temporary file as [`read_stream`] does, under the same name.
    fn decompress(self, source: &Arc<dyn Source>, in_memory: usize) -> Result<Arc<dyn Source>> {
        let input = Input { source: source.as_ref(), at: 0, size: source.size()?, piece: Bytes::new() };
        let mut stream: Box<dyn Read> = match self {
            Self::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(input)),
            Self::Zstd => zstd_reader(input),
            Self::Xz => xz_reader(input),
            Self::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(input)),
        };
        read_stream(&mut stream, source.uri(), in_memory).map_err(|error| match &error.kind {
            ErrorKind::Io {
                kind: IoKind::UnexpectedEof | IoKind::InvalidData | IoKind::InvalidInput,
                text,
                ..
            } => Error::fault(format!("damaged {} stream: {text}", self.name())).in_file(source.uri()),
            _ => error.into(),
        })
    }
}

/// The bytes of a source in order.
struct Input<'a> {
    source: &'a dyn Source,
    at: u64,
    size: u64,
    piece: Bytes,
}

impl BufRead for Input<'_> {
    fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
        if self.piece.is_empty() && self.at < self.size {
            let end = self.size.min(self.at + PIECE);
            self.piece = self.source.read_one(self.at..end).map_err(IoError::other)?;
            self.at = end;
        }
        Ok(&self.piece)
    }

    fn consume(&mut self, bytes: usize) {
        let _ = self.piece.split_to(bytes.min(self.piece.len()));
    }
}

impl Read for Input<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let read = self.fill_buf()?.read(into)?;
        self.consume(read);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forthwith_io::Memory;
    use std::io::Write;

    #[test]
    fn streams_are_what_they_were_made_of() {
        let text: Vec<u8> = (0..300_000_u32).flat_map(|n| n.wrapping_mul(n).to_le_bytes()).collect();
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&text[..7]).expect("memory");
        let mut gzip = gzip.finish().expect("memory");
        let mut second = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        second.write_all(&text[7..]).expect("memory");
        gzip.extend(second.finish().expect("memory"));
        let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 0);
        xz.write_all(&text).expect("memory");
        let mut bzip2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
        bzip2.write_all(&text).expect("memory");
        let mut zstd = Vec::with_capacity(zstd_safe::compress_bound(text.len()));
        zstd_safe::compress(&mut zstd, &text, 1).expect("memory");
        for (of, stored) in [
            (Compression::Gzip, gzip),
            (Compression::Xz, xz.finish().expect("memory")),
            (Compression::Bzip2, bzip2.finish().expect("memory")),
            (Compression::Zstd, zstd),
        ] {
            assert_eq!(Compression::recognise(&stored), Some(of));
            let cut = stored[..stored.len() - 9].to_vec();
            let source: Arc<dyn Source> = Arc::new(Memory::new("made", stored));
            for in_memory in [1 << 30, 1 << 10] {
                let read = of.decompress(&source, in_memory).expect("sound");
                let bytes = read.read_one(0..read.size().expect("known")).expect("there");
                assert!(bytes == text[..], "{of:?}");
            }
            let source: Arc<dyn Source> = Arc::new(Memory::new("made", cut));
            assert!(of.decompress(&source, 1 << 30).is_err(), "{of:?}");
        }
    }
}
