//! Stopping when a step has failed: threads at later steps stop. What is before it goes on, lest chance
//! decides which error is told.

use std::sync::atomic::{AtomicUsize, Ordering};

/// The earliest step that failed so far.
pub(crate) struct Failed(AtomicUsize);

/// The number that stops every task.
const ALL: usize = 0;
const NONE: usize = usize::MAX;

impl Failed {
    pub(crate) const fn none() -> Self {
        Self(AtomicUsize::new(NONE))
    }

    /// Stops what comes after a step, by its place in the order in which they are handed out.
    pub(crate) fn at(&self, place: usize) {
        self.0.fetch_min(place.saturating_add(1), Ordering::Relaxed);
    }

    /// Stops all steps.
    pub(crate) fn everywhere(&self) {
        self.0.store(ALL, Ordering::Relaxed);
    }

    /// Whether nothing more is to be begun.
    pub(crate) fn is_any(&self) -> bool {
        self.0.load(Ordering::Relaxed) != NONE
    }

    /// As one step sees it.
    pub(crate) const fn seen_from(&self, place: usize) -> Stop<'_> {
        Stop { failed: self, own: place.saturating_add(1) }
    }
}

/// Whether a step has to stop waiting: those before it that failed will never be done.
#[derive(Clone, Copy)]
pub(crate) struct Stop<'a> {
    failed: &'a Failed,
    own: usize,
}

impl Stop<'_> {
    pub(crate) fn is_set(self) -> bool {
        self.failed.0.load(Ordering::Relaxed) < self.own
    }
}
