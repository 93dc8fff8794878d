//! Whether byte strings are text.

use crate::Column;

/// Checks that every string is UTF-8: strings are the `bytes` between neighbouring `offsets` (int64). Not run by default; export
/// to a format that promises text asks for it.
pub fn check_utf8(offsets: &Column, bytes: &Column) -> Result<(), BadText> {
    let Some(offsets) = offsets.as_i64() else { return Err(BadText { row: 0 }) };
    let bytes = bytes.as_bytes();
    let (Some(first), Some(last)) = (offsets.first(), offsets.last()) else { return Ok(()) };
    let all = range(*first, *last, bytes);
    // ASCII can be cut anywhere.
    if all.is_some_and(<[u8]>::is_ascii) && offsets.is_sorted() {
        return Ok(());
    }
    // All at once: valid as a whole, and cut only between characters.
    let whole = all.is_some_and(|all| std::str::from_utf8(all).is_ok());
    let between = |offset: &i64| {
        usize::try_from(*offset).is_ok_and(|at| bytes.get(at).is_none_or(|b| b & 0xC0 != 0x80))
    };
    if whole && offsets.is_sorted() && offsets.iter().all(between) {
        return Ok(());
    }
    let bad = offsets
        .windows(2)
        .position(|pair| range(pair[0], pair[1], bytes).is_none_or(|one| std::str::from_utf8(one).is_err()));
    bad.map_or(Ok(()), |row| Err(BadText { row: row as u64 }))
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
