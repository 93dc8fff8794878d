//! Skipping of consecutive numbers, texts and optional values.

use forthwith_kernels::settled::settled;

/// A skipped value, and a number of bytes after it that are skipped as well.
#[derive(Clone, Copy, Debug)]
pub(super) struct Skip {
    pub(super) what: What,
    /// For an optional value: the branch byte, 0 or 2, that says that it is present.
    pub(super) there: Option<u8>,
    pub(super) then: u32,
}

/// A kind of skipped value.
#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    /// A number of variable length.
    Number,
    /// A zigzag length and as many bytes.
    Text,
    /// A number of bytes fixed by the program.
    Bytes(u32),
}

/// Maximum number of values that are skipped together.
pub(super) const TOGETHER: usize = 3;
/// Kinds of skipped values: digits, in base `KINDS`, of the number of a run.
const NOTHING: usize = 0;
const NUMBER: usize = 1;
const TEXT: usize = 2;
const OPTION: usize = 3;
const KINDS: usize = 4;
/// The run of one text.
const ALONE: u8 = (TEXT * KINDS * KINDS) as u8;

/// Skips a run of values of these kinds, and returns the address after it, or null if a value is long or
/// unexpected.
///
/// # Safety
///
/// As many bytes are left as the values [need](Skip::needed), and `skips` points to values of these kinds.
#[inline(always)]
pub(super) unsafe fn run(kinds: u8, skips: *const Skip, at: *const u8) -> *const u8 {
    soon(at);
    // SAFETY: guaranteed by the caller.
    unsafe {
        // A single text costs less than the indirect call.
        if kinds == ALONE { text(at, (*skips).then as usize) } else { RUNS[kinds as usize](skips, at) }
    }
}

type Run = unsafe fn(*const Skip, *const u8) -> *const u8;

/// Functions by the kinds of the values. Each is code of its own, so that branches are predicted by their own
/// history.
static RUNS: [Run; KINDS * KINDS * KINDS] = {
    macro_rules! runs {
        ($($first:ident)*) => {
            [$(
                straight::<$first, NOTHING, NOTHING>, straight::<$first, NOTHING, NUMBER>, straight::<$first, NOTHING, TEXT>, straight::<$first, NOTHING, OPTION>,
                straight::<$first, NUMBER, NOTHING>, straight::<$first, NUMBER, NUMBER>, straight::<$first, NUMBER, TEXT>, straight::<$first, NUMBER, OPTION>,
                straight::<$first, TEXT, NOTHING>, straight::<$first, TEXT, NUMBER>, straight::<$first, TEXT, TEXT>, straight::<$first, TEXT, OPTION>,
                straight::<$first, OPTION, NOTHING>, straight::<$first, OPTION, NUMBER>, straight::<$first, OPTION, TEXT>, straight::<$first, OPTION, OPTION>,
            )*]
        };
    }
    runs!(NOTHING NUMBER TEXT OPTION)
};

/// Returns the number of the run of some values.
pub(super) fn kinds(skips: &[Skip]) -> u8 {
    let kind = |skip: &Skip| match skip {
        Skip { there: Some(_), .. } | Skip { what: What::Bytes(_), .. } => OPTION,
        Skip { what: What::Number, .. } => NUMBER,
        Skip { what: What::Text, .. } => TEXT,
    };
    (0..TOGETHER).fold(0, |number, at| number * KINDS + skips.get(at).map_or(NOTHING, kind)) as u8
}

impl Skip {
    /// Returns the maximum number of bytes that are read or skipped: numbers have up to eight bytes, and
    /// texts a length of one byte.
    pub(super) fn needed(&self) -> Option<u32> {
        let what = match self.what {
            What::Number => 8,
            What::Text => 64,
            What::Bytes(bytes) => bytes,
        };
        what.checked_add(self.then)?.checked_add(u32::from(self.there.is_some()))
    }
}

unsafe fn straight<const A: usize, const B: usize, const C: usize>(
    skips: *const Skip,
    mut at: *const u8,
) -> *const u8 {
    // SAFETY: guaranteed by the caller.
    unsafe {
        for (number, kind) in [A, B, C].into_iter().enumerate() {
            if kind != NOTHING {
                at = one(kind, &*skips.add(number), at);
                if at.is_null() {
                    break;
                }
            }
        }
    }
    at
}

/// Skips one value of a run.
#[inline(always)]
unsafe fn one(kind: usize, skip: &Skip, at: *const u8) -> *const u8 {
    let null = std::ptr::null();
    let then = skip.then as usize;
    // SAFETY: the caller guarantees that the bytes are readable, and that the value is of this kind.
    unsafe {
        match kind {
            NUMBER => number(at, then),
            TEXT => text(at, then),
            _ => {
                let branch = settled(u64::from(*at)) as u8;
                let after = at.add(1);
                if branch & !2 != 0 {
                    null
                } else if Some(branch) != skip.there {
                    after.add(then)
                } else {
                    match skip.what {
                        What::Number => number(after, then),
                        What::Text => text(after, then),
                        What::Bytes(bytes) => after.add(bytes as usize + then),
                    }
                }
            }
        }
    }
}

/// Returns the address after a text and `then` bytes, or null if the length is negative or longer than a
/// byte.
#[inline(always)]
unsafe fn text(at: *const u8, then: usize) -> *const u8 {
    // SAFETY: the caller guarantees that the length is readable, and as many bytes as it can state.
    unsafe {
        let length = settled(u64::from(*at));
        // Negative lengths have the lowest bit set.
        if length & 0x81 != 0 { std::ptr::null() } else { at.add(1 + (length >> 1) as usize + then) }
    }
}

/// Returns the address after a number and `then` bytes, or null if the number is longer than eight bytes.
///
/// The length is found by branches, byte by byte in a register: the lengths of numbers can be predicted, so
/// the code after this one does not wait for its bytes.
#[inline(always)]
unsafe fn number(at: *const u8, then: usize) -> *const u8 {
    const LAST: u64 = 0x8080_8080_8080_8080;
    // SAFETY: the caller guarantees that eight bytes are readable, and the number is within them.
    unsafe {
        let mut rest = settled(u64::from_le(at.cast::<u64>().read_unaligned()));
        if rest & LAST == LAST {
            return std::ptr::null();
        }
        let mut after = at.add(1 + then);
        while rest & 0x80 != 0 {
            rest >>= 8;
            after = after.add(1);
        }
        after
    }
}

/// Prefetches bytes: a loop that skips values finishes a page sooner than processors begin with the next one
/// by themselves.
#[inline(always)]
fn soon(at: *const u8) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch is valid for any address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(at.wrapping_add(1536).cast()) };
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = at;
}
