//! Encodes floating-point numbers with fewer bits.

use super::elements::{Elements, changed};
use crate::coding::Kind;
use forthwith_columns::DType;
use forthwith_columns::kernels::{Planes, to_planes};
use forthwith_plan::{Error, Result};

/// Replaces `into` by the bytes of a page of floats of type `from`.
pub(super) fn narrow(elements: &Elements, from: DType, raw: &[u8], into: &mut Vec<u8>) -> Result<()> {
    into.clear();
    match from {
        DType::Float32 => {
            let (numbers, _) = raw.as_chunks::<4>();
            put(elements, numbers.iter().map(|bytes| f64::from(f32::from_ne_bytes(*bytes))), into)
        }
        DType::Float64 => {
            let (numbers, _) = raw.as_chunks::<8>();
            put(elements, numbers.iter().map(|bytes| f64::from_ne_bytes(*bytes)), into)
        }
        _ => Err(changed()),
    }
}

fn put(elements: &Elements, numbers: impl ExactSizeIterator<Item = f64>, into: &mut Vec<u8>) -> Result<()> {
    let bits = u32::from(elements.bits);
    match elements.kind {
        Kind::Plain(DType::Float32) => into.extend(numbers.flat_map(|number| (number as f32).to_le_bytes())),
        Kind::Split(DType::Float32) => {
            let singles: Vec<u8> = numbers.flat_map(|number| (number as f32).to_ne_bytes()).collect();
            into.resize(singles.len(), 0);
            return to_planes(Planes::Plain, 4, &singles, into).map_err(|_| changed());
        }
        Kind::Half => into.extend(numbers.flat_map(|number| half(number as f32).to_le_bytes())),
        Kind::Truncated if (1..=32).contains(&bits) => {
            pack(bits, numbers.map(|number| (number as f32).to_bits() >> (32 - bits)), into);
        }
        Kind::Quantised if (1..=32).contains(&bits) => {
            let (low, high) = elements.range.ok_or_else(changed)?;
            let most = ((1u64 << bits) - 1) as f64;
            let scale = most / (high - low);
            let mut outside = None;
            let steps = numbers.map(|number| {
                if !(low <= number && number <= high) {
                    outside.get_or_insert(number);
                }
                // Rounds as ROOT does; NaN becomes 0.
                (0.5 + (number - low) * scale).min(most) as u32
            });
            pack(bits, steps, into);
            if let Some(number) = outside {
                let what =
                    format!("the number {number}, which is outside the range {low} to {high} of its field");
                return Err(Error::invalid(what));
            }
        }
        _ => return Err(changed()),
    }
    Ok(())
}

/// Appends numbers of `bits` bits, contiguous from the lowest bit of the first byte.
fn pack(bits: u32, numbers: impl ExactSizeIterator<Item = u32>, into: &mut Vec<u8>) {
    into.reserve((numbers.len() * bits as usize).div_ceil(8));
    let (mut held, mut count) = (0u64, 0);
    for number in numbers {
        held |= u64::from(number) << count;
        count += bits;
        if count >= 32 {
            into.extend((held as u32).to_le_bytes());
            held >>= 32;
            count -= 32;
        }
    }
    into.extend(&held.to_le_bytes()[..count.div_ceil(8) as usize]);
}

/// Rounds to a 16-bit float, half to even.
fn half(number: f32) -> u16 {
    const LARGEST: u32 = 0x477f_f000;
    const LEAST_NORMAL: u32 = 0x3880_0000;
    const LEAST: u32 = 0x3300_0000;
    let bits = number.to_bits();
    let (sign, size) = ((bits >> 16) as u16 & 0x8000, bits & 0x7fff_ffff);
    if size > f32::INFINITY.to_bits() {
        // NaN keeps its upper bits, of which at least one must be set.
        return sign | 0x7c00 | ((size >> 13) as u16 & 0x3ff).max(1);
    }
    if size >= LARGEST {
        return sign | 0x7c00;
    }
    if size >= LEAST_NORMAL {
        let rounded = size + 0xfff + (size >> 13 & 1);
        return sign | ((rounded - 0x3800_0000) >> 13) as u16;
    }
    if size < LEAST {
        return sign;
    }
    let mantissa = size & 0x7f_ffff | 0x80_0000;
    let shift = 126 - (size >> 23);
    let (kept, rest, middle) = (mantissa >> shift, mantissa & ((1 << shift) - 1), 1 << (shift - 1));
    let up = rest > middle || rest == middle && kept & 1 == 1;
    sign | (kept + u32::from(up)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use forthwith_columns::LogicalType;

    #[test]
    fn every_half_is_itself_and_what_is_between_rounds_to_even() {
        for bits in 0..=u16::MAX {
            let number = LogicalType::half(bits);
            if number.is_nan() {
                assert!(LogicalType::half(half(number)).is_nan());
                continue;
            }
            assert_eq!(half(number), bits);
            if number.is_finite() && bits & 0x7fff < 0x7bff {
                let next = LogicalType::half(bits + 1);
                let middle = (number + next) / 2.0;
                assert_eq!(half(middle), bits + (bits & 1), "{middle}");
                let (less, more) = (middle.abs().next_down(), middle.abs().next_up());
                assert_eq!(half(less.copysign(number)), bits);
                assert_eq!(half(more.copysign(number)), bits + 1);
            }
        }
        assert_eq!(half(65519.996), 0x7bff);
        assert_eq!(half(-65520.0), 0xfc00);
    }

    #[test]
    fn numbers_are_packed_from_the_lowest_bit_on() {
        for bits in 1..=32u32 {
            let mask = (1u64 << bits) - 1;
            let numbers: Vec<u32> =
                (1..20u64).map(|n| (n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20 & mask) as u32).collect();
            let mut packed = Vec::new();
            pack(bits, numbers.iter().copied(), &mut packed);
            assert_eq!(packed.len(), (19 * bits as usize).div_ceil(8));
            for (at, number) in numbers.iter().enumerate() {
                let bit = |bit: u32| {
                    let place = at * bits as usize + bit as usize;
                    u32::from(packed[place / 8] >> (place % 8) & 1) << bit
                };
                assert_eq!((0..bits).map(bit).sum::<u32>(), *number, "{bits} bits");
            }
        }
    }
}
