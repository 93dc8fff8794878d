//! Conversion of repetition and definition levels, a byte each, to offsets and indices.
//!
//! Levels are compared sixty-four at a time, which yields masks with one bit per level, the first level
//! lowest. From the masks follow the *slots*, which begin a list (or are rows of an option), and the *items*,
//! which are in a slot; so do offsets and indices. [`ends_of_slots`] and [`index_of_slots`] write those of
//! one mask, and are called by the machine; [`lists_of_masks`] and [`index_of_masks`] write those of many.

pub(crate) mod compare;

#[cfg(target_arch = "x86_64")]
pub use compare::{Avx2, Avx512, Sse2};
pub use compare::{Block, Compare, Portable};

use crate::{CpuFeatures, for_each_cpu};
use compare::for_each_compare;

/// Number of levels of a mask.
const LANES: usize = 64;

/// Writes for each level whether it is `most` or lower. There is a mask for every 64 levels begun; bits after
/// the last level are 0.
///
/// # Panics
/// May panic if there are fewer masks.
pub fn levels_to(levels: &[u8], most: u8, masks: &mut [u64]) {
    compare(CpuFeatures::current(), levels, most, false, masks);
}

/// Writes for each level whether it is `least` or higher, in the form of [`levels_to`].
///
/// # Panics
/// May panic if there are fewer masks.
pub fn levels_from(levels: &[u8], least: u8, masks: &mut [u64]) {
    compare(CpuFeatures::current(), levels, least, true, masks);
}

/// Writes offsets of lists, as `i64`, and returns their number. An item adds one to `total`; a slot ends the
/// list that is `open`, by writing the total before it, and opens the next. A list that is still open at the
/// end is ended by the caller, or continued by the next masks.
///
/// # Panics
/// If `offsets` has fewer than one offset per slot.
pub fn lists_of_masks(
    slots: &[u64],
    items: &[u64],
    open: &mut bool,
    total: &mut i64,
    offsets: &mut [u8],
) -> usize {
    lists(CpuFeatures::current(), slots, items, open, total, offsets)
}

/// Writes an index, as `i64`, and returns its length: a slot that is an item gets the next number, counted on
/// in `next`; any other slot gets -1.
///
/// # Panics
/// If `index` has fewer than one number per slot.
pub fn index_of_masks(slots: &[u64], items: &[u64], next: &mut i64, index: &mut [u8]) -> usize {
    rows(CpuFeatures::current(), slots, items, next, index)
}

for_each_compare!(
    /// Compares all levels with a bound: whether they are at least that, or at most.
    fn compare(levels: &[u8], bound: u8, at_least: bool, masks: &mut [u64]) = compare_body
);

#[inline(always)]
fn compare_body<C: Compare>(levels: &[u8], bound: u8, at_least: bool, masks: &mut [u64]) {
    // SAFETY: `C` is of the generation that this is compiled for.
    let mask = |block: &Block| unsafe {
        if at_least { C::at_least(block, bound) } else { C::at_most(block, bound) }
    };
    let (blocks, rest) = levels.as_chunks::<LANES>();
    for (block, to) in blocks.iter().zip(masks.iter_mut()) {
        *to = mask(block);
    }
    if !rest.is_empty() {
        let mut block = [0; LANES];
        block[..rest.len()].copy_from_slice(rest);
        masks[blocks.len()] = mask(&block) & ((1 << rest.len()) - 1);
    }
}

for_each_cpu!(
    fn lists(slots: &[u64], items: &[u64], open: &mut bool, total: &mut i64, offsets: &mut [u8]) -> usize = lists_body
);
for_each_cpu!(
    fn rows(slots: &[u64], items: &[u64], next: &mut i64, index: &mut [u8]) -> usize = rows_body
);

#[inline(always)]
fn lists_body(slots: &[u64], items: &[u64], open: &mut bool, total: &mut i64, offsets: &mut [u8]) -> usize {
    let (offsets, _) = offsets.as_chunks_mut::<8>();
    let mut at = 0;
    for (&slot, &item) in slots.iter().zip(items) {
        let mut rest = slot;
        if !*open && rest != 0 {
            // The first slot ends no list.
            rest &= rest - 1;
            *open = true;
        }
        let to = &mut offsets[at..at + rest.count_ones() as usize];
        at += to.len();
        // SAFETY: the slice has one offset per slot.
        unsafe { ends_of_slots(rest, item, *total, to.as_mut_ptr().cast()) };
        *total += i64::from(item.count_ones());
    }
    at
}

#[inline(always)]
fn rows_body(slots: &[u64], items: &[u64], next: &mut i64, index: &mut [u8]) -> usize {
    let (index, _) = index.as_chunks_mut::<8>();
    let mut at = 0;
    for (&slot, &item) in slots.iter().zip(items) {
        let there = slot & item;
        let to = &mut index[at..at + slot.count_ones() as usize];
        at += to.len();
        if there == slot {
            for (row, to) in (*next..).zip(to) {
                *to = row.to_ne_bytes();
            }
        } else {
            // SAFETY: the slice has one number per slot.
            unsafe { index_of_slots(slot, there, *next, to.as_mut_ptr().cast()) };
        }
        *next += i64::from(there.count_ones());
    }
    at
}

/// Writes for each slot the number of items before it, counted on from `total`.
///
/// # Safety
///
/// One number for each slot is writable at `to`, which need not be aligned.
#[inline(always)]
pub unsafe fn ends_of_slots<T: Signed>(slots: u64, items: u64, total: T, mut to: *mut T) {
    let mut rest = slots;
    while rest != 0 {
        let below = items & (lowest(rest) - 1);
        // SAFETY: the caller guarantees space for one number per slot.
        unsafe {
            to.write_unaligned(total.plus(u64::from(below.count_ones())));
            to = to.add(1);
        }
        rest &= rest - 1;
    }
}

/// Writes for each slot the next number, counted on from `next`, if its bit is set in `there`, and -1 if not.
///
/// # Safety
///
/// The requirements of [`ends_of_slots`].
#[inline(always)]
pub unsafe fn index_of_slots<T: Signed>(slots: u64, there: u64, next: T, mut to: *mut T) {
    let mut items = 0;
    if slots == u64::MAX {
        for eight in 0..8 {
            let flags = there >> (8 * eight) & 0xff;
            let base = next.plus(items);
            let places = &PLACES[flags as usize];
            let mut indices = [T::NOTHING; 8];
            // Indices, since the methods of iterators need not be compiled with the instructions of this
            // generation.
            #[allow(clippy::needless_range_loop, reason = "as the comment says")]
            for at in 0..8 {
                indices[at] = base.at(places[at]);
            }
            // SAFETY: the caller guarantees space for one number per slot, and there are sixty-four.
            unsafe {
                to.cast::<[T; 8]>().write_unaligned(indices);
                to = to.add(8);
            }
            items += u64::from(flags.count_ones());
        }
        return;
    }
    let (mut rest, mut next) = (slots, next);
    while rest != 0 {
        let is_there = there & lowest(rest) != 0;
        // SAFETY: the caller guarantees space for one number per slot.
        unsafe {
            to.write_unaligned(if is_there { next } else { T::NOTHING });
            to = to.add(1);
        }
        next = next.plus(u64::from(is_there));
        rest &= rest - 1;
    }
}

#[inline(always)]
fn lowest(mask: u64) -> u64 {
    mask & mask.wrapping_neg()
}

/// For each combination of eight flags, the rank of each flag among the set ones; -1 if it is not set.
static PLACES: [[i8; 8]; 256] = {
    let mut places = [[-1; 8]; 256];
    let mut flags = 0;
    while flags < 256 {
        let (mut at, mut place) = (0, 0);
        while at < 8 {
            if flags >> at & 1 == 1 {
                places[flags][at] = place;
                place += 1;
            }
            at += 1;
        }
        flags += 1;
    }
    places
};

/// The number types in which offsets and indices are stored.
pub trait Signed: Copy {
    /// Index of a missing item.
    const NOTHING: Self;
    /// Converts from an item of the machine.
    fn from_item(item: [u8; 8]) -> Self;
    /// Adds a number of items, wrapping.
    fn plus(self, items: u64) -> Self;
    /// Adds a place; returns [`Self::NOTHING`] if the place is negative.
    fn at(self, place: i8) -> Self;
}

macro_rules! signed {
    ($type:ty) => {
        impl Signed for $type {
            const NOTHING: Self = -1;

            #[inline(always)]
            fn from_item(item: [u8; 8]) -> Self {
                i64::from_ne_bytes(item) as Self
            }

            #[inline(always)]
            fn plus(self, items: u64) -> Self {
                self.wrapping_add(items as Self)
            }

            #[inline(always)]
            fn at(self, place: i8) -> Self {
                // All bits of `NOTHING` are set, as are those of a negative number that is shifted by all
                // bits but one.
                let place = Self::from(place);
                self.wrapping_add(place) | place >> (Self::BITS - 1)
            }
        }
    };
}

signed!(i32);
signed!(i64);

#[cfg(test)]
mod tests {
    use super::*;

    fn integers(bytes: &[u8]) -> Vec<i64> {
        bytes.as_chunks::<8>().0.iter().map(|b| i64::from_ne_bytes(*b)).collect()
    }

    #[test]
    fn masks_have_a_bit_a_level() {
        let levels: Vec<u8> = (0..150u32).map(|at| (at * 7 % 5) as u8).collect();
        let bounds =
            (0..6).flat_map(|bound| CpuFeatures::available().into_iter().map(move |cpu| (bound, cpu)));
        for (bound, features) in bounds.chain(CpuFeatures::available().into_iter().map(|cpu| (255, cpu))) {
            let (mut to, mut from) = ([0; 3], [0; 3]);
            compare(features, &levels, bound, false, &mut to);
            compare(features, &levels, bound, true, &mut from);
            for at in 0..192 {
                let bit = |masks: &[u64; 3]| masks[at / 64] >> (at % 64) & 1 == 1;
                assert_eq!(bit(&to), levels.get(at).is_some_and(|l| *l <= bound), "{at} to {bound}");
                assert_eq!(bit(&from), levels.get(at).is_some_and(|l| *l >= bound), "{at} from {bound}");
            }
        }
    }

    /// Compares with a loop over the slots.
    #[test]
    fn masks_of_every_kind_give_what_a_loop_gives_on_every_cpu() {
        let mut seed = 1_u64;
        let mut random = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            seed ^ seed >> 31
        };
        for _ in 0..if cfg!(miri) { 3 } else { 300 } {
            let dense = [u64::MAX, random() | random(), random(), random() & random()];
            let slots = [dense[random() as usize % 4], dense[random() as usize % 4]];
            let items = [dense[random() as usize % 4], dense[random() as usize % 4]];
            let (mut ends, mut index, mut total, mut row) = (vec![], vec![], 7, 9);
            for bit in 0..128 {
                let is = |masks: [u64; 2]| masks[bit / 64] >> (bit % 64) & 1 == 1;
                if is(slots) {
                    ends.push(total);
                    index.push(if is(items) { row } else { -1 });
                    row += i64::from(is(items));
                }
                total += i64::from(is(items));
            }
            for features in CpuFeatures::available() {
                let (mut open, mut sum, mut out) = (true, 7, [0; 8 * 128]);
                let written = lists(features, &slots, &items, &mut open, &mut sum, &mut out);
                assert_eq!((integers(&out[..8 * written]), sum), (ends.clone(), total));
                let mut next = 9;
                let written = rows(features, &slots, &items, &mut next, &mut out);
                assert_eq!((integers(&out[..8 * written]), next), (index.clone(), row));
            }
        }
    }

    #[test]
    fn lists_go_on_from_mask_to_mask() {
        // [a, b], [], [c | d], the third of which is in two masks.
        let (mut open, mut total, mut out) = (false, 10, [0; 64]);
        let written = lists_of_masks(&[0b1101], &[0b1011], &mut open, &mut total, &mut out);
        assert_eq!((integers(&out[..8 * written]), open, total), (vec![12, 12], true, 13));
        let written = lists_of_masks(&[0b10], &[0b01], &mut open, &mut total, &mut out);
        assert_eq!((integers(&out[..8 * written]), open, total), (vec![14], true, 14));
    }

    #[test]
    fn an_index_counts_what_is_there() {
        let (mut next, mut out) = (5, [0; 8 * 70]);
        let written = index_of_masks(&[0b1011, u64::MAX], &[0b0101, u64::MAX], &mut next, &mut out);
        let index = integers(&out[..8 * written]);
        assert_eq!((&index[..4], index.len(), next), (&[5, -1, -1, 6][..], 67, 70));
    }
}
