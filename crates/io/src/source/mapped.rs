//! A local file seen through a memory map.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use memmap2::Mmap;

use super::file::LocalFile;
use super::guard::Guard;
use super::{FileVersion, Source, Version};
use crate::error::{Error, Result};

/// A local file mapped into memory: [views](Source::view) are of the map, nothing is copied.
/// [`read`](Source::read) and [`read_into`](Source::read_into) do not touch the map.
///
/// Every request is checked against the file's size *at that moment*, so a file that has been cut is an error
/// ([`Shrunk`](crate::ErrorKind::Shrunk)).
///
/// # Files that change while views of them are read
///
/// A view lives on after the check. If another process writes to the file, the view changes. If it cuts the
/// file, the lost part of the view reads as zeros: on Unix the system reports the first access behind the end
/// with `SIGBUS`, and a handler, which is installed when the first file is mapped, maps zeros there and marks
/// the map. The file has another [`version`](Source::version) then, and a reader that compares versions knows
/// that what was made of the views does not count. Once a map is marked, its views are copies.
///
/// The handler minds the maps of this type and passes every other `SIGBUS` on to the handler that was there
/// before. A handler that is installed later has to pass on to this one what it does not know. One that is
/// taken away later and leaves none (Python's `faulthandler.disable()` puts back what it found) is noticed
/// when a version is asked for.
#[derive(Debug)]
pub struct MappedFile {
    file: LocalFile,
    held: Arc<Held>,
    /// All of the map, sliced for each answer.
    whole: Bytes,
    lends: bool,
}

/// A map, and what watches it: both live as long as there are views.
#[derive(Debug)]
struct Held {
    // Before the map, so that it is dropped first: what is watched must be there.
    guard: Guard,
    map: Mmap,
}

/// Advice to the system about a range of a [`MappedFile`].
///
/// For a file that is in the page cache none of it pays (`examples/read_ways.rs` measures it: plain faults
/// map sixteen pages at a time already). It is meant for files that must come from a disk first, which is not
/// measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Advice {
    /// Begin to read it from the disk, and return at once (`MADV_WILLNEED`).
    WillNeed,
    /// Enter its pages in the page table now, in one system call instead of one fault for every few of them
    /// (`MADV_POPULATE_READ`, Linux 5.14). Waits for the disk.
    Populate,
    /// It will be read front to back (`MADV_SEQUENTIAL`).
    Sequential,
}

/// Keeps the map alive for the views of it.
struct Owner(Arc<Held>);

impl AsRef<[u8]> for Owner {
    fn as_ref(&self) -> &[u8] {
        &self.0.map
    }
}

impl MappedFile {
    /// Opens and maps a regular file. Its views are [lent](Source::lends_views) to all who ask.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Self::from_file(LocalFile::open(path, &path.to_string_lossy())?, true)
    }

    pub(super) fn from_file(file: LocalFile, lends: bool) -> Result<Self> {
        // SAFETY: the map is read-only and only ever seen as bytes, for which any value is valid. What the
        // compiler cannot rule out is another process changing the file: every access through this type
        // checks the present size first, and what remains is documented on the type.
        #[allow(unsafe_code)]
        let map = unsafe { memmap2::MmapOptions::new().map(&file.file) };
        let failed = |error: std::io::Error| Error::new(error.into(), &*file.uri);
        let map = map.map_err(failed)?;
        let guard = Guard::over(&map).map_err(failed)?;
        let held = Arc::new(Held { guard, map });
        let whole = Bytes::from_owner(Owner(Arc::clone(&held)));
        Ok(Self { file, held, whole, lends })
    }

    /// Tells the system what is about to be read. Returns whether it understood: where the advice does not
    /// exist it is `false`, and reading is as correct as before.
    pub fn advise(&self, range: Range<u64>, advice: Advice) -> Result<bool> {
        self.file.check(&range, self.size()?)?;
        let fail = |kind| Err(Error::new(kind, &*self.file.uri).at(range.start));
        let (start, end) =
            (range.start.min(self.held.map.len() as u64), range.end.min(self.held.map.len() as u64));
        if start == end {
            return Ok(true);
        }
        // Both are at most the length of the map, a usize.
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
            // The file has grown since it was mapped, or was cut and has grown again.
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
        // Before views are read: another library that installs a handler may have taken ours away since.
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

/// Whether a few pages of a range are in the page cache. Where the system does not say, they are.
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
        // The map begins at a page; no system's pages are smaller.
        let page = at / SMALLEST_PAGE * SMALLEST_PAGE;
        // SAFETY: one page inside the map, and one byte for the answer. The call looks at nothing but page
        // tables.
        #[allow(unsafe_code)]
        let told = unsafe { libc::mincore(map.as_ptr().add(page).cast_mut().cast(), 1, &raw mut there) };
        // Refused if the page is larger than thought.
        told != 0 || there & 1 == 1
    })
}

#[cfg(not(all(target_os = "linux", not(miri))))]
fn resident(_: &Mmap, _: &Range<u64>) -> bool {
    true
}

/// Shorter ranges are not worth a question.
const LONG: u64 = 1 << 20;
#[cfg(all(target_os = "linux", not(miri)))]
const SMALLEST_PAGE: usize = 4096;
