//! Planning of requests for ranges.

use crate::answer::Part;
use bytes::BytesMut;
use std::ops::Range;

/// Approximate length in bytes of the pieces of a long range, which are requested in parallel.
pub(crate) const PIECE: u64 = 8 << 20;

/// Minimum number of bytes of each of several parallel requests of several ranges.
const GROUP: u64 = 4 << 20;

/// Maximum length of gaps that are fetched: a request of its own costs less than a longer one.
const GAP: u64 = 512 << 10;

/// Upper bound on the length of the header `Range`: many servers refuse lines of more than 8 KiB.
const HEADER: u64 = 7 << 10;

/// Criteria for fetching the gaps between ranges.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Worth {
    /// Gaps up to this length are always fetched.
    pub(crate) free: u64,
    /// Cost of a range in bytes: gaps up to this length are fetched within the budget.
    pub(crate) cost: u64,
    /// Number of ranges that need not be reduced.
    pub(crate) few: usize,
}

/// Bytes of gaps that may be fetched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Budget {
    /// Bytes of gaps up to [`Worth::cost`].
    pub(crate) worthwhile: u64,
    /// Bytes of longer gaps.
    pub(crate) spare: u64,
}

/// Returns the maximum number of ranges of one request for a file of some size.
pub(crate) fn ranges_in_header(size: u64) -> usize {
    let digits = u64::from(size.checked_ilog10().unwrap_or(0)) + 1;
    (HEADER / (2 * digits + 2)) as usize
}

/// Returns the union of ranges: ascending, and with gaps between them.
pub(crate) fn union(ranges: &[Range<u64>]) -> Vec<Range<u64>> {
    let mut sorted: Vec<Range<u64>> =
        ranges.iter().filter(|range| range.start < range.end).cloned().collect();
    sorted.sort_unstable_by_key(|range| range.start);
    let mut union: Vec<Range<u64>> = Vec::with_capacity(sorted.len());
    for range in sorted {
        match union.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => union.push(range),
        }
    }
    union
}

/// Returns the ranges to fetch to cover a [`union`], ascending and in pieces of about [`PIECE`] bytes. Gaps
/// that are worth it are fetched, too, the shortest first, as long as `budget` lasts, which is reduced by
/// them.
pub(crate) fn plan(union: &[Range<u64>], worth: Worth, budget: &mut Budget) -> Vec<Range<u64>> {
    let is_fetched = fetched_gaps(union, worth, budget);
    let mut planned: Vec<Range<u64>> = Vec::with_capacity(union.len());
    for (at, range) in union.iter().enumerate() {
        match planned.last_mut() {
            Some(last) if is_fetched[at] => last.end = range.end,
            _ => planned.push(range.clone()),
        }
    }
    planned.into_iter().flat_map(pieces).collect()
}

/// Returns whether the gap before each range is fetched.
fn fetched_gaps(apart: &[Range<u64>], worth: Worth, budget: &mut Budget) -> Vec<bool> {
    let gap = |(at, pair): (usize, &[Range<u64>])| (pair[1].start - pair[0].end, at + 1);
    let mut gaps: Vec<(u64, usize)> =
        apart.windows(2).enumerate().map(gap).filter(|(gap, _)| *gap <= GAP).collect();
    gaps.sort_unstable();
    let mut is_fetched = vec![false; apart.len()];
    let mut ranges = apart.len();
    for (gap, at) in gaps {
        if gap > worth.free {
            if ranges <= worth.few {
                break;
            }
            let is_worthwhile = gap <= worth.cost && gap <= budget.worthwhile;
            let purse = if is_worthwhile { &mut budget.worthwhile } else { &mut budget.spare };
            let Some(left) = purse.checked_sub(gap) else { break };
            *purse = left;
        }
        is_fetched[at] = true;
        ranges -= 1;
    }
    is_fetched
}

/// Returns the parts of a fetched part that contain wanted bytes. If more than a quarter of it is gaps, the
/// wanted bytes are copied, and the part is freed.
pub(crate) fn compact(part: Part, union: &[Range<u64>]) -> Vec<Part> {
    let range = part.range();
    let first = union.partition_point(|wanted| wanted.end <= range.start);
    let inside = union[first..].iter().take_while(|wanted| wanted.start < range.end);
    let inside: Vec<Range<u64>> =
        inside.map(|wanted| wanted.start.max(range.start)..wanted.end.min(range.end)).collect();
    let bytes: u64 = inside.iter().map(|wanted| wanted.end - wanted.start).sum();
    if bytes >= (range.end - range.start) / 4 * 3 {
        return vec![part];
    }
    let mut copy = BytesMut::with_capacity(bytes as usize);
    for wanted in &inside {
        copy.extend_from_slice(
            &part.bytes[(wanted.start - range.start) as usize..(wanted.end - range.start) as usize],
        );
    }
    let mut copy = copy.freeze();
    inside
        .into_iter()
        .map(|wanted| Part {
            start: wanted.start,
            bytes: copy.split_to((wanted.end - wanted.start) as usize),
        })
        .collect()
}

fn pieces(range: Range<u64>) -> impl Iterator<Item = Range<u64>> {
    let many = ((range.end - range.start + PIECE / 2) / PIECE).max(1);
    let each = (range.end - range.start).div_ceil(many).max(1);
    (0..many).map(move |at| {
        let start = range.start + at * each;
        start..range.end.min(start + each)
    })
}

/// Groups ranges into requests: at most `parallel` requests unless one would have more than `most` ranges or
/// about [`PIECE`] bytes, and fewer if each would have less than [`GROUP`] bytes.
pub(crate) fn group(planned: Vec<Range<u64>>, parallel: usize, most: usize) -> Vec<Vec<Range<u64>>> {
    let bytes: u64 = planned.iter().map(|range| range.end - range.start).sum();
    let parallel = usize::try_from(bytes.div_ceil(GROUP)).unwrap_or(usize::MAX).clamp(1, parallel.max(1));
    let each = planned.len().div_ceil(parallel).clamp(1, most.max(1));
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
    use super::{Budget, GROUP, PIECE, Worth, compact, group, plan, ranges_in_header, union};
    use crate::answer::Part;
    use bytes::Bytes;
    use std::ops::Range;

    fn planned(ranges: &[Range<u64>], worth: Worth, budget: &mut Budget) -> Vec<Range<u64>> {
        plan(&union(ranges), worth, budget)
    }

    const ALL: Worth = Worth { free: 0, cost: 0, few: 0 };

    #[test]
    fn near_ranges_are_fetched_together_while_bytes_are_spared() {
        let ranges = [50..60, 0..10, 12..20, 20..22, 1 << 30..(1 << 30) + 5];
        let mut budget = Budget { worthwhile: 0, spare: 2 };
        assert_eq!(planned(&ranges, ALL, &mut budget), [0..22, 50..60, 1 << 30..(1 << 30) + 5]);
        assert_eq!(budget, Budget::default());
        budget.spare = 1000;
        assert_eq!(planned(&ranges, ALL, &mut budget), [0..60, 1 << 30..(1 << 30) + 5]);
        assert_eq!(budget.spare, 1000 - 2 - 28);
        let mut none = Budget::default();
        assert_eq!(planned(&ranges, ALL, &mut none).len(), 4);
        // Free gaps do not reduce the budget, and worthwhile ones do not reduce `spare`.
        let free = Worth { free: 2, ..ALL };
        assert_eq!(planned(&ranges, free, &mut none), [0..22, 50..60, 1 << 30..(1 << 30) + 5]);
        let worthwhile = Worth { cost: 28, ..ALL };
        budget = Budget { worthwhile: 29, spare: 0 };
        assert_eq!(planned(&ranges, worthwhile, &mut budget), [0..22, 50..60, 1 << 30..(1 << 30) + 5]);
        assert_eq!(budget.worthwhile, 27);
        budget.worthwhile = 30;
        assert_eq!(planned(&ranges, worthwhile, &mut budget).len(), 2);
        // No gap is fetched if there are few enough ranges.
        budget = Budget { worthwhile: 30, spare: 1000 };
        assert_eq!(planned(&ranges, Worth { few: 4, ..worthwhile }, &mut budget).len(), 4);
        assert_eq!(planned(&ranges, Worth { few: 3, ..worthwhile }, &mut budget).len(), 3);
        assert_eq!(budget.worthwhile, 28);
    }

    #[test]
    fn a_budget_is_spent_on_some_of_equal_gaps() {
        let ranges: Vec<_> = (0..100).map(|at| at * 10..at * 10 + 5).collect();
        let mut budget = Budget { worthwhile: 5 * 60 + 4, spare: 0 };
        assert_eq!(planned(&ranges, Worth { cost: 5, ..ALL }, &mut budget).len(), 40);
        assert_eq!(budget.worthwhile, 4);
    }

    #[test]
    fn headers_of_many_ranges_are_short_enough() {
        for size in [0, 9, 10, 123_456_789, u64::MAX] {
            let ranges = ranges_in_header(size);
            let header = format!("{}-{},", size.max(1) - 1, size.max(1) - 1).len() * ranges;
            assert!((1 << 10..=7 << 10).contains(&header), "{size}: {header}");
        }
    }

    #[test]
    fn long_ranges_are_fetched_in_pieces_that_cover_them() {
        let planned = planned(&[3..3 * PIECE + 4, 7..7], ALL, &mut Budget::default());
        assert_eq!(planned.len(), 3);
        assert_eq!((planned[0].start, planned[2].end), (3, 3 * PIECE + 4));
        assert!(planned.windows(2).all(|pair| pair[0].end == pair[1].start));
        assert!(
            planned
                .iter()
                .all(|range| range.end - range.start <= PIECE + PIECE / 2 && range.start < range.end)
        );
    }

    #[test]
    fn groups_hold_what_one_answer_may() {
        let ranges: Vec<_> = (0..100).map(|at| at * 10..at * 10 + 5).collect();
        let groups = group(ranges.clone(), 8, 40);
        assert_eq!((groups.len(), groups[0].len()), (3, 40));
        assert_eq!(groups.concat(), ranges);
        let long: Vec<_> = (0..100).map(|at| at << 20..(at << 20) + (100 << 10)).collect();
        assert_eq!(group(long.clone(), 8, 40).len(), 3);
        assert_eq!(group(long.clone(), 2, 50).len(), 2);
        assert_eq!(group(long[..4].to_vec(), 8, 40).len(), 1);
        assert_eq!(group(vec![0..GROUP, 2 * GROUP..3 * GROUP], 8, 40).len(), 2);
        assert_eq!(group(vec![0..PIECE, PIECE + 1..PIECE + 9], 1, 50).len(), 2);
        assert_eq!(group(Vec::new(), 8, 50).len(), 0);
    }

    #[test]
    fn wanted_bytes_are_kept_and_gaps_are_not() {
        let bytes = Bytes::from_iter(0..100);
        let part = Part { start: 1000, bytes: bytes.clone() };
        let kept = compact(part.clone(), &[0..10, 990..1002, 1010..1020, 1099..1200, 1300..1301]);
        let ranges: Vec<_> = kept.iter().map(Part::range).collect();
        assert_eq!(ranges, [1000..1002, 1010..1020, 1099..1100]);
        assert_eq!(kept[1].bytes, bytes.slice(10..20));
        assert!(compact(part.clone(), &[0..10, 1200..1300]).is_empty());
        assert_eq!(compact(part, &[1000..1040, 1050..1100])[0].bytes.len(), 100);
    }
}
