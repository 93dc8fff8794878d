//! Everything that is not plain nested lists, step by step.

use super::convert::{self, Leafy, copy_blocks};
use super::exec::{Exec, chunk};
use super::levels::{Level, dispatch};
use super::nest::Passes;
use super::plan::{Count, Field, Leaf, LeafKind, Nest, Step};
use crate::Dtype;
use crate::dtype::{Number, add_items};
use crate::interpret::{decode, varint};
use crate::isa::{Parser, Read};

/// Runs steps from a position; None abandons the pass.
#[inline(always)]
pub(super) fn run<L: Level>(exec: &mut Exec<'_>, steps: &[Step], mut at: usize) -> Option<usize> {
    for step in steps {
        at = one::<L>(exec, step, at)?;
    }
    Some(at)
}

#[inline(always)]
fn again<L: Level>(exec: &mut Exec<'_>, steps: &[Step], at: usize) -> Option<usize> {
    // SAFETY: this runs inside of the level's own entry point.
    unsafe { L::steps(exec, steps, at) }
}

#[inline(always)]
fn one<L: Level>(exec: &mut Exec<'_>, step: &Step, at: usize) -> Option<usize> {
    match step {
        Step::Fields { bytes, fields } => run_fields(exec, *bytes, fields, at),
        Step::Nest(nest) => {
            if nest.depth == 1 && !nest.blocks && nest.leaf.kind == LeafKind::Copy {
                return one_list(exec, nest, at);
            }
            // SAFETY: this runs inside of the level's own entry point.
            let (done, after) = unsafe { dispatch::<L>(exec, nest, None, 1.into(), at) };
            (done == 1).then_some(after)
        }
        Step::Item(read, output) => {
            let (number, after) = number(exec, *read, at)?;
            append(exec, number, *output, false)?;
            Some(after)
        }
        Step::List { count, offsets, body } => {
            let (items, at) = items(exec, *count, at)?;
            if let Some(offsets) = offsets {
                append(exec, Number::Signed(items), *offsets, true)?;
            }
            repeat::<L>(exec, items, body, at)
        }
        Step::Repeat(times, body) => repeat::<L>(exec, *times as i64, body, at),
        Step::Blocks { offsets, body } => {
            let mut at = at;
            let mut total = 0_i64;
            loop {
                let (mut items, after) = zigzag(exec.data, at)?;
                at = after;
                if items < 0 {
                    items = items.wrapping_neg();
                    at = zigzag(exec.data, at)?.1;
                }
                if items <= 0 {
                    if items < 0 {
                        return None;
                    }
                    break;
                }
                at = repeat::<L>(exec, items, body, at)?;
                total = total.wrapping_add(items);
            }
            append(exec, Number::Signed(total), *offsets, true)?;
            Some(at)
        }
        Step::Branch { flag, store, then, otherwise } => {
            let (number, at) = number(exec, *flag, at)?;
            let value = number.to_stack();
            if let Some(store) = store {
                append(exec, Number::Signed(value), *store, false)?;
            }
            again::<L>(exec, if value != 0 { then } else { otherwise }, at)
        }
        Step::Switch { selector, store, arms } => {
            let (number, at) = number(exec, *selector, at)?;
            let value = number.to_stack();
            let arm = usize::try_from(value).ok().and_then(|value| arms.get(value))?;
            if let Some(store) = store {
                append(exec, Number::Signed(value), *store, false)?;
            }
            again::<L>(exec, arm, at)
        }
        Step::Bulk { items, leaf } => bulk(exec, *items, *leaf, at),
        Step::IfAny { variable, then, otherwise } => {
            let any = (at as i64) < exec.variables[*variable];
            again::<L>(exec, if any { then } else { otherwise }, at)
        }
        Step::ToEnd { variable, offsets, body } => {
            let stop = usize::try_from(exec.variables[*variable]).unwrap_or(0);
            let (items, at) = to_end::<L>(exec, body, stop, at)?;
            append(exec, Number::Signed(items), *offsets, true)?;
            Some(at)
        }
        Step::Rest { variable, bytes, offsets, items, leaf } => {
            // A negative rest would be rounded down.
            let rest = u64::try_from(exec.variables[*variable].checked_sub(at as i64)?).ok()?;
            let lists = rest / *bytes as u64;
            append(exec, Number::Signed(lists as i64), *offsets, true)?;
            bulk(exec, usize::try_from(lists).ok()?.checked_mul(*items)?, *leaf, at)
        }
        Step::Masked { read, mask, then, output } => {
            let (number, at) = number(exec, *read, at)?;
            let value = number.to_stack();
            let at = if value & mask != 0 { again::<L>(exec, then, at)? } else { at };
            append(exec, Number::Signed(value), *output, false)?;
            Some(at)
        }
        Step::Length(from, to) => {
            let length = exec.outputs.list[*from].len() as i64;
            append(exec, Number::Signed(length), *to, false)?;
            Some(at)
        }
        Step::Constant { value, output, add } => {
            append(exec, Number::Signed(*value), *output, *add)?;
            Some(at)
        }
        Step::Through { read, output, add } => {
            let (number, at) = number(exec, *read, at)?;
            append(exec, Number::Signed(number.to_stack()), *output, *add)?;
            Some(at)
        }
        Step::Start(input) => {
            let start = exec.next_u32(*input)? as usize;
            (start <= exec.data.len()).then_some(start)
        }
        Step::Stop(input, variable) => {
            exec.variables[*variable] = i64::from(exec.next_u32(*input)?);
            Some(at)
        }
        Step::ByteCount { bias, variable } => {
            let end = frame_end(exec.data, *bias, at)?;
            (end == exec.variables[*variable]).then_some(at + 4)
        }
        Step::Version(low, high) => {
            let version = u16::from_be_bytes(chunk(exec.data, at)?);
            (*low <= version && version <= *high).then_some(at + 2)
        }
        Step::CheckEnd(variable) => (at as i64 == exec.variables[*variable]).then_some(at),
        Step::Framed { bias, body } => {
            let end = frame_end(exec.data, *bias, at)?;
            let at = again::<L>(exec, body, at + 4)?;
            (at as i64 == end).then_some(at)
        }
        Step::Skip(bytes) => (*bytes <= exec.data.len() - at).then(|| at + bytes),
    }
}

#[inline(always)]
fn repeat<L: Level>(exec: &mut Exec<'_>, times: i64, body: &[Step], at: usize) -> Option<usize> {
    // A loop over nothing but lists stays in one native loop.
    if let [Step::Nest(nest)] = body {
        let passes = usize::try_from(times).ok()?;
        // SAFETY: this runs inside of the level's own entry point.
        let (done, after) = unsafe { dispatch::<L>(exec, nest, None, passes.into(), at) };
        return (done == passes).then_some(after);
    }
    if let [Step::Bulk { items, leaf }] = body {
        return bulk(exec, usize::try_from(times).ok()?.checked_mul(*items)?, *leaf, at);
    }
    let mut at = at;
    if let [Step::Fields { bytes, fields }] = body {
        for _ in 0..times {
            at = run_fields(exec, *bytes, fields, at)?;
        }
        return Some(at);
    }
    for _ in 0..times {
        at = again::<L>(exec, body, at)?;
    }
    Some(at)
}

/// The body until the position is not before the stop; how often, and the position.
#[inline(always)]
fn to_end<L: Level>(exec: &mut Exec<'_>, body: &[Step], stop: usize, mut at: usize) -> Option<(i64, usize)> {
    match body {
        [Step::Nest(nest)] => {
            let passes = Passes { most: usize::MAX, stop };
            // SAFETY: this runs inside of the level's own entry point.
            let (done, after) = unsafe { dispatch::<L>(exec, nest, None, passes, at) };
            return (after >= stop).then_some((done as i64, after));
        }
        [Step::Fields { bytes, fields }] if let [field] = fields[..] => {
            let items = stop.saturating_sub(at).div_ceil(*bytes);
            let leaf = Leaf { kind: field.kind, shift: field.shift, output: field.output };
            return Some((items as i64, bulk(exec, items, leaf, at)?));
        }
        _ => {}
    }
    let mut items = 0;
    while at < stop {
        let after = again::<L>(exec, body, at)?;
        // What does not move on would go on for ever.
        if after <= at {
            return None;
        }
        at = after;
        items += 1;
    }
    Some((items, at))
}

fn frame_end(data: &[u8], bias: i64, at: usize) -> Option<i64> {
    let count = u32::from_be_bytes(chunk(data, at)?);
    Some(i64::from(count) - bias + at as i64 + 4)
}

/// One check of the input for the whole run of fields.
#[inline(always)]
fn run_fields(exec: &mut Exec<'_>, bytes: usize, fields: &[Field], at: usize) -> Option<usize> {
    let data = exec.data;
    let run = data.get(at..)?.get(..bytes)?;
    for field in fields {
        let output = exec.room(field.output, 8.min(1 << field.shift))?;
        // SAFETY: the item lies within `run`, as the matcher laid the fields out in it; there is room for it in the output.
        unsafe {
            let from = run.as_ptr().add(field.at);
            let to = output.start.add(output.end);
            match (field.kind, field.shift) {
                (LeafKind::Bool, _) => *to = u8::from(*from != 0),
                (LeafKind::Copy, 0) => *to = *from,
                (LeafKind::Copy, 1) => to.cast::<[u8; 2]>().write(from.cast::<[u8; 2]>().read()),
                (LeafKind::Copy, 2) => to.cast::<[u8; 4]>().write(from.cast::<[u8; 4]>().read()),
                (LeafKind::Copy, _) => to.cast::<[u8; 8]>().write(from.cast::<[u8; 8]>().read()),
                (LeafKind::Swap2, _) => swapped::<2>(from, to),
                (LeafKind::Swap4, _) => swapped::<4>(from, to),
                (LeafKind::Swap8, _) => swapped::<8>(from, to),
            }
        }
        output.end += 1 << field.shift;
    }
    Some(at + bytes)
}

/// # Safety
///
/// N bytes are readable and writable.
#[inline(always)]
unsafe fn swapped<const N: usize>(from: *const u8, to: *mut u8) {
    // SAFETY: the caller's.
    unsafe {
        let mut item = from.cast::<[u8; N]>().read();
        item.reverse();
        to.cast::<[u8; N]>().write(item);
    }
}

fn bulk(exec: &mut Exec<'_>, items: usize, leaf: Leaf, at: usize) -> Option<usize> {
    let bytes = items.checked_mul(1 << leaf.shift)?;
    let run = exec.data.get(at..)?.get(..bytes)?;
    exec.room(leaf.output, bytes)?.append_converted(leaf.kind, run);
    Some(at + bytes)
}

/// The number of items of a list; negative ones are for the checked tier.
#[inline(always)]
fn items(exec: &Exec<'_>, count: Count, at: usize) -> Option<(i64, usize)> {
    let data = exec.data;
    let (items, after) = match count {
        Count::Big32 => (i64::from(u32::from_be_bytes(chunk(data, at)?)), at + 4),
        Count::Little32 => (i64::from(u32::from_le_bytes(chunk(data, at)?)), at + 4),
        Count::ZigZag => zigzag(data, at)?,
        Count::Text => match data.get(at)? {
            255 => (i64::from(u32::from_be_bytes(chunk(data, at + 1)?)), at + 5),
            short => (i64::from(*short), at + 1),
        },
        Count::Other(read) => {
            let (number, after) = number(exec, read, at)?;
            (number.to_stack(), after)
        }
    };
    (0..1 << 31).contains(&items).then_some((items, after))
}

/// One item of any parser with a fixed size, or of a variable-length integer.
#[inline(always)]
fn number(exec: &Exec<'_>, read: Read, at: usize) -> Option<(Number, usize)> {
    match read.parser {
        Parser::ZigZag => zigzag(exec.data, at).map(|(value, after)| (Number::Signed(value), after)),
        _ => other_number(exec.data, read, at),
    }
}

#[inline(never)]
fn other_number(data: &[u8], read: Read, at: usize) -> Option<(Number, usize)> {
    match read.parser {
        Parser::VarInt => unsigned(data, at).map(|(value, after)| (Number::Unsigned(value), after)),
        Parser::NBit | Parser::TextInt | Parser::TextFloat | Parser::QuotedStr => None,
        _ => {
            let size = read.parser.size();
            let bytes = data.get(at..)?.get(..size)?;
            Some((decode(read, bytes), at + size))
        }
    }
}

/// A zigzag number and the position after it.
#[inline(always)]
pub(crate) fn zigzag(data: &[u8], at: usize) -> Option<(i64, usize)> {
    let (value, after) = unsigned(data, at)?;
    Some(((value >> 1) as i64 ^ -((value & 1) as i64), after))
}

/// A LEB128 number and the position after it.
#[inline(always)]
pub(crate) fn unsigned(data: &[u8], at: usize) -> Option<(u64, usize)> {
    let &first = data.get(at)?;
    if first < 0x80 {
        return Some((u64::from(first), at + 1));
    }
    if let Some(bytes) = chunk::<8>(data, at) {
        let word = u64::from_le_bytes(bytes);
        let ends = !word & 0x8080_8080_8080_8080;
        if ends != 0 {
            // Keep what is up to the first byte without its high bit, then close the gaps: 7, 14, 28, 56 bits.
            let word = word & (ends ^ (ends - 1)) & 0x7f7f_7f7f_7f7f_7f7f;
            let word = (word & 0x007f_007f_007f_007f) | (word & 0x7f00_7f00_7f00_7f00) >> 1;
            let word = (word & 0x0000_3fff_0000_3fff) | (word & 0x3fff_0000_3fff_0000) >> 2;
            let word = (word & 0x0fff_ffff) | (word & 0x0fff_ffff_0000_0000) >> 4;
            return Some((word, at + ends.trailing_zeros() as usize / 8 + 1));
        }
    }
    let (value, after) = varint(data, at);
    Some((value.ok()?, after))
}

/// Appends a number, or the sum of the last item and a number.
#[inline(always)]
fn append(exec: &mut Exec<'_>, number: Number, index: usize, add: bool) -> Option<()> {
    let output = &mut exec.outputs.list[index];
    // By far the most common, and a plain store.
    if let Number::Signed(value) = number
        && output.dtype() == Dtype::Int64
        && output.room - output.end >= 8
    {
        // SAFETY: there is room for an item, and the item before the end is always readable.
        unsafe {
            let next = output.start.add(output.end).cast::<i64>();
            let last = if add { next.sub(1).read_unaligned() } else { 0 };
            next.write_unaligned(last.wrapping_add(value));
        }
        output.end += 8;
        return Some(());
    }
    if let Number::Signed(value) = number
        && cfg!(target_endian = "little")
        && !add
        && matches!(
            output.dtype(),
            Dtype::Int32 | Dtype::UInt32 | Dtype::Int16 | Dtype::UInt16 | Dtype::Int8 | Dtype::UInt8
        )
        && output.room - output.end >= 8
    {
        output.append_item(value.to_le_bytes());
        return Some(());
    }
    append_other(exec, number, index, add)
}

#[inline(never)]
fn append_other(exec: &mut Exec<'_>, number: Number, index: usize, add: bool) -> Option<()> {
    let dtype = exec.outputs.list[index].dtype();
    let output = exec.room(index, dtype.size())?;
    let mut item = number.to_item(dtype);
    if add {
        item = add_items(dtype, output.last(), item);
    }
    output.append_item(item);
    Some(())
}

/// A single list of plain bytes, such as a string, without the set-up of a native loop.
#[inline(always)]
fn one_list(exec: &mut Exec<'_>, nest: &Nest, at: usize) -> Option<usize> {
    let (items, at) = items(exec, nest.inner, at)?;
    append(exec, Number::Signed(items), nest.offsets[0], true)?;
    let bytes = usize::try_from(items).ok()?.checked_mul(1 << nest.leaf.shift)?;
    let left = exec.data.len() - at;
    if bytes > left {
        return None;
    }
    let data = exec.data;
    let output = exec.room(nest.leaf.output, bytes)?;
    if left - bytes >= 64 {
        // SAFETY: input: 64 bytes are left behind those copied. Output: there is room, and slack behind it.
        unsafe { copy_blocks::<convert::Copy>(data.as_ptr().add(at), output.start.add(output.end), bytes) };
        output.end += bytes;
    } else {
        output.append(&data[at..at + bytes]);
    }
    Some(at + bytes)
}

impl crate::Output {
    /// Appends items of one kind, for which room was made.
    pub(crate) fn append_converted(&mut self, kind: LeafKind, bytes: &[u8]) {
        fn go<K: Leafy>(output: &mut crate::Output, bytes: &[u8]) {
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
