//! Encoding of items as byte planes and bits, the inverse of `planes`.

use super::copy::ask_ahead;
use super::decode::DecodeError;
use super::planes::Planes;
use forthwith_kernels::{CpuFeatures, for_each_cpu};

/// Splits items of `width` (2, 4 or 8) bytes into planes: `into` gets the least significant bytes of all
/// items, then the next ones. It has the length of `from`.
pub fn to_planes(planes: Planes, width: usize, from: &[u8], into: &mut [u8]) -> Result<(), DecodeError> {
    to_planes_at(CpuFeatures::current(), planes, width, from, into)
}

fn to_planes_at(
    features: CpuFeatures,
    planes: Planes,
    width: usize,
    from: &[u8],
    into: &mut [u8],
) -> Result<(), DecodeError> {
    if !matches!(width, 2 | 4 | 8) || from.len() != into.len() || !from.len().is_multiple_of(width) {
        return Err(DecodeError::Length { from: from.len(), into: into.len() });
    }
    match width {
        2 => split2(features, planes, from, into),
        4 => split4(features, planes, from, into),
        _ => split8(features, planes, from, into),
    }
    Ok(())
}

/// Summary of the numbers that [`differences_to_planes`] wrote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Differences {
    /// The first number.
    pub first: u64,
    /// Bitwise or of all differences, without the first number.
    pub bits: u64,
    /// Sum of the first number and all differences, which is the last number.
    pub sum: u64,
}

/// Delta-encodes 64-bit numbers in native byte order, plus `more`, to byte planes; the first number is kept.
/// The result describes the written bytes, even if another thread changes the numbers meanwhile.
pub fn differences_to_planes(
    from: &[[u8; 8]],
    more: u64,
    into: &mut [u8],
) -> Result<Differences, DecodeError> {
    if from.len().checked_mul(8) != Some(into.len()) {
        return Err(DecodeError::Length { from: from.len(), into: into.len() });
    }
    Ok(differences(CpuFeatures::current(), from, more, into))
}

/// Packs booleans into bits, least significant first; the last byte is padded with zeros.
pub fn to_bits(from: &[u8], into: &mut [u8]) -> Result<(), DecodeError> {
    if from.len().div_ceil(8) != into.len() {
        return Err(DecodeError::Length { from: from.len(), into: into.len() });
    }
    bits(CpuFeatures::current(), from, into);
    Ok(())
}

for_each_cpu! {
    fn split2(planes: Planes, from: &[u8], into: &mut [u8]) = split2_body
}

for_each_cpu! {
    fn split4(planes: Planes, from: &[u8], into: &mut [u8]) = split4_body
}

for_each_cpu! {
    fn split8(planes: Planes, from: &[u8], into: &mut [u8]) = split8_body
}

for_each_cpu! {
    fn differences(from: &[[u8; 8]], more: u64, into: &mut [u8]) -> Differences = differences_body
}

for_each_cpu! {
    fn bits(from: &[u8], into: &mut [u8]) = bits_body
}

/// Number of items in a block, which stays in the first-level cache until its last plane is written.
const BLOCK: usize = 512;

macro_rules! split {
    ($name:ident, $width:literal, $number:ty, $signed:ty) => {
        #[inline(always)]
        fn $name(planes: Planes, from: &[u8], into: &mut [u8]) {
            let items = from.as_chunks::<$width>().0;
            let mut numbers = [0 as $number; BLOCK];
            for (at, block) in items.chunks(BLOCK).enumerate() {
                ask_ahead(items, BLOCK, at);
                let numbers = &mut numbers[..block.len()];
                match planes {
                    Planes::Plain => {
                        for (number, item) in numbers.iter_mut().zip(block) {
                            *number = <$number>::from_ne_bytes(*item);
                        }
                    }
                    Planes::Zigzag => {
                        for (number, item) in numbers.iter_mut().zip(block) {
                            let signed = <$signed>::from_ne_bytes(*item);
                            *number = ((signed << 1) ^ (signed >> (<$signed>::BITS - 1))) as $number;
                        }
                    }
                }
                for (plane, into) in into.chunks_exact_mut(items.len()).enumerate() {
                    let into = &mut into[at * BLOCK..][..block.len()];
                    for (byte, number) in into.iter_mut().zip(&*numbers) {
                        *byte = (number >> (8 * plane)) as u8;
                    }
                }
            }
        }
    };
}

split!(split2_body, 2, u16, i16);
split!(split4_body, 4, u32, i32);
split!(split8_body, 8, u64, i64);

#[inline(always)]
fn differences_body(from: &[[u8; 8]], more: u64, into: &mut [u8]) -> Differences {
    let mut found = Differences::default();
    // The number before the block, and those of the block.
    let mut numbers = [0u64; BLOCK + 1];
    let mut steps = [0u64; BLOCK];
    for (at, block) in from.chunks(BLOCK).enumerate() {
        ask_ahead(from, BLOCK, at);
        for (number, item) in numbers[1..].iter_mut().zip(block) {
            *number = u64::from_ne_bytes(*item).wrapping_add(more);
        }
        let steps = &mut steps[..block.len()];
        for ((step, before), number) in steps.iter_mut().zip(&numbers[..BLOCK]).zip(&numbers[1..]) {
            *step = number.wrapping_sub(*before);
        }
        numbers[0] = numbers[block.len()];
        let (first, rest) = steps.split_at(usize::from(at == 0));
        found.first = first.first().copied().unwrap_or(found.first);
        found.bits |= rest.iter().fold(0, |bits, step| bits | step);
        found.sum = steps.iter().fold(found.sum, |sum, step| sum.wrapping_add(*step));
        let all = steps.iter().fold(0, |all, step| all | step);
        for (plane, into) in into.chunks_exact_mut(from.len()).enumerate() {
            let into = &mut into[at * BLOCK..][..block.len()];
            if all >> (8 * plane) == 0 {
                into.fill(0);
                continue;
            }
            for (byte, step) in into.iter_mut().zip(&*steps) {
                *byte = (step >> (8 * plane)) as u8;
            }
        }
    }
    found
}

#[inline(always)]
fn bits_body(from: &[u8], into: &mut [u8]) {
    let (eights, rest) = from.as_chunks::<8>();
    let (bytes, last) = into.split_at_mut(eights.len());
    for (byte, eight) in bytes.iter_mut().zip(eights) {
        *byte = eight.iter().enumerate().fold(0, |byte, (at, truth)| byte | u8::from(*truth != 0) << at);
    }
    if let Some(byte) = last.first_mut() {
        *byte = rest.iter().enumerate().fold(0, |byte, (at, truth)| byte | u8::from(*truth != 0) << at);
    }
}

#[cfg(test)]
mod tests {
    use super::super::planes::{from_planes, offsets_from_planes};
    use super::*;

    #[test]
    fn what_is_taken_apart_is_put_together_again() {
        for count in [0usize, 1, 7, 511, 512, 513, 2000] {
            let bytes: Vec<u8> = (0..count * 8).map(|at| (at * at % 251) as u8).collect();
            for width in [2, 4, 8] {
                for planes in [Planes::Plain, Planes::Zigzag] {
                    for features in CpuFeatures::available() {
                        let mut apart = vec![0; bytes.len()];
                        to_planes_at(features, planes, width, &bytes, &mut apart).unwrap();
                        let mut back = vec![0; bytes.len()];
                        from_planes(planes, width, &apart, 0..bytes.len() / width, &mut back).unwrap();
                        assert_eq!(back, bytes, "{count} {width} {planes:?} {features:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn differences_become_the_ends_again() {
        let ends: Vec<u64> = (0..1500u64).map(|at| at * at).collect();
        let native: Vec<[u8; 8]> = ends.iter().map(|end| end.to_ne_bytes()).collect();
        let mut apart = vec![0; ends.len() * 8];
        let found = differences_to_planes(&native, 0, &mut apart).unwrap();
        assert_eq!(found, Differences { first: 0, bits: 4095, sum: 1499 * 1499 });
        let mut back = vec![0; ends.len() * 8];
        assert_eq!(offsets_from_planes(8, &apart, 0..1500, [0, u64::MAX], 0, &mut back), Ok(true));
        let back: Vec<u64> = back.as_chunks::<8>().0.iter().map(|bytes| u64::from_ne_bytes(*bytes)).collect();
        assert_eq!(back, ends);
        for features in CpuFeatures::available() {
            for count in [1, 2, 511, 512, 513, 1500] {
                let less: Vec<[u8; 8]> =
                    ends[..count].iter().map(|end| end.wrapping_sub(9).to_ne_bytes()).collect();
                let (mut one, mut other) = (vec![0; count * 8], vec![0; count * 8]);
                let found = differences(features, &less, 9, &mut one);
                assert_eq!(found, differences(features, &native[..count], 0, &mut other));
                assert_eq!((found.first, found.sum), (0, ends[count - 1]));
                assert!(one == other);
            }
        }
        let falls = [9u64, 4].map(u64::to_ne_bytes);
        let found = differences_to_planes(&falls, 1, &mut [0; 16]).unwrap();
        assert_eq!(found, Differences { first: 10, bits: 5u64.wrapping_neg(), sum: 5 });
        assert_eq!(differences_to_planes(&[], 1, &mut []).unwrap(), Differences::default());
    }

    #[test]
    fn truths_become_bits() {
        let mut into = [0xff; 2];
        to_bits(&[1, 0, 0, 2, 0, 0, 0, 1, 0, 1], &mut into).unwrap();
        assert_eq!(into, [0b1000_1001, 0b10]);
        assert!(to_bits(&[1; 9], &mut [0]).is_err());
        assert!(to_planes(Planes::Plain, 4, &[0; 8], &mut [0; 4]).is_err());
        assert!(differences_to_planes(&[[1; 8]], 0, &mut [0; 4]).is_err());
    }
}
