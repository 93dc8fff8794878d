//! Decoding of numbers, and conversion of items in bulk.

use super::convert::{self, Conversion};
use super::exec::chunk;
use super::steps::LeafKind;
use crate::interpret::varint;
use forthwith_kernels::settled::settled;

/// Decodes a zigzag number, and returns the position after it.
#[inline(always)]
pub(crate) fn zigzag(data: &[u8], at: usize) -> Option<(i64, usize)> {
    let (value, after) = unsigned(data, at)?;
    Some(((value >> 1) as i64 ^ -((value & 1) as i64), after))
}

/// Decodes the LEB128 number at the lowest of eight bytes, and returns its size; None if it is longer.
#[inline(always)]
pub(crate) fn short(word: u64) -> Option<(u64, usize)> {
    let word = settled(word);
    let ends = !word & 0x8080_8080_8080_8080;
    if ends == 0 {
        return None;
    }
    // Keeps the bytes up to the first without its high bit, then closes the gaps: 7, 14, 28, 56 bits.
    let word = word & (ends ^ (ends - 1)) & 0x7f7f_7f7f_7f7f_7f7f;
    let word = (word & 0x007f_007f_007f_007f) | (word & 0x7f00_7f00_7f00_7f00) >> 1;
    let word = (word & 0x0000_3fff_0000_3fff) | (word & 0x3fff_0000_3fff_0000) >> 2;
    let word = (word & 0x0fff_ffff) | (word & 0x0fff_ffff_0000_0000) >> 4;
    Some((word, ends.trailing_zeros() as usize / 8 + 1))
}

/// Decodes a LEB128 number, and returns the position after it.
#[inline(always)]
pub(crate) fn unsigned(data: &[u8], at: usize) -> Option<(u64, usize)> {
    let first = settled(u64::from(*data.get(at)?));
    if first < 0x80 {
        return Some((first, at + 1));
    }
    if let Some(bytes) = chunk::<8>(data, at)
        && let Some((value, size)) = short(u64::from_le_bytes(bytes))
    {
        return Some((value, at + size));
    }
    let (value, after) = varint(data, at);
    Some((value.ok()?, after))
}

impl crate::Output {
    /// Appends items of one kind; the space was reserved before.
    pub(crate) fn append_converted(&mut self, kind: LeafKind, bytes: &[u8]) {
        fn go<K: Conversion>(output: &mut crate::Output, bytes: &[u8]) {
            let (blocks, rest) = bytes.as_chunks::<64>();
            for block in blocks {
                output.append(&K::convert(*block));
            }
            let mut last = [0; 64];
            last[..rest.len()].copy_from_slice(rest);
            output.append(&K::convert(last)[..rest.len()]);
        }
        match kind {
            LeafKind::Copy => self.append(bytes),
            LeafKind::Swap2 => go::<convert::Swap2>(self, bytes),
            LeafKind::Swap4 => go::<convert::Swap4>(self, bytes),
            LeafKind::Swap8 => go::<convert::Swap8>(self, bytes),
            LeafKind::Bool => go::<convert::Bool>(self, bytes),
        }
    }
}
