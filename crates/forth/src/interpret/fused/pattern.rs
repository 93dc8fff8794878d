//! Patterns of structured IR from the templates of idioms, and their comparison with programs.
//!
//! A template is compiled as any program is; its placeholders are declared as inputs, variables, outputs and
//! empty words. So programs are generated from and recognised by one definition.

use std::sync::OnceLock;

use super::matcher::{Inlined, Match, Matcher};
use crate::compile::ir::{Body, Ir, Kind};
use crate::compile::{Options, parse};
use crate::idioms::{Idiom, holes};
use crate::isa::{Op, Read};

/// The condition on one node of a program.
#[derive(Debug)]
enum Part {
    /// A word; if it is a literal, with this number.
    Word(Op, i32),
    /// A word for an input, a variable or an output, by index in [`holes`].
    Input(Op, usize),
    Variable(Op, usize),
    Output(Op, usize),
    /// A literal.
    Number(usize),
    Compare,
    /// A parser to the stack, whose input is an index in [`holes`].
    Parse(Read),
    /// One of [`holes::READS`].
    Read(usize),
    If(Vec<Self>),
    IfElse(Vec<Self>, Vec<Self>),
    While(Vec<Self>, Vec<Self>),
    Do(Vec<Self>),
    /// Arms of any kind and number.
    Case,
    /// The remainder of the body around it.
    Body(usize),
}

/// The parts of an idiom before and after a body between other words.
#[derive(Debug)]
pub(super) struct Pattern {
    pub(super) idiom: Idiom,
    before: Vec<Part>,
    behind: Vec<Part>,
}

/// The values matched by the placeholders.
#[derive(Default)]
pub(super) struct Found<'a> {
    inputs: [Option<u32>; holes::INPUTS.len()],
    variables: [Option<i32>; holes::VARIABLES.len()],
    outputs: [i32; holes::OUTPUTS.len()],
    numbers: [i32; holes::NUMBERS.len()],
    reads: [Option<Read>; holes::READS.len()],
    bodies: [Option<(Inlined<'a>, usize)>; holes::BODIES.len()],
    pub(super) arms: &'a [Body],
    pub(super) compare: Option<Op>,
}

impl<'a> Found<'a> {
    pub(super) fn data(&self) -> Option<usize> {
        self.inputs[0].map(|input| input as usize)
    }

    pub(super) fn stop(&self) -> Option<usize> {
        self.variables[0].map(|variable| variable as usize)
    }

    pub(super) fn offsets(&self) -> usize {
        self.outputs[0] as usize
    }

    pub(super) fn out(&self) -> usize {
        self.outputs[1] as usize
    }

    pub(super) fn n(&self) -> i32 {
        self.numbers[0]
    }

    pub(super) fn m(&self) -> i32 {
        self.numbers[1]
    }

    pub(super) fn read(&self) -> Option<Read> {
        self.reads[0]
    }

    pub(super) fn many(&self) -> Option<Read> {
        self.reads[1]
    }

    pub(super) fn item(&self) -> Option<Read> {
        self.reads[2]
    }

    /// Takes `BODY` or `OTHERWISE`, and the index at which it begins; None the second time.
    pub(super) fn take(&mut self, body: usize) -> Option<(Inlined<'a>, usize)> {
        self.bodies[body].take()
    }
}

/// All idioms in order, by the kind of node that they begin with.
pub(super) struct Patterns {
    by_first: [Vec<Pattern>; FIRSTS],
    pub(super) frame: Pattern,
}

/// Number of kinds of nodes that idioms begin with, including one for all others.
const FIRSTS: usize = 8;

fn first_of(kind: &Kind) -> usize {
    match kind {
        Kind::Read(read) if read.output.is_some() => 0,
        Kind::Read(_) => 1,
        Kind::Plain(Op::Literal, _) => 2,
        Kind::Plain(Op::Position, _) => 3,
        Kind::Plain(Op::Fetch, _) => 4,
        Kind::Plain(Op::LenOutput, _) => 5,
        Kind::While(..) => 6,
        _ => 7,
    }
}

impl Patterns {
    /// Returns the patterns that may begin with a node.
    pub(super) fn beginning(&self, kind: &Kind) -> &[Pattern] {
        &self.by_first[first_of(kind)]
    }
}

pub(super) fn patterns() -> &'static Patterns {
    static PATTERNS: OnceLock<Patterns> = OnceLock::new();
    PATTERNS.get_or_init(|| {
        let source = source();
        let program = match parse(&source, Options::default()) {
            Ok(program) => program,
            Err(error) => unreachable!("a template is no program: {error}"),
        };
        let words = &program.words[program.words.len() - Idiom::ALL.len()..];
        let mut by_first: [Vec<Pattern>; FIRSTS] = Default::default();
        let mut frame = None;
        for (idiom, word) in Idiom::ALL.iter().zip(words) {
            let mut before = parts(&program, &word.body);
            let body = before.iter().position(|part| matches!(part, Part::Body(_)));
            let behind = body.map(|at| before.split_off(at + 1)).unwrap_or_default();
            if body.is_some() {
                before.pop();
            }
            let first = before.first().map_or(FIRSTS - 1, Part::first);
            let pattern = Pattern { idiom: *idiom, before, behind };
            // A frame surrounds phrases, and is tried before them.
            match idiom {
                Idiom::Frame => frame = Some(pattern),
                _ => by_first[first].push(pattern),
            }
        }
        match frame {
            Some(frame) => Patterns { by_first, frame },
            None => unreachable!("it is one of all idioms"),
        }
    })
}

/// Returns a program that declares the placeholders, and in which each idiom is a word.
fn source() -> String {
    let mut source = String::new();
    let mut declare = |before: &str, names: &[&str], behind: &str| {
        for name in names {
            source.push_str(&format!("{before} {name} {behind}\n"));
        }
    };
    declare("input", holes::INPUTS, "");
    declare("variable", holes::VARIABLES, "");
    declare("output", holes::OUTPUTS, "int64");
    for names in [holes::NUMBERS, holes::READS, &[holes::COMPARE], holes::BODIES] {
        declare(":", names, ";");
    }
    for (number, idiom) in Idiom::ALL.iter().enumerate() {
        source.push_str(&format!(": idiom{number} {} ;\n", idiom.template()));
    }
    source
}

fn parts(program: &Ir, body: &Body) -> Vec<Part> {
    let place = |names: &[&str], name: &str| names.iter().position(|known| *known == name);
    let part = |kind: &Kind| match kind {
        Kind::Call(word) => {
            let name = &*program.words[*word as usize].name;
            if let Some(at) = place(holes::NUMBERS, name) {
                Part::Number(at)
            } else if let Some(at) = place(holes::READS, name) {
                Part::Read(at)
            } else if let Some(at) = place(holes::BODIES, name) {
                Part::Body(at)
            } else {
                Part::Compare
            }
        }
        Kind::Plain(op, of) => match op {
            Op::Position | Op::Seek | Op::Skip | Op::LenInput => Part::Input(*op, *of as usize),
            Op::Fetch | Op::Put => Part::Variable(*op, *of as usize),
            Op::Write | Op::WriteAdd | Op::LenOutput => Part::Output(*op, *of as usize),
            _ => Part::Word(*op, *of),
        },
        Kind::Read(read) => Part::Parse(*read),
        Kind::If(body) => Part::If(parts(program, body)),
        Kind::IfElse(body, other) => Part::IfElse(parts(program, body), parts(program, other)),
        Kind::While(test, body) => Part::While(parts(program, test), parts(program, body)),
        Kind::Do { body, step: false } => Part::Do(parts(program, body)),
        Kind::CaseTable { .. } => Part::Case,
        other => unreachable!("no template has {other:?}"),
    };
    body.nodes.iter().map(|node| part(&node.kind)).collect()
}

impl Part {
    /// Returns the kind of node, as [`first_of`] does.
    fn first(&self) -> usize {
        match self {
            Self::Read(0) | Self::Parse(_) => 1,
            Self::Read(_) => 0,
            Self::Number(_) | Self::Word(Op::Literal, _) => 2,
            Self::Input(Op::Position, _) => 3,
            Self::Variable(Op::Fetch, _) => 4,
            Self::Output(Op::LenOutput, _) => 5,
            Self::While(..) => 6,
            _ => FIRSTS - 1,
        }
    }
}

impl Pattern {
    /// Matches the nodes before the body; returns the values found and the number of nodes.
    pub(super) fn begins<'a>(
        &self,
        matcher: &Matcher<'a>,
        kinds: &[&'a Kind],
    ) -> Match<Option<(Found<'a>, usize)>> {
        prefix(matcher, &self.before, kinds)
    }

    /// Matches the nodes after the body; returns the values found and the number of nodes.
    pub(super) fn ends<'a>(
        &self,
        matcher: &Matcher<'a>,
        kinds: &[&'a Kind],
    ) -> Match<Option<(Found<'a>, usize)>> {
        prefix(matcher, &self.behind, kinds)
    }
}

fn prefix<'a>(
    matcher: &Matcher<'a>,
    parts: &[Part],
    kinds: &[&'a Kind],
) -> Match<Option<(Found<'a>, usize)>> {
    // Most patterns differ in the first word.
    if parts.len() > kinds.len() || !parts.iter().zip(kinds).all(|(part, kind)| may_be(part, kind)) {
        return Ok(None);
    }
    let mut found = Found::default();
    for (part, kind) in parts.iter().zip(kinds) {
        if !compare(matcher, part, kind, &mut found)? {
            return Ok(None);
        }
    }
    Ok(Some((found, parts.len())))
}

/// Whether a node is of the kind of a part, whatever its operands.
fn may_be(part: &Part, kind: &Kind) -> bool {
    match (part, kind) {
        (Part::Word(Op::Literal, number), Kind::Plain(Op::Literal, given)) => number == given,
        (
            Part::Word(op, _) | Part::Input(op, _) | Part::Variable(op, _) | Part::Output(op, _),
            Kind::Plain(given, _),
        ) => op == given,
        (Part::Number(_), Kind::Plain(op, _)) => *op == Op::Literal,
        (Part::Compare, Kind::Plain(op, _)) => matches!(op, Op::Gt | Op::Ge | Op::Lt | Op::Le | Op::Ne),
        (Part::Parse(read), Kind::Read(given)) => {
            read.parser == given.parser
                && read.repeated == given.repeated
                && given.output.is_none()
                && (read.big == given.big || read.parser.size() <= 1)
        }
        (Part::Read(which), Kind::Read(given)) => match which {
            0 => !given.repeated && given.output.is_none(),
            1 => given.repeated && given.output.is_some(),
            _ => !given.repeated && given.output.is_some(),
        },
        (Part::If(_), Kind::If(_))
        | (Part::IfElse(..), Kind::IfElse(..))
        | (Part::While(..), Kind::While(..))
        | (Part::Do(_), Kind::Do { step: false, .. })
        | (Part::Case, Kind::CaseTable { .. }) => true,
        _ => false,
    }
}

/// Whether a whole body matches.
fn whole<'a>(matcher: &Matcher<'a>, parts: &[Part], body: &'a Body, found: &mut Found<'a>) -> Match<bool> {
    let flat = matcher.flatten(body)?;
    let rest = match parts.last() {
        Some(Part::Body(which)) => Some(*which),
        _ => None,
    };
    let fixed = parts.len() - usize::from(rest.is_some());
    if flat.kinds.len() < fixed || (rest.is_none() && flat.kinds.len() > fixed) {
        return Ok(false);
    }
    for (part, kind) in parts[..fixed].iter().zip(&flat.kinds) {
        if !may_be(part, kind) || !compare(matcher, part, kind, found)? {
            return Ok(false);
        }
    }
    if let Some(which) = rest {
        found.bodies[which] = Some((flat, fixed));
    }
    Ok(true)
}

/// Whether a node of the right kind is consistent with the values found before, and adds those in it.
fn compare<'a>(matcher: &Matcher<'a>, part: &Part, kind: &'a Kind, found: &mut Found<'a>) -> Match<bool> {
    Ok(match (part, kind) {
        (Part::Input(_, which), Kind::Plain(_, given)) => {
            *found.inputs[*which].get_or_insert(*given as u32) == *given as u32
        }
        (Part::Parse(read), Kind::Read(given)) => {
            *found.inputs[read.input as usize].get_or_insert(given.input) == given.input
        }
        (Part::Variable(_, which), Kind::Plain(_, given)) => {
            *found.variables[*which].get_or_insert(*given) == *given
        }
        (Part::Output(_, which), Kind::Plain(_, given)) => {
            found.outputs[*which] = *given;
            true
        }
        (Part::Number(which), Kind::Plain(_, given)) => {
            found.numbers[*which] = *given;
            true
        }
        (Part::Compare, Kind::Plain(op, _)) => {
            found.compare = Some(*op);
            true
        }
        (Part::Read(which), Kind::Read(given)) => {
            found.reads[*which] = Some(*given);
            true
        }
        (Part::If(parts), Kind::If(body)) | (Part::Do(parts), Kind::Do { body, .. }) => {
            whole(matcher, parts, body, found)?
        }
        (Part::IfElse(parts, others), Kind::IfElse(body, other)) => {
            whole(matcher, parts, body, found)? && whole(matcher, others, other, found)?
        }
        (Part::While(tests, parts), Kind::While(test, body)) => {
            whole(matcher, tests, test, found)? && whole(matcher, parts, body, found)?
        }
        (Part::Case, Kind::CaseTable { consequents, .. }) => {
            found.arms = consequents;
            true
        }
        _ => true,
    })
}
