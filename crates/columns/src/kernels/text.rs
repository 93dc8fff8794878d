//! Whether byte strings are text.

use crate::Column;
use simdutf8::basic::from_utf8;
use std::ops::Range;

/// Strings are checked together, as many as have so many bytes: they are in the cache when it is looked where they are cut.
const TOGETHER: i64 = 32 << 10;

/// Checks that every string is UTF-8: strings are the `bytes` between neighbouring `offsets` (int64). For formats that promise text.
pub fn check_utf8(offsets: &Column, bytes: &Column) -> Result<(), BadText> {
    let Some(offsets) = offsets.as_i64() else { return Err(BadText { row: 0 }) };
    let bytes = bytes.as_bytes();
    let one = |row: usize| {
        let text = range(offsets[row], offsets[row + 1], bytes);
        text.is_some_and(|text| from_utf8(text).is_ok())
    };
    let rows = offsets.len().saturating_sub(1);
    let bad = |rows: Range<usize>| {
        rows.into_iter().find(|row| !one(*row)).map_or(Ok(()), |row| Err(BadText { row: row as u64 }))
    };
    if !offsets.is_sorted() {
        return bad(0..rows);
    }
    let mut from = 0;
    while from < rows {
        let most = offsets[from].saturating_add(TOGETHER);
        let to = from + offsets[from + 1..].partition_point(|end| *end <= most).max(1);
        // Valid as a whole, and cut only between characters.
        let whole = range(offsets[from], offsets[to], bytes).filter(|text| from_utf8(text).is_ok());
        let between = |at: &i64| bytes.get(*at as usize).is_none_or(|byte| byte & 0xC0 != 0x80);
        if whole.is_none() || !offsets[from + 1..to].iter().all(between) {
            bad(from..to)?;
        }
        from = to;
    }
    Ok(())
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
