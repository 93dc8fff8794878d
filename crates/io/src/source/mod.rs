//! The trait of all sources, and the choice of one for a uri.

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

/// Something that answers byte ranges: a file, a buffer, an object of the host language.
///
/// An answer is always exactly as long as the request. A request that leaves the source is an error, and so
/// is an inverted one; an empty one inside the source is answered with no bytes.
pub trait Source: Send + Sync + std::fmt::Debug {
    /// The name by which errors call this source.
    fn uri(&self) -> &str;

    /// The present size in bytes.
    fn size(&self) -> Result<u64>;

    /// Whether the source is a stream, whose size is known once all of it was read.
    fn is_stream(&self) -> bool {
        false
    }

    /// Waits until there are more than `beyond` bytes or the source has ended, and returns the number of bytes that
    /// are there: no more than `beyond` says that these are all. Of a source that is not a stream, the size.
    fn grown(&self, beyond: u64) -> Result<u64> {
        let _ = beyond;
        self.size()
    }

    /// The number of bytes that were read of a stream; the size of any other source.
    fn size_so_far(&self) -> Result<u64> {
        self.size()
    }

    /// Allows a stream to drop bytes before this one, which will not be read again, and returns the first byte that is
    /// kept.
    fn release(&self, before: u64) -> Result<u64> {
        let _ = before;
        Ok(0)
    }

    /// The source within this one, which the default methods ask: how to wait, which ranges are announced, and which
    /// files there are beside it.
    fn inner(&self) -> Option<&dyn Source> {
        None
    }

    /// Answers all ranges, in the order asked. The first failing one fails the call. The bytes are the
    /// caller's to keep: a copy, or a part of memory that nothing changes.
    fn read(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>>;

    /// Answers one range.
    fn read_one(&self, range: Range<u64>) -> Result<Bytes> {
        let answer = self.read(std::slice::from_ref(&range))?;
        // An implementation that answers nothing to one question is broken; an empty answer is then the only
        // one.
        Ok(answer.into_iter().next().unwrap_or_default())
    }

    /// Fills `into` with the bytes from `at` on. This is the way to read into memory that is already warm.
    fn read_into(&self, at: u64, into: &mut [u8]) -> Result<()> {
        let end = at.saturating_add(into.len() as u64);
        into.copy_from_slice(&self.read_one(at..end)?);
        Ok(())
    }

    /// Fills `into` as [`read_into`](Self::read_into) does, as one of several small requests after which the
    /// caller asks for the [`size`](Self::size): what they answered counts only if the source is still as
    /// large as it was before them. Each of the others looks at that itself.
    fn read_part(&self, at: u64, into: &mut [u8]) -> Result<()> {
        self.read_into(at, into)
    }

    /// Answers one range without a copy where that can be had ([`zero_copy`](Self::zero_copy)). What is made
    /// of a view whose source [changes](Self::views_may_change) counts only if the source has the same
    /// [`version`](Self::version) afterwards as before, and that one was [settled](Version::is_settled).
    fn view(&self, range: Range<u64>) -> Result<Bytes> {
        self.read_one(range)
    }

    /// Whether [`view`](Self::view) answers views of memory that exists anyway rather than copies, so that
    /// reading into scratch would only add a copy.
    fn zero_copy(&self) -> bool;

    /// Whether the bytes of a view may change while they are looked at, as those of a map of a file that is
    /// cut or written to. What will be copied or decompressed anyway is then better fetched with
    /// [`read_into`](Self::read_into).
    fn views_may_change(&self) -> bool {
        false
    }

    /// A mark that tells whether the bytes of views have changed: two versions are equal if they have not, as
    /// far as the system can say. `None` if they never change. On a network file system the size and the time
    /// of a file are what this machine was told last, which may be seconds ago (NFS keeps attributes for 3 to
    /// 60 s): a change by another machine can go unnoticed for that time.
    fn version(&self) -> Result<Option<Version>> {
        Ok(None)
    }

    /// A mark of the state of the whole source, by which another process knows it again: two sources of the
    /// same mark and size have the same bytes. `None` where nothing tells.
    fn mark(&self) -> Option<String> {
        self.inner()?.mark()
    }

    /// Verifies that the source is still what answers were made of that did not ask it, as those of an
    /// [`Index`](crate::Index). To be called after data were read, which has shown it already where any of them
    /// came from the source itself.
    fn confirm(&self) -> Result<()> {
        self.inner().map_or(Ok(()), |inner| inner.confirm())
    }

    /// Whether views may be handed on to those who know nothing of versions.
    fn lends_views(&self) -> bool {
        self.zero_copy() && !self.views_may_change()
    }

    /// Whether a view of a range is there at once, as far as can be told in a moment, rather than after
    /// waiting for a disk. What must be waited for is better fetched with [`read_into`](Self::read_into)
    /// where it is long: the system then reads ahead, and keeps it in pieces large enough that later views of
    /// it cost little.
    fn at_hand(&self, range: &Range<u64>) -> bool {
        let _ = range;
        true
    }

    /// Whether reading from several threads at once is faster than from one.
    fn concurrent(&self) -> bool;

    /// Called every few milliseconds by a thread that waits for what another thread reads of this source. An
    /// error ends the wait: the work is to be given up.
    fn pause(&self) -> Result<()> {
        self.inner().map_or(Ok(()), |inner| inner.pause())
    }

    /// Whether the source makes requests of many ranges by itself, as one behind a network does: it is then
    /// given all that a reader will want, and not ranges that were merged before.
    fn plans_requests(&self) -> bool {
        self.inner().is_some_and(|inner| inner.plans_requests())
    }

    /// Ranges that will be [read](Self::read) soon, with just this list: a source that waits for a network
    /// begins to fetch them.
    fn expect(&self, ranges: &[Range<u64>]) {
        if let Some(inner) = self.inner() {
            inner.expect(ranges);
        }
    }

    /// Ends all waits for this source, with an error.
    fn give_up(&self) {
        if let Some(inner) = self.inner() {
            inner.give_up();
        }
    }

    /// Opens another source by the name that this one's contents have for it, which is no more to be trusted
    /// than they are: of a local file, that of a file in the same folder or one below.
    fn beside(&self, name: &str) -> Result<Arc<dyn Source>> {
        match self.inner() {
            Some(inner) => inner.beside(name),
            None => Err(Error::new(ErrorKind::NothingBeside { of: self.uri().to_owned() }, name)),
        }
    }
}

/// A state of what views are of; see [`Source::version`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version(Vec<FileVersion>);

impl Version {
    /// Whether a later change would show. It may not where the last one is only a moment ago: clocks of files
    /// tick every few milliseconds.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        let now = forthwith_platform::wall_clock();
        let nanoseconds = |seconds: i128, rest: i128| seconds * 1_000_000_000 + rest;
        let now = nanoseconds(now.as_secs().into(), now.subsec_nanos().into());
        let ago = |file: &FileVersion| now - nanoseconds(file.changed.0.into(), file.changed.1.into());
        self.0.iter().all(|file| ago(file).unsigned_abs() > TICKS.as_nanos())
    }
}

/// Some ticks of the clock by which a file's changes are dated.
const TICKS: Duration = Duration::from_millis(30);

/// A state of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileVersion {
    size: u64,
    /// When it was last changed, by the system's clock: seconds and nanoseconds.
    changed: (i64, i64),
    /// Whether a part of its map was found to be cut off.
    torn: bool,
}

/// Opens the source a uri names: a local path, or `file://` and a local path. Any other scheme is an error
/// naming it.
///
/// A local file is mapped ([`MappedFile`]), or opened for positioned reads where it cannot be. A map saves a
/// copy of every byte that is stored as it is. [`open_unmapped`] never maps.
pub fn open(uri: &str) -> Result<Arc<dyn Source>> {
    let file = local_file(uri)?;
    match MappedFile::from_file(file, false) {
        Ok(mapped) => Ok(Arc::new(mapped)),
        Err(_) => open_unmapped(uri),
    }
}

/// Opens a local file for positioned reads ([`PreadFile`]), under the same names as [`open`]: everything is
/// copied.
pub fn open_unmapped(uri: &str) -> Result<Arc<dyn Source>> {
    Ok(Arc::new(PreadFile::from_file(local_file(uri)?)))
}

fn local_file(uri: &str) -> Result<file::LocalFile> {
    let path = local_path(uri).map_err(|kind| Error::new(kind, uri))?;
    file::LocalFile::open(&path, uri)
}

/// The path a uri names on this machine.
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

/// Whether this may stand before `://`; `C://x` is a path.
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
    // file:///C:/x names C:/x.
    match text.strip_prefix('/') {
        Some(rest) if rest.as_bytes().get(1) == Some(&b':') => rest.into(),
        _ => text.into(),
    }
}

/// Checks a request against a size.
fn check(wanted: &Range<u64>, size: u64) -> std::result::Result<(), ErrorKind> {
    if wanted.start > wanted.end {
        Err(ErrorKind::Inverted { wanted: wanted.clone() })
    } else if wanted.end > size {
        Err(ErrorKind::BeyondEnd { wanted: wanted.clone(), size })
    } else {
        Ok(())
    }
}

/// `length` zero bytes, or an error instead of an abort where there is no room for them.
fn zeroed(length: u64) -> std::result::Result<Vec<u8>, ErrorKind> {
    let refused = || ErrorKind::OutOfMemory { bytes: length };
    let length = usize::try_from(length).map_err(|_| refused())?;
    // The reservation asks politely and is given back; `vec!` then gets untouched pages from the system,
    // where resizing the reserved vector would write zeros over each of them.
    Vec::<u8>::new().try_reserve_exact(length).map_err(|_| refused())?;
    Ok(vec![0; length])
}
