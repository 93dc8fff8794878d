//! A source that is extended by bytes in memory.

use std::{ops::Range, sync::Arc};

use bytes::Bytes;

use super::{Source, Version};
use crate::error::Result;

/// A source with bytes appended after its end, such as records that were reconstructed.
///
/// ```
/// use forthwith_io::{Appended, Memory, Source};
/// use std::sync::Arc;
///
/// let inner = Arc::new(Memory::new("digits", &b"0123"[..]));
/// let appended = Appended::new(inner, "ab")?;
/// assert_eq!((appended.size()?, &appended.read_one(2..6)?[..]), (6, &b"23ab"[..]));
/// # Ok::<(), forthwith_io::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Appended {
    inner: Arc<dyn Source>,
    /// Size in bytes of the inner source when this one was created.
    end: u64,
    bytes: Bytes,
}

impl Appended {
    /// Appends `bytes` to a source.
    ///
    /// # Errors
    /// The size of the source cannot be determined.
    pub fn new(inner: Arc<dyn Source>, bytes: impl Into<Bytes>) -> Result<Self> {
        Ok(Self { end: inner.size()?, inner, bytes: bytes.into() })
    }

    /// Returns the bytes of a range; `read` reads the part that lies in the inner source.
    fn joined(&self, range: &Range<u64>, read: impl FnOnce(Range<u64>) -> Result<Bytes>) -> Result<Bytes> {
        let size = self.end + self.bytes.len() as u64;
        super::check(range, size).map_err(|kind| crate::Error::new(kind, self.uri()).at(range.start))?;
        if range.end <= self.end {
            return read(range.clone());
        }
        let own = (range.start.max(self.end) - self.end) as usize..(range.end - self.end) as usize;
        if range.start >= self.end {
            return Ok(self.bytes.slice(own));
        }
        let mut bytes = read(range.start..self.end)?.to_vec();
        bytes.extend_from_slice(&self.bytes[own]);
        Ok(bytes.into())
    }
}

impl Source for Appended {
    fn uri(&self) -> &str {
        self.inner.uri()
    }

    fn size(&self) -> Result<u64> {
        Ok(self.end + self.bytes.len() as u64)
    }

    fn inner(&self) -> Option<&dyn Source> {
        Some(&*self.inner)
    }

    /// Returns `None`: the inner source's mark does not cover the appended bytes.
    fn mark(&self) -> Option<String> {
        None
    }

    fn read(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        if ranges.iter().all(|range| range.end <= self.end) {
            return self.inner.read(ranges);
        }
        ranges.iter().map(|range| self.read_one(range.clone())).collect()
    }

    fn read_one(&self, range: Range<u64>) -> Result<Bytes> {
        self.joined(&range, |inner| self.inner.read_one(inner))
    }

    fn read_into(&self, at: u64, into: &mut [u8]) -> Result<()> {
        let end = at.saturating_add(into.len() as u64);
        if end <= self.end {
            return self.inner.read_into(at, into);
        }
        into.copy_from_slice(&self.read_one(at..end)?);
        Ok(())
    }

    fn view(&self, range: Range<u64>) -> Result<Bytes> {
        self.joined(&range, |inner| self.inner.view(inner))
    }

    fn zero_copy(&self) -> bool {
        self.inner.zero_copy()
    }

    fn views_may_change(&self) -> bool {
        self.inner.views_may_change()
    }

    fn version(&self) -> Result<Option<Version>> {
        self.inner.version()
    }

    fn at_hand(&self, range: &Range<u64>) -> bool {
        range.end > self.end || self.inner.at_hand(range)
    }

    fn concurrent(&self) -> bool {
        self.inner.concurrent()
    }

    /// Returns `false`: the inner source cannot read the appended ranges.
    fn plans_requests(&self) -> bool {
        false
    }

    fn expect(&self, _: &[Range<u64>]) {}
}
