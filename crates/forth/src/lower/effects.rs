//! Static effect of each word on the height of the stack.

use crate::compile::ir::{Body, Ir, Kind, Node, Word};
use crate::isa::{Op, Parser};

/// Number of rounds after which a recursive word whose effect still changes is given up.
const MAX_ROUNDS: usize = 8;
/// Maximum height: more is not worth registers, and sums of heights cannot overflow.
const MAX_HEIGHT: i32 = 1 << 16;
/// Maximum number of items that a parser may push at once.
pub(super) const MAX_ITEMS: i32 = 16;

/// The stack effect of a word, of the main program or of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Effect {
    /// Number of items that it may consume.
    pub(crate) need: i32,
    /// Height at the end, relative to the beginning; None: it never ends.
    pub(crate) delta: Option<i32>,
    /// Maximum height, relative to the beginning.
    pub(crate) peak: i32,
}

/// Reason for the lack of a static effect, and its source offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Miss {
    pub(crate) at: u32,
    pub(crate) why: &'static str,
}

pub(crate) type Static = Result<Effect, Miss>;

/// The effects of all words and of the main program.
#[derive(Debug)]
pub(crate) struct Effects {
    pub(crate) words: Vec<Static>,
    pub(crate) main: Static,
    /// Whether each word calls itself, or a word that does.
    pub(crate) recursive: Vec<bool>,
    /// Words in calling order, callees first, as far as such an order exists.
    pub(crate) order: Vec<usize>,
    /// Number of items that the host pushes at each `pause`.
    pub(crate) pushed: i32,
}

impl Effects {
    /// Computes the effects for a host that pushes nothing at a `pause`; or one item, a command, if that
    /// makes more words static.
    pub(crate) fn new(program: &Ir) -> Self {
        let (order, recursive) = calling_order(program);
        let quiet = Self::with(program, order, recursive, 0);
        if quiet.misses() == 0 || !quiet.has_pause(program) {
            return quiet;
        }
        let commanded = Self::with(program, quiet.order.clone(), quiet.recursive.clone(), 1);
        if commanded.misses() < quiet.misses() { commanded } else { quiet }
    }

    fn with(program: &Ir, order: Vec<usize>, recursive: Vec<bool>, pushed: i32) -> Self {
        // Initially a word is taken not to end, which leaves the paths of its callers on which it is not
        // called.
        let unknown = Effect { need: 0, delta: None, peak: 0 };
        let mut effects = Self {
            words: vec![Ok(unknown); program.words.len()],
            main: Ok(unknown),
            recursive,
            order: Vec::new(),
            pushed,
        };
        for round in 0.. {
            let mut changed = false;
            for &index in &order {
                if round > 0 && !effects.recursive[index] {
                    continue;
                }
                let mut found = effects.body(&program.words[index].body);
                if round > MAX_ROUNDS && found != effects.words[index] {
                    found = Err(Miss { at: place(&program.words[index]), why: "recursion without end" });
                }
                // A word that was given up stays so, which guarantees termination.
                if found != effects.words[index] && effects.words[index].is_ok() {
                    effects.words[index] = found;
                    changed = true;
                }
            }
            if !changed || !effects.recursive.contains(&true) {
                break;
            }
        }
        effects.main = effects.body(&program.main);
        effects.order = order;
        effects
    }

    /// Returns the effect of a body that `exit` leaves at its end.
    pub(crate) fn body(&self, body: &Body) -> Static {
        let mut walk = Walk { effects: self, low: 0, peak: 0, exits: None, free: false };
        let end = walk.body(body, 0)?;
        let at = body.nodes.last().map_or(0, |node| node.at);
        let delta = join(end, walk.exits, at, "`exit` leaves another number of items than the end")?;
        walk.effect(delta, at)
    }

    /// Returns the effect of one loop in any context; `exit` leaves the loop for good.
    pub(crate) fn looping(&self, node: &Node) -> Static {
        let mut walk = Walk { effects: self, low: 0, peak: 0, exits: None, free: true };
        let delta = walk.node(node, 0, None)?;
        walk.effect(delta, node.at)
    }

    fn misses(&self) -> usize {
        self.words.iter().chain([&self.main]).filter(|effect| effect.is_err()).count()
    }

    fn has_pause(&self, program: &Ir) -> bool {
        fn visit(body: &Body) -> bool {
            body.nodes.iter().any(|node| {
                matches!(node.kind, Kind::Plain(Op::Pause, _)) || node.bodies().into_iter().any(visit)
            })
        }
        visit(&program.main) || program.words.iter().any(|word| visit(&word.body))
    }
}

fn place(word: &Word) -> u32 {
    word.body.nodes.first().map_or(0, |node| node.at)
}

/// Returns the words with callees before callers, recursive ones last, and whether each is recursive or calls
/// a recursive word.
fn calling_order(program: &Ir) -> (Vec<usize>, Vec<bool>) {
    let count = program.words.len();
    let mut callers: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut waiting = vec![0_usize; count];
    for (index, word) in program.words.iter().enumerate() {
        let mut callees = Vec::new();
        calls(&word.body, &mut callees);
        callees.sort_unstable();
        callees.dedup();
        waiting[index] = callees.len();
        for callee in callees {
            callers[callee].push(index);
        }
    }
    let mut order: Vec<usize> = (0..count).filter(|&index| waiting[index] == 0).collect();
    let mut at = 0;
    while let Some(&index) = order.get(at) {
        at += 1;
        for &caller in &callers[index] {
            waiting[caller] -= 1;
            if waiting[caller] == 0 {
                order.push(caller);
            }
        }
    }
    let recursive: Vec<bool> = waiting.iter().map(|&waiting| waiting > 0).collect();
    order.extend((0..count).filter(|&index| recursive[index]));
    (order, recursive)
}

pub(super) fn calls(body: &Body, to: &mut Vec<usize>) {
    for node in &body.nodes {
        if let Kind::Call(word) = node.kind {
            to.push(word as usize);
        }
        if let Kind::CaseTable { consequents, default, .. } = &node.kind {
            // The predicates never run.
            consequents.iter().chain([default]).for_each(|body| calls(body, to));
        } else {
            node.bodies().into_iter().for_each(|body| calls(body, to));
        }
    }
}

/// A height relative to the beginning; None: unreachable.
type Height = Option<i32>;

fn join(a: Height, b: Height, at: u32, why: &'static str) -> Result<Height, Miss> {
    match (a, b) {
        (Some(a), Some(b)) if a != b => Err(Miss { at, why }),
        _ => Ok(a.or(b)),
    }
}

struct Walk<'a> {
    effects: &'a Effects,
    low: i32,
    peak: i32,
    exits: Height,
    /// Whether `exit` may leave any height.
    free: bool,
}

impl Walk<'_> {
    fn effect(&self, delta: Height, at: u32) -> Static {
        if -self.low > MAX_HEIGHT || self.peak > MAX_HEIGHT {
            return Err(Miss { at, why: "too many items" });
        }
        Ok(Effect { need: -self.low, delta, peak: self.peak })
    }

    fn body(&mut self, body: &Body, from: i32) -> Result<Height, Miss> {
        let mut height = from;
        let mut before = None;
        for node in &body.nodes {
            match self.node(node, height, before)? {
                Some(after) if after.abs() > MAX_HEIGHT => {
                    return Err(Miss { at: node.at, why: "too many items" });
                }
                Some(after) => height = after,
                None => return Ok(None),
            }
            before = Some(node);
        }
        Ok(Some(height))
    }

    /// Pops and pushes the given numbers of items, and returns the new height.
    fn step(&mut self, height: i32, pops: i32, pushes: i32) -> i32 {
        self.low = self.low.min(height - pops);
        let after = height - pops + pushes;
        self.peak = self.peak.max(after);
        after
    }

    fn node(&mut self, node: &Node, height: i32, before: Option<&Node>) -> Result<Height, Miss> {
        let miss = |why| Err(Miss { at: node.at, why });
        let neutral = "a pass of the loop leaves another number of items than it found";
        Ok(match &node.kind {
            Kind::Plain(Op::Halt, _) => None,
            Kind::Plain(Op::Pause, _) => Some(self.step(height, 0, self.effects.pushed)),
            Kind::Plain(op, _) => Some(self.step(height, op.pops() as i32, op.pushes() as i32)),
            Kind::Enum(..) => Some(self.step(height, 0, 1)),
            Kind::Wide(_) => Some(self.step(height, 0, 1)),
            Kind::Read(read) => {
                let mut pushes = i32::from(read.output.is_none() || read.parser == Parser::QuotedStr);
                if read.repeated && pushes > 0 {
                    let count = match before.map(|node| &node.kind) {
                        Some(Kind::Plain(Op::Literal, count)) => *count,
                        _ => return miss("pushes as many items as the data says"),
                    };
                    if count > MAX_ITEMS || (count > 0 && read.parser.size() == 0) {
                        return miss("pushes many items at once");
                    }
                    pushes = count.max(0);
                }
                Some(self.step(height, i32::from(read.repeated), pushes))
            }
            Kind::Call(word) => {
                let Ok(effect) = self.effects.words[*word as usize] else {
                    return miss("calls a word without a static stack effect");
                };
                self.low = self.low.min(height - effect.need);
                let inside = if self.effects.recursive[*word as usize] {
                    effect.delta.unwrap_or(0)
                } else {
                    effect.peak
                };
                self.peak = self.peak.max(height + inside);
                effect.delta.map(|delta| height + delta)
            }
            Kind::Nest(body) => self.body(body, height)?,
            Kind::Exit => {
                if !self.free {
                    self.exits = join(
                        self.exits,
                        Some(height),
                        node.at,
                        "one `exit` leaves another number of items than another",
                    )?;
                }
                None
            }
            Kind::If(then) => {
                let height = self.step(height, 1, 0);
                let then = self.body(then, height)?;
                join(then, Some(height), node.at, "`if` leaves another number of items than it skips")?
            }
            Kind::IfElse(then, otherwise) => {
                let height = self.step(height, 1, 0);
                let then = self.body(then, height)?;
                let otherwise = self.body(otherwise, height)?;
                join(then, otherwise, node.at, "the branches of `if` leave different numbers of items")?
            }
            Kind::CaseTable { consequents, default, .. } => {
                let inner = self.step(height, 1, 0);
                let mut end = self.body(default, height)?;
                for body in consequents {
                    let this = self.body(body, inner)?;
                    end =
                        join(end, this, node.at, "the branches of `case` leave different numbers of items")?;
                }
                end
            }
            Kind::Do { body, step } => {
                let height = self.step(height, 2, 0);
                match self.body(body, height)? {
                    Some(end) if end != height + i32::from(*step) => return miss(neutral),
                    _ => {}
                }
                if *step {
                    self.low = self.low.min(height);
                }
                Some(height)
            }
            Kind::Again(body) => match self.body(body, height)? {
                Some(end) if end != height => return miss(neutral),
                _ => None,
            },
            Kind::Until(body) => match self.body(body, height)? {
                None => None,
                Some(end) if self.step(end, 1, 0) != height => return miss(neutral),
                Some(_) => Some(height),
            },
            Kind::While(test, body) => match self.body(test, height)? {
                None => None,
                Some(end) => {
                    let after = self.step(end, 1, 0);
                    match self.body(body, after)? {
                        Some(end) if end != height => return miss(neutral),
                        _ => Some(after),
                    }
                }
            },
        })
    }
}
