//! Instructions that read.

use std::mem::offset_of;

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, types};

use super::context::Context;
use super::item::Number;
use super::translate::{Translator, bytes};
use crate::interpret::fused::{Leaf, LeafKind};
use crate::isa::{Parser, Read};
use crate::lower::ir::{Inst, Operand, PointId, Reg};

impl Translator<'_, '_> {
    pub(super) fn position(&mut self, input: u32) -> Value {
        let (next, _) = self.cursor(input);
        let start = self.input_start(input);
        self.b.ins().isub(next, start)
    }

    fn left(&mut self, input: u32) -> (Value, Value) {
        let (next, end) = self.cursor(input);
        (next, self.b.ins().isub(end, next))
    }

    /// Gives up if fewer bytes are left; the reads that follow know.
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

    pub(super) fn skip(&mut self, input: u32, by: Operand, point: PointId) {
        if let Operand::Const(by) = by
            && (0..1 << 30).contains(&by)
        {
            self.require(input, by, point);
            let (next, _) = self.cursor(input);
            let next = self.b.ins().iadd_imm_s(next, by);
            return self.set_cursor(input, next);
        }
        // Beyond 63 bits or below zero is beyond the length either way.
        let by = self.operand(by);
        let position = self.position(input);
        let target = self.b.ins().iadd(position, by);
        let length = self.input_length(input);
        let beyond = self.b.ins().icmp(IntCC::UnsignedGreaterThan, target, length);
        let elsewhere = self.give_up(point);
        self.unless(beyond, elsewhere);
        let (next, _) = self.cursor(input);
        let next = self.b.ins().iadd(next, by);
        self.set_cursor(input, next);
    }

    pub(super) fn skip_space(&mut self, input: u32) {
        self.flush_positions();
        let input = self.constant(i64::from(input));
        self.call_rarely(self.helpers.skip_space, [input, input, input]);
        self.reload_positions();
    }

    pub(super) fn enumeration(
        &mut self,
        to: Reg,
        input: u32,
        strings: std::ops::Range<u32>,
        only: bool,
        point: PointId,
    ) {
        self.flush_positions();
        let input = self.constant(i64::from(input));
        let (first, end) = (self.constant(i64::from(strings.start)), self.constant(i64::from(strings.end)));
        self.call_rarely(self.helpers.enumeration, [input, first, end]);
        let found = self.context_word(offset_of!(Context, found));
        if only {
            let none = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, found, 0);
            let elsewhere = self.give_up(point);
            self.unless(none, elsewhere);
        }
        self.reload_positions();
        self.define(to, found);
    }

    /// Asks a helper for something it may refuse.
    fn ask(&mut self, helper: i64, arguments: [Value; 3], point: PointId) {
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
            self.checked_bytes(read, point, rest);
            // Nothing may have moved yet if there is no room.
            let room = self.room(output, point);
            let (next, _) = self.cursor(read.input);
            let number = self.load_number(read, next);
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

    /// Makes sure of the bytes of a fixed-size read, and of those that follow it at once.
    fn checked_bytes(&mut self, read: Read, point: PointId, rest: &[Inst]) {
        let size = read.parser.size() as i64;
        if self.assured(read.input, size) {
            return;
        }
        let mut total = size;
        for inst in rest {
            match inst {
                Inst::ReadItem { read: next, .. } | Inst::ReadStack { read: next, .. }
                    if next.input == read.input && next.parser.size() > 0 =>
                {
                    total += next.parser.size() as i64;
                }
                _ if keeps_bytes(inst) => {}
                _ => break,
            }
        }
        // Giving up early is as good: tier 0 finds out who is short of bytes.
        self.require(read.input, total, point);
        self.assure(read.input, total - size);
    }

    fn fixed(&mut self, read: Read, point: PointId, rest: &[Inst]) -> Number {
        self.checked_bytes(read, point, rest);
        let (next, _) = self.cursor(read.input);
        let number = self.load_number(read, next);
        let next = self.b.ins().iadd_imm_s(next, read.parser.size() as i64);
        self.set_cursor(read.input, next);
        number
    }

    fn load_number(&mut self, read: Read, at: Value) -> Number {
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
                (types::I8, true) => ins.sload8(types::I64, bytes(), at, 0),
                (types::I8, false) => ins.uload8(types::I64, bytes(), at, 0),
                (types::I16, true) => ins.sload16(types::I64, bytes(), at, 0),
                (types::I16, false) => ins.uload16(types::I64, bytes(), at, 0),
                (types::I32, true) => ins.sload32(bytes(), at, 0),
                (types::I32, false) => ins.uload32(bytes(), at, 0),
                _ => ins.load(types::I64, bytes(), at, 0),
            };
            return if signed { Number::Signed(value) } else { Number::unsigned(value, narrow) };
        }
        let mut value = ins.load(narrow, bytes(), at, 0);
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

    /// As the stack sees it, before integers are cut to the width: floats truncate, what does not fit becomes the smallest.
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
        // In 64 bits it saturates to the smallest number from below; what is not a number does not compare.
        let smallest = self.constant(smallest);
        self.b.ins().select(fits, saturated, smallest)
    }

    /// A variable-length number and the address behind it; the cursor stays.
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

        // Up to eight bytes: find the last one, then close the gaps between the groups of seven bits.
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
        self.call_rarely(self.helpers.varint, [next, end, next]);
        self.check_done(point);
        let value = self.context_word(offset_of!(Context, found));
        let after = self.context_word(offset_of!(Context, found) + 8);
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

    pub(super) fn read_many(&mut self, read: Read, count: Operand, point: PointId) {
        let read = Read { repeated: true, ..read };
        let Some(output) = read.output else { return self.stop(point) };
        let count = self.operand(count);
        let dtype = self.program.outputs[output as usize].dtype;
        match Leaf::new(read, output as usize, dtype) {
            Some(leaf) if self.is_inline(leaf.kind) => self.run(read, leaf, count, point),
            _ if read.parser == Parser::NBit && !read.big && read.bits <= 8 && dtype.size() == 1 => {
                self.unpack(read, count, dtype, point);
            }
            _ => self.many(read, count, point),
        }
    }

    fn is_inline(&self, kind: LeafKind) -> bool {
        matches!(kind, LeafKind::Copy) || (self.host.shuffles && !matches!(kind, LeafKind::Bool))
    }

    /// Short runs are moved 64 bytes at once, whatever their length: the input is looked at, the output has slack.
    fn run(&mut self, read: Read, leaf: Leaf, count: Value, point: PointId) {
        let output = leaf.output as u32;
        let (slow, done) = (self.cold(), self.b.create_block());
        let (next, left) = self.left(read.input);
        let near = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, left, 64);
        self.unless(near, slow);
        let most = 64 >> leaf.shift;
        let long = self.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThan, count, most);
        self.unless(long, slow);
        let size = self.b.ins().ishl_imm_u(count, i64::from(leaf.shift));
        let room = self.room_for(output, size, slow);
        let to = self.output_address(output, room);
        for at in [0, 16, 32, 48] {
            let mut lanes = self.b.ins().load(types::I8X16, bytes(), next, at);
            if leaf.kind != LeafKind::Copy {
                lanes = self.swap(lanes, 1 << leaf.shift);
            }
            self.b.ins().store(bytes(), lanes, to, at);
        }
        self.grown(output, room, size);
        let after = self.b.ins().iadd(next, size);
        self.set_cursor(read.input, after);
        self.b.ins().jump(done, &[]);

        self.b.switch_to_block(slow);
        self.b.seal_block(slow);
        self.many(read, count, point);
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(done);
        self.b.seal_block(done);
    }

    fn swap(&mut self, lanes: Value, size: u8) -> Value {
        let mask: Vec<u8> = (0..16_u8).map(|at| at / size * size + (size - 1 - at % size)).collect();
        let mask = self.b.func.dfg.immediates.push(mask.into());
        self.b.ins().shuffle(lanes, lanes, mask)
    }

    /// By a kernel, all or nothing.
    fn many(&mut self, read: Read, count: Value, point: PointId) {
        let read = self.helpers.read(read);
        let read = self.constant(read);
        self.ask(self.helpers.many, [read, count, count], point);
    }

    /// Up to eight bits each into bytes, eight items at a time: their bits are moved apart by halves.
    fn unpack(&mut self, read: Read, count: Value, dtype: crate::Dtype, point: PointId) {
        let bits = i64::from(read.bits);
        let output = read.output.unwrap_or(0);
        let (slow, head, done) = (self.cold(), self.b.create_block(), self.b.create_block());
        if dtype == crate::Dtype::Bool && bits > 1 {
            return self.many(read, count, point);
        }
        let (next, left) = self.left(read.input);
        let few = self.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThan, count, 1 << 16);
        self.unless(few, slow);
        // Bytes used, and up to eight more are looked at behind the last.
        let used = self.b.ins().imul_imm_s(count, bits);
        let used = self.b.ins().iadd_imm_s(used, 7);
        let used = self.b.ins().ushr_imm_u(used, 3);
        let seen = self.b.ins().iadd_imm_s(used, 8);
        let near = self.b.ins().icmp(IntCC::UnsignedGreaterThan, seen, left);
        self.unless(near, slow);
        let room = self.room_for(output, count, slow);
        let to = self.output_address(output, room);
        let to_end = self.b.ins().iadd(to, count);
        let (from_at, to_at) =
            (self.b.append_block_param(head, types::I64), self.b.append_block_param(head, types::I64));
        self.b.ins().jump(head, &[next.into(), to.into()]);

        self.b.switch_to_block(head);
        let mut word = self.b.ins().load(types::I64, bytes(), from_at, 0);
        // Four items to the upper half, then two of each four, then one of each two.
        for step in [4, 2, 1_i64] {
            let shift = step * (8 - bits);
            if shift == 0 {
                continue;
            }
            let group = 1_u64.checked_shl((step * bits) as u32).map_or(u64::MAX, |bit| bit - 1);
            let (mut low, mut high) = (0_u64, 0_u64);
            for at in 0..4 / step {
                // Before this step, groups of 2 * step items stand `16 * step` bits apart.
                let place = (at * 16 * step) as u32;
                low |= group << place;
                high |= group << (place + (step * bits) as u32);
            }
            let (low, high) = (self.constant(low as i64), self.constant(high as i64));
            let low = self.b.ins().band(word, low);
            let high = self.b.ins().band(word, high);
            let high = self.b.ins().ishl_imm_u(high, shift);
            word = self.b.ins().bor(low, high);
        }
        self.b.ins().store(bytes(), word, to_at, 0);
        let from_next = self.b.ins().iadd_imm_s(from_at, bits);
        let to_next = self.b.ins().iadd_imm_s(to_at, 8);
        let more = self.b.ins().icmp(IntCC::UnsignedLessThan, to_next, to_end);
        let finished = self.b.create_block();
        self.b.ins().brif(more, head, &[from_next.into(), to_next.into()], finished, &[]);
        self.b.seal_block(head);
        self.b.switch_to_block(finished);
        self.b.seal_block(finished);
        self.grown(output, room, count);
        let after = self.b.ins().iadd(next, used);
        self.set_cursor(read.input, after);
        self.b.ins().jump(done, &[]);

        self.b.switch_to_block(slow);
        self.b.seal_block(slow);
        self.many(read, count, point);
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(done);
        self.b.seal_block(done);
    }
}

/// Whether the bytes made sure of are still there behind an instruction, whichever way it went.
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
