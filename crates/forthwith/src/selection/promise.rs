//! Entries that a cut may leave, by the file's statistics.

use super::{Computed, inputs::Inputs};
use forthwith_expr::Interval;
use forthwith_plan::{Limit, Limits, Result};
use std::ops::Range;

/// Parts that are read one by one cost a request each: of more of them, those that are nearest become one.
const MOST_PARTS: usize = 16;

/// The parts of a range of entries in which a cut may hold, in their order. Where the file says nothing, that is all.
pub(super) fn promising(inputs: &Inputs, cut: &Computed, range: &Range<u64>) -> Result<Vec<Range<u64>>> {
    let limits =
        cut.inputs.iter().map(|input| inputs.limits(*input, range, false)).collect::<Result<Vec<_>>>()?;
    let mut found = Vec::new();
    for part in holding(cut, &limits, range) {
        // Pages are asked for where the block as a whole does not say enough.
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

/// The parts of a range in which a cut may hold by limits of its columns.
fn holding(cut: &Computed, limits: &[Vec<Limits>], range: &Range<u64>) -> Vec<Range<u64>> {
    let ends = limits.iter().flatten().flat_map(|block| [block.entries.start, block.entries.end]);
    let mut ends: Vec<u64> = ends.filter(|at| range.contains(at)).collect();
    ends.extend([range.start, range.end]);
    ends.sort_unstable();
    ends.dedup();
    let mut found: Vec<Range<u64>> = Vec::new();
    for part in ends.windows(2).map(|pair| pair[0]..pair[1]) {
        let known: Vec<Option<Interval>> = limits.iter().map(|blocks| interval(blocks, &part)).collect();
        if known.iter().any(Option::is_some) && !cut.program.may_hold(0, &known) {
            continue;
        }
        match found.last_mut() {
            Some(last) if last.end == part.start => last.end = part.end,
            _ => found.push(part),
        }
    }
    found
}

/// The limits of the block that has some entries.
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
