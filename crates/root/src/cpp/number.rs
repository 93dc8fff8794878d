//! Numbers of C++ and ROOT: their spellings, their type codes in streamer elements, and their encodings.

use forthwith_columns::{DType, Encoding};

use super::{Packing, code};

/// A row of the table: one kind of number.
#[derive(Debug)]
pub struct Number {
    /// Normalized spelling, which tells the width.
    pub spelling: &'static str,
    /// ROOT's type codes in streamer elements. The first is that of a type with one of its names.
    pub codes: &'static [i32],
    /// Stored type, or `None` if numbers are always packed. Numbers with a range are packed in any case.
    pub basic: Option<DType>,
    /// Element type of columns.
    pub(crate) dtype: DType,
    /// Names in C++ and ROOT.
    names: &'static [&'static str],
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.codes == other.codes
    }
}

impl Number {
    /// Returns the number with a type name, or `None` for other names.
    pub fn named(name: &str) -> Option<&'static Self> {
        NUMBERS.iter().find(|number| number.names.contains(&name))
    }

    /// Returns whether types have its names.
    pub(crate) const fn has_names(&self) -> bool {
        !self.names.is_empty()
    }

    /// Returns the number as which columns of a type are written.
    #[must_use]
    pub fn of(dtype: DType) -> &'static Self {
        // The table has a row with names for each type.
        NUMBERS.iter().find(|number| number.dtype == dtype && number.has_names()).unwrap_or(&NUMBERS[0])
    }

    /// Returns the C++ name that ROOT uses for the types of members.
    #[must_use]
    pub fn cpp(&self) -> &'static str {
        match self.codes[0] {
            code::LONG64 => "Long64_t",
            code::ULONG64 => "ULong64_t",
            _ => self.names.first().copied().unwrap_or(self.spelling),
        }
    }

    /// Returns the number with a type code, or `None` for other codes.
    pub fn coded(code: i32) -> Option<&'static Self> {
        let row = ROWS.get(usize::try_from(code).ok()?)?;
        NUMBERS.get(usize::from(*row))
    }

    /// Returns the encoding for columns, or `None` if ROOT does not read what it wrote.
    pub fn wire(&self, packing: Option<Packing>) -> Option<Encoding> {
        let to = self.dtype;
        Some(match (self.codes[0], packing) {
            (code::BOOL, _) => Encoding::Bool,
            (code::DOUBLE32, None) => Encoding::Widened,
            (code::FLOAT16, None) => Encoding::Truncated { bits: MANTISSA, to },
            (code::DOUBLE32 | code::FLOAT16, Some(packing)) => packed(packing, to)?,
            _ => Encoding::Big(to),
        })
    }
}

/// Returns the encoding of packed numbers, or `None` if ROOT does not read what it wrote.
fn packed(packing: Packing, to: DType) -> Option<Encoding> {
    match packing {
        Packing::Range { min, max, factor } => {
            let usable = factor.is_finite() && factor > 0.0 && min.is_finite() && max.is_finite();
            usable.then_some(Encoding::Scaled { factor, min, max, to })
        }
        Packing::Mantissa { bits } => match u8::try_from(bits) {
            Ok(bits @ 2..=14) => Some(Encoding::Truncated { bits, to }),
            _ => None,
        },
    }
}

/// Bits of the mantissa of a `Float16_t` without a range.
pub(crate) const MANTISSA: u8 = 12;

const fn row(
    spelling: &'static str,
    codes: &'static [i32],
    dtype: DType,
    names: &'static [&'static str],
) -> Number {
    Number { spelling, codes, basic: Some(dtype), dtype, names }
}

#[rustfmt::skip]
static NUMBERS: [Number; 14] = [
    row("bool", &[code::BOOL], DType::Bool, &["bool", "Bool_t"]),
    row("int8_t", &[code::CHAR, code::LEGACY_CHAR], DType::Int8,
        &["char", "Char_t", "signed char", "int8_t", "Int8_t"]),
    row("uint8_t", &[code::UCHAR], DType::UInt8,
        &["unsigned char", "UChar_t", "Byte_t", "uint8_t", "UInt8_t", "byte"]),
    row("int16_t", &[code::SHORT], DType::Int16,
        &["short", "Short_t", "short int", "Version_t", "int16_t"]),
    row("uint16_t", &[code::USHORT], DType::UInt16,
        &["unsigned short", "UShort_t", "unsigned short int", "uint16_t"]),
    // The counter of an array is declared as `int`.
    row("int32_t", &[code::INT, code::COUNTER], DType::Int32,
        &["int", "Int_t", "int32_t", "signed int", "signed"]),
    row("uint32_t", &[code::UINT], DType::UInt32,
        &["unsigned int", "UInt_t", "unsigned", "uint32_t"]),
    row("uint32_t", &[code::BITS], DType::UInt32, &[]),
    row("int64_t", &[code::LONG64, code::LONG], DType::Int64,
        &["long", "Long_t", "long int", "long long", "Long64_t", "long long int", "int64_t"]),
    row("uint64_t", &[code::ULONG64, code::ULONG], DType::UInt64,
        &["unsigned long", "ULong_t", "unsigned long long", "ULong64_t", "unsigned long int",
          "unsigned long long int", "uint64_t", "size_t"]),
    row("float", &[code::FLOAT], DType::Float32, &["float", "Float_t"]),
    row("double", &[code::DOUBLE], DType::Float64, &["double", "Double_t"]),
    Number { basic: Some(DType::Float32), ..row("Double32_t", &[code::DOUBLE32], DType::Float64, &["Double32_t"]) },
    Number { basic: None, ..row("Float16_t", &[code::FLOAT16], DType::Float32, &["Float16_t"]) },
];

/// Row in the table above by type code, and `u8::MAX` for codes that are not those of numbers. Layouts of
/// classes are made for every file, and look up the code of each member.
static ROWS: [u8; code::FLOAT16 as usize + 1] = {
    let mut rows = [u8::MAX; code::FLOAT16 as usize + 1];
    let mut row = 0;
    while row < NUMBERS.len() {
        let codes = NUMBERS[row].codes;
        let mut at = 0;
        while at < codes.len() {
            rows[codes[at] as usize] = row as u8;
            at += 1;
        }
        row += 1;
    }
    rows
};
