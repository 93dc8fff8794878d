//! Pool of mappings for reuse.

use super::bounds::{MAP_FROM, PAD, SLACK};
use super::map::{Map, address_space_left};
use forthwith_platform::ForkLocal;
use std::sync::Mutex;

/// Mappings, oldest first. Columns that are made again in the same order find their own pages.
#[derive(Default)]
pub(super) struct Pool {
    kept: Vec<Map>,
    /// Number of bytes that have pages.
    bytes: usize,
}

impl Pool {
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn len(&self) -> usize {
        self.kept.len()
    }

    #[cfg(all(test, target_os = "linux", not(miri)))]
    pub(super) fn kept(&self) -> &[Map] {
        &self.kept
    }

    /// Takes a mapping for `bytes` bytes, of which `expected` will be written. Prefers mappings of at least
    /// `bytes`, and among them the one whose number of bytes with pages is closest to `expected`, or whose
    /// length is closest to `bytes` if all of it is expected to be written; otherwise takes a shorter one, to
    /// be grown. Mappings of more than four times `bytes` are excluded, so that a small column does not pin a
    /// large mapping; so are shorter ones with pages for less than a quarter of `expected`, which would not
    /// help.
    pub(super) fn take(&mut self, bytes: usize, expected: usize, huge: bool) -> Option<Map> {
        let most = bytes.saturating_mul(4);
        // An expected size that is only the upper bound says nothing about pages; but it is the same bound in
        // each step of a loop.
        let is_bound = expected.saturating_add(PAD + SLACK) >= bytes;
        let alike = |(_, map): &(usize, &Map)| map.is_huge() == huge;
        let fit = |(at, map): (usize, &Map)| {
            let fits = map.len() >= bytes && map.len() <= most;
            let far = if is_bound { map.len().abs_diff(bytes) } else { map.warm().abs_diff(expected) };
            fits.then_some((far, map.len(), at))
        };
        let grow = |(at, map): (usize, &Map)| {
            let grows = map.len() < bytes && map.warm() >= (expected / 4).max(1);
            grows.then_some((map.warm().abs_diff(expected), map.len(), at))
        };
        let found = (self.kept.iter().enumerate().filter(alike).filter_map(fit).min())
            .or_else(|| self.kept.iter().enumerate().filter(alike).filter_map(grow).min());
        let map = self.kept.remove(found?.2);
        self.bytes -= map.warm();
        Some(map)
    }

    /// Keeps `map` and returns the mappings that it evicts to stay within `limit` bytes and `most` mappings:
    /// the oldest, or `map` itself if it exceeds the limit.
    pub(super) fn put(&mut self, map: Map, limit: usize, most: usize) -> Vec<Map> {
        if map.warm() > limit {
            return vec![map];
        }
        let mut leave = 0;
        let mut freed = 0;
        while leave < self.kept.len()
            && (self.bytes - freed + map.warm() > limit || self.kept.len() - leave >= most)
        {
            freed += self.kept[leave].warm();
            leave += 1;
        }
        self.bytes = self.bytes - freed + map.warm();
        let left = self.kept.drain(..leave).collect();
        self.kept.push(map);
        left
    }
}

/// Number of bytes that the process keeps: as many as the C library's allocator leaves untrimmed.
pub(super) const COMMON_BYTES: usize = 64 << 20;
/// Number of bytes beyond [`COMMON_BYTES`] that the process keeps, but whose pages the system may reclaim at
/// any time: other allocators keep as many for a while, and a table that is read again is written into
/// existing pages.
const LAZY_BYTES: usize = 192 << 20;
/// Number of mappings that the process keeps; they are searched linearly.
const COMMON_MOST: usize = 256;
/// Maximum ratio of kept address space to written bytes.
const IDLE: usize = 64;

/// Returns the pool that all memories of this process share.
///
/// A forked process has its own pool, since another thread of its parent may have been changing the parent's
/// pool, and since pages that its parent wrote would be copied on the next write.
pub(super) fn of_process() -> &'static Mutex<Pool> {
    static POOL: ForkLocal<Mutex<Pool>> = ForkLocal::new();
    POOL.get()
}

impl Pool {
    /// Keeps a mapping for the next buffer, and returns the mappings that it replaces.
    pub(super) fn leave(&mut self, mut map: Map) -> Vec<Map> {
        if map.warm() == 0 {
            return vec![map];
        }
        // The size of a reservation comes from untrusted metadata of a file, the number of written bytes does
        // not. Where address space is unlimited, long mappings are kept, so that the next reservation of this
        // size finds its pages again.
        let idle = if address_space_left() == usize::MAX { IDLE } else { 1 };
        if map.len() / idle > map.warm().max(MAP_FROM) {
            drop(map.cut(map.warm()));
        }
        if self.bytes + map.warm() > COMMON_BYTES {
            map.free_lazily();
        }
        self.put(map, COMMON_BYTES + LAZY_BYTES, COMMON_MOST)
    }
}
