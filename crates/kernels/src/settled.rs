//! One reading of memory that others may write: the page `mutable_inputs` of the crate `forth` says why each
//! kernel is sound.

/// The same number, read once: the optimiser no longer knows where it is from, so it cannot read the input a
/// second time instead of keeping it.
///
/// For numbers of an input that say how much is read or written without another check. It is no instruction.
#[inline(always)]
#[must_use]
pub fn settled(number: u64) -> u64 {
    #[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
    {
        let mut number = number;
        // SAFETY: there is no instruction.
        unsafe {
            std::arch::asm!("/* {0} */", inout(reg) number, options(nomem, nostack, preserves_flags));
        }
        number
    }
    #[cfg(not(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri))))]
    std::hint::black_box(number)
}

/// Sixty-four bytes of an input, read once: looked at again, they are the same.
#[repr(align(64))]
#[derive(Debug)]
pub struct Held(pub [u8; 64]);

impl Held {
    /// A copy of them.
    #[inline(always)]
    #[must_use]
    pub fn new(bytes: &[u8; 64]) -> Self {
        let held = Self(*bytes);
        #[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
        // SAFETY: there is no instruction. It might write to the address, so the copy has to be one.
        unsafe {
            std::arch::asm!("/* {0} */", in(reg) &raw const held, options(nostack, preserves_flags));
        }
        held
    }
}
