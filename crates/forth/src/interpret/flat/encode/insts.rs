//! Encoding of single instructions.

use super::Encoder;
use super::NONE;
use crate::DType;
use crate::interpret::flat::code::{Fast, R, Slot};
use crate::interpret::flat::program::{Call, Enumeration, Source};
use crate::interpret::fused::{Leaf, LeafKind};
use crate::isa::{Parser, Read};
use crate::lower::ir::{BinaryOp, Inst, Operand, Reg, UnaryOp};
use crate::state::Height;

impl Encoder<'_> {
    #[allow(clippy::too_many_lines, reason = "one line or two for each instruction")]
    pub(super) fn inst(&mut self, inst: &Inst) {
        let r = |reg: Reg| reg.0 as R;
        let s = |slot: u32| slot as Slot;
        let fast = match *inst {
            Inst::Move { to, from: Operand::Const(value) } => Fast::Const { to: r(to), value },
            Inst::Move { to, from: Operand::Reg(from) } => Fast::Move { to: r(to), from: r(from) },
            Inst::Unary { op, to, a } => {
                let (to, a) = (r(to), self.reg(a));
                match op {
                    UnaryOp::Negate => Fast::Negate { to, a },
                    UnaryOp::Abs => Fast::Abs { to, a },
                    UnaryOp::Invert => Fast::Invert { to, a },
                    UnaryOp::EqZero => Fast::EqZero { to, a },
                }
            }
            Inst::Binary { op, to, a, b } => self.binary(op, r(to), a, b),
            Inst::Divide { quotient, rest, a, b, point } => Fast::Divide {
                quotient: quotient.map_or(NONE, r),
                rest: rest.map_or(NONE, r),
                a: self.reg(a),
                b: self.reg(b),
                point: point.0,
            },
            Inst::Advance { index, by } => Fast::Advance { index: r(index), by: self.reg(by) },
            Inst::Fetch { to, variable } => Fast::Fetch { to: r(to), variable: s(variable) },
            Inst::Store { variable, from: Operand::Const(value) } => {
                Fast::StoreConst { variable: s(variable), value }
            }
            Inst::Store { variable, from } => Fast::Store { variable: s(variable), from: self.reg(from) },
            Inst::Increment { variable, by: Operand::Const(by) } => {
                Fast::IncrementConst { variable: s(variable), by }
            }
            Inst::Increment { variable, by } => Fast::Increment { variable: s(variable), by: self.reg(by) },
            Inst::Length { to, input } => Fast::Length { to: r(to), input: s(input) },
            Inst::Position { to, input } => Fast::Position { to: r(to), input: s(input) },
            Inst::AtEnd { to, input } => Fast::AtEnd { to: r(to), input: s(input) },
            Inst::Peek { to, input, distance, point } => {
                Fast::Peek { to: r(to), input: s(input), distance: self.reg(distance), point: point.0 }
            }
            Inst::Seek { input, target, point } => {
                Fast::Seek { input: s(input), target: self.reg(target), point: point.0 }
            }
            Inst::Skip { input, by: Operand::Const(by), point } => {
                Fast::SkipConst { input: s(input), by, point: point.0 }
            }
            Inst::Skip { input, by, point } => {
                Fast::Skip { input: s(input), by: self.reg(by), point: point.0 }
            }
            Inst::SkipSpace { input } => Fast::SkipSpace { input: s(input) },
            Inst::Enum { to, input, first, end, only, point } => {
                self.flat.enumerations.push(Enumeration { to: r(to), input: s(input), first, end, only });
                Fast::Enum { enumeration: self.flat.enumerations.len() as u32 - 1, point: point.0 }
            }
            Inst::Require { input, bytes, point } => Fast::Require { input: s(input), bytes, point: point.0 },
            Inst::ReadStack { to, read, point } | Inst::Pass { to, read, point } => {
                self.read_stack(r(to), read, point.0)
            }
            Inst::ReadItem { read, point } => self.read_item(read, point.0),
            Inst::ReadMany { read, count, point } => self.read_many(read, count, point.0),
            Inst::Write { output, from, point } => {
                let (point, dtype) = (point.0, self.dtype(output));
                match (dtype, from) {
                    (DType::Int64, Operand::Const(value)) => {
                        Fast::WriteConst8 { output: s(output), value, point }
                    }
                    (DType::Int32, Operand::Const(value)) => {
                        Fast::WriteConst4 { output: s(output), value, point }
                    }
                    (DType::Int64 | DType::UInt64, _) => {
                        Fast::Write8 { output: s(output), from: self.reg(from), point }
                    }
                    (DType::Int32 | DType::UInt32, _) => {
                        Fast::Write4 { output: s(output), from: self.reg(from), point }
                    }
                    _ => Fast::WriteAny { output: s(output), from: self.reg(from), point },
                }
            }
            Inst::WriteAdd { output, from, point } => {
                let (output, point, dtype) = (s(output), point.0, self.dtype(output));
                let from = self.reg(from);
                match dtype {
                    DType::Int64 | DType::UInt64 => Fast::WriteAdd8 { output, from, point },
                    DType::Int32 | DType::UInt32 => Fast::WriteAdd4 { output, from, point },
                    _ => Fast::WriteAddAny { output, from, point },
                }
            }
            Inst::Repeat { output, times, point } => {
                Fast::Repeat { output: s(output), times: self.reg(times), point: point.0 }
            }
            Inst::LengthOf { to, output } => Fast::LengthOf { to: r(to), output: s(output) },
            Inst::Rewind { output, by, point } => {
                Fast::Rewind { output: s(output), by: self.reg(by), point: point.0 }
            }
            Inst::Poll { point } => Fast::Poll { point: point.0 },
            Inst::Native { body, index, stop } => Fast::Native { body, index: r(index), stop: r(stop) },
            Inst::Call { function, ref args, ref results, point, during } => {
                let callee = self.code.function(function);
                let below = self.code.point(during);
                let scope = self.code.scope(below.scope);
                let source = |arg: &Operand| match *arg {
                    Operand::Reg(reg) => Source::Reg(r(reg)),
                    Operand::Const(value) => Source::Const(value),
                };
                self.waiting.push((self.flat.calls.len(), function.0 as usize));
                self.flat.calls.push(Call {
                    to: 0,
                    caller: self.registers,
                    registers: callee.registers + 2,
                    height: callee.height,
                    args: args.iter().map(source).collect(),
                    results: results.iter().map(|&reg| r(reg)).collect(),
                    point: point.0,
                    during: during.0,
                    above: Height {
                        stack: below.stack.len() as u32,
                        frames: scope.frames.len() as u32,
                        loops: scope.loops.len() as u32,
                    },
                });
                let most = |a: Height, b: Height| Height {
                    stack: a.stack.max(b.stack),
                    frames: a.frames.max(b.frames),
                    loops: a.loops.max(b.loops),
                };
                let last = self.flat.calls.len() - 1;
                self.flat.step = most(self.flat.step, self.flat.calls[last].above);
                self.flat.peak = most(self.flat.peak, callee.height);
                let call = last as u32;
                match args[..] {
                    [Operand::Reg(arg)] => match self.before() {
                        Some(Fast::AddConst { to, a, b }) if to == r(arg) && i32::try_from(b).is_ok() => {
                            self.flat.code.pop();
                            Fast::CallAdded { to, a, b: b as i32, call }
                        }
                        _ => Fast::CallOne { call, arg: r(arg) },
                    },
                    _ => Fast::Call { call },
                }
            }
        };
        self.push(fast);
    }

    pub(super) fn binary(&mut self, op: BinaryOp, to: R, a: Operand, b: Operand) -> Fast {
        match (op, a, b) {
            (BinaryOp::Add, Operand::Reg(a), Operand::Const(b))
            | (BinaryOp::Add, Operand::Const(b), Operand::Reg(a)) => {
                return Fast::AddConst { to, a: a.0 as R, b };
            }
            (BinaryOp::Sub, Operand::Reg(a), Operand::Const(b)) => {
                return Fast::AddConst { to, a: a.0 as R, b: b.wrapping_neg() };
            }
            (BinaryOp::And, Operand::Reg(a), Operand::Const(b)) => {
                return Fast::AndConst { to, a: a.0 as R, b };
            }
            (BinaryOp::ShiftRight, Operand::Reg(a), Operand::Const(b)) => {
                return Fast::ShiftRightConst { to, a: a.0 as R, b: b as u32 % self.code.bits };
            }
            _ => {}
        }
        let (a, b) = (self.reg(a), self.reg(b));
        match op {
            BinaryOp::Add => Fast::Add { to, a, b },
            BinaryOp::Sub => Fast::Sub { to, a, b },
            BinaryOp::Mul => Fast::Mul { to, a, b },
            BinaryOp::Min => Fast::Min { to, a, b },
            BinaryOp::Max => Fast::Max { to, a, b },
            BinaryOp::And => Fast::And { to, a, b },
            BinaryOp::Or => Fast::Or { to, a, b },
            BinaryOp::Xor => Fast::Xor { to, a, b },
            BinaryOp::ShiftLeft => Fast::ShiftLeft { to, a, b },
            BinaryOp::ShiftRight => Fast::ShiftRight { to, a, b },
            BinaryOp::Compare(relation) => Fast::Compare { relation, to, a, b },
        }
    }

    pub(super) fn read_stack(&mut self, to: R, read: Read, point: u32) -> Fast {
        let input = read.input as Slot;
        match (read.parser, read.big) {
            (Parser::UInt8 | Parser::Bool, _) => Fast::U8 { to, input, point },
            (Parser::Int8, _) => Fast::I8 { to, input, point },
            (Parser::UInt16, false) => Fast::U16 { to, input, point },
            (Parser::Int16, false) => Fast::I16 { to, input, point },
            (Parser::UInt32, false) => Fast::U32 { to, input, point },
            (Parser::Int32, false) => Fast::I32 { to, input, point },
            (Parser::Int64 | Parser::IntPtr | Parser::UInt64 | Parser::UIntPtr, false) => {
                Fast::I64 { to, input, point }
            }
            (Parser::UInt16, true) => Fast::BigU16 { to, input, point },
            (Parser::Int16, true) => Fast::BigI16 { to, input, point },
            (Parser::UInt32, true) => Fast::BigU32 { to, input, point },
            (Parser::Int32, true) => Fast::BigI32 { to, input, point },
            (Parser::Int64 | Parser::IntPtr | Parser::UInt64 | Parser::UIntPtr, true) => {
                Fast::BigI64 { to, input, point }
            }
            (Parser::VarInt, _) => Fast::VarInt { to, input, point },
            (Parser::ZigZag, _) => Fast::ZigZag { to, input, point },
            _ => Fast::ReadAny { to, read: self.read_number(read), point },
        }
    }

    pub(super) fn read_item(&mut self, read: Read, point: u32) -> Fast {
        let (input, output) = (read.input as Slot, read.output.unwrap_or(0) as Slot);
        if let Some((form, _)) = self.form(read) {
            return match form {
                1 => Fast::Copy1 { input, output, point },
                2 => Fast::Copy2 { input, output, point },
                4 => Fast::Copy4 { input, output, point },
                8 => Fast::Copy8 { input, output, point },
                -2 => Fast::Swap2 { input, output, point },
                -4 => Fast::Swap4 { input, output, point },
                _ => Fast::Swap8 { input, output, point },
            };
        }
        match (read.parser, self.dtype(u32::from(output))) {
            (Parser::VarInt, DType::Int32 | DType::UInt32) => Fast::VarInt4 { input, output, point },
            (Parser::VarInt, DType::Int64 | DType::UInt64) => Fast::VarInt8 { input, output, point },
            (Parser::ZigZag, DType::Int32 | DType::UInt32) => Fast::ZigZag4 { input, output, point },
            (Parser::ZigZag, DType::Int64 | DType::UInt64) => Fast::ZigZag8 { input, output, point },
            _ => Fast::ItemAny { read: self.read_number(read), point },
        }
    }

    pub(super) fn read_many(&mut self, read: Read, count: Operand, point: u32) -> Fast {
        let count = self.reg(count);
        match self.leaf(read) {
            Some(Leaf { kind: LeafKind::Copy, shift: 0, output }) => {
                Fast::Bytes { input: read.input as Slot, output: output as Slot, count, point }
            }
            Some(leaf) => {
                self.flat.leaves.push(leaf);
                let leaf = self.flat.leaves.len() as u32 - 1;
                Fast::Many { leaf, input: read.input as Slot, count, point }
            }
            None => Fast::ManyAny { read: self.read_number(read), count, point },
        }
    }
}
