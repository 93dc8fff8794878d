//! The native loop over [`Op`]s: position and cursors at hand, success only.
//!
//! Steps that are not worth a cursor, lists in lists above all, are done by the loops for them, to which
//! cursors are lent.

use super::convert::{self, BLOCK, copy_blocks};
use super::cursor::{Cursor, append, counted, frame_end, grow, load, slow_list, store};
use super::exec::{Exec, chunk};
use super::fast_path::FastPath;
use super::lent::{bulk, nested};
use super::level::Level;
use super::nest::PassLimit;
use super::number::{number, unsigned, zigzag};
use super::ops::{NONE, Op};
use super::plan::Plan;
use super::skip;
use super::steps::Count;
use crate::number::Number;

/// So many items, on the stack if they are few.
macro_rules! local {
    ($name:ident, $few:literal, $count:expr, $none:expr) => {
        let mut few = [$none; $few];
        let mut many = Vec::new();
        let $name = if $count <= $few {
            &mut few[..$count]
        } else {
            many.resize($count, $none);
            &mut many[..]
        };
    };
}

/// Runs up to `passes` passes and undoes the one that fails. Returns how many were run.
#[inline(always)]
#[allow(clippy::too_many_lines, reason = "one line or a few for each instruction")]
#[allow(
    clippy::needless_range_loop,
    reason = "what iterators call need not be compiled with the instructions of this level"
)]
pub(super) fn run<L: Level>(exec: &mut Exec<'_>, plan: &Plan, passes: usize) -> usize {
    let ops = &plan.ops;
    let columns = &ops.columns[..];
    let data = exec.data;
    let mut at = exec.positions[plan.data];
    local!(cursors, 12, columns.len(), Cursor::NONE);
    local!(marks, 12, columns.len(), 0_usize);
    local!(kept, 16, ops.depth, 0_i64);
    // Header fields move other inputs and set variables.
    let mut positions = vec![0; plan.inputs.len()];
    let mut variables = vec![0; plan.variables.len()];
    load(exec, columns, cursors);
    let mut top = 0;
    let mut times = 0_u64;
    let mut done = 0;
    let mut pass_at;
    let code = ops.code.as_ptr();
    let mut ip = code;

    macro_rules! begin {
        () => {
            pass_at = at;
            // Indices, since what iterators call need not be compiled with the instructions of this level.
            for column in 0..columns.len() {
                marks[column] = cursor!(column).used();
            }
            for at in 0..plan.inputs.len() {
                positions[at] = exec.positions[plan.inputs[at]];
            }
            for at in 0..plan.variables.len() {
                variables[at] = exec.variables[plan.variables[at]];
            }
        };
    }
    macro_rules! jump {
        ($to:expr) => {
            // SAFETY: targets are instructions of this code.
            ip = unsafe { ip.offset($to as isize) }
        };
    }
    macro_rules! some {
        ($option:expr) => {
            match $option {
                Some(value) => value,
                None => break,
            }
        };
    }
    macro_rules! yes {
        ($holds:expr) => {
            if !$holds {
                break;
            }
        };
    }
    macro_rules! cursor {
        ($column:expr) => {
            // SAFETY: there is a cursor for each column.
            unsafe { cursors.get_unchecked_mut($column as usize) }
        };
    }
    macro_rules! push {
        ($value:expr) => {{
            let value = $value;
            // The depth is that of the code.
            kept[top] = value;
            top += 1;
        }};
    }
    /// Room for a number of bytes.
    macro_rules! room {
        ($column:expr, $bytes:expr) => {
            if cursor!($column).room() < $bytes {
                yes!(grow(exec, columns, cursors, $column, $bytes));
            }
        };
    }
    macro_rules! copy {
        ($to:expr, $size:literal, $change:expr) => {{
            let bytes: [u8; $size] = some!(chunk(data, at));
            room!($to, $size);
            let change: fn([u8; $size]) -> [u8; $size] = $change;
            let cursor = cursor!($to);
            // SAFETY: there is room for the item.
            unsafe { cursor.put(change(bytes)) };
            at += $size;
        }};
    }
    macro_rules! varint {
        ($to:expr, $read:ident, $type:ty) => {{
            let (value, after) = some!($read(data, at));
            room!($to, size_of::<$type>());
            let cursor = cursor!($to);
            // SAFETY: there is room for the item.
            unsafe { cursor.put((value as $type).to_ne_bytes()) };
            at = after;
        }};
    }
    macro_rules! append {
        ($to:expr, $number:expr, $add:expr) => {
            yes!(append(exec, columns, cursors, $to, $number, $add))
        };
    }
    /// The offset of a list and its plain items.
    macro_rules! list {
        ($count:expr, $after:expr, $offsets:expr, $items:expr, $shift:expr, $ended:expr, $type:ty) => {{
            let (count, after): (i64, usize) = ($count, $after);
            yes!((0..1 << 31).contains(&count));
            room!($offsets, size_of::<$type>());
            let offsets = cursor!($offsets);
            // SAFETY: there is room for an offset, and one item before the end is always readable.
            unsafe {
                let last = offsets.next.cast::<$type>().sub(1).read_unaligned();
                offsets.put(last.wrapping_add(count as $type).to_ne_bytes());
            }
            let bytes = (count as usize) << $shift;
            let left = data.len() - after;
            let last = usize::from($ended);
            let items = cursor!($items);
            if bytes + last + BLOCK <= left && bytes <= items.room() {
                // SAFETY: a block is left behind the items; there is room for them, and slack.
                unsafe {
                    copy_blocks::<convert::Copy>(data.as_ptr().add(after), items.next, bytes);
                    items.next = items.next.add(bytes);
                }
                at = after + bytes + last;
            } else {
                at = some!(slow_list(exec, columns, cursors, $items, bytes, last, after));
            }
        }};
    }
    macro_rules! stop {
        ($variable:expr) => {
            exec.variables[$variable as usize]
        };
    }

    if passes == 0 {
        return 0;
    }
    begin!();
    loop {
        let kept_now = kept.as_mut_ptr().wrapping_add(top);
        let mut fast_path = FastPath { ip, at, kept: kept_now };
        // SAFETY: this runs inside of the level's own entry point; the state is that of this code, these
        // columns and this input.
        unsafe { L::fast_path(&mut fast_path, data, cursors.as_mut_ptr()) };
        (ip, at) = (fast_path.ip, fast_path.at);
        top = (fast_path.kept as usize - kept.as_ptr() as usize) / size_of::<i64>();
        // SAFETY: every way through the code ends in `Done`.
        let op = unsafe { *ip };
        // SAFETY: as above.
        ip = unsafe { ip.add(1) };
        match op {
            Op::Done => {
                done += 1;
                if done == passes {
                    pass_at = at;
                    break;
                }
                begin!();
                ip = code;
            }
            Op::Jump { to } => jump!(to),

            Op::Copy1 { to } => copy!(to, 1, |bytes| bytes),
            Op::Copy2 { to } => copy!(to, 2, |bytes| bytes),
            Op::Copy4 { to } => copy!(to, 4, |bytes| bytes),
            Op::Copy8 { to } => copy!(to, 8, |bytes| bytes),
            Op::Swap2 { to } => copy!(to, 2, |bytes| u16::from_ne_bytes(bytes).swap_bytes().to_ne_bytes()),
            Op::Swap4 { to } => copy!(to, 4, |bytes| u32::from_ne_bytes(bytes).swap_bytes().to_ne_bytes()),
            Op::Swap8 { to } => copy!(to, 8, |bytes| u64::from_ne_bytes(bytes).swap_bytes().to_ne_bytes()),
            Op::Bool { to } => copy!(to, 1, |[byte]| [u8::from(byte != 0)]),
            Op::ZigZag4 { to } => varint!(to, zigzag, u32),
            Op::ZigZag8 { to } => varint!(to, zigzag, u64),
            Op::VarInt4 { to } => varint!(to, unsigned, u32),
            Op::VarInt8 { to } => varint!(to, unsigned, u64),
            Op::Item { to, read } => {
                let (number, after) = some!(number(data, ops.reads[read as usize], at));
                append!(to, number, false);
                at = after;
            }
            Op::Skip { bytes } => {
                yes!(bytes as usize <= data.len() - at);
                at += bytes as usize;
            }

            // One by one.
            Op::SkipRun { .. } => {}
            Op::SkipNumber { then } => at = some!(skip::number(data, at, then)),
            Op::SkipText { then } => at = some!(skip::text(data, at, then)),
            Op::SkipOptionalNumber { there, then } => {
                at = some!(skip::optional(data, at, there, |data, at| skip::number(data, at, 0)));
                at = some!(skip::bytes(data, at, then));
            }
            Op::SkipOptionalText { there, then } => {
                at = some!(skip::optional(data, at, there, |data, at| skip::text(data, at, 0)));
                at = some!(skip::bytes(data, at, then));
            }
            Op::SkipOptionalBytes { there, bytes, then } => {
                at = some!(skip::optional(data, at, there, |data, at| skip::bytes(data, at, bytes)));
                at = some!(skip::bytes(data, at, then));
            }
            Op::SkipBlocks { size } => at = some!(skip::blocks(data, at, size)),
            Op::SkipBlock { end } => {
                let (items, after) = some!(skip::block(data, at));
                at = after;
                if items == 0 {
                    jump!(end);
                } else {
                    push!(items);
                }
            }

            Op::Bulk { leaf, items } => {
                let leaf = ops.leaves[leaf as usize];
                at = some!(bulk::<L>(exec, columns, cursors, leaf, items as usize, at));
            }
            Op::BulkTimes { leaf, items } => {
                let leaf = ops.leaves[leaf as usize];
                let items =
                    some!(usize::try_from(times).ok().and_then(|times| times.checked_mul(items as usize)));
                at = some!(bulk::<L>(exec, columns, cursors, leaf, items, at));
            }
            Op::BulkToEnd { leaf, variable, offsets } => {
                let leaf = ops.leaves[leaf as usize];
                let left = usize::try_from(stop!(variable)).unwrap_or(0).saturating_sub(at);
                let items = left.div_ceil(1 << leaf.shift);
                at = some!(bulk::<L>(exec, columns, cursors, leaf, items, at));
                append!(offsets, Number::Signed(items as i64), true);
            }
            Op::Rest { rest } => {
                let rest = ops.rests[rest as usize];
                // A negative rest would be rounded down.
                let left = some!(
                    stop!(rest.variable).checked_sub(at as i64).and_then(|left| u64::try_from(left).ok())
                );
                let lists = left / rest.bytes;
                append!(rest.offsets, Number::Signed(lists as i64), true);
                let items =
                    some!(usize::try_from(lists).ok().and_then(|lists| lists.checked_mul(rest.items)));
                at = some!(bulk::<L>(exec, columns, cursors, rest.leaf, items, at));
            }

            Op::ZigZagList8 { offsets, items, shift, ended } => {
                let (count, after) = some!(zigzag(data, at));
                list!(count, after, offsets, items, shift, ended, i64);
            }
            Op::ZigZagList4 { offsets, items, shift, ended } => {
                let (count, after) = some!(zigzag(data, at));
                list!(count, after, offsets, items, shift, ended, i32);
            }
            Op::BigList8 { offsets, items, shift } => {
                let (count, after) = some!(counted(data, Count::Big32, at));
                list!(count, after, offsets, items, shift, false, i64);
            }
            Op::BigList4 { offsets, items, shift } => {
                let (count, after) = some!(counted(data, Count::Big32, at));
                list!(count, after, offsets, items, shift, false, i32);
            }
            Op::TextList8 { offsets, items } => {
                let (count, after) = some!(counted(data, Count::Text, at));
                list!(count, after, offsets, items, 0, false, i64);
            }
            Op::TextList4 { offsets, items } => {
                let (count, after) = some!(counted(data, Count::Text, at));
                list!(count, after, offsets, items, 0, false, i32);
            }
            Op::Nest { nest } => {
                let nest = &ops.nests[nest as usize];
                let (run, after) = nested::<L>(exec, columns, cursors, nest, 1.into(), at);
                yes!(run == 1);
                at = after;
            }
            Op::NestTimes { nest } => {
                let nest = &ops.nests[nest as usize];
                let passes = some!(usize::try_from(times).ok());
                let (run, after) = nested::<L>(exec, columns, cursors, nest, passes.into(), at);
                yes!(run == passes);
                at = after;
            }
            Op::NestToEnd { nest, variable, offsets } => {
                let nest = &ops.nests[nest as usize];
                let stop = usize::try_from(stop!(variable)).unwrap_or(0);
                let passes = PassLimit { most: usize::MAX, stop };
                let (run, after) = nested::<L>(exec, columns, cursors, nest, passes, at);
                yes!(after >= stop);
                append!(offsets, Number::Signed(run as i64), true);
                at = after;
            }

            Op::Times { times: number } => times = u64::from(number),
            Op::Count { count } => {
                let count = ops.counts[count as usize];
                let (items, after) = some!(counted(data, count.count, at));
                yes!((0..1 << 31).contains(&items));
                if count.offsets != NONE {
                    append!(count.offsets, Number::Signed(items), true);
                }
                (times, at) = (items as u64, after);
            }
            Op::Loop { end } => {
                if times == 0 {
                    jump!(end);
                } else {
                    push!(times as i64);
                }
            }
            Op::Next { start } => {
                kept[top - 1] -= 1;
                if kept[top - 1] > 0 {
                    jump!(start);
                } else {
                    top -= 1;
                }
            }
            Op::Block { ends, end } | Op::BlockLoop { ends, end } => {
                if kept[top - 1] != 0 {
                    yes!(kept[top - 1] == at as i64);
                    kept[top - 1] = 0;
                }
                let (mut items, after) = some!(zigzag(data, at));
                at = after;
                if items < 0 {
                    items = items.wrapping_neg();
                    let (size, after) = some!(zigzag(data, at));
                    at = after;
                    if ends {
                        yes!(size >= 0);
                        // There is something before it: it cannot end at 0.
                        kept[top - 1] = (at as i64).wrapping_add(size);
                    }
                }
                // The smallest number has no opposite.
                yes!(items >= 0);
                if items == 0 {
                    top -= 1;
                    jump!(end);
                } else {
                    kept[top - 2] = kept[top - 2].wrapping_add(items);
                    times = items as u64;
                    if matches!(op, Op::BlockLoop { .. }) {
                        push!(items);
                    }
                }
            }
            Op::Sum { offsets } | Op::Sum8 { offsets } | Op::Sum4 { offsets } => {
                top -= 1;
                append!(offsets, Number::Signed(kept[top]), true);
            }
            Op::Zero => push!(0),
            Op::Zeros => {
                push!(0);
                push!(0);
            }
            Op::More { variable, end } => {
                if (at as i64) < stop!(variable) {
                    kept[top - 1] += 1;
                    push!(at as i64);
                } else {
                    jump!(end);
                }
            }
            Op::Again { to } => {
                top -= 1;
                // A body that does not move on would go on for ever.
                yes!(at as i64 > kept[top]);
                jump!(to);
            }

            Op::IfZigZag { otherwise } => {
                let (value, after) = some!(zigzag(data, at));
                at = after;
                if value == 0 {
                    jump!(otherwise);
                }
            }
            Op::IfZigZagLength8 { of, to, shift, otherwise }
            | Op::IfZigZagLength4 { of, to, shift, otherwise } => {
                let (value, after) = some!(zigzag(data, at));
                at = after;
                if value == 0 {
                    jump!(otherwise);
                } else {
                    let length = cursor!(of).used() >> shift;
                    append!(to, Number::Signed(length as i64), false);
                }
            }
            Op::If { read, store, otherwise } => {
                let (number, after) = some!(number(data, ops.reads[read as usize], at));
                let value = number.to_stack();
                if store != NONE {
                    append!(store, Number::Signed(value), false);
                }
                at = after;
                if value == 0 {
                    jump!(otherwise);
                }
            }
            Op::Switch { switch } => {
                let switch = &ops.switches[switch as usize];
                let (number, after) = some!(number(data, switch.read, at));
                let value = number.to_stack();
                let arm = *some!(usize::try_from(value).ok().and_then(|value| switch.arms.get(value)));
                if switch.store != NONE {
                    append!(switch.store, Number::Signed(value), false);
                }
                at = after;
                // SAFETY: an arm is an instruction of this code.
                ip = unsafe { code.add(arm as usize) };
            }
            Op::IfBefore { variable, otherwise } => {
                if (at as i64) >= stop!(variable) {
                    jump!(otherwise);
                }
            }
            Op::Mask { read, mask, end } => {
                let (number, after) = some!(number(data, ops.reads[read as usize], at));
                let value = number.to_stack();
                push!(value);
                at = after;
                if value & i64::from(mask) == 0 {
                    jump!(end);
                }
            }
            Op::MaskEnd { to } => {
                top -= 1;
                append!(to, Number::Signed(kept[top]), false);
            }

            Op::Length { of, to } => {
                let length = cursor!(of).used() >> columns[of as usize].shift;
                append!(to, Number::Signed(length as i64), false);
            }
            Op::Constant8 { to, value } | Op::Constant4 { to, value } => {
                append!(to, Number::Signed(i64::from(value)), false)
            }
            Op::Constant { to, add, value } => append!(to, Number::Signed(i64::from(value)), add),
            Op::Number { to, add, read } => {
                let (number, after) = some!(number(data, ops.reads[read as usize], at));
                append!(to, Number::Signed(number.to_stack()), add);
                at = after;
            }

            Op::Start(start) => {
                at = some!(start.position(some!(exec.next_u32(start.input as usize)), data.len()));
            }
            Op::Stop { input, variable } => {
                exec.variables[variable as usize] = i64::from(some!(exec.next_u32(input as usize)));
            }
            Op::ByteCount { bias, variable } => {
                yes!(some!(frame_end(data, bias, at)) == stop!(variable));
                at += 4;
            }
            Op::Version { low, high } => {
                let version = u16::from_be_bytes(some!(chunk(data, at)));
                yes!(low <= version && version <= high);
                at += 2;
            }
            Op::CheckEnd { variable } => yes!(at as i64 == stop!(variable)),
            Op::Frame { bias } => {
                push!(some!(frame_end(data, bias, at)));
                at += 4;
            }
            Op::FrameEnd => {
                top -= 1;
                yes!(at as i64 == kept[top]);
            }
        }
    }
    store(exec, columns, cursors);
    if done < passes {
        for (mark, column) in marks.iter().zip(columns) {
            exec.outputs.list[column.output].end = *mark;
        }
        for (position, &input) in positions.iter().zip(&plan.inputs) {
            exec.positions[input] = *position;
        }
        for (value, &variable) in variables.iter().zip(&plan.variables) {
            exec.variables[variable] = *value;
        }
    }
    exec.positions[plan.data] = pass_at;
    done
}
