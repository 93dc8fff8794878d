//! Small buffers from the global allocator.

use super::{PAD, SLACK};
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;

/// Zeroed bytes from the global allocator. They are aligned here, not by the layout: for a small alignment,
/// the allocator can return fresh pages, which are zero already, instead of clearing them.
pub(super) struct Heap {
    base: NonNull<u8>,
    layout: Layout,
}

// SAFETY: the memory is owned by this value alone and no thread-local state is tied to it.
unsafe impl Send for Heap {}
// SAFETY: a shared reference gives the address and the size only.
unsafe impl Sync for Heap {}

impl Heap {
    /// Allocates `capacity` bytes with [`PAD`] before and [`SLACK`] after them, and space for alignment.
    pub(super) fn new(capacity: usize) -> Option<Self> {
        let bytes = capacity.checked_add(PAD + SLACK + ALIGN)?;
        let layout = Layout::from_size_align(bytes, 16).ok()?;
        // SAFETY: the layout is not of size zero.
        let base = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        Some(Self { base, layout })
    }

    /// Returns the capacity in bytes, without [`PAD`], [`SLACK`] and the space for alignment.
    pub(super) fn capacity(&self) -> usize {
        self.layout.size() - PAD - SLACK - ALIGN
    }

    /// Returns the first data byte, which has [`PAD`] bytes before it.
    pub(super) fn start(&self) -> NonNull<u8> {
        let address = self.base.addr().get();
        let skip = (address + PAD).next_multiple_of(ALIGN) - address;
        // SAFETY: `skip` is less than PAD + ALIGN, which is less than the size of the allocation.
        unsafe { self.base.add(skip) }
    }
}

impl Drop for Heap {
    fn drop(&mut self) {
        // SAFETY: `base` came from the global allocator with this layout, and is freed once.
        unsafe { dealloc(self.base.as_ptr(), self.layout) }
    }
}

const ALIGN: usize = 64;
