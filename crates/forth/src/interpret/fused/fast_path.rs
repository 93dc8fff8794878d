//! The instructions that are most of the work, and nothing else, so that all there is to them stays in
//! registers.
//!
//! An instruction is done, or nothing of it is: what is unusual, the end of the input or of the room above
//! all, is left to [`interpreter`](super::interpreter), as are all other instructions.

use super::convert::{self, BLOCK, copy_blocks};
use super::cursor::Cursor;
use super::ops::Op;
use forthwith_kernels::settled::settled;

/// Where the loop stands.
pub(super) struct FastPath {
    pub(super) ip: *const Op,
    pub(super) at: usize,
    /// Behind the number kept last.
    pub(super) kept: *mut i64,
}

/// Bytes that are looked at for a number of variable length.
const NUMBER: usize = 8;

/// How far ahead bytes are asked for where most are stepped over.
const SOON: usize = 1536;

/// Asks for some bytes to be brought near.
#[inline(always)]
fn soon(at: *const u8) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint; any address will do.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast()) };
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = at;
}

/// Goes on up to the first instruction that is not for here.
///
/// # Safety
///
/// The instruction, those it goes to, the numbers kept and the columns are those of one body, and the
/// position is in the input.
#[inline(always)]
pub(super) unsafe fn run(state: &mut FastPath, data: &[u8], cursors: *mut Cursor) {
    let mut ip = state.ip;
    let mut kept = state.kept;
    let (base, end) = (data.as_ptr(), data.as_ptr_range().end);
    // SAFETY: the position is in the input.
    let mut at = unsafe { base.add(state.at) };

    macro_rules! cursor {
        ($column:expr) => {
            // SAFETY: there is a cursor for each column.
            unsafe { &mut *cursors.add($column as usize) }
        };
    }
    macro_rules! left {
        ($at:expr) => {
            end as usize - $at as usize
        };
    }
    macro_rules! jump {
        ($to:expr) => {
            // SAFETY: targets are instructions of this code.
            ip = unsafe { ip.offset($to as isize) }
        };
    }
    macro_rules! copy {
        ($to:expr, $type:ty, $change:expr) => {{
            const SIZE: usize = size_of::<$type>();
            let cursor = cursor!(*$to);
            if left!(at) < SIZE || cursor.room() < SIZE {
                break;
            }
            // SAFETY: the check above found these bytes left, and there is room for them.
            unsafe {
                let change: fn($type) -> $type = $change;
                let item = change(at.cast::<$type>().read_unaligned());
                cursor.next.cast::<$type>().write_unaligned(item);
                cursor.next = cursor.next.add(SIZE);
                at = at.add(SIZE);
            }
        }};
    }
    /// A number of variable length from an address on, and the address behind it; long ones only where that
    /// is simple.
    macro_rules! unsigned {
        ($from:expr) => {{
            let from: *const u8 = $from;
            if from == end {
                break;
            }
            // SAFETY: a byte is left.
            let first = settled(u64::from(unsafe { *from }));
            if first < 0x80 {
                // SAFETY: as above.
                (first, unsafe { from.add(1) })
            } else {
                if left!(from) < 8 {
                    break;
                }
                // SAFETY: eight bytes are left.
                let word = u64::from_le(unsafe { from.cast::<u64>().read_unaligned() });
                let Some((value, size)) = super::number::short(word) else { break };
                // SAFETY: the number is within these bytes.
                (value, unsafe { from.add(size) })
            }
        }};
    }
    macro_rules! zigzag {
        ($from:expr) => {{
            let (value, after) = unsigned!($from);
            ((value >> 1) as i64 ^ -((value & 1) as i64), after)
        }};
    }
    macro_rules! put {
        ($cursor:expr, $value:expr, $type:ty) => {{
            let cursor: &mut Cursor = $cursor;
            if cursor.room() < size_of::<$type>() {
                break;
            }
            // SAFETY: there is room for the item.
            unsafe { cursor.put(($value as $type).to_ne_bytes()) };
        }};
    }
    /// The last item plus a number.
    macro_rules! add {
        ($cursor:expr, $value:expr, $type:ty) => {{
            let cursor: &mut Cursor = $cursor;
            if cursor.room() < size_of::<$type>() {
                break;
            }
            // SAFETY: there is room for the item, and one item before the end is always readable.
            unsafe {
                let last = cursor.next.cast::<$type>().sub(1).read_unaligned();
                cursor.put(last.wrapping_add($value as $type).to_ne_bytes());
            }
        }};
    }
    macro_rules! list {
        ($count:expr, $after:expr, $offsets:expr, $items:expr, $shift:expr, $ended:expr, $type:ty) => {{
            let (count, after): (i64, *const u8) = ($count, $after);
            let items = cursor!($items);
            // Longer lists are no worse off elsewhere.
            if count as u64 >= 1 << 24 {
                break;
            }
            let bytes = (count as usize) << $shift;
            let last = usize::from($ended);
            if bytes + last + BLOCK > left!(after) || bytes > items.room() {
                break;
            }
            add!(cursor!($offsets), count, $type);
            // SAFETY: a block is left behind the items; there is room for them, and slack.
            unsafe {
                copy_blocks::<convert::Copy>(after, items.next, bytes);
                items.next = items.next.add(bytes);
                at = after.add(bytes + last);
            }
        }};
    }
    macro_rules! optional {
        ($of:expr, $to:expr, $shift:expr, $otherwise:expr, $type:ty) => {{
            let (value, after) = zigzag!(at);
            if value == 0 {
                jump!($otherwise);
            } else {
                let length = cursor!($of).used() >> $shift;
                put!(cursor!($to), length, $type);
            }
            at = after;
        }};
    }

    /// Behind a number of variable length, which as many bytes are left for.
    macro_rules! skip_number {
        ($from:expr) => {{
            let from: *const u8 = $from;
            // SAFETY: eight bytes are left.
            let Some(size) = super::skip::foreseen(unsafe { from.cast::<u64>().read_unaligned() }) else {
                break;
            };
            // SAFETY: the number is within these bytes.
            unsafe { from.add(size) }
        }};
    }
    /// Behind a string, whose length as many bytes are left for.
    macro_rules! skip_text {
        ($from:expr) => {{
            let (length, after) = zigzag!($from);
            if length as u64 > left!(after) as u64 {
                break;
            }
            // SAFETY: the check above found these bytes left.
            unsafe { after.add(length as usize) }
        }};
    }
    macro_rules! skip {
        ($from:expr, $then:expr, $what:ident) => {{
            let from: *const u8 = $from;
            if left!(from) < NUMBER {
                break;
            }
            let after = $what!(from);
            if left!(after) < $then as usize {
                break;
            }
            // SAFETY: the check above found these bytes left.
            unsafe { after.add($then as usize) }
        }};
    }
    macro_rules! skip_optional {
        ($from:expr, $there:expr, $then:expr, $what:ident) => {{
            let from: *const u8 = $from;
            if left!(from) <= NUMBER {
                break;
            }
            // SAFETY: a byte is left.
            let (branch, after) = unsafe { (settled(u64::from(*from)) as u8, from.add(1)) };
            if branch & !2 != 0 {
                break;
            }
            let after = if branch == $there { $what!(after) } else { after };
            if left!(after) < $then as usize {
                break;
            }
            // SAFETY: the check above found these bytes left.
            unsafe { after.add($then as usize) }
        }};
    }

    loop {
        // SAFETY: every way through the code ends in an instruction that is not for here.
        match unsafe { &*ip } {
            Op::Jump { to } => jump!(*to),
            Op::Copy1 { to } => copy!(to, u8, |item| item),
            Op::Copy2 { to } => copy!(to, u16, |item| item),
            Op::Copy4 { to } => copy!(to, u32, |item| item),
            Op::Copy8 { to } => copy!(to, u64, |item| item),
            Op::Swap2 { to } => copy!(to, u16, u16::swap_bytes),
            Op::Swap4 { to } => copy!(to, u32, u32::swap_bytes),
            Op::Swap8 { to } => copy!(to, u64, u64::swap_bytes),
            Op::ZigZag4 { to } => {
                let (value, after) = zigzag!(at);
                put!(cursor!(*to), value, u32);
                at = after;
            }
            Op::ZigZag8 { to } => {
                let (value, after) = zigzag!(at);
                put!(cursor!(*to), value, u64);
                at = after;
            }
            Op::VarInt4 { to } => {
                let (value, after) = unsigned!(at);
                put!(cursor!(*to), value, u32);
                at = after;
            }
            Op::VarInt8 { to } => {
                let (value, after) = unsigned!(at);
                put!(cursor!(*to), value, u64);
                at = after;
            }
            Op::ZigZagList8 { offsets, items, shift, ended } => {
                let (count, after) = zigzag!(at);
                list!(count, after, *offsets, *items, *shift, *ended, i64);
            }
            Op::ZigZagList4 { offsets, items, shift, ended } => {
                let (count, after) = zigzag!(at);
                list!(count, after, *offsets, *items, *shift, *ended, i32);
            }
            Op::TextList8 { offsets, items } => {
                if at == end {
                    break;
                }
                // SAFETY: a byte is left.
                let (count, after) = unsafe { (settled(u64::from(*at)) as u8, at.add(1)) };
                if count == 255 {
                    break;
                }
                list!(i64::from(count), after, *offsets, *items, 0, false, i64);
            }
            Op::Next { start } => {
                // SAFETY: a loop keeps how often it is still to run.
                let rest = unsafe { &mut *kept.sub(1) };
                *rest -= 1;
                if *rest > 0 {
                    jump!(*start);
                } else {
                    kept = rest;
                }
            }
            Op::Zero => {
                // SAFETY: there is a place for it.
                unsafe {
                    kept.write(0);
                    kept = kept.add(1);
                }
            }
            Op::Zeros => {
                // SAFETY: there are places for them.
                unsafe {
                    kept.write(0);
                    kept.add(1).write(0);
                    kept = kept.add(2);
                }
            }
            Op::BlockLoop { end, .. } => {
                // SAFETY: the end of the block before is kept.
                let ends = unsafe { kept.sub(1) };
                // SAFETY: as above.
                if unsafe { *ends } != 0 {
                    break;
                }
                let (count, after) = zigzag!(at);
                if count < 0 {
                    break;
                }
                at = after;
                if count == 0 {
                    kept = ends;
                    jump!(*end);
                } else {
                    // SAFETY: the sum is kept below it, and there is a place for the number of times.
                    unsafe {
                        let sum = kept.sub(2);
                        sum.write(sum.read().wrapping_add(count));
                        kept.write(count);
                        kept = kept.add(1);
                    }
                }
            }
            Op::Sum8 { offsets } => {
                // SAFETY: the sum is kept.
                let sum = unsafe { kept.sub(1) };
                // SAFETY: as above.
                let value = unsafe { *sum };
                add!(cursor!(*offsets), value, i64);
                kept = sum;
            }
            Op::Sum4 { offsets } => {
                // SAFETY: the sum is kept.
                let sum = unsafe { kept.sub(1) };
                // SAFETY: as above.
                let value = unsafe { *sum };
                add!(cursor!(*offsets), value, i32);
                kept = sum;
            }
            Op::IfZigZag { otherwise } => {
                let (value, after) = zigzag!(at);
                at = after;
                if value == 0 {
                    jump!(*otherwise);
                }
            }
            Op::IfZigZagLength8 { of, to, shift, otherwise } => optional!(*of, *to, *shift, *otherwise, i64),
            Op::IfZigZagLength4 { of, to, shift, otherwise } => optional!(*of, *to, *shift, *otherwise, i32),
            Op::Constant8 { to, value } => put!(cursor!(*to), i64::from(*value), i64),
            Op::Constant4 { to, value } => put!(cursor!(*to), *value, i32),
            Op::Skip { bytes } => {
                if (*bytes as usize) > left!(at) {
                    break;
                }
                // SAFETY: the check above found these left.
                at = unsafe { at.add(*bytes as usize) };
            }
            Op::SkipNumber { then } => {
                at = skip!(at, *then, skip_number);
            }
            Op::SkipText { then } => {
                at = skip!(at, *then, skip_text);
            }
            Op::SkipOptionalNumber { there, then } => {
                at = skip_optional!(at, *there, *then, skip_number);
            }
            Op::SkipOptionalText { there, then } => {
                at = skip_optional!(at, *there, *then, skip_text);
            }
            Op::SkipOptionalBytes { there, bytes, then } => {
                if left!(at) < NUMBER + (*bytes as usize) + (*then as usize) {
                    break;
                }
                // SAFETY: the check above found these bytes left.
                unsafe {
                    let branch = settled(u64::from(*at)) as u8;
                    if branch & !2 != 0 {
                        break;
                    }
                    let there = if branch == *there { *bytes as usize } else { 0 };
                    at = at.add(1 + there + *then as usize);
                }
            }
            Op::SkipRun { kinds, ops, most } => {
                // A loop that steps over things is through with a page sooner than processors begin with the
                // next one by themselves.
                soon(at.wrapping_add(SOON));
                if left!(at) >= *most as usize {
                    // SAFETY: instructions of these kinds follow, and the bytes that they need are left.
                    let after = unsafe { super::skip::RUNS[usize::from(*kinds)](ip.add(1), at) };
                    // Otherwise one by one.
                    if !after.is_null() {
                        at = after;
                        // SAFETY: these instructions follow.
                        ip = unsafe { ip.add(usize::from(*ops)) };
                    }
                }
            }
            _ => break,
        }
        // SAFETY: something follows every instruction that is for here, and every target.
        ip = unsafe { ip.add(1) };
    }
    *state = FastPath { ip, at: at as usize - base as usize, kept };
}
