//! Translation of instructions that read inputs.

use std::mem::offset_of;

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, types};

use super::context::Context;
use super::item::Number;
use super::translate::{Translator, bytes};
use crate::isa::{Parser, Read};
use crate::lower::ir::{Inst, Operand, PointId, Reg};

impl Translator<'_, '_> {
    pub(super) fn position(&mut self, input: u32) -> Value {
        let (next, _) = self.cursor(input);
        let start = self.input_start(input);
        self.b.ins().isub(next, start)
    }

    pub(super) fn left(&mut self, input: u32) -> (Value, Value) {
        let (next, end) = self.cursor(input);
        (next, self.b.ins().isub(end, next))
    }

    /// Gives up if fewer bytes are left. The reads that follow need no check.
    pub(super) fn require_all(&mut self, input: u32, bytes: i64, point: PointId) {
        if bytes < 1 << 30 {
            self.require(input, bytes, point);
        } else {
            self.stop(point);
        }
        self.assure(input, bytes);
    }

    fn require(&mut self, input: u32, bytes: i64, point: PointId) {
        let (next, end) = self.cursor(input);
        let after = self.b.ins().iadd_imm_s(next, bytes);
        let beyond = self.b.ins().icmp(IntCC::UnsignedGreaterThan, after, end);
        let elsewhere = self.give_up(point);
        self.unless(beyond, elsewhere);
    }

    pub(super) fn peek(&mut self, to: Reg, input: u32, distance: Operand, point: PointId) {
        let (next, left) = self.left(input);
        let distance = self.operand(distance);
        let beyond = self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, distance, left);
        let elsewhere = self.give_up(point);
        self.unless(beyond, elsewhere);
        let at = self.b.ins().iadd(next, distance);
        let value = self.b.ins().uload8(types::I64, bytes(), at, 0);
        self.define(to, value);
    }

    pub(super) fn seek(&mut self, input: u32, target: Operand, point: PointId) {
        let target = self.operand(target);
        let length = self.input_length(input);
        let beyond = self.b.ins().icmp(IntCC::UnsignedGreaterThan, target, length);
        let elsewhere = self.give_up(point);
        self.unless(beyond, elsewhere);
        let start = self.input_start(input);
        let next = self.b.ins().iadd(start, target);
        self.set_cursor(input, next);
    }

    pub(super) fn skip(&mut self, input: u32, by: Operand, point: PointId, rest: &[Inst]) {
        if let Operand::Const(by) = by
            && (0..MOST_KNOWN).contains(&by)
        {
            self.checked_bytes(input, by, point, rest);
            let (next, _) = self.cursor(input);
            let next = self.b.ins().iadd_imm_s(next, by);
            return self.set_cursor(input, next);
        }
        let by = self.operand(by);
        let (next, left) = self.left(input);
        let (back, join) = (self.cold(), self.b.create_block());
        let unusual = self.b.ins().icmp(IntCC::UnsignedGreaterThan, by, left);
        self.unless(unusual, back);
        self.b.ins().jump(join, &[]);
        self.b.switch_to_block(back);
        self.b.seal_block(back);
        // A distance beyond 63 bits or below zero also yields a target beyond the length.
        let position = self.position(input);
        let target = self.b.ins().iadd(position, by);
        let length = self.input_length(input);
        let beyond = self.b.ins().icmp(IntCC::UnsignedGreaterThan, target, length);
        let elsewhere = self.give_up(point);
        self.unless(beyond, elsewhere);
        self.b.ins().jump(join, &[]);
        self.b.switch_to_block(join);
        self.b.seal_block(join);
        let next = self.b.ins().iadd(next, by);
        self.set_cursor(input, next);
    }

    pub(super) fn skip_space(&mut self, input: u32) {
        self.flush_positions();
        let input = self.constant(i64::from(input));
        self.call_rarely(self.helpers.skip_space, [input, input, input]);
        self.reload_positions();
    }

    /// Calls a helper that may fail, in which case the code gives up.
    pub(super) fn ask(&mut self, helper: i64, arguments: [Value; 3], point: PointId) {
        self.forget();
        self.flush_positions();
        self.call_rarely(helper, arguments);
        self.check_done(point);
        self.reload_positions();
    }

    pub(super) fn check_done(&mut self, point: PointId) {
        let done = self.context_word(offset_of!(Context, done));
        let refused = self.b.ins().icmp_imm_s(IntCC::Equal, done, 0);
        let elsewhere = self.give_up(point);
        self.unless(refused, elsewhere);
    }

    pub(super) fn read_stack(&mut self, to: Reg, read: Read, point: PointId, rest: &[Inst]) {
        let read = Read { repeated: false, ..read };
        let value = if read.parser.size() > 0 {
            let number = self.fixed(read, point, rest);
            self.stack_item(number)
        } else if matches!(read.parser, Parser::VarInt | Parser::ZigZag) {
            let (value, next) = self.varint(read, point);
            self.set_cursor(read.input, next);
            value
        } else {
            let read = self.helpers.read(read);
            let read = self.constant(read);
            self.ask(self.helpers.number, [read, read, read], point);
            self.context_word(offset_of!(Context, found))
        };
        let value = self.wrap(value);
        self.define(to, value);
    }

    pub(super) fn read_item(&mut self, read: Read, point: PointId, rest: &[Inst]) {
        let read = Read { repeated: false, ..read };
        let output = read.output.unwrap_or(0);
        let dtype = self.program.outputs[output as usize].dtype;
        if read.parser.size() > 0 {
            self.checked_bytes(read.input, read.parser.size() as i64, point, rest);
            // Reserved before the cursor moves, since reserving may give up.
            let room = self.room(output, point);
            let (next, _) = self.cursor(read.input);
            let number = self.load_number(read, next, 0);
            let next = self.b.ins().iadd_imm_s(next, read.parser.size() as i64);
            self.set_cursor(read.input, next);
            let item = self.item(number, dtype);
            self.append(output, room, item);
        } else if matches!(read.parser, Parser::VarInt | Parser::ZigZag) {
            let (value, next) = self.varint(read, point);
            let room = self.room(output, point);
            self.set_cursor(read.input, next);
            let number = match read.parser {
                Parser::ZigZag => Number::Signed(value),
                _ => Number::Unsigned(value),
            };
            let item = self.item(number, dtype);
            self.append(output, room, item);
        } else {
            let one = self.constant(1);
            self.many(read, one, point);
        }
    }

    /// Checks that the bytes of a fixed-size read, and of the reads that follow it at once, are left.
    pub(super) fn checked_bytes(&mut self, input: u32, size: i64, point: PointId, rest: &[Inst]) {
        if self.assured(input, size) {
            return;
        }
        let mut total = size;
        for inst in rest {
            match known_bytes(inst) {
                Some((next, bytes)) if next == input => total += bytes,
                None if keeps_bytes(inst) => {}
                _ => break,
            }
        }
        // Giving up early is equivalent: tier 0 determines which read fails.
        self.require(input, total, point);
        self.assure(input, total - size);
    }

    fn fixed(&mut self, read: Read, point: PointId, rest: &[Inst]) -> Number {
        self.checked_bytes(read.input, read.parser.size() as i64, point, rest);
        let (next, _) = self.cursor(read.input);
        let number = self.load_number(read, next, 0);
        let next = self.b.ins().iadd_imm_s(next, read.parser.size() as i64);
        self.set_cursor(read.input, next);
        number
    }

    /// Loads the number at an offset from an address.
    pub(super) fn load_number(&mut self, read: Read, at: Value, offset: i32) -> Number {
        let swap = read.big && read.parser.size() > 1;
        let signed = matches!(
            read.parser,
            Parser::Int8 | Parser::Int16 | Parser::Int32 | Parser::Int64 | Parser::IntPtr
        );
        let narrow = match read.parser.size() {
            1 => types::I8,
            2 => types::I16,
            4 => types::I32,
            _ => types::I64,
        };
        let float = matches!(read.parser, Parser::Float32 | Parser::Float64);
        let ins = self.b.ins();
        if !swap && !float {
            let value = match (narrow, signed) {
                (types::I8, true) => ins.sload8(types::I64, bytes(), at, offset),
                (types::I8, false) => ins.uload8(types::I64, bytes(), at, offset),
                (types::I16, true) => ins.sload16(types::I64, bytes(), at, offset),
                (types::I16, false) => ins.uload16(types::I64, bytes(), at, offset),
                (types::I32, true) => ins.sload32(bytes(), at, offset),
                (types::I32, false) => ins.uload32(bytes(), at, offset),
                _ => ins.load(types::I64, bytes(), at, offset),
            };
            return if signed { Number::Signed(value) } else { Number::unsigned(value, narrow) };
        }
        let mut value = ins.load(narrow, bytes(), at, offset);
        if swap {
            value = self.b.ins().bswap(value);
        }
        match read.parser {
            Parser::Float32 => return Number::Single(value),
            Parser::Float64 => return Number::Double(value),
            _ => {}
        }
        if narrow != types::I64 {
            let ins = self.b.ins();
            value = if signed { ins.sextend(types::I64, value) } else { ins.uextend(types::I64, value) };
        }
        if signed { Number::Signed(value) } else { Number::unsigned(value, narrow) }
    }

    /// Converts a number to a stack item before integers are wrapped to the width: floats are truncated, and
    /// those out of range become the smallest number.
    fn stack_item(&mut self, number: Number) -> Value {
        let float = match number {
            Number::Signed(value) | Number::Unsigned(value) | Number::Small(value) => return value,
            Number::Single(value) => {
                let float = self.b.ins().bitcast(types::F32, MemFlagsData::new(), value);
                self.b.ins().fpromote(types::F64, float)
            }
            Number::Double(value) => self.b.ins().bitcast(types::F64, MemFlagsData::new(), value),
        };
        let saturated = self.b.ins().fcvt_to_sint_sat(types::I64, float);
        let (limit, smallest) = match self.bits() {
            64 => (9_223_372_036_854_775_808.0, i64::MIN),
            _ => (2_147_483_648.0, i64::from(i32::MIN)),
        };
        let limit = self.b.ins().f64const(limit);
        let mut fits = self.b.ins().fcmp(FloatCC::LessThan, float, limit);
        if self.bits() == 32 {
            let limit = self.b.ins().f64const(-2_147_483_649.0);
            let above = self.b.ins().fcmp(FloatCC::GreaterThan, float, limit);
            fits = self.b.ins().band(fits, above);
        }
        // In 64 bits, the conversion saturates to the smallest number from below; NaN fails the comparison.
        let smallest = self.constant(smallest);
        self.b.ins().select(fits, saturated, smallest)
    }

    /// Decodes a variable-length number, and returns the address after it; the cursor is unchanged.
    fn varint(&mut self, read: Read, point: PointId) -> (Value, Value) {
        self.forget();
        let (next, end) = self.cursor(read.input);
        let at_end = self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, next, end);
        let elsewhere = self.give_up(point);
        self.unless(at_end, elsewhere);
        let first = self.b.ins().uload8(types::I64, bytes(), next, 0);
        let after = self.b.ins().iadd_imm_s(next, 1);
        let (long, join) = (self.b.create_block(), self.b.create_block());
        self.b.append_block_param(join, types::I64);
        self.b.append_block_param(join, types::I64);
        let more = self.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, first, 0x80);
        self.unless(more, long);
        self.b.ins().jump(join, &[first.into(), after.into()]);

        // Up to eight bytes: finds the last one, then closes the gaps between the groups of seven bits.
        self.b.switch_to_block(long);
        self.b.seal_block(long);
        let rare = self.cold();
        let left = self.b.ins().isub(end, next);
        let few = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, left, 8);
        self.unless(few, rare);
        let word = self.b.ins().load(types::I64, bytes(), next, 0);
        let highs = self.constant(0x8080_8080_8080_8080_u64 as i64);
        let ends = self.b.ins().band_not(highs, word);
        let none = self.b.ins().icmp_imm_u(IntCC::Equal, ends, 0);
        self.unless(none, rare);
        let below = self.b.ins().iadd_imm_s(ends, -1);
        let keep = self.b.ins().bxor(ends, below);
        let mut value = self.b.ins().band(word, keep);
        let lows = self.constant(0x7f7f_7f7f_7f7f_7f7f);
        value = self.b.ins().band(value, lows);
        for (low, high, by) in [
            (0x007f_007f_007f_007f, 0x7f00_7f00_7f00_7f00, 1),
            (0x0000_3fff_0000_3fff, 0x3fff_0000_3fff_0000, 2),
            (0x0000_0000_0fff_ffff, 0x0fff_ffff_0000_0000, 4),
        ] {
            let (low, high) = (self.constant(low), self.constant(high));
            let low = self.b.ins().band(value, low);
            let high = self.b.ins().band(value, high);
            let high = self.b.ins().ushr_imm_u(high, by);
            value = self.b.ins().bor(low, high);
        }
        let zeros = self.b.ins().ctz(ends);
        let count = self.b.ins().ushr_imm_u(zeros, 3);
        let last = self.b.ins().iadd(next, count);
        let after = self.b.ins().iadd_imm_s(last, 1);
        self.b.ins().jump(join, &[value.into(), after.into()]);

        // Near the end of the input, and numbers of nine or ten bytes.
        self.b.switch_to_block(rare);
        self.b.seal_block(rare);
        let (value, after) = self.varint_of_any_length(next, end, point);
        self.b.ins().jump(join, &[value.into(), after.into()]);

        self.b.switch_to_block(join);
        self.b.seal_block(join);
        let params = self.b.block_params(join);
        let (mut value, after) = (params[0], params[1]);
        if read.parser == Parser::ZigZag {
            let half = self.b.ins().ushr_imm_u(value, 1);
            let sign = self.b.ins().band_imm_s(value, 1);
            let sign = self.b.ins().ineg(sign);
            value = self.b.ins().bxor(half, sign);
        }
        (value, after)
    }

    /// Decodes a variable-length number without zigzag by a helper, and returns the address after it.
    pub(super) fn varint_of_any_length(&mut self, next: Value, end: Value, point: PointId) -> (Value, Value) {
        self.call_rarely(self.helpers.varint, [next, end, next]);
        self.check_done(point);
        let found = offset_of!(Context, found);
        (self.context_word(found), self.context_word(found + 8))
    }
}

/// Upper bound on the bytes of a skip of fixed size that are checked together with other reads.
const MOST_KNOWN: i64 = 1 << 16;
/// Maximum constant number of items that are moved one by one.
const MOST_FEW: i64 = 8;
/// Returns the count of a read of few items of fixed size; None for other reads.
pub(super) fn few(read: Read, count: Operand) -> Option<i64> {
    match count {
        Operand::Const(count) if (1..=MOST_FEW).contains(&count) && read.parser.size() > 0 => Some(count),
        _ => None,
    }
}

/// Returns the input and the number of bytes of an instruction that reads a fixed number; None for other
/// instructions.
pub(super) fn known_bytes(inst: &Inst) -> Option<(u32, i64)> {
    match inst {
        Inst::ReadItem { read, .. } | Inst::ReadStack { read, .. } if read.parser.size() > 0 => {
            Some((read.input, read.parser.size() as i64))
        }
        Inst::ReadMany { read, count, .. } if read.output.is_some() => {
            few(*read, *count).map(|count| (read.input, count * read.parser.size() as i64))
        }
        Inst::Skip { input, by: Operand::Const(by), .. } if (0..MOST_KNOWN).contains(by) => {
            Some((*input, *by))
        }
        _ => None,
    }
}

/// Whether the bytes checked before are still left after an instruction.
pub(super) fn keeps_bytes(inst: &Inst) -> bool {
    matches!(
        inst,
        Inst::Move { .. }
            | Inst::Unary { .. }
            | Inst::Binary { .. }
            | Inst::Divide { .. }
            | Inst::Fetch { .. }
            | Inst::Store { .. }
            | Inst::Increment { .. }
            | Inst::Write { .. }
            | Inst::WriteAdd { .. }
            | Inst::LengthOf { .. }
            | Inst::Position { .. }
    )
}
