//! The flat register IR that tiers 1 and 2 run: basic blocks, registers instead of a stack, and a *point*
//! wherever the fast path may have to give up.
//!
//! # State
//!
//! The canonical state is [`State`](crate::state::State): stack, variables, input positions, outputs, frames,
//! `do` loops, `pc` and `end`. Variables, positions and outputs are always canonical (a tier that caches one
//! writes it back before anybody else can look). The data stack, the frames and the loops are not: while a
//! function runs, what is above its *base* lives in registers and in the scope of the instruction. The base
//! is three numbers: heights of stack, frames and loops below everything the function owns.
//!
//! # The law
//!
//! An instruction with a [`PointId`] either does all of what the word does, or nothing. If it cannot (an
//! error, a limit, memory, a rare case), the canonical state *before* the word is written ([`Point`]) and
//! tier 0 executes the word. So errors, their place and the state they leave are tier 0's. Going on natively
//! afterwards means entering at an [`Entry`] whose `pc`, frames and loops fit and whose slots the stack has.
//! Nothing else has to be compared: code is relative to the base, and the base follows from the height of the
//! stack.
//!
//! # Arithmetic
//!
//! Registers have 64 bits. In [`Code`] for 32-bit machines, registers that hold stack items are sign-extended
//! 32-bit numbers, and every instruction that makes a stack item wraps it: [`Inst::Move`] (used for `i`
//! then), `Unary`, `Binary`, `Divide`, `Fetch`, `Increment`, `Length`, `Position`, `ReadStack`, `LengthOf`.
//! [`Inst::Advance`] never wraps, and indices and limits of loops are compared in 64 bits.

use crate::isa::Read;
use crate::state::{FrameKind, Height};

/// A register of the function. Parameters arrive in the first ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Reg(pub(crate) u32);

/// An operand of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operand {
    Reg(Reg),
    /// Already fits the width.
    Const(i64),
}

/// A block of the same function; 0 is where a call begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct BlockId(pub(crate) u32);

/// Index into [`Code::functions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FunctionId(pub(crate) u32);

/// Index into [`Code::points`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PointId(pub(crate) u32);

/// Index into [`Code::scopes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ScopeId(pub(crate) u32);

/// Which machines code is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Variant {
    /// 32 or 64.
    pub(crate) bits: u32,
    /// Whether loops and recursive calls look whether the run is to be interrupted.
    pub(crate) polled: bool,
}

impl Variant {
    /// How many there are.
    pub(crate) const ALL: usize = 4;

    /// For machines that cannot be interrupted.
    pub(crate) const fn of(bits: u32) -> Self {
        Self { bits, polled: false }
    }

    /// A number of its own.
    #[inline]
    pub(crate) const fn number(self) -> usize {
        (self.bits == 64) as usize | (self.polled as usize) << 1
    }
}

/// The lowered form of a program, for one kind of machine.
#[derive(Debug, Default)]
pub(crate) struct Code {
    /// 32 or 64.
    pub(crate) bits: u32,
    /// See [`Variant::polled`].
    pub(crate) polled: bool,
    pub(crate) functions: Vec<Function>,
    pub(crate) scopes: Vec<Scope>,
    pub(crate) points: Vec<Point>,
    /// In order of `pc` of their points.
    pub(crate) entries: Vec<Entry>,
}

/// The part of the program that a function was made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The main program; its base frame is the host's.
    Main,
    /// A user word, by number; its base frame is the return to its caller, maybe the host.
    Word(u32),
    /// A loop in code that has no static stack effect, by the segment of its (first) body. It is only entered
    /// from tier 0, and ends in [`End::Leave`] after the loop.
    Loop(u32),
}

/// A piece of code with a static stack effect.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) origin: Origin,
    /// Stack items it may consume. They are in the first registers when block 0 begins.
    pub(crate) params: u32,
    /// Stack items there are above the base when it returns; meaningless if it never does.
    pub(crate) results: u32,
    /// Registers used.
    pub(crate) registers: u32,
    pub(crate) blocks: Vec<Block>,
    /// Greatest height of stack, frames and loops above the base, at any place and inside of native loops,
    /// but without callees. Its callers make sure that this much is left below the limits.
    pub(crate) height: Height,
    /// Whether it may be active more than once at a time.
    pub(crate) recursive: bool,
}

/// Instructions that run one after the other.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) code: Vec<Inst>,
    pub(crate) end: End,
    /// Number of `do` and `begin` loops of the function round this block. Hints only.
    pub(crate) depth: u32,
}

/// One argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnaryOp {
    Negate,
    Abs,
    Invert,
    /// -1 if zero, else 0.
    EqZero,
}

/// Two arguments, `a` below `b` on the stack. Comparisons give -1 or 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BinaryOp {
    Add,
    Sub,
    Mul,
    Min,
    Max,
    And,
    Or,
    Xor,
    /// Counts are taken modulo the width.
    ShiftLeft,
    /// Arithmetic.
    ShiftRight,
    Compare(Relation),
}

/// A signed comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Relation {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

/// An instruction. Inputs, outputs and variables are numbers in the order of their declarations.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Inst {
    /// A copy, wrapped to the width. Moves that belong together are in an order that is safe one by one.
    Move {
        to: Reg,
        from: Operand,
    },
    Unary {
        op: UnaryOp,
        to: Reg,
        a: Operand,
    },
    Binary {
        op: BinaryOp,
        to: Reg,
        a: Operand,
        b: Operand,
    },
    /// Floor division; either result may be unwanted. Gives up if `b` is zero. MIN / -1 is MIN, remainder 0.
    Divide {
        quotient: Option<Reg>,
        rest: Option<Reg>,
        a: Operand,
        b: Operand,
        point: PointId,
    },
    /// The index of a loop goes up; 64 bits, wrapping, in either width.
    Advance {
        index: Reg,
        by: Operand,
    },

    Fetch {
        to: Reg,
        variable: u32,
    },
    Store {
        variable: u32,
        from: Operand,
    },
    Increment {
        variable: u32,
        by: Operand,
    },

    /// Bytes of an input.
    Length {
        to: Reg,
        input: u32,
    },
    Position {
        to: Reg,
        input: u32,
    },
    /// -1 at the end of the input, else 0.
    AtEnd {
        to: Reg,
        input: u32,
    },
    /// Gives up if there is no such byte.
    Peek {
        to: Reg,
        input: u32,
        distance: Operand,
        point: PointId,
    },
    /// Gives up outside of the input.
    Seek {
        input: u32,
        target: Operand,
        point: PointId,
    },
    /// Gives up outside of the input.
    Skip {
        input: u32,
        by: Operand,
        point: PointId,
    },
    SkipSpace {
        input: u32,
    },
    /// `enum` and (`only`) `enumonly`, which gives up if nothing matches. Strings by number.
    Enum {
        to: Reg,
        input: u32,
        first: u32,
        end: u32,
        only: bool,
        point: PointId,
    },
    /// Gives up if fewer bytes are left. What follows for the same word cannot fail then.
    Require {
        input: u32,
        bytes: u32,
        point: PointId,
    },

    /// One item onto the stack. `read.output` is None; `repeated` is to be ignored.
    ReadStack {
        to: Reg,
        read: Read,
        point: PointId,
    },
    /// A number of variable length to be skipped; the register may be written.
    Pass {
        to: Reg,
        read: Read,
        point: PointId,
    },
    /// One item into `read.output`; never `quotedstr`.
    ReadItem {
        read: Read,
        point: PointId,
    },
    /// Many items into `read.output`; a count that is not positive reads nothing. Never `quotedstr`.
    ReadMany {
        read: Read,
        count: Operand,
        point: PointId,
    },

    Write {
        output: u32,
        from: Operand,
        point: PointId,
    },
    /// Appends the last item plus `from`, both in the output's type.
    WriteAdd {
        output: u32,
        from: Operand,
        point: PointId,
    },
    /// Appends the last item a number of times; gives up if there is none, whatever the count.
    Repeat {
        output: u32,
        times: Operand,
        point: PointId,
    },
    LengthOf {
        to: Reg,
        output: u32,
    },
    /// Gives up if there are fewer items, or `by` is negative.
    Rewind {
        output: u32,
        by: Operand,
        point: PointId,
    },

    /// Gives up if the run is to be interrupted. At the beginning of each pass of a loop, and before
    /// recursive calls.
    Poll {
        point: PointId,
    },

    /// As many passes of a `do … loop` as the recognised idiom can run, advancing the index: what `run_plan`
    /// does. It reads and writes variables, positions and outputs, and no other register. To be skipped when
    /// `index >= stop`.
    Native {
        body: u32,
        index: Reg,
        stop: Reg,
    },

    /// Calls a function. Gives up if the callee's height does not fit below the limits at its base, which is
    /// the caller's base plus the height of `during`.
    Call {
        function: FunctionId,
        args: Vec<Operand>,
        /// Where the results go, bottom first; as many as the function has.
        results: Vec<Reg>,
        /// Before the call.
        point: PointId,
        /// While the callee runs: the stack without the arguments, and a scope whose last frame is the
        /// callee's base.
        during: PointId,
    },
}

/// How a block ends.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum End {
    Jump(BlockId),
    Branch {
        relation: Relation,
        a: Operand,
        b: Operand,
        then: BlockId,
        otherwise: BlockId,
    },
    /// The block whose number the selector is, else `otherwise`.
    Switch {
        selector: Operand,
        targets: Vec<BlockId>,
        otherwise: BlockId,
    },
    /// The end of the main program or of a word. The results are the stack of the point. A native caller
    /// takes them; if tier 0 did, the canonical state of the point is written and tier 0 leaves the segment.
    Return(PointId),
    /// Tier 0 goes on here: the point is written. It is the place of a word that always runs there (printing,
    /// say), or where a function of origin `Loop` ends.
    Leave(PointId),
    /// `pause`: the point is the state *after* the word, in which the machine waits; so the host sees it as
    /// paused. If there is nothing left to resume (`pc == end` and only the host's frame), the run is done
    /// instead.
    Pause(PointId),
}

/// A canonical state in terms of registers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Point {
    /// The next instruction of the bytecode; may be the end of the segment.
    pub(crate) pc: u32,
    pub(crate) scope: ScopeId,
    /// The stack above the base, bottom first.
    pub(crate) stack: Box<[Operand]>,
}

/// Frames and loops above the base, the same for all instructions of a body.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scope {
    /// End of the segment that runs.
    pub(crate) end: u32,
    /// Outermost first. Empty directly in the main program or in the word the function is.
    pub(crate) frames: Vec<FrameShape>,
    /// Outermost first.
    pub(crate) loops: Vec<LoopShape>,
}

/// A frame above the base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FrameShape {
    pub(crate) kind: FrameKind,
    pub(crate) pc: u32,
    pub(crate) end: u32,
    /// Loops open when it was entered, above the base.
    pub(crate) loops: u32,
}

/// A `do` loop above the base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LoopShape {
    pub(crate) index: Reg,
    pub(crate) stop: Reg,
    /// Segment of the body.
    pub(crate) body: u32,
}

/// A place where native code may begin: all its slots are distinct registers, to be loaded from the top of
/// the stack, and so are the loops'. No other register is live. The frame below the shapes is the base; its
/// `loops` must be the height of the base, and so must each shape's plus the base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) function: FunctionId,
    pub(crate) block: BlockId,
    pub(crate) point: PointId,
}

impl Code {
    pub(crate) fn point(&self, id: PointId) -> &Point {
        &self.points[id.0 as usize]
    }

    pub(crate) fn scope(&self, id: ScopeId) -> &Scope {
        &self.scopes[id.0 as usize]
    }

    pub(crate) fn function(&self, id: FunctionId) -> &Function {
        &self.functions[id.0 as usize]
    }

    /// The scope a point stands in.
    pub(crate) fn scope_of(&self, id: PointId) -> &Scope {
        self.scope(self.point(id).scope)
    }
}
