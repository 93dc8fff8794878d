//! Structured program → flat code.

use super::build::{BUDGET, Builder, Made, TooLarge};
use super::effects::{Effect, Effects, calls};
use super::ir::{Code, End, Function, FunctionId, Origin, Scope, ScopeId, Variant};
use crate::compile::Bytecode;
use crate::compile::ir::{Body, Ir, Kind, Node};
use crate::interpret::fused::Plans;
use crate::isa::{Op, Read};
use crate::state::Height;

/// Maximum number of nodes, callees included, of a word that is inlined; a word that is called once is
/// inlined in any case.
pub(super) const INLINE_NODES: usize = 96;
/// Maximum depth of inlined words.
pub(super) const INLINE_DEPTH: usize = 24;
/// Maximum number of nodes, callees included, of any inlined word.
pub(super) const INLINE_MOST: usize = 20_000;

/// Lowers the parts of a program that have a static stack effect.
pub(crate) fn lower(
    program: &Ir,
    bytecode: &Bytecode,
    plans: &Plans,
    effects: &Effects,
    Variant { bits, polled }: Variant,
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
        code: Code { bits, polled, ..Code::default() },
        made: Vec::new(),
    };
    if lowering.everything().is_err() {
        // No code is better than half of a program that is too large.
        return Code { bits, polled, ..Code::default() };
    }
    let Lowering { mut code, made, .. } = lowering;
    code.functions = made;
    let points = &code.points;
    code.entries.sort_by_key(|entry| points[entry.point.0 as usize].pc);
    code
}

/// The target of `exit`.
#[derive(Clone, Copy)]
pub(super) enum Exit {
    /// The function returns.
    Return,
    /// Tier 0 executes it: the function is only a part of a word.
    Leave,
    /// Jumps to the end of an inlined word: its block, once it exists.
    Block(Option<usize>),
}

/// The loops and words that surround a node.
pub(super) struct Around {
    pub(super) exit: Exit,
    /// Depth of inlined words.
    pub(super) words: usize,
}

pub(super) struct Lowering<'a> {
    pub(super) program: &'a Ir,
    pub(super) bytecode: &'a Bytecode,
    pub(super) plans: &'a Plans,
    pub(super) effects: &'a Effects,
    /// The function of each word; None if it has none yet.
    pub(super) functions: Vec<Option<FunctionId>>,
    /// Whether each word was inlined, so that a function of its own is of little value.
    pub(super) inlined: Vec<bool>,
    pub(super) waiting: Vec<usize>,
    pub(super) sizes: Vec<usize>,
    pub(super) sites: Vec<usize>,
    pub(super) budget: usize,
    /// Scopes, points and entries.
    pub(super) code: Code,
    /// The functions, which may be requested while another one is lowered.
    pub(super) made: Vec<Function>,
}

/// Returns the number of nodes of each word with its callees inlined.
fn sizes(program: &Ir, effects: &Effects) -> Vec<usize> {
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

/// Returns the number of calls of each word in the text.
fn sites(program: &Ir) -> Vec<usize> {
    let mut all = Vec::new();
    calls(&program.main, &mut all);
    program.words.iter().for_each(|word| calls(&word.body, &mut all));
    let mut sites = vec![0; program.words.len()];
    all.into_iter().for_each(|word| sites[word] += 1);
    sites
}

pub(super) type Flow = Made<bool>;

impl<'a> Lowering<'a> {
    fn everything(&mut self) -> Made<()> {
        match self.effects.main {
            Ok(effect) => self.whole(Origin::Main, &self.program.main, effect)?,
            Err(_) => self.parts(&self.program.main)?,
        }
        self.drain()?;
        // A word that is only inlined is not worth a second copy; a word without callers may be called by the
        // host.
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

    /// Returns the function of a word, which is lowered later.
    pub(super) fn function(&mut self, word: usize) -> FunctionId {
        if let Some(id) = self.functions[word] {
            return id;
        }
        let id = self.reserve(Origin::Word(word as u32));
        self.functions[word] = Some(id);
        self.waiting.push(word);
        id
    }

    pub(super) fn reserve(&mut self, origin: Origin) -> FunctionId {
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

    /// Lowers the main program or a word to a function.
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

    /// Lowers the loops of a body that has no static effect itself.
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
                    // Loops inside of loops are analysed repeatedly.
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

    /// Lowers one loop of a body without a static effect to a function.
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
                // A call of block 0 would find the loop at its end, but this function is never called.
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

    pub(super) fn segment(&self, body: &Body) -> (u32, u32) {
        let offsets = &self.bytecode.offsets;
        (offsets[body.segment as usize] as u32, offsets[body.segment as usize + 1] as u32)
    }

    /// Returns the number of bytecode numbers of a node.
    pub(super) fn length(&self, node: &Node, pc: u32) -> u32 {
        let code = &self.bytecode.code;
        let one = |pc: u32| match (&code[pc as usize..], &node.kind) {
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
}
