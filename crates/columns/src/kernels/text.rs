//! Validation of UTF-8.

use super::parts::in_parts;
use crate::Column;
use forthwith_kernels::{CpuFeatures, for_each_cpu};
use simdutf8::basic::from_utf8;
use std::ops::Range;

/// Number of bytes of strings that are validated together, so that they are still in the cache when their
/// boundaries are checked.
const TOGETHER: i64 = 256 << 10;

/// Number of bytes that are checked between two tests of the result.
const PIECE: usize = 4096;

/// Minimum number of bytes for each thread.
const WORTH_A_THREAD: usize = 2 << 20;

/// Checks that every string is UTF-8, for formats that guarantee it. Strings are the `bytes` between
/// neighbouring int64 `offsets`.
pub fn check_utf8(offsets: &Column, bytes: &Column) -> Result<(), BadText> {
    check_utf8_by(offsets, bytes, 1)
}

/// Checks strings like [`check_utf8`], with up to `threads` threads for large data.
pub fn check_utf8_by(offsets: &Column, bytes: &Column, threads: usize) -> Result<(), BadText> {
    let Some(offsets) = offsets.as_i64() else { return Err(BadText { row: 0 }) };
    let bytes = bytes.as_bytes();
    let rows = offsets.len().saturating_sub(1);
    let threads = threads.min((bytes.len() + offsets.len()) / WORTH_A_THREAD);
    in_parts(threads, rows, 1, |rows| check(offsets, bytes, rows)).into_iter().collect()
}

/// Whether bytes are UTF-8 and divided at character boundaries: at `ends` (int64 in native byte order,
/// relative to `from`), which must not decrease, and of which the last is the end of the bytes. For bytes
/// that were just written; [`check_utf8`] returns the invalid row.
#[must_use]
pub fn are_texts(ends: &[u8], from: i64, bytes: &[u8]) -> bool {
    let ends = ends.as_chunks::<8>().0;
    let place =
        |end: &[u8; 8]| i64::from_ne_bytes(*end).checked_sub(from).and_then(|at| usize::try_from(at).ok());
    if ends.last().map_or(Some(0), place) != Some(bytes.len()) {
        return false;
    }
    // Any offset is a character boundary of ASCII.
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

/// Whether all bytes are ASCII.
#[inline(always)]
fn plain_body(bytes: &[u8]) -> bool {
    bytes.chunks(PIECE).all(|piece| piece.iter().fold(0, |any, byte| any | byte) < 0x80)
}

/// Checks a range of strings, and reports the first that is not UTF-8.
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
            // The bytes must be valid as a whole, and divided at character boundaries.
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

/// Whether the offsets are not negative and do not decrease.
fn rises(offsets: &[i64]) -> bool {
    // Signs are combined, without an early exit and without comparisons, which not every processor has as
    // SIMD instructions. A difference overflows only if one of its operands is negative.
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
    /// Row of the string.
    pub row: u64,
}
