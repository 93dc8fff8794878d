//! The tree of columns that rows are written from, bound to a layout.

use crate::tagged::{Field, Parts};
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
