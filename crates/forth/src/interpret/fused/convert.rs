//! Conversion of items from input to output byte order, a block at a time.

use forthwith_kernels::settled::settled;

/// Size of a block in bytes; outputs have at least as much slack.
pub(crate) const BLOCK: usize = 64;

/// Prefetch distance in bytes, for reads and writes. Hardware prefetchers stop at the end of a page of 4 KiB,
/// and then have to begin anew; that alone is a third of the time where memory is not in a near cache.
const AHEAD: usize = 2048;

/// Conversion of 64 bytes of items from input to output byte order.
pub(crate) trait Conversion {
    /// The item size is two to this power; several sizes for plain copies.
    const SHIFT: Option<u32>;

    fn convert(block: [u8; BLOCK]) -> [u8; BLOCK];

    /// Converts a block from memory to memory.
    ///
    /// # Safety
    ///
    /// A block is readable at `from` and writable at `to`.
    #[inline(always)]
    unsafe fn transfer(from: *const u8, to: *mut u8) {
        // SAFETY: guaranteed by the caller; byte arrays need no alignment.
        unsafe { to.cast::<[u8; BLOCK]>().write(Self::convert(from.cast::<[u8; BLOCK]>().read())) };
    }
}

pub(crate) struct Copy;
pub(super) struct Swap2;
pub(super) struct Swap4;
pub(super) struct Swap8;
pub(super) struct Bool;

impl Conversion for Copy {
    const SHIFT: Option<u32> = None;

    #[inline(always)]
    fn convert(block: [u8; BLOCK]) -> [u8; BLOCK] {
        block
    }

    /// Copies without a temporary. The compiler would spill a block that is a value to the stack; where that
    /// stack slot crosses a page, as in one process of sixty, the spill takes twice as long as all other
    /// work.
    #[inline(always)]
    unsafe fn transfer(from: *const u8, to: *mut u8) {
        // SAFETY: guaranteed by the caller.
        unsafe { std::ptr::copy(from, to, BLOCK) };
    }
}

macro_rules! swap {
    ($name:ident, $type:ty, $lanes:literal) => {
        impl Conversion for $name {
            const SHIFT: Option<u32> = Some(size_of::<$type>().trailing_zeros());

            #[inline(always)]
            fn convert(block: [u8; BLOCK]) -> [u8; BLOCK] {
                // SAFETY: both are plain bytes of the same size.
                let mut items: [$type; $lanes] = unsafe { std::mem::transmute(block) };
                for item in &mut items {
                    *item = item.swap_bytes();
                }
                // SAFETY: as above.
                unsafe { std::mem::transmute(items) }
            }
        }
    };
}

swap!(Swap2, u16, 32);
swap!(Swap4, u32, 16);
swap!(Swap8, u64, 8);

impl Conversion for Bool {
    const SHIFT: Option<u32> = Some(0);

    #[inline(always)]
    fn convert(mut block: [u8; BLOCK]) -> [u8; BLOCK] {
        for byte in &mut block {
            *byte = u8::from(*byte != 0);
        }
        block
    }
}

/// Converts `bytes` bytes of items.
///
/// # Safety
///
/// At `to`, `bytes` bytes and the slack of an output are writable; `from` has at least `bytes` bytes.
#[inline(always)]
pub(super) unsafe fn run<K: Conversion>(from: &[u8], bytes: usize, to: *mut u8) {
    let whole = if from.len() >= bytes.next_multiple_of(BLOCK) { bytes } else { bytes / BLOCK * BLOCK };
    // SAFETY: whole blocks are left in the input, and slack follows the writable bytes.
    unsafe {
        if whole > 0 {
            copy_blocks::<K>(from.as_ptr(), to, whole);
        }
        if whole < bytes {
            let mut last = [0; BLOCK];
            last[..bytes - whole].copy_from_slice(&from[whole..bytes]);
            to.add(whole).cast::<[u8; BLOCK]>().write(K::convert(last));
        }
    }
}

/// # Safety
///
/// At least one block, and all blocks that begin before `bytes`, are readable and writable.
#[inline(always)]
pub(crate) unsafe fn copy_blocks<K: Conversion>(from: *const u8, to: *mut u8, bytes: usize) {
    let mut at = 0;
    loop {
        prefetch(from.wrapping_add(at + AHEAD));
        prefetch(to.wrapping_add(at + AHEAD));
        // SAFETY: guaranteed by the caller.
        unsafe { K::transfer(from.add(at), to.add(at)) };
        // A block already fills a vector. Without this barrier, the optimiser would combine items of several
        // blocks, in several hundred instructions for each loop over lists.
        at = settled((at + BLOCK) as u64) as usize;
        if at >= bytes {
            break;
        }
    }
}

/// Prefetches the memory at an address, which need not be valid.
#[inline(always)]
fn prefetch(address: *const u8) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch is valid for any address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = address;
}
