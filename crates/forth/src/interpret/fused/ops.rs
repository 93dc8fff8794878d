//! The instructions of a native loop for a recognised body: flat, with columns by number.

use super::steps::{Count, Leaf, Nest, Start, Step};
use crate::DType;
use crate::isa::Read;

/// A column of the body, by its place among those.
pub(super) type C = u16;
/// Jump offset, relative to the instruction after the jump.
pub(super) type To = i32;

/// One instruction. A pass begins at the first and is complete at `Done`.
#[derive(Clone, Copy, Debug)]
pub(super) enum Op {
    Done,
    Jump {
        to: To,
    },

    /// One item whose bytes are copied, swapped or made a bool.
    Copy1 {
        to: C,
    },
    Copy2 {
        to: C,
    },
    Copy4 {
        to: C,
    },
    Copy8 {
        to: C,
    },
    Swap2 {
        to: C,
    },
    Swap4 {
        to: C,
    },
    Swap8 {
        to: C,
    },
    Bool {
        to: C,
    },
    /// One integer of variable length.
    ZigZag4 {
        to: C,
    },
    ZigZag8 {
        to: C,
    },
    VarInt4 {
        to: C,
    },
    VarInt8 {
        to: C,
    },
    /// One item of any parser.
    Item {
        to: C,
        read: u32,
    },
    Skip {
        bytes: u32,
    },
    /// A number of variable length, or a string, and a number of bytes behind it.
    SkipNumber {
        then: u32,
    },
    SkipText {
        then: u32,
    },
    /// A branch of two, 0 or 1: in the one with that byte something is skipped. Then a number of bytes.
    SkipOptionalNumber {
        there: u8,
        then: u32,
    },
    SkipOptionalText {
        there: u8,
        then: u32,
    },
    SkipOptionalBytes {
        there: u8,
        bytes: u32,
        then: u32,
    },
    /// The next instructions, of the number given, step over things of these [kinds](super::skip::RUNS), and
    /// go no farther than a number of bytes unless one of them is long: where as many are left, all is done
    /// at once.
    SkipRun {
        kinds: u8,
        ops: u8,
        most: u32,
    },
    /// Lists in blocks, of items of a fixed number of bytes.
    SkipBlocks {
        size: u32,
    },
    /// One more such block, and the loop over its items; to the end if it is the last. Blocks that say how
    /// long they are, are skipped.
    SkipBlock {
        end: To,
    },

    /// A fixed number of items, and a multiple of the count that was kept.
    Bulk {
        leaf: u32,
        items: u32,
    },
    BulkTimes {
        leaf: u32,
        items: u32,
    },
    /// Items up to the end of the entry, counted into the offsets.
    BulkToEnd {
        leaf: u32,
        variable: u16,
        offsets: C,
    },
    /// As many runs as are left up to the end of the entry.
    Rest {
        rest: u32,
    },

    /// A count, its offset and plain items.
    ZigZagList8 {
        offsets: C,
        items: C,
        shift: u8,
        ended: bool,
    },
    ZigZagList4 {
        offsets: C,
        items: C,
        shift: u8,
        ended: bool,
    },
    BigList8 {
        offsets: C,
        items: C,
        shift: u8,
    },
    BigList4 {
        offsets: C,
        items: C,
        shift: u8,
    },
    TextList8 {
        offsets: C,
        items: C,
    },
    TextList4 {
        offsets: C,
        items: C,
    },
    /// Any lists in lists: once, as often as was counted, or up to the end of the entry and counted into the
    /// offsets.
    Nest {
        nest: u32,
    },
    NestTimes {
        nest: u32,
    },
    NestToEnd {
        nest: u32,
        variable: u16,
        offsets: C,
    },

    /// A number of times for the next `Loop`, `NestTimes` or `BulkTimes`.
    Times {
        times: u32,
    },
    Count {
        count: u32,
    },
    /// To the end if that is none at all; `Next` goes back behind it.
    Loop {
        end: To,
    },
    Next {
        start: To,
    },
    /// The size of the next block, added to the sum that is kept, as a number of times; or to the end if it
    /// is the last. Above the sum is kept where the block before has to end, if it said so.
    Block {
        ends: bool,
        end: To,
    },
    /// The same and the loop over it.
    BlockLoop {
        ends: bool,
        end: To,
    },
    Zero,
    /// A sum, and no end of a block.
    Zeros,
    /// One more pass if the end of the entry is not reached.
    More {
        variable: u16,
        end: To,
    },
    /// Back to `More`, if the pass moved on.
    Again {
        to: To,
    },
    /// The number kept last, to offsets.
    Sum {
        offsets: C,
    },
    Sum8 {
        offsets: C,
    },
    Sum4 {
        offsets: C,
    },

    /// A number that decides, and is stored before.
    IfZigZag {
        otherwise: To,
    },
    /// And, if it is not zero, the length of a column of items of a number of bytes (as a power of two).
    IfZigZagLength8 {
        of: C,
        to: C,
        shift: u8,
        otherwise: To,
    },
    IfZigZagLength4 {
        of: C,
        to: C,
        shift: u8,
        otherwise: To,
    },
    If {
        read: u32,
        store: C,
        otherwise: To,
    },
    Switch {
        switch: u32,
    },
    IfBefore {
        variable: u16,
        otherwise: To,
    },
    /// A number that is kept; to the end if none of the bits are set.
    Mask {
        read: u32,
        mask: i32,
        end: To,
    },
    MaskEnd {
        to: C,
    },

    Length {
        of: C,
        to: C,
    },
    Constant {
        to: C,
        add: bool,
        value: i32,
    },
    Constant8 {
        to: C,
        value: i32,
    },
    Constant4 {
        to: C,
        value: i32,
    },
    Number {
        to: C,
        add: bool,
        read: u32,
    },

    Start(Start),
    Stop {
        input: u32,
        variable: u32,
    },
    ByteCount {
        bias: i32,
        variable: u32,
    },
    Version {
        low: u16,
        high: u16,
    },
    CheckEnd {
        variable: u32,
    },
    Frame {
        bias: i32,
    },
    FrameEnd,
}

/// No column.
pub(super) const NONE: C = C::MAX;

/// An output as a column.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column {
    pub(super) output: usize,
    pub(super) dtype: DType,
    /// The item size is two to this power.
    pub(super) shift: u32,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Counted {
    pub(super) count: Count,
    pub(super) offsets: C,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Rest {
    pub(super) variable: usize,
    pub(super) bytes: u64,
    pub(super) offsets: C,
    pub(super) items: usize,
    pub(super) leaf: Leaf,
}

#[derive(Clone, Debug)]
pub(super) struct Switch {
    pub(super) read: Read,
    pub(super) store: C,
    /// From the first instruction on.
    pub(super) arms: Vec<u32>,
}

/// The instructions of a body.
#[derive(Debug, Default)]
pub(crate) struct Ops {
    pub(super) code: Vec<Op>,
    pub(super) columns: Vec<Column>,
    pub(super) reads: Vec<Read>,
    pub(super) leaves: Vec<Leaf>,
    /// With the columns they write to.
    pub(super) nests: Vec<(Nest, Vec<C>)>,
    pub(super) counts: Vec<Counted>,
    pub(super) rests: Vec<Rest>,
    pub(super) switches: Vec<Switch>,
    /// Numbers that are kept at once.
    pub(super) depth: usize,
    /// Alternatives that are seldom wanted, to be put behind everything else: the branch, where to go on,
    /// steps, numbers kept.
    pub(super) later: Vec<(usize, usize, Vec<Step>, usize)>,
}

const _: () = assert!(size_of::<Op>() <= 16, "four to a cache line");
