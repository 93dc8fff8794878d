//! Reading of a whole stream into a source.

use forthwith_platform::process_id;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;

use super::file::LocalFile;
use super::{Memory, Source};
use crate::error::{Error, ErrorKind, Result};

/// Default number of bytes up to which [`read_stream`] keeps a stream in memory.
pub const STREAM_IN_MEMORY: usize = 64 << 20;
/// Number of bytes that are read at a time.
pub(super) const PIECE: usize = 256 << 10;

/// Reads a stream to its end: into memory if it has at most `in_memory` bytes, otherwise into a temporary
/// file without a name, which is removed however the process ends. Errors call the stream `name`.
///
/// # Errors
/// The stream cannot be read; memory cannot be allocated; the temporary file cannot be created or written.
pub fn read_stream(stream: &mut dyn Read, name: &str, in_memory: usize) -> Result<Arc<dyn Source>> {
    let mut bytes = Vec::new();
    loop {
        if bytes.len() > in_memory {
            return spool(bytes, stream, name);
        }
        if !fill(&mut bytes, stream, name)? {
            return Ok(Arc::new(Memory::new(name, bytes)));
        }
    }
}

/// Appends up to [`PIECE`] bytes of a stream to `bytes`. Returns `false` at its end.
fn fill(bytes: &mut Vec<u8>, stream: &mut dyn Read, name: &str) -> Result<bool> {
    let refused = |_| Error::new(ErrorKind::OutOfMemory { bytes: PIECE as u64 }, name);
    bytes.try_reserve(PIECE).map_err(refused)?;
    let before = bytes.len();
    let read = stream.take(PIECE as u64).read_to_end(bytes);
    read.map_err(|error| Error::new(error.into(), name).at(before as u64))?;
    Ok(bytes.len() > before)
}

/// Writes `bytes` and the rest of the stream to a temporary file, and returns its source.
fn spool(mut bytes: Vec<u8>, stream: &mut dyn Read, name: &str) -> Result<Arc<dyn Source>> {
    let failed = |error| no_temporary_file(error, name);
    let mut file = unlisted().map_err(failed)?;
    loop {
        file.write_all(&bytes).map_err(failed)?;
        bytes.clear();
        bytes.shrink_to(PIECE);
        if !fill(&mut bytes, stream, name)? {
            break;
        }
    }
    let opened = file.metadata().map_err(failed)?.len();
    Ok(Arc::new(Spooled(LocalFile { file, uri: name.to_owned(), opened })))
}

/// Returns the error of a temporary file that cannot be created or written.
pub(super) fn no_temporary_file(error: std::io::Error, name: &str) -> Error {
    let folder = std::env::temp_dir();
    let text = format!("{error} (for a temporary file of the stream, in {})", folder.display());
    Error::new(ErrorKind::Io { kind: error.kind(), code: error.raw_os_error(), text }, name)
}

/// Creates a file in the folder of temporary files for this process alone. It has no name, and is removed
/// when it is closed.
///
/// # Errors
/// The folder is not writable.
pub fn unlisted() -> std::io::Result<File> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    #[cfg(windows)]
    std::os::windows::fs::OpenOptionsExt::custom_flags(&mut options, DELETE_ON_CLOSE);
    // A file of that name may exist if a process was killed before it removed the name.
    for _ in 0..1000 {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!(".forthwith-{}-{number}.part", process_id()));
        match options.open(&path) {
            Ok(file) => {
                #[cfg(not(windows))]
                std::fs::remove_file(&path)?;
                return Ok(file);
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(std::io::ErrorKind::AlreadyExists.into())
}

#[cfg(windows)]
const DELETE_ON_CLOSE: u32 = 0x0400_0000;

/// A stream that was read into a temporary file, beside which no other files can be opened.
#[derive(Debug)]
struct Spooled(LocalFile);

impl Source for Spooled {
    fn uri(&self) -> &str {
        &self.0.uri
    }

    fn size(&self) -> Result<u64> {
        self.0.size()
    }

    fn read(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.0.copies(ranges)
    }

    fn read_into(&self, at: u64, into: &mut [u8]) -> Result<()> {
        self.0.read_exact_at(at, into)
    }

    fn zero_copy(&self) -> bool {
        false
    }

    fn concurrent(&self) -> bool {
        cfg!(any(unix, windows))
    }
}

#[cfg(test)]
mod tests {
    use super::{PIECE, read_stream};
    use std::io::Read;

    /// Answers a few bytes at a time, as pipes do.
    struct Dripping<'a>(&'a [u8]);

    impl Read for Dripping<'_> {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            let most = into.len().min(777);
            self.0.read(&mut into[..most])
        }
    }

    #[test]
    fn streams_of_all_lengths_are_read_whole() {
        let bytes: Vec<u8> = (0..3 * PIECE as u32 + 5).map(|n| (n.wrapping_mul(n) >> 7) as u8).collect();
        for length in [0, 1, 776, 777, 778, PIECE - 1, PIECE, PIECE + 1, bytes.len()] {
            for in_memory in [0, 1000, PIECE, usize::MAX] {
                let source = read_stream(&mut Dripping(&bytes[..length]), "pipe", in_memory).expect("room");
                assert_eq!((source.size(), source.uri()), (Ok(length as u64), "pipe"));
                assert_eq!(source.read_one(0..length as u64).expect("bytes"), &bytes[..length]);
                let error = source.read_one(0..length as u64 + 1).expect_err("behind the end");
                assert_eq!(error.uri, "pipe");
                assert!(source.beside("other.bin").is_err());
            }
        }
    }

    #[test]
    fn an_error_of_the_stream_is_told() {
        struct Failing;
        impl Read for Failing {
            fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
                Err(std::io::Error::other("the line is cut"))
            }
        }
        let error = read_stream(&mut Failing, "pipe", 10).expect_err("it fails").to_string();
        assert!(error.contains("the line is cut") && error.contains("pipe"), "{error}");
    }
}
