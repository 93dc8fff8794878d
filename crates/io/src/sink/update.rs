//! A sink that extends an existing file.

use super::{
    Sink,
    file::{destination, write_at},
    gather,
};
use crate::{Error, ErrorKind, Result};
use forthwith_platform::process_id;
use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{self, IoSlice, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

/// Changes an existing file in place: bytes are appended, and a few earlier bytes are [patched](Sink::patch)
/// at the end. The format is responsible for an order of writes that is safe against crashes.
///
/// The file is locked while the sink exists, and a second sink of it is an error. If the sink is dropped
/// before any earlier byte was patched, the file is truncated to its original length, or to the position of
/// [`begin_at`](Self::begin_at); otherwise it is left as it is.
#[derive(Debug)]
pub struct UpdateSink {
    uri: String,
    path: PathBuf,
    file: File,
    /// Length to which the file is truncated on drop; `None` after an earlier byte was patched.
    untouched: Option<u64>,
    /// Id of the process that created the sink.
    process: u32,
}

impl UpdateSink {
    /// Opens and locks an existing file. Bytes are appended at its end.
    ///
    /// # Errors
    /// The file does not exist, is not a regular file, is not writable, or is locked by another sink
    /// ([`Locked`](ErrorKind::Locked)).
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let uri = path.as_ref().to_string_lossy().into_owned();
        let failed = |error: io::Error| Error::new(error.into(), uri.clone());
        let path = destination(path.as_ref()).map_err(failed)?;
        if !std::fs::metadata(&path).map_err(failed)?.is_file() {
            return Err(Error::new(ErrorKind::NotAFile, uri));
        }
        let mut file = OpenOptions::new().read(true).write(true).open(&path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(Error::new(ErrorKind::Locked, uri)),
            // The file system does not support locks: the file is changed without one.
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {}
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        let length = file.seek(SeekFrom::End(0)).map_err(failed)?;
        Ok(Self { uri, path, file, untouched: Some(length), process: process_id() })
    }

    /// Moves the position of writing from the end of the file to `at`. The caller has to ensure that nothing
    /// in the file refers to the bytes from there on, which are overwritten.
    ///
    /// # Errors
    /// [`BeyondEnd`](ErrorKind::BeyondEnd) if the position is after the end of the file.
    pub fn begin_at(mut self, at: u64) -> Result<Self> {
        let size = self.untouched.unwrap_or(0);
        if at > size {
            return Err(Error::new(ErrorKind::BeyondEnd { wanted: at..at, size }, self.uri.clone()));
        }
        let moved = self.file.seek(SeekFrom::Start(at)).map(drop);
        moved.map_err(|error| Error::new(error.into(), self.uri.clone()))?;
        // The bytes from here on are overwritten, so they are not kept on drop.
        self.untouched = Some(at);
        Ok(self)
    }

    fn own(&mut self) -> io::Result<&mut File> {
        if self.is_forked() {
            return Err(io::Error::other(ErrorKind::Forked { process: self.process }));
        }
        Ok(&mut self.file)
    }

    /// Whether the path still refers to the opened file, as far as the system can tell.
    fn is_there(&self) -> bool {
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            let number = |found: std::fs::Metadata| (found.dev(), found.ino());
            match (std::fs::metadata(&self.path), self.file.metadata()) {
                (Ok(named), Ok(own)) => number(named) == number(own),
                (Err(error), _) => error.kind() != io::ErrorKind::NotFound,
                (Ok(_), Err(_)) => true,
            }
        }
        #[cfg(not(unix))]
        {
            // These systems do not allow an open file to be removed.
            self.path.exists()
        }
    }

    fn is_forked(&self) -> bool {
        self.process != process_id()
    }
}

impl Write for UpdateSink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.own()?.write(bytes)
    }

    fn write_vectored(&mut self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        self.own()?.write_vectored(pieces)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Sink for UpdateSink {
    fn uri(&self) -> &str {
        &self.uri
    }

    fn write_pieces(&mut self, pieces: &mut [IoSlice<'_>]) -> io::Result<()> {
        gather(self, pieces)
    }

    fn patch(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.own()?;
        // Set before writing: an error may leave some of the bytes written.
        self.untouched.take_if(|length| at < *length);
        write_at(&mut self.file, at, bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.own()?.sync_all()
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        let done = self.sync().map_err(|error| Error::new(error.into(), self.uri.clone()));
        if done.is_ok() {
            self.untouched = None;
            if !self.is_there() {
                return Err(Error::new(ErrorKind::Replaced, self.uri.clone()));
            }
        }
        done
    }
}

impl Drop for UpdateSink {
    fn drop(&mut self) {
        if let Some(length) = self.untouched
            && !self.is_forked()
        {
            // A destructor cannot report an error, and surplus bytes after the end of the contents are
            // harmless.
            let _ = self.file.set_len(length);
        }
    }
}
