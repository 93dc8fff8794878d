//! Local files, shared by `PreadFile` and `MappedFile`: opening, the size when opened and at present,
//! positioned reads.

use std::fs::File;
use std::ops::Range;
use std::path::Path;

use bytes::Bytes;

use super::{FileVersion, Version};
use crate::error::{Error, ErrorKind, Result};

/// An open regular file with its size when it was opened.
#[derive(Debug)]
pub(super) struct LocalFile {
    pub(super) file: File,
    pub(super) uri: String,
    /// Size when opened.
    pub(super) opened: u64,
}

impl LocalFile {
    pub(super) fn open(path: &Path, uri: &str) -> Result<Self> {
        let fail = |error: std::io::Error| Error::new(error.into(), uri);
        // Looked at before it is opened: opening a pipe would wait for its other end.
        if !path.metadata().map_err(fail)?.is_file() {
            return Err(Error::new(ErrorKind::NotAFile, uri));
        }
        let file = File::open(path).map_err(fail)?;
        let opened = file.metadata().map_err(fail)?.len();
        // A file that cannot be read fails when it is.
        if opened == 0 && positioned(&file, 0, &mut [0]).is_ok() && file.metadata().map_err(fail)?.len() == 0
        {
            return Err(Error::new(ErrorKind::NoSize, uri));
        }
        Ok(Self { file, uri: uri.to_owned(), opened })
    }

    pub(super) fn size(&self) -> Result<u64> {
        match self.file.metadata() {
            Ok(metadata) => Ok(metadata.len()),
            Err(error) => Err(Error::new(error.into(), &*self.uri)),
        }
    }

    /// Returns the present size, and the time of the last change.
    pub(super) fn state(&self) -> Result<(u64, (i64, i64))> {
        let metadata = self.file.metadata().map_err(|error| Error::new(error.into(), &*self.uri))?;
        Ok((metadata.len(), changed(&metadata)))
    }

    /// Returns a string that identifies the file's state, if a later change would alter it.
    pub(super) fn mark(&self) -> Option<String> {
        let (size, changed) = self.state().ok()?;
        let settled = Version(vec![FileVersion { size, changed, torn: false }]).is_settled();
        settled.then(|| format!("local {}.{:09}", changed.0, changed.1))
    }

    /// Checks a request against the file's present size.
    pub(super) fn check(&self, wanted: &Range<u64>, present: u64) -> Result<()> {
        super::check(wanted, present).map_err(|kind| self.error(kind, wanted, present))
    }

    /// Fills `into` and checks the range against the present size.
    pub(super) fn read_exact_at(&self, at: u64, into: &mut [u8]) -> Result<()> {
        self.read_part(at, into)?;
        // While a file is cut, the system may copy bytes that it has zeroed already: the size shows it.
        self.check(&(at..at.saturating_add(into.len() as u64)), self.size()?)
    }

    /// Reads like [`read_exact_at`](Self::read_exact_at) without checking the size afterwards; the caller
    /// must.
    pub(super) fn read_part(&self, at: u64, into: &mut [u8]) -> Result<()> {
        let wanted = at..at.saturating_add(into.len() as u64);
        match positioned(&self.file, at, into) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
                let present = self.size()?;
                let kind = ErrorKind::BeyondEnd { wanted: wanted.clone(), size: present };
                Err(self.error(kind, &wanted, present))
            }
            Err(error) => Err(Error::new(error.into(), &*self.uri).at(at)),
        }
    }

    /// Copies ranges. All of them are checked before memory is allocated: against the size when opened if
    /// that suffices, else against the present size. A check after the reads detects a file that was
    /// truncated.
    pub(super) fn copies(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        if ranges.iter().any(|range| super::check(range, self.opened).is_err()) {
            self.check_all(ranges)?;
        }
        let copies = ranges.iter().map(|range| self.copy_part(range)).collect::<Result<_>>()?;
        self.check_all(ranges)?;
        Ok(copies)
    }

    /// Copies a range that was checked against an earlier size of the file.
    pub(super) fn copy(&self, range: &Range<u64>) -> Result<Bytes> {
        let copy = self.copy_part(range)?;
        self.check(range, self.size()?)?;
        Ok(copy)
    }

    /// Copies like [`copy`](Self::copy) without checking the size afterwards; the caller must.
    fn copy_part(&self, range: &Range<u64>) -> Result<Bytes> {
        let mut buffer = super::zeroed(range.end - range.start)
            .map_err(|kind| Error::new(kind, &*self.uri).at(range.start))?;
        self.read_part(range.start, &mut buffer)?;
        Ok(buffer.into())
    }

    fn check_all(&self, ranges: &[Range<u64>]) -> Result<()> {
        let present = self.size()?;
        ranges.iter().try_for_each(|range| self.check(range, present))
    }

    /// Returns an error at the request's first byte: `Shrunk` if the file was truncated since it was opened.
    fn error(&self, kind: ErrorKind, wanted: &Range<u64>, present: u64) -> Error {
        let kind = match kind {
            ErrorKind::BeyondEnd { wanted, .. } if present < self.opened && wanted.end <= self.opened => {
                ErrorKind::Shrunk { wanted, opened: self.opened, present }
            }
            kind => kind,
        };
        Error::new(kind, &*self.uri).at(wanted.start)
    }
}

/// When a file was changed last, in whatever way the system knows: seconds and nanoseconds.
#[cfg(unix)]
fn changed(metadata: &std::fs::Metadata) -> (i64, i64) {
    use std::os::unix::fs::MetadataExt;
    (metadata.ctime(), metadata.ctime_nsec())
}

#[cfg(not(unix))]
fn changed(metadata: &std::fs::Metadata) -> (i64, i64) {
    let since = metadata.modified().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    since.map_or((0, 0), |since| (since.as_secs() as i64, i64::from(since.subsec_nanos())))
}

#[cfg(unix)]
fn positioned(file: &File, at: u64, into: &mut [u8]) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, into, at)
}

#[cfg(windows)]
fn positioned(file: &File, mut at: u64, mut into: &mut [u8]) -> std::io::Result<()> {
    use std::os::windows::fs::FileExt;
    while !into.is_empty() {
        match file.seek_read(into, at) {
            Ok(0) => return Err(std::io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => {
                into = &mut into[read..];
                at += read as u64;
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(not(any(unix, windows)))]
fn positioned(file: &File, at: u64, into: &mut [u8]) -> std::io::Result<()> {
    use std::io::{Read, Seek, SeekFrom};
    // The handle has one position for all threads, so seek and read must not be torn apart.
    static ONE_AT_A_TIME: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _held = ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let mut file = file;
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(into)
}
