//! Parquet's hybrid of run-length and bit-packed runs, in which levels and dictionary indices are stored, and
//! packed numbers in general.
//!
//! [`Hybrid`] decodes runs piece by piece into slices. Callers that write to memory of their own build the
//! loop over runs from [`repeated`] and [`unpack`].

use crate::settled::settled;
use crate::{CpuFeatures, for_each_cpu};

/// Number of bytes after the last item that functions which document it may overwrite.
pub const SLACK: usize = 64;

/// Error: the data end before the last value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CutOff;

/// Decoder of runs, which returns as many values at a time as requested.
#[derive(Clone, Debug)]
pub struct Hybrid<'a> {
    input: &'a [u8],
    at: usize,
    bits: u32,
    run: Run<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Run<'a> {
    Same { left: usize, value: u64 },
    Packed { left: usize, bytes: &'a [u8], next: usize },
}

impl<'a> Hybrid<'a> {
    /// Creates a decoder of values of `bits` bits, at most 64.
    ///
    /// # Panics
    /// If `bits` is greater than 64.
    #[must_use]
    pub fn new(input: &'a [u8], bits: u32) -> Self {
        assert!(bits <= 64, "packed numbers of more than 64 bits");
        Self { input, at: 0, bits, run: Run::Same { left: 0, value: 0 } }
    }

    /// Whether all bytes belong to runs that were begun.
    #[must_use]
    pub fn is_at_end(&self) -> bool {
        self.at == self.input.len()
    }

    /// Decodes the next values, of at most 8 bits. Returns the value if all of them come from one run that
    /// repeats it.
    ///
    /// # Errors
    /// Returns an error if fewer values are left.
    pub fn levels(&mut self, out: &mut [u8]) -> Result<Option<u8>, CutOff> {
        read_levels(CpuFeatures::current(), self, out)
    }

    /// Decodes the next values, of at most 32 bits.
    ///
    /// # Errors
    /// Returns an error if fewer values are left.
    pub fn numbers(&mut self, out: &mut [u32]) -> Result<(), CutOff> {
        read_numbers(CpuFeatures::current(), self, out).map(drop)
    }

    /// Begins the next run.
    fn next(&mut self) -> Result<(), CutOff> {
        let (head, after) = leb128(self.input, self.at).ok_or(CutOff)?;
        let rest = &self.input[after..];
        let count = usize::try_from(head >> 1).map_err(|_| CutOff)?;
        if head & 1 == 0 {
            let width = self.bits.div_ceil(8) as usize;
            let value = repeated(rest.get(..width).ok_or(CutOff)?, self.bits);
            self.at = after + width;
            self.run = Run::Same { left: count, value };
        } else {
            let left = count.checked_mul(8).ok_or(CutOff)?;
            // Some writers truncate the last packed run after the last byte needed.
            let bytes = &rest[..rest.len().min(count.saturating_mul(self.bits as usize))];
            self.at = after + bytes.len();
            self.run = Run::Packed { left, bytes, next: 0 };
        }
        Ok(())
    }
}

// Runs are often short: constants of the loop over groups must not be set up for each of them.
fn read_levels(features: CpuFeatures, hybrid: &mut Hybrid<'_>, out: &mut [u8]) -> Result<Option<u8>, CutOff> {
    read(hybrid, out, |bytes, first, bits, out| run_narrow(features, bytes, first, bits, out))
}

fn read_numbers(
    features: CpuFeatures,
    hybrid: &mut Hybrid<'_>,
    out: &mut [u32],
) -> Result<Option<u32>, CutOff> {
    read(hybrid, out, |bytes, first, bits, out| run_numbers(features, bytes, first, bits, out))
}

#[inline(always)]
fn read<T: Item>(
    hybrid: &mut Hybrid<'_>,
    out: &mut [T],
    piece: impl Fn(&[u8], usize, u32, &mut [T]),
) -> Result<Option<T>, CutOff> {
    // Fast path for the common case of a long run.
    if let Run::Same { left, value } = &mut hybrid.run
        && *left >= out.len()
    {
        *left -= out.len();
        out.fill(T::cut(*value));
        return Ok(Some(T::cut(*value)));
    }
    let bits = hybrid.bits;
    let mut done = 0;
    while done < out.len() {
        let wanted = out.len() - done;
        match &mut hybrid.run {
            Run::Same { left: 0, .. } | Run::Packed { left: 0, .. } => hybrid.next()?,
            Run::Same { left, value } => {
                let here = (*left).min(wanted);
                out[done..done + here].fill(T::cut(*value));
                *left -= here;
                done += here;
            }
            Run::Packed { left, bytes, next } => {
                let here = (*left).min(wanted);
                if (*next + here).saturating_mul(bits as usize) > bytes.len().saturating_mul(8) {
                    return Err(CutOff);
                }
                piece(bytes, *next, bits, &mut out[done..done + here]);
                *left -= here;
                *next += here;
                done += here;
            }
        }
    }
    Ok(None)
}

/// Unpacks bits from index `first` on to bytes of 0 or 1, the lowest bit of a byte first. Bits beyond the end
/// are 0.
pub fn unpack_bits(bytes: &[u8], first: usize, out: &mut [u8]) {
    run_narrow(CpuFeatures::current(), bytes, first, 1, out);
}

/// Unpacks numbers of `bits` bits, at most 64, from index `first` on. Bits beyond the end are 0.
///
/// # Panics
/// If `bits` is greater than 64.
pub fn unpack_numbers(bytes: &[u8], first: usize, bits: u32, out: &mut [u64]) {
    assert!(bits <= 64, "packed numbers of more than 64 bits");
    run_wide(CpuFeatures::current(), bytes, first, bits, out);
}

for_each_cpu!(fn run_narrow(bytes: &[u8], first: usize, bits: u32, out: &mut [u8]) = piece::<u8>);
for_each_cpu!(fn run_numbers(bytes: &[u8], first: usize, bits: u32, out: &mut [u32]) = piece::<u32>);
for_each_cpu!(fn run_wide(bytes: &[u8], first: usize, bits: u32, out: &mut [u64]) = piece::<u64>);

/// Unpacks as many packed numbers as the slice has items, from index `first` on.
#[inline(always)]
fn piece<T: Item>(bytes: &[u8], first: usize, bits: u32, out: &mut [T]) {
    let from = |group: usize| bytes.get(group.saturating_mul(bits as usize)..).unwrap_or_default();
    let (mut group, skip) = (first / 8, first % 8);
    // Pages of few values consist mostly of such flags.
    if size_of::<T>() == 1 && bits == 1 && skip == 0 && out.len() <= FEW {
        return flags(from(group), out);
    }
    let mut out = out;
    if skip > 0 {
        let (here, rest) = out.split_at_mut(out.len().min(8 - skip));
        let all = eight::<T>(from(group), bits);
        here.copy_from_slice(&all[skip..skip + here.len()]);
        (out, group) = (rest, group + 1);
    }
    let (here, rest) = out.split_at_mut(out.len() / 8 * 8);
    // SAFETY: whole groups of eight are written, which fit the slice.
    unsafe { unpack(from(group), here.as_mut_ptr(), here.len(), bits) };
    if !rest.is_empty() {
        let all = eight::<T>(from(group + here.len() / 8), bits);
        rest.copy_from_slice(&all[..rest.len()]);
    }
}

/// Number of values up to which the general loop does not make up for its beginning and end.
const FEW: usize = 512;

/// Unpacks single bits to bytes, by a table.
#[inline(always)]
fn flags<T: Item>(bytes: &[u8], out: &mut [T]) {
    assert_eq!(size_of::<T>(), 1, "the table has bytes");
    let byte = |at: usize| bytes.get(at).copied().unwrap_or(0);
    let (eights, rest) = out.as_chunks_mut::<8>();
    let last = byte(eights.len());
    for (at, to) in eights.iter_mut().enumerate() {
        // SAFETY: items are of one byte, so this is eight of them.
        unsafe { to.as_mut_ptr().cast::<[u8; 8]>().write_unaligned(FLAGS[usize::from(byte(at))]) };
    }
    for (to, flag) in rest.iter_mut().zip(FLAGS[usize::from(last)]) {
        *to = T::cut(flag.into());
    }
}

/// Bits of each byte, the lowest first.
static FLAGS: [[u8; 8]; 256] = {
    let mut flags = [[0; 8]; 256];
    let mut at = 0;
    while at < 256 * 8 {
        flags[at / 8][at % 8] = ((at / 8) >> (at % 8)) as u8 & 1;
        at += 1;
    }
    flags
};

/// Unpacks one group of eight.
#[inline(always)]
fn eight<T: Item>(bytes: &[u8], bits: u32) -> [T; 8] {
    let mut all = [T::default(); 8];
    // SAFETY: one group is eight items.
    unsafe { unpack(bytes, all.as_mut_ptr(), 8, bits) };
    all
}

/// Decodes a LEB128 number, and returns the position after it; None if it is truncated or has more than 64
/// bits.
#[inline]
fn leb128(input: &[u8], mut at: usize) -> Option<(u64, usize)> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = settled(u64::from(*input.get(at)?));
        at += 1;
        // The tenth byte holds the highest bit only.
        if shift == 63 && byte > 1 {
            return None;
        }
        value |= (byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some((value, at));
        }
    }
    None
}

/// Number of groups that are unpacked in one pass: the number of passes is then easier to predict.
const TURN: usize = 4;

/// Unpacks [`TURN`] groups of eight fields of up to 8 bits, side by side.
///
/// # Safety
///
/// Eight bytes are readable at the beginning of each group, and all items are writable.
#[inline(always)]
unsafe fn turn<T: Item>(from: *const u8, to: *mut T, bits: u32) {
    let mut groups = [0_u64; TURN];
    #[allow(clippy::needless_range_loop, reason = "as in `narrow`")]
    for at in 0..TURN {
        // SAFETY: guaranteed by the caller.
        groups[at] = u64::from_le(unsafe { from.add(at * bits as usize).cast::<u64>().read_unaligned() });
    }
    #[allow(clippy::needless_range_loop, reason = "as in `narrow`")]
    for at in 0..TURN {
        groups[at] = halve::<8>(halve::<16>(halve::<32>(groups[at], 4 * bits), 2 * bits), bits);
    }
    if size_of::<T>() == 1 {
        #[allow(clippy::needless_range_loop, reason = "as in `narrow`")]
        for at in 0..TURN {
            groups[at] = groups[at].to_le();
        }
        // SAFETY: items are of one byte, so these are as many bytes as items.
        unsafe { to.cast::<[u64; TURN]>().write_unaligned(groups) };
        return;
    }
    for at in 0..8 * TURN {
        // SAFETY: guaranteed by the caller.
        unsafe { to.add(at).write_unaligned(T::cut(groups[at / 8] >> (8 * (at % 8)) & 0xff)) };
    }
}

/// Returns the value of a run from as few bytes as the width needs.
///
/// # Panics
/// If there are fewer bytes.
#[inline(always)]
pub fn repeated(bytes: &[u8], bits: u32) -> u64 {
    match bits.div_ceil(8) as usize {
        0 => 0,
        1 => u64::from(bytes[0]),
        length => bytes[..length].iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)),
    }
}

/// Unpacks whole groups of eight, and so up to seven surplus items. Bits beyond the end are 0.
///
/// # Safety
///
/// At `to`, `items` items and the [slack](SLACK) after them are writable.
#[inline(always)]
pub unsafe fn unpack<T: Item>(source: &[u8], to: *mut T, items: usize, bits: u32) {
    let groups = items.div_ceil(8);
    let step = bits as usize;
    // Bytes that a group reads, which may be more than its own.
    let window = match bits {
        0..=8 => 8,
        9..=16 => 16,
        _ => step + 16,
    };
    let whole = if groups.saturating_sub(1) * step + window <= source.len() {
        groups
    } else {
        // Near the end of the input; a division would cost more than a short run.
        source.len().checked_sub(window).map_or(0, |last| (last / step.max(1) + 1).min(groups))
    };
    macro_rules! all {
        ($group:ident) => {{
            for group in 0..whole {
                // SAFETY: the window of each of these groups ends before the end of the source.
                unsafe { $group(source.as_ptr().add(group * step), to.add(group * 8), bits) };
            }
            for group in whole..groups {
                let mut padded = [0; 80];
                let rest = source.get(group * step..).unwrap_or_default();
                let length = rest.len().min(64);
                padded[..length].copy_from_slice(&rest[..length]);
                // SAFETY: eighty bytes are more than any window; the caller guarantees space for the items
                // and the slack.
                unsafe { $group(padded.as_ptr(), to.add(group * 8), bits) };
            }
        }};
    }
    match bits {
        0..=8 => {
            let mut group = 0;
            while group + TURN <= whole {
                // SAFETY: the windows of these groups end before the end of the source, and the items are
                // writable.
                unsafe { turn(source.as_ptr().add(group * step), to.add(group * 8), bits) };
                group += TURN;
            }
            for group in group..whole {
                // SAFETY: the window of each of these groups ends before the end of the source.
                unsafe { narrow(source.as_ptr().add(group * step), to.add(group * 8), bits) };
            }
            // The remainder of the source fits: it is less than a window and a group. Short runs have no
            // more.
            let mut padded = [0; 32];
            let rest = source.get(whole * step..).unwrap_or_default();
            let length = rest.len().min(24);
            padded[..length].copy_from_slice(&rest[..length]);
            for group in whole..groups {
                let at = ((group - whole) * step).min(24);
                // SAFETY: eight bytes from that offset on are in the array; the caller guarantees space for
                // the items and the slack.
                unsafe { narrow(padded.as_ptr().add(at), to.add(group * 8), bits) };
            }
        }
        9..=16 => all!(middle),
        _ => all!(wide),
    }
}

/// Unpacks eight fields of up to 8 bits by halving three times.
///
/// # Safety
///
/// Eight bytes are readable, and eight items writable.
#[inline(always)]
unsafe fn narrow<T: Item>(from: *const u8, to: *mut T, bits: u32) {
    // SAFETY: the caller guarantees eight readable bytes.
    let fields = u64::from_le(unsafe { from.cast::<u64>().read_unaligned() });
    let fields = halve::<32>(fields, 4 * bits);
    let fields = halve::<16>(fields, 2 * bits);
    let fields = halve::<8>(fields, bits);
    // Indices, since the methods of iterators need not be compiled with the instructions of this level.
    let mut items = [T::cut(0); 8];
    #[allow(clippy::needless_range_loop, reason = "as the comment says")]
    for at in 0..8 {
        items[at] = T::cut(fields >> (8 * at) & 0xff);
    }
    // SAFETY: the caller guarantees space for eight items.
    unsafe { to.cast::<[T; 8]>().write_unaligned(items) };
}

/// Unpacks eight fields of up to 16 bits, four at a time.
///
/// # Safety
///
/// Sixteen bytes are readable, and eight items writable.
#[inline(always)]
unsafe fn middle<T: Item>(from: *const u8, to: *mut T, bits: u32) {
    for half in 0..2 {
        let bit = 4 * bits as usize * half;
        // SAFETY: the second half begins within the first eight bytes of sixteen.
        let fields = u64::from_le(unsafe { from.add(bit / 8).cast::<u64>().read_unaligned() }) >> (bit % 8);
        let fields = halve::<16>(halve::<32>(fields, 2 * bits), bits);
        for field in 0..4 {
            // SAFETY: the caller guarantees space for eight items.
            unsafe { to.add(4 * half + field).write_unaligned(T::cut(fields >> (16 * field) & 0xffff)) };
        }
    }
}

/// Unpacks eight fields of any width from 1 to 64 bits, each from the sixteen bytes at its beginning.
///
/// # Safety
///
/// `bits + 16` bytes are readable, and eight items writable.
#[inline(always)]
unsafe fn wide<T: Item>(from: *const u8, to: *mut T, bits: u32) {
    let mask = u64::MAX >> (64 - bits);
    for field in 0..8 {
        let bit = bits as usize * field;
        // SAFETY: a field begins before the last of the group's `bits` bytes.
        let window = u128::from_le(unsafe { from.add(bit / 8).cast::<u128>().read_unaligned() });
        let value = (window >> (bit % 8)) as u64 & mask;
        // SAFETY: the caller guarantees space for eight items.
        unsafe { to.add(field).write_unaligned(T::cut(value)) };
    }
}

/// Splits every lane of `2 * LANE` bits: the lower `bits` stay, the next `bits` move to the upper half.
#[inline(always)]
fn halve<const LANE: u32>(fields: u64, bits: u32) -> u64 {
    let lanes: u64 = match LANE {
        32 => 1,
        16 => 0x0000_0001_0000_0001,
        _ => 0x0001_0001_0001_0001,
    };
    let low = lanes.wrapping_mul((1_u64 << bits) - 1);
    let high = low << LANE;
    (fields & low) | (fields << (LANE - bits) & high)
}

/// An item of a packed column, by its bits; signs make no difference.
pub trait Item: Copy + Eq + Default {
    /// Returns the lowest bits of a value.
    fn cut(value: u64) -> Self;
}

macro_rules! item {
    ($($type:ty)*) => {
        $(impl Item for $type {
            #[inline(always)]
            fn cut(value: u64) -> Self {
                value as Self
            }
        })*
    };
}

item!(u8 u16 u32 u64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_and_packed_numbers_take_turns() {
        // Five times 3, then sixteen packed numbers of two bits, then a long run of 2.
        let bytes = [10, 3, 0b101, 0b1110_0100, 0b1110_0100, 0b0001_1011, 0b0001_1011, 0xfe, 0x7f, 2];
        let want = [3, 3, 3, 3, 3, 0, 1, 2, 3, 0, 1, 2, 3, 3, 2, 1, 0, 3, 2, 1, 0, 2, 2];
        for features in CpuFeatures::available() {
            for step in [1, 2, 3, 7, 23] {
                let (mut levels, mut numbers) = (Hybrid::new(&bytes, 2), Hybrid::new(&bytes, 2));
                let (mut out, mut wide) = (vec![0; want.len()], vec![0; want.len()]);
                out.chunks_mut(step).for_each(|out| assert!(read_levels(features, &mut levels, out).is_ok()));
                wide.chunks_mut(step)
                    .for_each(|out| assert!(read_numbers(features, &mut numbers, out).is_ok()));
                assert_eq!(out, want);
                assert_eq!(wide, want.map(u32::from));
            }
            let mut cut = Hybrid::new(&bytes[..4], 2);
            assert!(read_levels(features, &mut cut, &mut [0; 5]).is_ok());
            assert!(read_levels(features, &mut cut, &mut [0; 4]).is_ok());
            assert_eq!(read_levels(features, &mut cut, &mut [0; 1]), Err(CutOff));
        }
    }

    #[test]
    fn numbers_of_no_bits_are_zero() {
        let mut out = [9; 12];
        assert!(Hybrid::new(&[3, 8], 0).numbers(&mut out).is_ok());
        assert_eq!(out, [0; 12]);
    }

    /// Tests each width, first index and length against unpacking bit by bit.
    #[test]
    fn packed_numbers_are_their_bits_on_every_cpu() {
        let bytes: Vec<u8> = (0..300_u32).map(|at| (at * at * 37 + at) as u8).collect();
        let bit = |at: usize| bytes.get(at / 8).map_or(0, |byte| u64::from(byte >> (at % 8) & 1));
        let number = |at: usize, bits: u32| {
            (0..bits as usize).fold(0, |sum, one| sum | bit(at * bits as usize + one) << one)
        };
        let lengths: &[usize] = if cfg!(miri) { &[1, 40] } else { &[0, 1, 3, 7, 8, 9, 16, 31, 40, 64, 75] };
        for features in CpuFeatures::available() {
            for bits in 0..=64 {
                for first in [0, 1, 5, 8, 11, 16] {
                    for &length in lengths {
                        let want: Vec<u64> = (first..first + length).map(|at| number(at, bits)).collect();
                        let mut wide = vec![7; length];
                        run_wide(features, &bytes, first, bits, &mut wide);
                        assert_eq!(wide, want, "{} {bits} {first} {length}", features.name());
                        if bits <= 8 {
                            let mut narrow = vec![7; length];
                            run_narrow(features, &bytes, first, bits, &mut narrow);
                            assert_eq!(narrow, want.iter().map(|n| *n as u8).collect::<Vec<_>>());
                        }
                    }
                }
            }
        }
    }
}
