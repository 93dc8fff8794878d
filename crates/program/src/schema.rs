//! The typed schema that format crates translate from.

use forthwith_columns::{DType, Meaning, Wire};
use std::sync::Arc;

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
    /// No bytes, and always null.
    Null,
    /// A signed integer of variable length (zigzag), kept as a column of this type.
    Varint(DType),
    /// One fixed-width number, kept as a column of another type than its own.
    Converted(Wire, DType),
    /// As [`Text`](Self::Text), except that nothing is known of the bytes.
    Bytes,
    /// So many bytes of which nothing is known, without a length.
    Opaque(u64),
    /// A [`Varint`](Self::Varint) that names one of these symbols. `keep` says for each number in the data which symbol it is; a number
    /// that is none is a fault.
    Enum {
        /// What is delivered.
        symbols: Arc<[String]>,
        /// The symbols by the numbers in the data, if these are not simply positions in `symbols`.
        keep: Option<Vec<Option<u32>>>,
    },
    /// A list of pairs: a text and a value.
    Map(Box<Self>),
    /// One of several, after a [`Varint`](Self::Varint) that says which.
    Union(Union),
    /// Numbers or bytes that mean something beyond that.
    Meant(Meaning, Box<Self>),
    /// Always the same alternative of a union whose number is not in the data.
    Chosen {
        /// Which of `alternatives`.
        tag: u32,
        /// The value.
        value: Box<Self>,
        /// What the union may hold.
        alternatives: Vec<Self>,
    },
    /// As [`Record`](Self::Record), delivered in another order and with some fields left out.
    Arranged {
        /// The class name, if any.
        name: Option<String>,
        /// Names and types, in the order of the bytes.
        fields: Vec<(String, Self)>,
        /// What is delivered: positions in `fields`.
        order: Vec<u32>,
    },
    /// Bytes that are stepped over. Only as a field of an [`Arranged`](Self::Arranged) record that is not delivered.
    Skipped(Box<Self>),
    /// A value that is not in the data: these bytes, to be read as the type says.
    Constant(Arc<[u8]>, Box<Self>),
    /// A type that contains itself at every [`Recurse`](Self::Recurse). Only within [`Skipped`](Self::Skipped).
    Recursive(Box<Self>),
    /// The innermost [`Recursive`](Self::Recursive) again.
    Recurse,
}

/// The alternatives of a [`Schema::Union`].
#[derive(Clone, Debug, PartialEq)]
pub struct Union {
    /// What is delivered, in this order. [`Schema::Null`] may be among them.
    pub alternatives: Vec<Schema>,
    /// For each number in the data the alternative it means, and how that is read. `None` where the number is a fault: it may stand in
    /// the schema of the data, and has no counterpart in what was asked for.
    pub arms: Vec<Option<(u32, Schema)>>,
    /// Whether what is delivered is a union. Otherwise there is one alternative, which all arms are read as.
    pub tagged: bool,
}

impl Union {
    /// The alternatives as they are.
    #[must_use]
    pub fn of(alternatives: Vec<Schema>) -> Self {
        let arms = (0..).zip(&alternatives).map(|(at, schema)| Some((at, schema.clone()))).collect();
        Self { alternatives, arms, tagged: true }
    }
}

impl Schema {
    /// A union as an arm of which every alternative is read as it is.
    #[must_use]
    pub fn union(alternatives: Vec<Self>) -> Self {
        Self::Union(Union::of(alternatives))
    }

    /// Fewest bytes a value takes in the data.
    #[must_use]
    pub fn least_bytes(&self) -> u64 {
        match self {
            Self::Number(wire) | Self::Converted(wire, _) => wire.width() as u64,
            Self::Text | Self::Bytes | Self::List(_) | Self::Map(_) => 1,
            Self::Varint(_) | Self::Enum { .. } | Self::Union(_) => 1,
            Self::Opaque(size) => *size,
            Self::Fixed(size, of) => size.saturating_mul(of.least_bytes()),
            Self::Record { fields, .. } | Self::Arranged { fields, .. } => {
                fields.iter().map(|(_, field)| field.least_bytes()).fold(0, u64::saturating_add)
            }
            Self::Chosen { value, .. } => value.least_bytes(),
            Self::Skipped(of) | Self::Recursive(of) | Self::Meant(_, of) => of.least_bytes(),
            Self::ToEnd(_) | Self::Null | Self::Constant(..) | Self::Recurse => 0,
        }
    }

    /// Bytes every value takes in the data, if that is always the same number.
    #[must_use]
    pub fn fixed_bytes(&self) -> Option<u64> {
        match self {
            Self::Number(wire) | Self::Converted(wire, _) => Some(wire.width() as u64),
            Self::Opaque(size) => Some(*size),
            Self::Null | Self::Constant(..) => Some(0),
            Self::Fixed(size, of) => of.fixed_bytes()?.checked_mul(*size),
            Self::Record { fields, .. } | Self::Arranged { fields, .. } => {
                fields.iter().try_fold(0u64, |sum, (_, field)| sum.checked_add(field.fixed_bytes()?))
            }
            Self::Chosen { value, .. } => value.fixed_bytes(),
            Self::Skipped(of) | Self::Meant(_, of) => of.fixed_bytes(),
            _ => None,
        }
    }

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

impl Dialect {
    /// Whether lengths and counts can be negative in the data.
    #[must_use]
    pub fn is_signed(&self) -> bool {
        self.counts == Count::Blocks || self.text == TextLength::ZigZag
    }
}

/// The count before the items of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Count {
    /// A big-endian `u32`.
    Big32,
    /// Blocks until one has no items. Each is a zigzag number of items; a negative one counts downwards, and the block's length in bytes
    /// follows.
    Blocks,
}

/// The length before the bytes of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TextLength {
    /// One byte; 255 means that a big-endian `u32` follows with the length.
    ByteThenWord,
    /// A big-endian `u32`.
    Big32,
    /// A zigzag number, which must not be negative.
    ZigZag,
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
