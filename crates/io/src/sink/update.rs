//! A file that is there already, and gets longer.

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

/// A file that is changed where it is: bytes are appended, and a few of those that were there are
/// [patched](Sink::patch) at last, in an order that the format answers for.
///
/// The file is locked as long as the sink lives, and a second sink of it is refused. A sink that is dropped
/// before the first byte was patched cuts the file to the length that it had. Afterwards it leaves it as it
/// is.
#[derive(Debug)]
pub struct UpdateSink {
    uri: String,
    path: PathBuf,
    file: File,
    /// Its length before, while nothing of that was patched.
    untouched: Option<u64>,
    /// The process that made it.
    process: u32,
}

impl UpdateSink {
    /// Opens the file at this path. What is written comes behind its last byte.
    ///
    /// # Errors
    /// There is no such file, it may not be written, or another sink of any process has it.
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
            // A file system without locks: the file can be changed as before there were any.
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {}
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        let length = file.seek(SeekFrom::End(0)).map_err(failed)?;
        Ok(Self { uri, path, file, untouched: Some(length), process: process_id() })
    }

    /// What is written comes here instead. Bytes from here on must be such that nothing refers to.
    ///
    /// # Errors
    /// The position is behind the end of the file.
    pub fn begin_at(mut self, at: u64) -> Result<Self> {
        let size = self.untouched.unwrap_or(0);
        if at > size {
            return Err(Error::new(ErrorKind::BeyondEnd { wanted: at..at, size }, self.uri.clone()));
        }
        let moved = self.file.seek(SeekFrom::Start(at)).map(drop);
        moved.map_err(|error| Error::new(error.into(), self.uri.clone()))?;
        // What is behind is written over.
        self.untouched = Some(at);
        Ok(self)
    }

    fn own(&mut self) -> io::Result<&mut File> {
        if self.is_forked() {
            return Err(io::Error::other(ErrorKind::Forked { process: self.process }));
        }
        Ok(&mut self.file)
    }

    /// Whether the file is still the one under its name, as far as the system can tell.
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
            // Where a file that is open cannot be taken away.
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
        // Also if this fails: some of the bytes may be there.
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
            // A destructor cannot report a failure, and what is behind the end of a file's contents does no
            // harm.
            let _ = self.file.set_len(length);
        }
    }
}
