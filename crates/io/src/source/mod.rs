//! The [`Source`] trait, and functions that open a source by its uri.

mod appended;
mod beside;
mod callback;
mod file;
#[cfg_attr(all(unix, not(miri)), path = "guard_unix.rs")]
#[cfg_attr(not(all(unix, not(miri))), path = "guard_absent.rs")]
mod guard;
mod mapped;
mod memory;
mod patched;
mod pread;
mod stream;
mod stream_source;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

pub use appended::Appended;
pub use beside::{Several, follow_links_to_neighbours};
pub use callback::{Callback, ReadAt};
pub use mapped::{Advice, MappedFile};
pub use memory::Memory;
pub use patched::Patched;
pub use pread::PreadFile;
pub use stream::{STREAM_IN_MEMORY, read_stream, unlisted};
pub use stream_source::StreamSource;

use crate::error::{Error, ErrorKind, Result};

/// A file, a buffer or an object of the host language, of which byte ranges can be read.
///
/// The result of a read has exactly the requested length. A range that exceeds the source or is inverted is
/// an error; an empty range within the source yields no bytes.
pub trait Source: Send + Sync + std::fmt::Debug {
    /// Returns the name of the source, which errors contain.
    fn uri(&self) -> &str;

    /// Returns the current size in bytes.
    fn size(&self) -> Result<u64>;

    /// Whether the source is a stream, whose size is only known after all of it was read.
    fn is_stream(&self) -> bool {
        false
    }

    /// Reads a stream until it has more than `beyond` bytes or ends, and returns the number of bytes so far.
    /// A result of at most `beyond` is the size of the whole stream. Other sources return their size.
    fn grown(&self, beyond: u64) -> Result<u64> {
        let _ = beyond;
        self.size()
    }

    /// Returns the number of bytes that were read from a stream so far; the size of any other source.
    fn size_so_far(&self) -> Result<u64> {
        self.size()
    }

    /// Allows a stream to drop the bytes before offset `before`, which will not be read again, and returns
    /// the offset of the first byte that is kept.
    fn release(&self, before: u64) -> Result<u64> {
        let _ = before;
        Ok(0)
    }

    /// Returns the inner source of a wrapper, to which default methods delegate: [`mark`](Self::mark),
    /// [`confirm`](Self::confirm), [`pause`](Self::pause), [`plans_requests`](Self::plans_requests),
    /// [`expect`](Self::expect), [`give_up`](Self::give_up) and [`beside`](Self::beside).
    fn inner(&self) -> Option<&dyn Source> {
        None
    }

    /// Reads all ranges and returns their bytes in the same order, or the error of the first range that
    /// fails. The bytes are copies, or views of memory that does not change.
    fn read(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>>;

    /// Reads one range.
    fn read_one(&self, range: Range<u64>) -> Result<Bytes> {
        let answer = self.read(std::slice::from_ref(&range))?;
        // An implementation that returns no result for one range is wrong; this one then returns no bytes.
        Ok(answer.into_iter().next().unwrap_or_default())
    }

    /// Fills `into` with the bytes from offset `at` on, for callers that reuse a buffer.
    fn read_into(&self, at: u64, into: &mut [u8]) -> Result<()> {
        let end = at.saturating_add(into.len() as u64);
        into.copy_from_slice(&self.read_one(at..end)?);
        Ok(())
    }

    /// Fills `into` as [`read_into`](Self::read_into) does, but without a check of the source's size after
    /// it. The caller makes several small requests and then compares the [`size`](Self::size) with the one
    /// before: the bytes are valid only if both are equal.
    fn read_part(&self, at: u64, into: &mut [u8]) -> Result<()> {
        self.read_into(at, into)
    }

    /// Reads one range without a copy if the source supports it ([`zero_copy`](Self::zero_copy)). If the
    /// views of the source [may change](Self::views_may_change), results are valid only if the
    /// [`version`](Self::version) is the same before and after, and was [settled](Version::is_settled).
    fn view(&self, range: Range<u64>) -> Result<Bytes> {
        self.read_one(range)
    }

    /// Whether [`view`](Self::view) returns views of existing memory rather than copies, so that reading into
    /// a scratch buffer would add a copy.
    fn zero_copy(&self) -> bool;

    /// Whether the bytes of a view may change while they are read, as those of a mapped file do that is
    /// truncated or written. Bytes that will be copied or decompressed anyway should then be read by
    /// [`read_into`](Self::read_into).
    fn views_may_change(&self) -> bool {
        false
    }

    /// Returns the version of the bytes that views refer to: two versions are equal if the bytes did not
    /// change, as far as the system can tell. `None` if the bytes never change. On a network file system,
    /// size and modification time may be cached on this machine (by NFS for 3 to 60 s), so a change by
    /// another machine can be missed for that time.
    fn version(&self) -> Result<Option<Version>> {
        Ok(None)
    }

    /// Returns a string that identifies the contents of the source across processes: two sources of equal
    /// mark and size have the same bytes. `None` if the contents cannot be identified.
    fn mark(&self) -> Option<String> {
        self.inner()?.mark()
    }

    /// Verifies that the source has not changed since results were computed without reading it, such as those
    /// from an [`Index`](crate::Index). Called after data were read; reading any of them from the source
    /// itself verifies it, too.
    fn confirm(&self) -> Result<()> {
        self.inner().map_or(Ok(()), |inner| inner.confirm())
    }

    /// Whether views may be passed to code that does not check versions.
    fn lends_views(&self) -> bool {
        self.zero_copy() && !self.views_may_change()
    }

    /// Whether a view of a range is in memory, as far as a quick check can tell, so that accessing it does
    /// not wait for a disk. A long range that is not in memory is better read by
    /// [`read_into`](Self::read_into): the system then reads ahead, and caches it in large units that make
    /// later views cheap.
    fn at_hand(&self, range: &Range<u64>) -> bool {
        let _ = range;
        true
    }

    /// Whether reads by several threads at once are faster than by one.
    fn concurrent(&self) -> bool;

    /// Called every few milliseconds by a thread that waits for a read of another thread. An error cancels
    /// the operation.
    fn pause(&self) -> Result<()> {
        self.inner().map_or(Ok(()), |inner| inner.pause())
    }

    /// Whether the source itself merges ranges into requests, as remote sources do. Readers then pass all
    /// ranges at once, without merging them before.
    fn plans_requests(&self) -> bool {
        self.inner().is_some_and(|inner| inner.plans_requests())
    }

    /// Announces ranges that will be [read](Self::read) soon by one call with the same list. A remote source
    /// starts to prefetch them.
    fn expect(&self, ranges: &[Range<u64>]) {
        if let Some(inner) = self.inner() {
            inner.expect(ranges);
        }
    }

    /// Cancels all waits for this source, which return an error.
    fn give_up(&self) {
        if let Some(inner) = self.inner() {
            inner.give_up();
        }
    }

    /// Opens a file that this source refers to by `name`. The name is untrusted input: for a local file, it
    /// has to be a path of a file in the same folder or below.
    fn beside(&self, name: &str) -> Result<Arc<dyn Source>> {
        match self.inner() {
            Some(inner) => inner.beside(name),
            None => Err(Error::new(ErrorKind::NothingBeside { of: self.uri().to_owned() }, name)),
        }
    }
}

/// Version of the bytes that views refer to; see [`Source::version`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version(Vec<FileVersion>);

impl Version {
    /// Whether a later change would yield another version. This is `false` if the last modification is only
    /// milliseconds ago, since timestamps of files have a coarse resolution.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        let now = forthwith_platform::wall_clock();
        let nanoseconds = |seconds: i128, rest: i128| seconds * 1_000_000_000 + rest;
        let now = nanoseconds(now.as_secs().into(), now.subsec_nanos().into());
        let ago = |file: &FileVersion| now - nanoseconds(file.changed.0.into(), file.changed.1.into());
        self.0.iter().all(|file| ago(file).unsigned_abs() > TICKS.as_nanos())
    }
}

/// Upper bound on the resolution of modification times.
const TICKS: Duration = Duration::from_millis(30);

/// Version of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileVersion {
    size: u64,
    /// Time of the last change, by the system's clock: seconds and nanoseconds.
    changed: (i64, i64),
    /// Whether a part of the map was lost because the file was truncated.
    torn: bool,
}

/// Opens a local path or a `file://` uri. Any other scheme is an error.
///
/// A local file is mapped ([`MappedFile`]), which saves a copy of uncompressed bytes, or opened for
/// positioned reads if mapping fails. [`open_unmapped`] never maps.
pub fn open(uri: &str) -> Result<Arc<dyn Source>> {
    let file = local_file(uri)?;
    match MappedFile::from_file(file, false) {
        Ok(mapped) => Ok(Arc::new(mapped)),
        Err(_) => open_unmapped(uri),
    }
}

/// Opens a local path or a `file://` uri for positioned reads ([`PreadFile`]), whose results are copies.
pub fn open_unmapped(uri: &str) -> Result<Arc<dyn Source>> {
    Ok(Arc::new(PreadFile::from_file(local_file(uri)?)))
}

fn local_file(uri: &str) -> Result<file::LocalFile> {
    let path = local_path(uri).map_err(|kind| Error::new(kind, uri))?;
    file::LocalFile::open(&path, uri)
}

/// Returns the local path of a uri.
pub(crate) fn local_path(uri: &str) -> std::result::Result<Cow<'_, Path>, ErrorKind> {
    let Some((scheme, rest)) = uri.split_once("://").filter(|(scheme, _)| is_scheme(scheme)) else {
        return Ok(Cow::Borrowed(Path::new(uri)));
    };
    if !scheme.eq_ignore_ascii_case("file") {
        return Err(ErrorKind::UnsupportedScheme { scheme: scheme.to_owned() });
    }
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    if !host.is_empty() && !host.eq_ignore_ascii_case("localhost") {
        return Err(ErrorKind::ForeignHost { host: host.to_owned() });
    }
    Ok(Cow::Owned(path_of(unescape(path)?)))
}

/// Whether `text` is the scheme of a uri. A single letter is a drive: `C://x` is a path.
fn is_scheme(text: &str) -> bool {
    text.len() > 1
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
}

fn unescape(text: &str) -> std::result::Result<Vec<u8>, ErrorKind> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || rest.next().and_then(|d| char::from(d).to_digit(16)).ok_or(ErrorKind::BadEscape);
        let value = digit()? * 16 + digit()?;
        bytes.push(value as u8);
    }
    Ok(bytes)
}

#[cfg(unix)]
fn path_of(bytes: Vec<u8>) -> PathBuf {
    use std::os::unix::ffi::OsStringExt;
    std::ffi::OsString::from_vec(bytes).into()
}

#[cfg(not(unix))]
fn path_of(bytes: Vec<u8>) -> PathBuf {
    let text = String::from_utf8_lossy(&bytes).into_owned();
    // The path of `file:///C:/x` is `C:/x`.
    match text.strip_prefix('/') {
        Some(rest) if rest.as_bytes().get(1) == Some(&b':') => rest.into(),
        _ => text.into(),
    }
}

/// Checks that a range is not inverted and ends within `size` bytes.
fn check(wanted: &Range<u64>, size: u64) -> std::result::Result<(), ErrorKind> {
    if wanted.start > wanted.end {
        Err(ErrorKind::Inverted { wanted: wanted.clone() })
    } else if wanted.end > size {
        Err(ErrorKind::BeyondEnd { wanted: wanted.clone(), size })
    } else {
        Ok(())
    }
}

/// Returns `length` zero bytes, or an error if they cannot be allocated.
fn zeroed(length: u64) -> std::result::Result<Vec<u8>, ErrorKind> {
    let refused = || ErrorKind::OutOfMemory { bytes: length };
    let length = usize::try_from(length).map_err(|_| refused())?;
    // The reservation fails without an abort and is freed again; `vec!` then gets zeroed pages from the
    // system, while resizing the reserved vector would write to each of them.
    Vec::<u8>::new().try_reserve_exact(length).map_err(|_| refused())?;
    Ok(vec![0; length])
}
