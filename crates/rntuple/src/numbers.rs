//! Numbers of pages to items of columns.

use crate::coding::{Kind, Stored};
use forthwith_columns::{
    DType, Encoding,
    kernels::{Planes, ShortFloats, copy, decode, from_planes, from_short_floats},
    with_integer,
};
use forthwith_plan::{Error, Result};
use std::ops::Range;

/// The fault of a page that is too short.
#[cold]
pub(crate) fn too_few() -> Error {
    Error::fault("a page with fewer elements than the page list says")
}

/// Writes the elements `wanted` of a page to `into`, as numbers of `dtype`. The page has whole elements, and room for those wanted is in
/// `into`.
pub(crate) fn numbers(
    stored: &Stored,
    dtype: DType,
    page: &[u8],
    wanted: Range<usize>,
    into: &mut [u8],
) -> Result<()> {
    let size = dtype.size();
    if into.len() != wanted.len() * size {
        return Err(Error::fault("a page with another number of elements than the page list says"));
    }
    let whole = |width: usize| {
        let bytes = page.get(wanted.start * width..wanted.end * width);
        bytes.ok_or_else(too_few)
    };
    let bad = |_| too_few();
    match stored.kind {
        Kind::Plain(own) if own == dtype => decode(Encoding::Little(own), whole(size)?, into).map_err(bad),
        Kind::Split(own) if own == dtype => from_planes(Planes::Plain, size, page, wanted, into).map_err(bad),
        Kind::Zigzag(own) if own == dtype => {
            from_planes(Planes::Zigzag, size, page, wanted, into).map_err(bad)
        }
        Kind::Byte => {
            copy(whole(1)?, into);
            Ok(())
        }
        Kind::Bit => {
            bits(page, wanted.clone(), into, size);
            Ok(())
        }
        Kind::Half | Kind::SplitHalf | Kind::Truncated | Kind::Quantised => {
            let bits = u32::from(stored.bits);
            let stored = match stored.kind {
                Kind::Half => ShortFloats::Half,
                Kind::SplitHalf => ShortFloats::SplitHalf,
                Kind::Truncated => ShortFloats::Truncated(bits),
                _ => ShortFloats::Quantised(bits, stored.range.unwrap_or((0.0, 0.0))),
            };
            match dtype {
                DType::Float32 | DType::Float64 => {
                    from_short_floats(stored, size, page, wanted, into).map_err(bad)
                }
                other => Err(Error::fault(format!("column encoding stores floats, expected {other}"))),
            }
        }
        Kind::Plain(own) | Kind::Split(own) | Kind::Zigzag(own) => {
            // Numbers of another type: as they are first, then one by one.
            let mut items = vec![0; wanted.len() * own.size()];
            numbers(stored, own, page, wanted, &mut items)?;
            converted(own, dtype, &items, into)
        }
        Kind::Index32 | Kind::Index64 | Kind::SplitIndex32 | Kind::SplitIndex64 | Kind::Switch => {
            Err(Error::fault(format!("column encoding stores indexes, expected {dtype}")))
        }
    }
}

/// One bit for each element, the lowest of a byte first.
fn bits(page: &[u8], wanted: Range<usize>, into: &mut [u8], size: usize) {
    let bit = |at: usize| page.get(at / 8).map_or(0, |byte| byte >> (at % 8) & 1);
    if size == 1 {
        let before = (wanted.start.next_multiple_of(8) - wanted.start).min(into.len());
        let (first, into) = into.split_at_mut(before);
        for (at, to) in wanted.clone().zip(first) {
            *to = bit(at);
        }
        let mut at = wanted.start + before;
        let (eights, rest) = into.as_chunks_mut::<8>();
        for (eight, byte) in eights.iter_mut().zip(page.get(at / 8..).unwrap_or_default()) {
            *eight = EIGHTS[usize::from(*byte)];
        }
        at += eights.len() * 8;
        for (at, to) in (at..).zip(rest) {
            *to = bit(at);
        }
        return;
    }
    into.fill(0);
    let low = if cfg!(target_endian = "little") { 0 } else { size - 1 };
    for (at, to) in wanted.zip(into.chunks_exact_mut(size)) {
        to[low] = bit(at);
    }
}

/// The bits of each byte.
static EIGHTS: [[u8; 8]; 256] = {
    let mut all = [[0; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut bit = 0;
        while bit < 8 {
            all[byte][bit] = (byte >> bit & 1) as u8;
            bit += 1;
        }
        byte += 1;
    }
    all
};

fn floats(dtype: DType, into: &mut [u8], from: impl Iterator<Item = f64>) -> Result<()> {
    match dtype {
        DType::Float32 => {
            for (to, number) in into.as_chunks_mut::<4>().0.iter_mut().zip(from) {
                *to = (number as f32).to_ne_bytes();
            }
        }
        DType::Float64 => {
            for (to, number) in into.as_chunks_mut::<8>().0.iter_mut().zip(from) {
                *to = number.to_ne_bytes();
            }
        }
        other => return Err(Error::fault(format!("column encoding stores floats, expected {other}"))),
    }
    Ok(())
}

/// Numbers of one type as numbers of another, all of which have to be in its range.
fn converted(from: DType, to: DType, items: &[u8], into: &mut [u8]) -> Result<()> {
    let is_float = |dtype| matches!(dtype, DType::Float32 | DType::Float64);
    if is_float(from) || is_float(to) {
        let float = |item: &[u8]| match from {
            DType::Float32 => item.first_chunk().map(|b| f64::from(f32::from_ne_bytes(*b))),
            DType::Float64 => item.first_chunk().map(|b| f64::from_ne_bytes(*b)),
            _ => None,
        };
        return floats(to, into, items.chunks_exact(from.size()).map(|item| float(item).unwrap_or(0.0)));
    }
    let number = |item: &[u8]| -> Option<i128> {
        with_integer!(from, T => item.first_chunk().map(|bytes| T::from_ne_bytes(*bytes).into()),
            DType::Bool => item.first().map(|byte| (*byte).into()),
            _ => None,
        )
    };
    for (item, into) in items.chunks_exact(from.size()).zip(into.chunks_exact_mut(to.size())) {
        let found = number(item).ok_or_else(|| Error::fault(format!("numbers of type {from}")))?;
        let range = || Error::fault(format!("the number {found} does not fit into {to}"));
        with_integer!(to,
            T => into.copy_from_slice(&T::try_from(found).map_err(|_| range())?.to_ne_bytes()),
            DType::Bool => into.copy_from_slice(&[u8::from(found != 0)]),
            _ => return Err(range()),
        );
    }
    Ok(())
}
