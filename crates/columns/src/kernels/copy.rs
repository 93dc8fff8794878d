//! Copies to memory that is not at hand.

use forthwith_kernels::{CpuFeatures, for_each_cpu};

/// Bytes that are asked for together: far fewer than the nearest cache holds.
const PIECE: usize = 4096;

/// Bytes that are copied together, and asked for.
const STEP: usize = 256;

/// How far ahead: what comes from memory is on its way for so long, and with half or twice as much copies
/// take as long.
const FAR: usize = 2048;

/// Copies bytes to a place in a column, as `copy_from_slice` does.
///
/// The bytes to be written over are in another processor's cache or in none, since the page was cleared some
/// time before, and bytes of a mapped file are in memory, each page of them somewhere else: both are asked
/// for ahead.
///
/// # Panics
/// If the lengths differ.
pub fn copy(from: &[u8], into: &mut [u8]) {
    assert_eq!(from.len(), into.len(), "bytes copied to a place of another length");
    run_copy(CpuFeatures::current(), from, into);
}

for_each_cpu! {
    fn run_copy(from: &[u8], into: &mut [u8]) = copy_body
}

#[inline(always)]
fn copy_body(from: &[u8], into: &mut [u8]) {
    let (from, last) = from.as_chunks::<STEP>();
    let (into, behind) = into.as_chunks_mut::<STEP>();
    // The bytes behind the place may be another thread's.
    let far = from.len().saturating_sub(FAR / STEP);
    for (number, (from, into)) in from.iter().zip(into).enumerate() {
        if number < far {
            for line in (FAR..FAR + STEP).step_by(LINE) {
                ask(from.as_ptr().wrapping_add(line));
                ask(into.as_ptr().wrapping_add(line));
            }
        }
        *into = *from;
    }
    behind.copy_from_slice(last);
}

/// Does something piece by piece, while what the next piece is written over is fetched. Both are as long, and
/// pieces are whole numbers of anything of up to 4096 bytes.
pub(super) fn ahead(from: &[u8], into: &mut [u8], mut each: impl FnMut(&[u8], &mut [u8])) {
    let mut rest = into;
    for piece in from.chunks(PIECE) {
        let Some((into, behind)) = rest.split_at_mut_checked(piece.len()) else { return };
        fetch(&behind[..PIECE.min(behind.len())]);
        each(piece, into);
        rest = behind;
    }
}

/// Asks for the fourth block of items behind block `at`, if there is all of it: it comes while those before are
/// looked at.
#[inline(always)]
pub(super) fn ask_ahead<const WIDTH: usize>(items: &[[u8; WIDTH]], block: usize, at: usize) {
    let begin = (at + BLOCKS_AHEAD) * block;
    if let Some(block) = items.get(begin..begin + block) {
        block.as_flattened().chunks(LINE).for_each(|line| ask(line.as_ptr()));
    }
}

const BLOCKS_AHEAD: usize = 4;

/// Asks for some bytes to be brought near.
#[inline]
fn fetch(bytes: &[u8]) {
    bytes.chunks(LINE).for_each(|line| ask(line.as_ptr()));
}

/// Bytes that come together.
const LINE: usize = 64;

/// Asks for what is at an address, if there is anything.
#[inline(always)]
fn ask(address: *const u8) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        // SAFETY: a hint; any address will do.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(address.cast()) };
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = address;
}
