//! The facts needed to decode the pages of a column: plain data, that travels in a plan.

use crate::schema::Column;
use forthwith_columns::DType;
use serde::{Deserialize, Serialize};

/// A column of a field: what becomes of its elements, and how they are stored in each of its representations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Coding {
    pub(crate) kept: Kept,
    pub(crate) stored: Vec<Stored>,
}

/// The values that elements become.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Kept {
    /// Numbers of this type.
    Numbers(DType),
    /// Bytes of no number.
    Bytes,
    /// Ends of lists: their offsets.
    Offsets,
    /// Ends of lists of one item or none: the row of the item, or null.
    Option,
    /// Ends of lists: how many items each of them has.
    Counts,
    /// Which of this number of alternatives a value is, and its row: those, and whether there is one at all.
    Tags(u8),
    /// Ends of objects in bytes of their own, which a program reads.
    Objects,
    /// There is no column.
    Nothing,
}

/// How elements are stored.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Stored {
    pub(crate) kind: Kind,
    /// Bits of an element.
    pub(crate) bits: u16,
    /// The range of quantised numbers.
    pub(crate) range: Option<(f64, f64)>,
}

impl Stored {
    /// Whether columns stored in either way hold the same elements, if encoded differently.
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

/// The types of columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Kind {
    Bit,
    Byte,
    /// Numbers as they are.
    Plain(DType),
    /// 16 bits of a float.
    Half,
    /// Numbers whose first bytes stand before all second ones, and so on.
    Split(DType),
    /// Likewise of signed numbers, whose sign is in the lowest bit.
    Zigzag(DType),
    SplitHalf,
    Index32,
    Index64,
    /// Differences, in planes of bytes.
    SplitIndex32,
    SplitIndex64,
    Switch,
    /// The upper bits of floats.
    Truncated,
    /// Steps within a range.
    Quantised,
}

impl Stored {
    /// How the elements of a column are stored, or why that is not known.
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

    /// The name of a type of columns by its number.
    pub(crate) fn type_name(code: u16) -> &'static str {
        TYPES.iter().find(|(known, ..)| *known == code).map_or("unknown", |(_, name, ..)| name)
    }

    /// Whether elements of this kind can become what is kept.
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

    /// Whether the parts go together; a plan may come from elsewhere.
    pub(crate) fn is_sound(&self) -> bool {
        let known = TYPES
            .iter()
            .any(|(_, _, kind, fewest, most)| *kind == self.kind && (*fewest..=*most).contains(&self.bits));
        known && (self.kind == Kind::Quantised) == self.range.is_some()
    }

    /// Bytes of a page of this number of elements.
    pub(crate) fn page_bytes(&self, elements: impl Into<u64>) -> u64 {
        // Several pages of a plan that was joined have any number of elements.
        elements.into().saturating_mul(self.bits.into()).div_ceil(8)
    }
}

impl Kind {
    /// Whether the sign of a number is in its lowest bit.
    pub(crate) const fn is_zigzag(self) -> bool {
        matches!(self, Self::Zigzag(_))
    }

    /// Its name in the specification.
    pub(crate) fn name(self) -> &'static str {
        TYPES.iter().find(|(_, _, kind, ..)| *kind == self).map_or("unknown", |(_, name, ..)| name)
    }

    /// The type of that name, its code in files and the bits of an element: the fewest, if that is open.
    pub(crate) fn named(name: &str) -> Option<(Self, u16, u16)> {
        let row = TYPES.iter().find(|(_, known, ..)| *known == name);
        row.map(|(code, _, kind, bits, _)| (*kind, *code, *bits))
    }
}

impl Coding {
    /// Columns of its group.
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

/// Codes, names, and how many bits an element can have.
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
