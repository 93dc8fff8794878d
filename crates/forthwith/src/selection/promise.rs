//! Entries that a cut may leave, by the file's statistics.

use super::Computed;
use crate::Table;
use forthwith_expr::Interval;
use forthwith_plan::{Limit, Limits, Result};
use std::ops::Range;

/// The parts of a range of entries in which a cut may hold, in their order. Where the file says nothing, that is all.
pub(super) fn promising(table: &Table, cut: &Computed, range: &Range<u64>) -> Result<Vec<Range<u64>>> {
    let limits = |field: &u32| table.here(table.dataset().limits(*field, range.clone()));
    let limits = cut.inputs.iter().map(limits).collect::<Result<Vec<_>>>()?;
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
    Ok(found)
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
