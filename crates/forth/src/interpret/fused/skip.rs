//! Skipping unwanted data: their end, or nothing if that is not within the data.

use super::number::zigzag;
use super::ops::Op;
use forthwith_kernels::settled::settled;

/// Instructions that are done together at most.
pub(super) const TOGETHER: usize = 3;
/// The kinds among them: the place of each in the kinds of a run.
const NOTHING: usize = 0;
const NUMBER: usize = 1;
const TEXT: usize = 2;
const OPTION: usize = 3;
const KINDS: usize = 4;

/// A run of instructions: where what they step over ends, or null if something is long or unexpected.
///
/// # Safety
///
/// The instructions are of the run's kinds, and as many bytes are left as the run [needs](needed).
pub(super) type Run = unsafe fn(*const Op, *const u8) -> *const u8;

/// By the kinds of their instructions. Each is straight code of its own, so that what comes next is foreseen
/// where it has always come.
pub(super) static RUNS: [Run; KINDS * KINDS * KINDS] = {
    macro_rules! runs {
        ($($first:ident)*) => {
            [$(
                run::<$first, NOTHING, NOTHING>, run::<$first, NOTHING, NUMBER>, run::<$first, NOTHING, TEXT>, run::<$first, NOTHING, OPTION>,
                run::<$first, NUMBER, NOTHING>, run::<$first, NUMBER, NUMBER>, run::<$first, NUMBER, TEXT>, run::<$first, NUMBER, OPTION>,
                run::<$first, TEXT, NOTHING>, run::<$first, TEXT, NUMBER>, run::<$first, TEXT, TEXT>, run::<$first, TEXT, OPTION>,
                run::<$first, OPTION, NOTHING>, run::<$first, OPTION, NUMBER>, run::<$first, OPTION, TEXT>, run::<$first, OPTION, OPTION>,
            )*]
        };
    }
    runs!(NOTHING NUMBER TEXT OPTION)
};

/// The number of the run of some instructions.
pub(super) fn kinds(ops: &[Op]) -> Option<u8> {
    let kind = |op: &Op| match op {
        Op::SkipNumber { .. } => Some(NUMBER),
        Op::SkipText { .. } => Some(TEXT),
        Op::SkipOptionalNumber { .. } => Some(OPTION),
        _ => None,
    };
    let number = (0..TOGETHER)
        .try_fold(0, |number, at| Some(number * KINDS + ops.get(at).map_or(Some(NOTHING), kind)?));
    number.filter(|_| ops.len() <= TOGETHER).and_then(|number| u8::try_from(number).ok())
}

/// Bytes that an instruction of a run looks at or steps over at most: numbers of up to eight bytes, and texts
/// whose length is one byte.
pub(super) fn needed(op: &Op) -> Option<u32> {
    match op {
        Op::SkipNumber { then } => then.checked_add(8),
        Op::SkipText { then } => then.checked_add(64),
        Op::SkipOptionalNumber { then, .. } => then.checked_add(9),
        _ => None,
    }
}

unsafe fn run<const A: usize, const B: usize, const C: usize>(
    ops: *const Op,
    mut at: *const u8,
) -> *const u8 {
    // SAFETY: the caller's.
    unsafe {
        for (number, kind) in [A, B, C].into_iter().enumerate() {
            if kind != NOTHING {
                at = one(kind, &*ops.add(number), at);
                if at.is_null() {
                    break;
                }
            }
        }
    }
    at
}

/// One instruction of a run.
#[inline(always)]
unsafe fn one(kind: usize, op: &Op, at: *const u8) -> *const u8 {
    let null = std::ptr::null();
    // SAFETY: the caller says that the bytes are there, and that the instruction is of this kind.
    unsafe {
        match (kind, *op) {
            (NUMBER, Op::SkipNumber { then }) => over(at, then),
            (TEXT, Op::SkipText { then }) => {
                let length = settled(u64::from(*at));
                // Negative ones have the lowest bit.
                if length & 0x81 != 0 { null } else { at.add(1 + (length >> 1) as usize + then as usize) }
            }
            (OPTION, Op::SkipOptionalNumber { there, then }) => {
                let branch = *at;
                if branch & !2 != 0 {
                    null
                } else if branch == there {
                    over(at.add(1), then)
                } else {
                    at.add(1 + then as usize)
                }
            }
            _ => std::hint::unreachable_unchecked(),
        }
    }
}

/// Behind a number and a number of bytes.
#[inline(always)]
unsafe fn over(at: *const u8, then: u32) -> *const u8 {
    // SAFETY: eight bytes are there, by the caller's word, and the number is within them.
    unsafe {
        match foreseen(at.cast::<u64>().read_unaligned()) {
            Some(size) => at.add(size + then as usize),
            None => std::ptr::null(),
        }
    }
}

/// The size of the LEB128 number that begins with the lowest of eight bytes, if it is no longer.
///
/// Byte by byte, of what was read already: how long numbers are can be foreseen, so that what comes next does
/// not wait for the bytes of this one.
#[inline(always)]
pub(super) fn foreseen(word: u64) -> Option<usize> {
    const LAST: u64 = 0x8080_8080_8080_8080;
    let mut rest = settled(u64::from_le(word));
    if rest & LAST == LAST {
        return None;
    }
    let mut size = 1;
    while rest & 0x80 != 0 {
        rest >>= 8;
        size += 1;
    }
    Some(size)
}

pub(super) fn bytes(data: &[u8], at: usize, bytes: u32) -> Option<usize> {
    let left = data.len().checked_sub(at)?;
    (bytes as usize <= left).then(|| at + bytes as usize)
}

/// A number of variable length, and a number of bytes.
pub(super) fn number(data: &[u8], at: usize, then: u32) -> Option<usize> {
    bytes(data, zigzag(data, at)?.1, then)
}

/// A length and its bytes, and as many as are given.
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

/// Blocks of items of a fixed number of bytes, up to the empty one.
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

/// The number of items of the next block that has to be looked into, 0 if there is none, and where they
/// begin. Blocks that say how long they are, need not be.
pub(super) fn block(data: &[u8], mut at: usize) -> Option<(i64, usize)> {
    loop {
        let (items, after) = zigzag(data, at)?;
        if items >= 0 {
            return Some((items, after));
        }
        at = text(data, after, 0)?;
    }
}
