//! State that a thread reuses between tasks.

use crate::{entry_list::Chosen, fetch::Window, program::Decoders};
use forthwith_columns::Policy;
use forthwith_plan::{Scratch, ScratchBuffer};
use std::sync::Arc;

/// State that a thread reuses between tasks and calls.
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

/// Size in bytes up to which scratch memory is kept between calls.
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

    /// Releases the window, and scratch memory that is too large to keep.
    pub(crate) fn trim(&mut self) {
        self.window = None;
        self.scratch.trim(SCRATCH_KEPT);
        self.decoders.trim(SCRATCH_KEPT);
        self.stored.trim(SCRATCH_KEPT);
        self.chosen.trim(SCRATCH_KEPT);
    }
}
