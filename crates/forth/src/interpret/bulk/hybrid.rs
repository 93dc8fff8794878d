//! The hybrid of run-length and bit-packed runs that Parquet stores levels and dictionary indices in.

use crate::DType;
use crate::error::RunError;
use crate::interpret::fused::unsigned;
use crate::interpret::settled::settled;
use crate::interpret::varint;
use crate::output::{Output, Outputs};
use forthwith_kernels::{CpuFeatures, Generation, compiled_for};

/// Appends `count` values and moves the position behind the last run begun. After an error the position is at the head
/// of the run that failed, and the values of earlier runs stay.
pub(super) fn decode(
    outputs: &mut Outputs,
    index: usize,
    input: &[u8],
    at: &mut usize,
    bits: u32,
    count: u64,
) -> Result<(), RunError> {
    macro_rules! level {
        ($generation:ident) => {{
            compiled_for! {
                $generation
                fn level(
                    outputs: &mut Outputs,
                    index: usize,
                    input: &[u8],
                    at: &mut usize,
                    bits: u32,
                    count: u64,
                ) -> Result<(), RunError> {
                    match outputs.list[index].dtype().size() {
                        1 => runs::<u8>(outputs, index, input, at, bits, count),
                        2 => runs::<u16>(outputs, index, input, at, bits, count),
                        4 => runs::<u32>(outputs, index, input, at, bits, count),
                        _ => runs::<u64>(outputs, index, input, at, bits, count),
                    }
                }
            }
            // SAFETY: the processor has what its features say.
            #[allow(unused_unsafe, reason = "the baseline has no features")]
            unsafe {
                level(outputs, index, input, at, bits, count)
            }
        }};
    }
    match CpuFeatures::current().generation() {
        #[cfg(target_arch = "x86_64")]
        Generation::Avx2 | Generation::Avx512 => level!(Avx2),
        _ => level!(Baseline),
    }
}

/// Appends so many packed items, which are there and for which room was made. False: not to an output of this dtype.
pub(crate) fn unpack_into(source: &[u8], output: &mut Output, items: usize, bits: u32) -> bool {
    macro_rules! level {
        ($generation:ident) => {{
            compiled_for! { $generation fn level(source: &[u8], output: &mut Output, items: usize, bits: u32) -> bool {
                // SAFETY: the end is within the memory, and the caller made room there.
                unsafe {
                    let to = output.start.add(output.end);
                    match output.dtype() {
                        DType::Int8 | DType::UInt8 => unpack(source, to, items, bits),
                        DType::Int16 | DType::UInt16 => unpack(source, to.cast::<u16>(), items, bits),
                        DType::Int32 | DType::UInt32 => unpack(source, to.cast::<u32>(), items, bits),
                        DType::Int64 | DType::UInt64 => unpack(source, to.cast::<u64>(), items, bits),
                        DType::Bool | DType::Float32 | DType::Float64 => return false,
                    }
                }
                output.end += items * output.dtype().size();
                true
            } }
            // SAFETY: the processor has what its features say.
            #[allow(unused_unsafe, reason = "the baseline has no features")]
            unsafe { level(source, output, items, bits) }
        }};
    }
    match CpuFeatures::current().generation() {
        #[cfg(target_arch = "x86_64")]
        Generation::Avx2 | Generation::Avx512 => level!(Avx2),
        _ => level!(Baseline),
    }
}

#[inline(always)]
fn runs<T: Item>(
    outputs: &mut Outputs,
    index: usize,
    input: &[u8],
    at: &mut usize,
    bits: u32,
    mut left: u64,
) -> Result<(), RunError> {
    let size = size_of::<T>();
    while left > 0 {
        if bits > 0 && bits <= 8 {
            let output = &mut outputs.list[index];
            // SAFETY: the end is within the memory, and so is the room.
            let (to, room) = unsafe { (output.start.add(output.end), output.room - output.end) };
            // SAFETY: there is that much room.
            let (items, after) = unsafe { short_runs(input, *at, to.cast::<T>(), room / size, left, bits) };
            (*at, left) = (after, left - items as u64);
            output.end += items * size;
            if left == 0 {
                break;
            }
        }
        let (header, after) = match unsigned(input, *at) {
            Some(found) => found,
            // Which of the errors it is.
            None => {
                let (header, after) = varint(input, *at);
                (header?, after)
            }
        };
        let rest = &input[after..];
        let packed = header & 1 == 1;
        let length = if packed { (header >> 1).saturating_mul(8) } else { header >> 1 };
        let take = length.min(left);
        // What is too large for this is too large for any input.
        let stored = if packed { take.saturating_mul(u64::from(bits)) } else { u64::from(bits) };
        // Some writers cut the last packed run after the last byte that is needed.
        if stored.div_ceil(8) > rest.len() as u64 {
            return Err(RunError::ReadBeyond);
        }
        let items = usize::try_from(take).map_err(|_| RunError::OutOfMemory)?;
        let bytes = items.checked_mul(size).ok_or(RunError::OutOfMemory)?;
        if items > 0 {
            outputs.reserve(index, bytes)?;
            let output = &mut outputs.list[index];
            // SAFETY: the end is within the memory, and room for so many items was just made there.
            unsafe {
                let to = output.start.add(output.end).cast::<T>();
                if packed {
                    unpack(rest, to, items, bits);
                } else {
                    fill(to, T::cut(short(rest, bits)), items);
                }
            }
            output.end += bytes;
        }
        *at = after
            + if packed {
                let whole = (header >> 1).saturating_mul(u64::from(bits));
                usize::try_from(whole).unwrap_or(usize::MAX).min(rest.len())
            } else {
                bits.div_ceil(8) as usize
            };
        left -= take;
    }
    Ok(())
}

/// Runs of up to eight bits, as many as come one after the other and fit: the items written, and the position behind. Whatever is
/// unusual about a run is left to the caller.
///
/// # Safety
///
/// There is room for so many items.
#[inline(always)]
unsafe fn short_runs<T: Item>(
    input: &[u8],
    mut at: usize,
    to: *mut T,
    room: usize,
    left: u64,
    bits: u32,
) -> (usize, usize) {
    /// Bytes written at once, whatever is needed: how long a run is can seldom be foreseen.
    const WIDE: usize = 128;
    let (size, step, mut items) = (size_of::<T>(), bits as usize, 0);
    let most = usize::try_from(left).unwrap_or(usize::MAX).min(room);
    while items < most
        && let Some(&[first, second, third]) = input.get(at..).and_then(|rest| rest.first_chunk::<3>())
    {
        // Most headers have one byte or two; where the next run begins is known at once if that is foreseen.
        let both = settled(u16::from_le_bytes([first, second]).into());
        let [first, next] = (both as u16).to_le_bytes();
        let (header, value, used) = if first < 0x80 {
            (usize::from(first), next, 2)
        } else if next < 0x80 {
            (usize::from(first & 0x7f) | usize::from(next) << 7, third, 3)
        } else {
            break;
        };
        if header & 1 == 1 {
            let (groups, from) = (header >> 1, at + used - 1);
            let (count, stored) = (groups * 8, groups * step);
            // Whole turns are written, and their last group is read as eight bytes.
            let there = input.len() - from >= stored + (TURN - 1) * step + 8;
            if count > most - items || room - items < count + (TURN - 1) * 8 || !there {
                break;
            }
            let mut group = 0;
            while group < groups {
                // SAFETY: as was just found.
                unsafe { turn(input.as_ptr().add(from + group * step), to.add(items + group * 8), bits) };
                group += TURN;
            }
            items += count;
            at = from + stored;
            continue;
        }
        let count = header >> 1;
        if count > most - items || room - items < WIDE / size {
            break;
        }
        let block = [T::cut(u64::from(value)).repeated(); 8];
        // SAFETY: there is room for all of it, or, behind the first blocks, for what begins in the run and in the slack.
        unsafe {
            let to = to.add(items).cast::<[u64; 8]>();
            for at in 0..WIDE / 64 {
                to.add(at).write_unaligned(block);
            }
            for at in WIDE / 64..(count * size).div_ceil(64) {
                to.add(at).write_unaligned(block);
            }
        }
        items += count;
        at += used;
    }
    (items, at)
}

/// Groups that are unpacked at once, wanted or not: the number of turns is foreseen more often.
const TURN: usize = 4;

/// Some groups of eight fields of up to 8 bits, side by side.
///
/// # Safety
///
/// Eight bytes may be read where each group begins, and all items written.
#[inline(always)]
unsafe fn turn<T: Item>(from: *const u8, to: *mut T, bits: u32) {
    let mut groups = [0_u64; TURN];
    #[allow(clippy::needless_range_loop, reason = "as in `narrow`")]
    for at in 0..TURN {
        // SAFETY: the caller's.
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
        // SAFETY: as many bytes as items.
        unsafe { to.cast::<[u64; TURN]>().write_unaligned(groups) };
        return;
    }
    for at in 0..8 * TURN {
        // SAFETY: the caller's.
        unsafe { to.add(at).write_unaligned(T::cut(groups[at / 8] >> (8 * (at % 8)) & 0xff)) };
    }
}

/// The repeated value, in as few bytes as the width needs.
#[inline(always)]
fn short(bytes: &[u8], bits: u32) -> u64 {
    match bits.div_ceil(8) as usize {
        0 => 0,
        1 => u64::from(bytes[0]),
        length => bytes[..length].iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)),
    }
}

/// # Safety
///
/// So many items may be written at `to`, and the slack of an output behind them.
#[inline(always)]
unsafe fn fill<T: Item>(to: *mut T, value: T, items: usize) {
    let block = [value.repeated(); 8];
    for at in 0..(items * size_of::<T>()).div_ceil(64) {
        // SAFETY: the last block begins before the end, so it ends in the slack at most.
        unsafe { to.cast::<[u64; 8]>().add(at).write_unaligned(block) };
    }
}

/// Unpacks whole groups of eight, so up to seven items too many.
///
/// # Safety
///
/// So many items may be written at `to`, and the slack of an output behind them.
#[inline(always)]
unsafe fn unpack<T: Item>(source: &[u8], to: *mut T, items: usize, bits: u32) {
    let groups = items.div_ceil(8);
    let step = bits as usize;
    // What a group reads, which may be more than its own bytes.
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
                // SAFETY: eighty bytes are more than any window; the caller made room, up to the slack.
                unsafe { $group(padded.as_ptr(), to.add(group * 8), bits) };
            }
        }};
    }
    match bits {
        0..=8 => all!(narrow),
        9..=16 => all!(middle),
        _ => all!(wide),
    }
}

/// Eight fields of up to 8 bits: halved three times, each half to its own place.
///
/// # Safety
///
/// Eight bytes may be read, and eight items written.
#[inline(always)]
unsafe fn narrow<T: Item>(from: *const u8, to: *mut T, bits: u32) {
    // SAFETY: the caller vouches for eight bytes.
    let fields = u64::from_le(unsafe { from.cast::<u64>().read_unaligned() });
    let fields = halve::<32>(fields, 4 * bits);
    let fields = halve::<16>(fields, 2 * bits);
    let fields = halve::<8>(fields, bits);
    // Indices, since what iterators call need not be compiled with the instructions of this level.
    let mut items = [T::cut(0); 8];
    #[allow(clippy::needless_range_loop, reason = "as the comment says")]
    for at in 0..8 {
        items[at] = T::cut(fields >> (8 * at) & 0xff);
    }
    // SAFETY: the caller vouches for eight items.
    unsafe { to.cast::<[T; 8]>().write_unaligned(items) };
}

/// Eight fields of up to 16 bits, four at a time.
///
/// # Safety
///
/// Sixteen bytes may be read, and eight items written.
#[inline(always)]
unsafe fn middle<T: Item>(from: *const u8, to: *mut T, bits: u32) {
    for half in 0..2 {
        let bit = 4 * bits as usize * half;
        // SAFETY: the second half begins within the first eight bytes of sixteen.
        let fields = u64::from_le(unsafe { from.add(bit / 8).cast::<u64>().read_unaligned() }) >> (bit % 8);
        let fields = halve::<16>(halve::<32>(fields, 2 * bits), bits);
        for field in 0..4 {
            // SAFETY: the caller vouches for eight items.
            unsafe { to.add(4 * half + field).write_unaligned(T::cut(fields >> (16 * field) & 0xffff)) };
        }
    }
}

/// Eight fields of any width, each from the sixteen bytes where it begins.
///
/// # Safety
///
/// `bits + 16` bytes may be read, and eight items written.
#[inline(always)]
unsafe fn wide<T: Item>(from: *const u8, to: *mut T, bits: u32) {
    let mask = u64::MAX >> (64 - bits);
    for field in 0..8 {
        let bit = bits as usize * field;
        // SAFETY: a field begins before the last of the group's `bits` bytes.
        let window = u128::from_le(unsafe { from.add(bit / 8).cast::<u128>().read_unaligned() });
        let value = (window >> (bit % 8)) as u64 & mask;
        // SAFETY: the caller vouches for eight items.
        unsafe { to.add(field).write_unaligned(T::cut(value)) };
    }
}

/// In every double lane of `2 * LANE` bits: the lower `bits` stay, the next `bits` go to the upper lane.
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

/// An item as its bits; signs make no difference.
trait Item: Copy {
    fn cut(value: u64) -> Self;
    /// As often as it fits 64 bits.
    fn repeated(self) -> u64;
}

macro_rules! item {
    ($($type:ty)*) => {
        $(impl Item for $type {
            #[inline(always)]
            fn cut(value: u64) -> Self {
                value as Self
            }

            #[inline(always)]
            fn repeated(self) -> u64 {
                u64::from(self) * (u64::MAX / u64::from(Self::MAX))
            }
        })*
    };
}

item!(u8 u16 u32 u64);
