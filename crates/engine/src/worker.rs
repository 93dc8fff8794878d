//! The warm state of a thread.

use crate::{entry_list::Chosen, fetch::Window, program::Decoders};
use forthwith_columns::Policy;
use forthwith_plan::{Scratch, ScratchBuffer};
use std::sync::Arc;

/// The state that a thread keeps from task to task and from call to call.
pub(crate) struct Worker {
    pub(crate) scratch: Scratch,
    pub(crate) stored: ScratchBuffer,
    pub(crate) decoders: Decoders,
    pub(crate) window: Option<Arc<Window>>,
    pub(crate) chosen: Chosen,
}

impl std::fmt::Debug for Worker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Worker")
    }
}

/// Scratch of this size is kept from call to call; what a larger block took is given back.
const SCRATCH_KEPT: usize = 128 << 20;

impl Worker {
    pub(crate) fn new(policy: &Policy) -> Self {
        let memory = ScratchBuffer::memory(policy);
        Self {
            scratch: Scratch::of(&memory).limited(policy.limit),
            chosen: Chosen::new(&memory),
            stored: ScratchBuffer::new(memory),
            decoders: Decoders::default(),
            window: None,
        }
    }

    /// Gives back what only the last call needed.
    pub(crate) fn trim(&mut self) {
        self.window = None;
        self.scratch.trim(SCRATCH_KEPT);
        self.decoders.trim(SCRATCH_KEPT);
        self.stored.trim(SCRATCH_KEPT);
        self.chosen.trim(SCRATCH_KEPT);
    }
}
