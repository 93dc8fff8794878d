//! Description of a column's pages for decoding, which is part of a plan.

use crate::schema::Column;
use forthwith_columns::DType;
use serde::{Deserialize, Serialize};

/// Column of a field: the values of its elements, and their encoding in each of its representations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Coding {
    pub(crate) kept: Kept,
    pub(crate) stored: Vec<Stored>,
}

/// Values that elements are decoded to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Kept {
    /// Numbers of this type.
    Numbers(DType),
    /// Bytes.
    Bytes,
    /// Offsets of lists, from their ends.
    Offsets,
    /// Row or null, from the ends of lists of at most one item.
    Option,
    /// Lengths of lists, from their ends.
    Counts,
    /// Tags and rows of a union of this number of alternatives, with a mask of nulls.
    Tags(u8),
    /// Objects, from the ends of their bytes, which a program reads.
    Objects,
    /// No values, and no column.
    Nothing,
}

/// Encoding of elements.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Stored {
    pub(crate) kind: Kind,
    /// Bits of an element.
    pub(crate) bits: u16,
    /// Range of quantised numbers.
    pub(crate) range: Option<(f64, f64)>,
}

impl Stored {
    /// Returns whether columns of both encodings have the same elements.
    pub(crate) fn has_elements_of(&self, other: &Self) -> bool {
        let ends = |kind: Kind| {
            matches!(kind, Kind::Index32 | Kind::Index64 | Kind::SplitIndex32 | Kind::SplitIndex64)
        };
        let plain = |kind: Kind| match kind {
            Kind::Split(dtype) | Kind::Zigzag(dtype) => Kind::Plain(dtype),
            Kind::SplitHalf => Kind::Half,
            other => other,
        };
        (ends(self.kind) && ends(other.kind))
            || (plain(self.kind), self.bits, self.range) == (plain(other.kind), other.bits, other.range)
    }
}

/// Type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Kind {
    Bit,
    Byte,
    /// Numbers, little-endian.
    Plain(DType),
    /// 16-bit floats.
    Half,
    /// Numbers in planes: all first bytes, then all second ones, and so on.
    Split(DType),
    /// Zigzag-encoded signed numbers in planes.
    Zigzag(DType),
    SplitHalf,
    Index32,
    Index64,
    /// Differences of indexes, in planes.
    SplitIndex32,
    SplitIndex64,
    Switch,
    /// Upper bits of floats.
    Truncated,
    /// Steps within a range.
    Quantised,
}

impl Stored {
    /// Returns the encoding of a column, or the reason why it is not supported.
    pub(crate) fn of(column: &Column) -> Result<Self, String> {
        let unknown = || format!("a column of type {:#04x}", column.kind);
        let (kind, fewest, most) = TYPES
            .iter()
            .find(|(code, ..)| *code == column.kind)
            .map(|(_, _, kind, fewest, most)| (*kind, *fewest, *most))
            .ok_or_else(unknown)?;
        if !(fewest..=most).contains(&column.bits) {
            return Err(format!("a column of type {} with {} bits", kind.name(), column.bits));
        }
        let range = column.range.filter(|_| kind == Kind::Quantised);
        if kind == Kind::Quantised
            && range.is_none_or(|(low, high)| !(low < high && (high - low).is_finite()))
        {
            return Err("a column of type Real32Quant without a range".into());
        }
        Ok(Self { kind, bits: column.bits, range })
    }

    /// Returns the name of a column type, or `unknown`.
    pub(crate) fn type_name(code: u16) -> &'static str {
        TYPES.iter().find(|(known, ..)| *known == code).map_or("unknown", |(_, name, ..)| name)
    }

    /// Returns whether elements of this encoding can be decoded to `kept`.
    pub(crate) fn suits(&self, kept: Kept) -> bool {
        use Kind::{Bit, Byte, Half, Plain, Quantised, Split, SplitHalf, Switch, Truncated, Zigzag};
        let is_index =
            matches!(self.kind, Kind::Index32 | Kind::Index64 | Kind::SplitIndex32 | Kind::SplitIndex64);
        match kept {
            Kept::Offsets | Kept::Option | Kept::Counts | Kept::Objects => is_index,
            Kept::Tags(_) => self.kind == Switch,
            Kept::Bytes => matches!(self.kind, Byte | Plain(DType::Int8 | DType::UInt8)),
            Kept::Nothing => false,
            Kept::Numbers(DType::Float32 | DType::Float64) => match self.kind {
                Half | SplitHalf | Truncated | Quantised => true,
                Plain(dtype) | Split(dtype) => matches!(dtype, DType::Float32 | DType::Float64),
                _ => false,
            },
            Kept::Numbers(_) => match self.kind {
                Bit => true,
                Plain(dtype) | Split(dtype) => !matches!(dtype, DType::Float32 | DType::Float64),
                Zigzag(_) => true,
                _ => false,
            },
        }
    }

    /// Returns whether kind, bits and range are consistent, as a plan may be untrusted.
    pub(crate) fn is_sound(&self) -> bool {
        let known = TYPES
            .iter()
            .any(|(_, _, kind, fewest, most)| *kind == self.kind && (*fewest..=*most).contains(&self.bits));
        known && (self.kind == Kind::Quantised) == self.range.is_some()
    }

    /// Returns the size in bytes of a page with this number of elements.
    pub(crate) fn page_bytes(&self, elements: impl Into<u64>) -> u64 {
        // The number is 64 bits wide, as tasks of several pages may be joined.
        elements.into().saturating_mul(self.bits.into()).div_ceil(8)
    }
}

impl Kind {
    /// Returns whether numbers are zigzag-encoded.
    pub(crate) const fn is_zigzag(self) -> bool {
        matches!(self, Self::Zigzag(_))
    }

    /// Returns the name in the specification.
    pub(crate) fn name(self) -> &'static str {
        TYPES.iter().find(|(_, _, kind, ..)| *kind == self).map_or("unknown", |(_, name, ..)| name)
    }

    /// Returns the type with a name, its code in files and the bits of an element, or their minimum if these
    /// vary.
    pub(crate) fn named(name: &str) -> Option<(Self, u16, u16)> {
        let row = TYPES.iter().find(|(_, known, ..)| *known == name);
        row.map(|(code, _, kind, bits, _)| (*kind, *code, *bits))
    }
}

impl Coding {
    /// Returns the number of columns in the group.
    pub(crate) const fn columns(&self) -> usize {
        match self.kept {
            Kept::Nothing => 0,
            Kept::Tags(1) => 1,
            Kept::Tags(_) => 3,
            _ => 1,
        }
    }

    pub(crate) fn is_sound(&self) -> bool {
        self.stored.iter().all(|stored| stored.is_sound() && stored.suits(self.kept))
    }
}

/// Code, name, kind, and minimum and maximum bits of an element.
const TYPES: [(u16, &str, Kind, u16, u16); 30] = [
    (0x00, "Bit", Kind::Bit, 1, 1),
    (0x01, "Byte", Kind::Byte, 8, 8),
    (0x02, "Char", Kind::Plain(DType::Int8), 8, 8),
    (0x03, "Int8", Kind::Plain(DType::Int8), 8, 8),
    (0x04, "UInt8", Kind::Plain(DType::UInt8), 8, 8),
    (0x05, "Int16", Kind::Plain(DType::Int16), 16, 16),
    (0x06, "UInt16", Kind::Plain(DType::UInt16), 16, 16),
    (0x07, "Int32", Kind::Plain(DType::Int32), 32, 32),
    (0x08, "UInt32", Kind::Plain(DType::UInt32), 32, 32),
    (0x09, "Int64", Kind::Plain(DType::Int64), 64, 64),
    (0x0a, "UInt64", Kind::Plain(DType::UInt64), 64, 64),
    (0x0b, "Real16", Kind::Half, 16, 16),
    (0x0c, "Real32", Kind::Plain(DType::Float32), 32, 32),
    (0x0d, "Real64", Kind::Plain(DType::Float64), 64, 64),
    (0x0e, "Index32", Kind::Index32, 32, 32),
    (0x0f, "Index64", Kind::Index64, 64, 64),
    (0x10, "Switch", Kind::Switch, 96, 96),
    (0x11, "SplitInt16", Kind::Zigzag(DType::Int16), 16, 16),
    (0x12, "SplitUInt16", Kind::Split(DType::UInt16), 16, 16),
    (0x13, "SplitInt32", Kind::Zigzag(DType::Int32), 32, 32),
    (0x14, "SplitUInt32", Kind::Split(DType::UInt32), 32, 32),
    (0x15, "SplitInt64", Kind::Zigzag(DType::Int64), 64, 64),
    (0x16, "SplitUInt64", Kind::Split(DType::UInt64), 64, 64),
    (0x17, "SplitReal16", Kind::SplitHalf, 16, 16),
    (0x18, "SplitReal32", Kind::Split(DType::Float32), 32, 32),
    (0x19, "SplitReal64", Kind::Split(DType::Float64), 64, 64),
    (0x1a, "SplitIndex32", Kind::SplitIndex32, 32, 32),
    (0x1b, "SplitIndex64", Kind::SplitIndex64, 64, 64),
    (0x1c, "Real32Trunc", Kind::Truncated, 10, 31),
    (0x1d, "Real32Quant", Kind::Quantised, 1, 32),
];
