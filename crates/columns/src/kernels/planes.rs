//! Numbers in planes of bytes: the first bytes of all numbers, then all second bytes, and so on.

use super::decode::DecodeError;
use forthwith_kernels::{CpuFeatures, for_each_cpu};
use std::ops::Range;

/// Encoding of numbers in planes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Planes {
    /// The bytes of the item.
    Plain,
    /// Zigzag-encoded signed numbers.
    Zigzag,
}

/// Decodes the items `wanted` of `from`, numbers of `width` (2, 4 or 8) bytes with the least significant
/// plane first, to `into`, which has exactly their size.
pub fn from_planes(
    planes: Planes,
    width: usize,
    from: &[u8],
    wanted: Range<usize>,
    into: &mut [u8],
) -> Result<(), DecodeError> {
    from_planes_at(CpuFeatures::current(), planes, width, from, wanted, into)
}

pub(super) fn from_planes_at(
    features: CpuFeatures,
    planes: Planes,
    width: usize,
    from: &[u8],
    wanted: Range<usize>,
    into: &mut [u8],
) -> Result<(), DecodeError> {
    check(width, from, &wanted)?;
    if wanted.len().checked_mul(width) != Some(into.len()) {
        return Err(DecodeError::Length { from: from.len(), into: into.len() });
    }
    match width {
        2 => put2(features, planes, from, wanted, into),
        4 => put4(features, planes, from, wanted, into),
        _ => put8(features, planes, from, wanted, into),
    }
    Ok(())
}

/// Returns the sum of the first `items` numbers of `from`, modulo 2^64, which decodes delta encoding up to
/// there.
pub fn sum_of_planes(width: usize, from: &[u8], items: usize) -> Result<u64, DecodeError> {
    check(width, from, &(0..items))?;
    let planes = from.chunks_exact((from.len() / width).max(1));
    let sum = |plane: &[u8]| {
        plane[..items].chunks(1 << 16).map(|part| u64::from(sum_bytes(CpuFeatures::current(), part))).sum()
    };
    Ok(planes.enumerate().fold(0u64, |all, (at, plane)| {
        let sum: u64 = sum(plane);
        all.wrapping_add(sum << (8 * at))
    }))
}

/// Decodes the delta-encoded offsets `wanted` of `from`: the running sums from `start`, plus `base`. Returns
/// whether no difference and no sum exceeds `most`, which is clamped to 2^62; otherwise the content of `into`
/// is arbitrary.
pub fn offsets_from_planes(
    width: usize,
    from: &[u8],
    wanted: Range<usize>,
    [start, most]: [u64; 2],
    base: i64,
    into: &mut [u8],
) -> Result<bool, DecodeError> {
    check(width, from, &wanted)?;
    if wanted.len().checked_mul(8) != Some(into.len()) || !matches!(width, 4 | 8) {
        return Err(DecodeError::Length { from: from.len(), into: into.len() });
    }
    let sums = Sums { start, most: most.min(1 << 62), base };
    Ok(match width {
        4 => sums4(CpuFeatures::current(), from, wanted, sums, into),
        _ => sums8(CpuFeatures::current(), from, wanted, sums, into),
    })
}

#[derive(Clone, Copy)]
struct Sums {
    start: u64,
    most: u64,
    base: i64,
}

fn check(width: usize, from: &[u8], wanted: &Range<usize>) -> Result<(), DecodeError> {
    let sound = matches!(width, 2 | 4 | 8) && from.len().is_multiple_of(width);
    if sound && wanted.start <= wanted.end && wanted.end <= from.len() / width {
        Ok(())
    } else {
        Err(DecodeError::Length { from: from.len(), into: wanted.end.saturating_sub(wanted.start) })
    }
}

for_each_cpu! {
    fn sum_bytes(bytes: &[u8]) -> u32 = sum_bytes_body
}

for_each_cpu! {
    fn put2(planes: Planes, from: &[u8], wanted: Range<usize>, into: &mut [u8]) = put2_body
}

for_each_cpu! {
    fn put4(planes: Planes, from: &[u8], wanted: Range<usize>, into: &mut [u8]) = put4_body
}

for_each_cpu! {
    fn put8(planes: Planes, from: &[u8], wanted: Range<usize>, into: &mut [u8]) = put8_body
}

for_each_cpu! {
    fn sums4(from: &[u8], wanted: Range<usize>, sums: Sums, into: &mut [u8]) -> bool = sums4_body
}

for_each_cpu! {
    fn sums8(from: &[u8], wanted: Range<usize>, sums: Sums, into: &mut [u8]) -> bool = sums8_body
}

/// Sums at most 65536 bytes.
#[inline(always)]
fn sum_bytes_body(bytes: &[u8]) -> u32 {
    bytes.iter().map(|byte| u32::from(*byte)).sum()
}

/// Returns the range `wanted` of each plane. The lengths have been checked.
#[inline(always)]
fn split<const W: usize>(from: &[u8], wanted: Range<usize>) -> [&[u8]; W] {
    let count = from.len() / W;
    std::array::from_fn(|at| &from[at * count..(at + 1) * count][wanted.clone()])
}

// Bytes are named one by one: a closure for them stays a call in some builds, and nothing is vectorised then.
macro_rules! put {
    ($name:ident, $width:literal, $number:ty, $signed:ty, $($plane:ident)+) => {
        #[inline(always)]
        fn $name(planes: Planes, from: &[u8], wanted: Range<usize>, into: &mut [u8]) {
            let count = wanted.len();
            let [$($plane),+]: [&[u8]; $width] = split(from, wanted);
            $(let $plane = &$plane[..count];)+
            let into = &mut into.as_chunks_mut::<$width>().0[..count];
            match planes {
                Planes::Plain => {
                    for at in 0..count {
                        into[at] = <$number>::from_le_bytes([$($plane[at]),+]).to_ne_bytes();
                    }
                }
                Planes::Zigzag => {
                    for at in 0..count {
                        let number = <$number>::from_le_bytes([$($plane[at]),+]);
                        let sign = ((number & 1) as $signed).wrapping_neg() as $number;
                        into[at] = ((number >> 1) ^ sign).to_ne_bytes();
                    }
                }
            }
        }
    };
}

put!(put2_body, 2, u16, i16, a b);
put!(put4_body, 4, u32, i32, a b c d);
put!(put8_body, 8, u64, i64, a b c d e f g h);

macro_rules! sums {
    ($name:ident, $width:literal, $number:ty, $($plane:ident)+) => {
        #[inline(always)]
        fn $name(from: &[u8], wanted: Range<usize>, sums: Sums, into: &mut [u8]) -> bool {
            let count = wanted.len();
            let [$($plane),+]: [&[u8]; $width] = split(from, wanted);
            $(let $plane = &$plane[..count];)+
            let into = &mut into.as_chunks_mut::<8>().0[..count];
            let Sums { start, most, base } = sums;
            let mut sum = start;
            let mut good = start <= most;
            for at in 0..count {
                let step = u64::from(<$number>::from_le_bytes([$($plane[at]),+]));
                // If both were at most `most`, the sum does not wrap before this is detected.
                sum = sum.wrapping_add(step);
                good &= (step <= most) & (sum <= most);
                into[at] = (sum as i64).wrapping_add(base).to_ne_bytes();
            }
            good
        }
    };
}

sums!(sums4_body, 4, u32, a b c d);
sums!(sums8_body, 8, u64, a b c d e f g h);

#[cfg(test)]
mod tests {
    use super::*;

    fn planes<const W: usize>(numbers: &[[u8; W]]) -> Vec<u8> {
        (0..W).flat_map(|k| numbers.iter().map(move |number| number[k])).collect()
    }

    #[test]
    fn items_are_put_together_from_any_part_of_the_planes() {
        let numbers: Vec<u64> = (0..1000).map(|n: u64| n.wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect();
        for features in CpuFeatures::available() {
            for wanted in [0..1000, 0..0, 1..1000, 37..555] {
                for planes_are in [Planes::Plain, Planes::Zigzag] {
                    let signed = |n: u64| ((n >> 1) as i64) ^ -((n & 1) as i64);
                    macro_rules! of {
                        ($number:ty, $signed:ty, $width:literal) => {
                            let narrow: Vec<_> = numbers.iter().map(|n| *n as $number).collect();
                            let from = planes(&narrow.iter().map(|n| n.to_le_bytes()).collect::<Vec<_>>());
                            let mut into = vec![0; wanted.len() * $width];
                            from_planes_at(features, planes_are, $width, &from, wanted.clone(), &mut into)
                                .unwrap();
                            let wide = |n: &$number| match planes_are {
                                Planes::Plain => *n,
                                Planes::Zigzag => signed(u64::from(*n)) as $number,
                            };
                            let expected: Vec<u8> =
                                narrow[wanted.clone()].iter().flat_map(|n| wide(n).to_ne_bytes()).collect();
                            assert_eq!(into, expected, "{features:?} {wanted:?} {planes_are:?}");
                        };
                    }
                    of!(u16, i16, 2);
                    of!(u32, i32, 4);
                    of!(u64, i64, 8);
                }
            }
        }
    }

    #[test]
    fn differences_become_offsets() {
        let steps: Vec<u64> = (0..70_000).map(|n| n * n % 300).collect();
        let from = planes(&steps.iter().map(|n| n.to_le_bytes()).collect::<Vec<_>>());
        let sum = |to: usize| steps[..to].iter().sum::<u64>();
        assert_eq!(sum_of_planes(8, &from, 70_000), Ok(sum(70_000)));
        assert_eq!(sum_of_planes(8, &from, 1234), Ok(sum(1234)));
        let wanted = 1234..70_000;
        let mut into = vec![0; wanted.len() * 8];
        let most = sum(70_000);
        let made = offsets_from_planes(8, &from, wanted.clone(), [sum(1234), most], 5, &mut into);
        assert_eq!(made, Ok(true));
        let ends: Vec<i64> = into.as_chunks::<8>().0.iter().map(|bytes| i64::from_ne_bytes(*bytes)).collect();
        assert!(wanted.clone().zip(&ends).all(|(at, end)| *end == sum(at + 1) as i64 + 5));
        let made = offsets_from_planes(8, &from, wanted, [sum(1234), most - 1], 5, &mut into);
        assert_eq!(made, Ok(false));
    }

    #[test]
    fn a_step_back_is_noticed() {
        let from = planes(&[5u64.to_le_bytes(), (-1i64).to_le_bytes(), 3u64.to_le_bytes()]);
        let mut into = [0; 24];
        assert_eq!(offsets_from_planes(8, &from, 0..3, [0, 100], 0, &mut into), Ok(false));
        assert_eq!(offsets_from_planes(8, &from, 2..3, [4, 100], 0, &mut into[..8]), Ok(true));
    }

    #[test]
    fn lengths_are_compared() {
        let mut into = [0; 8];
        assert!(from_planes(Planes::Plain, 4, &[0; 7], 0..1, &mut into[..4]).is_err());
        assert!(from_planes(Planes::Plain, 4, &[0; 8], 0..3, &mut into).is_err());
        assert!(from_planes(Planes::Plain, 4, &[0; 8], 0..2, &mut into[..4]).is_err());
        assert!(from_planes(Planes::Plain, 3, &[0; 9], 0..1, &mut into[..3]).is_err());
        assert_eq!(sum_of_planes(8, &[], 0), Ok(0));
    }
}
