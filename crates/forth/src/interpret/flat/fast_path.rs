//! The fast path of tier 1: a loop of its own for the instructions that do most of the decoding, whose state
//! stays in registers. It serves one input, which most instructions read from; instructions of other inputs
//! are preceded by [`Fast::Other`], which ends the loop.
//!
//! An instruction is executed completely or not at all: unusual cases, above all the end of the input or of
//! the space in an output, and all other instructions are left to [`run`](super::run).

use std::sync::atomic::{AtomicBool, Ordering};

use super::code::{Fast, R, Slot};
use super::skip::{self, Skip};
use crate::interpret::fused::convert::{BLOCK, Copy, copy_blocks};
use crate::interpret::fused::{Leaf, short};
use crate::output::Output;
use crate::state::Width;
use forthwith_kernels::settled::settled;

/// State that the instructions access.
pub(in crate::interpret) struct Fields<'a> {
    pub(super) regs: *mut i64,
    pub(super) inputs: &'a [&'a [u8]],
    pub(super) positions: *mut usize,
    pub(super) outputs: *mut Output,
    pub(super) targets: &'a [u32],
    pub(super) leaves: &'a [Leaf],
    pub(super) skips: &'a [Skip],
    pub(super) code: *const Fast,
    pub(super) interrupt: Option<&'a AtomicBool>,
}

/// Returns the input of an instruction of the fast path; None for other instructions.
pub(super) fn input_of(fast: &Fast) -> Option<Slot> {
    match *fast {
        Fast::SkipRun { input, .. }
        | Fast::SkipConst { input, .. }
        | Fast::Skip { input, .. }
        | Fast::U8 { input, .. }
        | Fast::BigU32 { input, .. }
        | Fast::VarInt { input, .. }
        | Fast::ZigZag { input, .. }
        | Fast::IfZigZag { input, .. }
        | Fast::IfZigZagZero { input, .. }
        | Fast::IfZigZagLength { input, .. }
        | Fast::Copy1 { input, .. }
        | Fast::Copy2 { input, .. }
        | Fast::Copy4 { input, .. }
        | Fast::Copy8 { input, .. }
        | Fast::Swap2 { input, .. }
        | Fast::Swap4 { input, .. }
        | Fast::Swap8 { input, .. }
        | Fast::VarInt4 { input, .. }
        | Fast::VarInt8 { input, .. }
        | Fast::ZigZag4 { input, .. }
        | Fast::ZigZag8 { input, .. }
        | Fast::ListZigZag { input, .. }
        | Fast::ListBig { input, .. }
        | Fast::ListByte { input, .. }
        | Fast::Bytes { input, .. }
        | Fast::Items { input, .. } => Some(input),
        _ => None,
    }
}

/// Runs up to the first instruction that the fast path cannot execute, and returns it.
///
/// # Safety
///
/// The instruction and its successors belong to one code and its input, and registers, inputs and outputs to
/// its program. Nothing else uses them meanwhile. They are passed by address, so that rarely used fields are
/// loaded on demand and do not occupy registers.
#[inline(always)]
pub(in crate::interpret) unsafe fn run<W: Width>(
    mut ip: *const Fast,
    current: Slot,
    state: *const Fields<'_>,
) -> *const Fast {
    macro_rules! field {
        ($name:ident) => {
            // SAFETY: guaranteed by the caller.
            unsafe { (*state).$name }
        };
    }
    let (regs, outputs, inputs, positions) =
        (field!(regs), field!(outputs), field!(inputs), field!(positions));
    // SAFETY: the machine has all its inputs.
    let data = unsafe { *inputs.get_unchecked(current as usize) };
    let end = data.as_ptr_range().end;
    // SAFETY: the position of each input is within it.
    let mut at = unsafe { data.as_ptr().add(*positions.add(current as usize)) };

    macro_rules! r {
        ($reg:expr) => {
            // SAFETY: all registers are below the number that the function was given.
            *unsafe { &mut *regs.add($reg as R as usize) }
        };
    }
    macro_rules! jump {
        ($to:expr) => {
            // SAFETY: targets are instructions of this code.
            ip = unsafe { ip.offset($to as i32 as isize) }
        };
    }
    macro_rules! left {
        ($from:expr) => {
            end as usize - $from as usize
        };
    }
    macro_rules! output {
        ($output:expr) => {
            // SAFETY: the machine has all its outputs.
            unsafe { &mut *outputs.add($output as usize) }
        };
    }
    /// Decodes a number of variable length, and returns the position after it; ends the loop for numbers of
    /// more than a byte near the end of the input.
    macro_rules! unsigned {
        ($from:expr) => {{
            let from: *const u8 = $from;
            if from == end {
                break;
            }
            // SAFETY: a byte is left.
            let first = settled(u64::from(unsafe { *from }));
            if first < 0x80 {
                // SAFETY: one byte is left.
                (first, unsafe { from.add(1) })
            } else {
                if left!(from) < 8 {
                    break;
                }
                // SAFETY: eight bytes are left.
                let word = u64::from_le(unsafe { from.cast::<u64>().read_unaligned() });
                let Some((value, size)) = short(word) else { break };
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
    /// Reads an item of fixed size, and returns the position after it.
    macro_rules! item {
        ($type:ty) => {{
            if left!(at) < size_of::<$type>() {
                break;
            }
            // SAFETY: the check above found these bytes left.
            unsafe { (at.cast::<$type>().read_unaligned(), at.add(size_of::<$type>())) }
        }};
    }
    macro_rules! put {
        ($output:expr, $value:expr, $type:ty) => {{
            let output = output!($output);
            // The write may alias `output`, as far as the compiler knows: `end` read after it would be loaded
            // again.
            let written = output.end;
            let after = written + size_of::<$type>();
            if after > output.room {
                break;
            }
            let value = $value as $type;
            // SAFETY: the check above found space for the item.
            unsafe { output.start.add(written).cast::<$type>().write_unaligned(value) };
            output.end = after;
        }};
    }
    /// Appends the last item plus a number.
    macro_rules! add {
        ($output:expr, $value:expr, $type:ty) => {{
            let output = output!($output);
            let written = output.end;
            let after = written + size_of::<$type>();
            if after > output.room {
                break;
            }
            let value = $value as $type;
            // SAFETY: the check above found space for the item, and the bytes before the end are always
            // readable.
            unsafe {
                let next = output.start.add(written).cast::<$type>();
                next.write_unaligned(next.sub(1).read_unaligned().wrapping_add(value));
            }
            output.end = after;
        }};
    }
    macro_rules! copy {
        ($output:expr, $type:ty, $change:expr) => {{
            let change: fn($type) -> $type = $change;
            let (item, after) = item!($type);
            put!($output, change(item), $type);
            at = after;
        }};
    }
    macro_rules! read {
        ($to:expr, $type:ty, $from:ident) => {{
            let (item, after) = item!($type);
            r!($to) = W::wrap(<$type>::$from(item) as i64);
            at = after;
        }};
    }
    /// Copies bytes, after which at least a block of the input is left.
    macro_rules! block {
        ($from:expr, $output:expr, $bytes:expr) => {{
            let output = output!($output);
            // SAFETY: a block of the input is left after the items; the output has space for them, and slack.
            unsafe {
                copy_blocks::<Copy>($from, output.start.add(output.end), $bytes);
                at = $from.add($bytes);
            }
            output.end += $bytes;
        }};
    }
    macro_rules! list {
        ($to:expr, $count:expr, $after:expr, $offsets:expr, $output:expr, $shift:expr, $wide:expr) => {{
            let (count, after): (i64, *const u8) = ($count, $after);
            let items = output!($output);
            // Longer lists lose nothing elsewhere.
            if count as u64 >= 1 << 24 {
                break;
            }
            let bytes = (count as usize) << $shift;
            // An output without space may have no memory at all.
            if left!(after) < bytes + BLOCK || items.end + bytes.max(1) > items.room {
                break;
            }
            if $wide {
                add!($offsets, count, i64);
            } else {
                add!($offsets, count, i32);
            }
            r!($to) = count;
            block!(after, $output, bytes);
            // SAFETY: the three instructions this one stands for follow.
            ip = unsafe { ip.add(3) };
        }};
    }
    macro_rules! length {
        ($from:expr, $to:expr, $of:expr, $output:expr, $shift:expr, $wide:expr) => {{
            let length = W::wrap((output!($of).end >> $shift) as i64);
            if $wide {
                put!($output, length, i64);
            } else {
                put!($output, length, i32);
            }
            r!($to) = length;
            // SAFETY: the two instructions this one stands for follow.
            ip = unsafe { $from.add(2) };
        }};
    }
    macro_rules! skip {
        ($by:expr) => {{
            let by = $by as u64;
            if by > left!(at) as u64 {
                break;
            }
            // SAFETY: the check above found these bytes left.
            at = unsafe { at.add(by as usize) };
        }};
    }
    macro_rules! branch {
        ($holds:expr, $to:expr) => {
            if $holds {
                jump!($to);
            }
        };
    }

    loop {
        // SAFETY: every path ends in an instruction that ends the loop, and instructions of other inputs
        // follow one.
        match unsafe { &*ip } {
            Fast::Move { to, from } => r!(*to) = W::wrap(r!(*from)),
            Fast::Const { to, value } => r!(*to) = *value,
            Fast::Negate { to, a } => r!(*to) = W::wrap(r!(*a).wrapping_neg()),
            Fast::Add { to, a, b } => r!(*to) = W::wrap(r!(*a).wrapping_add(r!(*b))),
            Fast::AddConst { to, a, b } => r!(*to) = W::wrap(r!(*a).wrapping_add(*b)),
            Fast::Next { index, stop, to } => {
                let next = r!(*index).wrapping_add(1);
                r!(*index) = next;
                branch!(next < r!(*stop), *to);
            }
            Fast::Enter { index, stop, from, to } => {
                r!(*stop) = W::wrap(r!(*from));
                r!(*index) = 0;
                branch!(r!(*stop) <= 0, *to);
            }
            Fast::Jump { to } => jump!(*to),
            Fast::IfEq { a, b, to } => branch!(r!(*a) == r!(*b), *to),
            Fast::IfNe { a, b, to } => branch!(r!(*a) != r!(*b), *to),
            Fast::IfLt { a, b, to } => branch!(r!(*a) < r!(*b), *to),
            Fast::IfLe { a, b, to } => branch!(r!(*a) <= r!(*b), *to),
            Fast::IfEqConst { a, b, to } => branch!(r!(*a) == *b, *to),
            Fast::IfNeConst { a, b, to } => branch!(r!(*a) != *b, *to),
            Fast::IfLtConst { a, b, to } => branch!(r!(*a) < *b, *to),
            Fast::IfLeConst { a, b, to } => branch!(r!(*a) <= *b, *to),
            Fast::IfGtConst { a, b, to } => branch!(r!(*a) > *b, *to),
            Fast::IfGeConst { a, b, to } => branch!(r!(*a) >= *b, *to),
            Fast::IfZigZag { flag, to, .. } => {
                let (value, after) = zigzag!(at);
                at = after;
                r!(*flag) = W::wrap(value);
                branch!(r!(*flag) != 0, *to);
            }
            Fast::IfZigZagZero { flag, to, .. } => {
                let (value, after) = zigzag!(at);
                at = after;
                r!(*flag) = W::wrap(value);
                branch!(r!(*flag) == 0, *to);
            }
            Fast::IfZigZagLength { flag, to, .. } => {
                let (value, after) = zigzag!(at);
                if W::wrap(value) == 0 {
                    r!(*flag) = 0;
                    jump!(*to);
                } else {
                    // SAFETY: a `WriteLength` follows this instruction.
                    let next = unsafe { ip.add(1) };
                    // SAFETY: a `WriteLength` follows this instruction.
                    let Fast::WriteLength { to, of, output, shift, wide } = (unsafe { &*next }) else {
                        break;
                    };
                    // Written before the length, which may have the same register.
                    r!(*flag) = W::wrap(value);
                    length!(next, *to, *of, *output, *shift, *wide);
                }
                at = after;
            }
            Fast::Switch { selector, first, count } => {
                let number = r!(*selector);
                let which = if number >= 0 && number < i64::from(*count) { number as u32 } else { *count };
                let (code, targets) = (field!(code), field!(targets));
                // SAFETY: tables hold instructions of this code.
                ip = unsafe { code.add(targets[(*first + which) as usize] as usize) };
                continue;
            }
            Fast::SkipConst { by, .. } => skip!(*by),
            Fast::Skip { by, .. } => skip!(r!(*by)),
            Fast::U8 { to, .. } => read!(*to, u8, from_le),
            Fast::BigU32 { to, .. } => read!(*to, u32, from_be),
            Fast::VarInt { to, .. } => {
                let (value, after) = unsigned!(at);
                at = after;
                r!(*to) = W::wrap(value as i64);
            }
            Fast::ZigZag { to, .. } => {
                let (value, after) = zigzag!(at);
                at = after;
                r!(*to) = W::wrap(value);
            }
            Fast::Copy1 { output, .. } => copy!(*output, u8, |item| item),
            Fast::Copy2 { output, .. } => copy!(*output, u16, |item| item),
            Fast::Copy4 { output, .. } => copy!(*output, u32, |item| item),
            Fast::Copy8 { output, .. } => copy!(*output, u64, |item| item),
            Fast::Swap2 { output, .. } => copy!(*output, u16, u16::swap_bytes),
            Fast::Swap4 { output, .. } => copy!(*output, u32, u32::swap_bytes),
            Fast::Swap8 { output, .. } => copy!(*output, u64, u64::swap_bytes),
            Fast::VarInt4 { output, .. } => {
                let (value, after) = unsigned!(at);
                put!(*output, value, u32);
                at = after;
            }
            Fast::VarInt8 { output, .. } => {
                let (value, after) = unsigned!(at);
                put!(*output, value, u64);
                at = after;
            }
            Fast::ZigZag4 { output, .. } => {
                let (value, after) = zigzag!(at);
                put!(*output, value, u32);
                at = after;
            }
            Fast::ZigZag8 { output, .. } => {
                let (value, after) = zigzag!(at);
                put!(*output, value, u64);
                at = after;
            }
            Fast::ListZigZag { to, offsets, output, shift, wide, .. } => {
                let (count, after) = zigzag!(at);
                list!(*to, W::wrap(count), after, *offsets, *output, *shift, *wide);
            }
            Fast::ListBig { to, offsets, output, shift, wide, .. } => {
                let (item, after) = item!(u32);
                let count = settled(u32::from_be(item).into()) as i64;
                list!(*to, W::wrap(count), after, *offsets, *output, *shift, *wide);
            }
            Fast::ListByte { to, offsets, output, shift, wide, .. } => {
                let (item, after) = item!(u8);
                list!(*to, settled(item.into()) as i64, after, *offsets, *output, *shift, *wide);
            }
            Fast::Bytes { output, count, .. } => {
                let bytes = r!(*count).max(0);
                if bytes >= 1 << 24 {
                    break;
                }
                let bytes = bytes as usize;
                let items = output!(*output);
                if left!(at) < bytes + BLOCK || items.end + bytes > items.room {
                    break;
                }
                if bytes > 0 {
                    block!(at, *output, bytes);
                }
            }
            Fast::WriteLength { to, of, output, shift, wide } => {
                length!(ip, *to, *of, *output, *shift, *wide);
            }
            Fast::Items { leaf, index, stop, shift, copied, .. } => {
                let passes = r!(*stop).wrapping_sub(r!(*index)) as u64;
                if !copied || passes.wrapping_sub(1) >= 1 << 12 {
                    break;
                }
                let bytes = (passes as usize) << shift;
                let output = field!(leaves)[*leaf as usize].output;
                let items = output!(output);
                if left!(at) < bytes + BLOCK || items.end + bytes > items.room {
                    break;
                }
                block!(at, output, bytes);
                r!(*index) = r!(*stop);
                // SAFETY: the two instructions this one stands for follow.
                ip = unsafe { ip.add(2) };
            }
            Fast::SkipRun { kinds, ahead, most, first, to, .. } => {
                if usize::from(*most) <= left!(at) {
                    let skips = &raw const field!(skips)[*first as usize];
                    // SAFETY: the skips are of these kinds, and the bytes that they need are left.
                    let after = unsafe { skip::run(*kinds, skips, at.add(usize::from(*ahead))) };
                    // Otherwise the instructions that follow skip the values one by one.
                    if !after.is_null() {
                        at = after;
                        jump!(*to);
                    }
                }
            }
            Fast::Write8 { output, from, .. } => put!(*output, r!(*from), i64),
            Fast::Write4 { output, from, .. } => put!(*output, r!(*from), i32),
            Fast::WriteConst8 { output, value, .. } => put!(*output, *value, i64),
            Fast::WriteConst4 { output, value, .. } => put!(*output, *value, i32),
            Fast::WriteAdd8 { output, from, .. } => add!(*output, r!(*from), i64),
            Fast::WriteAdd4 { output, from, .. } => add!(*output, r!(*from), i32),
            Fast::Poll { .. } => {
                if field!(interrupt).is_some_and(|flag| flag.load(Ordering::Relaxed)) {
                    break;
                }
            }
            _ => break,
        }
        // SAFETY: another instruction follows every instruction of the fast path, and every target.
        ip = unsafe { ip.add(1) };
    }
    // SAFETY: there are as many positions as inputs, and `at` is within this input.
    unsafe { *positions.add(current as usize) = at.offset_from_unsigned(data.as_ptr()) };
    ip
}
