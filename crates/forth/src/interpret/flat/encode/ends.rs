//! Encoding of the ends of blocks: branches, loops, returns and pauses.

use super::Encoder;
use crate::interpret::flat::code::{Fast, R, Slot};
use crate::isa::Parser;
use crate::lower::ir::{BlockId, End, Function, Inst, Operand, PointId, Reg, Relation};

impl Encoder<'_> {
    /// Fuses the last instruction with the end of the block. Returns the block that should follow, or None if
    /// they cannot be fused.
    pub(super) fn last(
        &mut self,
        function: &Function,
        inst: &Inst,
        end: &End,
        jumps: &mut Vec<usize>,
    ) -> Option<Option<usize>> {
        let End::Branch { relation, a, b, then, otherwise } = end else { return None };
        match (inst, *relation, *a, *b) {
            (
                &Inst::Advance { index, by: Operand::Const(1) },
                Relation::Lt,
                Operand::Reg(at),
                Operand::Reg(stop),
            ) if at == index => {
                self.to(Fast::Next { index: index.0 as R, stop: stop.0 as R, to: then.0 }, jumps);
                Some(self.follow(*otherwise, jumps))
            }
            (
                &Inst::ReadStack { to, read, point },
                relation @ (Relation::Eq | Relation::Ne),
                Operand::Reg(flag),
                Operand::Const(0),
            ) if flag == to && read.parser == Parser::ZigZag => {
                let (flag, input, point) = (to.0 as R, read.input as Slot, point.0);
                let zero = if relation == Relation::Eq { *then } else { *otherwise };
                let other = if relation == Relation::Eq { *otherwise } else { *then };
                if self.is_new(other) {
                    let fast = match self.length(&function.blocks[other.0 as usize].code) {
                        Some(_) => Fast::IfZigZagLength { flag, input, to: zero.0, point },
                        None => Fast::IfZigZagZero { flag, input, to: zero.0, point },
                    };
                    self.to(fast, jumps);
                    Some(self.follow(other, jumps))
                } else {
                    self.to(Fast::IfZigZag { flag, input, to: other.0, point }, jumps);
                    Some(self.follow(zero, jumps))
                }
            }
            (
                &Inst::AtEnd { to, input },
                relation @ (Relation::Eq | Relation::Ne),
                Operand::Reg(flag),
                Operand::Const(0),
            ) if flag == to => {
                let (flag, input) = (to.0 as R, input as Slot);
                // The block that is not encoded yet follows.
                let ends = if relation == Relation::Ne { *then } else { *otherwise };
                let more = if relation == Relation::Ne { *otherwise } else { *then };
                if self.is_new(more) {
                    self.to(Fast::IfEnd { flag, input, to: ends.0 }, jumps);
                    Some(self.follow(more, jumps))
                } else {
                    self.to(Fast::IfMore { flag, input, to: more.0 }, jumps);
                    Some(self.follow(ends, jumps))
                }
            }
            _ => None,
        }
    }

    /// Fuses the beginning of a loop that counts from 0 and whose first pass follows.
    pub(super) fn enter(
        &mut self,
        code: &[Inst],
        end: &End,
        jumps: &mut Vec<usize>,
    ) -> Option<Option<usize>> {
        let End::Branch { relation: Relation::Lt, a, b, then, otherwise } = *end else { return None };
        let [
            Inst::Move { to: index, from: Operand::Const(0) },
            Inst::Move { to: stop, from: Operand::Reg(from) },
        ] = *code
        else {
            return None;
        };
        if a != Operand::Reg(index) || b != Operand::Reg(stop) || from == index || !self.is_new(then) {
            return None;
        }
        let (index, stop, from) = (index.0 as R, stop.0 as R, from.0 as R);
        self.to(Fast::Enter { index, stop, from, to: otherwise.0 }, jumps);
        Some(self.follow(then, jumps))
    }

    pub(super) fn is_new(&self, block: BlockId) -> bool {
        self.blocks[block.0 as usize] == u32::MAX
    }

    /// Pushes an instruction whose target is still the number of a block.
    pub(super) fn to(&mut self, fast: Fast, jumps: &mut Vec<usize>) {
        self.push(fast);
        jumps.push(self.flat.code.len() - 1);
    }

    /// Continues at a block: returns it if it is not encoded yet, else pushes a jump.
    pub(super) fn follow(&mut self, block: BlockId, jumps: &mut Vec<usize>) -> Option<usize> {
        if self.is_new(block) {
            return Some(block.0 as usize);
        }
        self.to(Fast::Jump { to: block.0 }, jumps);
        None
    }

    pub(super) fn end(&mut self, end: &End, jumps: &mut Vec<usize>) -> Option<usize> {
        match end {
            End::Jump(to) => self.follow(*to, jumps),
            End::Branch { relation, a, b, then, otherwise } => {
                let (mut relation, mut a, mut b, mut then, mut otherwise) =
                    (*relation, *a, *b, *then, *otherwise);
                if self.is_new(then) {
                    (relation, then, otherwise) = (relation.opposite(), otherwise, then);
                }
                if matches!(a, Operand::Const(_)) {
                    (relation, a, b) = (relation.swapped(), b, a);
                }
                let a = self.reg(a);
                let to = then.0;
                let fast = match (relation, b) {
                    (Relation::Eq, Operand::Const(b)) => Fast::IfEqConst { a, to, b },
                    (Relation::Ne, Operand::Const(b)) => Fast::IfNeConst { a, to, b },
                    (Relation::Lt, Operand::Const(b)) => Fast::IfLtConst { a, to, b },
                    (Relation::Le, Operand::Const(b)) => Fast::IfLeConst { a, to, b },
                    (Relation::Gt, Operand::Const(b)) => Fast::IfGtConst { a, to, b },
                    (Relation::Ge, Operand::Const(b)) => Fast::IfGeConst { a, to, b },
                    (relation, Operand::Reg(Reg(b))) => {
                        let b = b as R;
                        match relation {
                            Relation::Eq => Fast::IfEq { a, b, to },
                            Relation::Ne => Fast::IfNe { a, b, to },
                            Relation::Lt => Fast::IfLt { a, b, to },
                            Relation::Le => Fast::IfLe { a, b, to },
                            Relation::Gt => Fast::IfLt { a: b, b: a, to },
                            Relation::Ge => Fast::IfLe { a: b, b: a, to },
                        }
                    }
                };
                self.to(fast, jumps);
                self.follow(otherwise, jumps)
            }
            End::Switch { selector, targets, otherwise } => {
                let selector = self.reg(*selector);
                let first = self.flat.targets.len() as u32;
                self.flat.targets.extend(targets.iter().chain([otherwise]).map(|block| block.0));
                self.push(Fast::Switch { selector, first, count: targets.len() as u32 });
                None
            }
            End::Return(point) => {
                let fused = match (&self.code.point(*point).stack[..], self.before()) {
                    ([Operand::Reg(sum)], Some(Fast::Add { to, a, b })) if to == sum.0 as R => {
                        self.flat.code.pop();
                        Some(Fast::ReturnAdded { to, a, b, point: point.0 })
                    }
                    _ => None,
                };
                if let Some(fused) = fused {
                    self.push(fused);
                    return None;
                }
                self.push(match self.code.point(*point).stack[..] {
                    [Operand::Reg(from)] => Fast::ReturnOne { from: from.0 as R, point: point.0 },
                    _ => Fast::Return { point: point.0 },
                });
                None
            }
            End::Leave(point) => {
                self.push(Fast::Leave { point: point.0 });
                None
            }
            End::Pause(point) => {
                let entry = self.entry_behind(*point);
                self.push(Fast::Pause { point: point.0, entry });
                None
            }
        }
    }

    /// Returns the index of the entry that continues from a point.
    pub(super) fn entry_behind(&self, id: PointId) -> u32 {
        let point = self.code.point(id);
        let entries = &self.code.entries;
        let first = entries.partition_point(|entry| self.code.point(entry.point).pc < point.pc);
        let fits = |at: usize| self.code.point(entries[at].point).scope == point.scope;
        // Every pause has an entry; an invalid index would only be slow.
        (first..entries.len()).find(|&at| fits(at)).unwrap_or(usize::MAX) as u32
    }
}

impl Fast {
    /// Returns the target of a jump other than a switch.
    pub(super) fn target(&mut self) -> Option<&mut u32> {
        match self {
            Self::Next { to, .. }
            | Self::Jump { to }
            | Self::IfEq { to, .. }
            | Self::IfNe { to, .. }
            | Self::IfLt { to, .. }
            | Self::IfLe { to, .. }
            | Self::IfEqConst { to, .. }
            | Self::IfNeConst { to, .. }
            | Self::IfLtConst { to, .. }
            | Self::IfLeConst { to, .. }
            | Self::IfGtConst { to, .. }
            | Self::IfGeConst { to, .. }
            | Self::IfZigZag { to, .. }
            | Self::IfZigZagZero { to, .. }
            | Self::IfZigZagLength { to, .. }
            | Self::Enter { to, .. }
            | Self::IfEnd { to, .. }
            | Self::IfMore { to, .. } => Some(to),
            _ => None,
        }
    }
}
