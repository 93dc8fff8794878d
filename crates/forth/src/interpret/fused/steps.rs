//! The effect of a recognised loop body: what tells whether it is one native loop, and what `explain` says.

use crate::DType;
use crate::isa::Read;

/// The parts before and after the lists of an entry, in this order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Header {
    /// `starts I-> stack data seek`, or some bytes farther
    pub(crate) start: Option<Start>,
    /// `stops I-> stack stop !`
    pub(crate) stop: Option<(usize, usize)>,
    /// `data !I-> stack BIAS - data pos + stop @ <> if … halt then`: the bias.
    pub(crate) byte_count: Option<i64>,
    /// `data !H-> stack … if … halt then`: versions that pass.
    pub(crate) version: Option<(u16, u16)>,
    /// `N data skip`
    pub(crate) skip: usize,
    /// `data pos stop @ <> if … halt then`
    pub(crate) check_end: bool,
}

/// Where an entry starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Start {
    /// The input of the offsets.
    pub(crate) input: u32,
    /// Bytes behind the offset.
    pub(crate) ahead: u16,
    /// Whether offsets are signed, so that large ones are none.
    pub(crate) signed: bool,
}

/// One thing a body does.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// Go to the offset read from another input.
    Start(Start),
    /// Read the end of the entry from another input into a variable.
    Stop(usize, usize),
    /// Compare the byte count with the end of the entry.
    ByteCount { bias: i64, variable: usize },
    /// Two bytes, big-endian, that must lie in a range.
    Version(u16, u16),
    /// The position must be the end of the entry.
    CheckEnd(usize),
    /// A byte count, a body, and the check that the body ended where the count said.
    Framed(Vec<Self>),
    /// Move forward.
    Skip(usize),
    /// Move behind something whose length the data say, and a number of bytes farther.
    SkipSized { what: Sized, then: usize },
    /// Something to move behind, if a number says that it is there. Then a number of bytes farther.
    SkipOptional { what: Sized, then: usize },
    /// Move behind a block-terminated list: of items of a fixed number of bytes, or of those that the body
    /// moves behind.
    SkipBlocks { size: usize, body: Vec<Self> },
    /// Adjacent items of fixed size, copied or swapped.
    Fields { bytes: usize, fields: usize },
    /// One item that is converted or has a variable length.
    Item(Read),
    /// A fixed number of items.
    Bulk(usize),
    /// Lists of lists of items.
    Nest(Nest),
    /// A counted list with any body.
    List { count: Count, offsets: Option<usize>, body: Vec<Self> },
    /// The body, a number of times.
    Repeat(usize, Vec<Self>),
    /// A block-terminated list with any body.
    Blocks(Vec<Self>),
    /// A number decides what follows; it may be stored before.
    Branch { then: Vec<Self>, otherwise: Vec<Self> },
    /// A number selects what follows.
    Switch(Vec<Vec<Self>>),
    /// The first if the position is before the end of the entry, else the second.
    IfAny { then: Vec<Self>, otherwise: Vec<Self> },
    /// The body until the position reaches the end of the entry, counted into the offsets.
    ToEnd { variable: usize, offsets: usize, body: Vec<Self> },
    /// As many runs of items as whole sizes of bytes are left up to the end of the entry.
    Rest(i64),
    /// A number to be stored, of which some bits decide whether something stands between it and what follows.
    Masked { read: Read, mask: i64, then: Vec<Self>, output: usize },
    /// Append the length of one output to another.
    Length,
    /// Append (or add) a constant.
    Constant(i64),
    /// Append (or add) a number that passes through the stack.
    Through(Read),
}

/// The value that is moved behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sized {
    /// A number of variable length.
    Number,
    /// Its length as a zigzag number, and a number of bytes.
    Text,
    /// So many bytes.
    Bytes(usize),
}

/// How the number of items of a list is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Count {
    Big32,
    Little32,
    ZigZag,
    /// One byte, or 255 and four bytes big-endian.
    Text,
    /// Anything else of fixed size.
    Other(Read),
}

/// How items get from the input to the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LeafKind {
    Copy,
    Swap2,
    Swap4,
    Swap8,
    Bool,
}

/// Items of one dtype in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Leaf {
    pub(crate) kind: LeafKind,
    /// The item size is two to this power.
    pub(crate) shift: u32,
    pub(crate) output: usize,
}

/// How lists of a nest begin and end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A count, then that number of items.
    Counted,
    /// A count, its items, and a byte that is ignored.
    Ended,
    /// Blocks of a count and its items, of which the last is empty; whether those that say how long they are
    /// have to be.
    Blocks { ends: bool },
}

/// Lists nested in one another, directly, with items innermost: one to three levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Nest {
    pub(crate) depth: usize,
    /// Offsets, outermost first; only the first `depth` count.
    pub(crate) offsets: [usize; 3],
    /// How counts are written at all levels but the innermost.
    pub(crate) count: Count,
    /// And there.
    pub(crate) inner: Count,
    pub(crate) form: Form,
    /// Whether offsets are int64, else int32.
    pub(crate) wide: bool,
    pub(crate) leaf: Leaf,
}

impl Start {
    /// The position for an offset, if there is one within a number of bytes.
    #[inline(always)]
    pub(super) fn position(self, offset: u32, bytes: usize) -> Option<usize> {
        if self.signed && offset > i32::MAX as u32 {
            return None;
        }
        let at = offset as usize + self.ahead as usize;
        (at <= bytes).then_some(at)
    }
}

impl Leaf {
    /// A parser whose bytes become the output's items without a conversion.
    pub(crate) fn new(read: Read, output: usize, dtype: DType) -> Option<Self> {
        let size = read.parser.size();
        let kind = match (crate::interpret::natural(read.parser), size, read.big) {
            (None, ..) if read.parser == crate::isa::Parser::Bool && dtype == DType::Bool => LeafKind::Bool,
            (natural, ..) if natural != Some(dtype) => return None,
            (_, 2, true) => LeafKind::Swap2,
            (_, 4, true) => LeafKind::Swap4,
            (_, 8, true) => LeafKind::Swap8,
            _ => LeafKind::Copy,
        };
        Some(Self { kind, shift: size.trailing_zeros(), output })
    }
}
