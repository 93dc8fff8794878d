//! Stepping over what nobody wants: where it ends, or nothing if that is not within the data.

use super::number::zigzag;

pub(super) fn bytes(data: &[u8], at: usize, bytes: u32) -> Option<usize> {
    let left = data.len().checked_sub(at)?;
    (bytes as usize <= left).then(|| at + bytes as usize)
}

/// A number of variable length, and so many bytes.
pub(super) fn number(data: &[u8], at: usize, then: u32) -> Option<usize> {
    bytes(data, zigzag(data, at)?.1, then)
}

/// A length and so many bytes, and as many as are given.
pub(super) fn text(data: &[u8], at: usize, then: u32) -> Option<usize> {
    let (length, after) = zigzag(data, at)?;
    let length = usize::try_from(length).ok()?;
    let left = data.len() - after;
    if length > left { None } else { bytes(data, after + length, then) }
}

/// A branch of two: what is in the one with the byte `there`, and nothing in the other.
pub(super) fn optional(
    data: &[u8],
    at: usize,
    there: u8,
    some: impl FnOnce(&[u8], usize) -> Option<usize>,
) -> Option<usize> {
    let (branch, after) = zigzag(data, at)?;
    match branch {
        0 | 1 if branch * 2 == i64::from(there) => some(data, after),
        0 | 1 => Some(after),
        _ => None,
    }
}

/// Blocks of items of so many bytes, up to the empty one.
pub(super) fn blocks(data: &[u8], mut at: usize, size: u32) -> Option<usize> {
    loop {
        let (items, after) = block(data, at)?;
        if items == 0 {
            return Some(after);
        }
        // More items than there are bytes at all would be a fault of their own.
        let items = usize::try_from(items).ok().filter(|items| *items <= data.len())?;
        let bytes = items.checked_mul(size as usize)?;
        at = after.checked_add(bytes).filter(|at| *at <= data.len())?;
    }
}

/// The number of items of the next block that has to be looked into, 0 if there is none, and where they begin. Blocks that say how
/// long they are, need not be.
pub(super) fn block(data: &[u8], mut at: usize) -> Option<(i64, usize)> {
    loop {
        let (items, after) = zigzag(data, at)?;
        if items >= 0 {
            return Some((items, after));
        }
        at = text(data, after, 0)?;
    }
}
