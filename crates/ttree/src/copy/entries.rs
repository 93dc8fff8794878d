//! Entries that are kept, and their new numbers.

use std::ops::Range;

use forthwith_plan::{Error, Result};

/// Checks that ranges are non-empty, ascending, non-adjacent and within the tree's entries.
///
/// # Errors
/// If one is not.
pub(super) fn check_ranges(ranges: &[Range<u64>], entries: u64) -> Result<()> {
    let mut behind = None;
    for range in ranges {
        if range.is_empty() || range.end > entries || behind.is_some_and(|behind| range.start <= behind) {
            let what =
                format!("entries {range:?} of a tree that has {entries}: ranges ascend and do not touch");
            return Err(Error::invalid(what));
        }
        behind = Some(range.end);
    }
    Ok(())
}

/// Ranges of entries that are kept, and their new numbers.
pub(super) struct Skipped<'r> {
    ranges: &'r [Range<u64>],
    /// New number of the first entry of each range.
    firsts: Vec<u64>,
    end: u64,
}

impl<'r> Skipped<'r> {
    pub(super) fn of(ranges: &'r [Range<u64>], base: u64) -> Self {
        let mut end = base;
        let mut first = |range: &Range<u64>| {
            let first = end;
            end += range.end - range.start;
            first
        };
        let firsts = ranges.iter().map(&mut first).collect();
        Self { ranges, firsts, end }
    }

    /// Returns the parts of a range that are kept, and the new number of their first entry.
    pub(super) fn within(&self, entries: &Range<u64>) -> (Vec<Range<u64>>, u64) {
        let first = self.ranges.partition_point(|range| range.end <= entries.start);
        let kept = self.ranges[first..].iter().take_while(|range| range.start < entries.end);
        let kept = kept.map(|range| range.start.max(entries.start)..range.end.min(entries.end)).collect();
        (kept, self.before(entries.start))
    }

    /// Returns the new number of the first kept entry at or after `entry`.
    pub(super) fn before(&self, entry: u64) -> u64 {
        let at = self.ranges.partition_point(|range| range.end <= entry);
        match (self.ranges.get(at), self.firsts.get(at)) {
            (Some(range), Some(first)) => first + entry.saturating_sub(range.start),
            _ => self.end,
        }
    }

    /// Returns the new number of an entry, if it is kept.
    pub(super) fn place(&self, entry: u64) -> Option<u64> {
        let at = self.ranges.partition_point(|range| range.end <= entry);
        let range = self.ranges.get(at).filter(|range| range.start <= entry)?;
        Some(self.firsts.get(at)? + entry - range.start)
    }
}
