//! Memory that an output owns.

use std::alloc::{Layout, alloc, dealloc, realloc};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::pages::Pages;
use super::supply::{Keeper, Memory, OutOfMemory, SLACK};

/// Memory from the global allocator or of whole pages, which grows by a factor; leases can keep its blocks
/// alive.
pub(super) struct Owned {
    pub(super) block: Option<Arc<Block>>,
    /// Size of the first block in bytes, if that many can be allocated.
    pub(super) first: usize,
    pub(super) factor: f64,
    /// Bytes that this and other outputs may still allocate; None: unlimited.
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
    /// The pages of the block; None: it is from the global allocator.
    pages: Option<Pages>,
}

/// Capacity from which blocks are whole pages, huge ones where the system has them: writing to fresh small
/// pages costs as much as decoding.
const LARGE: usize = 8 << 20;

// SAFETY: the block owns its allocation and never accesses its contents.
unsafe impl Send for Block {}
// SAFETY: a shared block exposes only its address and capacity.
unsafe impl Sync for Block {}

const FRONT: usize = 64;
/// Block of outputs without memory, so that an unused output needs no allocation.
static EMPTY: Blank = Blank(std::cell::UnsafeCell::new([0; (FRONT + SLACK) / 8]));

struct Blank(std::cell::UnsafeCell<[u64; (FRONT + SLACK) / 8]>);
// SAFETY: kernels write to slack only while appending, which needs capacity, and `EMPTY` has none; it is only
// ever read.
unsafe impl Sync for Blank {}

impl Block {
    fn layout(capacity: usize) -> Result<Layout, OutOfMemory> {
        let bytes = capacity.checked_add(FRONT + SLACK).ok_or(OutOfMemory)?;
        // The C library aligns to 16 in any case, so `realloc` can move pages instead of copying bytes.
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

    /// Returns a new block with the leading bytes and the first `used` bytes of this one.
    fn copied(&self, used: usize, capacity: usize) -> Result<Self, OutOfMemory> {
        let new = Self::new(capacity)?;
        let used = used.min(self.capacity).min(capacity);
        // SAFETY: both allocations, which are distinct, have at least that length.
        unsafe { std::ptr::copy_nonoverlapping(self.base.as_ptr(), new.base.as_ptr(), FRONT + used) };
        Ok(new)
    }

    /// Changes the capacity, and keeps the leading bytes and the first `used` bytes.
    fn resize(&mut self, used: usize, capacity: usize) -> Result<(), OutOfMemory> {
        let (old, new) = (Self::layout(self.capacity)?, Self::layout(capacity)?);
        if let Some(pages) = &mut self.pages {
            pages.resize(new.size()).ok_or(OutOfMemory)?;
            (self.base, self.capacity) = (pages.base(), capacity);
            return Ok(());
        }
        // The allocator would copy the whole old block, including pages that were never written to.
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
            // A lease keeps the old block.
            None => *block = Arc::new(block.copied(used, capacity)?),
        }
        Ok(())
    }
}

// SAFETY: the allocation spans FRONT bytes (zeroed), `capacity` bytes and SLACK bytes, is aligned to 16 and
// owned; another owner of the block has its address only from `Lease`, and is responsible for accesses
// through it.
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
        // A float cast saturates; if that much cannot be allocated, the bytes needed are tried.
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
