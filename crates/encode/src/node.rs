//! The tree of columns that rows are written from, bound to a layout.

use forthwith_columns::Encoding;
use forthwith_program::TextLength;
use std::{borrow::Cow, sync::Arc};

/// A part of the layout with the columns its values come from.
#[derive(Debug)]
pub(crate) enum Node<'a> {
    /// No bytes.
    Nothing,
    /// Always the same bytes.
    Constant(Arc<[u8]>),
    /// Values of one size, already as they are to be written.
    Packed { width: usize, bytes: Cow<'a, [u8]> },
    /// Numbers as columns have them, and how they are written.
    Numbers { bytes: Cow<'a, [u8]>, wire: Encoding },
    /// Status bits of objects that nothing refers to.
    StatusBits(Cow<'a, [u8]>),
    /// Zigzag varints.
    Varint(Cow<'a, [i64]>),
    /// Integers of variable length, lowest bits first.
    Leb128(Cow<'a, [i64]>),
    /// Fields behind keys.
    Keyed(Vec<Field<'a>>),
    /// Numbers in two parts, each behind its key.
    Parts(Parts<'a>),
    /// Byte strings, with their length before them.
    Text { offsets: Cow<'a, [i64]>, bytes: Cow<'a, [u8]>, length: TextLength, ends_at_nul: bool },
    /// Lists of `items` items together.
    List { offsets: Cow<'a, [i64]>, items: usize, head: Head, item: Box<Self> },
    /// The number of items of lists, as a big-endian `i32`.
    Lengths(Cow<'a, [i64]>),
    /// A fixed number of items.
    Regular { size: usize, head: Head, item: Box<Self> },
    /// Upper triangles, with the diagonal, of square matrices that are stored as lists.
    Triangle { offsets: Cow<'a, [i64]>, sides: Vec<i64>, item: Box<Self> },
    /// One after the other.
    Record(Vec<Self>),
    /// Always the same alternative of a union.
    Tagged { tag: i64, value: Box<Self> },
    /// Null, or a value; with the numbers of the alternatives. The value of `None` writes its number itself.
    Option { index: Cow<'a, [i64]>, null: i64, some: Option<i64>, value: Box<Self> },
    /// The row of another node.
    Picked { index: Cow<'a, [i64]>, value: Box<Self> },
    /// For each tag the values, and the number of the alternative unless they write it themselves.
    Union { tags: Cow<'a, [i8]>, index: Cow<'a, [i64]>, arms: Vec<(Option<i64>, Self)> },
    /// A value behind the count of its bytes and its version. Where members of many items are stored together, a
    /// `shared` frame is around all of them.
    Framed { version: Version, shared: bool, of: Box<Self> },
    /// A base class. Where members of many items are stored together, its members are so too, without its frame.
    Base(Box<Self>),
    /// Objects whose members are stored together, without the frames of the objects.
    Together(Box<Self>),
    /// Nothing, or an object behind the name of its class. The index has the rows of objects, and negative numbers
    /// for none; `tags` has of each object its class, and its row among those of that class.
    Pointer { index: Cow<'a, [i64]>, tags: Option<Tags<'a>>, classes: Vec<(Arc<[u8]>, Self)> },
    /// A byte 1, and the value.
    Flagged(Box<Self>),
}

/// The alternative of each row, and its row among those of the alternative.
pub(crate) type Tags<'a> = (Cow<'a, [i8]>, Cow<'a, [i64]>);

/// The bytes before the items of a list, and behind them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Head {
    Nothing,
    /// Their number as a big-endian `i32`.
    Big32,
    /// Their number as a big-endian `i32`, and the index of the first item, which is zero.
    Bound,
    /// One block: their number as a zigzag varint, and a zero behind them.
    Blocks,
    /// One byte that says whether there are any.
    Flag,
}

/// What follows the count of bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Version {
    Nothing,
    Number(u16),
    /// Zero, and the checksum.
    Checksum(u32),
}

/// A field with its values.
#[derive(Debug)]
pub(crate) struct Field<'a> {
    /// The key before each value; of numbers that stand together before all of them.
    pub(crate) key: Vec<u8>,
    pub(crate) around: Around,
    pub(crate) presence: Present<'a>,
    pub(crate) value: Node<'a>,
}

/// The bytes around the values of a field beside the key.
#[derive(Debug)]
pub(crate) enum Around {
    /// Nothing; a text has its length by itself.
    Nothing,
    /// The length of each value before it.
    Length,
    /// The length of all values before them.
    Packed,
    /// A key behind each value.
    End(Vec<u8>),
}

/// Which values a row has.
#[derive(Debug)]
pub(crate) enum Present<'a> {
    Never,
    Always,
    /// One, unless it is zero or empty.
    NotZero,
    /// One in this row of the values, or none.
    Option(Cow<'a, [i64]>),
    /// Those between two offsets.
    List(Cow<'a, [i64]>),
}

/// A number in two parts, each behind its key.
#[derive(Debug)]
pub(crate) struct Parts<'a> {
    pub(crate) keys: [Vec<u8>; 2],
    pub(crate) numbers: Cow<'a, [i64]>,
    /// The second part is below this number.
    pub(crate) by: i64,
    /// What the second part is counted in, in terms of the layout's unit.
    pub(crate) scale: i64,
    /// Whether the second part is never negative.
    pub(crate) floor: bool,
}
