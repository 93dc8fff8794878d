//! Repetition and definition levels, a byte each, to offsets and indexes.
//!
//! Levels are compared sixty-four at a time, which gives words of bits: one bit a level, the first level lowest. What begins a list (or is a
//! row of an option), the *slots*, and what is in one, the *items*, follow from the masks; so do offsets and indexes.

use forthwith_kernels::{CpuFeatures, for_each_cpu};

/// Levels in a mask.
const LANES: usize = 64;

/// For each level whether it is `most` or lower. There is a mask for every 64 levels begun; bits behind the last level are 0.
///
/// # Panics
/// If there are not that many masks.
pub fn levels_to(levels: &[u8], most: u8, masks: &mut [u64]) {
    compare(CpuFeatures::current(), levels, most, true, masks);
}

/// For each level whether it is `least` or higher, as [`levels_to`].
///
/// # Panics
/// If there are not that many masks.
pub fn levels_from(levels: &[u8], least: u8, masks: &mut [u64]) {
    match least.checked_sub(1) {
        Some(most) => compare(CpuFeatures::current(), levels, most, false, masks),
        None => {
            let whole = levels.len() / LANES;
            masks[..whole].fill(u64::MAX);
            if !levels.len().is_multiple_of(LANES) {
                masks[whole] = (1 << (levels.len() % LANES)) - 1;
            }
        }
    }
}

/// Offsets of lists: an item adds one to `total`, and a slot ends the list that is `open`, by writing the total before it, and opens the next.
/// The list that is still open at the end is for the caller to end, or goes on with the next masks. Answers how many offsets were
/// written.
///
/// # Panics
/// If there is no room for an offset a slot.
pub fn lists_of_masks(
    slots: &[u64],
    items: &[u64],
    open: &mut bool,
    total: &mut i64,
    offsets: &mut [u8],
) -> usize {
    lists(CpuFeatures::current(), slots, items, open, total, offsets)
}

/// An index: a slot that is an item gets the next number, counted on in `next`; one that is none gets -1. Answers how many were written.
///
/// # Panics
/// If there is no room for a number a slot.
pub fn index_of_masks(slots: &[u64], items: &[u64], next: &mut i64, index: &mut [u8]) -> usize {
    rows(CpuFeatures::current(), slots, items, next, index)
}

for_each_cpu!(fn compare(levels: &[u8], most: u8, below: bool, masks: &mut [u64]) = compare_body);
for_each_cpu!(
    fn lists(slots: &[u64], items: &[u64], open: &mut bool, total: &mut i64, offsets: &mut [u8]) -> usize = lists_body
);
for_each_cpu!(
    fn rows(slots: &[u64], items: &[u64], next: &mut i64, index: &mut [u8]) -> usize = rows_body
);

#[inline(always)]
fn compare_body(levels: &[u8], most: u8, below: bool, masks: &mut [u64]) {
    let flip = if below { u64::MAX } else { 0 };
    let (blocks, rest) = levels.as_chunks::<LANES>();
    for (block, mask) in blocks.iter().zip(masks.iter_mut()) {
        *mask = above(block, most) ^ flip;
    }
    if !rest.is_empty() {
        let mut block = [0; LANES];
        block[..rest.len()].copy_from_slice(rest);
        masks[blocks.len()] = (above(&block, most) ^ flip) & ((1 << rest.len()) - 1);
    }
}

/// Which of the levels are above `most`.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn above(block: &[u8; LANES], most: u8) -> u64 {
    use std::arch::x86_64::{
        _mm_cmpgt_epi8, _mm_movemask_epi8, _mm_set_epi64x, _mm_set1_epi8, _mm_xor_si128,
    };
    // Bytes are compared as signed ones: a flipped sign puts unsigned ones in order.
    let mut mask = 0;
    for (at, quarter) in block.as_chunks::<16>().0.iter().enumerate() {
        let (words, _) = quarter.as_chunks::<8>();
        let word = |at: usize| i64::from_le_bytes(words[at]);
        // SAFETY: every x86-64 processor has these.
        let bits = unsafe {
            let sign = _mm_set1_epi8(i8::MIN);
            let levels = _mm_xor_si128(_mm_set_epi64x(word(1), word(0)), sign);
            _mm_movemask_epi8(_mm_cmpgt_epi8(levels, _mm_set1_epi8((most ^ 0x80) as i8)))
        };
        mask |= u64::from(bits as u16) << (16 * at);
    }
    mask
}

/// Which of the levels are above `most`.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn above(block: &[u8; LANES], most: u8) -> u64 {
    let mut mask = 0;
    for (at, level) in block.iter().enumerate() {
        mask |= u64::from(*level > most) << at;
    }
    mask
}

#[inline(always)]
fn lists_body(slots: &[u64], items: &[u64], open: &mut bool, total: &mut i64, offsets: &mut [u8]) -> usize {
    let (offsets, _) = offsets.as_chunks_mut::<8>();
    let mut at = 0;
    for (&slot, &item) in slots.iter().zip(items) {
        let mut rest = slot;
        if !*open && rest != 0 {
            // Nothing to be ended.
            rest &= rest - 1;
            *open = true;
        }
        while rest != 0 {
            let below = item & ((rest & rest.wrapping_neg()) - 1);
            offsets[at] = (*total + i64::from(below.count_ones())).to_ne_bytes();
            at += 1;
            rest &= rest - 1;
        }
        *total += i64::from(item.count_ones());
    }
    at
}

#[inline(always)]
fn rows_body(slots: &[u64], items: &[u64], next: &mut i64, index: &mut [u8]) -> usize {
    let (index, _) = index.as_chunks_mut::<8>();
    let mut at = 0;
    for (&slot, &item) in slots.iter().zip(items) {
        if slot & item == u64::MAX {
            for (row, to) in (*next..).zip(&mut index[at..at + LANES]) {
                *to = row.to_ne_bytes();
            }
            at += LANES;
            *next += LANES as i64;
            continue;
        }
        let mut rest = slot;
        while rest != 0 {
            let there = item & rest & rest.wrapping_neg() != 0;
            index[at] = if there { *next } else { -1 }.to_ne_bytes();
            *next += i64::from(there);
            at += 1;
            rest &= rest - 1;
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn integers(bytes: &[u8]) -> Vec<i64> {
        bytes.as_chunks::<8>().0.iter().map(|b| i64::from_ne_bytes(*b)).collect()
    }

    #[test]
    fn masks_have_a_bit_a_level() {
        let levels: Vec<u8> = (0..150u32).map(|at| (at * 7 % 5) as u8).collect();
        for bound in 0..6 {
            let (mut to, mut from) = ([0; 3], [0; 3]);
            levels_to(&levels, bound, &mut to);
            levels_from(&levels, bound, &mut from);
            for at in 0..192 {
                let bit = |masks: &[u64; 3]| masks[at / 64] >> (at % 64) & 1 == 1;
                assert_eq!(bit(&to), levels.get(at).is_some_and(|l| *l <= bound), "{at} to {bound}");
                assert_eq!(bit(&from), levels.get(at).is_some_and(|l| *l >= bound), "{at} from {bound}");
            }
        }
    }

    #[test]
    fn lists_go_on_from_mask_to_mask() {
        // [a, b], [], [c | d], of which the third is in two masks.
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
