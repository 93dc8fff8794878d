//! Expansion of items to the positions of set bits, with zeros between them.

use crate::{CpuFeatures, Generation};
use std::mem::MaybeUninit;

/// An item of the width of a column's items. Sealed.
pub trait Expand: Copy + Default + sealed::Sealed {
    /// Returns one item per bit of the masks, from the lowest on: the next of `items` for each set bit, and
    /// zero for the others. If there are fewer `items` than set bits, the last ones are zero, too.
    #[must_use]
    fn expand(items: &[Self], masks: &[u64]) -> Vec<Self> {
        Self::expand_by(CpuFeatures::current(), items, masks)
    }

    #[doc(hidden)]
    fn expand_by(features: CpuFeatures, items: &[Self], masks: &[u64]) -> Vec<Self> {
        let mut out = Vec::with_capacity(masks.len() * LANES);
        let room = &mut out.spare_capacity_mut()[..masks.len() * LANES];
        let whole = Self::expand_wide(features, items, masks, room);
        let before = masks[..whole].iter().map(|mask| mask.count_ones() as usize).sum();
        word_by_word(&items[before..], &masks[whole..], &mut room[whole * LANES..]);
        // SAFETY: each item was written, by one of the two functions.
        unsafe { out.set_len(masks.len() * LANES) };
        out
    }

    /// Writes the items of the first masks by vector instructions, if the processor has them, and returns the
    /// number of masks done.
    #[doc(hidden)]
    fn expand_wide(_: CpuFeatures, _: &[Self], _: &[u64], _: &mut [MaybeUninit<Self>]) -> usize {
        0
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for u8 {}
    impl Sealed for u16 {}
    impl Sealed for u32 {}
    impl Sealed for u64 {}
    impl Sealed for u128 {}
}

/// Number of bits of a mask, and so of its items.
const LANES: usize = u64::BITS as usize;
/// Maximum number of unset bits for which items are copied in runs.
const FEW: u32 = 8;

impl Expand for u8 {}
impl Expand for u16 {}
impl Expand for u128 {}

macro_rules! expands {
    ($number:ident $wide:ident) => {
        impl Expand for $number {
            fn expand_wide(
                features: CpuFeatures,
                items: &[Self],
                masks: &[u64],
                room: &mut [MaybeUninit<Self>],
            ) -> usize {
                match features.generation() {
                    #[cfg(all(target_arch = "x86_64", not(miri)))]
                    // SAFETY: the processor has the generation, or there would be no such features.
                    Generation::Avx512 => unsafe { wide::$wide(items, masks, room) },
                    _ => 0,
                }
            }
        }
    };
}

expands!(u32 expand_32);
expands!(u64 expand_64);

fn word_by_word<T: Copy + Default>(mut items: &[T], masks: &[u64], out: &mut [MaybeUninit<T>]) {
    for (mask, places) in masks.iter().zip(out.chunks_exact_mut(LANES)) {
        let there = mask.count_ones() as usize;
        let some = &items[..there.min(items.len())];
        items = &items[some.len()..];
        if there == LANES && some.len() == LANES {
            places.write_copy_of_slice(some);
            continue;
        }
        places.iter_mut().for_each(|place| *place = MaybeUninit::new(T::default()));
        if mask.count_zeros() <= FEW {
            // Copies the runs of items between the unset bits.
            let (mut from, mut rest, mut missing) = (0, some, !mask);
            while missing != 0 {
                let at = missing.trailing_zeros() as usize;
                let (run, more) = rest.split_at(rest.len().min(at - from));
                places[from..from + run.len()].write_copy_of_slice(run);
                (from, rest, missing) = (at + 1, more, missing & (missing - 1));
            }
            let last = &rest[..rest.len().min(LANES - from)];
            places[from..from + last.len()].write_copy_of_slice(last);
        } else {
            let mut bits = *mask;
            for item in some {
                places[bits.trailing_zeros() as usize % LANES].write(*item);
                bits &= bits.wrapping_sub(1);
            }
        }
    }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod wide {
    use super::LANES;
    use crate::compiled_for;
    use std::{arch::x86_64::*, mem::MaybeUninit};

    macro_rules! wide {
        ($name:ident $number:ident $lanes:literal $mask:ident $load:ident $expand:ident $store:ident) => {
            compiled_for! {
                Avx512
                /// Writes the items of the first masks, as long as a whole vector can be read after them, and
                /// returns the number of masks done.
                pub(super) fn $name(items: &[$number], masks: &[u64], out: &mut [MaybeUninit<$number>]) -> usize {
                    let mut from = 0;
                    for (done, (mask, places)) in masks.iter().zip(out.chunks_exact_mut(LANES)).enumerate() {
                        if items.len() - from < LANES + $lanes {
                            return done;
                        }
                        for (part, places) in places.chunks_exact_mut($lanes).enumerate() {
                            let bits = (mask >> (part * $lanes)) as $mask;
                            // SAFETY: at least as many items as a mask has bits, and a vector of them, follow
                            // `from`, of which a mask uses at most one per bit; the places are a vector.
                            unsafe {
                                let some = $load(items.as_ptr().add(from).cast());
                                $store(places.as_mut_ptr().cast(), $expand(bits, some));
                            }
                            from += bits.count_ones() as usize;
                        }
                    }
                    masks.len()
                }
            }
        };
    }

    wide!(expand_32 u32 16 u16 _mm512_loadu_epi32 _mm512_maskz_expand_epi32 _mm512_storeu_epi32);
    wide!(expand_64 u64 8 u8 _mm512_loadu_epi64 _mm512_maskz_expand_epi64 _mm512_storeu_epi64);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cpu_puts_items_at_the_places_of_bits() {
        let mut state = 7_u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state >> 16 ^ state << 40
        };
        for count in 0..40 {
            let masks: Vec<u64> = (0..count)
                .map(|at| match at % 4 {
                    0 => u64::MAX,
                    1 => random() & random() & random(),
                    2 => 0,
                    _ => random(),
                })
                .collect();
            let bits: u32 = masks.iter().map(|mask| mask.count_ones()).sum();
            for missing in [0, 1, 100] {
                let items: Vec<u64> =
                    (1..=u64::from(bits)).take((bits as usize).saturating_sub(missing)).collect();
                let narrow: Vec<u32> = items.iter().map(|item| *item as u32).collect();
                let mut next = items.iter();
                let places = masks.iter().flat_map(|mask| (0..64).map(move |bit| mask >> bit & 1 == 1));
                let wanted: Vec<u64> = places
                    .map(|is| if is { next.next().copied() } else { None }.unwrap_or_default())
                    .collect();
                for features in CpuFeatures::available() {
                    assert_eq!(u64::expand_by(features, &items, &masks), wanted, "{}", features.name());
                    let bytes: Vec<u8> = items.iter().map(|item| *item as u8).collect();
                    let found = u8::expand_by(features, &bytes, &masks);
                    assert!(found.iter().zip(&wanted).all(|(byte, item)| *byte == *item as u8));
                    let found = u32::expand_by(features, &narrow, &masks);
                    assert!(
                        found.iter().map(|item| u64::from(*item)).eq(wanted.iter().copied()),
                        "{}",
                        features.name()
                    );
                }
            }
        }
    }
}
