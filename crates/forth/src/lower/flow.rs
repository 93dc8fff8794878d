//! Bodies, structures and calls → blocks.

use super::build::{Builder, Made, TooLarge};
use super::ir::{BlockId, End, FrameShape, Inst, LoopShape, Operand, Reg, Relation, Scope, ScopeId};
use super::lower::{Around, Exit, Flow, INLINE_DEPTH, INLINE_MOST, INLINE_NODES, Lowering};
use crate::compile::ir::{Body, Kind, Node};
use crate::isa::Op;
use crate::state::FrameKind;

impl<'a> Lowering<'a> {
    /// Lowers a body. Returns false if its end is never reached.
    pub(super) fn body(&mut self, b: &mut Builder<'_>, body: &'a Body, around: &mut Around) -> Flow {
        let mut pc = self.segment(body).0;
        for node in &body.nodes {
            if !self.node(b, node, pc, around)? {
                return Ok(false);
            }
            pc += self.length(node, pc);
        }
        Ok(true)
    }

    /// Lowers a body inside of a structure, with a frame of its own.
    fn nested(
        &mut self,
        b: &mut Builder<'_>,
        body: &'a Body,
        frame: FrameKind,
        back: u32,
        around: &mut Around,
    ) -> Flow {
        let outer = b.scope;
        b.scope = self.inner(b, body, frame, back, None)?;
        let flow = self.body(b, body, around)?;
        b.scope = outer;
        Ok(flow)
    }

    fn inner(
        &self,
        b: &mut Builder<'_>,
        body: &Body,
        kind: FrameKind,
        back: u32,
        entered: Option<LoopShape>,
    ) -> Made<ScopeId> {
        let outer = b.scope().clone();
        let mut loops = outer.loops;
        loops.extend(entered);
        let mut frames = outer.frames;
        frames.push(FrameShape { kind, pc: back, end: outer.end, loops: loops.len() as u32 });
        b.add_scope(Scope { end: self.segment(body).1, frames, loops })
    }

    pub(super) fn node(&mut self, b: &mut Builder<'_>, node: &'a Node, pc: u32, around: &mut Around) -> Flow {
        let next = pc + self.length(node, pc);
        match &node.kind {
            Kind::Plain(op, operand) => return self.plain(b, *op, *operand, pc, next),
            Kind::Enum(op, input, first, end) => {
                let point = b.point(pc)?;
                let to = b.fresh();
                let only = *op == Op::EnumOnly;
                b.emit(Inst::Enum { to, input: *input, first: *first, end: *end, only, point })?;
            }
            Kind::Read(read) => return self.read(b, *read, pc, next),
            Kind::Wide(value) => {
                let value = if b.code.bits == 64 { *value } else { i64::from(*value as i32) };
                b.push(Operand::Const(value));
            }
            Kind::Call(word) => return self.call(b, *word as usize, pc, next, around),
            Kind::Nest(body) => return self.nested(b, body, FrameKind::Body, next, around),
            Kind::Exit => {
                match around.exit {
                    Exit::Return => {
                        // The state is that at the end of the word, whatever structures were open.
                        let inner = std::mem::replace(&mut b.scope, b.root);
                        let end = b.scope().end;
                        let point = b.point(end)?;
                        b.scope = inner;
                        b.end(End::Return(point));
                    }
                    Exit::Leave => {
                        let point = b.point(pc)?;
                        b.end(End::Leave(point));
                    }
                    Exit::Block(block) => {
                        b.flush(&mut [])?;
                        let block = block.unwrap_or_else(|| b.block());
                        around.exit = Exit::Block(Some(block));
                        b.jump(block);
                    }
                }
                return Ok(false);
            }
            Kind::If(then) => {
                self.conditional(b, then, next, None, around)?;
            }
            Kind::IfElse(then, otherwise) => {
                let (start, other, after) = (b.block(), b.block(), b.block());
                let height = b.branch(start, other)?;
                let mut end = None;
                for (block, body) in [(start, then), (other, otherwise)] {
                    b.begin(block, height);
                    if self.nested(b, body, FrameKind::Body, next, around)? {
                        b.flush(&mut [])?;
                        b.jump(after);
                        end = Some(b.stack.len());
                    }
                }
                return self.meet(b, after, end);
            }
            Kind::CaseTable { consequents, default, .. } => {
                let (other, after) = (b.block(), b.block());
                let targets: Vec<usize> = consequents.iter().map(|_| b.block()).collect();
                b.flush(&mut [])?;
                let height = b.stack.len();
                let selector = b.stack.last().copied().unwrap_or(Operand::Const(-1));
                let blocks = targets.iter().map(|&block| id(block)).collect();
                b.end(End::Switch { selector, targets: blocks, otherwise: id(other) });
                let mut end = None;
                let arms = targets
                    .into_iter()
                    .zip(consequents)
                    .map(|(block, body)| (block, body, height.max(1) - 1));
                for (block, body, height) in arms.chain([(other, default, height)]) {
                    b.begin(block, height);
                    if self.nested(b, body, FrameKind::Body, next, around)? {
                        b.flush(&mut [])?;
                        b.jump(after);
                        end = Some(b.stack.len());
                    }
                }
                return self.meet(b, after, end);
            }
            Kind::Do { body, step } => {
                let (from, to) = (b.pop(), b.pop());
                b.hold(from);
                b.hold(to);
                let (index, stop) = (b.held(), b.held());
                b.emit(Inst::Move { to: index, from })?;
                b.emit(Inst::Move { to: stop, from: to })?;
                b.release(from);
                b.release(to);
                return self.passes(b, body, *step, (index, stop), pc, around);
            }
            Kind::Again(body) => {
                b.flush(&mut [])?;
                let head = self.head(b, body, pc + 1)?;
                if self.nested(b, body, FrameKind::Body, pc + 1, around)? {
                    b.flush(&mut [])?;
                    b.jump(head);
                }
                b.depth -= 1;
                return Ok(false);
            }
            Kind::Until(body) => {
                b.flush(&mut [])?;
                let head = self.head(b, body, pc + 1)?;
                let goes_on = self.nested(b, body, FrameKind::Body, pc + 1, around)?;
                b.depth -= 1;
                if !goes_on {
                    return Ok(false);
                }
                let after = b.block();
                let height = b.branch(after, head)?;
                b.begin(after, height);
            }
            Kind::While(test, body) => {
                b.flush(&mut [])?;
                let head = self.head(b, test, pc + 1)?;
                if !self.nested(b, test, FrameKind::Body, pc + 1, around)? {
                    b.depth -= 1;
                    return Ok(false);
                }
                let after = self.conditional(b, body, pc, Some(head), around)?;
                b.depth -= 1;
                // The nodes that follow are outside of the loop.
                b.begin(after, b.stack.len());
            }
        }
        Ok(true)
    }

    /// Lowers a body that runs if the flag on top of the stack is set and then jumps to `to`, or else to the
    /// code after it. Returns the block of the code after it.
    fn conditional(
        &mut self,
        b: &mut Builder<'_>,
        body: &'a Body,
        back: u32,
        to: Option<usize>,
        around: &mut Around,
    ) -> Made<usize> {
        let (start, after) = (b.block(), b.block());
        let height = b.branch(start, after)?;
        b.begin(start, height);
        if self.nested(b, body, FrameKind::Body, back, around)? {
            b.flush(&mut [])?;
            b.jump(to.unwrap_or(after));
        }
        b.begin(after, height);
        Ok(after)
    }

    /// Continues where branches meet; false if none of them reaches that place.
    fn meet(&self, b: &mut Builder<'_>, after: usize, end: Option<usize>) -> Flow {
        let Some(height) = end else {
            // The block exists but is not reached; it needs an end.
            b.begin(after, 0);
            b.jump(after);
            return Ok(false);
        };
        b.begin(after, height);
        Ok(true)
    }

    /// Begins the head of an indefinite loop, where native code may be entered.
    fn head(&self, b: &mut Builder<'_>, body: &Body, back: u32) -> Made<usize> {
        b.depth += 1;
        let head = b.block();
        b.jump(head);
        b.begin(head, b.stack.len());
        let outer = b.scope;
        b.scope = self.inner(b, body, FrameKind::Body, back, None)?;
        b.entry(head, self.segment(body).0)?;
        b.poll(self.segment(body).0)?;
        b.scope = outer;
        Ok(head)
    }

    /// Lowers the passes of a `do` loop whose index and limit are in registers.
    pub(super) fn passes(
        &mut self,
        b: &mut Builder<'_>,
        body: &'a Body,
        step: bool,
        (index, stop): (Reg, Reg),
        pc: u32,
        around: &mut Around,
    ) -> Flow {
        b.flush(&mut [])?;
        let height = b.stack.len();
        let test = |start: usize, after: usize| End::Branch {
            relation: Relation::Lt,
            a: Operand::Reg(index),
            b: Operand::Reg(stop),
            then: id(start),
            otherwise: id(after),
        };
        let kind = if step { FrameKind::StepLoop } else { FrameKind::Loop };
        let native = (!step).then(|| self.plans.native(body.segment as usize)).flatten();
        let outer = b.scope;
        let shape = LoopShape { index, stop, body: body.segment };
        let inner = self.inner(b, body, kind, pc + 2, Some(shape))?;
        let after = b.block();
        b.depth += 1;
        let start = b.block();
        let head = match native {
            Some(room) => {
                b.reserve(room);
                let head = b.block();
                b.jump(head);
                b.begin(head, height);
                b.emit(Inst::Native { body: body.segment, index, stop })?;
                b.end(test(start, after));
                Some(head)
            }
            None => {
                b.end(test(start, after));
                None
            }
        };
        b.begin(start, height);
        b.scope = inner;
        b.entry(head.unwrap_or(start), self.segment(body).0)?;
        b.poll(self.segment(body).0)?;
        let flow = self.body(b, body, around)?;
        b.scope = outer;
        if flow {
            let mut by = [if step { b.pop() } else { Operand::Const(1) }];
            b.flush(&mut by)?;
            b.emit(Inst::Advance { index, by: by[0] })?;
            match head {
                Some(head) => b.jump(head),
                None => b.end(test(start, after)),
            }
        }
        b.depth -= 1;
        b.release(Operand::Reg(index));
        b.release(Operand::Reg(stop));
        b.begin(after, height);
        Ok(true)
    }

    fn call(&mut self, b: &mut Builder<'_>, word: usize, pc: u32, next: u32, around: &mut Around) -> Flow {
        let body = &self.program.words[word].body;
        let Ok(effect) = self.effects.words[word] else {
            // The analysis rejects the caller in this case.
            return Err(TooLarge);
        };
        let small = self.sizes[word] <= INLINE_NODES || self.sites[word] == 1;
        if !self.effects.recursive[word]
            && small
            && self.sizes[word] <= INLINE_MOST
            && around.words < INLINE_DEPTH
        {
            self.inlined[word] = true;
            let end = b.stack.len() as i32 + effect.delta.unwrap_or(0);
            let outer = b.scope;
            b.scope = self.inner(b, body, FrameKind::Word, next, None)?;
            let mut inside = Around { exit: Exit::Block(None), words: around.words + 1 };
            let mut flow = self.body(b, body, &mut inside)?;
            b.scope = outer;
            if let Exit::Block(Some(after)) = inside.exit {
                if flow {
                    b.flush(&mut [])?;
                    b.jump(after);
                }
                b.begin(after, end.max(0) as usize);
                flow = true;
            }
            return Ok(flow);
        }
        if self.effects.recursive[word] {
            b.poll(pc)?;
        }
        let function = self.function(word);
        let params = effect.need as usize;
        let mut args: Vec<Operand> = (0..params).map(|_| b.pop()).collect();
        args.reverse();
        b.flush(&mut args)?;
        // The state before the call, with the arguments in their present registers.
        let height = b.stack.len();
        args.iter().for_each(|&arg| b.push(arg));
        let point = b.point(pc)?;
        (0..params).for_each(|_| {
            b.pop();
        });
        let outer = b.scope;
        b.scope = self.inner(b, body, FrameKind::Word, next, None)?;
        let during = b.point(next)?;
        b.scope = outer;
        let results = effect.delta.map_or(0, |delta| (effect.need + delta) as usize);
        let results: Vec<_> = (0..results).map(|slot| Reg((height + slot) as u32)).collect();
        let end = height + results.len();
        b.emit(Inst::Call { function, args, results, point, during })?;
        if effect.delta.is_none() {
            b.end(End::Leave(point));
            return Ok(false);
        }
        let after = b.block();
        b.jump(after);
        b.begin(after, end);
        b.entry(after, next)?;
        Ok(true)
    }
}

pub(super) fn id(block: usize) -> BlockId {
    BlockId(block as u32)
}
