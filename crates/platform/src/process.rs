//! Identity of the process.

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

/// Returns the id of this process, which differs from that of the process it was forked from; 1 on systems
/// without processes.
#[must_use]
#[allow(clippy::disallowed_methods, reason = "this is the one place")]
pub fn process_id() -> u32 {
    if cfg!(target_family = "wasm") { 1 } else { std::process::id() }
}

/// Number of generations of forked processes that find a slot in an array.
pub(crate) const GENERATIONS: usize = 4;

/// Whether a slot belongs to a process, which claims it if it is free. The exchange is atomic, so that a fork
/// cannot interrupt it.
pub(crate) fn is_of(slot: &AtomicU32, process: u32) -> bool {
    slot.load(SeqCst) == process
        || slot.compare_exchange(0, process, SeqCst, SeqCst).map_or_else(|at| at == process, |_| true)
}
