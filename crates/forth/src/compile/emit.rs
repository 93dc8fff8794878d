//! Structured IR → external bytecode, segment by segment in Awkward Array's layout.

use super::ir::{Body, Ir, Kind, Node};
use crate::isa::{FIRST_CALL, Op, WIDE_LITERAL};

/// The external bytecode and what relates it to the source.
#[derive(Debug, Default)]
pub(crate) struct Bytecode {
    pub(crate) code: Vec<i32>,
    /// Start of every segment, followed by the end of the last one.
    pub(crate) offsets: Vec<i64>,
    /// Byte offset in the source of the word that each number of `code` comes from.
    pub(crate) places: Vec<u32>,
    /// User word that each segment belongs to; None in the main program.
    pub(crate) owners: Vec<Option<u32>>,
}

pub(crate) fn emit(program: &Ir) -> Bytecode {
    let mut emitter = Emitter {
        segments: vec![Segment::default(); program.segments as usize],
        calls: program.words.iter().map(|word| call(&word.body)).collect(),
        owner: None,
    };
    emitter.body(&program.main, 0);
    for (index, word) in program.words.iter().enumerate() {
        emitter.owner = Some(index as u32);
        emitter.body(&word.body, 0);
    }
    let mut bytecode = Bytecode { offsets: vec![0], ..Bytecode::default() };
    for segment in emitter.segments {
        bytecode.code.extend(segment.code);
        bytecode.places.extend(segment.places);
        bytecode.offsets.push(bytecode.code.len() as i64);
        bytecode.owners.push(segment.owner);
    }
    bytecode
}

#[derive(Clone, Default)]
struct Segment {
    code: Vec<i32>,
    places: Vec<u32>,
    owner: Option<u32>,
}

struct Emitter {
    segments: Vec<Segment>,
    calls: Vec<i32>,
    owner: Option<u32>,
}

fn call(body: &Body) -> i32 {
    FIRST_CALL + body.segment as i32
}

impl Emitter {
    /// Emits a body and those inside it. `depth` is the number of structures around it, which `exit` has to
    /// leave.
    fn body(&mut self, body: &Body, depth: i32) {
        let mut segment = Segment { owner: self.owner, ..Segment::default() };
        for node in &body.nodes {
            self.node(node, &mut segment.code, depth);
            segment.places.resize(segment.code.len(), node.at);
            for inner in node.bodies() {
                self.body(inner, depth + 1);
            }
        }
        self.segments[body.segment as usize] = segment;
    }

    fn node(&self, node: &Node, code: &mut Vec<i32>, depth: i32) {
        match &node.kind {
            Kind::Plain(op, operand) => {
                code.push(*op as i32);
                if op.operands() == 1 {
                    code.push(*operand);
                }
            }
            Kind::Enum(op, input, first, end) => {
                code.extend([*op as i32, *input as i32, *first as i32, *end as i32]);
            }
            Kind::Read(read) => read.encode(code),
            Kind::Wide(value) => code.extend([WIDE_LITERAL, *value as i32, (*value >> 32) as i32]),
            Kind::Call(word) => code.push(self.calls[*word as usize]),
            Kind::Nest(body) => code.push(call(body)),
            Kind::Exit => code.extend([Op::Exit as i32, depth]),
            Kind::If(then) => code.extend([Op::If as i32, call(then)]),
            Kind::IfElse(then, otherwise) => code.extend([Op::IfElse as i32, call(then), call(otherwise)]),
            Kind::CaseTable { consequents, default, .. } => {
                let first = call(default) - consequents.len() as i32;
                code.extend([Op::CaseTable as i32, first, call(default)]);
            }
            Kind::Do { body, step } => {
                let op = if *step { Op::DoStep } else { Op::Do };
                code.extend([op as i32, call(body)]);
            }
            Kind::Again(body) => code.extend([call(body), Op::Again as i32]),
            Kind::Until(body) => code.extend([call(body), Op::Until as i32]),
            Kind::While(test, body) => code.extend([call(test), Op::While as i32, call(body)]),
        }
    }
}
