//! Free ranges of a file, and the record that lists them.

use super::Buffer;
use super::key::LAST_SMALL;

/// Returns the payload of the list of free ranges, whose key ends at `begin`, and the number of its segments.
/// The last segment is the space from the end of this list on, so it depends on the list's length.
pub(super) fn list(parts: &[(u64, u64)], begin: u64) -> (Vec<u8>, u32) {
    let parts: Vec<(u64, u64)> = parts.iter().flat_map(|&(begin, end)| pieces(begin, end)).collect();
    let before: u64 = parts.iter().map(|&segment| segment_length(segment)).sum();
    // The list is longer if the last segment needs 64 bits, which depends on where the list ends.
    let end = |length| begin + before + length;
    let end = if end(SMALL_SEGMENT) > LAST_SMALL { end(BIG_SEGMENT) } else { end(SMALL_SEGMENT) };
    let last = (end, last_byte(end));
    let mut list = Buffer::default();
    for &segment in parts.iter().chain([&last]) {
        let big = segment.1 > LAST_SMALL;
        list.i16(if big { 1001 } else { 1 });
        list.seek(segment.0, big);
        list.seek(segment.1, big);
    }
    (list.into_bytes(), parts.len() as u32 + 1)
}

/// Sorts ranges, and merges overlapping and adjacent ones.
pub(super) fn join(parts: &mut Vec<(u64, u64)>) {
    parts.sort_unstable();
    parts.dedup_by(|next, before| {
        let joined = before.1.saturating_add(1) >= next.0;
        if joined {
            before.1 = before.1.max(next.1);
        }
        joined
    });
}

/// Divides a free range into segments of nearly equal length, since ROOT fails on segments of more than 2 GB.
pub(super) fn pieces(begin: u64, end: u64) -> impl Iterator<Item = (u64, u64)> {
    let length = end + 1 - begin;
    let count = length.div_ceil(LAST_SMALL);
    let cut =
        move |piece: u64| begin + (u128::from(length) * u128::from(piece) / u128::from(count.max(1))) as u64;
    (0..count).map(move |piece| (cut(piece), cut(piece + 1) - 1))
}

/// Returns the length of a segment in the list, in bytes.
const fn segment_length(segment: (u64, u64)) -> u64 {
    if segment.1 > LAST_SMALL { BIG_SEGMENT } else { SMALL_SEGMENT }
}

/// Returns the last byte of the segment after the end of a file, as ROOT sets it.
fn last_byte(end: u64) -> u64 {
    const STEP: u64 = 1_000_000_000;
    if end <= LAST_SMALL { LAST_SMALL } else { LAST_SMALL + (end - LAST_SMALL).div_ceil(STEP) * STEP }
}

const SMALL_SEGMENT: u64 = 10;
const BIG_SEGMENT: u64 = 18;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_parts_are_cut() {
        let all = |begin, end| pieces(begin, end).collect::<Vec<_>>();
        assert_eq!(all(100, 103), [(100, 103)]);
        assert_eq!(all(1, LAST_SMALL), [(1, LAST_SMALL)]);
        assert_eq!(all(0, LAST_SMALL), [(0, LAST_SMALL / 2 - 1), (LAST_SMALL / 2, LAST_SMALL)]);
    }

    #[test]
    fn the_space_behind_a_file_grows_in_steps() {
        assert_eq!(last_byte(100), 2_000_000_000);
        assert_eq!(last_byte(2_000_000_000), 2_000_000_000);
        assert_eq!(last_byte(2_000_000_001), 3_000_000_000);
        assert_eq!(last_byte(5_500_000_000), 6_000_000_000);
    }
}
