//! Memory an output has of its own.

use std::alloc::{Layout, alloc, dealloc, realloc};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::pages::Pages;
use super::supply::{Keeper, Memory, OutOfMemory, SLACK};

/// Memory from the global allocator, growing by a factor; its blocks can be kept by others.
pub(super) struct Owned {
    pub(super) block: Option<Arc<Block>>,
    /// Bytes of the first block, if that many can be had.
    pub(super) first: usize,
    pub(super) factor: f64,
    /// Bytes that this and other outputs may still take; None: no limit.
    pub(super) budget: Option<Arc<AtomicUsize>>,
}

impl Default for Owned {
    fn default() -> Self {
        Self { block: None, first: 1024, factor: 2.0, budget: None }
    }
}

/// An allocation: FRONT bytes, the capacity, SLACK bytes.
pub(super) struct Block {
    base: NonNull<u8>,
    capacity: usize,
    /// Where the memory is from, if not from the global allocator.
    pages: Option<Pages>,
}

/// Longer blocks are pages of their own, large ones where the system has them: writing to fresh small pages
/// costs as much as decoding.
const LARGE: usize = 8 << 20;

// SAFETY: the block owns its allocation and never looks into it.
unsafe impl Send for Block {}
// SAFETY: a shared block gives nothing away but its address and capacity.
unsafe impl Sync for Block {}

const FRONT: usize = 64;
/// So that an untouched output needs no allocation.
static EMPTY: Blank = Blank(std::cell::UnsafeCell::new([0; (FRONT + SLACK) / 8]));

struct Blank(std::cell::UnsafeCell<[u64; (FRONT + SLACK) / 8]>);
// SAFETY: kernels touch slack only while appending, which needs capacity, and `EMPTY` has none; it is only
// ever read.
unsafe impl Sync for Blank {}

impl Block {
    fn layout(capacity: usize) -> Result<Layout, OutOfMemory> {
        let bytes = capacity.checked_add(FRONT + SLACK).ok_or(OutOfMemory)?;
        // Sixteen is what the C library gives anyway, so growing may move pages instead of bytes.
        Layout::from_size_align(bytes, 16).map_err(|_| OutOfMemory)
    }

    fn new(capacity: usize) -> Result<Self, OutOfMemory> {
        let layout = Self::layout(capacity)?;
        if capacity >= LARGE
            && let Some(mut pages) = Pages::new(layout.size())
        {
            // Fresh pages are zero.
            return Ok(Self { base: pages.base(), capacity, pages: Some(pages) });
        }
        // SAFETY: the layout is not empty.
        let base = NonNull::new(unsafe { alloc(layout) }).ok_or(OutOfMemory)?;
        // SAFETY: the allocation is longer than FRONT.
        unsafe { base.as_ptr().write_bytes(0, FRONT) };
        Ok(Self { base, capacity, pages: None })
    }

    /// A new block that begins with the leading bytes and the first `used` bytes of this one.
    fn copied(&self, used: usize, capacity: usize) -> Result<Self, OutOfMemory> {
        let new = Self::new(capacity)?;
        let used = used.min(self.capacity).min(capacity);
        // SAFETY: both allocations, which are distinct, are at least so long.
        unsafe { std::ptr::copy_nonoverlapping(self.base.as_ptr(), new.base.as_ptr(), FRONT + used) };
        Ok(new)
    }

    /// Another capacity, keeping the leading bytes and the first `used`.
    fn resize(&mut self, used: usize, capacity: usize) -> Result<(), OutOfMemory> {
        let (old, new) = (Self::layout(self.capacity)?, Self::layout(capacity)?);
        if let Some(pages) = &mut self.pages {
            pages.resize(new.size()).ok_or(OutOfMemory)?;
            (self.base, self.capacity) = (pages.base(), capacity);
            return Ok(());
        }
        // The allocator would copy all of the old block, pages that were never written to included.
        if used == 0 || capacity >= LARGE && Pages::BUILT {
            *self = self.copied(used, capacity)?;
            return Ok(());
        }
        // SAFETY: `base` was allocated with the layout of the old capacity, and the new size is valid.
        let base = unsafe { realloc(self.base.as_ptr(), old, new.size()) };
        (self.base, self.capacity) = (NonNull::new(base).ok_or(OutOfMemory)?, capacity);
        Ok(())
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if self.pages.is_none()
            && let Ok(layout) = Self::layout(self.capacity)
        {
            // SAFETY: allocated with exactly this layout.
            unsafe { dealloc(self.base.as_ptr(), layout) };
        }
    }
}

impl Owned {
    fn grow_to(&mut self, used: usize, capacity: usize) -> Result<(), OutOfMemory> {
        let capacity = capacity.checked_next_multiple_of(64).ok_or(OutOfMemory)?;
        if let Some(budget) = &self.budget {
            let more = capacity.saturating_sub(self.capacity());
            let left = |left: usize| left.checked_sub(more);
            budget.fetch_update(Ordering::Relaxed, Ordering::Relaxed, left).map_err(|_| OutOfMemory)?;
        }
        let Some(block) = &mut self.block else {
            self.block = Some(Arc::new(Block::new(capacity)?));
            return Ok(());
        };
        match Arc::get_mut(block) {
            Some(block) => block.resize(used, capacity)?,
            // Somebody keeps the bytes where they are.
            None => *block = Arc::new(block.copied(used, capacity)?),
        }
        Ok(())
    }
}

// SAFETY: the allocation spans FRONT bytes (zeroed), `capacity` bytes and SLACK bytes, is aligned to 16 and
// owned; the owner that keeps the block as well has its address only from `Lease`, and what they do there is
// for them to answer for.
unsafe impl Memory for Owned {
    fn as_ptr(&self) -> *mut u8 {
        let base = self.block.as_ref().map_or(EMPTY.0.get().cast::<u8>(), |block| block.base.as_ptr());
        // SAFETY: every allocation, and EMPTY, is longer than FRONT.
        unsafe { base.add(FRONT) }
    }

    fn capacity(&self) -> usize {
        self.block.as_ref().map_or(0, |block| block.capacity)
    }

    fn grow(&mut self, used: usize, needed: usize) -> Result<(), OutOfMemory> {
        self.grow_towards(used, needed, needed)
    }

    fn grow_towards(&mut self, used: usize, needed: usize, expected: usize) -> Result<(), OutOfMemory> {
        // A float cast saturates, and what is too much is tried with just what is needed.
        let wanted = (self.capacity() as f64 * self.factor.max(1.125)).ceil() as usize;
        let wanted = wanted.max(self.first).max(needed).max(expected).max(1024);
        self.grow_to(used, wanted).or_else(|OutOfMemory| self.grow_to(used, needed.max(1024)))
    }

    fn keeper(&self) -> Option<Keeper> {
        match &self.block {
            Some(block) => Some(Arc::<Block>::clone(block)),
            None => Some(Arc::new(())),
        }
    }
}
