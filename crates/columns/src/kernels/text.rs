//! Whether byte strings are text.

use super::parts::in_parts;
use crate::Column;
use forthwith_kernels::{CpuFeatures, for_each_cpu};
use simdutf8::basic::from_utf8;
use std::ops::Range;

/// Strings are checked together, as many as fill this number of bytes: they are in the cache when the places
/// where they are cut are checked.
const TOGETHER: i64 = 256 << 10;

/// Bytes that are looked at before it is asked whether one was found.
const PIECE: usize = 4096;

/// Bytes for which another thread is begun, at least.
const WORTH_A_THREAD: usize = 2 << 20;

/// Checks that every string is UTF-8: strings are the `bytes` between neighbouring `offsets` (int64). For
/// formats that promise text.
pub fn check_utf8(offsets: &Column, bytes: &Column) -> Result<(), BadText> {
    check_utf8_by(offsets, bytes, 1)
}

/// As [`check_utf8`], by several threads where there are many bytes.
pub fn check_utf8_by(offsets: &Column, bytes: &Column, threads: usize) -> Result<(), BadText> {
    let Some(offsets) = offsets.as_i64() else { return Err(BadText { row: 0 }) };
    let bytes = bytes.as_bytes();
    let rows = offsets.len().saturating_sub(1);
    let threads = threads.min((bytes.len() + offsets.len()) / WORTH_A_THREAD);
    in_parts(threads, rows, 1, |rows| check(offsets, bytes, rows)).into_iter().collect()
}

/// Whether bytes are UTF-8 and cut between characters only: where `ends` say (int64 in native order), which
/// count them on from `from`, do not fall, and are all that there is of them. For what was just written;
/// [`check_utf8`] says of all strings of a column which is not.
#[must_use]
pub fn are_texts(ends: &[u8], from: i64, bytes: &[u8]) -> bool {
    let ends = ends.as_chunks::<8>().0;
    let place =
        |end: &[u8; 8]| i64::from_ne_bytes(*end).checked_sub(from).and_then(|at| usize::try_from(at).ok());
    if ends.last().map_or(Some(0), place) != Some(bytes.len()) {
        return false;
    }
    // Characters of one byte are cut by nothing.
    if run_plain(CpuFeatures::current(), bytes) {
        return true;
    }
    let between = |end: &[u8; 8]| {
        place(end)
            .is_some_and(|at| at == bytes.len() || bytes.get(at).is_some_and(|byte| byte & 0xC0 != 0x80))
    };
    from_utf8(bytes).is_ok() && ends.iter().all(between)
}

for_each_cpu! {
    fn run_plain(bytes: &[u8]) -> bool = plain_body
}

/// Whether all characters are of one byte.
#[inline(always)]
fn plain_body(bytes: &[u8]) -> bool {
    bytes.chunks(PIECE).all(|piece| piece.iter().fold(0, |any, byte| any | byte) < 0x80)
}

/// The first of some strings that is not UTF-8.
fn check(offsets: &[i64], bytes: &[u8], rows: Range<usize>) -> Result<(), BadText> {
    let one = |row: usize| {
        let text = range(offsets[row], offsets[row + 1], bytes);
        text.is_some_and(|text| from_utf8(text).is_ok())
    };
    let bad = |rows: Range<usize>| {
        rows.into_iter().find(|row| !one(*row)).map_or(Ok(()), |row| Err(BadText { row: row as u64 }))
    };
    if rows.is_empty() {
        return Ok(());
    }
    if !rises(&offsets[rows.start..=rows.end]) {
        return bad(rows);
    }
    let Range { start: mut from, end } = rows;
    while from < end {
        let most = offsets[from].saturating_add(TOGETHER);
        let ends = &offsets[from + 1..=end];
        let to = from + ends.partition_point(|end| *end <= most).max(1);
        let whole = range(offsets[from], offsets[to], bytes);
        // Characters of one byte are cut by nothing.
        if !whole.is_some_and(<[u8]>::is_ascii) {
            // Valid as a whole, and cut only between characters.
            let whole = whole.filter(|text| from_utf8(text).is_ok());
            let between = |at: &i64| bytes.get(*at as usize).is_none_or(|byte| byte & 0xC0 != 0x80);
            if whole.is_none() || !offsets[from + 1..to].iter().all(between) {
                bad(from..to)?;
            }
        }
        from = to;
    }
    Ok(())
}

/// Whether no offset is less than the one before or than zero.
fn rises(offsets: &[i64]) -> bool {
    // Signs are looked at together, without an early exit and without comparisons, which not every processor has for many
    // numbers at once. A difference overflows only if one of the two is negative.
    let differences =
        offsets.array_windows().fold(0, |all, [start, end]| all | start | end.wrapping_sub(*start));
    differences | offsets.last().copied().unwrap_or(0) >= 0
}

fn range(start: i64, end: i64, bytes: &[u8]) -> Option<&[u8]> {
    bytes.get(usize::try_from(start).ok()?..usize::try_from(end).ok()?)
}

/// A string is not UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("string {row} is not valid UTF-8")]
pub struct BadText {
    /// Its number.
    pub row: u64,
}
