//! Sets of entries, and the ranges to read for them.

use std::ops::Range;

/// A set of entries.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Rows {
    All(Range<u64>),
    Some(EntryRuns),
}

/// Entries in ascending order, as ranges that do not touch.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct EntryRuns {
    runs: Vec<Range<u64>>,
    len: u64,
}

impl EntryRuns {
    /// Appends entries after the last.
    pub(super) fn push(&mut self, run: Range<u64>) {
        if run.is_empty() {
            return;
        }
        self.len += run.end - run.start;
        match self.runs.last_mut() {
            Some(last) if last.end == run.start => last.end = run.end,
            _ => self.runs.push(run),
        }
    }

    pub(super) fn as_slice(&self) -> &[Range<u64>] {
        &self.runs
    }

    /// Returns the entries as a list.
    pub(super) fn to_vec(&self) -> Vec<u64> {
        let mut entries = Vec::with_capacity(usize::try_from(self.len).unwrap_or(0));
        self.runs.iter().for_each(|run| entries.extend(run.clone()));
        entries
    }

    /// Returns the entries within a range, relative to its start.
    fn within(&self, part: &Range<u64>) -> Self {
        if part.is_empty() {
            return Self::default();
        }
        let begin = self.runs.partition_point(|run| run.end <= part.start);
        let runs = self.runs.get(begin..).unwrap_or_default().iter();
        runs.take_while(|run| run.start < part.end)
            .map(|run| run.start.max(part.start) - part.start..run.end.min(part.end) - part.start)
            .collect()
    }

    /// Returns the positions of other entries among these, which must include them.
    fn places_of(&self, others: &Self) -> Vec<Range<u64>> {
        let mut known = self.runs.iter();
        let (mut run, mut before) = (0..0, 0);
        let place = |other: &Range<u64>| {
            while run.end <= other.start {
                before += run.end - run.start;
                run = known.next()?.clone();
            }
            let start = before + other.start.checked_sub(run.start)?;
            Some(start..start + (other.end - other.start))
        };
        others.runs.iter().map_while(place).collect()
    }
}

impl FromIterator<Range<u64>> for EntryRuns {
    fn from_iter<I: IntoIterator<Item = Range<u64>>>(ranges: I) -> Self {
        let mut runs = Self::default();
        ranges.into_iter().for_each(|range| runs.push(range));
        runs
    }
}

impl FromIterator<u64> for EntryRuns {
    fn from_iter<I: IntoIterator<Item = u64>>(entries: I) -> Self {
        entries.into_iter().map(|entry| entry..entry.saturating_add(1)).collect()
    }
}

impl Rows {
    pub(super) fn len(&self) -> u64 {
        match self {
            Self::All(range) => range.end - range.start,
            Self::Some(entries) => entries.len,
        }
    }

    /// Returns the last entry.
    pub(super) fn last(&self) -> Option<u64> {
        let last = self.runs().last()?;
        last.end.checked_sub(1).filter(|at| *at >= last.start)
    }

    /// Returns the entries as ranges.
    pub(super) fn runs(&self) -> &[Range<u64>] {
        match self {
            Self::All(range) => std::slice::from_ref(range),
            Self::Some(entries) => &entries.runs,
        }
    }

    /// Adds `by` to each entry.
    pub(super) fn shifted(&self, by: u64) -> Self {
        let shifted = |run: &Range<u64>| run.start.saturating_add(by)..run.end.saturating_add(by);
        match self {
            Self::All(range) => Self::All(shifted(range)),
            Self::Some(entries) => Self::Some(entries.runs.iter().map(shifted).collect()),
        }
    }

    /// Returns the entries within a range, relative to its start.
    pub(super) fn within(&self, part: Range<u64>) -> Self {
        match self {
            Self::All(range) => {
                let (start, end) = (range.start.max(part.start), range.end.min(part.end));
                Self::All(start.saturating_sub(part.start)..end.max(start).saturating_sub(part.start))
            }
            Self::Some(entries) => Self::Some(entries.within(&part)),
        }
    }

    /// Returns the entry of a row of an array.
    pub(super) fn entry(&self, mut row: u64) -> Option<u64> {
        for run in self.runs() {
            let len = run.end - run.start;
            if row < len {
                return run.start.checked_add(row);
            }
            row -= len;
        }
        None
    }

    /// Returns the entries at some rows.
    pub(super) fn at(&self, rows: &[Range<u64>]) -> EntryRuns {
        let mut found = EntryRuns::default();
        let mut rows = rows.iter().cloned();
        let mut next = rows.next();
        let mut before = 0;
        for run in self.runs() {
            let behind = before + (run.end - run.start);
            while let Some(wanted) = next.clone().filter(|wanted| wanted.start < behind) {
                let end = wanted.end.min(behind);
                found.push(run.start + (wanted.start - before)..run.start + (end - before));
                if wanted.end > behind {
                    next = Some(behind..wanted.end);
                    break;
                }
                next = rows.next();
            }
            before = behind;
        }
        found
    }

    /// Returns the positions of some of the entries among all.
    pub(super) fn places_of(&self, entries: &EntryRuns) -> Vec<Range<u64>> {
        match self {
            Self::All(range) => {
                let place = |run: &Range<u64>| run.start - range.start..run.end - range.start;
                entries.runs.iter().map(place).collect()
            }
            Self::Some(known) => known.places_of(entries),
        }
    }
}

/// A range to read, and the entries in it, relative to its start.
pub(super) type Part = (Range<u64>, EntryRuns);

/// Returns the ranges to read for entries, given the starts of blocks: from the first to the last entry of
/// consecutive blocks with entries. Each has the entries in it, relative to its start.
pub(super) fn parts(cuts: &[u64], entries: &EntryRuns) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut block = None;
    for run in &entries.runs {
        let here = cuts.partition_point(|cut| *cut <= run.start);
        match parts.last_mut() {
            Some((last, inside)) if block.is_some_and(|before| here - before <= 1) => {
                last.end = run.end;
                inside.push(run.start - last.start..run.end - last.start);
            }
            _ => parts.push((run.clone(), std::iter::once(0..run.end - run.start).collect())),
        }
        block = Some(cuts.partition_point(|cut| *cut < run.end));
    }
    parts
}

#[cfg(test)]
#[expect(clippy::single_range_in_vec_init, reason = "what is read are ranges")]
mod tests {
    use super::*;

    fn entries(entries: &[u64]) -> EntryRuns {
        entries.iter().copied().collect()
    }

    #[test]
    fn blocks_without_entries_part_what_is_read() {
        let cuts = [0, 10, 20, 30, 40];
        let parts = |some: &[u64]| -> Vec<Range<u64>> {
            let found = parts(&cuts, &entries(some));
            let all = found.iter().flat_map(|(part, inside)| {
                inside.to_vec().into_iter().map(|entry| entry + part.start).collect::<Vec<_>>()
            });
            assert_eq!(all.collect::<Vec<_>>(), some);
            found.into_iter().map(|(part, _)| part).collect()
        };
        assert_eq!(parts(&[3, 5, 12]), [3..13]);
        assert_eq!(parts(&[3, 25, 39]), [3..4, 25..40]);
        assert_eq!(parts(&[9, 10]), [9..11]);
        assert_eq!(parts(&[8, 9, 10, 11, 35]), [8..12, 35..36]);
        assert_eq!(parts(&[9, 25]), [9..10, 25..26]);
        assert_eq!(parts(&[]), []);
    }

    /// Runs, against lists of entries.
    #[test]
    fn runs_are_what_lists_of_entries_are() {
        let mut state = 7u64;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        for _ in 0..500 {
            let dense = random(10);
            let all: Vec<u64> = (5..5 + random(60)).filter(|_| random(10) <= dense).collect();
            let rows = Rows::Some(entries(&all));
            assert_eq!(rows.len(), all.len() as u64);
            assert_eq!(rows.last(), all.last().copied());
            let of = |rows: &Rows| (0..rows.len()).map(|row| rows.entry(row).unwrap()).collect::<Vec<_>>();
            assert_eq!(of(&rows), all);
            assert_eq!(rows.entry(rows.len()), None);
            let (start, end) = (random(70), random(70));
            let inside = all.iter().filter(|entry| (start..end).contains(entry)).map(|entry| entry - start);
            assert_eq!(of(&rows.within(start..end)), inside.collect::<Vec<_>>());
            let shifted: Vec<u64> = all.iter().map(|entry| entry + 3).collect();
            assert_eq!(of(&rows.shifted(3)), shifted);
            let picked: Vec<u64> = (0..rows.len()).filter(|_| random(3) > 0).collect();
            let some = rows.at(entries(&picked).as_slice());
            let chosen: Vec<u64> = picked.iter().map(|row| all[*row as usize]).collect();
            assert_eq!(some.to_vec(), chosen);
            let places = rows.places_of(&some).into_iter().flatten().collect::<Vec<_>>();
            assert_eq!(places, picked);
            let range = Rows::All(5..70);
            assert_eq!(
                range.at(entries(&picked).as_slice()),
                entries(&picked.iter().map(|row| row + 5).collect::<Vec<_>>())
            );
            let places = range.places_of(&some).into_iter().flatten().collect::<Vec<_>>();
            assert_eq!(places, chosen.iter().map(|entry| entry - 5).collect::<Vec<_>>());
        }
    }
}
