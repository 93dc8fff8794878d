//! Memory that is reused between blocks.

use crate::{Error, ErrorKind, Result};
use forthwith_columns::{Buffer, Memory, Policy};

/// A buffer that is reused between blocks and reallocated when it is too small. Large buffers have huge
/// pages, which make decompression and decoding faster.
#[derive(Debug)]
pub struct ScratchBuffer {
    memory: Memory,
    held: Option<Buffer>,
}

impl ScratchBuffer {
    /// Creates an empty buffer that is allocated from `memory`.
    #[must_use]
    pub const fn new(memory: Memory) -> Self {
        Self { memory, held: None }
    }

    /// Returns an allocator for scratch memory: large blocks have huge pages if columns do, and freed memory
    /// is not pooled, except for other users in this process.
    #[must_use]
    pub fn memory(columns: &Policy) -> Memory {
        Memory::new(Policy { pool_bytes: 0, huge_from: HUGE_FROM, limit: None, ..columns.clone() })
    }

    /// Returns the capacity of the buffer in bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.held.as_ref().map_or(0, Buffer::capacity)
    }

    /// Whether the buffer is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns `bytes` bytes of the buffer with unspecified contents, reallocating it if needed. A failed
    /// allocation is an error and does not abort the process.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`].
    pub fn take(&mut self, bytes: usize) -> Result<&mut [u8]> {
        let refused =
            || Error::new(ErrorKind::OutOfMemory { what: "scratch for a block", bytes: bytes as u64 });
        if self.held.as_ref().is_none_or(|held| held.capacity() < bytes) {
            // The old memory is freed first, since its contents are not needed. The next block may be
            // slightly larger.
            self.held = None;
            let more = bytes.saturating_add(bytes / 8);
            let held = self.memory.allocate(more).or_else(|_| self.memory.allocate(bytes));
            self.held = Some(held.map_err(|_| refused())?);
        }
        self.held.as_mut().map(|held| held.bytes_mut(bytes)).ok_or_else(refused)
    }

    /// Frees the buffer if it has more than `bytes` bytes.
    pub fn trim(&mut self, bytes: usize) {
        if self.len() > bytes {
            self.held = None;
        }
    }
}

impl Default for ScratchBuffer {
    /// Creates an empty buffer, by the default policy with huge pages.
    fn default() -> Self {
        Self::new(Self::memory(&Policy::default()))
    }
}

/// Size in bytes from which on huge pages are used: that of one huge page.
const HUGE_FROM: usize = 2 << 20;
