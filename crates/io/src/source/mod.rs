//! The trait of all sources, and the choice of one for a uri.

mod beside;
mod callback;
mod file;
mod mapped;
mod memory;
mod pread;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;

pub use beside::Several;
pub use callback::{Callback, ReadAt};
pub use mapped::{Advice, MappedFile};
pub use memory::Memory;
pub use pread::PreadFile;

use crate::error::{Error, ErrorKind, Result};

/// Something that answers byte ranges: a file, a buffer, an object of the host language.
///
/// An answer is always exactly as long as the request. A request that leaves the source is an error, and so is an
/// inverted one; an empty one inside the source is answered with no bytes.
pub trait Source: Send + Sync + std::fmt::Debug {
    /// The name by which errors call this source.
    fn uri(&self) -> &str;

    /// The present size in bytes.
    fn size(&self) -> Result<u64>;

    /// Answers all ranges, in the order asked. The first failing one fails the call.
    fn read(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>>;

    /// Answers one range.
    fn read_one(&self, range: Range<u64>) -> Result<Bytes> {
        let answer = self.read(std::slice::from_ref(&range))?;
        // An implementation that answers nothing to one question is broken; an empty answer is then the only one.
        Ok(answer.into_iter().next().unwrap_or_default())
    }

    /// Fills `into` with the bytes from `at` on. This is the way to read into memory that is already warm.
    fn read_into(&self, at: u64, into: &mut [u8]) -> Result<()> {
        let end = at.saturating_add(into.len() as u64);
        into.copy_from_slice(&self.read_one(at..end)?);
        Ok(())
    }

    /// Whether [`read`](Self::read) answers views of memory that exists anyway rather than copies, so that reading
    /// into scratch would only add a copy.
    fn zero_copy(&self) -> bool;

    /// Whether the views it answers may vanish while they are looked at, as those of a map of a file that is cut. What will be
    /// copied or decompressed anyway is then better fetched with [`read_into`](Self::read_into).
    fn views_may_vanish(&self) -> bool {
        false
    }

    /// Whether a view of a range is there at once, as far as can be told in a moment, rather than after waiting for a disk. What must
    /// be waited for is better fetched with [`read_into`](Self::read_into) where it is long: the system then reads ahead, and keeps it
    /// in pieces large enough that later views of it cost little.
    fn at_hand(&self, range: &Range<u64>) -> bool {
        let _ = range;
        true
    }

    /// Whether reading from several threads at once is faster than from one.
    fn concurrent(&self) -> bool;

    /// Opens another source by the name that this one's contents have for it, which is no more to be trusted than they are: of a local
    /// file, that of a file in the same folder or one below.
    fn beside(&self, name: &str) -> Result<Arc<dyn Source>> {
        Err(Error::new(ErrorKind::NothingBeside { of: self.uri().to_owned() }, name))
    }
}

/// Opens the source a uri names: a local path, or `file://` and a local path. Any other scheme is an error naming it.
///
/// A local file is mapped ([`MappedFile`]), or opened for positioned reads where it cannot be. A map saves a copy of every
/// byte that is stored as it is; read what [`MappedFile`] says about files that others cut meanwhile, and use
/// [`open_unmapped`] for those.
pub fn open(uri: &str) -> Result<Arc<dyn Source>> {
    let file = local_file(uri)?;
    match MappedFile::from_file(file) {
        Ok(mapped) => Ok(Arc::new(mapped)),
        Err(_) => open_unmapped(uri),
    }
}

/// Opens a local file for positioned reads ([`PreadFile`]), under the same names as [`open`]: everything is copied, and a file that is
/// cut meanwhile is an error rather than the end of the process.
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
    // The reservation asks politely and is given back; `vec!` then gets untouched pages from the system, where
    // resizing the reserved vector would write zeros over each of them.
    Vec::<u8>::new().try_reserve_exact(length).map_err(|_| refused())?;
    Ok(vec![0; length])
}
