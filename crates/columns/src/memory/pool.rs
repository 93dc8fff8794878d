//! Mappings kept for reuse.

use super::bounds::{MAP_FROM, PAD, SLACK};
use super::map::{Map, address_space_left};
use forthwith_platform::ForkLocal;
use std::sync::Mutex;

/// Mappings in the order they came in, oldest first. Columns made again in the same order find their own
/// pages.
#[derive(Default)]
pub(super) struct Pool {
    kept: Vec<Map>,
    /// Bytes that have pages.
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

    /// Of the mappings of at least `bytes` the one with as many pages as are `expected` to be written, or the
    /// one made for this number of bytes if no less than all are; otherwise of those below, to be grown.
    /// Neither if it is out of proportion: a small column must not pin a large mapping, and a small warm
    /// start is no help to a large column.
    pub(super) fn take(&mut self, bytes: usize, expected: usize, huge: bool) -> Option<Map> {
        let most = bytes.saturating_mul(4);
        // A size of a column that is only a bound tells nothing of its pages. But then the same is said each
        // time.
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

    /// Keeps `map` and answers what had to leave for it to stay within `limit` bytes and `most` mappings: the
    /// oldest, or the map itself.
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

/// Bytes that all share: as much as the C library's allocator leaves untrimmed at most.
pub(super) const COMMON_BYTES: usize = 64 << 20;
/// Bytes that all share beyond those, of which the system may take the pages at any time: other allocators keep as much for a
/// while, and a table that is read again is written into pages that are there.
const LAZY_BYTES: usize = 192 << 20;
/// Mappings that do: they are looked through one by one.
const COMMON_MOST: usize = 256;
/// So much address space may be kept with them, times what was written.
const IDLE: usize = 64;

/// The pages that all memories of this process share.
///
/// A forked process has a pool of its own, since another thread of its parent may have been changing the parent's, and since
/// pages that its parent wrote to would be copied before they are written again.
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
        // A reservation follows what a file says of itself. What was written does not. Where there is room,
        // the next reservation of this size is to find its pages again.
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
