//! Translation of instructions that write, and conversions of items.

use std::mem::offset_of;

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Type, Value, types};

use super::context::Context;
use super::translate::{Translator, bytes, flags};
use crate::DType;
use crate::lower::ir::{Operand, PointId, Reg};
use crate::output::Output;

/// A value to be written to an output, as [`crate::number::Number`] is.
#[derive(Clone, Copy)]
pub(super) enum Number {
    Signed(Value),
    Unsigned(Value),
    /// Unsigned and less than 2^63.
    Small(Value),
    /// The bits of a float.
    Single(Value),
    Double(Value),
}

impl Number {
    pub(super) fn unsigned(value: Value, from: Type) -> Self {
        if from == types::I64 { Self::Unsigned(value) } else { Self::Small(value) }
    }
}

type Block = cranelift_codegen::ir::Block;

/// Number of passes from which a native loop makes up for the cost of its call.
const WORTH_A_CALL: i64 = 24;

/// Number of passes from which a native loop with inner loops makes up for the cost of its call.
const WORTH_A_CALL_NESTED: i64 = 2;

const fn narrow(dtype: DType) -> Type {
    match dtype.size() {
        1 => types::I8,
        2 => types::I16,
        4 => types::I32,
        _ => types::I64,
    }
}

fn field(output: u32, offset: usize) -> i32 {
    (output as usize * size_of::<Output>() + offset) as i32
}

impl Translator<'_, '_> {
    fn output_word(&mut self, output: u32, offset: usize) -> Value {
        self.b.ins().load(types::I64, flags(), self.outputs, field(output, offset))
    }

    fn output_end(&mut self, output: u32) -> Value {
        self.output_word(output, offset_of!(Output, end))
    }

    fn set_output_end(&mut self, output: u32, end: Value) {
        self.b.ins().store(flags(), end, self.outputs, field(output, offset_of!(Output, end)));
    }

    fn shift(&self, output: u32) -> i64 {
        i64::from(self.program.outputs[output as usize].dtype.size().trailing_zeros())
    }

    /// Reserves space for one item in an output, and returns its end.
    pub(super) fn room(&mut self, output: u32, point: PointId) -> Value {
        self.room_of(output, 1, point)
    }

    /// Reserves space for `items` items in an output, and returns its end.
    pub(super) fn room_of(&mut self, output: u32, items: i64, point: PointId) -> Value {
        let size = items << self.shift(output);
        let end = self.output_end(output);
        let room = self.output_word(output, offset_of!(Output, room));
        let after = self.b.ins().iadd_imm_s(end, size);
        let beyond = self.b.ins().icmp(IntCC::UnsignedGreaterThan, after, room);
        let (grow, next) = (self.cold(), self.b.create_block());
        self.b.ins().brif(beyond, grow, &[], next, &[]);
        self.b.switch_to_block(grow);
        self.b.seal_block(grow);
        let (number, size) = (self.constant(i64::from(output)), self.constant(size));
        self.call_rarely(self.helpers.reserve, [number, size, size]);
        self.check_done(point);
        self.b.ins().jump(next, &[]);
        self.b.switch_to_block(next);
        self.b.seal_block(next);
        end
    }

    /// Returns the end of an output, after which `size` bytes and at least one more fit; else jumps to
    /// `elsewhere`. Memory without capacity is shared, so that not even its slack may be written to.
    pub(super) fn room_for(&mut self, output: u32, size: Value, elsewhere: Block) -> Value {
        let end = self.output_end(output);
        let room = self.output_word(output, offset_of!(Output, room));
        let after = self.b.ins().iadd(end, size);
        let beyond = self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, after, room);
        self.unless(beyond, elsewhere);
        end
    }

    pub(super) fn output_address(&mut self, output: u32, end: Value) -> Value {
        let start = self.output_word(output, offset_of!(Output, start));
        self.b.ins().iadd(start, end)
    }

    pub(super) fn grown(&mut self, output: u32, end: Value, by: Value) {
        let end = self.b.ins().iadd(end, by);
        self.set_output_end(output, end);
    }

    /// Appends an item of the output's width at `end`.
    pub(super) fn append(&mut self, output: u32, end: Value, item: Value) {
        let at = self.output_address(output, end);
        self.b.ins().store(bytes(), item, at, 0);
        let size = 1 << self.shift(output);
        let after = self.b.ins().iadd_imm_s(end, size);
        self.set_output_end(output, after);
    }

    /// Converts a number to the bits of an item, of the item's width.
    pub(super) fn item(&mut self, number: Number, dtype: DType) -> Value {
        let plain = MemFlagsData::new();
        match (number, dtype) {
            (Number::Single(bits), DType::Float32) | (Number::Double(bits), DType::Float64) => bits,
            (Number::Signed(value) | Number::Small(value) | Number::Unsigned(value), DType::Bool) => {
                self.b.ins().icmp_imm_s(IntCC::NotEqual, value, 0)
            }
            (Number::Signed(value) | Number::Small(value), DType::Float32 | DType::Float64) => {
                let float = if dtype == DType::Float32 { types::F32 } else { types::F64 };
                let value = self.b.ins().fcvt_from_sint(float, value);
                self.b.ins().bitcast(narrow(dtype), plain, value)
            }
            (Number::Unsigned(value), DType::Float32 | DType::Float64) => {
                let float = if dtype == DType::Float32 { types::F32 } else { types::F64 };
                let value = self.b.ins().fcvt_from_uint(float, value);
                self.b.ins().bitcast(narrow(dtype), plain, value)
            }
            (Number::Signed(value) | Number::Small(value) | Number::Unsigned(value), _) => {
                if narrow(dtype) == types::I64 { value } else { self.b.ins().ireduce(narrow(dtype), value) }
            }
            (Number::Single(bits), DType::Float64) => {
                let value = self.b.ins().bitcast(types::F32, plain, bits);
                let value = self.b.ins().fpromote(types::F64, value);
                self.b.ins().bitcast(types::I64, plain, value)
            }
            (Number::Double(bits), DType::Float32) => {
                let value = self.b.ins().bitcast(types::F64, plain, bits);
                let value = self.b.ins().fdemote(types::F32, value);
                self.b.ins().bitcast(types::I32, plain, value)
            }
            (Number::Single(bits), DType::Bool) => {
                let value = self.b.ins().bitcast(types::F32, plain, bits);
                let zero = self.b.ins().f32const(0.0);
                self.b.ins().fcmp(FloatCC::NotEqual, value, zero)
            }
            (Number::Double(bits), DType::Bool) => {
                let value = self.b.ins().bitcast(types::F64, plain, bits);
                let zero = self.b.ins().f64const(0.0);
                self.b.ins().fcmp(FloatCC::NotEqual, value, zero)
            }
            // Conversions of floats to integers are left to a helper.
            (Number::Single(bits), _) => {
                let value = self.b.ins().bitcast(types::F32, plain, bits);
                let value = self.b.ins().fpromote(types::F64, value);
                let bits = self.b.ins().bitcast(types::I64, plain, value);
                self.convert(bits, dtype)
            }
            (Number::Double(bits), _) => self.convert(bits, dtype),
        }
    }

    fn convert(&mut self, double: Value, dtype: DType) -> Value {
        let number =
            self.constant(DType::ALL.iter().position(|known| *known == dtype).map_or(0, |at| at as i64));
        self.call_rarely(self.helpers.convert, [double, number, number]);
        let value = self.context_word(offset_of!(Context, found));
        if narrow(dtype) == types::I64 { value } else { self.b.ins().ireduce(narrow(dtype), value) }
    }

    pub(super) fn write(&mut self, output: u32, from: Operand, point: PointId) {
        let dtype = self.program.outputs[output as usize].dtype;
        let room = self.room(output, point);
        let value = self.operand(from);
        let item = self.item(Number::Signed(value), dtype);
        self.append(output, room, item);
    }

    pub(super) fn write_add(&mut self, output: u32, from: Operand, point: PointId) {
        let dtype = self.program.outputs[output as usize].dtype;
        let end = self.room(output, point);
        let value = self.operand(from);
        let item = self.item(Number::Signed(value), dtype);
        let at = self.output_address(output, end);
        let size = dtype.size() as i32;
        let plain = MemFlagsData::new();
        let sum = match dtype {
            DType::Float32 | DType::Float64 => {
                let float = if dtype == DType::Float32 { types::F32 } else { types::F64 };
                let last = self.b.ins().load(float, bytes(), at, -size);
                let item = self.b.ins().bitcast(float, plain, item);
                self.b.ins().fadd(last, item)
            }
            DType::Bool => {
                let last = self.b.ins().load(types::I8, bytes(), at, -1);
                let last = self.b.ins().icmp_imm_s(IntCC::NotEqual, last, 0);
                self.b.ins().bor(last, item)
            }
            _ => {
                let last = self.b.ins().load(narrow(dtype), bytes(), at, -size);
                self.b.ins().iadd(last, item)
            }
        };
        self.b.ins().store(bytes(), sum, at, 0);
        let after = self.b.ins().iadd_imm_s(end, i64::from(size));
        self.set_output_end(output, after);
    }

    /// Appends the last item a number of times: up to 64 bytes at once, where the surplus is written to the
    /// slack.
    pub(super) fn repeat(&mut self, output: u32, times: Operand, point: PointId) {
        let dtype = self.program.outputs[output as usize].dtype;
        let end = self.output_end(output);
        let empty = self.b.ins().icmp_imm_u(IntCC::Equal, end, 0);
        let elsewhere = self.give_up(point);
        self.unless(empty, elsewhere);
        let times = self.operand(times);
        let (slow, done) = (self.cold(), self.b.create_block());
        let shift = self.shift(output);
        let long = self.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThan, times, 64 >> shift);
        self.unless(long, slow);
        let size = self.b.ins().ishl_imm_u(times, shift);
        self.room_for(output, size, slow);
        let at = self.output_address(output, end);
        let item = self.b.ins().load(narrow(dtype), bytes(), at, -(dtype.size() as i32));
        let lanes = match dtype.size() {
            1 => types::I8X16,
            2 => types::I16X8,
            4 => types::I32X4,
            _ => types::I64X2,
        };
        let block = self.b.ins().splat(lanes, item);
        for offset in [0, 16, 32, 48] {
            self.b.ins().store(bytes(), block, at, offset);
        }
        self.grown(output, end, size);
        self.b.ins().jump(done, &[]);

        self.b.switch_to_block(slow);
        self.b.seal_block(slow);
        let number = self.constant(i64::from(output));
        self.call_rarely(self.helpers.fill, [number, times, times]);
        self.check_done(point);
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(done);
        self.b.seal_block(done);
    }

    pub(super) fn length_of(&mut self, to: Reg, output: u32) {
        let end = self.output_end(output);
        let shift = self.shift(output);
        let items = self.b.ins().ushr_imm_u(end, shift);
        let items = self.wrap(items);
        self.define(to, items);
    }

    pub(super) fn rewind(&mut self, output: u32, by: Operand, point: PointId) {
        let end = self.output_end(output);
        let shift = self.shift(output);
        let items = self.b.ins().ushr_imm_u(end, shift);
        let by = self.operand(by);
        let beyond = self.b.ins().icmp(IntCC::UnsignedGreaterThan, by, items);
        let elsewhere = self.give_up(point);
        self.unless(beyond, elsewhere);
        let size = self.b.ins().ishl_imm_u(by, shift);
        let end = self.b.ins().isub(end, size);
        self.set_output_end(output, end);
    }

    /// Calls a native loop, if it has enough passes.
    pub(super) fn native(&mut self, body: u32, index: Reg, stop: Reg) {
        if !self.plans.is_native(body as usize) {
            return;
        }
        let (from, to) = (self.operand(Operand::Reg(index)), self.operand(Operand::Reg(stop)));
        let (run, done) = (self.cold(), self.b.create_block());
        self.b.append_block_param(done, types::I64);
        let passes = self.b.ins().isub(to, from);
        let worth = if self.plans.has_loops(body as usize) { WORTH_A_CALL_NESTED } else { WORTH_A_CALL };
        let many = self.b.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, passes, worth);
        // The difference of distant numbers may overflow.
        let any = self.b.ins().icmp(IntCC::SignedLessThan, from, to);
        let worth = self.b.ins().band(many, any);
        self.b.ins().brif(worth, run, &[], done, &[from.into()]);
        self.b.switch_to_block(run);
        self.b.seal_block(run);
        // Registers that are reloaded are merged at the end.
        self.flush();
        let body = self.constant(i64::from(body));
        self.call_rarely(self.helpers.native, [body, from, to]);
        self.reload();
        let after = self.context_word(offset_of!(Context, found));
        self.b.ins().jump(done, &[after.into()]);
        self.b.switch_to_block(done);
        self.b.seal_block(done);
        let after = self.b.block_params(done)[0];
        self.define(index, after);
    }
}
