//! A source of a memory-mapped local file.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use memmap2::Mmap;

use super::file::LocalFile;
use super::guard::Guard;
use super::{FileVersion, Source, Version};
use crate::error::{Error, Result};

/// A memory-mapped local file: [views](Source::view) borrow from the map without a copy.
/// [`read`](Source::read) and [`read_into`](Source::read_into) do not access the map.
///
/// Every request is checked against the file's *current* size, so reading a truncated file is an error
/// ([`Shrunk`](crate::ErrorKind::Shrunk)).
///
/// # Files that change while views of them are read
///
/// A view outlives this check. If another process writes to the file, the bytes of the view change. If the
/// file is truncated, the lost part of the view reads as zeros: on Unix, accessing it raises `SIGBUS`, and a
/// handler, which is installed when the first file is mapped, maps zeros in place of the lost pages and marks
/// the map. This changes the [`version`](Source::version) of the source, by which readers detect that results
/// are invalid. Views of a marked map are copies.
///
/// The handler acts on maps of this type only, and passes every other `SIGBUS` to the previously installed
/// handler. A handler that is installed later has to pass on signals in the same way. If the handler is
/// removed and no other is in place (as by Python's `faulthandler.disable()`), it is reinstalled when a
/// version is requested.
#[derive(Debug)]
pub struct MappedFile {
    file: LocalFile,
    held: Arc<Held>,
    /// The whole map, of which views are slices.
    whole: Bytes,
    lends: bool,
}

/// A map and its guard, which exist as long as there are views.
#[derive(Debug)]
struct Held {
    // Declared before the map, so that it is dropped first: the guard refers to the mapped memory.
    guard: Guard,
    map: Mmap,
}

/// Advice to the system about the use of a range of a [`MappedFile`].
///
/// For a file in the page cache, none of these is faster (measured by `examples/read_ways.rs`: a page fault
/// maps sixteen pages at a time). They are meant for files that are read from a disk, which is not measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Advice {
    /// Start reading the range from the disk, without waiting for it (`MADV_WILLNEED`).
    WillNeed,
    /// Map all pages of the range by one system call, instead of a page fault for every few of them
    /// (`MADV_POPULATE_READ`, Linux 5.14). The call waits for the disk.
    Populate,
    /// The range will be read sequentially (`MADV_SEQUENTIAL`).
    Sequential,
}

/// Owner of the map, which keeps it alive while views exist.
struct Owner(Arc<Held>);

impl AsRef<[u8]> for Owner {
    fn as_ref(&self) -> &[u8] {
        &self.0.map
    }
}

impl MappedFile {
    /// Opens and maps a regular file. [`lends_views`](Source::lends_views) is `true` for it.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Self::from_file(LocalFile::open(path, &path.to_string_lossy())?, true)
    }

    pub(super) fn from_file(file: LocalFile, lends: bool) -> Result<Self> {
        // SAFETY: the map is read-only and only accessed as bytes, for which any value is valid. The compiler
        // cannot rule out that another process changes the file: every access through this type checks the
        // current size first, and the remaining effects are documented on the type.
        #[allow(unsafe_code)]
        let map = unsafe { memmap2::MmapOptions::new().map(&file.file) };
        let failed = |error: std::io::Error| Error::new(error.into(), &*file.uri);
        let map = map.map_err(failed)?;
        let guard = Guard::over(&map).map_err(failed)?;
        let held = Arc::new(Held { guard, map });
        let whole = Bytes::from_owner(Owner(Arc::clone(&held)));
        Ok(Self { file, held, whole, lends })
    }

    /// Advises the system about the use of a range. Returns `false` if the system does not support the
    /// advice, which has no effect on results.
    pub fn advise(&self, range: Range<u64>, advice: Advice) -> Result<bool> {
        self.file.check(&range, self.size()?)?;
        let fail = |kind| Err(Error::new(kind, &*self.file.uri).at(range.start));
        let (start, end) =
            (range.start.min(self.held.map.len() as u64), range.end.min(self.held.map.len() as u64));
        if start == end {
            return Ok(true);
        }
        // The casts are lossless: both are at most the length of the map, a `usize`.
        match advise(&self.held.map, advice, start as usize, (end - start) as usize) {
            Ok(understood) => Ok(understood),
            Err(error) if error.kind() == std::io::ErrorKind::InvalidInput => Ok(false),
            Err(error) => fail(error.into()),
        }
    }
}

#[cfg(unix)]
fn advise(map: &Mmap, advice: Advice, offset: usize, length: usize) -> std::io::Result<bool> {
    let advice = match advice {
        Advice::WillNeed => memmap2::Advice::WillNeed,
        Advice::Sequential => memmap2::Advice::Sequential,
        #[cfg(target_os = "linux")]
        Advice::Populate => memmap2::Advice::PopulateRead,
        #[cfg(not(target_os = "linux"))]
        Advice::Populate => return Ok(false),
    };
    map.advise_range(advice, offset, length).map(|()| true)
}

#[cfg(not(unix))]
fn advise(_: &Mmap, _: Advice, _: usize, _: usize) -> std::io::Result<bool> {
    Ok(false)
}

impl Source for MappedFile {
    fn uri(&self) -> &str {
        &self.file.uri
    }

    fn beside(&self, name: &str) -> Result<std::sync::Arc<dyn Source>> {
        super::beside::neighbour(&self.file.uri, name)
    }

    fn size(&self) -> Result<u64> {
        self.file.size()
    }

    fn mark(&self) -> Option<String> {
        self.file.mark()
    }

    fn read(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.file.copies(ranges)
    }

    fn view(&self, range: Range<u64>) -> Result<Bytes> {
        self.file.check(&range, self.size()?)?;
        match (usize::try_from(range.start), usize::try_from(range.end)) {
            (Ok(start), Ok(end)) if end <= self.whole.len() && !self.held.guard.is_torn() => {
                Ok(self.whole.slice(start..end))
            }
            // The file has grown since it was mapped, or was truncated.
            _ => self.file.copy(&range),
        }
    }

    fn read_into(&self, at: u64, into: &mut [u8]) -> Result<()> {
        self.file.read_exact_at(at, into)
    }

    fn read_part(&self, at: u64, into: &mut [u8]) -> Result<()> {
        self.file.read_part(at, into)
    }

    fn views_may_change(&self) -> bool {
        true
    }

    fn version(&self) -> Result<Option<Version>> {
        // Called before views are read: another library may have replaced our handler meanwhile.
        self.held.guard.renew().map_err(|error| Error::new(error.into(), &*self.file.uri))?;
        let (size, changed) = self.file.state()?;
        Ok(Some(Version(vec![FileVersion { size, changed, torn: self.held.guard.is_torn() }])))
    }

    fn lends_views(&self) -> bool {
        self.lends
    }

    fn at_hand(&self, range: &Range<u64>) -> bool {
        range.end.saturating_sub(range.start) < LONG || resident(&self.held.map, range)
    }

    fn zero_copy(&self) -> bool {
        true
    }

    fn concurrent(&self) -> bool {
        true
    }
}

/// Whether four sampled pages of a range are in the page cache; `true` if the system does not tell.
#[cfg(all(target_os = "linux", not(miri)))]
fn resident(map: &Mmap, range: &Range<u64>) -> bool {
    let (Ok(start), Ok(end)) = (usize::try_from(range.start), usize::try_from(range.end)) else {
        return true;
    };
    if start >= end || end > map.len() {
        return true;
    }
    let last = end - 1;
    [start, start + (last - start) / 3, start + (last - start) / 3 * 2, last].into_iter().all(|at| {
        let mut there = 0_u8;
        // The map is page-aligned, and no system has smaller pages.
        let page = at / SMALLEST_PAGE * SMALLEST_PAGE;
        // SAFETY: the page is inside the map, and the result is one byte. The call reads page tables only.
        #[allow(unsafe_code)]
        let told = unsafe { libc::mincore(map.as_ptr().add(page).cast_mut().cast(), 1, &raw mut there) };
        // The call fails if pages are larger than assumed.
        told != 0 || there & 1 == 1
    })
}

#[cfg(not(all(target_os = "linux", not(miri))))]
fn resident(_: &Mmap, _: &Range<u64>) -> bool {
    true
}

/// Length in bytes from which on the page cache is queried: the call does not pay for shorter ranges.
const LONG: u64 = 1 << 20;
#[cfg(all(target_os = "linux", not(miri)))]
const SMALLEST_PAGE: usize = 4096;
