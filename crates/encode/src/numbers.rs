//! Conversion of numbers from columns to their encoding.

use crate::{EncodeError, rows::Rows};
use forthwith_columns::{Column, DType, Encoding, with_integer};
use std::borrow::Cow;

/// Appends `value` as a zigzag varint.
pub fn zigzag(value: i64, out: &mut Vec<u8>) {
    leb128(((value << 1) ^ (value >> 63)) as u64, out);
}

/// Appends an unsigned LEB128 integer.
pub(crate) fn leb128(mut rest: u64, out: &mut Vec<u8>) {
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

/// Returns whether numbers of type `from` may be written as type `to`. Integers are range-checked later, one
/// by one; floats may be rounded.
pub(crate) fn converts(from: DType, to: DType) -> bool {
    let (int_from, int_to) = (whole(from), whole(to));
    match (int_from, int_to) {
        (true, true) => true, // each value is looked at
        (true, false) => matches!(to, DType::Float32 | DType::Float64),
        (false, false) => {
            from == to
                || matches!((from, to), (DType::Float32 | DType::Float64, DType::Float32 | DType::Float64))
        }
        (false, true) => false,
    }
}

pub(crate) fn whole(dtype: DType) -> bool {
    !matches!(dtype, DType::Bool | DType::Float32 | DType::Float64)
}

/// Returns the first `rows.count()` integers of a column, checked to be within the range of `to`. Hidden rows
/// may be 0.
pub(crate) fn integers<'a>(
    column: &'a Column,
    rows: &Rows,
    to: DType,
    member: &str,
) -> Result<Cow<'a, [i64]>, EncodeError> {
    let count = rows.count() as usize; // no more than there are
    if column.dtype() == DType::Int64
        && to == DType::Int64
        && let Some(items) = column.as_i64()
    {
        return Ok(Cow::Borrowed(&items[..count]));
    }
    let (least, most): (i128, i128) = with_integer!(to, T => (T::MIN.into(), T::MAX.into()),
        _ => (i64::MIN.into(), i64::MAX.into()),
    );
    let mut found = Vec::with_capacity(count);
    for at in 0..count {
        let value = column.integer(at).unwrap_or_default();
        if !rows.sees(at) {
            found.push(0);
            continue;
        }
        if !(least..=most).contains(&value) {
            return Err(EncodeError::range(member, at, value.to_string(), to.name().into()));
        }
        // `u64` keeps its bits.
        found.push(value as i64);
    }
    Ok(found.into())
}

fn real(column: &Column, at: usize) -> f64 {
    match column.dtype() {
        DType::Float32 => column.item::<f32>(at).unwrap_or_default().into(),
        DType::Float64 => column.item::<f64>(at).unwrap_or_default(),
        _ => column.integer(at).unwrap_or_default() as f64,
    }
}

/// Returns the numbers of a column in native byte order, converted to the type of `wire`.
pub(crate) fn converted<'a>(
    column: &'a Column,
    rows: &Rows,
    wire: Encoding,
    member: &str,
) -> Result<Cow<'a, [u8]>, EncodeError> {
    let count = rows.count() as usize; // no more than there are
    let to = wire.dtype();
    let is_written = match wire {
        Encoding::Scaled { to, .. } | Encoding::Truncated { to, .. } => !whole(to) && to != DType::Bool,
        Encoding::Big(_)
        | Encoding::Little(_)
        | Encoding::Bool
        | Encoding::StrictBool
        | Encoding::Widened => true,
        _ => false,
    };
    if !is_written {
        return Err(EncodeError::Unsupported { member: member.into(), what: format!("{wire:?}") });
    }
    if column.dtype() == to {
        let bytes = column.as_bytes().get(..count * to.size());
        return bytes.map(Cow::Borrowed).ok_or(EncodeError::Changed);
    }
    let mut bytes = Vec::with_capacity(count * to.size());
    match to {
        DType::Float32 => {
            (0..count).for_each(|at| bytes.extend((real(column, at) as f32).to_ne_bytes()));
        }
        DType::Float64 => (0..count).for_each(|at| bytes.extend(real(column, at).to_ne_bytes())),
        _ => {
            let numbers = integers(column, rows, to, member)?;
            with_integer!(to, T => numbers.iter().for_each(|number| bytes.extend((*number as T).to_ne_bytes())),
                _ => return Err(EncodeError::Changed),
            );
        }
    }
    Ok(bytes.into())
}

/// Appends numbers, given in native byte order, in the encoding `wire`. Returns `None` if that encoding can
/// only be read.
pub fn store_numbers(wire: Encoding, bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let width = wire.dtype().size();
    let native = |big: bool| width == 1 || big == cfg!(target_endian = "big");
    match wire {
        Encoding::Bool | Encoding::StrictBool => out.extend(bytes.iter().map(|byte| u8::from(*byte != 0))),
        Encoding::Big(_) if native(true) => out.extend_from_slice(bytes),
        Encoding::Little(_) if native(false) => out.extend_from_slice(bytes),
        // Opposite of the native byte order.
        Encoding::Big(_) | Encoding::Little(_) => match width {
            2 => bytes
                .as_chunks()
                .0
                .iter()
                .for_each(|x| out.extend(u16::from_ne_bytes(*x).swap_bytes().to_ne_bytes())),
            4 => bytes
                .as_chunks()
                .0
                .iter()
                .for_each(|x| out.extend(u32::from_ne_bytes(*x).swap_bytes().to_ne_bytes())),
            _ => bytes
                .as_chunks()
                .0
                .iter()
                .for_each(|x| out.extend(u64::from_ne_bytes(*x).swap_bytes().to_ne_bytes())),
        },
        Encoding::Widened => reals(bytes, width, |value| out.extend((value as f32).to_be_bytes())),
        Encoding::Scaled { factor, min, max, .. } => {
            reals(bytes, width, |value| out.extend(scaled(value, min, max, factor)));
        }
        Encoding::Truncated { bits, .. } => {
            reals(bytes, width, |value| out.extend(truncated(value, bits.into())));
        }
        _ => return None,
    }
    Some(())
}

/// Calls `put` with each float in `bytes`, which are of `width` bytes in native order.
fn reals(bytes: &[u8], width: usize, mut put: impl FnMut(f64)) {
    match width {
        4 => bytes.as_chunks().0.iter().for_each(|x| put(f32::from_ne_bytes(*x).into())),
        _ => bytes.as_chunks().0.iter().for_each(|x| put(f64::from_ne_bytes(*x))),
    }
}

/// Encodes a number as a big-endian count of steps of `1 / factor` from `min` (ROOT's `Double32_t` with a
/// range).
#[must_use]
pub fn scaled(value: f64, min: f64, max: f64, factor: f64) -> [u8; 4] {
    // Values beyond the range are clamped. NaN has no encoding and becomes the minimum.
    let steps = 0.5 + factor * (value.max(min).min(max) - min);
    (steps as u32).to_be_bytes()
}

/// Encodes a number with a mantissa of `kept` bits (ROOT's `Float16_t`): one byte of exponent, then sign and
/// mantissa in two bytes, big-endian.
#[must_use]
pub fn truncated(value: f64, kept: u32) -> [u8; 3] {
    let value = value as f32;
    let bits = value.to_bits();
    // Rounds by one more bit than is kept. A mantissa that would carry into the exponent saturates.
    let rounded = ((bits >> (23 - kept - 1) & ((1 << (kept + 1)) - 1)) + 1) >> 1;
    let mantissa = rounded.min((1 << kept) - 1);
    let sign = u32::from(value < 0.0) << (kept + 1);
    let [high, low] = ((mantissa | sign) as u16).to_be_bytes();
    [(bits >> 23) as u8, high, low]
}
