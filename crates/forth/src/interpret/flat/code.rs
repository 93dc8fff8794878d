//! The code that tier 1 executes: instructions of sixteen bytes, encoded from the flat IR.

use crate::lower::ir::Relation;

/// A register of the window.
pub(in crate::interpret) type R = u16;
/// Index of an input, an output or a variable.
pub(in crate::interpret) type Slot = u16;
/// An instruction: its absolute index in tables; in jumps its offset from the one after the jump.
pub(in crate::interpret) type To = u32;

/// An instruction. Instructions that can give up have a point. Fused ones do not: if they cannot run,
/// execution continues with the instructions that they were fused from, which follow them.
#[derive(Clone, Copy, Debug)]
pub(in crate::interpret) enum Fast {
    Move {
        to: R,
        from: R,
    },
    Const {
        to: R,
        value: i64,
    },

    Negate {
        to: R,
        a: R,
    },
    Abs {
        to: R,
        a: R,
    },
    Invert {
        to: R,
        a: R,
    },
    EqZero {
        to: R,
        a: R,
    },

    Add {
        to: R,
        a: R,
        b: R,
    },
    AddConst {
        to: R,
        a: R,
        b: i64,
    },
    Sub {
        to: R,
        a: R,
        b: R,
    },
    Mul {
        to: R,
        a: R,
        b: R,
    },
    Min {
        to: R,
        a: R,
        b: R,
    },
    Max {
        to: R,
        a: R,
        b: R,
    },
    And {
        to: R,
        a: R,
        b: R,
    },
    AndConst {
        to: R,
        a: R,
        b: i64,
    },
    Or {
        to: R,
        a: R,
        b: R,
    },
    Xor {
        to: R,
        a: R,
        b: R,
    },
    ShiftLeft {
        to: R,
        a: R,
        b: R,
    },
    ShiftRight {
        to: R,
        a: R,
        b: R,
    },
    ShiftRightConst {
        to: R,
        a: R,
        b: u32,
    },
    Compare {
        relation: Relation,
        to: R,
        a: R,
        b: R,
    },
    Divide {
        quotient: R,
        rest: R,
        a: R,
        b: R,
        point: u32,
    },

    Advance {
        index: R,
        by: R,
    },
    /// Advances the index by one, and jumps if passes are left.
    Next {
        index: R,
        stop: R,
        to: To,
    },

    /// Begins a loop from 0, and jumps if it has no pass.
    Enter {
        index: R,
        stop: R,
        from: R,
        to: To,
    },
    Jump {
        to: To,
    },
    IfEq {
        a: R,
        b: R,
        to: To,
    },
    IfNe {
        a: R,
        b: R,
        to: To,
    },
    IfLt {
        a: R,
        b: R,
        to: To,
    },
    IfLe {
        a: R,
        b: R,
        to: To,
    },
    IfEqConst {
        a: R,
        to: To,
        b: i64,
    },
    IfNeConst {
        a: R,
        to: To,
        b: i64,
    },
    IfLtConst {
        a: R,
        to: To,
        b: i64,
    },
    IfLeConst {
        a: R,
        to: To,
        b: i64,
    },
    IfGtConst {
        a: R,
        to: To,
        b: i64,
    },
    IfGeConst {
        a: R,
        to: To,
        b: i64,
    },
    /// `data end`, and a jump at the end.
    IfEnd {
        flag: R,
        input: Slot,
        to: To,
    },
    /// `data end`, and a jump before the end.
    IfMore {
        flag: R,
        input: Slot,
        to: To,
    },
    /// A zigzag number and a jump if it is zero; a [`WriteLength`](Self::WriteLength) follows.
    IfZigZagLength {
        flag: R,
        input: Slot,
        to: To,
        point: u32,
    },
    /// A zigzag number, and a jump if it is not zero.
    IfZigZag {
        flag: R,
        input: Slot,
        to: To,
        point: u32,
    },
    /// A zigzag number, and a jump if it is zero.
    IfZigZagZero {
        flag: R,
        input: Slot,
        to: To,
        point: u32,
    },
    /// Jumps to one of `count` targets from `first` on in the table, or to the default after them.
    Switch {
        selector: R,
        first: u32,
        count: u32,
    },

    Fetch {
        to: R,
        variable: Slot,
    },
    Store {
        variable: Slot,
        from: R,
    },
    StoreConst {
        variable: Slot,
        value: i64,
    },
    Increment {
        variable: Slot,
        by: R,
    },
    IncrementConst {
        variable: Slot,
        by: i64,
    },

    Length {
        to: R,
        input: Slot,
    },
    Position {
        to: R,
        input: Slot,
    },
    AtEnd {
        to: R,
        input: Slot,
    },
    Peek {
        to: R,
        input: Slot,
        distance: R,
        point: u32,
    },
    Seek {
        input: Slot,
        target: R,
        point: u32,
    },
    Skip {
        input: Slot,
        by: R,
        point: u32,
    },
    SkipConst {
        input: Slot,
        point: u32,
        by: i64,
    },
    SkipSpace {
        input: Slot,
    },
    /// `enum` or `enumonly`, by index in the table of enumerations.
    Enum {
        enumeration: u32,
        point: u32,
    },
    Require {
        input: Slot,
        bytes: u32,
        point: u32,
    },

    // One item onto the stack.
    U8 {
        to: R,
        input: Slot,
        point: u32,
    },
    I8 {
        to: R,
        input: Slot,
        point: u32,
    },
    U16 {
        to: R,
        input: Slot,
        point: u32,
    },
    I16 {
        to: R,
        input: Slot,
        point: u32,
    },
    U32 {
        to: R,
        input: Slot,
        point: u32,
    },
    I32 {
        to: R,
        input: Slot,
        point: u32,
    },
    I64 {
        to: R,
        input: Slot,
        point: u32,
    },
    BigU16 {
        to: R,
        input: Slot,
        point: u32,
    },
    BigI16 {
        to: R,
        input: Slot,
        point: u32,
    },
    BigU32 {
        to: R,
        input: Slot,
        point: u32,
    },
    BigI32 {
        to: R,
        input: Slot,
        point: u32,
    },
    BigI64 {
        to: R,
        input: Slot,
        point: u32,
    },
    VarInt {
        to: R,
        input: Slot,
        point: u32,
    },
    ZigZag {
        to: R,
        input: Slot,
        point: u32,
    },
    /// One item onto the stack, by index of the parser.
    ReadAny {
        to: R,
        read: u32,
        point: u32,
    },

    // One item into an output whose items are the same bytes.
    Copy1 {
        input: Slot,
        output: Slot,
        point: u32,
    },
    Copy2 {
        input: Slot,
        output: Slot,
        point: u32,
    },
    Copy4 {
        input: Slot,
        output: Slot,
        point: u32,
    },
    Copy8 {
        input: Slot,
        output: Slot,
        point: u32,
    },
    Swap2 {
        input: Slot,
        output: Slot,
        point: u32,
    },
    Swap4 {
        input: Slot,
        output: Slot,
        point: u32,
    },
    Swap8 {
        input: Slot,
        output: Slot,
        point: u32,
    },
    /// A variable-length integer into an integer output of 4 or 8 bytes.
    VarInt4 {
        input: Slot,
        output: Slot,
        point: u32,
    },
    VarInt8 {
        input: Slot,
        output: Slot,
        point: u32,
    },
    ZigZag4 {
        input: Slot,
        output: Slot,
        point: u32,
    },
    ZigZag8 {
        input: Slot,
        output: Slot,
        point: u32,
    },
    /// One item into an output, by index of the parser.
    ItemAny {
        read: u32,
        point: u32,
    },
    /// Many items into an output whose items are the same bytes.
    Many {
        leaf: u32,
        input: Slot,
        count: R,
        point: u32,
    },
    /// Plain bytes.
    Bytes {
        input: Slot,
        output: Slot,
        count: R,
        point: u32,
    },
    ManyAny {
        read: u32,
        count: R,
        point: u32,
    },

    // Fused: a count, the offset and plain items; three instructions follow.
    ListZigZag {
        to: R,
        input: Slot,
        offsets: Slot,
        output: Slot,
        shift: u8,
        wide: bool,
    },
    ListBig {
        to: R,
        input: Slot,
        offsets: Slot,
        output: Slot,
        shift: u8,
        wide: bool,
    },
    ListByte {
        to: R,
        input: Slot,
        offsets: Slot,
        output: Slot,
        shift: u8,
        wide: bool,
    },
    /// Fused: `ahead` bytes and skipped values of these [kinds](super::skip::RUNS), for which `most` bytes
    /// suffice. Jumps to the instruction after them.
    SkipRun {
        kinds: u8,
        input: Slot,
        ahead: u16,
        most: u16,
        first: u32,
        to: To,
    },
    /// Fused: the items of all passes of a loop that reads one item per pass; its two instructions follow.
    Items {
        leaf: u32,
        input: Slot,
        index: R,
        stop: R,
        /// Size of an item as a power of two.
        shift: u8,
        copied: bool,
    },
    /// Fused: the length of one output to another of eight bytes; two instructions follow.
    WriteLength {
        to: R,
        of: Slot,
        output: Slot,
        shift: u8,
        wide: bool,
    },

    Write8 {
        output: Slot,
        from: R,
        point: u32,
    },
    Write4 {
        output: Slot,
        from: R,
        point: u32,
    },
    WriteConst8 {
        output: Slot,
        point: u32,
        value: i64,
    },
    WriteConst4 {
        output: Slot,
        point: u32,
        value: i64,
    },
    WriteAny {
        output: Slot,
        from: R,
        point: u32,
    },
    WriteAdd8 {
        output: Slot,
        from: R,
        point: u32,
    },
    WriteAdd4 {
        output: Slot,
        from: R,
        point: u32,
    },
    WriteAddAny {
        output: Slot,
        from: R,
        point: u32,
    },
    Repeat {
        output: Slot,
        times: R,
        point: u32,
    },
    LengthOf {
        to: R,
        output: Slot,
    },
    Rewind {
        output: Slot,
        by: R,
        point: u32,
    },

    Poll {
        point: u32,
    },
    /// No operation. Precedes instructions of inputs other than that of the fast path.
    Other,
    Native {
        body: u32,
        index: R,
        stop: R,
    },
    Call {
        call: u32,
    },
    /// A call with one argument that is a register.
    CallOne {
        call: u32,
        arg: R,
    },
    Return {
        point: u32,
    },
    /// Fused: an addition, and a call with the sum.
    CallAdded {
        to: R,
        a: R,
        b: i32,
        call: u32,
    },
    /// Fused: an addition, and a return with the sum.
    ReturnAdded {
        to: R,
        a: R,
        b: R,
        point: u32,
    },
    /// Fused: a comparison with a number, and a return with one result that is a register.
    ReturnIfLe {
        a: R,
        from: R,
        b: i32,
        point: u32,
    },
    ReturnIfEq {
        a: R,
        from: R,
        b: i32,
        point: u32,
    },
    /// A return with one result that is a register.
    ReturnOne {
        from: R,
        point: u32,
    },
    Leave {
        point: u32,
    },
    /// Pauses; `entry` is where the run continues.
    Pause {
        point: u32,
        entry: u32,
    },
}
