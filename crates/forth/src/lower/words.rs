//! Words → instructions.

use super::build::{Builder, TooLarge};
use super::ir::{BinaryOp, End, Inst, Operand, Relation, UnaryOp};
use super::lower::{Flow, Lowering};
use crate::isa::{Op, Parser, Read};

impl Lowering<'_> {
    pub(super) fn read(&mut self, b: &mut Builder<'_>, read: Read, pc: u32, next: u32) -> Flow {
        let known = read.parser.size() > 0
            || matches!(
                read.parser,
                Parser::VarInt
                    | Parser::ZigZag
                    | Parser::NBit
                    | Parser::MsbBits
                    | Parser::TextInt
                    | Parser::TextFloat
            );
        if !known {
            return self.leave(b, usize::from(read.repeated), 1, pc, next);
        }
        let point = b.point(pc)?;
        match (read.repeated, read.output) {
            (false, None) => {
                let to = b.fresh();
                b.emit(Inst::ReadStack { to, read, point })?;
            }
            (false, Some(_)) => b.emit(Inst::ReadItem { read, point })?,
            (true, Some(_)) => {
                let count = b.pop();
                b.emit(Inst::ReadMany { read, count, point })?;
            }
            (true, None) => {
                let Operand::Const(count) = b.pop() else {
                    return Err(TooLarge);
                };
                let count = count.max(0) as u32;
                b.emit(Inst::Require { input: read.input, bytes: count * read.parser.size() as u32, point })?;
                for _ in 0..count {
                    let to = b.fresh();
                    b.emit(Inst::ReadStack { to, read, point })?;
                }
            }
        }
        Ok(true)
    }

    /// Leaves one word to tier 0; native code continues after it.
    pub(super) fn leave(
        &mut self,
        b: &mut Builder<'_>,
        pops: usize,
        pushes: usize,
        pc: u32,
        next: u32,
    ) -> Flow {
        let point = b.point(pc)?;
        b.end(End::Leave(point));
        let height = (b.stack.len() + pushes).saturating_sub(pops);
        let after = b.block();
        b.begin(after, height);
        b.entry(after, next)?;
        Ok(true)
    }

    pub(super) fn plain(&mut self, b: &mut Builder<'_>, op: Op, operand: i32, pc: u32, next: u32) -> Flow {
        let slot = operand as u32;
        match op {
            Op::Literal => b.push(Operand::Const(i64::from(operand))),
            Op::False => b.push(Operand::Const(0)),
            Op::True => b.push(Operand::Const(-1)),
            Op::String => {
                let length = self.program.strings[operand as usize].len();
                b.push(Operand::Const(i64::from(operand)));
                b.push(Operand::Const(length as i64));
            }
            Op::Halt => {
                let point = b.point(pc)?;
                b.end(End::Leave(point));
                return Ok(false);
            }
            Op::Pause => {
                let point = b.point(next)?;
                b.end(End::Pause(point));
                let height = b.stack.len() + self.effects.pushed as usize;
                let after = b.block();
                b.begin(after, height);
                b.entry(after, next)?;
            }
            Op::Put => {
                let from = b.pop();
                b.emit(Inst::Store { variable: slot, from })?;
            }
            Op::Increment => {
                let by = b.pop();
                b.emit(Inst::Increment { variable: slot, by })?;
            }
            Op::Fetch => {
                let to = b.fresh();
                b.emit(Inst::Fetch { to, variable: slot })?;
            }
            Op::Peek => {
                let point = b.point(pc)?;
                let distance = b.pop();
                let to = b.fresh();
                b.emit(Inst::Peek { to, input: slot, distance, point })?;
            }
            Op::LenInput => {
                let to = b.fresh();
                b.emit(Inst::Length { to, input: slot })?;
            }
            Op::Position => {
                let to = b.fresh();
                b.emit(Inst::Position { to, input: slot })?;
            }
            Op::End => {
                let to = b.fresh();
                b.emit(Inst::AtEnd { to, input: slot })?;
            }
            Op::Seek => {
                let point = b.point(pc)?;
                let target = b.pop();
                b.emit(Inst::Seek { input: slot, target, point })?;
            }
            Op::Skip => {
                let point = b.point(pc)?;
                let by = b.pop();
                b.emit(Inst::Skip { input: slot, by, point })?;
            }
            Op::SkipSpace => b.emit(Inst::SkipSpace { input: slot })?,
            Op::Write | Op::WriteAdd => {
                let point = b.point(pc)?;
                let from = b.pop();
                b.emit(if op == Op::Write {
                    Inst::Write { output: slot, from, point }
                } else {
                    Inst::WriteAdd { output: slot, from, point }
                })?;
            }
            Op::WriteDup => {
                let point = b.point(pc)?;
                let times = b.pop();
                b.emit(Inst::Repeat { output: slot, times, point })?;
            }
            Op::LenOutput => {
                let to = b.fresh();
                b.emit(Inst::LengthOf { to, output: slot })?;
            }
            Op::Rewind => {
                let point = b.point(pc)?;
                let by = b.pop();
                b.emit(Inst::Rewind { output: slot, by, point })?;
            }
            Op::IndexI => return self.index(b, 1, pc, next),
            Op::IndexJ => return self.index(b, 2, pc, next),
            Op::IndexK => return self.index(b, 3, pc, next),
            Op::Dup => {
                let x = b.pop();
                [x, x].into_iter().for_each(|x| b.push(x));
            }
            Op::Drop => {
                let dropped = b.pop();
                b.unwanted(dropped);
            }
            Op::Swap => {
                let (y, x) = (b.pop(), b.pop());
                [y, x].into_iter().for_each(|x| b.push(x));
            }
            Op::Over => {
                let (y, x) = (b.pop(), b.pop());
                [x, y, x].into_iter().for_each(|x| b.push(x));
            }
            Op::Rot => {
                let (z, y, x) = (b.pop(), b.pop(), b.pop());
                [y, z, x].into_iter().for_each(|x| b.push(x));
            }
            Op::Nip => {
                let (y, _) = (b.pop(), b.pop());
                b.push(y);
            }
            Op::Tuck => {
                let (y, x) = (b.pop(), b.pop());
                [y, x, y].into_iter().for_each(|x| b.push(x));
            }
            Op::Add => return self.binary(b, BinaryOp::Add),
            Op::Sub => return self.binary(b, BinaryOp::Sub),
            Op::Mul => return self.binary(b, BinaryOp::Mul),
            Op::Min => return self.binary(b, BinaryOp::Min),
            Op::Max => return self.binary(b, BinaryOp::Max),
            Op::And => return self.binary(b, BinaryOp::And),
            Op::Or => return self.binary(b, BinaryOp::Or),
            Op::Xor => return self.binary(b, BinaryOp::Xor),
            Op::ShiftLeft => return self.binary(b, BinaryOp::ShiftLeft),
            Op::ShiftRight => return self.binary(b, BinaryOp::ShiftRight),
            Op::Eq => return self.binary(b, BinaryOp::Compare(Relation::Eq)),
            Op::Ne => return self.binary(b, BinaryOp::Compare(Relation::Ne)),
            Op::Gt => return self.binary(b, BinaryOp::Compare(Relation::Gt)),
            Op::Ge => return self.binary(b, BinaryOp::Compare(Relation::Ge)),
            Op::Lt => return self.binary(b, BinaryOp::Compare(Relation::Lt)),
            Op::Le => return self.binary(b, BinaryOp::Compare(Relation::Le)),
            Op::AddOne | Op::SubOne => {
                let a = b.pop();
                let to = b.fresh();
                let op = if op == Op::AddOne { BinaryOp::Add } else { BinaryOp::Sub };
                b.emit(Inst::Binary { op, to, a, b: Operand::Const(1) })?;
            }
            Op::Negate => return self.unary(b, UnaryOp::Negate),
            Op::Abs => return self.unary(b, UnaryOp::Abs),
            Op::Invert => return self.unary(b, UnaryOp::Invert),
            Op::EqZero => return self.unary(b, UnaryOp::EqZero),
            Op::Div | Op::Mod | Op::DivMod => {
                let point = b.point(pc)?;
                let (y, x) = (b.pop(), b.pop());
                let rest = (op != Op::Div).then(|| b.fresh());
                let quotient = (op != Op::Mod).then(|| b.fresh());
                b.emit(Inst::Divide { quotient, rest, a: x, b: y, point })?;
            }
            // Printing, and other words without an instruction of their own.
            _ => return self.leave(b, op.pops(), op.pushes(), pc, next),
        }
        Ok(true)
    }

    fn unary(&self, b: &mut Builder<'_>, op: UnaryOp) -> Flow {
        let a = b.pop();
        let to = b.fresh();
        b.emit(Inst::Unary { op, to, a })?;
        Ok(true)
    }

    fn binary(&self, b: &mut Builder<'_>, op: BinaryOp) -> Flow {
        let (y, x) = (b.pop(), b.pop());
        let to = b.fresh();
        b.emit(Inst::Binary { op, to, a: x, b: y })?;
        Ok(true)
    }

    /// Pushes the index of a loop; `from_top` is 1 for the innermost.
    fn index(&mut self, b: &mut Builder<'_>, from_top: usize, pc: u32, next: u32) -> Flow {
        let loops = &b.scope().loops;
        let Some(at) = loops.len().checked_sub(from_top) else {
            // The loop is outside of this function.
            return self.leave(b, 0, 1, pc, next);
        };
        let index = Operand::Reg(loops[at].index);
        if b.code.bits == 64 {
            b.push(index);
        } else {
            let to = b.fresh();
            b.emit(Inst::Move { to, from: index })?;
        }
        Ok(true)
    }
}
