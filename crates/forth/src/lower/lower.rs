//! Structured program → flat code.

use super::build::{BUDGET, Builder, Made, TooLarge};
use super::effects::{Effect, Effects, calls};
use super::ir::{
    BlockId, Code, End, FrameShape, Function, FunctionId, Height, Inst, LoopShape, Operand, Origin, Reg,
    Relation, Scope, ScopeId,
};
use crate::compile::Bytecode;
use crate::compile::ir::{Body, Kind, Node, Program};
use crate::interpret::fused::Plans;
use crate::isa::{Bulk, Op, Read};
use crate::machine::FrameKind;

/// Nodes, callees included, up to which a word is put in place of its calls; one that is called once always is.
const INLINE_NODES: usize = 96;
/// Words put in place inside one another.
const INLINE_DEPTH: usize = 24;
/// Nodes, callees included, up to which anything is put in place.
const INLINE_MOST: usize = 20_000;

/// Lowers all that has a static stack effect.
pub(crate) fn lower(
    program: &Program,
    bytecode: &Bytecode,
    plans: &Plans,
    effects: &Effects,
    bits: u32,
) -> Code {
    let mut lowering = Lowering {
        program,
        bytecode,
        plans,
        effects,
        functions: vec![None; program.words.len()],
        inlined: vec![false; program.words.len()],
        waiting: Vec::new(),
        sizes: sizes(program, effects),
        sites: sites(program),
        budget: BUDGET,
        code: Code { bits, ..Code::default() },
        made: Vec::new(),
    };
    if lowering.everything().is_err() {
        // Nothing is better than half of a program that is too large.
        return Code { bits, ..Code::default() };
    }
    let Lowering { mut code, made, .. } = lowering;
    code.functions = made;
    let points = &code.points;
    code.entries.sort_by_key(|entry| points[entry.point.0 as usize].pc);
    code
}

pub(super) struct Lowering<'a> {
    pub(super) program: &'a Program,
    bytecode: &'a Bytecode,
    plans: &'a Plans,
    pub(super) effects: &'a Effects,
    /// The function of each word that has one.
    functions: Vec<Option<FunctionId>>,
    /// Words that were put in place of a call, so that a function of their own is of little use.
    inlined: Vec<bool>,
    waiting: Vec<usize>,
    sizes: Vec<usize>,
    sites: Vec<usize>,
    budget: usize,
    /// Scopes, points and entries.
    code: Code,
    /// The functions, which are asked for while another one is being made.
    made: Vec<Function>,
}

/// Nodes of each word with its callees in place.
fn sizes(program: &Program, effects: &Effects) -> Vec<usize> {
    let mut sizes = vec![usize::MAX; program.words.len()];
    for &index in effects.order.iter().filter(|&&index| !effects.recursive[index]) {
        let body = &program.words[index].body;
        let mut callees = Vec::new();
        calls(body, &mut callees);
        let inside = callees.iter().fold(0_usize, |sum, &callee| sum.saturating_add(sizes[callee]));
        sizes[index] = nodes(body).saturating_add(inside);
    }
    sizes
}

fn nodes(body: &Body) -> usize {
    body.nodes.iter().map(|node| 1 + node.bodies().into_iter().map(nodes).sum::<usize>()).sum()
}

/// How often each word is called in the text.
fn sites(program: &Program) -> Vec<usize> {
    let mut all = Vec::new();
    calls(&program.main, &mut all);
    program.words.iter().for_each(|word| calls(&word.body, &mut all));
    let mut sites = vec![0; program.words.len()];
    all.into_iter().for_each(|word| sites[word] += 1);
    sites
}

/// Where `exit` goes.
#[derive(Clone, Copy)]
enum Exit {
    /// The function returns.
    Return,
    /// Tier 0 does it: this function is part of a word only.
    Leave,
    /// To the end of a word in place: its block, once one is wanted.
    Block(Option<usize>),
}

/// What surrounds a node.
struct Around {
    exit: Exit,
    /// Words in place inside one another.
    words: usize,
}

pub(super) type Flow = Made<bool>;

impl<'a> Lowering<'a> {
    fn everything(&mut self) -> Made<()> {
        match self.effects.main {
            Ok(effect) => self.whole(Origin::Main, &self.program.main, effect)?,
            Err(_) => self.parts(&self.program.main)?,
        }
        self.drain()?;
        // What is called in place only is not worth a second copy; what is called by nobody may be by the host.
        for index in (0..self.program.words.len()).rev() {
            let body = &self.program.words[index].body;
            match self.effects.words[index] {
                Ok(_) if !self.inlined[index] => {
                    self.function(index);
                    self.drain()?;
                }
                Ok(_) => {}
                Err(_) => self.parts(body)?,
            }
        }
        self.drain()
    }

    fn drain(&mut self) -> Made<()> {
        while let Some(index) = self.waiting.pop() {
            if let Ok(effect) = self.effects.words[index] {
                self.whole(Origin::Word(index as u32), &self.program.words[index].body, effect)?;
            }
        }
        Ok(())
    }

    /// The function of a word, to be made later.
    fn function(&mut self, word: usize) -> FunctionId {
        if let Some(id) = self.functions[word] {
            return id;
        }
        let id = self.reserve(Origin::Word(word as u32));
        self.functions[word] = Some(id);
        self.waiting.push(word);
        id
    }

    fn reserve(&mut self, origin: Origin) -> FunctionId {
        self.made.push(Function {
            origin,
            params: 0,
            results: 0,
            registers: 0,
            blocks: Vec::new(),
            height: Height::default(),
            recursive: false,
        });
        FunctionId(self.made.len() as u32 - 1)
    }

    /// The main program, or a word, as a function.
    fn whole(&mut self, origin: Origin, body: &'a Body, effect: Effect) -> Made<()> {
        let (id, recursive) = match origin {
            Origin::Word(word) => (self.function(word as usize), self.effects.recursive[word as usize]),
            _ => (self.reserve(origin), false),
        };
        let mut budget = self.budget;
        let mut code = std::mem::take(&mut self.code);
        let scope = Scope { end: self.segment(body).1, frames: Vec::new(), loops: Vec::new() };
        code.scopes.push(scope);
        let scope = ScopeId(code.scopes.len() as u32 - 1);
        let homes = (effect.need + effect.peak) as u32;
        let mut b = Builder::new(&mut code, &mut budget, id, origin, effect.need as u32, homes, scope);
        let (pc, end) = self.segment(body);
        b.entry(0, pc)?;
        let mut around = Around { exit: Exit::Return, words: 0 };
        if self.body(&mut b, body, &mut around)? {
            let point = b.point(end)?;
            b.end(End::Return(point));
        }
        let results = effect.delta.map_or(0, |delta| effect.need + delta);
        self.made[id.0 as usize] = b.finish(results as u32, recursive);
        (self.code, self.budget) = (code, budget);
        Ok(())
    }

    /// The loops of a body that has no static effect itself.
    fn parts(&mut self, body: &'a Body) -> Made<()> {
        let mut pc = self.segment(body).0;
        for node in &body.nodes {
            let next = pc + self.length(node, pc);
            let inner: Vec<&'a Body> = match &node.kind {
                Kind::CaseTable { consequents, default, .. } => consequents.iter().chain([default]).collect(),
                _ => node.bodies(),
            };
            let is_loop =
                matches!(node.kind, Kind::Do { .. } | Kind::Again(_) | Kind::Until(_) | Kind::While(..));
            let effect = match is_loop {
                true => {
                    // Loops inside of loops are looked at again and again.
                    let nodes = inner.iter().map(|inner| nodes(inner)).sum::<usize>();
                    self.budget = self.budget.checked_sub(nodes).ok_or(TooLarge)?;
                    self.effects.looping(node).ok()
                }
                false => None,
            };
            match effect {
                Some(effect) => self.part(node, pc, self.segment(body).1, effect)?,
                None => inner.into_iter().try_for_each(|inner| self.parts(inner))?,
            }
            pc = next;
        }
        Ok(())
    }

    /// One loop of such a body as a function.
    fn part(&mut self, node: &'a Node, pc: u32, end: u32, effect: Effect) -> Made<()> {
        let first = node.bodies().first().map_or(0, |body| body.segment);
        let origin = Origin::Loop(first);
        let id = self.reserve(origin);
        let mut budget = self.budget;
        let mut code = std::mem::take(&mut self.code);
        code.scopes.push(Scope { end, frames: Vec::new(), loops: Vec::new() });
        let scope = ScopeId(code.scopes.len() as u32 - 1);
        let homes = (effect.need + effect.peak) as u32;
        // The index and the limit of a `do` loop are on the loop stack already.
        let params = effect.need - if matches!(node.kind, Kind::Do { .. }) { 2 } else { 0 };
        let mut b = Builder::new(&mut code, &mut budget, id, origin, params.max(0) as u32, homes, scope);
        let mut around = Around { exit: Exit::Leave, words: 0 };
        let goes_on = match &node.kind {
            Kind::Do { body, step } => {
                let (index, stop) = (b.held(), b.held());
                // Whoever calls block 0 finds the loop at its end; nobody does.
                self.passes(&mut b, body, *step, (index, stop), pc, &mut around)?
            }
            _ => self.node(&mut b, node, pc, &mut around)?,
        };
        if goes_on {
            let point = b.point(pc + self.length(node, pc))?;
            b.end(End::Leave(point));
        }
        self.made[id.0 as usize] = b.finish(0, false);
        (self.code, self.budget) = (code, budget);
        self.drain()
    }

    fn segment(&self, body: &Body) -> (u32, u32) {
        let offsets = &self.bytecode.offsets;
        (offsets[body.segment as usize] as u32, offsets[body.segment as usize + 1] as u32)
    }

    /// Numbers of bytecode that a node is.
    fn length(&self, node: &Node, pc: u32) -> u32 {
        let code = &self.bytecode.code;
        let one = |pc: u32| match (&code[pc as usize..], &node.kind) {
            (code, Kind::Bulk(_)) => Bulk::decode(code).map_or(1, |(_, length)| length as u32),
            (_, Kind::Wide(_)) => 3,
            (code, _) => match Read::decode(code) {
                Some((_, length)) => length as u32,
                None => 1 + Op::from_code(code[0]).map_or(0, Op::operands) as u32,
            },
        };
        match node.kind {
            Kind::Again(_) | Kind::Until(_) | Kind::While(..) => 1 + one(pc + 1),
            _ => one(pc),
        }
    }

    /// False: the end is never reached.
    fn body(&mut self, b: &mut Builder<'_>, body: &'a Body, around: &mut Around) -> Flow {
        let mut pc = self.segment(body).0;
        for node in &body.nodes {
            if !self.node(b, node, pc, around)? {
                return Ok(false);
            }
            pc += self.length(node, pc);
        }
        Ok(true)
    }

    /// A body inside of a structure, with a frame of its own.
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

    fn node(&mut self, b: &mut Builder<'_>, node: &'a Node, pc: u32, around: &mut Around) -> Flow {
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
            Kind::Bulk(bulk) => return self.leave(b, bulk.pops(), bulk.pushes(), pc, next),
            Kind::Wide(value) => {
                let value = if b.code.bits == 64 { *value } else { i64::from(*value as i32) };
                b.push(Operand::Const(value));
            }
            Kind::Call(word) => return self.call(b, *word as usize, pc, next, around),
            Kind::Nest(body) => return self.nested(b, body, FrameKind::Body, next, around),
            Kind::Exit => {
                match around.exit {
                    Exit::Return => {
                        // The state is that at the end of the word, whatever was open.
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
                let (start, after) = (b.block(), b.block());
                let (relation, x, y) = b.condition();
                let mut kept = [x, y];
                b.flush(&mut kept)?;
                let [x, y] = kept;
                b.end(End::Branch { relation, a: x, b: y, then: id(start), otherwise: id(after) });
                let height = b.stack.len();
                b.begin(start, height);
                if self.nested(b, then, FrameKind::Body, next, around)? {
                    b.flush(&mut [])?;
                    b.jump(after);
                }
                b.begin(after, height);
            }
            Kind::IfElse(then, otherwise) => {
                let (start, other, after) = (b.block(), b.block(), b.block());
                let (relation, x, y) = b.condition();
                let mut kept = [x, y];
                b.flush(&mut kept)?;
                let [x, y] = kept;
                b.end(End::Branch { relation, a: x, b: y, then: id(start), otherwise: id(other) });
                let height = b.stack.len();
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
                let (relation, x, y) = b.condition();
                let mut kept = [x, y];
                b.flush(&mut kept)?;
                let [x, y] = kept;
                b.end(End::Branch { relation, a: x, b: y, then: id(after), otherwise: id(head) });
                b.begin(after, b.stack.len());
            }
            Kind::While(test, body) => {
                b.flush(&mut [])?;
                let head = self.head(b, test, pc + 1)?;
                if !self.nested(b, test, FrameKind::Body, pc + 1, around)? {
                    b.depth -= 1;
                    return Ok(false);
                }
                let (start, after) = (b.block(), b.block());
                let (relation, x, y) = b.condition();
                let mut kept = [x, y];
                b.flush(&mut kept)?;
                let [x, y] = kept;
                b.end(End::Branch { relation, a: x, b: y, then: id(start), otherwise: id(after) });
                let height = b.stack.len();
                b.begin(start, height);
                if self.nested(b, body, FrameKind::Body, pc, around)? {
                    b.flush(&mut [])?;
                    b.jump(head);
                }
                b.depth -= 1;
                b.begin(after, height);
            }
        }
        Ok(true)
    }

    /// Goes on where branches meet, if one gets there.
    fn meet(&self, b: &mut Builder<'_>, after: usize, end: Option<usize>) -> Flow {
        let Some(height) = end else {
            // The block exists but is not reached; it has to end somehow.
            b.begin(after, 0);
            b.jump(after);
            return Ok(false);
        };
        b.begin(after, height);
        Ok(true)
    }

    /// The head of an indefinite loop, where native code may begin.
    fn head(&self, b: &mut Builder<'_>, body: &Body, back: u32) -> Made<usize> {
        b.depth += 1;
        let head = b.block();
        b.jump(head);
        b.begin(head, b.stack.len());
        let outer = b.scope;
        b.scope = self.inner(b, body, FrameKind::Body, back, None)?;
        b.entry(head, self.segment(body).0)?;
        b.scope = outer;
        Ok(head)
    }

    /// The passes of a `do` loop whose index and limit are in registers.
    fn passes(
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
        let native = (!step).then(|| self.plans.native(body.segment as usize, b.code.bits)).flatten();
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
            // The analysis refuses the caller then.
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
        let function = self.function(word);
        let params = effect.need as usize;
        let mut args: Vec<Operand> = (0..params).map(|_| b.pop()).collect();
        args.reverse();
        b.flush(&mut args)?;
        // As it is before the call, with the arguments where they are now.
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

fn id(block: usize) -> BlockId {
    BlockId(block as u32)
}
