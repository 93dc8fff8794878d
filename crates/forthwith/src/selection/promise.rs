//! Statistics pruning: entries for which a cut may hold, and for which it certainly holds.

use super::{
    Computed, Selected, Selection,
    inputs::Inputs,
    reader::Reader,
    rows::{EntryRuns, Rows},
};
use crate::ProgressCallback;
use forthwith_expr::{Interval, holding as rows_that_hold};
use forthwith_plan::{Limit, Limits, Result};
use std::ops::Range;

/// Maximum number of parts, each of which costs a request; beyond, the nearest are merged.
const MOST_PARTS: usize = 16;

/// Returns the parts of a range of entries in which a cut may hold, in ascending order. Without statistics,
/// this is the whole range.
pub(super) fn promising(inputs: &Inputs, cut: &Computed, range: &Range<u64>) -> Result<Vec<Range<u64>>> {
    let limits =
        cut.inputs.iter().map(|input| inputs.limits(*input, range, false)).collect::<Result<Vec<_>>>()?;
    let mut found = Vec::new();
    for part in holding(cut, &limits, range) {
        // Statistics of pages are read where those of the block are inconclusive.
        let finer =
            cut.inputs.iter().map(|input| inputs.limits(*input, &part, true)).collect::<Result<Vec<_>>>()?;
        if finer.iter().all(Vec::is_empty) {
            found.push(part);
            continue;
        }
        let best = finer.into_iter().zip(&limits);
        let best: Vec<Vec<Limits>> =
            best.map(|(finer, whole)| if finer.is_empty() { whole.clone() } else { finer }).collect();
        found.extend(holding(cut, &best, &part));
    }
    while found.len() > MOST_PARTS {
        let gaps = found.windows(2).enumerate().map(|(at, pair)| (pair[1].start - pair[0].end, at));
        let Some((_, at)) = gaps.min() else { break };
        found[at].end = found[at + 1].end;
        found.remove(at + 1);
    }
    Ok(found)
}

/// Returns the parts of a range of entries in which a cut certainly holds, in ascending order: blocks whose
/// statistics show no missing values and only values that pass.
pub(super) fn certain(inputs: &Inputs, cut: &Computed, range: &Range<u64>) -> Result<Vec<Range<u64>>> {
    for input in &cut.inputs {
        if !inputs.is_complete(*input)? {
            return Ok(Vec::new());
        }
    }
    let limits =
        cut.inputs.iter().map(|input| inputs.limits(*input, range, false)).collect::<Result<Vec<_>>>()?;
    Ok(blocks(&limits, range, |known| cut.program.must_hold(0, known)))
}

impl Selection {
    /// Reads a range with parts for which the cut certainly holds: computes the cut for the others, and then
    /// reads all columns for the entries that pass.
    pub(super) fn read_certain(
        &self,
        cut: &Computed,
        range: Range<u64>,
        certain: &[Range<u64>],
        threads: Option<usize>,
        mut tick: Option<&mut ProgressCallback<'_>>,
    ) -> Result<Selected> {
        let mut entries = EntryRuns::default();
        let mut at = range.start;
        for part in certain.iter().cloned().chain(std::iter::once(range.end..range.end)) {
            for unknown in promising(&self.inputs, cut, &(at..part.start))? {
                let tick = tick.as_deref_mut();
                let mut reader = Reader::new(&self.inputs, threads, tick);
                let rows = Rows::All(unknown);
                let passed = reader.computed(cut, &rows)?;
                let held = passed.first().and_then(rows_that_hold).unwrap_or_default();
                rows.at(&held).as_slice().iter().for_each(|run| entries.push(run.clone()));
            }
            at = part.end;
            entries.push(part);
        }
        let reader = Reader::new(&self.inputs, threads, tick);
        self.columns_of(reader, range, Rows::Some(entries))
    }
}

/// Returns the parts of a range in which a cut may hold by the limits of its columns.
fn holding(cut: &Computed, limits: &[Vec<Limits>], range: &Range<u64>) -> Vec<Range<u64>> {
    blocks(limits, range, |known| known.iter().all(Option::is_none) || cut.program.may_hold(0, known))
}

/// Returns the parts of a range whose limits pass a predicate.
fn blocks(
    limits: &[Vec<Limits>],
    range: &Range<u64>,
    passes: impl Fn(&[Option<Interval>]) -> bool,
) -> Vec<Range<u64>> {
    let ends = limits.iter().flatten().flat_map(|block| [block.entries.start, block.entries.end]);
    let mut ends: Vec<u64> = ends.filter(|at| range.contains(at)).collect();
    ends.extend([range.start, range.end]);
    ends.sort_unstable();
    ends.dedup();
    let mut found: Vec<Range<u64>> = Vec::new();
    for part in ends.windows(2).map(|pair| pair[0]..pair[1]) {
        let known: Vec<Option<Interval>> = limits.iter().map(|blocks| interval(blocks, &part)).collect();
        if !passes(&known) {
            continue;
        }
        match found.last_mut() {
            Some(last) if last.end == part.start => last.end = part.end,
            _ => found.push(part),
        }
    }
    found
}

/// Returns the limits of the block that contains some entries.
fn interval(blocks: &[Limits], entries: &Range<u64>) -> Option<Interval> {
    let at = blocks.partition_point(|block| block.entries.end <= entries.start);
    let block = blocks.get(at).filter(|block| block.entries.start <= entries.start)?;
    match (&block.least, &block.greatest) {
        (Limit::Integer(least), Limit::Integer(greatest)) => Some(Interval::Integers(*least, *greatest)),
        (Limit::Float(least), Limit::Float(greatest)) => Some(Interval::Floats(*least, *greatest)),
        (Limit::Text(least), Limit::Text(greatest)) => Some(Interval::Text(least.clone(), greatest.clone())),
        _ => None,
    }
}
