//! Memory that is used again and again.

use crate::{Error, ErrorKind, Result};
use forthwith_columns::{Buffer, Memory, Policy};

/// Memory for one block after another: kept as long as it suffices, in huge pages where it is large, which
/// decompressing into it and decoding from it gain from.
#[derive(Debug)]
pub struct ScratchBuffer {
    memory: Memory,
    held: Option<Buffer>,
}

impl ScratchBuffer {
    /// None yet, to be had from `memory`.
    #[must_use]
    pub const fn new(memory: Memory) -> Self {
        Self { memory, held: None }
    }

    /// Memory for scratch: large enough blocks get huge pages where columns do, and what is given back is not
    /// kept, unless for others of this process.
    #[must_use]
    pub fn memory(columns: &Policy) -> Memory {
        Memory::new(Policy { pool_bytes: 0, huge_from: HUGE_FROM, limit: None, ..columns.clone() })
    }

    /// Bytes held.
    #[must_use]
    pub fn len(&self) -> usize {
        self.held.as_ref().map_or(0, Buffer::capacity)
    }

    /// Whether nothing is held.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A buffer of some length, holding anything. Refusal is an error rather than the end of the process.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    pub fn take(&mut self, bytes: usize) -> Result<&mut [u8]> {
        let refused =
            || Error::new(ErrorKind::OutOfMemory { what: "scratch for a block", bytes: bytes as u64 });
        if self.held.as_ref().is_none_or(|held| held.capacity() < bytes) {
            // The old memory is given back first: nothing in it is worth copying. The next block may be a
            // little larger.
            self.held = None;
            let more = bytes.saturating_add(bytes / 8);
            let held = self.memory.allocate(more).or_else(|_| self.memory.allocate(bytes));
            self.held = Some(held.map_err(|_| refused())?);
        }
        self.held.as_mut().map(|held| held.bytes_mut(bytes)).ok_or_else(refused)
    }

    /// Gives back more than `bytes`.
    pub fn trim(&mut self, bytes: usize) {
        if self.len() > bytes {
            self.held = None;
        }
    }
}

impl Default for ScratchBuffer {
    /// With huge pages.
    fn default() -> Self {
        Self::new(Self::memory(&Policy::default()))
    }
}

/// Huge pages have two megabytes.
const HUGE_FROM: usize = 2 << 20;
