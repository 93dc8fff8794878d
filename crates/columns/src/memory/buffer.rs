//! Buffers for bytes that are written.

use super::bounds::MAP_FROM;
use super::{HUGE_WORTH, Memory, OutOfMemory, PAD, Region, SLACK, Shared, heap::Heap, map, map::Map};
use std::ptr::NonNull;
use std::sync::Arc;

/// Owned, writable memory.
///
/// The first byte is aligned to 64. The 64 bytes before it are zero and may be read, so that access to the
/// item before the first needs no test; the 64 bytes after the capacity may be written, so that short copies
/// may exceed it. All bytes are initialised: new memory is zero, and memory from the pool has arbitrary
/// content.
pub struct Buffer {
    start: NonNull<u8>,
    capacity: usize,
    region: Region,
    /// Number of bytes that are charged to the [`Memory`] for this buffer.
    charged: usize,
    /// Whether the region knows how many bytes were written; otherwise all may have been.
    touched: bool,
    shared: Arc<Shared>,
}

// SAFETY: the memory is owned by this value alone; `start` points into `region`.
unsafe impl Send for Buffer {}
// SAFETY: a shared reference only allows reads; writes through `as_ptr` are the writer's obligation.
unsafe impl Sync for Buffer {}

impl Buffer {
    pub(super) fn allocate(shared: &Arc<Shared>, bytes: usize, expected: usize) -> Result<Self, OutOfMemory> {
        let refused = OutOfMemory { bytes };
        let total = bytes.checked_add(PAD + SLACK).ok_or(refused)?;
        shared.charge(total).map_err(|_| refused)?;
        let region = if total >= MAP_FROM { shared.map(total, expected).map(Region::Map) } else { None };
        let Some(region) = region.or_else(|| Heap::new(bytes).map(Region::Heap)) else {
            shared.discharge(total);
            return Err(refused);
        };
        Ok(Self::of(shared, region, total))
    }

    /// Makes a buffer of an existing mapping, and charges it.
    pub(super) fn mapped(shared: &Arc<Shared>, map: Map) -> Result<Self, OutOfMemory> {
        let total = map.len();
        shared.charge(total).map_err(|_| OutOfMemory { bytes: total })?;
        Ok(Self::of(shared, Region::Map(map), total))
    }

    /// Makes a buffer of a region for which `charged` bytes are charged.
    fn of(shared: &Arc<Shared>, region: Region, charged: usize) -> Self {
        let (start, shared) = (NonNull::dangling(), shared.clone());
        let mut buffer = Self { start, capacity: 0, region, charged, touched: false, shared };
        buffer.settle();
        buffer
    }

    /// Returns a pointer to the first byte. It is valid for reads and writes of `capacity + 64` bytes until
    /// the buffer is grown, shrunk or dropped.
    #[must_use]
    pub fn as_ptr(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// Returns the capacity in bytes, without the slack.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Grows the capacity to at least `needed` bytes, doubling it at least if it does not suffice. The first
    /// `used` bytes are kept; pointers to them are invalidated.
    ///
    /// # Panics
    /// If `used` is more than the capacity.
    pub fn grow(&mut self, used: usize, needed: usize) -> Result<(), OutOfMemory> {
        assert!(used <= self.capacity, "{used} bytes used of {}", self.capacity);
        if needed <= self.capacity {
            return Ok(());
        }
        let doubled = self.capacity.saturating_mul(2);
        if doubled > needed && self.grow_to(used, doubled).is_ok() {
            return Ok(());
        }
        self.grow_to(used, needed)
    }

    /// Returns the first `len` bytes.
    ///
    /// # Panics
    /// If `len` is more than the capacity.
    #[must_use]
    pub fn bytes(&self, len: usize) -> &[u8] {
        assert!(len <= self.capacity, "{len} bytes asked of {}", self.capacity);
        // SAFETY: `start` has `capacity` initialised bytes, and no thread writes while they are borrowed.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), len) }
    }

    /// Returns the first `len` bytes, mutably.
    ///
    /// # Panics
    /// If `len` is more than the capacity.
    #[must_use]
    pub fn bytes_mut(&mut self, len: usize) -> &mut [u8] {
        assert!(len <= self.capacity, "{len} bytes asked of {}", self.capacity);
        // SAFETY: as above, and the borrow is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), len) }
    }

    /// Releases memory after the first `used` bytes where that pays. Those are kept; pointers to them are
    /// invalidated.
    ///
    /// # Panics
    /// If `used` is more than the capacity.
    pub fn shrink(&mut self, used: usize) {
        assert!(used <= self.capacity, "{used} bytes used of {}", self.capacity);
        let spare = self.capacity - used;
        let total = used + PAD + SLACK;
        match &mut self.region {
            // A little waste is cheaper than a copy.
            Region::Heap(_) if spare <= 4096 || spare <= used / 4 => {}
            Region::Map(_) if total < MAP_FROM / 2 => self.move_out(used),
            Region::Map(map) if total < HUGE_WORTH && map.is_huge() => self.move_out(used),
            Region::Heap(_) => self.move_out(used),
            Region::Map(map) => {
                let needed = PAD + used + SLACK;
                let idle = map.warm().saturating_sub(needed);
                // Splitting huge pages costs more than the released memory is worth.
                if map.shares() && spare <= used / 8 {
                    map.set_warm(needed.max(map.warm()));
                } else if self.shared.pools() && idle <= needed.max(MAP_FROM) {
                    // Untouched address space is free, and the next reservation of this size reuses the
                    // pages.
                    map.set_warm(needed.max(map.warm()));
                } else {
                    let Some(tail) = map.cut(needed) else { return };
                    map.set_warm(needed);
                    self.settle();
                    self.release_tail(tail);
                }
                self.touched = true;
                self.shared.discharge(self.charged.saturating_sub(needed));
                self.charged = self.charged.min(needed);
            }
            Region::Gone => {}
        }
    }

    /// Returns the kind of the buffer's pages, and the number of bytes from the start that have pages
    /// already. `None` if the buffer is on the heap or shares huge pages with others.
    pub(crate) fn pages(&self) -> Option<(Pages, usize)> {
        let Region::Map(map) = &self.region else { return None };
        if map.shares() {
            // The first write to any buffer in a huge page makes the page.
            return None;
        }
        let huge = map.is_huge() && map::there_are_huge_pages();
        let kind = if huge { Pages::Huge } else { Pages::Small };
        Some((kind, map.warm().saturating_sub(PAD)))
    }

    /// Returns the [`Memory`] that it was allocated from.
    #[must_use]
    pub fn memory(&self) -> Memory {
        Memory(self.shared.clone())
    }

    fn grow_to(&mut self, used: usize, capacity: usize) -> Result<(), OutOfMemory> {
        let refused = OutOfMemory { bytes: capacity };
        let total = capacity.checked_add(PAD + SLACK).ok_or(refused)?;
        if let Region::Map(_) = self.region {
            let more = total.saturating_sub(self.charged);
            self.shared.charge(more).map_err(|_| refused)?;
            self.charged += more;
            if self.remap(total) {
                return Ok(());
            }
            self.charged -= more;
            self.shared.discharge(more);
        }
        let mut larger = Self::allocate(&self.shared, capacity, capacity)?;
        larger.bytes_mut(used).copy_from_slice(self.bytes(used));
        *self = larger;
        Ok(())
    }

    /// Grows a mapping by moving its pages; returns whether it succeeded.
    fn remap(&mut self, total: usize) -> bool {
        let Region::Map(map) = std::mem::replace(&mut self.region, Region::Gone) else {
            return false; // never: the caller has looked
        };
        let resized = map.resize(total, self.shared.wants_huge(total));
        let done = resized.is_ok();
        self.region = Region::Map(resized.unwrap_or_else(|map| map));
        self.settle();
        done
    }

    /// Copies the used bytes to a new buffer of exactly their size.
    fn move_out(&mut self, used: usize) {
        // If the allocation fails, the buffer keeps its size.
        let total = used + PAD + SLACK;
        let Ok(mut exact) = Self::allocate(&self.shared, used, used) else { return };
        exact.bytes_mut(used).copy_from_slice(self.bytes(used));
        if let Region::Map(map) = &mut self.region {
            // The pool should keep pages, not untouched address space.
            let touched = map.warm().max(total);
            drop(map.cut(touched));
        }
        *self = exact;
    }

    /// Returns the part of a cut-off tail that has pages to the pool.
    fn release_tail(&self, mut tail: Map) {
        let warm = tail.warm();
        if warm >= MAP_FROM {
            drop(tail.cut(warm));
            self.shared.keep(tail);
        }
    }

    /// Updates start and capacity from the region, and clears the bytes before the start.
    fn settle(&mut self) {
        match &self.region {
            Region::Heap(heap) => {
                self.start = heap.start();
                self.capacity = heap.capacity();
            }
            Region::Map(map) => {
                // SAFETY: mappings are at least a page.
                self.start = unsafe { map.base().add(PAD) };
                self.capacity = map.len() - PAD - SLACK;
            }
            Region::Gone => return,
        }
        // SAFETY: both kinds of region have PAD bytes before the start.
        unsafe { self.start.sub(PAD).write_bytes(0, PAD) };
    }
}

/// Size of pages.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pages {
    Small,
    Huge,
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.shared.discharge(self.charged);
        if let Region::Map(mut map) = std::mem::replace(&mut self.region, Region::Gone) {
            if !self.touched {
                map.set_warm(map.len());
            }
            self.shared.keep(map);
        }
    }
}

impl std::fmt::Debug for Buffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Buffer").field("start", &self.start).field("capacity", &self.capacity).finish()
    }
}
