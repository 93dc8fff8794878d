//! Coalesces many small byte ranges into few reads.

use std::ops::Range;

/// One read that covers several requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merged {
    /// The bytes to read.
    pub range: Range<u64>,
    /// Indices of the requests that it covers, ordered by the start of the request.
    pub members: Vec<usize>,
}

/// Merges requests into reads.
///
/// Two neighbours become one read if at most `gap` unrequested bytes lie between them and the read has at
/// most `max` bytes; a single request longer than `max` is a read of its own. Every request is a member of
/// exactly one read, which covers it. The reads are sorted by their start. An inverted request is not merged
/// with others: it is returned unchanged, for the source to reject.
#[must_use]
pub fn coalesce(ranges: &[Range<u64>], gap: u64, max: u64) -> Vec<Merged> {
    let mut order: Vec<usize> = (0..ranges.len()).collect();
    order.sort_by_key(|&i| (ranges[i].start, ranges[i].end));

    let mut reads: Vec<Merged> = Vec::new();
    let mut open: Option<Merged> = None;
    for i in order {
        let range = &ranges[i];
        if range.start > range.end {
            reads.push(Merged { range: range.clone(), members: vec![i] });
            continue;
        }
        match &mut open {
            Some(read) if joins(&read.range, range, gap, max) => {
                read.range.end = read.range.end.max(range.end);
                read.members.push(i);
            }
            _ => reads.extend(open.replace(Merged { range: range.clone(), members: vec![i] })),
        }
    }
    reads.extend(open);
    reads.sort_by_key(|read| read.range.start);
    reads
}

/// Whether `next`, which does not start before `read`, may be merged into it.
fn joins(read: &Range<u64>, next: &Range<u64>, gap: u64, max: u64) -> bool {
    let inside = next.end <= read.end;
    inside || (next.start <= read.end.saturating_add(gap) && next.end - read.start <= max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn merged(range: Range<u64>, members: &[usize]) -> Merged {
        Merged { range, members: members.to_vec() }
    }

    #[test]
    fn nothing_gives_nothing() {
        assert_eq!(coalesce(&[], 10, 10), []);
    }

    #[test]
    fn neighbours_within_the_gap_join_in_any_order() {
        let reads = coalesce(&[30..40, 0..10, 12..20], 2, 1000);
        assert_eq!(reads, [merged(0..20, &[1, 2]), merged(30..40, &[0])]);
    }

    #[test]
    fn a_read_stops_at_max_and_a_longer_request_stands_alone() {
        let reads = coalesce(&[0..10, 10..20, 20..30, 30..100], 0, 20);
        assert_eq!(reads, [merged(0..20, &[0, 1]), merged(20..30, &[2]), merged(30..100, &[3])]);
    }

    #[test]
    fn a_request_inside_a_long_one_costs_nothing() {
        assert_eq!(coalesce(&[0..100, 5..6, 5..5], 0, 20), [merged(0..100, &[0, 2, 1])]);
    }

    #[test]
    #[allow(clippy::reversed_empty_ranges)] // the point of the test
    fn an_inverted_request_is_passed_on_alone() {
        assert_eq!(coalesce(&[0..10, 9..3, 10..12], 0, 99), [merged(0..12, &[0, 2]), merged(9..3, &[1])]);
    }

    #[test]
    fn the_far_end_does_not_overflow() {
        let far = u64::MAX;
        assert_eq!(coalesce(&[far - 1..far, 0..1, far..far], far, far), [merged(0..far, &[1, 0, 2])]);
    }

    proptest! {
        #[test]
        fn every_request_is_in_exactly_one_read(
            ranges in proptest::collection::vec((0..2000u64, 0..300u64), 0..60),
            gap in 0..100u64,
            max in 0..1000u64,
        ) {
            let ranges: Vec<_> = ranges.into_iter().map(|(start, length)| start..start + length).collect();
            let reads = coalesce(&ranges, gap, max);
            let mut seen = vec![0; ranges.len()];
            for read in &reads {
                let members: Vec<_> = read.members.iter().map(|&i| ranges[i].clone()).collect();
                prop_assert!(members.iter().all(|m| read.range.start <= m.start && m.end <= read.range.end));
                prop_assert_eq!(members.iter().map(|m| m.start).min(), Some(read.range.start));
                prop_assert_eq!(members.iter().map(|m| m.end).max(), Some(read.range.end));
                let longest = members.iter().map(|m| m.end - m.start).max().unwrap_or(0);
                prop_assert!(read.range.end - read.range.start <= max.max(longest));
                // No hole inside a read is wider than the gap.
                let mut end = read.range.start;
                for member in &members {
                    prop_assert!(member.start <= end.saturating_add(gap));
                    end = end.max(member.end);
                }
                read.members.iter().for_each(|&i| seen[i] += 1);
            }
            prop_assert!(seen.iter().all(|&count| count == 1));
            prop_assert!(reads.windows(2).all(|pair| pair[0].range.start <= pair[1].range.start));
        }
    }
}
