//! Steps of a recognised loop body, which decide whether it is one native loop, and which `explain` shows.

use crate::DType;
use crate::isa::Read;

/// The parts before and after the lists of an entry, in this order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Header {
    /// `starts I-> stack data seek`, or a number of bytes further.
    pub(crate) start: Option<Start>,
    /// `stops I-> stack stop !`
    pub(crate) stop: Option<(usize, usize)>,
    /// `data !I-> stack BIAS - data pos + stop @ <> if … halt then`: the bias.
    pub(crate) byte_count: Option<i64>,
    /// `data !H-> stack … if … halt then`: range of valid versions.
    pub(crate) version: Option<(u16, u16)>,
    /// `N data skip`
    pub(crate) skip: usize,
    /// `data pos stop @ <> if … halt then`
    pub(crate) check_end: bool,
}

/// Start of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Start {
    /// The input of the offsets.
    pub(crate) input: u32,
    /// Number of bytes to add to the offset.
    pub(crate) ahead: u16,
    /// Whether offsets are signed, so that large ones are invalid.
    pub(crate) signed: bool,
}

/// A step of a body.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// Seek to an offset that is read from another input.
    Start(Start),
    /// Read the end of the entry from another input into a variable.
    Stop(usize, usize),
    /// Compare the byte count with the end of the entry.
    ByteCount { bias: i64, variable: usize },
    /// Two big-endian bytes that must be in a range.
    Version(u16, u16),
    /// The position must be the end of the entry.
    CheckEnd(usize),
    /// A byte count, a body, and the check that the body ended at the end counted.
    Framed(Vec<Self>),
    /// Skip a number of bytes.
    Skip(usize),
    /// Skip a value whose length is in the data, and a number of bytes.
    SkipSized { what: Sized, then: usize },
    /// Skip a value if a number says that it is present, then a number of bytes.
    SkipOptional { what: Sized, then: usize },
    /// Skip a block-terminated list: of items of a fixed number of bytes, or of items that the body skips.
    SkipBlocks { size: usize, body: Vec<Self> },
    /// Adjacent items of fixed size, copied or swapped.
    Fields { bytes: usize, fields: usize },
    /// One item that is converted or has a variable length.
    Item(Read),
    /// A fixed number of items.
    Bulk(usize),
    /// Lists of lists of items.
    Nest(Nest),
    /// A counted list whose items are a body.
    List { count: Count, offsets: Option<usize>, body: Vec<Self> },
    /// The body, a number of times.
    Repeat(usize, Vec<Self>),
    /// A block-terminated list whose items are a body.
    Blocks(Vec<Self>),
    /// A number that selects one of two bodies; it may be stored before.
    Branch { then: Vec<Self>, otherwise: Vec<Self> },
    /// A number that selects one of several bodies.
    Switch(Vec<Vec<Self>>),
    /// The first body if the position is before the end of the entry, else the second.
    IfAny { then: Vec<Self>, otherwise: Vec<Self> },
    /// The body, repeated until the position reaches the end of the entry; the number of passes is added to
    /// the offsets.
    ToEnd { variable: usize, offsets: usize, body: Vec<Self> },
    /// As many runs of items as fit in the bytes up to the end of the entry.
    Rest(i64),
    /// A number that is stored; the body runs before that if some of its bits are set.
    Masked { read: Read, mask: i64, then: Vec<Self>, output: usize },
    /// Append the length of one output to another.
    Length,
    /// Append (or add) a constant.
    Constant(i64),
    /// Append (or add) a number that passes through the stack.
    Through(Read),
}

/// A skipped value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sized {
    /// A number of variable length.
    Number,
    /// A zigzag length and as many bytes.
    Text,
    /// A fixed number of bytes.
    Bytes(usize),
}

/// Encoding of the number of items of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Count {
    Big32,
    Little32,
    ZigZag,
    /// One byte, or 255 and four bytes big-endian.
    Text,
    /// Another number of fixed size.
    Other(Read),
}

/// Conversion of items from input to output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LeafKind {
    Copy,
    Swap2,
    Swap4,
    Swap8,
    Bool,
}

/// Consecutive items of one dtype.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Leaf {
    pub(crate) kind: LeafKind,
    /// The item size is two to this power.
    pub(crate) shift: u32,
    pub(crate) output: usize,
}

/// Framing of the lists of a nest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A count, then that number of items.
    Counted,
    /// A count, its items, and a byte that is ignored.
    Ended,
    /// Blocks of a count and its items, the last of which is empty; `ends`: whether the sizes of blocks that
    /// have one are checked.
    Blocks { ends: bool },
}

/// Lists directly nested in one another, with items innermost: one to three levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Nest {
    pub(crate) depth: usize,
    /// Outputs of the offsets, outermost first; only the first `depth` are used.
    pub(crate) offsets: [usize; 3],
    /// Encoding of counts at all levels but the innermost.
    pub(crate) count: Count,
    /// Encoding of the innermost counts.
    pub(crate) inner: Count,
    pub(crate) form: Form,
    /// Whether offsets are int64, else int32.
    pub(crate) wide: bool,
    pub(crate) leaf: Leaf,
}

impl Start {
    /// Returns the position for an offset; None if it exceeds `bytes` or the offset is negative.
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
    /// Returns the leaf of a parser whose items have the output's dtype; None if they need another conversion
    /// than swapping bytes.
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
