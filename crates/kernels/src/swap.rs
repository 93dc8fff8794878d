//! Appending of numbers in big-endian byte order.

use crate::{CpuFeatures, for_each_cpu};
use std::mem::MaybeUninit;

/// Appends numbers of 1, 2, 4 or 8 bytes in native byte order to `out` in big-endian order. Bytes after the
/// last whole number, and numbers of other widths, are appended unchanged.
pub fn append_big(width: usize, from: &[u8], out: &mut Vec<u8>) {
    append_big_by(CpuFeatures::current(), width, from, out);
}

fn append_big_by(features: CpuFeatures, width: usize, from: &[u8], out: &mut Vec<u8>) {
    out.reserve(from.len());
    let end = out.len() + from.len();
    let room = &mut out.spare_capacity_mut()[..from.len()];
    run(features, width, from, room);
    // SAFETY: `reserve` allocated as many bytes as `from` has, and `run` has written all of them.
    unsafe { out.set_len(end) };
}

for_each_cpu! {
    fn run(width: usize, from: &[u8], room: &mut [MaybeUninit<u8>]) = body
}

/// Writes each byte of `room`, which is as long as `from`.
#[inline(always)]
fn body(width: usize, from: &[u8], room: &mut [MaybeUninit<u8>]) {
    let whole = match width {
        2 => turn(from, room, |item| u16::from_ne_bytes(item).to_be_bytes()),
        4 => turn(from, room, |item| u32::from_ne_bytes(item).to_be_bytes()),
        8 => turn(from, room, |item| u64::from_ne_bytes(item).to_be_bytes()),
        _ => 0,
    };
    room[whole..].write_copy_of_slice(&from[whole..]);
}

/// Swaps whole numbers, and returns the number of bytes written.
#[inline(always)]
fn turn<const N: usize>(
    from: &[u8],
    room: &mut [MaybeUninit<u8>],
    big: impl Fn([u8; N]) -> [u8; N],
) -> usize {
    let (from, room) = (from.as_chunks::<N>().0, room.as_chunks_mut::<N>().0);
    for (to, item) in room.iter_mut().zip(from) {
        *to = big(*item).map(MaybeUninit::new);
    }
    N * from.len().min(room.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_generation_turns_numbers_round() {
        let bytes: Vec<u8> = (0..1003u32).map(|n| (n * 7) as u8).collect();
        for features in CpuFeatures::available() {
            for width in [1usize, 2, 4, 8] {
                for length in [0, 1, 7, 8, 64, 999, 1003] {
                    let from = &bytes[3..length.max(3)];
                    let mut out = b"ab".to_vec();
                    append_big_by(features, width, from, &mut out);
                    let chunks = from.chunks_exact(width);
                    let rest = chunks.remainder();
                    let turned = chunks.flat_map(|item| {
                        let mut item = item.to_vec();
                        if cfg!(target_endian = "little") {
                            item.reverse();
                        }
                        item
                    });
                    let expected: Vec<u8> =
                        b"ab".iter().copied().chain(turned).chain(rest.iter().copied()).collect();
                    assert!(out == expected, "{} {width} {length}", features.name());
                }
            }
        }
    }
}
