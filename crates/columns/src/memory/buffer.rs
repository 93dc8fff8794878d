//! Bytes being written.

use super::bounds::MAP_FROM;
use super::{HUGE_WORTH, Memory, OutOfMemory, PAD, Region, SLACK, Shared, heap::Heap, map, map::Map};
use std::ptr::NonNull;
use std::sync::Arc;

/// Owned byte memory, writable while building.
///
/// The first byte is aligned to 64. The 64 bytes before it are zero and may be read, so that "the item before
/// the first" needs no test; the 64 bytes after the capacity may be written, so that short copies need not
/// stop exactly. All bytes are initialised: new memory is zero, memory from the pool holds something older.
pub struct Buffer {
    start: NonNull<u8>,
    capacity: usize,
    region: Region,
    /// Bytes counted as in use for this buffer.
    charged: usize,
    /// Whether the region knows how much of it was written; otherwise all of it may have been.
    touched: bool,
    shared: Arc<Shared>,
}

// SAFETY: the memory is owned by this value alone; `start` points into `region`.
unsafe impl Send for Buffer {}
// SAFETY: through a shared reference only reading is safe; writing through `as_ptr` is the writer's
// obligation.
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

    /// In a mapping that is there.
    pub(super) fn mapped(shared: &Arc<Shared>, map: Map) -> Result<Self, OutOfMemory> {
        let total = map.len();
        shared.charge(total).map_err(|_| OutOfMemory { bytes: total })?;
        Ok(Self::of(shared, Region::Map(map), total))
    }

    /// `charged` bytes were.
    fn of(shared: &Arc<Shared>, region: Region, charged: usize) -> Self {
        let (start, shared) = (NonNull::dangling(), shared.clone());
        let mut buffer = Self { start, capacity: 0, region, charged, touched: false, shared };
        buffer.settle();
        buffer
    }

    /// The first byte. It stays valid for reads and writes of `capacity + 64` bytes until the buffer is
    /// grown, shrunk or dropped.
    #[must_use]
    pub fn as_ptr(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// Bytes that can be written, apart from the slack.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Makes room for `needed` bytes in all, at least doubling if that is more than the capacity. The first
    /// `used` bytes are kept; pointers to them are not.
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

    /// The first `len` bytes.
    ///
    /// # Panics
    /// If `len` is more than the capacity.
    #[must_use]
    pub fn bytes(&self, len: usize) -> &[u8] {
        assert!(len <= self.capacity, "{len} bytes asked of {}", self.capacity);
        // SAFETY: `start` has `capacity` initialised bytes, and no thread writes while they are borrowed.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), len) }
    }

    /// The first `len` bytes, to be written.
    ///
    /// # Panics
    /// If `len` is more than the capacity.
    #[must_use]
    pub fn bytes_mut(&mut self, len: usize) -> &mut [u8] {
        assert!(len <= self.capacity, "{len} bytes asked of {}", self.capacity);
        // SAFETY: as above, and the borrow is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), len) }
    }

    /// Gives back what lies after the first `used` bytes. Those are kept; pointers to them are not.
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
                // To take huge pages apart costs more than it gives back.
                if map.shares() && spare <= used / 8 {
                    map.set_warm(needed.max(map.warm()));
                } else if self.shared.pools() && idle <= needed.max(MAP_FROM) {
                    // Address space that was never touched costs nothing, and the next reservation of this
                    // size finds its pages again.
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

    /// Where this is memory of pages of its own, their kind, and the bytes from the start on that have them
    /// from an earlier life.
    pub(crate) fn pages(&self) -> Option<(Pages, usize)> {
        let Region::Map(map) = &self.region else { return None };
        if map.shares() {
            // The first write to any of those that share it makes a page.
            return None;
        }
        let huge = map.is_huge() && map::there_are_huge_pages();
        let kind = if huge { Pages::Huge } else { Pages::Small };
        Some((kind, map.warm().saturating_sub(PAD)))
    }

    /// The [`Memory`] this came from.
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

    /// Grows a mapping by moving its pages; false if it stays as it was.
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

    /// Copies what is used to memory that is no larger than that.
    fn move_out(&mut self, used: usize) {
        // Refusal is no harm: the buffer stays as large as it is.
        let total = used + PAD + SLACK;
        let Ok(mut exact) = Self::allocate(&self.shared, used, used) else { return };
        exact.bytes_mut(used).copy_from_slice(self.bytes(used));
        if let Region::Map(map) = &mut self.region {
            // The pool is to keep pages, not address space that was never touched.
            let touched = map.warm().max(total);
            drop(map.cut(touched));
        }
        *self = exact;
    }

    /// Keeps the part of a cut-off tail that has pages from an earlier life.
    fn release_tail(&self, mut tail: Map) {
        let warm = tail.warm();
        if warm >= MAP_FROM {
            drop(tail.cut(warm));
            self.shared.keep(tail);
        }
    }

    /// Finds start and capacity in the region and clears the bytes before the start.
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

/// The kinds of pages that memory can have.
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
