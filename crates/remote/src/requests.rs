//! From ranges to requests.

use crate::answer::Part;
use bytes::BytesMut;
use std::ops::Range;

/// The length of pieces of a long range, which are requested side by side: as many as come nearest to it.
pub(crate) const PIECE: u64 = 4 << 20;

/// Requests of several ranges are made side by side if each has this much.
const GROUP: u64 = 256 << 10;

/// Gaps longer than this are never fetched: a request of its own costs less.
const GAP: u64 = 512 << 10;

/// The union of ranges: ascending, and with gaps between them.
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

/// Ranges to fetch, ascending and apart, in pieces of about [`PIECE`] bytes, which cover a [`union`]. Gaps of up to `cost` bytes, which are
/// cheaper than a request, are fetched, too, and wider ones, the smallest first, as long as they are no more than `spare` bytes in all;
/// those are taken from it.
pub(crate) fn plan(union: &[Range<u64>], cost: u64, spare: &mut u64) -> Vec<Range<u64>> {
    let limit = widest(union, cost, spare);
    let mut planned: Vec<Range<u64>> = Vec::with_capacity(union.len());
    for range in union {
        match planned.last_mut() {
            Some(last) if range.start - last.end <= limit => last.end = range.end,
            _ => planned.push(range.clone()),
        }
    }
    planned.into_iter().flat_map(pieces).collect()
}

/// The widest gap that is fetched; the bytes of all gaps wider than `cost` are taken from `spare`.
fn widest(apart: &[Range<u64>], cost: u64, spare: &mut u64) -> u64 {
    let gap = |pair: &[Range<u64>]| pair[1].start - pair[0].end;
    let mut gaps: Vec<u64> = apart.windows(2).map(gap).filter(|gap| *gap > cost && *gap <= GAP).collect();
    gaps.sort_unstable();
    let mut limit = cost;
    // Gaps of one width are fetched all or none.
    for same in gaps.chunk_by(|a, b| a == b) {
        let Some(left) = spare.checked_sub(same.iter().sum()) else { break };
        *spare = left;
        limit = same[0];
    }
    limit
}

/// The parts of wanted bytes in a part that was fetched, which may have gaps, too. If these are many, the wanted bytes are copied, and the
/// part is freed.
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

/// Requests of several ranges each: at most `parallel` of them if no request has more than `most` ranges, and fewer where they would have
/// less than [`GROUP`] bytes each.
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
    use super::{PIECE, compact, group, plan, union};
    use crate::answer::Part;
    use bytes::Bytes;
    use std::ops::Range;

    fn planned(ranges: &[Range<u64>], cost: u64, spare: &mut u64) -> Vec<Range<u64>> {
        plan(&union(ranges), cost, spare)
    }

    #[test]
    fn near_ranges_are_fetched_together_while_bytes_are_spared() {
        let ranges = [50..60, 0..10, 12..20, 20..22, 1 << 30..(1 << 30) + 5];
        let mut spare = 2;
        assert_eq!(planned(&ranges, 0, &mut spare), [0..22, 50..60, 1 << 30..(1 << 30) + 5]);
        assert_eq!(spare, 0);
        let mut spare = 1000;
        assert_eq!(planned(&ranges, 0, &mut spare), [0..60, 1 << 30..(1 << 30) + 5]);
        assert_eq!(spare, 1000 - 2 - 28);
        let mut none = 0;
        assert_eq!(planned(&ranges, 0, &mut none).len(), 4);
        // Gaps that are cheaper than a request cost nothing of what may be spared.
        assert_eq!(planned(&ranges, 2, &mut none), [0..22, 50..60, 1 << 30..(1 << 30) + 5]);
        assert_eq!(planned(&ranges, 28, &mut none).len(), 2);
    }

    #[test]
    fn long_ranges_are_fetched_in_pieces_that_cover_them() {
        let planned = planned(&[3..3 * PIECE + 4, 7..7], 0, &mut 0);
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
        assert_eq!(group(long.clone(), 8, 40).len(), 8);
        assert_eq!(group(long[..4].to_vec(), 8, 40).len(), 2);
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
