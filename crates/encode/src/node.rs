//! The tree of columns that rows are written from, bound to a layout.

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
    /// Zigzag varints.
    Varint(Cow<'a, [i64]>),
    /// Integers of variable length, lowest bits first.
    Leb128(Cow<'a, [i64]>),
    /// Fields behind keys.
    Keyed(Vec<Field<'a>>),
    /// Numbers in two parts, each behind its key.
    Parts(Parts<'a>),
    /// Byte strings, with their length before them.
    Text { offsets: Cow<'a, [i64]>, bytes: Cow<'a, [u8]> },
    /// Items, with their number before them.
    List { offsets: Cow<'a, [i64]>, item: Box<Self> },
    /// A fixed number of items, with their number before them or without.
    Regular { size: u64, counted: bool, item: Box<Self> },
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

/// What is around the values of a field beside the key.
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

impl Node<'_> {
    /// Whether a value is zero in all its bits, or empty.
    pub(crate) fn is_zero(&self, row: usize) -> bool {
        match self {
            Self::Varint(numbers) | Self::Leb128(numbers) => numbers[row] == 0,
            Self::Packed { width, bytes } => {
                bytes[row * width..(row + 1) * width].iter().all(|byte| *byte == 0)
            }
            Self::Text { offsets, .. } => offsets[row] == offsets[row + 1],
            Self::Picked { index, value } => value.is_zero(index[row] as usize),
            _ => false,
        }
    }
}
