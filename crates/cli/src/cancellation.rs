//! Cancellation of a command from another thread: reads of its files fail.

use bytes::Bytes;
use forthwith::io::{Error, ErrorKind, Result, Source, Version};
use std::{
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

/// Flag that threads share. Values are equal if they share one flag.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cancellation(Arc<AtomicBool>);

impl Cancellation {
    /// Cancels the command.
    pub(crate) fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Returns a source that can be read until the command is cancelled.
    pub(crate) fn guard(&self, source: Arc<dyn Source>) -> Arc<dyn Source> {
        Arc::new(Cancellable { source, cancellation: self.clone() })
    }
}

impl PartialEq for Cancellation {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Cancellation {}

/// Source whose reads fail after a cancellation.
#[derive(Debug)]
struct Cancellable {
    source: Arc<dyn Source>,
    cancellation: Cancellation,
}

impl Cancellable {
    fn check(&self) -> Result<()> {
        if self.cancellation.is_cancelled() {
            return Err(Error::new(ErrorKind::Cancelled, self.uri()));
        }
        Ok(())
    }
}

impl Source for Cancellable {
    fn uri(&self) -> &str {
        self.source.uri()
    }

    fn size(&self) -> Result<u64> {
        self.source.size()
    }

    fn is_stream(&self) -> bool {
        self.source.is_stream()
    }

    fn grown(&self, beyond: u64) -> Result<u64> {
        self.check()?;
        self.source.grown(beyond)
    }

    fn size_so_far(&self) -> Result<u64> {
        self.source.size_so_far()
    }

    fn release(&self, before: u64) -> Result<u64> {
        self.source.release(before)
    }

    fn inner(&self) -> Option<&dyn Source> {
        Some(&*self.source)
    }

    fn read(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.check()?;
        self.source.read(ranges)
    }

    fn read_into(&self, at: u64, into: &mut [u8]) -> Result<()> {
        self.check()?;
        self.source.read_into(at, into)
    }

    fn read_part(&self, at: u64, into: &mut [u8]) -> Result<()> {
        self.check()?;
        self.source.read_part(at, into)
    }

    fn view(&self, range: Range<u64>) -> Result<Bytes> {
        self.check()?;
        self.source.view(range)
    }

    fn zero_copy(&self) -> bool {
        self.source.zero_copy()
    }

    fn views_may_change(&self) -> bool {
        self.source.views_may_change()
    }

    fn version(&self) -> Result<Option<Version>> {
        self.source.version()
    }

    fn lends_views(&self) -> bool {
        self.source.lends_views()
    }

    fn at_hand(&self, range: &Range<u64>) -> bool {
        self.source.at_hand(range)
    }

    fn concurrent(&self) -> bool {
        self.source.concurrent()
    }

    fn pause(&self) -> Result<()> {
        self.check()?;
        self.source.pause()
    }

    fn beside(&self, name: &str) -> Result<Arc<dyn Source>> {
        Ok(self.cancellation.guard(self.source.beside(name)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forthwith::io::Memory;

    #[test]
    fn requests_fail_after_a_cancellation() {
        let cancellation = Cancellation::default();
        let source = cancellation.guard(Arc::new(Memory::new("memory", b"abc".to_vec())));
        assert_eq!(&source.read_one(0..2).expect("bytes")[..], b"ab");
        cancellation.cancel();
        let failed =
            |result: Result<()>| assert_eq!(result.expect_err("cancelled").kind, ErrorKind::Cancelled);
        failed(source.read(&[0..1, 1..2]).map(drop));
        failed(source.read_into(0, &mut [0]));
        failed(source.read_part(0, &mut [0]));
        failed(source.view(0..1).map(drop));
        failed(source.pause());
        assert_eq!(source.size().expect("a size"), 3);
    }
}
