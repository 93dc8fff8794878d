//! From ranges to requests.

use std::ops::Range;

/// The longest request: longer ones are made in pieces side by side.
pub(crate) const PIECE: u64 = 4 << 20;

/// Gaps longer than this are never fetched: a request of its own costs less.
const GAP: u64 = 512 << 10;

/// Ranges to fetch, ascending and apart, of at most [`PIECE`] bytes each, which cover all ranges. Gaps between ranges are fetched, too, the
/// smallest first, as long as they are no more than `spare` bytes in all; those are taken from it.
pub(crate) fn plan(ranges: &[Range<u64>], spare: &mut u64) -> Vec<Range<u64>> {
    let mut wanted: Vec<Range<u64>> =
        ranges.iter().filter(|range| range.start < range.end).cloned().collect();
    wanted.sort_unstable_by_key(|range| range.start);
    let mut apart: Vec<Range<u64>> = Vec::with_capacity(wanted.len());
    for range in wanted {
        match apart.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => apart.push(range),
        }
    }
    let limit = widest(&apart, spare);
    let mut planned: Vec<Range<u64>> = Vec::with_capacity(apart.len());
    for range in apart {
        match planned.last_mut() {
            Some(last) if range.start - last.end <= limit => last.end = range.end,
            _ => planned.push(range),
        }
    }
    planned.into_iter().flat_map(pieces).collect()
}

/// The widest gap that is fetched; the bytes of all gaps up to it are taken from `spare`.
fn widest(apart: &[Range<u64>], spare: &mut u64) -> u64 {
    let mut gaps: Vec<u64> =
        apart.windows(2).map(|pair| pair[1].start - pair[0].end).filter(|gap| *gap <= GAP).collect();
    gaps.sort_unstable();
    let mut limit = 0;
    // Gaps of one width are fetched all or none.
    for same in gaps.chunk_by(|a, b| a == b) {
        let Some(left) = spare.checked_sub(same.iter().sum()) else { break };
        *spare = left;
        limit = same[0];
    }
    limit
}

fn pieces(range: Range<u64>) -> impl Iterator<Item = Range<u64>> {
    let many = (range.end - range.start).div_ceil(PIECE).max(1);
    let each = (range.end - range.start).div_ceil(many).max(1);
    (0..many).map(move |at| {
        let start = range.start + at * each;
        start..range.end.min(start + each)
    })
}

/// Requests of several ranges each: at most `parallel` of them if no request has more than `most` ranges.
pub(crate) fn group(planned: Vec<Range<u64>>, parallel: usize, most: usize) -> Vec<Vec<Range<u64>>> {
    let each = planned.len().div_ceil(parallel.max(1)).clamp(1, most.max(1));
    let mut groups: Vec<Vec<Range<u64>>> = Vec::new();
    let mut bytes = 0;
    for range in planned {
        let length = range.end - range.start;
        match groups.last_mut() {
            Some(group) if group.len() < each && bytes + length <= PIECE => {
                group.push(range);
                bytes += length;
            }
            _ => {
                groups.push(vec![range]);
                bytes = length;
            }
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::{PIECE, group, plan};

    #[test]
    fn near_ranges_are_fetched_together_while_bytes_are_spared() {
        let ranges = [50..60, 0..10, 12..20, 20..22, 1 << 30..(1 << 30) + 5];
        let mut spare = 2;
        assert_eq!(plan(&ranges, &mut spare), [0..22, 50..60, 1 << 30..(1 << 30) + 5]);
        assert_eq!(spare, 0);
        let mut spare = 1000;
        assert_eq!(plan(&ranges, &mut spare), [0..60, 1 << 30..(1 << 30) + 5]);
        assert_eq!(spare, 1000 - 2 - 28);
        let mut none = 0;
        assert_eq!(plan(&ranges, &mut none).len(), 4);
    }

    #[test]
    fn long_ranges_are_fetched_in_pieces_that_cover_them() {
        let planned = plan(&[3..3 * PIECE + 4, 7..7], &mut 0);
        assert_eq!(planned.len(), 4);
        assert_eq!((planned[0].start, planned[3].end), (3, 3 * PIECE + 4));
        assert!(planned.windows(2).all(|pair| pair[0].end == pair[1].start));
        assert!(planned.iter().all(|range| range.end - range.start <= PIECE && range.start < range.end));
    }

    #[test]
    fn groups_hold_what_one_answer_may() {
        let ranges: Vec<_> = (0..100).map(|at| at * 10..at * 10 + 5).collect();
        let groups = group(ranges.clone(), 8, 50);
        assert_eq!((groups.len(), groups[0].len()), (8, 13));
        assert_eq!(groups.concat(), ranges);
        assert_eq!(group(vec![0..PIECE, PIECE + 1..PIECE + 9], 1, 50).len(), 2);
        assert_eq!(group(Vec::new(), 8, 50).len(), 0);
    }
}
