//! Sources of the decompressed contents of files that are compressed as a whole.

use bytes::Bytes;
use forthwith_io::{ErrorKind, STREAM_IN_MEMORY, Source, StreamSource, read_stream, xz_reader, zstd_reader};
use forthwith_plan::{Error, Result};
use std::{
    io::{BufRead, Error as IoError, ErrorKind as IoKind, Read},
    sync::Arc,
};

/// Extensions of compressed files, without the dot.
#[cfg(any(feature = "csv", feature = "json", feature = "protobuf"))]
pub(in crate::formats) const COMPRESSED: [&str; 5] = ["gz", "zst", "zstd", "xz", "bz2"];

/// Returns a source of the decompressed bytes if the source is compressed as a whole, or else the source
/// itself. The bytes are in memory or, if they exceed 64 MiB, in a temporary file. A pipe or socket becomes
/// another stream, which is decompressed as far as it is read.
///
/// # Errors
/// Returns an error if the source cannot be read, or if its contents are corrupt or truncated.
pub(in crate::formats) fn decompressed(source: Arc<dyn Source>) -> Result<Arc<dyn Source>> {
    match recognised(&*source)? {
        Some(compression) if source.is_stream() => Ok(compression.stream(source)),
        Some(compression) => compression.decompress(source, STREAM_IN_MEMORY),
        None => Ok(source),
    }
}

/// Detects the compression of a source. From a stream, no more bytes are awaited than the decision takes.
fn recognised(source: &dyn Source) -> Result<Option<Compression>> {
    for length in 1..=Compression::HEAD as u64 {
        let size = source.grown(length - 1)?.min(length);
        let head = source.read_one(0..size)?;
        let found = Compression::recognise(&head);
        if found.is_some() || size < length || !Compression::may_begin(&head) {
            return Ok(found);
        }
    }
    Ok(None)
}

/// Number of bytes that are read at a time.
const PIECE: u64 = 1 << 20;

/// Compression format of a whole file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compression {
    /// gzip with one or more members.
    Gzip,
    /// Zstandard with one or more frames.
    Zstd,
    /// XZ.
    Xz,
    /// bzip2.
    Bzip2,
}

impl Compression {
    /// Number of first bytes that suffice to recognise any format.
    const HEAD: usize = 6;

    /// Returns the compression of a file with these first bytes.
    fn recognise(head: &[u8]) -> Option<Self> {
        Some(match head {
            [0x1f, 0x8b, 8, ..] => Self::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Self::Zstd,
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Self::Xz,
            [b'B', b'Z', b'h', b'1'..=b'9', ..] => Self::Bzip2,
            _ => return None,
        })
    }

    /// Whether these first bytes may be the beginning of a compressed file that more bytes would identify.
    fn may_begin(head: &[u8]) -> bool {
        let magics: [&[u8]; 4] = [&[0x1f, 0x8b, 8], &[0x28, 0xb5, 0x2f, 0xfd], b"\xfd7zXZ\0", b"BZh"];
        magics.iter().any(|magic| magic.starts_with(head))
    }

    /// Returns the name of the format.
    const fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Xz => "xz",
            Self::Bzip2 => "bzip2",
        }
    }

    /// Decompresses a whole source into memory or a temporary file, as [`read_stream`] does, with the URI of
    /// the source.
    fn decompress(self, source: Arc<dyn Source>, in_memory: usize) -> Result<Arc<dyn Source>> {
        let name = source.uri().to_owned();
        let mut stream = self.reader(source);
        read_stream(&mut stream, &name, in_memory).map_err(|error| match &error.kind {
            ErrorKind::Io {
                kind: IoKind::UnexpectedEof | IoKind::InvalidData | IoKind::InvalidInput,
                text,
                ..
            } => Error::fault(format!("damaged {} stream: {text}", self.name())).in_file(&name),
            _ => error.into(),
        })
    }

    /// Returns a stream of the decompressed bytes, with the URI of the source.
    fn stream(self, source: Arc<dyn Source>) -> Arc<dyn Source> {
        let name = source.uri().to_owned();
        let reader = Damaged { name: self.name(), reader: self.reader(source) };
        Arc::new(StreamSource::new(name, reader, STREAM_IN_MEMORY, || true))
    }

    fn reader(self, source: Arc<dyn Source>) -> Box<dyn Read + Send> {
        let input = Input { source, at: 0, piece: Bytes::new() };
        match self {
            Self::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(input)),
            Self::Zstd => zstd_reader(input),
            Self::Xz => xz_reader(input),
            Self::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(input)),
        }
    }
}

/// Reader that adds the name of the compression to errors of corrupt data.
struct Damaged {
    name: &'static str,
    reader: Box<dyn Read + Send>,
}

impl Read for Damaged {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        self.reader.read(into).map_err(|error| match error.kind() {
            IoKind::UnexpectedEof | IoKind::InvalidData | IoKind::InvalidInput => {
                IoError::new(error.kind(), format!("damaged {} stream: {error}", self.name))
            }
            _ => error,
        })
    }
}

/// Sequential reader of a source, which releases the bytes of a stream after reading them.
struct Input {
    source: Arc<dyn Source>,
    at: u64,
    piece: Bytes,
}

impl BufRead for Input {
    fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
        if self.piece.is_empty() {
            let end = self.source.grown(self.at).map_err(IoError::other)?.min(self.at + PIECE);
            if end > self.at {
                self.piece = self.source.read_one(self.at..end).map_err(IoError::other)?;
                self.at = end;
                self.source.release(end).map_err(IoError::other)?;
            }
        }
        Ok(&self.piece)
    }

    fn consume(&mut self, bytes: usize) {
        let _ = self.piece.split_to(bytes.min(self.piece.len()));
    }
}

impl Read for Input {
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
                let read = of.decompress(Arc::clone(&source), in_memory).expect("sound");
                let bytes = read.read_one(0..read.size().expect("known")).expect("there");
                assert!(bytes == text[..], "{of:?}");
            }
            let source: Arc<dyn Source> = Arc::new(Memory::new("made", cut));
            assert!(of.decompress(source, 1 << 30).is_err(), "{of:?}");
        }
    }
}
