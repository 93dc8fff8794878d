//! Single reads of memory that others may write to: the page `mutable_inputs` of the crate `forth` explains
//! why each kernel is sound.

/// Returns the number, opaque to the optimiser: its origin is unknown, so it cannot be read from the input a
/// second time.
///
/// For numbers of an input that determine, without another check, how much is read or written. Costs no
/// instruction.
#[inline(always)]
#[must_use]
pub fn settled(number: u64) -> u64 {
    #[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
    {
        let mut number = number;
        // SAFETY: the assembly is empty.
        unsafe {
            std::arch::asm!("/* {0} */", inout(reg) number, options(nomem, nostack, preserves_flags));
        }
        number
    }
    #[cfg(not(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri))))]
    std::hint::black_box(number)
}

/// Sixty-four bytes of an input, read once: they stay the same.
#[repr(align(64))]
#[derive(Debug)]
pub struct Held(pub [u8; 64]);

impl Held {
    /// Copies the bytes.
    #[inline(always)]
    #[must_use]
    pub fn new(bytes: &[u8; 64]) -> Self {
        let held = Self(*bytes);
        #[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
        // SAFETY: the assembly is empty. As far as the optimiser knows, it writes to the address, so the copy
        // has to exist.
        unsafe {
            std::arch::asm!("/* {0} */", in(reg) &raw const held, options(nostack, preserves_flags));
        }
        held
    }
}
