//! Comparison of sixty-four levels with a bound at once, for several generations of CPUs.

/// A block of levels or bytes.
pub type Block = [u8; 64];

/// Comparison of a block with a bound; bit `i` of a result stands for level `i`.
pub trait Compare {
    /// Returns the levels that are not below the bound.
    ///
    /// # Safety
    ///
    /// The CPU has the features of the level.
    unsafe fn at_least(block: &Block, bound: u8) -> u64;

    /// Returns the bytes that equal `byte`.
    ///
    /// # Safety
    ///
    /// The CPU has the features of the level.
    unsafe fn equal(block: &Block, byte: u8) -> u64;

    /// Returns the bytes that equal `byte` after the bit 0x20 is set in them.
    ///
    /// # Safety
    ///
    /// The CPU has the features of the level.
    unsafe fn equal_folded(block: &Block, byte: u8) -> u64;

    /// Returns the levels that are not above the bound.
    ///
    /// # Safety
    ///
    /// The CPU has the features of the level.
    #[inline(always)]
    unsafe fn at_most(block: &Block, bound: u8) -> u64 {
        match bound.checked_add(1) {
            // SAFETY: the caller guarantees the features of the level.
            Some(above) => !unsafe { Self::at_least(block, above) },
            None => u64::MAX,
        }
    }
}

/// Defines `fn name(features, arguments)` that runs `body::<C>(arguments)` with the [`Compare`] of the
/// generation of [`CpuFeatures`](crate::CpuFeatures), compiled for it. The body must be `#[inline(always)]`,
/// and so must all functions in it.
macro_rules! for_each_compare {
    ($(#[$meta:meta])* fn $name:ident($($arg:ident: $type:ty),* $(,)?) $(-> $result:ty)? = $body:ident) => {
        $(#[$meta])*
        fn $name(features: $crate::CpuFeatures, $($arg: $type),*) $(-> $result)? {
            use $crate::levels::compare;
            #[cfg(target_arch = "x86_64")]
            {
                $crate::compiled_for! {
                    Avx2 fn avx2($($arg: $type),*) $(-> $result)? { $body::<compare::Avx2>($($arg),*) }
                }
                $crate::compiled_for! {
                    Avx512 fn avx512($($arg: $type),*) $(-> $result)? { $body::<compare::Avx512>($($arg),*) }
                }
                match features.generation() {
                    $crate::Generation::Baseline => {}
                    // SAFETY: the processor has the generation, or there would be no such features.
                    $crate::Generation::Avx2 => return unsafe { avx2($($arg),*) },
                    // SAFETY: as above.
                    $crate::Generation::Avx512 => return unsafe { avx512($($arg),*) },
                }
            }
            let _ = features;
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            return $body::<compare::Sse2>($($arg),*);
            #[cfg(not(all(target_arch = "x86_64", not(miri))))]
            $body::<compare::Portable>($($arg),*)
        }
    };
}
pub(crate) use for_each_compare;

/// Comparison without vector instructions, for any CPU.
pub struct Portable;

impl Compare for Portable {
    #[inline(always)]
    unsafe fn at_least(block: &Block, bound: u8) -> u64 {
        flags(block, |level| level >= bound)
    }

    #[inline(always)]
    unsafe fn equal(block: &Block, byte: u8) -> u64 {
        flags(block, |other| other == byte)
    }

    #[inline(always)]
    unsafe fn equal_folded(block: &Block, byte: u8) -> u64 {
        flags(block, |other| other | 0x20 == byte)
    }
}

#[inline(always)]
fn flags(block: &Block, test: impl Fn(u8) -> bool) -> u64 {
    let mut mask = 0;
    for (byte, eight) in block.chunks_exact(8).enumerate() {
        // One multiplication gathers the flags of eight levels in the top byte.
        let mut flags = [0; 8];
        for (flag, &level) in flags.iter_mut().zip(eight) {
            *flag = u8::from(test(level));
        }
        let gathered = u64::from_le_bytes(flags).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        mask |= gathered << (8 * byte);
    }
    mask
}

#[cfg(target_arch = "x86_64")]
pub use x86::{Avx2, Avx512, Sse2};

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Block, Compare};
    use std::arch::x86_64::*;

    /// Comparison with SSE2, which every x86-64 CPU has.
    pub struct Sse2;

    impl Compare for Sse2 {
        #[inline(always)]
        unsafe fn at_least(block: &Block, bound: u8) -> u64 {
            let mut mask = 0;
            for (quarter, levels) in block.chunks_exact(16).enumerate() {
                // SAFETY: sixteen bytes are readable, and SSE2 is part of x86-64.
                let flags = unsafe {
                    let levels = _mm_loadu_si128(levels.as_ptr().cast());
                    let bound = _mm_set1_epi8(bound as i8);
                    _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_max_epu8(levels, bound), levels))
                };
                mask |= u64::from(flags as u16) << (16 * quarter);
            }
            mask
        }

        #[inline(always)]
        unsafe fn equal(block: &Block, byte: u8) -> u64 {
            let mut mask = 0;
            for (quarter, bytes) in block.chunks_exact(16).enumerate() {
                // SAFETY: sixteen bytes are readable, and SSE2 is part of x86-64.
                let flags = unsafe {
                    let bytes = _mm_loadu_si128(bytes.as_ptr().cast());
                    _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte as i8)))
                };
                mask |= u64::from(flags as u16) << (16 * quarter);
            }
            mask
        }

        #[inline(always)]
        unsafe fn equal_folded(block: &Block, byte: u8) -> u64 {
            let mut mask = 0;
            for (quarter, bytes) in block.chunks_exact(16).enumerate() {
                // SAFETY: sixteen bytes are readable, and SSE2 is part of x86-64.
                let flags = unsafe {
                    let bytes = _mm_or_si128(_mm_loadu_si128(bytes.as_ptr().cast()), _mm_set1_epi8(0x20));
                    _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte as i8)))
                };
                mask |= u64::from(flags as u16) << (16 * quarter);
            }
            mask
        }
    }

    /// Comparison with AVX2.
    pub struct Avx2;

    impl Compare for Avx2 {
        #[inline(always)]
        unsafe fn at_least(block: &Block, bound: u8) -> u64 {
            let half = |levels: &[u8]| {
                // SAFETY: thirty-two bytes are readable, and the caller guarantees AVX2.
                let flags = unsafe {
                    let levels = _mm256_loadu_si256(levels.as_ptr().cast());
                    let bound = _mm256_set1_epi8(bound as i8);
                    _mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_max_epu8(levels, bound), levels))
                };
                u64::from(flags as u32)
            };
            half(&block[..32]) | half(&block[32..]) << 32
        }

        #[inline(always)]
        unsafe fn equal(block: &Block, byte: u8) -> u64 {
            let half = |bytes: &[u8]| {
                // SAFETY: thirty-two bytes are readable, and the caller guarantees AVX2.
                let flags = unsafe {
                    let bytes = _mm256_loadu_si256(bytes.as_ptr().cast());
                    _mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(byte as i8)))
                };
                u64::from(flags as u32)
            };
            half(&block[..32]) | half(&block[32..]) << 32
        }

        #[inline(always)]
        unsafe fn equal_folded(block: &Block, byte: u8) -> u64 {
            let half = |bytes: &[u8]| {
                // SAFETY: thirty-two bytes are readable, and the caller guarantees AVX2.
                let flags = unsafe {
                    let bytes = _mm256_loadu_si256(bytes.as_ptr().cast());
                    let bytes = _mm256_or_si256(bytes, _mm256_set1_epi8(0x20));
                    _mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(byte as i8)))
                };
                u64::from(flags as u32)
            };
            half(&block[..32]) | half(&block[32..]) << 32
        }
    }

    /// Comparison with AVX-512BW.
    pub struct Avx512;

    impl Compare for Avx512 {
        #[inline(always)]
        unsafe fn at_least(block: &Block, bound: u8) -> u64 {
            // SAFETY: sixty-four bytes are readable, and the caller guarantees AVX-512BW.
            unsafe {
                let levels = _mm512_loadu_si512(block.as_ptr().cast());
                _mm512_cmpge_epu8_mask(levels, _mm512_set1_epi8(bound as i8))
            }
        }

        #[inline(always)]
        unsafe fn equal(block: &Block, byte: u8) -> u64 {
            // SAFETY: sixty-four bytes are readable, and the caller guarantees AVX-512BW.
            unsafe {
                let bytes = _mm512_loadu_si512(block.as_ptr().cast());
                _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(byte as i8))
            }
        }

        #[inline(always)]
        unsafe fn equal_folded(block: &Block, byte: u8) -> u64 {
            // SAFETY: sixty-four bytes are readable, and the caller guarantees AVX-512BW.
            unsafe {
                let bytes = _mm512_loadu_si512(block.as_ptr().cast());
                let bytes = _mm512_or_si512(bytes, _mm512_set1_epi8(0x20));
                _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(byte as i8))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    use crate::{CpuFeatures, Generation};

    #[test]
    fn every_way_compares_alike() {
        let block: Block = std::array::from_fn(|at| (at * 37 % 256) as u8);
        for bound in 0..=255_u8 {
            let expected = |test: &dyn Fn(u8) -> bool| {
                block.iter().enumerate().fold(0, |mask, (at, &level)| mask | u64::from(test(level)) << at)
            };
            let check = |least: u64, most: u64| {
                assert_eq!(least, expected(&|level| level >= bound));
                assert_eq!(most, expected(&|level| level <= bound));
            };
            // SAFETY: these need no features.
            unsafe { check(Portable::at_least(&block, bound), Portable::at_most(&block, bound)) };
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            // SAFETY: the processor has the features.
            unsafe {
                check(Sse2::at_least(&block, bound), Sse2::at_most(&block, bound));
                for features in CpuFeatures::available() {
                    match features.generation() {
                        Generation::Baseline => {}
                        Generation::Avx2 => {
                            check(Avx2::at_least(&block, bound), Avx2::at_most(&block, bound));
                        }
                        Generation::Avx512 => {
                            check(Avx512::at_least(&block, bound), Avx512::at_most(&block, bound));
                        }
                    }
                }
            }
        }
    }
}
