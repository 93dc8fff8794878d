//! Stepping over what is not wanted: numbers, texts and optional values that follow each other.

use forthwith_kernels::settled::settled;

/// What is stepped over, and a number of bytes behind it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Skip {
    pub(super) what: What,
    /// If there is a branch before it: the byte that says that it is there, of 0 and 2.
    pub(super) there: Option<u8>,
    pub(super) then: u32,
}

/// A value that is stepped over.
#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    /// A number of variable length.
    Number,
    /// Its length as a zigzag number, and a number of bytes.
    Text,
    /// A number of bytes that the program says.
    Bytes(u32),
}

/// How many are stepped over together at most.
pub(super) const TOGETHER: usize = 3;
/// The kinds among them: the place of each in the kinds of a run.
const NOTHING: usize = 0;
const NUMBER: usize = 1;
const TEXT: usize = 2;
const OPTION: usize = 3;
const KINDS: usize = 4;
/// The run of one text.
const ALONE: u8 = (TEXT * KINDS * KINDS) as u8;

/// A run of things of these kinds: where they end, or null if one is long or unexpected.
///
/// # Safety
///
/// As many bytes are left as the things [need](Skip::needed).
#[inline(always)]
pub(super) unsafe fn run(kinds: u8, skips: *const Skip, at: *const u8) -> *const u8 {
    soon(at);
    // SAFETY: the caller's.
    unsafe {
        // A text alone is no more than it takes to call something.
        if kinds == ALONE { text(at, (*skips).then as usize) } else { RUNS[kinds as usize](skips, at) }
    }
}

type Run = unsafe fn(*const Skip, *const u8) -> *const u8;

/// By the kinds of the things. Each is straight code of its own, so that what comes next is foreseen where it
/// has always come.
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

/// The number of the run of some things.
pub(super) fn kinds(skips: &[Skip]) -> u8 {
    let kind = |skip: &Skip| match skip {
        Skip { there: Some(_), .. } | Skip { what: What::Bytes(_), .. } => OPTION,
        Skip { what: What::Number, .. } => NUMBER,
        Skip { what: What::Text, .. } => TEXT,
    };
    (0..TOGETHER).fold(0, |number, at| number * KINDS + skips.get(at).map_or(NOTHING, kind)) as u8
}

impl Skip {
    /// Bytes that are looked at or stepped over at most: numbers of up to eight bytes, and texts whose length
    /// is one byte.
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
    // SAFETY: the caller's.
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

/// One thing of a run.
#[inline(always)]
unsafe fn one(kind: usize, skip: &Skip, at: *const u8) -> *const u8 {
    let null = std::ptr::null();
    let then = skip.then as usize;
    // SAFETY: the caller says that the bytes are there, and that the thing is of this kind.
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

/// Behind a text and a number of bytes.
#[inline(always)]
unsafe fn text(at: *const u8, then: usize) -> *const u8 {
    // SAFETY: the length is there, by the caller's word, and so are as many bytes as it can say.
    unsafe {
        let length = settled(u64::from(*at));
        // Negative ones have the lowest bit.
        if length & 0x81 != 0 { std::ptr::null() } else { at.add(1 + (length >> 1) as usize + then) }
    }
}

/// Behind a number and a number of bytes.
///
/// Byte by byte, of what was read already: how long numbers are can be foreseen, so that what comes next does
/// not wait for the bytes of this one.
#[inline(always)]
unsafe fn number(at: *const u8, then: usize) -> *const u8 {
    const LAST: u64 = 0x8080_8080_8080_8080;
    // SAFETY: eight bytes are there, by the caller's word, and the number is within them.
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

/// Asks for bytes ahead to be brought near: a loop that steps over things is through with a page sooner than
/// processors begin with the next one by themselves.
#[inline(always)]
fn soon(at: *const u8) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint; any address will do.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(at.wrapping_add(1536).cast()) };
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = at;
}
