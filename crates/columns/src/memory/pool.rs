//! Mappings kept for reuse.

use super::map::Map;

/// Mappings in the order they came in, oldest first. Columns made again in the same order find their own pages.
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

    /// Of the mappings of at least `bytes` the one with as many pages as are `expected` to be written; otherwise the largest below, to be
    /// grown. Neither if it is out of proportion: a small column must not pin a large mapping, and a small warm start is no help to a large
    /// column.
    pub(super) fn take(&mut self, bytes: usize, expected: usize, huge: bool) -> Option<Map> {
        let most = bytes.saturating_mul(4);
        let alike = |(_, map): &(usize, &Map)| map.is_huge() == huge;
        let fit = |(at, map): (usize, &Map)| {
            let fits = map.len() >= bytes && map.len() <= most;
            fits.then_some((map.warm().abs_diff(expected), map.len(), at))
        };
        let grow = |(at, map): (usize, &Map)| {
            (map.len() < bytes && map.len() >= bytes / 4).then_some((map.len(), 0, at))
        };
        let found = (self.kept.iter().enumerate().filter(alike).filter_map(fit).min())
            .or_else(|| self.kept.iter().enumerate().filter(alike).filter_map(grow).max());
        let map = self.kept.remove(found?.2);
        self.bytes -= map.warm();
        Some(map)
    }

    /// Keeps `map` and answers what had to leave for it to stay within `limit`: the oldest, or the map itself.
    pub(super) fn put(&mut self, map: Map, limit: usize) -> Vec<Map> {
        if map.warm() > limit {
            return vec![map];
        }
        let mut leave = 0;
        let mut freed = 0;
        while self.bytes - freed + map.warm() > limit {
            freed += self.kept[leave].warm();
            leave += 1;
        }
        self.bytes = self.bytes - freed + map.warm();
        let left = self.kept.drain(..leave).collect();
        self.kept.push(map);
        left
    }
}
