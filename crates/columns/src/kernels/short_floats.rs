//! Decoding of floats that are stored with reduced precision.

use super::decode::DecodeError;
use forthwith_kernels::{CpuFeatures, for_each_cpu};
use std::ops::Range;

/// Storage format of floats.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ShortFloats {
    /// 16-bit floats.
    Half,
    /// 16-bit floats in byte planes, the lower bytes first.
    SplitHalf,
    /// The upper 1 to 32 bits of 32-bit floats, bit-packed.
    Truncated(u32),
    /// Bit-packed integers of 1 to 32 bits, which divide the range from the first number to the second into
    /// equal steps.
    Quantised(u32, (f64, f64)),
}

/// Decodes the items `wanted` of `from` to floats of `width` 4 or 8 bytes in `into`, which has exactly their
/// size.
pub fn from_short_floats(
    stored: ShortFloats,
    width: usize,
    from: &[u8],
    wanted: Range<usize>,
    into: &mut [u8],
) -> Result<(), DecodeError> {
    from_short_floats_at(CpuFeatures::current(), stored, width, from, wanted, into)
}

fn from_short_floats_at(
    features: CpuFeatures,
    stored: ShortFloats,
    width: usize,
    from: &[u8],
    wanted: Range<usize>,
    into: &mut [u8],
) -> Result<(), DecodeError> {
    let bits = match stored {
        ShortFloats::Half | ShortFloats::SplitHalf => 16,
        ShortFloats::Truncated(bits) | ShortFloats::Quantised(bits, _) => bits,
    };
    let needed = wanted.end.checked_mul(bits as usize).map(|bits| bits.div_ceil(8));
    let room = wanted.len().checked_mul(width);
    let sound = (1..=32).contains(&bits) && matches!(width, 4 | 8) && wanted.start <= wanted.end;
    if !sound || needed.is_none_or(|needed| needed > from.len()) || room != Some(into.len()) {
        return Err(DecodeError::Length { from: from.len(), into: into.len() });
    }
    convert(features, stored, width, from, wanted.start, into);
    Ok(())
}

for_each_cpu! {
    fn convert(stored: ShortFloats, width: usize, from: &[u8], start: usize, into: &mut [u8]) = convert_body
}

/// Decodes floats; the lengths have been checked.
#[inline(always)]
fn convert_body(stored: ShortFloats, width: usize, from: &[u8], start: usize, into: &mut [u8]) {
    let whole = from.as_chunks::<2>().0;
    let (lower, upper) = from.split_at(from.len() / 2);
    match stored {
        ShortFloats::Half => floats(
            width,
            into,
            |first, numbers| {
                for (number, bytes) in numbers.iter_mut().zip(&whole[start + first..]) {
                    *number = u16::from_le_bytes(*bytes).into();
                }
            },
            half,
        ),
        ShortFloats::SplitHalf => floats(
            width,
            into,
            |first, numbers| {
                let bytes = lower[start + first..].iter().zip(&upper[start + first..]);
                for (number, (lower, upper)) in numbers.iter_mut().zip(bytes) {
                    *number = u16::from_le_bytes([*lower, *upper]).into();
                }
            },
            half,
        ),
        ShortFloats::Truncated(bits) => floats(
            width,
            into,
            |first, numbers| unpack(from, bits, start + first, numbers),
            |number| f32::from_bits(number << (32 - bits)),
        ),
        ShortFloats::Quantised(bits, (low, high)) => {
            let step = (high - low) / ((1u64 << bits) - 1) as f64;
            let numbers = |first: usize, numbers: &mut [u32]| unpack(from, bits, start + first, numbers);
            let value = |number: u32| (f64::from(number) * step + low).min(high);
            match width {
                4 => blocks(into.as_chunks_mut::<4>().0, numbers, |n| (value(n) as f32).to_ne_bytes()),
                _ => blocks(into.as_chunks_mut::<8>().0, numbers, |n| value(n).to_ne_bytes()),
            }
        }
    }
}

/// Number of values in a block.
const BLOCK: usize = 64;

#[inline(always)]
fn floats(width: usize, into: &mut [u8], numbers: impl Fn(usize, &mut [u32]), value: impl Fn(u32) -> f32) {
    match width {
        4 => blocks(into.as_chunks_mut::<4>().0, numbers, |number| value(number).to_ne_bytes()),
        _ => blocks(into.as_chunks_mut::<8>().0, numbers, |number| f64::from(value(number)).to_ne_bytes()),
    }
}

/// Fills `into` with the values of numbers, which are fetched in blocks.
#[inline(always)]
fn blocks<const W: usize>(
    into: &mut [[u8; W]],
    fetch: impl Fn(usize, &mut [u32]),
    value: impl Fn(u32) -> [u8; W],
) {
    let mut numbers = [0; BLOCK];
    for (block, into) in into.chunks_mut(BLOCK).enumerate() {
        fetch(block * BLOCK, &mut numbers[..into.len()]);
        for (into, number) in into.iter_mut().zip(&numbers) {
            *into = value(*number);
        }
    }
}

/// Unpacks bit-packed numbers from number `first` on; number 0 starts at the lowest bit of the first byte.
#[inline(always)]
fn unpack(from: &[u8], bits: u32, first: usize, into: &mut [u32]) {
    let mask = (1u64 << bits) - 1;
    for (at, number) in (first..).zip(into) {
        let bit = at as u64 * u64::from(bits);
        let rest = &from[(bit / 8) as usize..];
        let eight = match rest.first_chunk() {
            Some(eight) => u64::from_le_bytes(*eight),
            None => rest.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)),
        };
        *number = (eight >> (bit % 8) & mask) as u32;
    }
}

/// Converts the bits of a 16-bit float.
#[inline(always)]
fn half(bits: u32) -> f32 {
    const BIAS: u32 = 112 << 23;
    let (sign, rest) = ((bits & 0x8000) << 16, (bits & 0x7fff) << 13);
    // Infinities and NaN have the largest exponent in both formats.
    let exponent = if rest >= 0x7c00 << 13 { 2 * BIAS } else { BIAS };
    // Subnormal numbers are multiples of the smallest one.
    let small = f32::from_bits(rest + BIAS + (1 << 23)) - f32::from_bits(BIAS + (1 << 23));
    let size = if rest < 0x400 << 13 { small.to_bits() } else { rest + exponent };
    f32::from_bits(sign | size)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RANGES: [Range<usize>; 4] = [0..1000, 0..0, 999..1000, 37..555];

    /// As the specification has it.
    fn slow_half(bits: u16) -> f32 {
        let sign = if bits >> 15 == 0 { 1.0 } else { -1.0 };
        let (exponent, mantissa) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff));
        match exponent {
            0 => (sign * mantissa * f64::powi(2.0, -24)) as f32,
            31 => f32::from_bits(u32::from(bits >> 15) << 31 | 0x7f80_0000 | u32::from(bits & 0x3ff) << 13),
            _ => (sign * (1024.0 + mantissa) * f64::powi(2.0, exponent - 25)) as f32,
        }
    }

    #[test]
    fn every_half_is_the_float_of_its_bits() {
        let all: Vec<u16> = (0..=u16::MAX).collect();
        let whole: Vec<u8> = all.iter().flat_map(|bits| bits.to_le_bytes()).collect();
        let split: Vec<u8> = (0..2).flat_map(|k| all.iter().map(move |bits| bits.to_le_bytes()[k])).collect();
        let expected: Vec<u32> = all.iter().map(|bits| slow_half(*bits).to_bits()).collect();
        for features in CpuFeatures::available() {
            for (stored, from) in [(ShortFloats::Half, &whole), (ShortFloats::SplitHalf, &split)] {
                for wanted in [0..1 << 16, 1000..1065, 65535..65536] {
                    let mut into = vec![0; wanted.len() * 4];
                    from_short_floats_at(features, stored, 4, from, wanted.clone(), &mut into).unwrap();
                    let found = into.as_chunks().0.iter().map(|bytes| u32::from_ne_bytes(*bytes));
                    assert!(found.eq(expected[wanted.clone()].iter().copied()), "{features:?} {stored:?}");
                    let mut into = vec![0; wanted.len() * 8];
                    from_short_floats_at(features, stored, 8, from, wanted.clone(), &mut into).unwrap();
                    for (at, bytes) in wanted.zip(into.as_chunks().0) {
                        let (found, expected) = (f64::from_ne_bytes(*bytes), slow_half(all[at]));
                        assert!(found == f64::from(expected) || (found.is_nan() && expected.is_nan()));
                    }
                }
            }
        }
    }

    #[test]
    fn packed_floats_are_fetched_bit_by_bit() {
        let mut random = 1u64;
        let bytes: Vec<u8> = std::iter::repeat_with(|| {
            random = random.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
            (random >> 40) as u8
        })
        .take(4000)
        .collect();
        let bit = |at: usize| u32::from(bytes[at / 8] >> (at % 8) & 1);
        for bits in 1..=32usize {
            let from = &bytes[..(1000 * bits).div_ceil(8)];
            let number = |at: usize| (0..bits).fold(0, |number, k| number | bit(at * bits + k) << k);
            let (low, high) = (-1.5, 2.25);
            let step = (high - low) / ((1u64 << bits) - 1) as f64;
            for (features, wanted) in CpuFeatures::available()
                .into_iter()
                .flat_map(|features| RANGES.map(|range| (features, range)))
            {
                let run = |stored, width| {
                    let mut into = vec![0; wanted.len() * width];
                    from_short_floats_at(features, stored, width, from, wanted.clone(), &mut into).unwrap();
                    into
                };
                let truncated = |at: usize| f32::from_bits(number(at) << (32 - bits)).to_ne_bytes();
                let expected: Vec<u8> = wanted.clone().flat_map(truncated).collect();
                assert_eq!(run(ShortFloats::Truncated(bits as u32), 4), expected, "{bits} {wanted:?}");
                let value = |at: usize| (f64::from(number(at)) * step + low).min(high);
                let quantised = ShortFloats::Quantised(bits as u32, (low, high));
                let expected: Vec<u8> = wanted.clone().flat_map(|at| value(at).to_ne_bytes()).collect();
                assert_eq!(run(quantised, 8), expected, "{bits} {wanted:?}");
                let expected: Vec<u8> =
                    wanted.clone().flat_map(|at| (value(at) as f32).to_ne_bytes()).collect();
                assert_eq!(run(quantised, 4), expected, "{bits} {wanted:?}");
            }
        }
    }

    #[test]
    fn lengths_are_compared() {
        let short = |stored, width, from: &[u8], wanted: Range<usize>, room: usize| {
            from_short_floats(stored, width, from, wanted, &mut vec![0; room])
        };
        assert!(short(ShortFloats::Half, 4, &[0; 4], 0..2, 8).is_ok());
        assert!(short(ShortFloats::Half, 4, &[0; 3], 0..2, 8).is_err());
        assert!(short(ShortFloats::Half, 4, &[0; 4], 0..2, 7).is_err());
        assert!(short(ShortFloats::Half, 2, &[0; 4], 0..2, 4).is_err());
        assert!(short(ShortFloats::Truncated(10), 4, &[0; 2], 0..2, 8).is_err());
        assert!(short(ShortFloats::Truncated(10), 4, &[0; 3], 0..2, 8).is_ok());
        assert!(short(ShortFloats::Truncated(33), 4, &[0; 9], 0..2, 8).is_err());
        assert!(short(ShortFloats::Quantised(0, (0.0, 1.0)), 8, &[0; 9], 0..1, 8).is_err());
    }
}
