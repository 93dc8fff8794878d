//! A source whose metadata are served from an index.

use super::Index;
use crate::{
    error::Result,
    source::{Source, Version},
};
use bytes::Bytes;
use std::{ops::Range, sync::Arc};

/// A source with an [`Index`]: ranges that the index contains are served from memory, all others are
/// forwarded.
#[derive(Debug)]
pub struct Indexed {
    pub(super) inner: Arc<dyn Source>,
    pub(super) index: Index,
}

impl Indexed {
    /// Combines a source with its index, and verifies that the index belongs to this state of the source. If
    /// the marks do not agree or the index has none, the bytes of the index are read from the source and
    /// compared.
    ///
    /// # Errors
    /// [`ErrorKind::Index`](crate::ErrorKind::Index) if the index belongs to another file or another state;
    /// errors of reading the source.
    pub fn over(inner: Arc<dyn Source>, index: Index) -> Result<Self> {
        let size = inner.size()?;
        if size != index.size {
            let what = format!("{} bytes then, {size} now", index.size);
            return Err(index.stale(inner.uri(), what));
        }
        if index.mark.is_none() || inner.mark() != index.mark {
            let answers = inner.read(&index.ranges())?;
            for (part, bytes) in index.parts.iter().zip(&answers) {
                if part.bytes != bytes {
                    let at = part.bytes.iter().zip(bytes).take_while(|(then, now)| then == now).count();
                    let at = part.start.saturating_add(at as u64);
                    return Err(index.stale(inner.uri(), "other bytes").at(at));
                }
            }
        }
        Ok(Self { inner, index })
    }

    /// Returns the ranges that the index does not contain.
    fn others(&self, ranges: &[Range<u64>]) -> Vec<Range<u64>> {
        ranges.iter().filter(|range| self.index.slice(range).is_none()).cloned().collect()
    }
}

impl Source for Indexed {
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
        let others = self.others(ranges);
        let mut answers = if others.is_empty() { Vec::new() } else { self.inner.read(&others)? }.into_iter();
        // The source returns one result for each of the other ranges.
        let answer = |range| self.index.slice(range).or_else(|| answers.next()).unwrap_or_default();
        Ok(ranges.iter().map(answer).collect())
    }

    fn read_into(&self, at: u64, into: &mut [u8]) -> Result<()> {
        match self.index.slice(&(at..at.saturating_add(into.len() as u64))) {
            Some(bytes) => into.copy_from_slice(&bytes),
            None => self.inner.read_into(at, into)?,
        }
        Ok(())
    }

    fn read_part(&self, at: u64, into: &mut [u8]) -> Result<()> {
        match self.index.slice(&(at..at.saturating_add(into.len() as u64))) {
            Some(bytes) => into.copy_from_slice(&bytes),
            None => self.inner.read_part(at, into)?,
        }
        Ok(())
    }

    fn view(&self, range: Range<u64>) -> Result<Bytes> {
        self.index.slice(&range).map_or_else(|| self.inner.view(range), Ok)
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

    fn lends_views(&self) -> bool {
        self.inner.lends_views()
    }

    fn at_hand(&self, range: &Range<u64>) -> bool {
        self.index.slice(range).is_some() || self.inner.at_hand(range)
    }

    fn concurrent(&self) -> bool {
        self.inner.concurrent()
    }

    /// Announces the ranges that a [`read`](Source::read) with the same argument will forward.
    fn expect(&self, ranges: &[Range<u64>]) {
        let others = self.others(ranges);
        if !others.is_empty() {
            self.inner.expect(&others);
        }
    }
}
