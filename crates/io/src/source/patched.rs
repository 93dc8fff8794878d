//! A source of which some bytes are replaced.

use std::{ops::Range, sync::Arc};

use bytes::Bytes;

use super::{Source, Version};
use crate::error::Result;

/// A source of which a few byte ranges are replaced, such as damaged ones that were repaired.
///
/// ```
/// use forthwith_io::{Memory, Patched, Source};
/// use std::sync::Arc;
///
/// let inner = Arc::new(Memory::new("digits", &b"0123456789"[..]));
/// let patched = Patched::new(inner, vec![(2, "ab".into())]);
/// assert_eq!(patched.read_one(1..5)?, &b"1ab4"[..]);
/// # Ok::<(), forthwith_io::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Patched {
    inner: Arc<dyn Source>,
    /// Byte offsets and replacements, sorted by offset.
    patches: Vec<(u64, Bytes)>,
}

impl Patched {
    /// Replaces bytes of a source from the given offsets on. Of overlapping patches, the one with the higher
    /// offset takes precedence.
    #[must_use]
    pub fn new(inner: Arc<dyn Source>, mut patches: Vec<(u64, Bytes)>) -> Self {
        patches.sort_by_key(|(at, _)| *at);
        Self { inner, patches }
    }

    /// Whether a patch overlaps a range.
    fn touches(&self, range: &Range<u64>) -> bool {
        let is_within = |(at, bytes): &(u64, Bytes)| *at < range.end && range.start < at + bytes.len() as u64;
        self.patches.iter().any(is_within)
    }

    /// Applies the patches to `into`, which has the bytes from offset `from` on.
    fn patch(&self, from: u64, into: &mut [u8]) {
        for (at, bytes) in &self.patches {
            let (begin, end) = ((*at).max(from), (at + bytes.len() as u64).min(from + into.len() as u64));
            if begin < end {
                let source = &bytes[(begin - at) as usize..(end - at) as usize];
                into[(begin - from) as usize..(end - from) as usize].copy_from_slice(source);
            }
        }
    }

    fn patched(&self, range: &Range<u64>, bytes: Bytes) -> Bytes {
        if !self.touches(range) {
            return bytes;
        }
        let mut bytes = bytes.to_vec();
        self.patch(range.start, &mut bytes);
        bytes.into()
    }
}

impl Source for Patched {
    fn uri(&self) -> &str {
        self.inner.uri()
    }

    fn size(&self) -> Result<u64> {
        self.inner.size()
    }

    fn inner(&self) -> Option<&dyn Source> {
        Some(&*self.inner)
    }

    fn read(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let read = self.inner.read(ranges)?;
        Ok(ranges.iter().zip(read).map(|(range, bytes)| self.patched(range, bytes)).collect())
    }

    fn read_into(&self, at: u64, into: &mut [u8]) -> Result<()> {
        self.inner.read_into(at, into)?;
        self.patch(at, into);
        Ok(())
    }

    fn view(&self, range: Range<u64>) -> Result<Bytes> {
        Ok(self.patched(&range, self.inner.view(range.clone())?))
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
        self.inner.at_hand(range)
    }

    fn concurrent(&self) -> bool {
        self.inner.concurrent()
    }
}
