//! Time limit of a range.

use crate::answer::Fault;
use std::time::Duration;
use tokio::time::Instant;

/// Bytes per second below which a connection counts as stalled.
const LEAST_RATE: f64 = 512.0;

/// Time left for a range, over all attempts to get it. It is reset whenever enough bytes have arrived, so
/// that a slow connection has as long as it takes, but a server that sends a byte now and then does not.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    limit: Duration,
    /// When the range was first requested.
    pub(crate) began: Instant,
    since: Instant,
    /// Number of bytes received since.
    bytes: u64,
}

impl Clock {
    pub(crate) fn new(limit: Duration) -> Self {
        let now = Instant::now();
        Self { limit, began: now, since: now, bytes: 0 }
    }

    /// Creates a clock with less time left, for ranges whose first request failed.
    pub(crate) fn with_left(limit: Duration, left: Duration) -> Self {
        let mut clock = Self::new(limit);
        clock.since = clock.since.checked_sub(limit.saturating_sub(left)).unwrap_or(clock.since);
        clock
    }

    /// Excludes time from the limit, such as waiting for other requests of this process.
    pub(crate) fn skip(&mut self, time: Duration) {
        self.since += time;
    }

    /// Counts received bytes, and resets the time if they are enough.
    pub(crate) fn advance(&mut self, bytes: usize) {
        self.bytes += bytes as u64;
        if self.bytes as f64 >= LEAST_RATE * self.limit.as_secs_f64() {
            self.since = Instant::now();
            self.bytes = 0;
        }
    }

    /// Whether no time is left.
    pub(crate) fn is_over(&self) -> bool {
        self.left().is_zero()
    }

    pub(crate) fn left(&self) -> Duration {
        self.limit.saturating_sub(self.since.elapsed())
    }

    /// Returns the deadline of an attempt, or of its next step: half of the time left is reserved if another
    /// attempt may follow.
    pub(crate) fn attempt(&self, is_last: bool) -> Instant {
        Instant::now() + if is_last { self.left() } else { self.left() / 2 }
    }

    /// Returns the fault of an attempt that timed out.
    pub(crate) fn fault(&self) -> Fault {
        let limit = self.limit.as_secs_f64();
        Fault::passing(match self.bytes {
            0 => format!("no byte came for {limit} s"),
            bytes => format!("only {bytes} bytes came in {limit} s"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Clock;
    use std::time::Duration;

    #[test]
    fn only_enough_bytes_start_it_anew() {
        let mut clock = Clock::new(Duration::from_millis(100));
        std::thread::sleep(Duration::from_millis(60));
        clock.advance(50);
        assert!(clock.left() <= Duration::from_millis(40));
        clock.advance(2);
        assert!(clock.left() > Duration::from_millis(40));
        std::thread::sleep(Duration::from_millis(110));
        assert!(clock.is_over());
        clock.skip(Duration::from_secs(60));
        assert!(!clock.is_over());
    }
}
