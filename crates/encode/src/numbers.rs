//! Numbers: from how columns keep them to how they are written.

use crate::{EncodeError, rows::Rows};
use forthwith_columns::{Column, DType, Encoding, with_integer};
use std::borrow::Cow;

/// Appends a zigzag varint.
pub fn zigzag(value: i64, out: &mut Vec<u8>) {
    leb128(((value << 1) ^ (value >> 63)) as u64, out);
}

/// Appends an integer of variable length without a sign.
pub(crate) fn leb128(mut rest: u64, out: &mut Vec<u8>) {
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

/// Whether every value of one type is one of the other, or is rounded to one where both have a point.
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

/// The first rows of a column of integers of any type, each within `to`.
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
        // Unsigned ones of 64 bits keep their bits.
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

/// Numbers as bytes of one size each.
pub(crate) fn packed<'a>(
    column: &'a Column,
    rows: &Rows,
    wire: Encoding,
    member: &str,
) -> Result<Cow<'a, [u8]>, EncodeError> {
    let count = rows.count() as usize; // no more than there are
    let (to, big) = match wire {
        Encoding::Big(to) => (to, true),
        Encoding::Little(to) => (to, false),
        Encoding::Bool | Encoding::StrictBool => {
            return Ok(column.as_bytes()[..count].iter().map(|byte| u8::from(*byte != 0)).collect());
        }
        other => {
            return Err(EncodeError::Unsupported { member: member.into(), what: format!("{other:?}") });
        }
    };
    let width = to.size();
    let native = big == cfg!(target_endian = "big") || width == 1;
    if column.dtype() == to && native {
        return Ok(Cow::Borrowed(&column.as_bytes()[..count * width]));
    }
    let mut bytes = Vec::with_capacity(count * width);
    let mut put = |little: &[u8]| {
        if big {
            bytes.extend(little.iter().rev());
        } else {
            bytes.extend(little);
        }
    };
    match to {
        DType::Float32 => (0..count).for_each(|at| match column.item::<f32>(at) {
            Some(same) => put(&same.to_le_bytes()),
            None => put(&(real(column, at) as f32).to_le_bytes()),
        }),
        DType::Float64 => (0..count).for_each(|at| put(&real(column, at).to_le_bytes())),
        _ => integers(column, rows, to, member)?.iter().for_each(|value| put(&value.to_le_bytes()[..width])),
    }
    Ok(bytes.into())
}
