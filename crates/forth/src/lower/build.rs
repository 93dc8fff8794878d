//! Builder of a function: registers, the symbolic stack, blocks.

use super::ir::{
    BinaryOp, Block, BlockId, Code, End, Entry, Function, FunctionId, Inst, Operand, Origin, Point, PointId,
    Reg, Relation, Scope, ScopeId, UnaryOp,
};
use crate::isa::Parser;
use crate::state::Height;

/// Error: the program is too large, or too deeply nested, to be worth the memory.
#[derive(Debug)]
pub(super) struct TooLarge;

pub(super) type Made<T> = Result<T, TooLarge>;

/// The budget of a program, in instructions, slots of points and shapes of scopes.
pub(super) const BUDGET: usize = 1 << 20;

pub(super) struct Builder<'a> {
    pub(super) code: &'a mut Code,
    pub(super) id: FunctionId,
    pub(super) origin: Origin,
    params: u32,
    blocks: Vec<(Vec<Inst>, Option<End>, u32)>,
    at: usize,
    /// The symbolic stack. Slot n has the home register n, in which it is wherever paths meet.
    pub(super) stack: Vec<Operand>,
    /// Number of slots and loops that refer to each register.
    uses: Vec<u32>,
    homes: u32,
    free: Vec<Reg>,
    pub(super) scope: ScopeId,
    /// The scope of the function itself.
    pub(super) root: ScopeId,
    /// Number of loops around the current place.
    pub(super) depth: u32,
    height: Height,
    budget: &'a mut usize,
}

impl<'a> Builder<'a> {
    pub(super) fn new(
        code: &'a mut Code,
        budget: &'a mut usize,
        id: FunctionId,
        origin: Origin,
        params: u32,
        homes: u32,
        scope: ScopeId,
    ) -> Self {
        let mut builder = Self {
            code,
            id,
            origin,
            params,
            blocks: Vec::new(),
            at: 0,
            stack: Vec::new(),
            uses: vec![0; homes as usize],
            homes,
            free: Vec::new(),
            scope,
            root: scope,
            depth: 0,
            height: Height { stack: homes, frames: 0, loops: 0 },
            budget,
        };
        builder.at = builder.block();
        builder.settle(params as usize);
        builder
    }

    pub(super) fn finish(mut self, results: u32, recursive: bool) -> Function {
        self.thread();
        let blocks = self.blocks.into_iter().map(|(code, end, depth)| {
            // The structure that began a block has ended it.
            let end = end.unwrap_or(End::Jump(BlockId(0)));
            Block { code, end, depth }
        });
        Function {
            origin: self.origin,
            params: self.params,
            results,
            registers: self.uses.len() as u32,
            blocks: blocks.collect(),
            height: self.height,
            recursive,
        }
    }

    /// Redirects jumps to blocks that only jump.
    fn thread(&mut self) {
        let targets: Vec<BlockId> = (0..self.blocks.len())
            .map(|block| {
                let mut at = block;
                // The bound also ends loops that do nothing.
                for _ in 0..8 {
                    match &self.blocks[at] {
                        (code, Some(End::Jump(to)), _) if code.is_empty() => at = to.0 as usize,
                        _ => break,
                    }
                }
                BlockId(at as u32)
            })
            .collect();
        let new = |to: &mut BlockId| *to = targets[to.0 as usize];
        for (_, end, _) in &mut self.blocks {
            match end {
                Some(End::Jump(to)) => new(to),
                Some(End::Branch { then, otherwise, .. }) => [then, otherwise].into_iter().for_each(new),
                Some(End::Switch { targets, otherwise, .. }) => {
                    targets.iter_mut().chain([otherwise]).for_each(new)
                }
                _ => {}
            }
        }
    }

    // Blocks.

    pub(super) fn block(&mut self) -> usize {
        self.blocks.push((Vec::new(), None, self.depth));
        self.blocks.len() - 1
    }

    /// Continues in a block whose slots are all at home.
    pub(super) fn begin(&mut self, block: usize, height: usize) {
        self.at = block;
        self.blocks[block].2 = self.depth;
        self.settle(height);
    }

    pub(super) fn emit(&mut self, inst: Inst) -> Made<()> {
        self.spend(1)?;
        self.blocks[self.at].0.push(inst);
        Ok(())
    }

    pub(super) fn end(&mut self, end: End) {
        self.blocks[self.at].1 = Some(end);
    }

    pub(super) fn jump(&mut self, to: usize) {
        self.end(End::Jump(BlockId(to as u32)));
    }

    pub(super) fn spend(&mut self, units: usize) -> Made<()> {
        *self.budget = self.budget.checked_sub(units).ok_or(TooLarge)?;
        Ok(())
    }

    // Registers and the stack.

    pub(super) fn hold(&mut self, operand: Operand) {
        if let Operand::Reg(reg) = operand {
            let uses = &mut self.uses[reg.0 as usize];
            *uses += 1;
            if *uses == 1 && reg.0 >= self.homes {
                self.free.retain(|&free| free != reg);
            }
        }
    }

    pub(super) fn release(&mut self, operand: Operand) {
        if let Operand::Reg(reg) = operand {
            let uses = &mut self.uses[reg.0 as usize];
            *uses = uses.saturating_sub(1);
            if *uses == 0 && reg.0 >= self.homes {
                self.free.push(reg);
            }
        }
    }

    /// Returns a register that is not a home, held until released.
    pub(super) fn held(&mut self) -> Reg {
        let reg = self.free.pop().unwrap_or_else(|| {
            self.uses.push(0);
            Reg(self.uses.len() as u32 - 1)
        });
        self.uses[reg.0 as usize] = 1;
        reg
    }

    pub(super) fn push(&mut self, operand: Operand) {
        self.hold(operand);
        self.stack.push(operand);
        self.height.stack = self.height.stack.max(self.stack.len() as u32);
    }

    /// Pops the top item; its register stays valid until the next one is allocated.
    pub(super) fn pop(&mut self) -> Operand {
        // The analysis determined the items needed, so the stack is not empty.
        let operand = self.stack.pop().unwrap_or(Operand::Const(0));
        self.release(operand);
        operand
    }

    /// Marks a popped value as unused: a number that was read last need not be decoded.
    pub(super) fn unwanted(&mut self, operand: Operand) {
        let Operand::Reg(reg) = operand else { return };
        if self.uses[reg.0 as usize] == 0
            && let Some(last) = self.blocks[self.at].0.last_mut()
            && let Inst::ReadStack { to, read, point } = *last
            && to == reg
            && matches!(read.parser, Parser::VarInt | Parser::ZigZag)
        {
            *last = Inst::Pass { to, read, point };
        }
    }

    /// Pushes and returns a register for a new value: the slot's home if that is free.
    pub(super) fn fresh(&mut self) -> Reg {
        let slot = self.stack.len();
        let reg = if self.uses.get(slot) == Some(&0) && slot < self.homes as usize {
            Reg(slot as u32)
        } else {
            let reg = self.held();
            self.uses[reg.0 as usize] = 0;
            reg
        };
        self.push(Operand::Reg(reg));
        reg
    }

    /// Sets all slots to their homes, whatever they were.
    fn settle(&mut self, height: usize) {
        while !self.stack.is_empty() {
            self.pop();
        }
        for slot in 0..height {
            self.push(Operand::Reg(Reg(slot as u32)));
        }
    }

    /// Moves every slot home. Operands in `kept` keep their values.
    pub(super) fn flush(&mut self, kept: &mut [Operand]) -> Made<()> {
        let height = self.stack.len();
        let home = |slot: usize| Operand::Reg(Reg(slot as u32));
        let mut pending: Vec<(usize, Operand)> = (0..height)
            .map(|slot| (slot, self.stack[slot]))
            .filter(|&(slot, from)| from != home(slot))
            .collect();
        self.spend(pending.len() * pending.len() / 8)?;
        if pending.is_empty() {
            return Ok(());
        }
        // Registers that are still to be read must not be allocated.
        let held: Vec<Operand> = pending.iter().map(|&(_, from)| from).chain(kept.iter().copied()).collect();
        held.iter().for_each(|&operand| self.hold(operand));
        let mut copies = Vec::new();
        for at in 0..kept.len() {
            if let Operand::Reg(reg) = kept[at]
                && pending.iter().any(|&(slot, _)| home(slot) == kept[at])
            {
                let to = self.held();
                self.emit(Inst::Move { to, from: Operand::Reg(reg) })?;
                for other in kept.iter_mut().filter(|other| **other == Operand::Reg(reg)) {
                    *other = Operand::Reg(to);
                }
                copies.push(to);
            }
        }
        while !pending.is_empty() {
            let ready =
                pending.iter().position(|&(slot, _)| pending.iter().all(|&(_, from)| from != home(slot)));
            if let Some(at) = ready {
                let (slot, from) = pending.swap_remove(at);
                self.emit(Inst::Move { to: Reg(slot as u32), from })?;
            } else {
                // Every remaining home is still to be read by another slot: one is saved.
                let (slot, _) = pending[0];
                let to = self.held();
                self.emit(Inst::Move { to, from: home(slot) })?;
                for (_, from) in pending.iter_mut().filter(|(_, from)| *from == home(slot)) {
                    *from = Operand::Reg(to);
                }
                copies.push(to);
            }
        }
        held.into_iter().for_each(|operand| self.release(operand));
        copies.into_iter().for_each(|reg| self.release(Operand::Reg(reg)));
        self.settle(height);
        Ok(())
    }

    // State in tables.

    /// Adds a point: the canonical state before (or after) the instruction at a position.
    pub(super) fn point(&mut self, pc: u32) -> Made<PointId> {
        self.spend(1 + self.stack.len() / 2)?;
        let stack = self.stack.clone().into_boxed_slice();
        self.code.points.push(Point { pc, scope: self.scope, stack });
        Ok(PointId(self.code.points.len() as u32 - 1))
    }

    /// Emits a poll of the interrupt flag, in code for machines that can be interrupted.
    pub(super) fn poll(&mut self, pc: u32) -> Made<()> {
        if self.code.polled {
            let point = self.point(pc)?;
            self.emit(Inst::Poll { point })?;
        }
        Ok(())
    }

    /// Adds an entry at a block, where all slots are at home.
    pub(super) fn entry(&mut self, block: usize, pc: u32) -> Made<()> {
        let point = self.point(pc)?;
        self.code.entries.push(Entry { function: self.id, block: BlockId(block as u32), point });
        Ok(())
    }

    pub(super) fn add_scope(&mut self, scope: Scope) -> Made<ScopeId> {
        self.spend(1 + scope.frames.len() + scope.loops.len())?;
        self.height.frames = self.height.frames.max(scope.frames.len() as u32);
        self.height.loops = self.height.loops.max(scope.loops.len() as u32);
        self.code.scopes.push(scope);
        Ok(ScopeId(self.code.scopes.len() as u32 - 1))
    }

    pub(super) fn scope(&self) -> &Scope {
        self.code.scope(self.scope)
    }

    /// Raises the maximum height by that of a native loop at the current place.
    pub(super) fn reserve(&mut self, room: Height) {
        let scope = self.code.scope(self.scope);
        self.height.stack = self.height.stack.max(self.stack.len() as u32 + room.stack);
        self.height.frames = self.height.frames.max(scope.frames.len() as u32 + room.frames);
        self.height.loops = self.height.loops.max(scope.loops.len() as u32 + room.loops);
    }

    // Conditions.

    /// Ends a block with a branch on the flag on top of the stack; returns the height at both targets.
    pub(super) fn branch(&mut self, then: usize, otherwise: usize) -> Made<usize> {
        let (relation, a, b) = self.condition();
        let mut kept = [a, b];
        self.flush(&mut kept)?;
        let [a, b] = kept;
        let [then, otherwise] = [then, otherwise].map(|block| BlockId(block as u32));
        self.end(End::Branch { relation, a, b, then, otherwise });
        Ok(self.stack.len())
    }

    /// Pops a flag, and removes the comparison that produced it if it has no other use.
    fn condition(&mut self) -> (Relation, Operand, Operand) {
        let mut flag = self.pop();
        let mut zero = false;
        while let Operand::Reg(reg) = flag {
            if self.uses[reg.0 as usize] > 0 {
                break;
            }
            let code = &mut self.blocks[self.at].0;
            match code.last() {
                Some(&Inst::Unary { op: UnaryOp::EqZero, to, a }) if to == reg => {
                    code.pop();
                    (flag, zero) = (a, !zero);
                    // The register was released when it was used, but not written since.
                }
                Some(&Inst::Unary { op: UnaryOp::Invert, to, a }) if to == reg && is_flag(code, a) => {
                    code.pop();
                    (flag, zero) = (a, !zero);
                }
                Some(&Inst::Binary { op: BinaryOp::Compare(relation), to, a, b }) if to == reg => {
                    code.pop();
                    return (if zero { relation.opposite() } else { relation }, a, b);
                }
                _ => break,
            }
        }
        (if zero { Relation::Eq } else { Relation::Ne }, flag, Operand::Const(0))
    }
}

/// Whether the instruction before the last produced -1 or 0 in a register.
fn is_flag(code: &[Inst], operand: Operand) -> bool {
    let Some(before) = code.len().checked_sub(2).and_then(|at| code.get(at)) else { return false };
    match *before {
        Inst::Unary { op: UnaryOp::EqZero, to, .. }
        | Inst::Binary { op: BinaryOp::Compare(_), to, .. }
        | Inst::AtEnd { to, .. } => operand == Operand::Reg(to),
        _ => false,
    }
}

impl Relation {
    /// Returns the comparison that holds exactly when this one does not.
    pub(crate) fn opposite(self) -> Self {
        match self {
            Self::Eq => Self::Ne,
            Self::Ne => Self::Eq,
            Self::Lt => Self::Ge,
            Self::Ge => Self::Lt,
            Self::Gt => Self::Le,
            Self::Le => Self::Gt,
        }
    }

    /// Returns the comparison that holds for `b` and `a` exactly when this one does for `a` and `b`.
    pub(crate) fn swapped(self) -> Self {
        match self {
            Self::Eq | Self::Ne => self,
            Self::Lt => Self::Gt,
            Self::Gt => Self::Lt,
            Self::Le => Self::Ge,
            Self::Ge => Self::Le,
        }
    }

    pub(crate) fn holds(self, a: i64, b: i64) -> bool {
        match self {
            Self::Eq => a == b,
            Self::Ne => a != b,
            Self::Lt => a < b,
            Self::Le => a <= b,
            Self::Gt => a > b,
            Self::Ge => a >= b,
        }
    }
}
