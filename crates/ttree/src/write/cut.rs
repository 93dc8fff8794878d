//! Boundaries of clusters and baskets.

use std::ops::Range;

/// Number of entries of clusters and of their baskets. All clusters have the same number, so that readers can
/// compute their boundaries, unless the size of the data changes by much.
#[derive(Clone, Debug)]
pub(super) struct Cuts {
    /// Number of entries in a cluster.
    pub(super) cluster: u64,
    /// Number of entries in a basket of each branch, so that the baskets of a cluster have about the same
    /// size.
    baskets: Vec<u64>,
}

/// Factor by which a basket may exceed its intended size before it is divided.
const TOLERATED: u64 = 4;

impl Cuts {
    /// Computes the boundaries from the size of `entries` entries in each branch, with the basket size of the
    /// branch.
    pub(super) fn of(bytes: &[(u64, u64)], entries: u64, sizes: Sizes) -> Self {
        let entries = entries.max(1);
        let all = bytes.iter().fold(0u64, |all, (bytes, _)| all.saturating_add(*bytes)).max(1);
        let fitting = |room: u64, bytes: u64| {
            let fitting = u128::from(room) * u128::from(entries) / u128::from(bytes.max(1));
            u64::try_from(fitting).unwrap_or(u64::MAX).clamp(1, MOST_ENTRIES)
        };
        let cluster = sizes.entries.unwrap_or_else(|| fitting(sizes.cluster, all)).clamp(1, MOST_ENTRIES);
        let basket = |(bytes, basket): &(u64, u64)| {
            let pieces = cluster.div_ceil(fitting(*basket, *bytes));
            cluster.div_ceil(pieces)
        };
        Self { cluster, baskets: bytes.iter().map(basket).collect() }
    }

    /// Returns the end of a branch's basket that includes `entry`, counted within the cluster and at most its
    /// end.
    pub(super) fn basket_end(&self, branch: usize, entry: u64) -> u64 {
        let each = self.baskets.get(branch).copied().unwrap_or(self.cluster).max(1);
        ((entry / each + 1) * each).min(self.cluster.max(entry + 1))
    }
}

/// Requested sizes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    pub(super) cluster: u64,
    pub(super) entries: Option<u64>,
}

/// Maximum number of entries in a cluster: baskets count in 31 bits, and each entry may take an offset.
const MOST_ENTRIES: u64 = 1 << 27;

/// Returns the capacity that remains in a basket of intended size `basket` after `bytes` bytes.
pub(super) const fn basket_room(basket: u64, bytes: u64) -> u64 {
    basket.saturating_mul(TOLERATED).saturating_sub(bytes)
}

/// Returns the end of the first rows that have at most `room` bytes. There is at least one.
pub(super) fn within(room: u64, rows: Range<usize>, bytes: impl Fn(Range<usize>) -> u64) -> usize {
    let mut end = rows.end;
    while end > rows.start + 1 && bytes(rows.start..end) > room {
        end = rows.start + (end - rows.start) / 2;
    }
    end
}

impl Sizes {
    /// Returns the capacity that remains in a cluster after `bytes` bytes.
    pub(super) const fn cluster_room(self, bytes: u64) -> u64 {
        self.cluster.saturating_mul(2).saturating_sub(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: Sizes = Sizes { cluster: 32_000, entries: None };

    #[test]
    fn a_cluster_has_baskets_of_about_one_size() {
        // The entries have 4 and 12 bytes.
        let cuts = Cuts::of(&[(400, 1000), (1200, 1000)], 100, SIZES);
        assert_eq!(cuts.cluster, 2000);
        assert_eq!([cuts.baskets[0], cuts.baskets[1]], [250, 80]);
        let others = Cuts::of(&[(400, 4000), (1200, 1000)], 100, SIZES);
        assert_eq!([others.cluster, others.baskets[0], others.baskets[1]], [2000, 1000, 80]);
        assert_eq!(cuts.basket_end(0, 0), 250);
        assert_eq!(cuts.basket_end(0, 250), 500);
        assert_eq!(cuts.basket_end(1, 1999), 2000);
        assert_eq!(Cuts::of(&[(0, 1000)], 0, SIZES).cluster, MOST_ENTRIES.min(32_000));
        assert_eq!(Cuts::of(&[(u64::MAX, 1), (u64::MAX, 1)], 1, SIZES).cluster, 1);
    }

    #[test]
    fn rows_are_halved_until_they_fit() {
        assert_eq!(within(100, 0..64, |rows| rows.len() as u64 * 10), 8);
        assert_eq!(within(0, 5..9, |_| 1), 6);
        assert_eq!(within(1000, 5..9, |_| 1), 9);
    }
}
