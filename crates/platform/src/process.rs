//! Identity of the process.

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

/// The number of this process, which differs from that of a process it was forked from. Where there are no processes it is 1.
#[must_use]
#[allow(clippy::disallowed_methods, reason = "this is the one place")]
pub fn process_id() -> u32 {
    if cfg!(target_family = "wasm") { 1 } else { std::process::id() }
}

/// Processes that are forked from one another and find a slot in an array of them.
pub(crate) const GENERATIONS: usize = 4;

/// Whether a slot belongs to a process, which takes it if it is free. The exchange is atomic, so that no fork falls in between.
pub(crate) fn is_of(slot: &AtomicU32, process: u32) -> bool {
    slot.load(SeqCst) == process
        || slot.compare_exchange(0, process, SeqCst, SeqCst).map_or_else(|at| at == process, |_| true)
}
