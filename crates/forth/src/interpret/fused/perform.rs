//! The native loop over [`Op`]s: position and cursors at hand, success only.
//!
//! What is not worth a cursor, lists in lists above all, is done by the loops for that, to which cursors are lent.

use super::convert::{self, BLOCK, copy_blocks};
use super::exec::{Exec, chunk};
use super::hot::Hot;
use super::levels::{Level, dispatch};
use super::nest::Passes;
use super::number::{number, unsigned, zigzag};
use super::ops::{C, Column, NONE, Op};
use super::plan::{Count, Leaf, Nest, Plan};
use crate::Dtype;
use crate::dtype::{Number, add_items};

/// Where a column is written next, and its memory.
#[derive(Clone, Copy)]
pub(super) struct Cursor {
    pub(super) next: *mut u8,
    pub(super) limit: *mut u8,
    pub(super) start: *mut u8,
}

impl Cursor {
    const NONE: Self =
        Self { next: std::ptr::null_mut(), limit: std::ptr::null_mut(), start: std::ptr::null_mut() };

    #[inline(always)]
    pub(super) fn room(&self) -> usize {
        self.limit as usize - self.next as usize
    }

    #[inline(always)]
    pub(super) fn used(&self) -> usize {
        self.next as usize - self.start as usize
    }

    /// # Safety
    ///
    /// There is room for so many bytes, or slack.
    #[inline(always)]
    pub(super) unsafe fn put<const N: usize>(&mut self, bytes: [u8; N]) {
        // SAFETY: the caller's.
        unsafe {
            self.next.cast::<[u8; N]>().write(bytes);
            self.next = self.next.add(N);
        }
    }
}

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

/// Runs up to so many passes and undoes the one that fails. How many were run.
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
    /// Room for so many bytes.
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
        let mut hot = Hot { ip, at, kept: kept_now };
        // SAFETY: this runs inside of the level's own entry point; the state is that of this code, these columns and this input.
        unsafe { L::hot(&mut hot, data, cursors.as_mut_ptr()) };
        (ip, at) = (hot.ip, hot.at);
        top = (hot.kept as usize - kept.as_ptr() as usize) / size_of::<i64>();
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

            Op::Bulk { leaf, items } => {
                let leaf = ops.leaves[leaf as usize];
                at = some!(bulk(exec, columns, cursors, leaf, items as usize, at));
            }
            Op::BulkTimes { leaf, items } => {
                let leaf = ops.leaves[leaf as usize];
                let items =
                    some!(usize::try_from(times).ok().and_then(|times| times.checked_mul(items as usize)));
                at = some!(bulk(exec, columns, cursors, leaf, items, at));
            }
            Op::BulkToEnd { leaf, variable, offsets } => {
                let leaf = ops.leaves[leaf as usize];
                let left = usize::try_from(stop!(variable)).unwrap_or(0).saturating_sub(at);
                let items = left.div_ceil(1 << leaf.shift);
                at = some!(bulk(exec, columns, cursors, leaf, items, at));
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
                at = some!(bulk(exec, columns, cursors, rest.leaf, items, at));
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
                let count = u32::from_be_bytes(some!(chunk(data, at)));
                list!(i64::from(count), at + 4, offsets, items, shift, false, i64);
            }
            Op::BigList4 { offsets, items, shift } => {
                let count = u32::from_be_bytes(some!(chunk(data, at)));
                list!(i64::from(count), at + 4, offsets, items, shift, false, i32);
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
                let passes = Passes { most: usize::MAX, stop };
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
            Op::Block { end } | Op::BlockLoop { end } => {
                let (mut items, after) = some!(zigzag(data, at));
                at = after;
                if items < 0 {
                    items = items.wrapping_neg();
                    at = some!(zigzag(data, at)).1;
                }
                // The smallest number has no opposite.
                yes!(items >= 0);
                if items == 0 {
                    jump!(end);
                } else {
                    kept[top - 1] = kept[top - 1].wrapping_add(items);
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
                // What does not move on would go on for ever.
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

            Op::Start { input } => {
                let start = some!(exec.next_u32(input as usize)) as usize;
                yes!(start <= data.len());
                at = start;
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

#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "see `run`")]
fn load(exec: &Exec<'_>, columns: &[Column], cursors: &mut [Cursor]) {
    for column in 0..columns.len() {
        let output = &exec.outputs.list[columns[column].output];
        // SAFETY: `end <= room <= capacity`, all within the output's memory.
        unsafe {
            cursors[column] = Cursor {
                next: output.start.add(output.end),
                limit: output.start.add(output.room),
                start: output.start,
            };
        }
    }
}

#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "see `run`")]
fn store(exec: &mut Exec<'_>, columns: &[Column], cursors: &[Cursor]) {
    for column in 0..columns.len() {
        exec.outputs.list[columns[column].output].end = cursors[column].used();
    }
}

/// Makes room in a column.
#[cold]
#[inline(never)]
fn grow(exec: &mut Exec<'_>, columns: &[Column], cursors: &mut [Cursor], column: C, bytes: usize) -> bool {
    store(exec, columns, cursors);
    let grown = exec.outputs.reserve(columns[column as usize].output, bytes).is_ok();
    load(exec, columns, cursors);
    grown
}

/// Lists in lists, by the loop for them, to which the cursors of their columns are lent.
#[inline(always)]
fn nested<L: Level>(
    exec: &mut Exec<'_>,
    columns: &[Column],
    cursors: &mut [Cursor],
    (nest, own): &(Nest, Vec<C>),
    passes: Passes,
    at: usize,
) -> (usize, usize) {
    // Under a limit, what one column takes is lost to all.
    let limited = exec.outputs.is_limited();
    if limited {
        store(exec, columns, cursors);
    }
    for &column in own {
        exec.outputs.list[columns[column as usize].output].end = cursors[column as usize].used();
    }
    // SAFETY: this runs inside of the level's own entry point.
    let result = unsafe { dispatch::<L>(exec, nest, None, passes, at) };
    for &column in own {
        load(exec, &columns[column as usize..=column as usize], &mut cursors[column as usize..]);
    }
    if limited {
        load(exec, columns, cursors);
    }
    result
}

/// Items near the end of the input or of the room: exact. The position after them and the last bytes.
#[cold]
#[inline(never)]
fn slow_list(
    exec: &mut Exec<'_>,
    columns: &[Column],
    cursors: &mut [Cursor],
    items: C,
    bytes: usize,
    last: usize,
    at: usize,
) -> Option<usize> {
    let run = exec.data.get(at..)?.get(..bytes + last)?;
    if cursors[items as usize].room() < bytes && !grow(exec, columns, cursors, items, bytes) {
        return None;
    }
    let cursor = &mut cursors[items as usize];
    // SAFETY: there is room for the bytes.
    unsafe {
        std::ptr::copy_nonoverlapping(run.as_ptr(), cursor.next, bytes);
        cursor.next = cursor.next.add(bytes);
    }
    Some(at + bytes + last)
}

fn bulk(
    exec: &mut Exec<'_>,
    columns: &[Column],
    cursors: &mut [Cursor],
    leaf: Leaf,
    items: usize,
    at: usize,
) -> Option<usize> {
    let bytes = items.checked_mul(1 << leaf.shift)?;
    let rest = exec.data.get(at..)?;
    if bytes > rest.len() {
        return None;
    }
    let column = leaf.output as C;
    if cursors[leaf.output].room() < bytes && !grow(exec, columns, cursors, column, bytes) {
        return None;
    }
    let cursor = &mut cursors[leaf.output];
    // SAFETY: there is room for the bytes, and slack; as many are left.
    unsafe {
        exec.cpu.convert(leaf.kind, rest, bytes, cursor.next);
        cursor.next = cursor.next.add(bytes);
    }
    Some(at + bytes)
}

/// Appends a number, or the sum of the last item and a number.
#[inline(always)]
fn append(
    exec: &mut Exec<'_>,
    columns: &[Column],
    cursors: &mut [Cursor],
    to: C,
    number: Number,
    add: bool,
) -> bool {
    let Column { dtype, shift, .. } = columns[to as usize];
    if cursors[to as usize].room() < 1 << shift && !grow(exec, columns, cursors, to, 1 << shift) {
        return false;
    }
    let cursor = &mut cursors[to as usize];
    // SAFETY: there is room for an item, and the item before the end is always readable.
    unsafe {
        match (number, dtype) {
            (Number::Signed(value), Dtype::Int64 | Dtype::UInt64) => {
                let last = if add { cursor.next.cast::<i64>().sub(1).read_unaligned() } else { 0 };
                cursor.put(last.wrapping_add(value).to_ne_bytes());
            }
            (Number::Signed(value), Dtype::Int32 | Dtype::UInt32) => {
                let last = if add { cursor.next.cast::<i32>().sub(1).read_unaligned() } else { 0 };
                cursor.put(last.wrapping_add(value as i32).to_ne_bytes());
            }
            _ => append_other(cursor, dtype, number, add),
        }
    }
    true
}

/// # Safety
///
/// There is room for an item.
#[inline(never)]
unsafe fn append_other(cursor: &mut Cursor, dtype: Dtype, number: Number, add: bool) {
    let mut item = number.to_item(dtype);
    let size = dtype.size();
    // SAFETY: the item before the end is always readable; there is room for an item, and slack behind it.
    unsafe {
        if add {
            let mut last = [0; 8];
            std::ptr::copy_nonoverlapping(cursor.next.sub(size), last.as_mut_ptr(), size);
            item = add_items(dtype, last, item);
        }
        cursor.next.cast::<[u8; 8]>().write(item);
        cursor.next = cursor.next.add(size);
    }
}

/// The number of items of a list.
#[inline(always)]
fn counted(data: &[u8], count: Count, at: usize) -> Option<(i64, usize)> {
    Some(match count {
        Count::Big32 => (i64::from(u32::from_be_bytes(chunk(data, at)?)), at + 4),
        Count::Little32 => (i64::from(u32::from_le_bytes(chunk(data, at)?)), at + 4),
        Count::ZigZag => zigzag(data, at)?,
        Count::Text => match data.get(at)? {
            255 => (i64::from(u32::from_be_bytes(chunk(data, at + 1)?)), at + 5),
            short => (i64::from(*short), at + 1),
        },
        Count::Other(read) => {
            let (number, after) = number(data, read, at)?;
            (number.to_stack(), after)
        }
    })
}

fn frame_end(data: &[u8], bias: i32, at: usize) -> Option<i64> {
    let count = u32::from_be_bytes(chunk(data, at)?);
    Some(i64::from(count) - i64::from(bias) + at as i64 + 4)
}
