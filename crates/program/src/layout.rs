//! [`Layout`]: the type of an entry in the order of its bytes, which format crates derive from their schemas.

use forthwith_columns::{DType, Encoding, LogicalType};
use std::{borrow::Cow, sync::Arc};

/// Type of a value in a record-oriented format. How counts and the lengths of text are encoded is left to the
/// [`Dialect`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Layout {
    /// A number of fixed width.
    Number(Encoding),
    /// Text: its length, then its bytes, which are UTF-8 by convention.
    Text,
    /// A list: the number of items, then the items.
    List(Box<Self>),
    /// A list of fixed size, stored without a count.
    Fixed(u64, Box<Self>),
    /// Fields, one after the other.
    Record {
        /// Class name, if any.
        name: Option<String>,
        /// Names and types of the fields, in the order of the bytes.
        fields: Vec<(String, Self)>,
    },
    /// A null, which takes no bytes.
    Null,
    /// A zigzag varint, read to a column of this type.
    Varint(DType),
    /// A number of fixed width, read to a column of another type.
    Converted(Encoding, DType),
    /// Binary data, stored as [`Text`](Self::Text) is.
    Bytes,
    /// Binary data of this number of bytes, stored without a length.
    Opaque(u64),
    /// A [`Varint`](Self::Varint) that is the number of a symbol. A number without a symbol is a fault.
    Enum {
        /// Symbols of the column.
        symbols: Arc<[String]>,
        /// Index in `symbols` by the number in the data, with `None` for unknown symbols. `None` if the
        /// numbers are the indexes.
        keep: Option<Vec<Option<u32>>>,
    },
    /// A list of pairs of a text and a value.
    Map(Box<Self>),
    /// A value of one of several types, after a [`Varint`](Self::Varint) with the number of its alternative.
    Union(Union),
    /// A number, text or bytes of a logical type.
    Logical(LogicalType, Box<Self>),
    /// A value that is always the same alternative of a union, whose number is not in the data.
    Chosen {
        /// Index in `alternatives`.
        tag: u32,
        /// The value.
        value: Box<Self>,
        /// The alternatives of the union.
        alternatives: Vec<Self>,
    },
    /// A [`Record`](Self::Record) of which some fields are read, in another order.
    Arranged {
        /// Class name, if any.
        name: Option<String>,
        /// Names and types of the fields, in the order of the bytes.
        fields: Vec<(String, Self)>,
        /// Fields of the column: indexes in `fields`.
        order: Vec<u32>,
    },
    /// A number of fixed width in a column of this type, whose values are stored in several encodings.
    Mixed(Encoding, DType),
    /// A value that is stepped over. Only as a field, which the column of the record does not have.
    Skipped(Box<Self>),
    /// A value that is not in the data: the layout reads it from these bytes.
    Constant(Arc<[u8]>, Box<Self>),
    /// A recursive type, which contains itself at every [`Recurse`](Self::Recurse). Only within
    /// [`Skipped`](Self::Skipped).
    Recursive(Box<Self>),
    /// A reference to the innermost [`Recursive`](Self::Recursive).
    Recurse,
    /// Fields without names, one after the other.
    Tuple(Vec<Self>),
    /// Text after a big-endian `u32` length, in any dialect.
    LongText,
    /// A big-endian `u32` with bit 30 set, whose other bits are the byte count of the value that follows.
    Framed {
        /// Whether items that are stored member-wise have one frame around all of them.
        shared: bool,
        /// The value in the frame.
        of: Box<Self>,
    },
    /// The remaining bytes of the innermost [`Framed`](Self::Framed), which are stepped over.
    Blank,
    /// A version, then the value, whose layout depends on it. All alternatives have the Form of the first.
    Versioned(Vec<(When, Self)>),
    /// A base class, whose fields are among those of the enclosing record. Where items are stored
    /// member-wise, its fields are, too, without its frame. Within a [`Between`](Self::Between) it is stored
    /// object-wise, with its frame.
    Base(Box<Self>),
    /// A list of records stored member-wise: the number of items as a big-endian `u32`, the first field of
    /// all items, then the second.
    Columns(Box<Self>),
    /// A number that is the length of each [`Counted`](Self::Counted) of the same slot.
    Counter(u32, Box<Self>),
    /// A list whose length is a number before it.
    Counted {
        /// Slot of the length: that of a [`Counter`](Self::Counter) or of a [`Given`](Self::Given).
        slot: u32,
        /// Whether a byte precedes the items, which is 0 if the list is empty whatever its counter is.
        flag: bool,
        /// The layout of an item.
        of: Box<Self>,
    },
    /// A list of items of one class, after the name of that class.
    OneClass {
        /// Classes of the column, which is a union if there are several.
        alternatives: Vec<Self>,
        /// For each supported class its name, with the version, the index in `alternatives` and the layout of
        /// an item.
        classes: Vec<(String, u32, Self)>,
    },
    /// A length for the slot, taken from the input `counts`, whose values are of this type. Only before the
    /// value that it counts, in a [`Between`](Self::Between).
    Given(u32, DType),
    /// A symmetric matrix whose number of rows is the number in this slot, read to a list in row-major order.
    /// The data have the upper triangle with the diagonal.
    Triangle(u32, Encoding),
    /// A byte, then the value. A byte 0 stands for a zero or empty value, which is not stored.
    Flagged(Box<Self>),
    /// A pointer: null, or an object of one of several classes, after the name of its class.
    /// [`Refused`](Self::Refused) classes are last.
    Pointer(Vec<(String, Self)>),
    /// A value that is missing from the data: the column has a zero, empty or null value.
    Absent(Box<Self>),
    /// A value between others that are stepped over.
    Between(Vec<Self>, Box<Self>, Vec<Self>),
    /// A value that may be missing at the end of an entry: the column has a zero or empty one then. Only in
    /// entries with bounds.
    OrNothing(Box<Self>),
    /// Numbers, or arrays of numbers, up to the end of the entry. Only last in an entry with bounds.
    Rest(Box<Self>),
    /// Bytes that these words step over.
    Passed(Words),
    /// A number that these words leave on the stack.
    Computed(DType, Words),
    /// A value of a class that the file does not describe: reading one is a fault. Only within lists and
    /// pointers, which may have none.
    Unknown(String),
    /// An object of a class that columns do not support, with the reason: reading one is a fault. Only within
    /// lists and pointers, which may have none.
    Refused(String),
    /// A LEB128 integer, truncated to a column of this type. For `bool`, the value is whether any bit is set.
    Leb128 {
        /// Whether the integer is zigzag-encoded.
        zigzag: bool,
        /// The type of the column.
        dtype: DType,
    },
    /// A [`Leb128`](Self::Leb128) of 32 bits that is the number of a symbol. Numbers are unique.
    Symbol {
        /// Symbols by number.
        names: Arc<[(i32, String)]>,
        /// Type of the column.
        delivered: Symbols,
    },
    /// A record of fields in any order, each after its key. Only as an entry with bounds, or as a
    /// [`TaggedField`].
    Tagged(Tagged),
}

/// Words of a program that read a value or step over one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words {
    /// Source text of the words.
    pub text: Cow<'static, str>,
    /// Value that the words read, if encoders can write it.
    pub value: Option<EncodedValue>,
}

/// Value that [`Words`] read and encoders write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EncodedValue {
    /// `TObject` base of an object: version, unique ID and status bits.
    ObjectBase,
    /// Status bits of an object (`fBits`).
    StatusBits,
}

impl Words {
    /// Returns words for a value that encoders cannot write.
    #[must_use]
    pub fn new(text: impl Into<Cow<'static, str>>) -> Self {
        Self { text: text.into(), value: None }
    }

    /// Returns words for a value that encoders can write.
    #[must_use]
    pub const fn of(value: EncodedValue, text: &'static str) -> Self {
        Self { text: Cow::Borrowed(text), value: Some(value) }
    }
}

/// Record whose fields each follow their key. Fields come in any order and may repeat: the last value of a
/// field counts, records are merged, and items of lists are appended. Fields with unknown keys are stepped
/// over.
///
/// A key is a [`Leb128`](Layout::Leb128): the number of the field, and in the low three bits the wire type.
/// Wire type 0 is a `Leb128`, 1 eight bytes, 2 a `Leb128` length and that many bytes, 3 a group of fields up
/// to the same key with wire type 4, and 5 four bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Tagged {
    /// Class name, if any.
    pub name: Option<String>,
    /// Fields of the column, in this order.
    pub fields: Vec<TaggedField>,
    /// Fields that are not read, but make others absent.
    pub rivals: Vec<Rival>,
    /// Keys of fields whose presence is a fault: records nested deeper than the layout.
    pub refused: Vec<u32>,
    /// Form of the column.
    pub delivered: Delivered,
    /// Whether an item of a list is dropped if it has a field with an unknown key, or a
    /// [symbol](Layout::Symbol) that is ignored.
    pub ignores_item: bool,
}

/// Form of the column of a [`Tagged`] record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivered {
    /// A record.
    Record,
    /// A tuple: fields without names.
    Tuple,
    /// Value of the only field.
    Only,
    /// An `int64` of two integer fields without presence: the first times this number, plus the second, which
    /// is smaller than the number. Overflow is a fault.
    Sum(i32, LogicalType),
}

/// Type of the column of a [`Symbol`](Layout::Symbol).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symbols {
    /// Category. Values without a name are ignored.
    Category,
    /// Text. A value without a name is spelled in digits.
    Text,
    /// Number. Values without a name are ignored.
    Number,
}

/// A field of a [`Tagged`] record.
#[derive(Clone, Debug, PartialEq)]
pub struct TaggedField {
    /// Name of the field.
    pub name: String,
    /// Keys of the values, with the extent after each key.
    pub keys: Vec<(u32, Extent)>,
    /// Presence, with the value for absent fields.
    pub presence: Presence,
    /// Layout of one value.
    pub of: Layout,
}

/// Field that is not read, but whose presence makes the fields of its [choice](Presence::Choice) absent.
#[derive(Clone, Debug, PartialEq)]
pub struct Rival {
    /// Key of the field.
    pub key: u32,
    /// Number of the choice.
    pub choice: u32,
    /// Symbols of a closed [enum](Layout::Symbol), whose other numbers are ignored; `None` for other types.
    pub symbols: Option<Arc<[(i32, String)]>>,
}

/// Extent of the values after a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// One value. A [`Tagged`] record follows its length.
    One,
    /// A length in bytes, then values up to there.
    Packed,
    /// Fields of a [`Tagged`] record up to this key.
    Until(u32),
}

/// Presence of a field of a [`Tagged`] record, and the value of an absent field.
#[derive(Clone, Debug, PartialEq)]
pub enum Presence {
    /// At most one value. An absent field has the value that these bytes encode, or by default a zero or
    /// empty value.
    Default(Option<Arc<[u8]>>),
    /// At most one value. An absent field is null.
    Optional,
    /// One value. An absent field is a fault.
    Required,
    /// Any number of values, which are a list.
    Repeated,
    /// At most one value among the fields of the same choice, which has this number: the last one in the
    /// data. The other fields are null.
    Choice(u32),
}

/// Contents of an entry: one value, or items without a count, which only an outermost value may have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Entry<'a> {
    /// One value.
    Value(&'a Layout),
    /// One item of lists or options that are stored elsewhere. There may be no entry, so that a class that
    /// the file does not describe is refused only if an object of it is read.
    Item(&'a Layout),
    /// Items up to the end of the entry. Only for entries with bounds.
    ToEnd(&'a Layout),
    /// Items whose number is that of the values of the input `counts` in the same entry.
    Times(&'a Layout),
    /// Items that are stored member-wise. Their number is in another column, whose values are of this type.
    Fields(DType, &'a Layout),
}

impl<'a> From<&'a Layout> for Entry<'a> {
    fn from(value: &'a Layout) -> Self {
        Self::Value(value)
    }
}

/// Condition for an alternative of [`Layout::Versioned`]. A version is a big-endian `u16`; a version of 0 is
/// followed by a checksum of four bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Any version.
    Any,
    /// Any version of a class; a version of 0 is followed by a checksum.
    AnyClass,
    /// This version.
    Version(u16),
    /// Version 0, and this checksum.
    Checksum(u32),
    /// This version, or version 0 and this checksum.
    Class(u16, u32),
    /// Any version with bit 14 set: items are stored member-wise.
    Together,
}

/// The alternatives of a [`Layout::Union`].
#[derive(Clone, Debug, PartialEq)]
pub struct Union {
    /// Alternatives of the column, in this order. [`Layout::Null`] may be among them.
    pub alternatives: Vec<Layout>,
    /// For each alternative in the data, the index in `alternatives` and the layout. `None` if the
    /// alternative has no counterpart in the column, so that a value of it is a fault.
    pub arms: Vec<Option<(u32, Layout)>>,
    /// Whether the column is a union. Otherwise it has one alternative, to which all arms are read.
    pub tagged: bool,
}

impl Union {
    /// Returns a union whose data have these alternatives.
    #[must_use]
    pub fn of(alternatives: Vec<Layout>) -> Self {
        let arms = (0..).zip(&alternatives).map(|(at, layout)| Some((at, layout.clone()))).collect();
        Self { alternatives, arms, tagged: true }
    }
}

impl Layout {
    /// Returns a union whose data have these alternatives.
    #[must_use]
    pub fn union(alternatives: Vec<Self>) -> Self {
        Self::Union(Union::of(alternatives))
    }

    /// Returns whether any version of the value lacks a part in the data: whether there is a
    /// [`Layout::Absent`].
    #[must_use]
    pub fn lacks_some(&self) -> bool {
        match self {
            Self::Absent(_) => true,
            Self::Framed { of, .. } | Self::Base(of) | Self::Between(_, of, _) => of.lacks_some(),
            Self::Versioned(arms) => arms.iter().any(|(_, arm)| arm.lacks_some()),
            Self::Record { fields, .. } | Self::Arranged { fields, .. } => {
                fields.iter().any(|(_, field)| field.lacks_some())
            }
            _ => false,
        }
    }

    /// Returns a lower bound on the number of bytes of a value in the data.
    #[must_use]
    pub fn least_bytes(&self) -> u64 {
        match self {
            Self::Number(wire) | Self::Converted(wire, _) | Self::Mixed(wire, _) => wire.width() as u64,
            Self::Text | Self::Bytes | Self::List(_) | Self::Map(_) => 1,
            Self::Varint(_)
            | Self::Leb128 { .. }
            | Self::Symbol { .. }
            | Self::Enum { .. }
            | Self::Union(_) => 1,
            Self::Opaque(size) => *size,
            Self::Fixed(size, of) => size.saturating_mul(of.least_bytes()),
            Self::Record { fields, .. } | Self::Arranged { fields, .. } => {
                fields.iter().map(|(_, field)| field.least_bytes()).fold(0, u64::saturating_add)
            }
            Self::Chosen { value, .. } => value.least_bytes(),
            Self::Skipped(of) | Self::Recursive(of) | Self::Logical(_, of) => of.least_bytes(),
            Self::Tuple(items) => items.iter().map(Self::least_bytes).fold(0, u64::saturating_add),
            Self::LongText | Self::Columns(_) | Self::Pointer(_) => 4,
            Self::OneClass { .. } => 24,
            Self::Framed { of, .. } => of.least_bytes().saturating_add(4),
            Self::Versioned(arms) => {
                arms.iter().map(|(_, arm)| arm.least_bytes()).min().unwrap_or(0).saturating_add(2)
            }
            Self::Base(of) | Self::Counter(_, of) => of.least_bytes(),
            Self::Between(before, of, behind) => {
                let others = before.iter().chain(behind);
                others.map(Self::least_bytes).fold(of.least_bytes(), u64::saturating_add)
            }
            Self::Counted { flag, .. } => u64::from(*flag),
            Self::Computed(..) | Self::Unknown(_) | Self::Refused(_) | Self::Flagged(_) => 1,
            Self::Null | Self::Constant(..) | Self::Recurse | Self::Tagged(_) => 0,
            Self::Blank
            | Self::Absent(_)
            | Self::Passed(_)
            | Self::Given(..)
            | Self::Triangle(..)
            | Self::OrNothing(_)
            | Self::Rest(_) => 0,
        }
    }

    /// Returns a lower bound on the number of bytes of one value among many that are stored member-wise.
    pub(crate) fn least_together(&self) -> u64 {
        match self {
            Self::Framed { shared: true, of } => of.least_together(),
            Self::Base(of) => of.record().map_or_else(|| of.least_bytes(), Self::least_together),
            Self::Versioned(arms) => arms.iter().map(|(_, arm)| arm.least_together()).min().unwrap_or(0),
            Self::Record { fields, .. } | Self::Arranged { fields, .. } => {
                fields.iter().map(|(_, field)| field.least_together()).fold(0, u64::saturating_add)
            }
            Self::Tuple(items) => items.iter().map(Self::least_together).fold(0, u64::saturating_add),
            other => other.least_bytes(),
        }
    }

    /// Returns the number of bytes of a value in the data, or `None` if it is not fixed.
    #[must_use]
    pub fn fixed_bytes(&self) -> Option<u64> {
        match self {
            Self::Number(wire) | Self::Converted(wire, _) | Self::Mixed(wire, _) => Some(wire.width() as u64),
            Self::Opaque(size) => Some(*size),
            Self::Null | Self::Constant(..) => Some(0),
            Self::Fixed(size, of) => of.fixed_bytes()?.checked_mul(*size),
            Self::Record { fields, .. } | Self::Arranged { fields, .. } => {
                fields.iter().try_fold(0u64, |sum, (_, field)| sum.checked_add(field.fixed_bytes()?))
            }
            Self::Chosen { value, .. } => value.fixed_bytes(),
            Self::Skipped(of) | Self::Logical(_, of) => of.fixed_bytes(),
            Self::Absent(_) => Some(0),
            _ => None,
        }
    }

    /// Returns the record within the frame and version of a value, or `None` if it is not a record.
    pub(crate) fn record(&self) -> Option<&Self> {
        match self {
            Self::Framed { of, .. } => of.record(),
            Self::Versioned(arms) => arms.first().and_then(|(_, first)| first.record()),
            Self::Record { .. } | Self::Arranged { .. } => Some(self),
            _ => None,
        }
    }

    /// Returns the class of a record within its frame, if it has a name.
    pub(crate) fn class(&self) -> Option<&str> {
        match self.record()? {
            Self::Record { name, .. } | Self::Arranged { name, .. } => name.as_deref(),
            _ => None,
        }
    }

    /// Returns whether the value is stepped over.
    #[must_use]
    pub fn is_skipped(&self) -> bool {
        match self {
            Self::OrNothing(of) => of.is_skipped(),
            other => matches!(other, Self::Skipped(_) | Self::Passed(_) | Self::Blank),
        }
    }

    /// Returns the layout of a list of `self`.
    #[must_use]
    pub fn list(self) -> Self {
        Self::List(Box::new(self))
    }
}

/// Encoding of counts and lengths, which a [`Layout`] leaves open, and the frame of entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// The count before the items of a list.
    pub counts: Count,
    /// The length before the bytes of a text.
    pub text: TextLength,
    /// The bytes before each entry.
    pub entry: Frame,
}

impl Dialect {
    /// Returns whether lengths or counts can be negative in the data.
    #[must_use]
    pub fn is_signed(&self) -> bool {
        self.counts == Count::Blocks || self.text == TextLength::ZigZag
    }
}

/// Encoding of the number of items of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Count {
    /// A big-endian `u32`.
    Big32,
    /// Blocks of items up to an empty one. Each begins with its number of items as a zigzag varint; if that
    /// is negative, its absolute value counts, and the length of the block in bytes follows.
    Blocks,
}

/// Encoding of the length of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TextLength {
    /// One byte; 255 is followed by the length as a big-endian `u32`.
    ByteThenWord,
    /// A big-endian `u32`.
    Big32,
    /// A zigzag varint, which must not be negative.
    ZigZag,
    /// An unsigned LEB128 integer.
    Leb128,
}

/// Bytes before each entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Frame {
    /// No bytes.
    None,
    /// This number of bytes, which are stepped over.
    Skip(u32),
    /// A varint with the number of bytes of the entry. Further bytes up to the entry's bound are ignored.
    Length,
    /// A big-endian `u32` with bit 30 set, whose other bits count the bytes behind it up to the entry's end,
    /// then a version of two bytes whose bit 14 (member-wise streaming, another layout) must be clear.
    Counted,
}
