//! Copies from scratch that is at hand to memory that is not.

/// Bytes that are asked for together: far fewer than the nearest cache holds.
const PIECE: usize = 4096;

/// Copies bytes from warm scratch to a place in a column, as `copy_from_slice` does.
///
/// What is to be written over is in another processor's cache or in none, as somebody cleared the page some time before: it is asked for a
/// piece ahead.
///
/// # Panics
/// If the lengths differ.
pub fn copy(from: &[u8], into: &mut [u8]) {
    assert_eq!(from.len(), into.len(), "bytes copied to a place of another length");
    ahead(from, into, |from, into| into.copy_from_slice(from));
}

/// Does something piece by piece, while what the next piece is written over is fetched. Both are as long, and pieces are whole numbers of
/// anything of up to 4096 bytes.
pub(super) fn ahead(from: &[u8], into: &mut [u8], mut each: impl FnMut(&[u8], &mut [u8])) {
    let mut rest = into;
    for piece in from.chunks(PIECE) {
        let Some((into, behind)) = rest.split_at_mut_checked(piece.len()) else { return };
        fetch(&behind[..PIECE.min(behind.len())]);
        each(piece, into);
        rest = behind;
    }
}

/// Asks for some bytes to be brought near.
#[inline]
fn fetch(bytes: &[u8]) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    for line in bytes.chunks(64) {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        // SAFETY: a hint; any address will do.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(line.as_ptr().cast()) };
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = bytes;
}
