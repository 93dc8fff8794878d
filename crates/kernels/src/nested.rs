//! Encoding of numbers in lists of lists, with their counts between them.

use crate::settled::settled;
use crate::{CpuFeatures, for_each_cpu};
use std::mem::MaybeUninit;
use std::ops::Range;

/// Numbers in lists of lists. Offsets are checked where they are used, since others may write to their
/// memory.
#[derive(Clone, Copy, Debug)]
pub struct Lists<'a> {
    /// Offsets of each level, from the lists of the rows inwards: 1 to [`DEEPEST`] levels.
    pub levels: &'a [&'a [i64]],
    /// Numbers in native byte order.
    pub numbers: &'a [u8],
    /// Size of a number in bytes: 1, 2, 4 or 8.
    pub width: usize,
}

/// Maximum number of levels.
pub const DEEPEST: usize = 3;

/// Bytes before the items of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// A frame: its length, with the bit 0x4000_0000 set, in four bytes, then this number. The length counts
    /// the bytes after it.
    pub frame: Option<u16>,
    /// Whether the number of items follows.
    pub count: bool,
}

/// The reason why rows cannot be appended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Offsets decrease, or are out of range.
    Offsets,
    /// The number of items of a list exceeds its count.
    Long(u64),
    /// The number of bytes of a row exceeds the length of its frame.
    LongRow(u64),
}

/// Appends rows as big-endian counts and numbers to `out`, and the offset in `out` of each row to `starts`.
/// Counts have four bytes and are not negative.
///
/// # Errors
/// Returns an error, and appends nothing, if offsets are invalid or rows too long.
pub fn append_lists(
    lists: &Lists<'_>,
    rows: Range<usize>,
    head: Head,
    out: &mut Vec<u8>,
    starts: &mut Vec<u32>,
) -> Result<(), Fault> {
    append_by(CpuFeatures::current(), lists, rows, head, out, starts)
}

fn append_by(
    features: CpuFeatures,
    lists: &Lists<'_>,
    rows: Range<usize>,
    head: Head,
    out: &mut Vec<u8>,
    starts: &mut Vec<u32>,
) -> Result<(), Fault> {
    let room = bytes_of(lists, rows.clone(), head)?;
    let (before, begin) = (starts.len(), out.len());
    out.reserve(room);
    starts.reserve(rows.len());
    let to = Room { bytes: &mut out.spare_capacity_mut()[..room], at: 0 };
    match run(features, lists, rows, head, to, begin, starts) {
        Ok(written) => {
            // SAFETY: `room` bytes were reserved, and the bytes before `written` were written one after the
            // other.
            unsafe { out.set_len(begin + written) };
            Ok(())
        }
        Err(fault) => {
            starts.truncate(before);
            Err(fault)
        }
    }
}

/// Returns the number of bytes of rows, with the surplus written after them.
fn bytes_of(lists: &Lists<'_>, rows: Range<usize>, head: Head) -> Result<usize, Fault> {
    let each = if head.frame.is_some() { FRAME } else { 0 } + if head.count { COUNT } else { 0 };
    let mut all = rows.len().checked_mul(each).ok_or(Fault::Offsets)?;
    let mut span = rows;
    for (level, offsets) in lists.levels.iter().enumerate() {
        let at = |row: usize| offsets.get(row).and_then(|at| usize::try_from(*at).ok()).ok_or(Fault::Offsets);
        span = at(span.start)?..at(span.end)?;
        let each = if level + 1 == lists.levels.len() { lists.width } else { COUNT };
        let bytes = span.len().checked_mul(each).and_then(|bytes| bytes.checked_add(all));
        all = bytes.filter(|_| span.start <= span.end).ok_or(Fault::Offsets)?;
    }
    let is_there = span.end.checked_mul(lists.width).is_some_and(|end| end <= lists.numbers.len());
    all.checked_add(PIECE).filter(|_| is_there).ok_or(Fault::Offsets)
}

const FRAME: usize = 6;
const COUNT: usize = 4;
/// Bit that is set in the length of a frame.
const FRAMED: u32 = 0x4000_0000;
/// Size in bytes of the pieces in which numbers are swapped; the last one may extend beyond a list.
const PIECE: usize = 32;

for_each_cpu! {
    fn run(
        lists: &Lists<'_>,
        rows: Range<usize>,
        head: Head,
        to: Room<'_>,
        begin: usize,
        starts: &mut Vec<u32>,
    ) -> Result<usize, Fault> = body
}

#[inline(always)]
fn body(
    lists: &Lists<'_>,
    rows: Range<usize>,
    head: Head,
    to: Room<'_>,
    begin: usize,
    starts: &mut Vec<u32>,
) -> Result<usize, Fault> {
    let bytes = lists.numbers;
    let levels = lists.levels;
    match lists.width {
        1 => levelled(levels, Numbers::<1, _>(bytes, |x| x), rows, head, to, begin, starts),
        2 => {
            let turn = |x| u16::from_ne_bytes(x).to_be_bytes();
            levelled(levels, Numbers::<2, _>(bytes, turn), rows, head, to, begin, starts)
        }
        4 => {
            let turn = |x| u32::from_ne_bytes(x).to_be_bytes();
            levelled(levels, Numbers::<4, _>(bytes, turn), rows, head, to, begin, starts)
        }
        8 => {
            let turn = |x| u64::from_ne_bytes(x).to_be_bytes();
            levelled(levels, Numbers::<8, _>(bytes, turn), rows, head, to, begin, starts)
        }
        _ => Err(Fault::Offsets),
    }
}

#[inline(always)]
fn levelled(
    levels: &[&[i64]],
    numbers: impl Content,
    rows: Range<usize>,
    head: Head,
    to: Room<'_>,
    begin: usize,
    starts: &mut Vec<u32>,
) -> Result<usize, Fault> {
    match *levels {
        [a] => framed(a, numbers, rows, head, to, begin, starts),
        [a, b] => framed(a, Listed(b, numbers), rows, head, to, begin, starts),
        [a, b, c] => framed(a, Listed(b, Listed(c, numbers)), rows, head, to, begin, starts),
        _ => Err(Fault::Offsets),
    }
}

/// Writes rows, and returns their number of bytes.
#[inline(always)]
fn framed(
    offsets: &[i64],
    content: impl Content,
    rows: Range<usize>,
    head: Head,
    mut to: Room<'_>,
    begin: usize,
    starts: &mut Vec<u32>,
) -> Result<usize, Fault> {
    let offsets = offsets.get(rows.start..=rows.end).ok_or(Fault::Offsets)?;
    for pair in offsets.windows(2) {
        let (from, end) = items(pair)?;
        let at = to.at;
        starts.push((begin + at) as u32);
        if let Some(number) = head.frame {
            to.put([0; 4])?;
            to.put(number.to_be_bytes())?;
        }
        if head.count {
            to.put(count(from, end)?)?;
        }
        content.append(from, end, &mut to)?;
        if head.frame.is_some() {
            let length = (to.at - at - 4) as u64;
            if length >= u64::from(FRAMED) {
                return Err(Fault::LongRow(length));
            }
            Room { bytes: &mut *to.bytes, at }.put((FRAMED | length as u32).to_be_bytes())?;
        }
    }
    Ok(to.at)
}

/// Returns the beginning and the end of a list.
#[inline(always)]
fn items(pair: &[i64]) -> Result<(usize, usize), Fault> {
    let (from, end) = (settled(pair[0].cast_unsigned()), settled(pair[1].cast_unsigned()));
    // Negative offsets become larger than any length that is checked later.
    if from <= end { Ok((from as usize, end as usize)) } else { Err(Fault::Offsets) }
}

#[inline(always)]
fn count(from: usize, end: usize) -> Result<[u8; 4], Fault> {
    match i32::try_from(end - from) {
        Ok(count) => Ok(count.to_be_bytes()),
        Err(_) => Err(Fault::Long((end - from) as u64)),
    }
}

/// Cursor of memory that is written from its beginning on.
struct Room<'a> {
    bytes: &'a mut [MaybeUninit<u8>],
    at: usize,
}

impl Room<'_> {
    #[inline(always)]
    fn put<const N: usize>(&mut self, bytes: [u8; N]) -> Result<(), Fault> {
        let room = self.bytes.get_mut(self.at..).and_then(|room| room.first_chunk_mut::<N>());
        *room.ok_or(Fault::Offsets)? = bytes.map(MaybeUninit::new);
        self.at += N;
        Ok(())
    }
}

/// Items of lists.
trait Content: Copy {
    /// Appends the items from `from` to before `end`.
    fn append(self, from: usize, end: usize, to: &mut Room<'_>) -> Result<(), Fault>;
}

/// Lists of items, with their counts.
#[derive(Clone, Copy)]
struct Listed<'a, C>(&'a [i64], C);

impl<C: Content> Content for Listed<'_, C> {
    #[inline(always)]
    fn append(self, from: usize, end: usize, to: &mut Room<'_>) -> Result<(), Fault> {
        if from == end {
            return Ok(());
        }
        for pair in self.0.get(from..=end).ok_or(Fault::Offsets)?.windows(2) {
            let (from, end) = items(pair)?;
            to.put(count(from, end)?)?;
            self.1.append(from, end, to)?;
        }
        Ok(())
    }
}

/// Numbers of `N` bytes, and the conversion of each.
#[derive(Clone, Copy)]
struct Numbers<'a, const N: usize, F>(&'a [u8], F);

impl<const N: usize, F: Fn([u8; N]) -> [u8; N]> Numbers<'_, N, F> {
    /// Converts as many numbers as both slices have.
    #[inline(always)]
    fn turn(&self, room: &mut [MaybeUninit<u8>], from: &[u8]) {
        let (room, from) = (room.as_chunks_mut::<N>().0, from.as_chunks::<N>().0);
        let count = room.len().min(from.len());
        // Indices: iterators are not always inlined here, where most of the time is spent.
        for item in 0..count {
            room[item] = self.1(from[item]).map(MaybeUninit::new);
        }
    }
}

impl<const N: usize, F: Fn([u8; N]) -> [u8; N] + Copy> Content for Numbers<'_, N, F> {
    #[inline(always)]
    fn append(self, from: usize, end: usize, to: &mut Room<'_>) -> Result<(), Fault> {
        if end > self.0.len() / N {
            return Err(Fault::Offsets);
        }
        let length = (end - from) * N;
        let (rest, room) = (&self.0[from * N..], to.bytes.get_mut(to.at..).ok_or(Fault::Offsets)?);
        // Whole pieces, if both slices extend that far beyond the last number.
        let whole = length.next_multiple_of(PIECE);
        if let (Some(from), Some(room)) = (rest.get(..whole), room.get_mut(..whole)) {
            let (room, from) = (room.as_chunks_mut::<PIECE>().0, from.as_chunks::<PIECE>().0);
            let pieces = room.len().min(from.len());
            for piece in 0..pieces {
                // A copy, so that the compiler knows that source and target are distinct.
                let mut held = from[piece];
                for item in held.as_chunks_mut::<N>().0 {
                    *item = self.1(*item);
                }
                room[piece].write_copy_of_slice(&held);
            }
        } else {
            self.turn(room.get_mut(..length).ok_or(Fault::Offsets)?, &rest[..length]);
        }
        to.at += length;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a test fails by panicking

    use super::*;

    /// Encodes item by item, for comparison.
    fn slowly(lists: &Lists<'_>, rows: Range<usize>, head: Head) -> (Vec<u8>, Vec<u32>) {
        fn content(lists: &Lists<'_>, level: usize, items: Range<usize>, out: &mut Vec<u8>) {
            for item in items {
                let Some(offsets) = lists.levels.get(level) else {
                    let bytes = &lists.numbers[item * lists.width..(item + 1) * lists.width];
                    if cfg!(target_endian = "little") {
                        out.extend(bytes.iter().rev());
                    } else {
                        out.extend(bytes);
                    }
                    continue;
                };
                let items = offsets[item] as usize..offsets[item + 1] as usize;
                out.extend((items.len() as u32).to_be_bytes());
                content(lists, level + 1, items, out);
            }
        }
        let (mut out, mut starts) = (vec![], vec![]);
        for row in rows {
            let mut bytes = vec![];
            let items = lists.levels[0][row] as usize..lists.levels[0][row + 1] as usize;
            if let Some(number) = head.frame {
                bytes.extend(number.to_be_bytes());
            }
            if head.count {
                bytes.extend((items.len() as u32).to_be_bytes());
            }
            content(lists, 1, items, &mut bytes);
            starts.push(out.len() as u32);
            if head.frame.is_some() {
                out.extend((bytes.len() as u32 | FRAMED).to_be_bytes());
            }
            out.extend(bytes);
        }
        (out, starts)
    }

    fn offsets(lists: usize, state: &mut u32) -> Vec<i64> {
        let mut end = 0;
        let mut offsets = vec![0];
        for _ in 0..lists {
            *state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            end += if state.is_multiple_of(11) { 23 } else { i64::from(*state >> 29) };
            offsets.push(end);
        }
        offsets
    }

    #[test]
    fn every_generation_writes_the_same() {
        let mut state = 7;
        let outer = offsets(if cfg!(miri) { 3 } else { 40 }, &mut state);
        let middle = offsets(outer[outer.len() - 1] as usize, &mut state);
        let inner = offsets(middle[middle.len() - 1] as usize, &mut state);
        for levels in [&[&outer[..]][..], &[&outer, &middle], &[&outer, &middle, &inner]] {
            let items = levels[levels.len() - 1];
            for width in [1, 2, 4, 8] {
                let bytes = items[items.len() - 1] as usize * width;
                let numbers: Vec<u8> = (0..bytes).map(|byte| (byte * 7) as u8).collect();
                let lists = Lists { levels, numbers: &numbers, width };
                for head in [
                    Head { frame: Some(10), count: true },
                    Head { frame: Some(10), count: false },
                    Head { frame: None, count: true },
                ] {
                    for rows in [0..outer.len() - 1, 1..2, 0..0] {
                        let expected = slowly(&lists, rows.clone(), head);
                        for features in CpuFeatures::available() {
                            let (mut out, mut starts) = (vec![1, 2], vec![9]);
                            append_by(features, &lists, rows.clone(), head, &mut out, &mut starts).unwrap();
                            assert_eq!(out[2..], expected.0, "{} {width} {head:?}", features.name());
                            let found: Vec<u32> = starts[1..].iter().map(|start| start - 2).collect();
                            assert_eq!(found, expected.1);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn offsets_that_are_none_are_refused() {
        let head = Head { frame: Some(10), count: true };
        let numbers = [0u8; 40];
        let (mut out, mut starts) = (vec![], vec![]);
        let mut refused = |levels: &[&[i64]], rows: Range<usize>| {
            let lists = Lists { levels, numbers: &numbers, width: 4 };
            let result = append_lists(&lists, rows, head, &mut out, &mut starts);
            assert!(result.is_err() && out.is_empty() && starts.is_empty(), "{levels:?}");
            result.unwrap_err()
        };
        for levels in [
            &[&[0i64, 5, 3, 9][..]][..],
            &[&[0, 11]],
            &[&[0, 20, 10]],
            &[&[-1, 4]],
            &[&[0, i64::MAX]],
            &[&[0, i64::MAX / 4 + 1]],
            &[&[0, 2], &[0, 3]],
            &[&[0, 2], &[0, 30, 10]],
            &[&[0, 3], &[0, 2, 1, 3]],
            &[&[0, 1], &[0, 1], &[0, 1], &[0, 1]],
        ] {
            assert_eq!(refused(levels, 0..levels[0].len() - 1), Fault::Offsets);
        }
        assert_eq!(refused(&[&[0, 1]], 0..2), Fault::Offsets);
    }
}
