//! How memory for columns is had: reserved generously, given back exactly, kept for the next step of a loop.
//!
//! Writing fresh pages costs more than decoding, so three things happen here. Large buffers *reserve address
//! space* for all that could be written and give the tail back when they are finished; untouched pages cost
//! nothing. Very large ones ask for *huge pages*; the small pages of others are *made in batches* before they
//! are written, which takes two thirds of what it takes to have each made by the first write to it. And the
//! mappings of dropped columns are kept in a *pool*, whose pages are already there. The newest of them, up to
//! so much as an ordinary allocator would keep, can be for all memories of the process, so that a loop over
//! files gains from it as a loop over the steps of one does.

mod bounds;
mod buffer;
mod heap;
mod pool;
#[cfg(test)]
mod tests;

#[cfg(all(target_os = "linux", not(miri)))]
#[path = "map_linux.rs"]
mod map;
#[cfg(not(all(target_os = "linux", not(miri))))]
#[path = "map_absent.rs"]
mod map;

pub(crate) use bounds::{HUGE, PAD, SLACK};
pub use buffer::Buffer;
pub(crate) use buffer::Pages;

use forthwith_platform::process_id;
use map::Map;
use pool::Pool;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Where columns get their memory: a policy and a pool. Cheap to clone; clones share the pool.
#[derive(Clone)]
pub struct Memory(Arc<Shared>);

impl Memory {
    /// A fresh, empty pool under `policy`.
    #[must_use]
    pub fn new(policy: Policy) -> Self {
        Self(Arc::new(Shared {
            policy,
            process: process_id(),
            pool: Mutex::new(Pool::default()),
            outstanding: AtomicUsize::new(0),
            peak: AtomicUsize::new(0),
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
        }))
    }

    /// A buffer that holds at least `bytes`. Large buffers are reservations: what is never written costs
    /// address space only.
    pub fn allocate(&self, bytes: usize) -> Result<Buffer, OutOfMemory> {
        Buffer::allocate(&self.0, bytes, bytes)
    }

    /// As [`allocate`](Self::allocate), where only `expected` bytes are expected to be written: few pages at
    /// the beginning of a large reservation are better small ones.
    pub fn allocate_expecting(&self, bytes: usize, expected: usize) -> Result<Buffer, OutOfMemory> {
        Buffer::allocate(&self.0, bytes, expected)
    }

    /// Allocates buffers that are filled together. Each wish is the bytes to reserve and the bytes expected
    /// to be written. Buffers come from pooled pages, or share huge pages with little spare capacity if they
    /// are large enough together. `None` for the others, which the caller allocates one by one.
    pub fn allocate_together(&self, wishes: &[(usize, usize)]) -> Vec<Option<Buffer>> {
        self.0.together(wishes)
    }

    /// The policy this was made with.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.0.policy
    }

    /// The memory in use and the memory kept for reuse.
    #[must_use]
    pub fn stats(&self) -> PoolStats {
        let (pooled_bytes, pooled_buffers) = self.0.pool().map_or((0, 0), |pool| (pool.bytes(), pool.len()));
        PoolStats {
            outstanding_bytes: self.0.outstanding.load(Relaxed),
            peak_bytes: self.0.peak.load(Relaxed),
            pooled_bytes,
            pooled_buffers,
            hits: self.0.hits.load(Relaxed),
            misses: self.0.misses.load(Relaxed),
        }
    }

    /// Gives everything the pool keeps back to the system. Buffers in use are not touched.
    pub fn clear(&self) {
        let kept = self.0.pool().map(|mut pool| std::mem::take(&mut *pool));
        drop(kept); // unmapping happens here, after the lock is free
    }

    /// Bytes that may still be allocated under the limit; `usize::MAX` without one.
    #[must_use]
    pub fn available(&self) -> usize {
        match self.0.policy.limit {
            Some(limit) => limit.saturating_sub(self.0.outstanding.load(Relaxed)),
            None => usize::MAX,
        }
    }
}

/// Bytes of address space the process may still take, if it has a limit; `usize::MAX` otherwise.
pub(crate) fn address_space_left() -> usize {
    map::address_space_left()
}

/// Makes what a process makes once, for the moment before it is forked: see [`crate::prepare`].
pub(crate) fn prepare() {
    let _ = (map::there_are_huge_pages(), pool::of_process());
}

/// Has the system make the pages of a part of a [`Buffer`] now, if it is a mapping. What is in it does not
/// change, and others may use it meanwhile.
///
/// # Safety
/// The buffer is neither moved nor dropped meanwhile.
pub(crate) unsafe fn populate(start: *mut u8, len: usize) {
    // SAFETY: passed on.
    unsafe { map::populate(start, len) };
}

impl Default for Memory {
    fn default() -> Self {
        Self::new(Policy::default())
    }
}

impl std::fmt::Debug for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Memory").field("policy", &self.0.policy).field("stats", &self.stats()).finish()
    }
}

/// The limits that [`Memory`] keeps to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Most bytes the pool keeps for reuse; 0 switches it off.
    pub pool_bytes: usize,
    /// Whether large buffers ask for huge pages. Three times as fast to fill when the system has them at
    /// hand; many times as slow when it has to gather them, or when it is a guest whose host has taken them
    /// back.
    pub huge_pages: bool,
    /// The smallest number of bytes, if they are expected to be written, that asks for huge pages.
    pub huge_from: usize,
    /// Most bytes that all buffers together may hold. Reservations count in full until they are shrunk; what
    /// the pool keeps does not count.
    pub limit: Option<usize>,
    /// Whether what was kept last is shared with all others of this process that do the same: up to 64 MiB in
    /// all, 192 MiB more whose pages the system may take at any time, and besides what the pool keeps.
    pub shared: bool,
}

impl Policy {
    /// Most bytes that are kept for all memories that share, but for those that the system may take.
    pub const SHARED_BYTES: usize = pool::COMMON_BYTES;
}

impl Default for Policy {
    /// A pool of 256 MiB that is not shared, huge pages from 3 MiB, no limit: from there on few of them stay
    /// half empty. A guest whose host has to find them may take several times as long.
    fn default() -> Self {
        Self { pool_bytes: 256 << 20, huge_pages: true, huge_from: 3 << 20, limit: None, shared: false }
    }
}

/// Counters of a [`Memory`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolStats {
    /// Bytes in buffers and columns in use, reservations in full.
    pub outstanding_bytes: usize,
    /// The most `outstanding_bytes` ever was.
    pub peak_bytes: usize,
    /// Bytes kept for reuse.
    pub pooled_bytes: usize,
    /// Mappings kept for reuse.
    pub pooled_buffers: usize,
    /// Large buffers that came from the pool.
    pub hits: u64,
    /// Large buffers that came from the system.
    pub misses: u64,
}

/// Memory was refused, by the system or by the policy's limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("out of memory: {bytes} bytes were refused")]
pub struct OutOfMemory {
    /// The request that was refused.
    pub bytes: usize,
}

/// The state that clones of a [`Memory`] and its buffers share.
struct Shared {
    policy: Policy,
    /// The process whose threads may lock the pool. After a fork, another thread of the parent may have held
    /// the lock.
    process: u32,
    pool: Mutex<Pool>,
    outstanding: AtomicUsize,
    peak: AtomicUsize,
    hits: AtomicU64,
    misses: AtomicU64,
}

impl Shared {
    /// The pool, unless it is off or belongs to another process.
    fn pool(&self) -> Option<MutexGuard<'_, Pool>> {
        if self.policy.pool_bytes == 0 || process_id() != self.process {
            return None;
        }
        // A panic cannot leave the pool half changed: its only writes are pushes and removals.
        Some(self.pool.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether mappings are kept at all.
    fn pools(&self) -> bool {
        self.policy.pool_bytes > 0
    }

    fn wants_huge(&self, bytes: usize) -> bool {
        self.policy.huge_pages && bytes >= self.policy.huge_from
    }

    /// Counts `bytes` as in use, or refuses.
    fn charge(&self, bytes: usize) -> Result<(), OutOfMemory> {
        let limit = self.policy.limit.unwrap_or(usize::MAX);
        let charged = self
            .outstanding
            .fetch_update(Relaxed, Relaxed, |held| held.checked_add(bytes).filter(|total| *total <= limit))
            .map_err(|_| OutOfMemory { bytes })?;
        self.peak.fetch_max(charged + bytes, Relaxed);
        Ok(())
    }

    fn discharge(&self, bytes: usize) {
        self.outstanding.fetch_sub(bytes, Relaxed);
    }

    /// Returns a mapping of at least `bytes`, of which `expected` are expected to be written, from the pool
    /// if one fits well.
    fn map(&self, bytes: usize, expected: usize) -> Option<Map> {
        let huge = self.wants_huge(expected);
        if let Some(map) = self.kept(bytes, expected, huge) {
            return Some(map);
        }
        let map = Map::new(bytes, huge)?;
        self.misses.fetch_add(1, Relaxed);
        Some(map)
    }

    /// Returns a mapping like [`map`](Self::map), but only from the pool.
    fn kept(&self, bytes: usize, expected: usize, huge: bool) -> Option<Map> {
        // The pages kept last are in the shared pool.
        let pooled = self.common().and_then(|mut common| common.take(bytes, expected, huge));
        let map = pooled.or_else(|| self.pool()?.take(bytes, expected, huge))?;
        let map = if map.len() < bytes { map.resize(bytes, huge).ok()? } else { map };
        self.hits.fetch_add(1, Relaxed);
        Some(map)
    }

    fn together(self: &Arc<Self>, wishes: &[(usize, usize)]) -> Vec<Option<Buffer>> {
        let mut made: Vec<Option<Buffer>> = wishes.iter().map(|_| None).collect();
        if self.policy.limit.is_some()
            || !map::there_are_huge_pages()
            || map::address_space_left() != usize::MAX
        {
            return made;
        }
        let (mut numbers, mut sizes) = (Vec::new(), Vec::new());
        for (number, (bytes, expected)) in wishes.iter().copied().enumerate() {
            if expected < bounds::MAP_FROM || self.wants_huge(expected) {
                continue;
            }
            // The pages kept last were of this size, too: by the size of the others they would replace
            // another column's pages.
            let size = (expected + expected / 16 + LIKELY).min(bytes) + PAD + SLACK;
            match self.kept(size, expected, false) {
                Some(map) => made[number] = Buffer::mapped(self, map).ok(),
                None => {
                    numbers.push(number);
                    sizes.push(size);
                }
            }
        }
        let all = sizes.iter().fold(0_usize, |sum, size| sum.saturating_add(*size));
        // Of one that is theirs alone, half may be left; what several leave of theirs is small pages.
        if sizes.len() < 2 || !self.wants_huge(all.saturating_add(all / 2)) || all < HUGE {
            return made;
        }
        for (number, map) in numbers.into_iter().zip(Map::side_by_side(&sizes).unwrap_or_default()) {
            self.misses.fetch_add(1, Relaxed);
            made[number] = Buffer::mapped(self, map).ok();
        }
        made
    }

    /// Keeps a mapping for later, or gives it back to the system.
    fn keep(&self, map: Map) {
        let mut rest = match self.common() {
            Some(mut common) => common.leave(map),
            None => vec![map],
        };
        if let Some(mut pool) = self.pool() {
            rest =
                rest.into_iter().flat_map(|map| pool.put(map, self.policy.pool_bytes, usize::MAX)).collect();
        }
        drop(rest); // unmapping happens here, after the lock is free
    }

    /// The pool that all memories of this process share.
    fn common(&self) -> Option<MutexGuard<'static, Pool>> {
        let shares = self.policy.shared && process_id() == self.process;
        shares.then(|| pool::of_process().lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Memory from which a buffer is made.
enum Region {
    Heap(heap::Heap),
    Map(Map),
    /// Taken away, by what is about to drop or replace the buffer.
    Gone,
}

/// Bytes for which there is room beyond those that are likely.
const LIKELY: usize = 4096;
/// A column that fills less than this of a mapping of huge pages moves out of it.
const HUGE_WORTH: usize = HUGE / 4;
