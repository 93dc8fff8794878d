//! Stopping after a step has failed: threads at later steps stop. Earlier steps continue, so that the
//! reported error does not depend on chance.

use std::sync::atomic::{AtomicUsize, Ordering};

/// The earliest step that has failed, as its position plus one.
pub(crate) struct Failed(AtomicUsize);

/// Number that stops all steps.
const ALL: usize = 0;
const NONE: usize = usize::MAX;

impl Failed {
    pub(crate) const fn none() -> Self {
        Self(AtomicUsize::new(NONE))
    }

    /// Stops all steps after `place`, a position in the order of steps.
    pub(crate) fn at(&self, place: usize) {
        self.0.fetch_min(place.saturating_add(1), Ordering::Relaxed);
    }

    /// Stops all steps.
    pub(crate) fn everywhere(&self) {
        self.0.store(ALL, Ordering::Relaxed);
    }

    /// Whether a step has failed, so that no further steps start.
    pub(crate) fn is_any(&self) -> bool {
        self.0.load(Ordering::Relaxed) != NONE
    }

    /// Returns the stop signal for the step at `place`.
    pub(crate) const fn seen_from(&self, place: usize) -> Stop<'_> {
        Stop { failed: self, own: place.saturating_add(1) }
    }
}

/// Signal that a step has to stop waiting, since an earlier step has failed and will never be done.
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
