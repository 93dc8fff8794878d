//! The structured program: control flow as written, names resolved to slots.
//!
//! Every body stores the number of its segment in the external bytecode, which identifies a loop in all
//! tiers.

use crate::DType;
use crate::isa::{Op, Read};

/// A parsed program.
#[derive(Debug, Default)]
pub(crate) struct Ir {
    pub(crate) main: Body,
    pub(crate) words: Vec<Word>,
    pub(crate) variables: Vec<String>,
    pub(crate) inputs: Vec<String>,
    pub(crate) outputs: Vec<OutputDecl>,
    pub(crate) strings: Vec<String>,
    /// Number of segments, including the main program.
    pub(crate) segments: u32,
    /// Byte offsets of the literals that exceed 32 bits.
    pub(crate) cut_literals: Vec<u32>,
}

/// A declared output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputDecl {
    /// Name of the output.
    pub name: String,
    /// Item type of the output.
    pub dtype: DType,
}

/// A user-defined word.
#[derive(Debug)]
pub(crate) struct Word {
    pub(crate) name: String,
    pub(crate) body: Body,
}

/// A sequence of instructions that is a segment of its own.
#[derive(Debug, Default)]
pub(crate) struct Body {
    pub(crate) segment: u32,
    pub(crate) nodes: Vec<Node>,
}

/// One instruction or structure, and the byte offset of its first token.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) at: u32,
    pub(crate) kind: Kind,
}

#[derive(Debug)]
pub(crate) enum Kind {
    /// An instruction with at most one operand, which is not a segment.
    Plain(Op, i32),
    /// `enum` and `enumonly`: input, first string, end string.
    Enum(Op, u32, u32, u32),
    Read(Read),
    /// A literal that needs 64 bits, with [`LiteralWidth::Bits64`](crate::LiteralWidth) only.
    Wide(i64),
    /// A call of a user word.
    Call(u32),
    /// A body that is entered unconditionally, which only the general form of `case` compiles to.
    Nest(Body),
    Exit,
    If(Body),
    IfElse(Body, Body),
    /// `case` over 0, 1, 2, …; the predicates are kept because they are segments.
    CaseTable {
        consequents: Vec<Body>,
        default: Body,
        predicates: Vec<Body>,
    },
    Do {
        body: Body,
        step: bool,
    },
    Again(Body),
    Until(Body),
    While(Body, Body),
}

impl Node {
    pub(crate) fn new(at: u32, kind: Kind) -> Self {
        Self { at, kind }
    }

    /// Returns the bodies directly inside the node.
    pub(crate) fn bodies(&self) -> Vec<&Body> {
        match &self.kind {
            Kind::Nest(a) | Kind::If(a) | Kind::Again(a) | Kind::Until(a) | Kind::Do { body: a, .. } => {
                vec![a]
            }
            Kind::IfElse(a, b) | Kind::While(a, b) => vec![a, b],
            Kind::CaseTable { consequents, default, predicates } => {
                consequents.iter().chain([default]).chain(predicates).collect()
            }
            Kind::Plain(..) | Kind::Wide(_) | Kind::Enum(..) | Kind::Read(_) | Kind::Call(_) | Kind::Exit => {
                Vec::new()
            }
        }
    }
}
