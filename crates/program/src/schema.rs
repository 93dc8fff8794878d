//! The typed schema that format crates translate from.

use forthwith_columns::Wire;

/// What one entry of a record-oriented format holds, apart from how a format writes counts and text (that is the [`Dialect`]).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Schema {
    /// One fixed-width number.
    Number(Wire),
    /// A string of bytes, UTF-8 by convention, with its length before it.
    Text,
    /// A count, then that many items.
    List(Box<Self>),
    /// Always the same number of items, without a count.
    Fixed(u64, Box<Self>),
    /// Fields, one after the other.
    Record {
        /// The class name, if any.
        name: Option<String>,
        /// Names and types, in the order of the bytes.
        fields: Vec<(String, Self)>,
    },
    /// Items up to the end of the entry. Only outermost, and only where entries have bounds.
    ToEnd(Box<Self>),
}

impl Schema {
    /// A list of `self`.
    #[must_use]
    pub fn list(self) -> Self {
        Self::List(Box::new(self))
    }
}

/// How a wire format writes what a [`Schema`] leaves open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// The count before the items of a list.
    pub counts: Count,
    /// The length before the bytes of a text.
    pub text: TextLength,
    /// What stands before each entry.
    pub entry: Frame,
}

/// The count before the items of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Count {
    /// A big-endian `u32`.
    Big32,
}

/// The length before the bytes of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TextLength {
    /// One byte; 255 means that a big-endian `u32` follows with the length.
    ByteThenWord,
    /// A big-endian `u32`.
    Big32,
}

/// What stands before each entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Frame {
    /// Nothing.
    None,
    /// Bytes without meaning for the values.
    Skip(u32),
    /// A big-endian `u32` with bit 30 set, whose other bits count the bytes behind it up to the entry's end, then a version
    /// of two bytes whose bit 14 (member-wise streaming, another layout) must be clear.
    Counted,
}
