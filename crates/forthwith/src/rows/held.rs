//! Batches for the loops of [`Rows::for_each`](super::Rows::for_each), one at a time.

use super::{Batch, Batches, Row};
use forthwith_plan::{Error, Result};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Batches with one current batch.
///
/// LLVM spills a value that is live across a call that may unwind, and does not reload it for the loops
/// between such calls, which makes a floating-point sum over rows more than twice as slow. So the call for
/// the next batch cannot unwind, and batches are dropped within it.
pub(super) struct HeldBatch<R: Row> {
    batches: Batches<R>,
    batch: Option<Batch<R>>,
    failed: Option<Error>,
}

impl<R: Row> HeldBatch<R> {
    /// Starts before the first batch.
    pub(super) const fn before(batches: Batches<R>) -> Self {
        Self { batches, batch: None, failed: None }
    }

    /// Replaces the current batch by the next; returns `false` after the last one, and after an error. Its
    /// `extern "C"` ABI means that it does not unwind.
    #[inline(never)]
    pub(super) extern "C" fn advance(&mut self) -> bool {
        let next = catch_unwind(AssertUnwindSafe(|| {
            self.batch = None;
            self.batches.next().transpose()
        }));
        match next {
            Ok(Ok(batch)) => self.batch = batch,
            Ok(Err(error)) => self.failed = Some(error),
            Err(_) => self.failed = Some(Error::fault("reading rows panicked")),
        }
        self.batch.is_some()
    }

    /// Returns the current batch.
    pub(super) const fn batch(&self) -> Option<&Batch<R>> {
        self.batch.as_ref()
    }

    /// Returns the error that ended the batches, if there was one.
    pub(super) fn end(self) -> Result<()> {
        self.failed.map_or(Ok(()), Err)
    }
}
