//! The flat register IR that tiers 1 and 2 run: basic blocks, registers instead of a stack, and a *point*
//! wherever the fast path may have to give up.
//!
//! # State
//!
//! The canonical state is [`State`](crate::state::State): stack, variables, input positions, outputs, frames,
//! `do` loops, `pc` and `end`. Variables, positions and outputs are always canonical (a tier that caches one
//! writes it back before other code can read it). The data stack, the frames and the loops are not: while a
//! function runs, the part above its *base* is in registers and in the scope of the instruction. The base is
//! three numbers: heights of stack, frames and loops below everything that the function owns.
//!
//! # The law
//!
//! An instruction with a [`PointId`] either has the whole effect of the word, or none. If it cannot complete
//! (an error, a limit, memory, a rare case), the canonical state *before* the word is written ([`Point`]) and
//! tier 0 executes the word. So errors, their location and the state after them are those of tier 0.
//! Continuing natively afterwards means entering at an [`Entry`] whose `pc`, frames and loops match and whose
//! slots the stack has. Nothing else has to be compared: code is relative to the base, and the base follows
//! from the height of the stack.
//!
//! # Arithmetic
//!
//! Registers have 64 bits. In [`Code`] for 32-bit machines, registers that hold stack items are sign-extended
//! 32-bit numbers, and every instruction that produces a stack item wraps it: [`Inst::Move`] (used for `i`
//! then), `Unary`, `Binary`, `Divide`, `Fetch`, `Increment`, `Length`, `Position`, `ReadStack`, `LengthOf`.
//! [`Inst::Advance`] never wraps, and indices and limits of loops are compared in 64 bits.

use crate::isa::Read;
use crate::state::{FrameKind, Height};

/// A register of the function. Parameters are passed in the first ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Reg(pub(crate) u32);

/// An operand of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operand {
    Reg(Reg),
    /// A constant, already wrapped to the width.
    Const(i64),
}

/// A block of the same function; calls begin at block 0.
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

/// The kind of machine that code is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Variant {
    /// 32 or 64.
    pub(crate) bits: u32,
    /// Whether loops and recursive calls poll the interrupt flag.
    pub(crate) polled: bool,
}

impl Variant {
    /// Number of variants.
    pub(crate) const ALL: usize = 4;

    /// Returns the variant for machines that cannot be interrupted.
    pub(crate) const fn of(bits: u32) -> Self {
        Self { bits, polled: false }
    }

    /// Returns an index below [`Self::ALL`].
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
    /// Sorted by `pc` of their points.
    pub(crate) entries: Vec<Entry>,
}

/// The part of the program that a function was lowered from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The main program; its base frame is the host's.
    Main,
    /// A user word, by number; its base frame is the return to its caller, which may be the host.
    Word(u32),
    /// A loop in code that has no static stack effect, by the segment of its (first) body. It is only entered
    /// from tier 0, and ends in [`End::Leave`] after the loop.
    Loop(u32),
}

/// A piece of code with a static stack effect.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) origin: Origin,
    /// Number of stack items that it may consume. They are in the first registers when block 0 begins.
    pub(crate) params: u32,
    /// Number of stack items above the base when it returns; meaningless if it never does.
    pub(crate) results: u32,
    /// Number of registers used.
    pub(crate) registers: u32,
    pub(crate) blocks: Vec<Block>,
    /// Maximum height of stack, frames and loops above the base, at any place and inside of native loops, but
    /// without callees. Its callers check that this much is left below the limits.
    pub(crate) height: Height,
    /// Whether it may be active more than once at a time.
    pub(crate) recursive: bool,
}

/// Instructions that run one after the other.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) code: Vec<Inst>,
    pub(crate) end: End,
    /// Number of `do` and `begin` loops of the function around this block; only a hint.
    pub(crate) depth: u32,
}

/// An operation with one argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnaryOp {
    Negate,
    Abs,
    Invert,
    /// -1 if zero, else 0.
    EqZero,
}

/// An operation with two arguments, `a` below `b` on the stack. Comparisons yield -1 or 0.
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
    /// A copy, wrapped to the width. Moves that belong together are in an order in which no source is
    /// overwritten early.
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
    /// Floor division; either result may be unused. Gives up if `b` is zero. MIN / -1 is MIN, remainder 0.
    Divide {
        quotient: Option<Reg>,
        rest: Option<Reg>,
        a: Operand,
        b: Operand,
        point: PointId,
    },
    /// Adds to the index of a loop; 64 bits, wrapping, in either width.
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

    /// Length of an input in bytes.
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
    /// Gives up if the byte is outside of the input.
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
    /// `enum`, or `enumonly` if `only` is set, which gives up if nothing matches. Strings are given by index.
    Enum {
        to: Reg,
        input: u32,
        first: u32,
        end: u32,
        only: bool,
        point: PointId,
    },
    /// Gives up if fewer bytes are left. The instructions that follow for the same word then cannot fail.
    Require {
        input: u32,
        bytes: u32,
        point: PointId,
    },

    /// Reads one item onto the stack. `read.output` is None; `repeated` is ignored.
    ReadStack {
        to: Reg,
        read: Read,
        point: PointId,
    },
    /// Skips a number of variable length; the register may be written.
    Pass {
        to: Reg,
        read: Read,
        point: PointId,
    },
    /// Reads one item into `read.output`; never `quotedstr`.
    ReadItem {
        read: Read,
        point: PointId,
    },
    /// Reads several items into `read.output`; a count of 0 or less reads nothing. Never `quotedstr`.
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
    /// Appends the last item a number of times; gives up if the output is empty, whatever the count.
    Repeat {
        output: u32,
        times: Operand,
        point: PointId,
    },
    LengthOf {
        to: Reg,
        output: u32,
    },
    /// Removes the last `by` items; gives up if there are fewer, or `by` is negative.
    Rewind {
        output: u32,
        by: Operand,
        point: PointId,
    },

    /// Gives up if an interrupt is requested. Emitted at the beginning of each pass of a loop, and before
    /// recursive calls.
    Poll {
        point: PointId,
    },

    /// Runs as many passes of a `do … loop` as the native loop can, advancing the index, as `run_plan` does.
    /// It reads and writes variables, positions and outputs, and no other register. Has to be skipped when
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
        /// Registers of the results, bottom first; as many as the function has.
        results: Vec<Reg>,
        /// State before the call.
        point: PointId,
        /// State while the callee runs: the stack without the arguments, and a scope whose last frame is the
        /// callee's base.
        during: PointId,
    },
}

/// The end of a block.
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
    /// Jumps to the block whose index the selector is, else to `otherwise`.
    Switch {
        selector: Operand,
        targets: Vec<BlockId>,
        otherwise: BlockId,
    },
    /// The end of the main program or of a word. The results are the stack of the point. A native caller
    /// takes them; if the caller is tier 0, the canonical state of the point is written and tier 0 leaves the
    /// segment.
    Return(PointId),
    /// Tier 0 continues here: the point is written. It is the place of a word that always runs in tier 0
    /// (printing, for example), or the end of a function of origin `Loop`.
    Leave(PointId),
    /// `pause`: the point is the state *after* the word, in which the machine is paused, as the host sees it.
    /// If no run is left to resume (`pc == end` and only the host's frame), the run is done instead.
    Pause(PointId),
}

/// A canonical state in terms of registers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Point {
    /// Position of the next instruction of the bytecode; may be the end of the segment.
    pub(crate) pc: u32,
    pub(crate) scope: ScopeId,
    /// The stack above the base, bottom first.
    pub(crate) stack: Box<[Operand]>,
}

/// Frames and loops above the base, common to all instructions of a body.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scope {
    /// End of the running segment.
    pub(crate) end: u32,
    /// Frames, outermost first. Empty directly in the main program or in the word that the function is.
    pub(crate) frames: Vec<FrameShape>,
    /// Loops, outermost first.
    pub(crate) loops: Vec<LoopShape>,
}

/// A frame above the base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FrameShape {
    pub(crate) kind: FrameKind,
    pub(crate) pc: u32,
    pub(crate) end: u32,
    /// Number of loops above the base that were open when it was entered.
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

/// A place where native code may be entered: all its slots are distinct registers, which are loaded from the
/// top of the stack, and so are those of the loops. No other register is live. The frame below the shapes is
/// the base; its `loops` must be the height of the base, and so must each shape's plus the base.
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

    /// Returns the scope of a point.
    pub(crate) fn scope_of(&self, id: PointId) -> &Scope {
        self.scope(self.point(id).scope)
    }
}
