//! Tree of columns bound to a layout, from which rows are encoded.

use forthwith_columns::Encoding;
use forthwith_program::TextLength;
use std::{borrow::Cow, sync::Arc};

/// Part of a layout, bound to the columns with its values.
#[derive(Debug)]
pub(crate) enum Node<'a> {
    /// No bytes.
    Nothing,
    /// Equal bytes in every row.
    Constant(Arc<[u8]>),
    /// Values of `width` bytes each, already encoded.
    Packed { width: usize, bytes: Cow<'a, [u8]> },
    /// Numbers in native byte order, and the encoding in which they are written.
    Numbers { bytes: Cow<'a, [u8]>, wire: Encoding },
    /// Status bits of objects (`fBits`), written with `kIsReferenced` cleared.
    StatusBits(Cow<'a, [u8]>),
    /// Zigzag varints.
    Varint(Cow<'a, [i64]>),
    /// LEB128 integers.
    Leb128(Cow<'a, [i64]>),
    /// Fields after their keys.
    Keyed(Vec<Field<'a>>),
    /// Numbers that are written as two fields.
    Parts(Parts<'a>),
    /// Byte strings, each after its length. If `ends_at_nul`, a string that contains a NUL is an error.
    Text { offsets: Cow<'a, [i64]>, bytes: Cow<'a, [u8]>, length: TextLength, ends_at_nul: bool },
    /// Lists. `offsets` are positions in `item`, which has `items` rows.
    List { offsets: Cow<'a, [i64]>, items: usize, head: Head, item: Box<Self> },
    /// Lengths of lists, as big-endian `i32`.
    Lengths(Cow<'a, [i64]>),
    /// Lists of `size` items each.
    Regular { size: usize, head: Head, item: Box<Self> },
    /// Upper triangles of square matrices, with the diagonal. The matrices are lists in row-major order.
    Triangle { offsets: Cow<'a, [i64]>, sides: Vec<i64>, item: Box<Self> },
    /// Fields, one after the other.
    Record(Vec<Self>),
    /// Values that all take the same alternative of a union.
    Tagged { tag: i64, value: Box<Self> },
    /// Null or a value. `null` and `some` are their alternatives of the union; if `some` is `None`, the value
    /// writes its own.
    Option { index: Cow<'a, [i64]>, null: i64, some: Option<i64>, value: Box<Self> },
    /// The row `index[row]` of another node.
    Picked { index: Cow<'a, [i64]>, value: Box<Self> },
    /// Values by tag. Each arm has its alternative of the union, or `None` if its value writes that itself.
    Union { tags: Cow<'a, [i8]>, index: Cow<'a, [i64]>, arms: Vec<(Option<i64>, Self)> },
    /// A value after its byte count and version. If `shared`, items that are stored member-wise have one
    /// frame around all of them.
    Framed { version: Version, shared: bool, of: Box<Self> },
    /// A base class. Where items are stored member-wise, its members are too, without its frame.
    Base(Box<Self>),
    /// Objects that are stored member-wise, without their frames.
    Together(Box<Self>),
    /// A null pointer, or an object after its class name. `index` has the row of the object, and a negative
    /// number for null; `tags` has the class of each object and its row in the node of that class.
    Pointer { index: Cow<'a, [i64]>, tags: Option<Tags<'a>>, classes: Vec<(Arc<[u8]>, Self)> },
    /// A byte 1, then the value.
    Flagged(Box<Self>),
}

/// Alternative of each row, and the row in the node of that alternative.
pub(crate) type Tags<'a> = (Cow<'a, [i8]>, Cow<'a, [i64]>);

/// Bytes before the items of a list; with `Blocks`, after them, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Head {
    Nothing,
    /// Number of items as a big-endian `i32`.
    Big32,
    /// Number of items as a big-endian `i32`, then the lower bound of indexes, which is 0.
    Bound,
    /// One block: the number of items as a zigzag varint, the items, and a 0 after them. An empty list is
    /// only the 0.
    Blocks,
    /// One byte: 0 if the list is empty, else 1.
    Flag,
}

/// Bytes between the byte count and the value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Version {
    Nothing,
    Number(u16),
    /// Version 0, then the checksum.
    Checksum(u32),
}

/// Field of a tagged record, bound to its values.
#[derive(Debug)]
pub(crate) struct Field<'a> {
    /// Encoded key, which precedes each value, or all values of a packed field.
    pub(crate) key: Vec<u8>,
    pub(crate) around: Around,
    pub(crate) presence: Present<'a>,
    pub(crate) value: Node<'a>,
}

/// Bytes around the values of a field, except its key.
#[derive(Debug)]
pub(crate) enum Around {
    /// No bytes. Strings include their length.
    Nothing,
    /// Length in bytes before each value.
    Length,
    /// Length in bytes before all values of the row.
    Packed,
    /// End key after each value.
    End(Vec<u8>),
}

/// Number of values in each row, and their position in the values of the field.
#[derive(Debug)]
pub(crate) enum Present<'a> {
    Never,
    Always,
    /// One value, left out if it is zero or empty.
    NotZero,
    /// The value at this index, or none if the index is negative.
    Option(Cow<'a, [i64]>),
    /// The values between two offsets.
    List(Cow<'a, [i64]>),
}

/// Number that is written as two fields: its quotient and remainder by a divisor.
#[derive(Debug)]
pub(crate) struct Parts<'a> {
    pub(crate) keys: [Vec<u8>; 2],
    pub(crate) numbers: Cow<'a, [i64]>,
    /// Divisor.
    pub(crate) by: i64,
    /// Factor that converts the remainder to the unit of the second field.
    pub(crate) scale: i64,
    /// Whether the quotient is rounded down, so that the remainder is never negative.
    pub(crate) floor: bool,
}
