//! Copies with software prefetch.

use forthwith_kernels::{CpuFeatures, for_each_cpu};

/// Number of bytes that are prefetched at once: much less than the first-level cache.
const PIECE: usize = 4096;

/// Number of bytes that are copied and prefetched in one step.
const STEP: usize = 256;

/// Prefetch distance in bytes, which covers the latency of memory; half or twice as much make no difference.
const FAR: usize = 2048;

/// Copies bytes to a slot of a column, as `copy_from_slice` does.
///
/// The destination is in another core's cache or in none, since its page was cleared some time before, and
/// the pages of a mapped file are scattered in memory, so both are prefetched.
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
    // Bytes after the slot may belong to another thread, so prefetching stops before the end.
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

/// Calls `each` piece by piece, while the destination of the next piece is prefetched. Both slices have the
/// same length, and pieces are a multiple of any power of two up to 4096 bytes.
pub(super) fn ahead(from: &[u8], into: &mut [u8], mut each: impl FnMut(&[u8], &mut [u8])) {
    let mut rest = into;
    for piece in from.chunks(PIECE) {
        let Some((into, behind)) = rest.split_at_mut_checked(piece.len()) else { return };
        fetch(&behind[..PIECE.min(behind.len())]);
        each(piece, into);
        rest = behind;
    }
}

/// Prefetches the block that is [`BLOCKS_AHEAD`] blocks after block `at`, if it is complete.
#[inline(always)]
pub(super) fn ask_ahead<const WIDTH: usize>(items: &[[u8; WIDTH]], block: usize, at: usize) {
    let begin = (at + BLOCKS_AHEAD) * block;
    if let Some(block) = items.get(begin..begin + block) {
        block.as_flattened().chunks(LINE).for_each(|line| ask(line.as_ptr()));
    }
}

const BLOCKS_AHEAD: usize = 4;

/// Prefetches bytes.
#[inline]
fn fetch(bytes: &[u8]) {
    bytes.chunks(LINE).for_each(|line| ask(line.as_ptr()));
}

/// Size of a cache line in bytes.
const LINE: usize = 64;

/// Prefetches the cache line at an address, which may be invalid.
#[inline(always)]
fn ask(address: *const u8) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        // SAFETY: prefetching is a hint that is valid for any address.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(address.cast()) };
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = address;
}
