//! The number of threads that the process can run at once.

use crate::{Instant, ProcessOnce};
use std::{
    sync::atomic::{AtomicU64, Ordering},
    thread,
};

/// Time in milliseconds for which an answer of the system is cached.
const KEPT: u64 = 1000;

/// The cached answer in the low 16 bits, and above them its time, in milliseconds since the first call.
static ANSWER: AtomicU64 = AtomicU64::new(0);

/// Returns the number of threads that the process can run at once, by the processors it may use and the quota
/// of its control group; 1 if the system does not report it. Larger numbers than 65,535 are reduced to that.
///
/// The system is queried at most once a second: Linux answers from five files, which takes longer than
/// reading a small table. Changes are noticed up to a second late.
#[must_use]
#[allow(clippy::disallowed_methods, reason = "this is the one place")]
pub fn parallelism() -> usize {
    static BEGAN: ProcessOnce<Instant> = ProcessOnce::new();
    let now = BEGAN.get_or_make(Instant::now).elapsed().as_millis() as u64;
    let answer = ANSWER.load(Ordering::Relaxed);
    if answer != 0 && now.saturating_sub(answer >> 16) < KEPT {
        return (answer & 0xffff) as usize;
    }
    let found = thread::available_parallelism().map_or(1, usize::from).min(0xffff);
    ANSWER.store(now << 16 | found as u64, Ordering::Relaxed);
    found
}

#[cfg(test)]
mod tests {
    use super::parallelism;

    #[test]
    fn the_answer_is_that_of_the_system() {
        #[allow(clippy::disallowed_methods, reason = "to compare with it")]
        let expected = std::thread::available_parallelism().map_or(1, usize::from);
        assert_eq!([parallelism(), parallelism()], [expected, expected]);
    }
}
