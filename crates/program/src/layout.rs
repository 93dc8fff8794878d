//! The parts of an entry, in the order of its bytes: the layout that format crates make of their schemas.

use forthwith_columns::{DType, Encoding, LogicalType};
use std::{borrow::Cow, sync::Arc};

/// The values of one entry of a record-oriented format, apart from how a format writes counts and text (that
/// is the [`Dialect`]).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Layout {
    /// One fixed-width number.
    Number(Encoding),
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
    /// No bytes, and always null.
    Null,
    /// A signed integer of variable length (zigzag), kept as a column of this type.
    Varint(DType),
    /// One fixed-width number, kept as a column of another type than its own.
    Converted(Encoding, DType),
    /// As [`Text`](Self::Text), except that nothing is known of the bytes.
    Bytes,
    /// This number of bytes of which nothing is known, without a length.
    Opaque(u64),
    /// A [`Varint`](Self::Varint) that names one of these symbols. `keep` says for each number in the data
    /// which symbol it is; a number that is none is a fault.
    Enum {
        /// The fields that are delivered.
        symbols: Arc<[String]>,
        /// The symbols by the numbers in the data, if these are not simply positions in `symbols`.
        keep: Option<Vec<Option<u32>>>,
    },
    /// A list of pairs: a text and a value.
    Map(Box<Self>),
    /// One of several, after a [`Varint`](Self::Varint) that says which.
    Union(Union),
    /// Numbers or bytes that mean something beyond that.
    Logical(LogicalType, Box<Self>),
    /// Always the same alternative of a union whose number is not in the data.
    Chosen {
        /// Which of `alternatives`.
        tag: u32,
        /// The value.
        value: Box<Self>,
        /// The alternatives of the union.
        alternatives: Vec<Self>,
    },
    /// As [`Record`](Self::Record), delivered in another order and with some fields left out.
    Arranged {
        /// The class name, if any.
        name: Option<String>,
        /// Names and types, in the order of the bytes.
        fields: Vec<(String, Self)>,
        /// The fields that are delivered: positions in `fields`.
        order: Vec<u32>,
    },
    /// One fixed-width number of those that are stored in several ways, kept as a column of this type.
    Mixed(Encoding, DType),
    /// Bytes that are stepped over. Only as a field of a record, which does not have it then.
    Skipped(Box<Self>),
    /// A value that is not in the data: these bytes, to be read as the type says.
    Constant(Arc<[u8]>, Box<Self>),
    /// A type that contains itself at every [`Recurse`](Self::Recurse). Only within
    /// [`Skipped`](Self::Skipped).
    Recursive(Box<Self>),
    /// The innermost [`Recursive`](Self::Recursive) again.
    Recurse,
    /// Fields without names, one after the other.
    Tuple(Vec<Self>),
    /// As [`Text`](Self::Text), with a big-endian `u32` of length whatever the dialect says.
    LongText,
    /// A big-endian `u32` with bit 30 set, whose other bits say how many bytes follow and belong to the
    /// value.
    Framed {
        /// Where values of many items stand together, one frame stands around all of them.
        shared: bool,
        /// The value in the frame.
        of: Box<Self>,
    },
    /// Whatever is left of the innermost frame, and is nothing: only within [`Framed`](Self::Framed).
    Blank,
    /// A version, and behind it the value, which depends on it. All alternatives deliver what the first does.
    Versioned(Vec<(When, Self)>),
    /// A record whose fields stand among those of the record that it is a field of. Where items are stored
    /// field by field, its fields are, too, and without its frame; within a [`Between`](Self::Between) it is
    /// stored item by item, with it.
    Base(Box<Self>),
    /// A list of records stored field by field: a big-endian `u32` of how many, then the first field of all
    /// items, then the second.
    Columns(Box<Self>),
    /// A number that says how many items a [`Counted`](Self::Counted) of the same slot has.
    Counter(u32, Box<Self>),
    /// As many items as a number before says.
    Counted {
        /// Which number: that of the [`Counter`](Self::Counter), or one that is [given](Self::Given).
        slot: u32,
        /// One byte stands before them that is 0 if there are none all the same.
        flag: bool,
        /// The layout of an item.
        of: Box<Self>,
    },
    /// A list of items of one class, whose name stands before them.
    OneClass {
        /// The classes that are delivered: if there are several, a union.
        alternatives: Vec<Self>,
        /// The names that the class may have, with their version, which alternative that is, and how an item
        /// is read.
        classes: Vec<(String, u32, Self)>,
    },
    /// The number of this slot is the next of those that the program is given besides the data, which are of
    /// this type. Only before a value that it counts, with [`Between`](Self::Between).
    Given(u32, DType),
    /// A symmetric matrix of as many rows as the number of this slot says, delivered as a list row by row.
    /// The data have of each row what is not left of the diagonal.
    Triangle(u32, Encoding),
    /// One byte; a value, or if it is 0, what stands for none.
    Flagged(Box<Self>),
    /// An object that may be null, may be of several classes, and says which. Classes that are
    /// [`Refused`](Self::Refused) stand last.
    Pointer(Vec<(String, Self)>),
    /// Nothing in the data: zero, empty or null, in the place of such a value.
    Absent(Box<Self>),
    /// A value between others that are stepped over.
    Between(Vec<Self>, Box<Self>, Vec<Self>),
    /// A value, or where nothing is left of the entry, what stands for none. Only where entries have bounds.
    OrNothing(Box<Self>),
    /// Numbers, or arrays of them, up to the end of the entry: as many as there is room for. Only last in an entry
    /// that has bounds.
    Rest(Box<Self>),
    /// Bytes without meaning for the values, stepped over by these words.
    Passed(Words),
    /// A number that these words leave on the stack.
    Computed(DType, Words),
    /// A value of a class that the file does not describe: a fault where there is one. Only where there may
    /// be none: in lists, and behind pointers.
    Unknown(String),
    /// An object of a class that no column can have, and why: an error where there is one. Only where there
    /// may be none.
    Refused(String),
    /// An integer of variable length (seven bits a byte, the lowest first) whose low bits a column of this type
    /// keeps; of `bool`, whether any bit is set.
    Leb128 {
        /// Whether the lowest bit is the sign.
        zigzag: bool,
        /// The type of the column.
        dtype: DType,
    },
    /// A [`Leb128`](Self::Leb128) of 32 bits that stands for a name. Numbers are unique.
    Symbol {
        /// The names of the numbers.
        names: Arc<[(i32, String)]>,
        /// What is delivered.
        delivered: Symbols,
    },
    /// Fields behind keys, in any order. Only as an entry that has bounds, and as a [`TaggedField`].
    Tagged(Tagged),
}

/// Words of a program that read a value or step over it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words {
    /// The text.
    pub text: Cow<'static, str>,
    /// The value, if encoders know how to write it.
    pub value: Option<EncodedValue>,
}

/// A value that words read and encoders write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EncodedValue {
    /// The base that all objects have: version, identifier and status bits.
    ObjectBase,
    /// The status bits of an object.
    StatusBits,
}

impl Words {
    /// Words that only read.
    #[must_use]
    pub fn new(text: impl Into<Cow<'static, str>>) -> Self {
        Self { text: text.into(), value: None }
    }

    /// Words that read a value which encoders write.
    #[must_use]
    pub const fn of(value: EncodedValue, text: &'static str) -> Self {
        Self { text: Cow::Borrowed(text), value: Some(value) }
    }
}

/// A record whose fields each stand behind a key. They come in any order and any number of times: the last value of
/// a field counts, records are merged, and items of a list are appended. Fields of other keys are stepped over.
///
/// A key is a [`Leb128`](Layout::Leb128): the number of the field, and in the low three bits how long the value is:
/// 0 for a `Leb128`, 1 for eight bytes, 2 for a `Leb128` of as many bytes, 3 for fields up to the same key with a 4
/// in those bits, and 5 for four bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Tagged {
    /// The class name, if any.
    pub name: Option<String>,
    /// The fields that are delivered, in this order.
    pub fields: Vec<TaggedField>,
    /// Fields that are not delivered, but make others absent.
    pub rivals: Vec<Rival>,
    /// Keys of fields that are a fault: records nested deeper than the layout is.
    pub refused: Vec<u32>,
    /// What is delivered.
    pub delivered: Delivered,
    /// Whether an item of a list is ignored if it has a field of another key, or a [symbol](Layout::Symbol) that is
    /// ignored.
    pub ignores_item: bool,
}

/// What the fields of a [`Tagged`] record are delivered as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivered {
    /// A record.
    Record,
    /// A tuple: fields without names.
    Tuple,
    /// The value of the only field.
    Only,
    /// One `int64` of two integers without presence: the first times the number, plus the second, which is smaller
    /// than the number. It is a fault if that overflows.
    Sum(i32, LogicalType),
}

/// What a [`Symbol`](Layout::Symbol) is delivered as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symbols {
    /// A category. A value of a number without a name is ignored.
    Category,
    /// Text; of a number without a name its digits.
    Text,
    /// The number. A value of a number without a name is ignored.
    Number,
}

/// A field of a [`Tagged`] record.
#[derive(Clone, Debug, PartialEq)]
pub struct TaggedField {
    /// Its name.
    pub name: String,
    /// The keys of its values, and what stands behind them.
    pub keys: Vec<(u32, Extent)>,
    /// What is delivered where it is absent.
    pub presence: Presence,
    /// One value.
    pub of: Layout,
}

/// A field that is not delivered: where it is present, the fields of its [choice](Presence::Choice) are absent.
#[derive(Clone, Debug, PartialEq)]
pub struct Rival {
    /// Its key.
    pub key: u32,
    /// The number of the choice.
    pub choice: u32,
    /// The names of a closed [symbol](Layout::Symbol), of which other numbers are ignored.
    pub symbols: Option<Arc<[(i32, String)]>>,
}

/// What stands behind a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// One value; of a [`Tagged`] record its length before it.
    One,
    /// A length in bytes, and values up to there.
    Packed,
    /// The fields of a [`Tagged`] record up to this key.
    Until(u32),
}

/// How often a field of a [`Tagged`] record is there, and what is delivered where it is absent.
#[derive(Clone, Debug, PartialEq)]
pub enum Presence {
    /// Once: the value of these bytes where it is absent, or what is zero or empty.
    Default(Option<Arc<[u8]>>),
    /// Once, or null.
    Optional,
    /// Once. It is a fault if it is absent.
    Required,
    /// Any number of times: a list.
    Repeated,
    /// As [`Optional`](Self::Optional), where of the fields of the record with the same number only the last one
    /// in the data is present.
    Choice(u32),
}

/// The contents of an entry: one value, or items that nothing in the entry counts. Such items are only
/// outermost, and only where entries have bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Entry<'a> {
    /// One value.
    Value(&'a Layout),
    /// One item of lists or options that are stored elsewhere, so that there may be no entry at all: a class
    /// that the file does not describe is refused where an object of it is met.
    Item(&'a Layout),
    /// Items up to the end of the entry.
    ToEnd(&'a Layout),
    /// As many items as the column has in the entry that counts theirs.
    Times(&'a Layout),
    /// As many items as another column says, whose numbers are of this type, stored field by field.
    Fields(DType, &'a Layout),
}

impl<'a> From<&'a Layout> for Entry<'a> {
    fn from(value: &'a Layout) -> Self {
        Self::Value(value)
    }
}

/// When an alternative of [`Layout::Versioned`] is meant. A version is two bytes; where it is 0, four bytes
/// of a checksum follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Whatever the version is.
    Any,
    /// Whatever the version is, as the version of a class: with a checksum behind 0.
    AnyClass,
    /// The version is this one.
    Version(u16),
    /// The version is 0, and the checksum this.
    Checksum(u32),
    /// The version is the first, or 0 and the checksum the second.
    Class(u16, u32),
    /// Bit 14 of the version is set: items are stored field by field.
    Together,
}

/// The alternatives of a [`Layout::Union`].
#[derive(Clone, Debug, PartialEq)]
pub struct Union {
    /// The fields that are delivered, in this order. [`Layout::Null`] may be among them.
    pub alternatives: Vec<Layout>,
    /// For each number in the data the alternative it means, and how that is read. `None` where the number is
    /// a fault: it may stand in the layout of the data, and has no counterpart in what was asked for.
    pub arms: Vec<Option<(u32, Layout)>>,
    /// Whether what is delivered is a union. Otherwise there is one alternative, which all arms are read as.
    pub tagged: bool,
}

impl Union {
    /// The alternatives as they are.
    #[must_use]
    pub fn of(alternatives: Vec<Layout>) -> Self {
        let arms = (0..).zip(&alternatives).map(|(at, layout)| Some((at, layout.clone()))).collect();
        Self { alternatives, arms, tagged: true }
    }
}

impl Layout {
    /// A union as an arm of which every alternative is read as it is.
    #[must_use]
    pub fn union(alternatives: Vec<Self>) -> Self {
        Self::Union(Union::of(alternatives))
    }

    /// Whether something that is delivered is not in the data, of all versions or of one.
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

    /// Fewest bytes a value takes in the data.
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

    /// Bytes every value takes when it is one of many that stand together, at least.
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

    /// Bytes every value takes in the data, if that is always the same number.
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

    /// The record that a value is within its frame.
    pub(crate) fn record(&self) -> Option<&Self> {
        match self {
            Self::Framed { of, .. } => of.record(),
            Self::Versioned(arms) => arms.first().and_then(|(_, first)| first.record()),
            Self::Record { .. } | Self::Arranged { .. } => Some(self),
            _ => None,
        }
    }

    /// The class of a record within its frame, if it has a name.
    pub(crate) fn class(&self) -> Option<&str> {
        match self.record()? {
            Self::Record { name, .. } | Self::Arranged { name, .. } => name.as_deref(),
            _ => None,
        }
    }

    /// Whether nothing is delivered.
    #[must_use]
    pub fn is_skipped(&self) -> bool {
        match self {
            Self::OrNothing(of) => of.is_skipped(),
            other => matches!(other, Self::Skipped(_) | Self::Passed(_) | Self::Blank),
        }
    }

    /// A list of `self`.
    #[must_use]
    pub fn list(self) -> Self {
        Self::List(Box::new(self))
    }
}

/// How a wire format writes what a [`Layout`] leaves open.
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
    /// Blocks until one has no items. Each is a zigzag number of items; a negative one counts downwards, and
    /// the block's length in bytes follows.
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
    /// An integer of variable length without a sign.
    Leb128,
}

/// The bytes before each entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Frame {
    /// Nothing.
    None,
    /// Bytes without meaning for the values.
    Skip(u32),
    /// An integer of variable length: how many bytes the entry has. Whatever follows up to its bound is
    /// without meaning.
    Length,
    /// A big-endian `u32` with bit 30 set, whose other bits count the bytes behind it up to the entry's end,
    /// then a version of two bytes whose bit 14 (member-wise streaming, another layout) must be clear.
    Counted,
}
