//! A source of a local file that is read by positioned reads.

use std::ops::Range;
use std::path::Path;

use bytes::Bytes;

use super::Source;
use super::file::LocalFile;
use crate::error::Result;

/// A local file that is read by positioned reads (`pread`), whose results are copies.
///
/// With [`read_into`](Source::read_into) and a reused buffer, a read costs one copy, which stays in the
/// cache.
#[derive(Debug)]
pub struct PreadFile(LocalFile);

impl PreadFile {
    /// Opens a regular file.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        LocalFile::open(path, &path.to_string_lossy()).map(Self)
    }

    pub(super) fn from_file(file: LocalFile) -> Self {
        Self(file)
    }
}

impl Source for PreadFile {
    fn uri(&self) -> &str {
        &self.0.uri
    }

    fn beside(&self, name: &str) -> Result<std::sync::Arc<dyn Source>> {
        super::beside::neighbour(&self.0.uri, name)
    }

    fn size(&self) -> Result<u64> {
        self.0.size()
    }

    fn mark(&self) -> Option<String> {
        self.0.mark()
    }

    fn read(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.0.copies(ranges)
    }

    fn read_into(&self, at: u64, into: &mut [u8]) -> Result<()> {
        self.0.read_exact_at(at, into)
    }

    fn read_part(&self, at: u64, into: &mut [u8]) -> Result<()> {
        self.0.read_part(at, into)
    }

    fn zero_copy(&self) -> bool {
        false
    }

    fn concurrent(&self) -> bool {
        cfg!(any(unix, windows))
    }
}
