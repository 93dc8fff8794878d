//! The interpreter loop of tier 1.

use std::sync::atomic::Ordering;

use super::activation::{Place, Stop, calls_left};
use super::code::Fast;
use super::encode::NONE;
use super::program::{FlatCode, Source};
use super::{fast_path, items};
use crate::interpret::fused::{self, Plans};
use crate::interpret::{first_of, to_stack};
use crate::lower::ir::{Code, Operand, PointId, Reg};
use crate::number::{Number, add_items};
use crate::state::{Activation, State, Width};

/// Runs from an instruction on, with its registers loaded from index 0 on.
///
/// # Safety
///
/// The code was encoded for this program and width, `start` is a start of it, the state has as many inputs
/// and outputs as the program declares, and no position is beyond its input. The state has as many registers
/// as the start requires.
#[allow(clippy::too_many_lines, reason = "one line or a few for each instruction")]
pub(super) unsafe fn run<W: Width>(
    state: &mut State,
    (plans, strings): (&Plans, &[String]),
    (code, flat): (&Code, &FlatCode),
    inputs: &[&[u8]],
    start: u32,
) -> Place {
    let limits = state.limits;
    let most_passes = state.most_passes();
    let State { outputs, positions, variables, registers, activations, interrupt, .. } = state;
    // Heights below the outermost activation.
    let base = [state.stack.len(), state.frames.len(), state.loops.len()];
    // Number of further nested calls that are known to fit the limits; counted anew when it reaches 0.
    let mut spare = 0_u32;
    // SAFETY: the start is an instruction of the code.
    let mut ip = unsafe { flat.code.as_ptr().add(start as usize) };
    let mut window = 0;
    let mut regs = registers.as_mut_ptr();

    macro_rules! r {
        ($reg:expr) => {
            // SAFETY: all registers are below the number that the function was given.
            *unsafe { &mut *regs.add($reg as usize) }
        };
    }
    macro_rules! stop {
        ($point:expr) => {
            return Place { stop: Stop::At($point), window }
        };
    }
    macro_rules! jump {
        ($to:expr) => {
            // SAFETY: targets are instructions of this code.
            ip = unsafe { ip.offset($to as i32 as isize) }
        };
    }
    macro_rules! go {
        ($to:expr) => {
            // SAFETY: tables hold instructions of this code.
            ip = unsafe { flat.code.as_ptr().add($to as usize) }
        };
    }
    macro_rules! position {
        ($input:expr) => {
            // SAFETY: there are as many positions as inputs.
            *unsafe { positions.get_unchecked_mut($input as usize) }
        };
    }
    macro_rules! input {
        ($input:expr) => {
            // SAFETY: the machine has all its inputs.
            *unsafe { inputs.get_unchecked($input as usize) }
        };
    }
    macro_rules! output {
        ($output:expr) => {
            // SAFETY: the machine has all its outputs.
            unsafe { outputs.list.get_unchecked_mut($output as usize) }
        };
    }
    macro_rules! variable {
        ($variable:expr) => {
            // SAFETY: the machine has all its variables.
            *unsafe { variables.get_unchecked_mut($variable as usize) }
        };
    }
    /// Reserves bytes in an output, or stops at the point.
    macro_rules! room {
        ($output:expr, $bytes:expr, $point:expr) => {{
            let output = output!($output);
            if output.room - output.end < $bytes && outputs.reserve($output as usize, $bytes).is_err() {
                stop!($point);
            }
            output!($output)
        }};
    }
    /// Returns the next bytes of an input, without moving.
    macro_rules! bytes {
        ($input:expr, $size:literal, $point:expr) => {{
            let at = position!($input);
            let data = input!($input);
            if data.len() - at < $size {
                stop!($point);
            }
            // SAFETY: the check above found these bytes left.
            unsafe { data.as_ptr().add(at).cast::<[u8; $size]>().read() }
        }};
    }
    macro_rules! read {
        ($to:expr, $input:expr, $point:expr, $type:ty, $from:ident) => {{
            const SIZE: usize = size_of::<$type>();
            let at = position!($input);
            let data = input!($input);
            if data.len() - at < SIZE {
                stop!($point);
            }
            // SAFETY: the check above found these bytes left.
            let bytes = unsafe { data.as_ptr().add(at).cast::<[u8; SIZE]>().read() };
            position!($input) = at + SIZE;
            r!($to) = W::wrap(<$type>::$from(bytes) as i64);
        }};
    }
    macro_rules! copy {
        ($input:expr, $output:expr, $point:expr, $size:literal, $swap:literal) => {{
            let mut item = bytes!($input, $size, $point);
            if $swap {
                item.reverse();
            }
            let output = room!($output, $size, $point);
            // SAFETY: space for the item was reserved.
            unsafe { output.start.add(output.end).cast::<[u8; $size]>().write(item) };
            output.end += $size;
            position!($input) += $size;
        }};
    }
    macro_rules! write {
        ($output:expr, $value:expr, $type:ty, $point:expr) => {{
            const SIZE: usize = size_of::<$type>();
            let value = $value as $type;
            let output = room!($output, SIZE, $point);
            // SAFETY: space for the item was reserved.
            unsafe { output.start.add(output.end).cast::<$type>().write_unaligned(value) };
            output.end += SIZE;
        }};
    }
    macro_rules! write_add {
        ($output:expr, $value:expr, $type:ty, $point:expr) => {{
            const SIZE: usize = size_of::<$type>();
            let value = $value as $type;
            let output = room!($output, SIZE, $point);
            // SAFETY: space for the item was reserved, and the bytes before the end are always readable.
            unsafe {
                let next = output.start.add(output.end).cast::<$type>();
                next.write_unaligned(next.sub(1).read_unaligned().wrapping_add(value));
            }
            output.end += SIZE;
        }};
    }
    macro_rules! varint {
        ($input:expr, $point:expr, $read:path) => {{
            let Some((value, after)) = $read(input!($input), position!($input)) else { stop!($point) };
            (value, after)
        }};
    }
    /// Begins a call, and returns the site and the registers of the callee. The caller's registers may have
    /// moved.
    macro_rules! call {
        ($call:expr) => {{
            let site = &flat.calls[$call as usize];
            let next = window + site.caller as usize;
            if spare == 0 {
                match calls_left(flat, activations, site, base, limits, window) {
                    Some(calls) => spare = calls,
                    None => stop!(site.point),
                }
            }
            if registers.len() < next + site.registers as usize {
                registers.resize((next + site.registers as usize) * 2, 0);
            }
            // SAFETY: both are instructions of this code.
            let back = unsafe { ip.offset_from(flat.code.as_ptr()) } as u32;
            activations.push(Activation { back, window: window as u32, call: $call, spare });
            (window, spare) = (next, spare.saturating_sub(1));
            // SAFETY: the registers were resized to include those of the callee.
            (site, unsafe { registers.as_mut_ptr().add(next) })
        }};
    }
    /// Calls with one argument.
    macro_rules! enter {
        ($call:expr, $value:expr) => {{
            let value = $value;
            let (site, inside) = call!($call);
            // SAFETY: the callee has a register for the argument.
            unsafe { *inside = value };
            regs = inside;
            go!(site.to);
        }};
    }
    /// Returns with one result.
    macro_rules! leave {
        ($value:expr, $point:expr) => {{
            let Some(Activation { back, window: outer, call, spare: left }) = activations.pop() else {
                stop!($point)
            };
            let value = $value;
            (window, spare) = (outer as usize, left);
            // SAFETY: the caller's window is unchanged.
            regs = unsafe { registers.as_mut_ptr().add(window) };
            if let [to] = flat.calls[call as usize].results[..] {
                r!(to) = value;
            }
            go!(back);
        }};
    }
    macro_rules! branch {
        ($holds:expr, $to:expr) => {
            if $holds {
                jump!($to);
            }
        };
    }

    /// Continues in the fast path; whether it executed the instruction.
    macro_rules! fast_path {
        ($input:expr) => {{
            let fields = fast_path::Fields {
                regs,
                inputs,
                positions: positions.as_mut_ptr(),
                outputs: outputs.list.as_mut_ptr(),
                targets: &flat.targets,
                leaves: &flat.leaves,
                skips: &flat.skips,
                code: flat.code.as_ptr(),
                interrupt: interrupt.as_deref(),
            };
            // SAFETY: the fields belong to this program, and `ip` was advanced before.
            let (from, to) = unsafe {
                let from = ip.sub(1);
                (from, plans.fast_path::<W>(from, $input, &fields))
            };
            if to != from {
                ip = to;
            }
            to != from
        }};
    }

    loop {
        // SAFETY: every path ends in an instruction that leaves the loop.
        let fast = unsafe { *ip };
        // SAFETY: as above; `ip` is at most one past the end.
        ip = unsafe { ip.add(1) };
        match fast {
            // Instructions from which the fast path pays.
            Fast::ZigZag { input, .. }
            | Fast::IfZigZag { input, .. }
            | Fast::IfZigZagZero { input, .. }
            | Fast::IfZigZagLength { input, .. }
            | Fast::Copy4 { input, .. }
            | Fast::Copy8 { input, .. }
            | Fast::Swap4 { input, .. }
            | Fast::Swap8 { input, .. }
            | Fast::ZigZag4 { input, .. }
            | Fast::ZigZag8 { input, .. }
            | Fast::ListZigZag { input, .. }
            | Fast::ListBig { input, .. }
            | Fast::ListByte { input, .. }
            | Fast::SkipRun { input, .. }
                if input == flat.input && fast_path!(input) => {}
            Fast::Move { to, from } => r!(to) = W::wrap(r!(from)),
            Fast::Const { to, value } => r!(to) = value,
            Fast::Negate { to, a } => r!(to) = W::wrap(r!(a).wrapping_neg()),
            Fast::Abs { to, a } => r!(to) = W::wrap(r!(a).wrapping_abs()),
            Fast::Invert { to, a } => r!(to) = !r!(a),
            Fast::EqZero { to, a } => r!(to) = -i64::from(r!(a) == 0),
            Fast::Add { to, a, b } => r!(to) = W::wrap(r!(a).wrapping_add(r!(b))),
            Fast::AddConst { to, a, b } => r!(to) = W::wrap(r!(a).wrapping_add(b)),
            Fast::Sub { to, a, b } => r!(to) = W::wrap(r!(a).wrapping_sub(r!(b))),
            Fast::Mul { to, a, b } => r!(to) = W::wrap(r!(a).wrapping_mul(r!(b))),
            Fast::Min { to, a, b } => r!(to) = r!(a).min(r!(b)),
            Fast::Max { to, a, b } => r!(to) = r!(a).max(r!(b)),
            Fast::And { to, a, b } => r!(to) = r!(a) & r!(b),
            Fast::AndConst { to, a, b } => r!(to) = r!(a) & b,
            Fast::Or { to, a, b } => r!(to) = r!(a) | r!(b),
            Fast::Xor { to, a, b } => r!(to) = r!(a) ^ r!(b),
            Fast::ShiftLeft { to, a, b } => r!(to) = W::wrap(r!(a).wrapping_shl(r!(b) as u32 % W::BITS)),
            Fast::ShiftRight { to, a, b } => r!(to) = r!(a) >> (r!(b) as u32 % W::BITS),
            Fast::ShiftRightConst { to, a, b } => r!(to) = r!(a) >> (b % W::BITS),
            Fast::Compare { relation, to, a, b } => r!(to) = -i64::from(relation.holds(r!(a), r!(b))),
            Fast::Divide { quotient, rest, a, b, point } => {
                let (a, b) = (r!(a), r!(b));
                if b == 0 {
                    stop!(point);
                }
                let (mut q, mut m) = (a.wrapping_div(b), a.wrapping_rem(b));
                if m != 0 && (m < 0) != (b < 0) {
                    q -= 1;
                    m += b;
                }
                if rest != NONE {
                    r!(rest) = W::wrap(m);
                }
                if quotient != NONE {
                    r!(quotient) = W::wrap(q);
                }
            }

            Fast::Advance { index, by } => r!(index) = r!(index).wrapping_add(r!(by)),
            Fast::Next { index, stop, to } => {
                let next = r!(index).wrapping_add(1);
                r!(index) = next;
                branch!(next < r!(stop), to);
            }
            Fast::Enter { index, stop, from, to } => {
                r!(stop) = W::wrap(r!(from));
                r!(index) = 0;
                branch!(r!(stop) <= 0, to);
            }
            Fast::Jump { to } => jump!(to),
            Fast::IfEq { a, b, to } => branch!(r!(a) == r!(b), to),
            Fast::IfNe { a, b, to } => branch!(r!(a) != r!(b), to),
            Fast::IfLt { a, b, to } => branch!(r!(a) < r!(b), to),
            Fast::IfLe { a, b, to } => branch!(r!(a) <= r!(b), to),
            Fast::IfEqConst { a, b, to } => branch!(r!(a) == b, to),
            Fast::IfNeConst { a, b, to } => branch!(r!(a) != b, to),
            Fast::IfLtConst { a, b, to } => branch!(r!(a) < b, to),
            Fast::IfLeConst { a, b, to } => branch!(r!(a) <= b, to),
            Fast::IfGtConst { a, b, to } => branch!(r!(a) > b, to),
            Fast::IfGeConst { a, b, to } => branch!(r!(a) >= b, to),
            Fast::IfEnd { flag, input, to } => {
                let end = position!(input) == input!(input).len();
                r!(flag) = -i64::from(end);
                branch!(end, to);
            }
            Fast::IfMore { flag, input, to } => {
                let end = position!(input) == input!(input).len();
                r!(flag) = -i64::from(end);
                branch!(!end, to);
            }
            Fast::IfZigZag { flag, input, to, point } => {
                let (value, after) = varint!(input, point, fused::zigzag);
                position!(input) = after;
                r!(flag) = W::wrap(value);
                branch!(r!(flag) != 0, to);
            }
            Fast::IfZigZagZero { flag, input, to, point }
            | Fast::IfZigZagLength { flag, input, to, point } => {
                let (value, after) = varint!(input, point, fused::zigzag);
                position!(input) = after;
                r!(flag) = W::wrap(value);
                branch!(r!(flag) == 0, to);
            }
            Fast::Switch { selector, first, count } => {
                let number = r!(selector);
                let which = if number >= 0 && number < i64::from(count) { number as u32 } else { count };
                go!(flat.targets[(first + which) as usize]);
            }

            Fast::Fetch { to, variable } => r!(to) = variable!(variable),
            Fast::Store { variable, from } => variable!(variable) = r!(from),
            Fast::StoreConst { variable, value } => variable!(variable) = value,
            Fast::Increment { variable, by } => {
                variable!(variable) = W::wrap(variable!(variable).wrapping_add(r!(by)));
            }
            Fast::IncrementConst { variable, by } => {
                variable!(variable) = W::wrap(variable!(variable).wrapping_add(by));
            }

            Fast::Length { to, input } => r!(to) = W::wrap(input!(input).len() as i64),
            Fast::Position { to, input } => r!(to) = W::wrap(position!(input) as i64),
            Fast::AtEnd { to, input } => r!(to) = -i64::from(position!(input) == input!(input).len()),
            Fast::Peek { to, input, distance, point } => {
                let at = usize::try_from(r!(distance)).ok().and_then(|by| position!(input).checked_add(by));
                let Some(byte) = at.and_then(|at| input!(input).get(at)) else { stop!(point) };
                r!(to) = i64::from(*byte);
            }
            Fast::Seek { input, target, point } => match usize::try_from(r!(target)) {
                Ok(target) if target <= input!(input).len() => position!(input) = target,
                _ => stop!(point),
            },
            Fast::Skip { input, by, point } => {
                let target =
                    (position!(input) as i64).checked_add(r!(by)).and_then(|to| usize::try_from(to).ok());
                match target {
                    Some(target) if target <= input!(input).len() => position!(input) = target,
                    _ => stop!(point),
                }
            }
            Fast::SkipConst { input, by, point } => {
                let target =
                    (position!(input) as i64).checked_add(by).and_then(|to| usize::try_from(to).ok());
                match target {
                    Some(target) if target <= input!(input).len() => position!(input) = target,
                    _ => stop!(point),
                }
            }
            Fast::SkipSpace { input } => {
                position!(input) = items::skip_space(input!(input), position!(input))
            }
            Fast::Enum { enumeration, point } => {
                let which = flat.enumerations[enumeration as usize];
                let strings = &strings[which.first as usize..which.end as usize];
                r!(which.to) = match first_of(strings, input!(which.input), position!(which.input)) {
                    Some((number, after)) => {
                        position!(which.input) = after;
                        number
                    }
                    None if which.only => stop!(point),
                    None => -1,
                };
            }
            Fast::Require { input, bytes, point } => {
                if input!(input).len() - position!(input) < bytes as usize {
                    stop!(point);
                }
            }

            Fast::U8 { to, input, point } => read!(to, input, point, u8, from_le_bytes),
            Fast::I8 { to, input, point } => read!(to, input, point, i8, from_le_bytes),
            Fast::U16 { to, input, point } => read!(to, input, point, u16, from_le_bytes),
            Fast::I16 { to, input, point } => read!(to, input, point, i16, from_le_bytes),
            Fast::U32 { to, input, point } => read!(to, input, point, u32, from_le_bytes),
            Fast::I32 { to, input, point } => read!(to, input, point, i32, from_le_bytes),
            Fast::I64 { to, input, point } => read!(to, input, point, i64, from_le_bytes),
            Fast::BigU16 { to, input, point } => read!(to, input, point, u16, from_be_bytes),
            Fast::BigI16 { to, input, point } => read!(to, input, point, i16, from_be_bytes),
            Fast::BigU32 { to, input, point } => read!(to, input, point, u32, from_be_bytes),
            Fast::BigI32 { to, input, point } => read!(to, input, point, i32, from_be_bytes),
            Fast::BigI64 { to, input, point } => read!(to, input, point, i64, from_be_bytes),
            Fast::VarInt { to, input, point } => {
                let (value, after) = varint!(input, point, fused::unsigned);
                position!(input) = after;
                r!(to) = W::wrap(value as i64);
            }
            Fast::ZigZag { to, input, point } => {
                let (value, after) = varint!(input, point, fused::zigzag);
                position!(input) = after;
                r!(to) = W::wrap(value);
            }
            Fast::ReadAny { to, read, point } => {
                let read = flat.reads[read as usize];
                let Some((number, after)) = items::one(read, input!(read.input), position!(read.input))
                else {
                    stop!(point)
                };
                position!(read.input) = after;
                r!(to) = to_stack::<W>(number);
            }

            Fast::Copy1 { input, output, point } => copy!(input, output, point, 1, false),
            Fast::Copy2 { input, output, point } => copy!(input, output, point, 2, false),
            Fast::Copy4 { input, output, point } => copy!(input, output, point, 4, false),
            Fast::Copy8 { input, output, point } => copy!(input, output, point, 8, false),
            Fast::Swap2 { input, output, point } => copy!(input, output, point, 2, true),
            Fast::Swap4 { input, output, point } => copy!(input, output, point, 4, true),
            Fast::Swap8 { input, output, point } => copy!(input, output, point, 8, true),
            Fast::VarInt4 { input, output, point } => {
                let (value, after) = varint!(input, point, fused::unsigned);
                write!(output, value, u32, point);
                position!(input) = after;
            }
            Fast::VarInt8 { input, output, point } => {
                let (value, after) = varint!(input, point, fused::unsigned);
                write!(output, value, u64, point);
                position!(input) = after;
            }
            Fast::ZigZag4 { input, output, point } => {
                let (value, after) = varint!(input, point, fused::zigzag);
                write!(output, value, u32, point);
                position!(input) = after;
            }
            Fast::ZigZag8 { input, output, point } => {
                let (value, after) = varint!(input, point, fused::zigzag);
                write!(output, value, u64, point);
                position!(input) = after;
            }
            Fast::ItemAny { read, point } => {
                let read = flat.reads[read as usize];
                let Some((number, after)) = items::one(read, input!(read.input), position!(read.input))
                else {
                    stop!(point)
                };
                let index = read.output.unwrap_or(0);
                let dtype = output!(index).dtype();
                let output = room!(index, dtype.size(), point);
                output.append_item(number.to_item(dtype));
                position!(read.input) = after;
            }
            // The instructions that follow do it one by one.
            Fast::ListZigZag { .. }
            | Fast::ListBig { .. }
            | Fast::ListByte { .. }
            | Fast::SkipRun { .. }
            | Fast::Other
            | Fast::WriteLength { .. } => {}

            Fast::Items { leaf, input, index, stop, .. } => {
                let leaf = flat.leaves[leaf as usize];
                let passes = usize::try_from(r!(stop).wrapping_sub(r!(index))).unwrap_or(0).min(most_passes);
                let at = position!(input);
                let data = input!(input);
                let bytes = passes.min((data.len() - at) >> leaf.shift) << leaf.shift;
                if r!(index) < r!(stop) && bytes > 0 && outputs.reserve(leaf.output, bytes).is_ok() {
                    let output = output!(leaf.output);
                    // SAFETY: the bytes are left, and space for as many was reserved.
                    unsafe {
                        plans.convert(leaf.kind, &data[at..], bytes, output.start.add(output.end));
                    }
                    output.end += bytes;
                    position!(input) = at + bytes;
                    r!(index) += (bytes >> leaf.shift) as i64;
                    if r!(index) == r!(stop) {
                        // SAFETY: the two instructions this one stands for follow, perhaps with an `Other`
                        // before the first.
                        ip = unsafe { ip.add(2 + usize::from(matches!(*ip, Fast::Other))) };
                    }
                }
            }
            Fast::Bytes { input, output, count, point } => {
                let count = r!(count).max(0) as u64;
                let at = position!(input);
                let data = input!(input);
                let left = data.len() - at;
                if count > left as u64 {
                    stop!(point);
                }
                let count = count as usize;
                if count > 0 {
                    let output = room!(output, count, point);
                    // SAFETY: the bytes are left, and space for them was reserved; a block of 64 is only
                    // copied if it is left, and fits the slack of the output.
                    unsafe {
                        let (from, to) = (data.as_ptr().add(at), output.start.add(output.end));
                        if count <= 64 && left >= 64 {
                            std::ptr::copy(from, to, 64);
                        } else {
                            std::ptr::copy_nonoverlapping(from, to, count);
                        }
                    }
                    output.end += count;
                    position!(input) = at + count;
                }
            }
            Fast::Many { leaf, input, count, point } => {
                let leaf = flat.leaves[leaf as usize];
                let count = r!(count).max(0) as u64;
                let at = position!(input);
                let data = input!(input);
                if count > ((data.len() - at) >> leaf.shift) as u64 {
                    stop!(point);
                }
                let bytes = (count as usize) << leaf.shift;
                if bytes > 0 {
                    let output = room!(leaf.output, bytes, point);
                    // SAFETY: the bytes are left, and space for as many was reserved.
                    unsafe {
                        plans.convert(leaf.kind, &data[at..], bytes, output.start.add(output.end));
                    }
                    output.end += bytes;
                    position!(input) = at + bytes;
                }
            }
            Fast::ManyAny { read, count, point } => {
                let read = flat.reads[read as usize];
                let data = input!(read.input);
                let count = r!(count).max(0) as u64;
                let Some(after) = items::many(read, data, position!(read.input), count, outputs) else {
                    stop!(point)
                };
                position!(read.input) = after;
            }

            Fast::Write8 { output, from, point } => write!(output, r!(from), i64, point),
            Fast::Write4 { output, from, point } => write!(output, r!(from), i32, point),
            Fast::WriteConst8 { output, value, point } => write!(output, value, i64, point),
            Fast::WriteConst4 { output, value, point } => write!(output, value, i32, point),
            Fast::WriteAny { output, from, point } => {
                let dtype = output!(output).dtype();
                let item = Number::Signed(r!(from)).to_item(dtype);
                room!(output, dtype.size(), point).append_item(item);
            }
            Fast::WriteAdd8 { output, from, point } => write_add!(output, r!(from), i64, point),
            Fast::WriteAdd4 { output, from, point } => write_add!(output, r!(from), i32, point),
            Fast::WriteAddAny { output, from, point } => {
                let dtype = output!(output).dtype();
                let item = Number::Signed(r!(from)).to_item(dtype);
                let output = room!(output, dtype.size(), point);
                output.append_item(add_items(dtype, output.last(), item));
            }
            Fast::Repeat { output, times, point } => {
                if output!(output).is_empty() {
                    stop!(point);
                }
                let size = output!(output).dtype().size();
                let Some(bytes) = usize::try_from(r!(times)).unwrap_or(0).checked_mul(size) else {
                    stop!(point)
                };
                let output = room!(output, bytes, point);
                items::repeat(output, bytes / size);
            }
            Fast::LengthOf { to, output } => r!(to) = W::wrap(output!(output).len() as i64),
            Fast::Rewind { output, by, point } => {
                let output = output!(output);
                match usize::try_from(r!(by)).ok().and_then(|by| output.len().checked_sub(by)) {
                    Some(items) => output.rewind_to(items),
                    None => stop!(point),
                }
            }

            Fast::Poll { point } => {
                if interrupt.as_deref().is_some_and(|flag| flag.load(Ordering::Relaxed)) {
                    stop!(point);
                }
            }
            Fast::Native { body, index, stop } => {
                let passes = r!(stop).wrapping_sub(r!(index));
                let passes = usize::try_from(passes).unwrap_or(usize::MAX).min(most_passes);
                if r!(index) < r!(stop) {
                    let done = plans.run::<W>(body as usize, passes, inputs, positions, variables, outputs);
                    r!(index) += done as i64;
                }
            }
            Fast::Call { call } => {
                let outer = window;
                let (site, inside) = call!(call);
                // SAFETY: the caller's window is unchanged.
                let old = unsafe { registers.as_ptr().add(outer) };
                for (at, arg) in site.args.iter().enumerate() {
                    // SAFETY: the callee has a register for each argument, and the caller has the registers
                    // that it names.
                    unsafe {
                        *inside.add(at) = match *arg {
                            Source::Reg(reg) => *old.add(reg as usize),
                            Source::Const(value) => value,
                        };
                    }
                }
                regs = inside;
                go!(site.to);
            }
            Fast::CallOne { call, arg } => enter!(call, r!(arg)),
            Fast::Return { point } => {
                let Some(Activation { back, window: outer, call, spare: left }) = activations.pop() else {
                    stop!(point)
                };
                let site = &flat.calls[call as usize];
                (window, spare) = (outer as usize, left);
                let inside = regs;
                // SAFETY: the caller's window is unchanged.
                regs = unsafe { registers.as_mut_ptr().add(window) };
                for (&to, value) in site.results.iter().zip(&code.point(PointId(point)).stack) {
                    r!(to) = match *value {
                        // SAFETY: the callee's registers follow the caller's, and are unchanged.
                        Operand::Reg(Reg(reg)) => unsafe { *inside.add(reg as usize) },
                        Operand::Const(value) => value,
                    };
                }
                go!(back);
            }
            Fast::ReturnOne { from, point } => leave!(r!(from), point),
            Fast::CallAdded { to, a, b, call } => {
                let value = W::wrap(r!(a).wrapping_add(i64::from(b)));
                r!(to) = value;
                enter!(call, value);
            }
            Fast::ReturnAdded { to, a, b, point } => {
                let value = W::wrap(r!(a).wrapping_add(r!(b)));
                r!(to) = value;
                leave!(value, point);
            }
            Fast::ReturnIfLe { a, from, b, point } => {
                if r!(a) <= i64::from(b) {
                    leave!(r!(from), point);
                }
            }
            Fast::ReturnIfEq { a, from, b, point } => {
                if r!(a) == i64::from(b) {
                    leave!(r!(from), point);
                }
            }
            Fast::Leave { point } => stop!(point),
            Fast::Pause { point, entry } => return Place { stop: Stop::Paused { point, entry }, window },
        }
    }
}

const _: () = assert!(size_of::<Fast>() == 16, "a cache line holds four");
