//! Positions of a few byte values in text, 64 bytes at a time.

use crate::CpuFeatures;
use crate::levels::compare::{self, Compare, for_each_compare};

/// Number of bytes of a mask.
pub const LANES: usize = 64;

/// Replaces `masks` by one mask for every 64 bytes begun: bit `i` is set if byte `i` is one of the four
/// `bytes`.
pub fn marks(text: &[u8], bytes: [u8; 4], masks: &mut Vec<u64>) {
    masks.clear();
    masks.reserve(text.len().div_ceil(LANES));
    marks_by(CpuFeatures::current(), text, bytes, masks);
}

for_each_compare!(fn marks_by(text: &[u8], bytes: [u8; 4], masks: &mut Vec<u64>) = marks_body);

#[inline(always)]
fn marks_body<C: Compare>(text: &[u8], bytes: [u8; 4], masks: &mut Vec<u64>) {
    let (blocks, rest) = text.as_chunks::<LANES>();
    for block in blocks {
        masks.push(mask::<C>(block, bytes));
    }
    if !rest.is_empty() {
        let mut block = [0; LANES];
        block[..rest.len()].copy_from_slice(rest);
        masks.push(mask::<C>(&block, bytes) & ((1 << rest.len()) - 1));
    }
}

#[inline(always)]
fn mask<C: Compare>(block: &compare::Block, bytes: [u8; 4]) -> u64 {
    let mut mask = 0;
    for byte in bytes {
        // SAFETY: `C` is of the generation that this is compiled for.
        mask |= unsafe { C::equal(block, byte) };
    }
    mask
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cpu_finds_what_a_loop_finds() {
        let mut seed = 5_u64;
        for length in (0..200).chain([1 << 12]) {
            let mut next = || {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                b",\n\"\rxy\0\x80;"[(seed >> 33) as usize % 9]
            };
            let text: Vec<u8> = (0..length).map(|_| next()).collect();
            for bytes in [*b",\n\"\r", [0; 4]] {
                for features in CpuFeatures::available() {
                    let mut masks = Vec::new();
                    marks_by(features, &text, bytes, &mut masks);
                    assert_eq!(masks.len(), text.len().div_ceil(LANES));
                    let found = (0..text.len()).filter(|at| masks[at / LANES] >> (at % LANES) & 1 == 1);
                    let wanted = (0..text.len()).filter(|at| bytes.contains(&text[*at]));
                    assert!(found.eq(wanted), "{} {text:?}", features.name());
                    let set: u32 = masks.iter().map(|mask| mask.count_ones()).sum();
                    assert_eq!(set as usize, text.iter().filter(|byte| bytes.contains(byte)).count());
                }
            }
        }
    }
}
