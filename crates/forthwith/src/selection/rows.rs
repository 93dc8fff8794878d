//! Entries that are read, and the ranges to read for them.

use std::ops::Range;

/// Entries that are read.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Rows {
    All(Range<u64>),
    Some(Vec<u64>),
}

impl Rows {
    pub(super) fn len(&self) -> u64 {
        match self {
            Self::All(range) => range.end - range.start,
            Self::Some(entries) => entries.len() as u64,
        }
    }

    /// The last entry.
    pub(super) fn last(&self) -> Option<u64> {
        match self {
            Self::All(range) => range.end.checked_sub(1).filter(|last| *last >= range.start),
            Self::Some(entries) => entries.last().copied(),
        }
    }

    /// The entries `by` behind these.
    pub(super) fn shifted(&self, by: u64) -> Self {
        match self {
            Self::All(range) => Self::All(range.start.saturating_add(by)..range.end.saturating_add(by)),
            Self::Some(entries) => Self::Some(entries.iter().map(|entry| entry.saturating_add(by)).collect()),
        }
    }

    /// The entries in a range, counted from its first.
    pub(super) fn within(&self, part: Range<u64>) -> Self {
        match self {
            Self::All(range) => {
                let (start, end) = (range.start.max(part.start), range.end.min(part.end));
                Self::All(start.saturating_sub(part.start)..end.max(start).saturating_sub(part.start))
            }
            Self::Some(entries) => {
                let begin = entries.partition_point(|entry| *entry < part.start);
                let end = entries.partition_point(|entry| *entry < part.end);
                Self::Some(entries[begin..end.max(begin)].iter().map(|entry| entry - part.start).collect())
            }
        }
    }

    /// The entry that a row of an array is.
    pub(super) fn entry(&self, row: u64) -> Option<u64> {
        match self {
            Self::All(range) => range.start.checked_add(row),
            Self::Some(entries) => entries.get(usize::try_from(row).ok()?).copied(),
        }
    }
}

/// Entries that follow each other, as ranges of where they are.
pub(super) fn runs(entries: &[u64], place: impl Fn(u64) -> u64) -> Vec<Range<u64>> {
    let mut runs: Vec<Range<u64>> = Vec::new();
    for entry in entries {
        let at = place(*entry);
        match runs.last_mut() {
            Some(last) if last.end == at => last.end += 1,
            _ => runs.push(at..at + 1),
        }
    }
    runs
}

/// The ranges to read for entries where blocks begin at `cuts`: from the first to the last entry of blocks that follow each other and all
/// have some.
pub(super) fn parts(cuts: &[u64], entries: &[u64]) -> Vec<Range<u64>> {
    let mut parts: Vec<Range<u64>> = Vec::new();
    let mut block = None;
    for entry in entries {
        let here = cuts.partition_point(|cut| cut <= entry);
        match parts.last_mut() {
            Some(last) if block.is_some_and(|before| here - before <= 1) => last.end = entry + 1,
            _ => parts.push(*entry..entry + 1),
        }
        block = Some(here);
    }
    parts
}

#[cfg(test)]
#[expect(clippy::single_range_in_vec_init, reason = "what is read are ranges")]
mod tests {
    use super::*;

    #[test]
    fn blocks_without_entries_part_what_is_read() {
        let cuts = [0, 10, 20, 30, 40];
        assert_eq!(parts(&cuts, &[3, 5, 12]), [3..13]);
        assert_eq!(parts(&cuts, &[3, 25, 39]), [3..4, 25..40]);
        assert_eq!(parts(&cuts, &[9, 10]), [9..11]);
        assert_eq!(parts(&cuts, &[]), []);
        assert_eq!(runs(&[3, 4, 7], |entry| entry - 3), [0..2, 4..5]);
    }
}
