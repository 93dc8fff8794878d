//! Translation of instructions that compute, and the dispatch over all instructions.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};

use super::input::{keeps_bytes, known_bytes};
use super::translate::Translator;
use crate::lower::ir::{BinaryOp, Inst, Operand, PointId, Reg, UnaryOp};

impl Translator<'_, '_> {
    /// Translates an instruction; `rest` are the instructions after it in the block.
    pub(super) fn instruction(&mut self, inst: &Inst, rest: &[Inst]) {
        if known_bytes(inst).is_none() && !keeps_bytes(inst) {
            self.forget();
        }
        match inst {
            Inst::Move { to, from } => {
                let mut value = self.operand(*from);
                if matches!(from, Operand::Reg(_)) {
                    value = self.wrap(value);
                }
                self.define(*to, value);
            }
            Inst::Unary { op, to, a } => {
                let a = self.operand(*a);
                let value = match op {
                    UnaryOp::Negate => self.b.ins().ineg(a),
                    UnaryOp::Abs => self.b.ins().iabs(a),
                    UnaryOp::Invert => self.b.ins().bnot(a),
                    UnaryOp::EqZero => {
                        let zero = self.b.ins().icmp_imm_s(IntCC::Equal, a, 0);
                        self.flag(zero)
                    }
                };
                // A flag needs no wrapping, and would no longer be known as a flag.
                let value = if *op == UnaryOp::EqZero { value } else { self.wrap(value) };
                self.define(*to, value);
            }
            Inst::Binary { op, to, a, b } => self.binary(*op, *to, *a, *b),
            Inst::Divide { quotient, rest, a, b, point } => self.divide(*quotient, *rest, *a, *b, *point),
            Inst::Advance { index, by } => {
                let value = self.operand(Operand::Reg(*index));
                let by = self.operand(*by);
                let value = self.b.ins().iadd(value, by);
                self.define(*index, value);
            }
            Inst::Fetch { to, variable } => {
                let value = self.variable(*variable);
                self.define(*to, value);
            }
            Inst::Store { variable, from } => {
                let value = self.operand(*from);
                self.set_variable(*variable, value);
            }
            Inst::Increment { variable, by } => {
                let by = self.operand(*by);
                let value = self.variable(*variable);
                let value = self.b.ins().iadd(value, by);
                let value = self.wrap(value);
                self.set_variable(*variable, value);
            }
            Inst::Length { to, input } => {
                let value = self.input_length(*input);
                let value = self.wrap(value);
                self.define(*to, value);
            }
            Inst::Position { to, input } => {
                let value = self.position(*input);
                let value = self.wrap(value);
                self.define(*to, value);
            }
            Inst::AtEnd { to, input } => {
                let (next, end) = self.cursor(*input);
                let at_end = self.b.ins().icmp(IntCC::Equal, next, end);
                let value = self.flag(at_end);
                self.define(*to, value);
            }
            Inst::Peek { to, input, distance, point } => self.peek(*to, *input, *distance, *point),
            Inst::Seek { input, target, point } => self.seek(*input, *target, *point),
            Inst::Skip { input, by, point } => self.skip(*input, *by, *point, rest),
            Inst::SkipSpace { input } => self.skip_space(*input),
            Inst::Enum { to, input, first, end, only, point } => {
                self.enumeration(*to, *input, *first..*end, *only, *point);
            }
            Inst::Require { input, bytes, point } => self.require_all(*input, i64::from(*bytes), *point),
            Inst::ReadStack { to, read, point } => self.read_stack(*to, *read, *point, rest),
            Inst::Pass { read, point, .. } => self.pass(*read, *point),
            Inst::ReadItem { read, point } => self.read_item(*read, *point, rest),
            Inst::ReadMany { read, count, point } => self.read_many(*read, *count, *point, rest),
            Inst::Write { output, from, point } => self.write(*output, *from, *point),
            Inst::WriteAdd { output, from, point } => self.write_add(*output, *from, *point),
            Inst::Repeat { output, times, point } => self.repeat(*output, *times, *point),
            Inst::LengthOf { to, output } => self.length_of(*to, *output),
            Inst::Rewind { output, by, point } => self.rewind(*output, *by, *point),
            Inst::Poll { point } => self.poll(*point),
            Inst::Native { body, index, stop } => self.native(*body, *index, *stop),
            Inst::Call { function, args, results, point, during } => {
                self.call(*function, args, results, *point, *during);
            }
        }
    }

    /// Converts a truth value to a flag, -1 or 0.
    pub(super) fn flag(&mut self, truth: Value) -> Value {
        let one = self.b.ins().uextend(types::I64, truth);
        let flag = self.b.ins().ineg(one);
        self.truths.insert(flag, truth);
        flag
    }

    fn binary(&mut self, op: BinaryOp, to: Reg, a: Operand, b: Operand) {
        if let BinaryOp::Compare(relation) = op {
            let truth = self.compare(relation, a, b);
            let value = self.flag(truth);
            return self.define(to, value);
        }
        let bits = i64::from(self.bits());
        let left = self.operand(a);
        let right = match (op, b) {
            // The code generator itself takes counts modulo 64.
            (BinaryOp::ShiftLeft | BinaryOp::ShiftRight, Operand::Const(count)) => {
                self.constant(i64::from(count as u32) % bits)
            }
            (BinaryOp::ShiftLeft | BinaryOp::ShiftRight, Operand::Reg(_)) if bits < 64 => {
                let count = self.operand(b);
                self.b.ins().band_imm_s(count, bits - 1)
            }
            _ => self.operand(b),
        };
        let ins = self.b.ins();
        let value = match op {
            BinaryOp::Add => ins.iadd(left, right),
            BinaryOp::Sub => ins.isub(left, right),
            BinaryOp::Mul => ins.imul(left, right),
            BinaryOp::Min => ins.smin(left, right),
            BinaryOp::Max => ins.smax(left, right),
            BinaryOp::And => ins.band(left, right),
            BinaryOp::Or => ins.bor(left, right),
            BinaryOp::Xor => ins.bxor(left, right),
            BinaryOp::ShiftLeft => ins.ishl(left, right),
            BinaryOp::ShiftRight => ins.sshr(left, right),
            BinaryOp::Compare(_) => return,
        };
        let fits = matches!(
            op,
            BinaryOp::Min
                | BinaryOp::Max
                | BinaryOp::And
                | BinaryOp::Or
                | BinaryOp::Xor
                | BinaryOp::ShiftRight
        );
        let value = if fits { value } else { self.wrap(value) };
        self.define(to, value);
    }

    fn divide(&mut self, quotient: Option<Reg>, rest: Option<Reg>, a: Operand, b: Operand, point: PointId) {
        let left = self.operand(a);
        let (mut whole, mut left_over);
        match b {
            Operand::Const(0) => return self.stop(point),
            Operand::Const(-1) => {
                whole = self.b.ins().ineg(left);
                left_over = self.constant(0);
            }
            Operand::Const(power) if power > 0 && (power as u64).is_power_of_two() => {
                whole = self.b.ins().sshr_imm_u(left, i64::from(power.trailing_zeros()));
                left_over = self.b.ins().band_imm_s(left, power - 1);
            }
            Operand::Const(_) => {
                let right = self.operand(b);
                (whole, left_over) = self.floor_division(left, right);
            }
            Operand::Reg(_) => {
                let right = self.operand(b);
                let zero = self.b.ins().icmp_imm_s(IntCC::Equal, right, 0);
                let elsewhere = self.give_up(point);
                self.unless(zero, elsewhere);
                // The smallest number by -1 would trap.
                let minus_one = self.b.ins().icmp_imm_s(IntCC::Equal, right, -1);
                let (other, join) = (self.cold(), self.b.create_block());
                self.b.append_block_param(join, types::I64);
                self.b.append_block_param(join, types::I64);
                self.unless(minus_one, other);
                (whole, left_over) = self.floor_division(left, right);
                self.b.ins().jump(join, &[whole.into(), left_over.into()]);
                self.b.switch_to_block(other);
                self.b.seal_block(other);
                whole = self.b.ins().ineg(left);
                left_over = self.constant(0);
                self.b.ins().jump(join, &[whole.into(), left_over.into()]);
                self.b.switch_to_block(join);
                self.b.seal_block(join);
                let params = self.b.block_params(join);
                (whole, left_over) = (params[0], params[1]);
            }
        }
        for (to, value) in [(quotient, whole), (rest, left_over)] {
            if let Some(to) = to {
                let value = self.wrap(value);
                self.define(to, value);
            }
        }
    }

    /// Emits a floor division by a divisor other than 0 and -1.
    fn floor_division(&mut self, a: Value, b: Value) -> (Value, Value) {
        let (whole, rest) = if self.bits() == 64 {
            (self.b.ins().sdiv(a, b), self.b.ins().srem(a, b))
        } else {
            // Half the width takes half the time.
            let a = self.b.ins().ireduce(types::I32, a);
            let b = self.b.ins().ireduce(types::I32, b);
            let (whole, rest) = (self.b.ins().sdiv(a, b), self.b.ins().srem(a, b));
            (self.b.ins().sextend(types::I64, whole), self.b.ins().sextend(types::I64, rest))
        };
        // Subtracts one if the signs differ and the remainder is not zero.
        let signs = self.b.ins().bxor(rest, b);
        let differ = self.b.ins().sshr_imm_u(signs, 63);
        let any = self.b.ins().icmp_imm_s(IntCC::NotEqual, rest, 0);
        let any = self.flag(any);
        let less = self.b.ins().band(differ, any);
        let whole = self.b.ins().iadd(whole, less);
        let add = self.b.ins().band(b, less);
        let rest = self.b.ins().iadd(rest, add);
        (whole, rest)
    }
}
