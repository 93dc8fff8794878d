//! Monotonic and wall clock of the system.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A point in time of the monotonic clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instant(std::time::Instant);

impl Instant {
    /// Returns the current instant.
    #[must_use]
    #[allow(clippy::disallowed_methods, reason = "this is the one place")]
    pub fn now() -> Self {
        Self(std::time::Instant::now())
    }

    /// Returns the time since this instant.
    #[must_use]
    pub fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}

/// Returns the time since the Unix epoch; zero if the clock is set before it, or on systems without a clock.
#[must_use]
#[allow(clippy::disallowed_methods, reason = "this is the one place")]
pub fn wall_clock() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}
