//! Types of columns, and values of cells.

use crate::cells::Cell;
use forthwith_columns::{DType, Form, LogicalType, Moment, TimeUnit, Zone};
use forthwith_kernels::decimals::nearest;
use serde::{Deserialize, Serialize};

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum CellType {
    /// `true` and `false`.
    Bool,
    /// Whole numbers of 64 bits.
    Int64,
    /// Whole numbers of 64 bits without a sign.
    UInt64,
    /// Floating-point numbers.
    Float64,
    /// Days.
    Date,
    /// Times without a zone, in microseconds or, if `nano`, in nanoseconds.
    Timestamp {
        /// Whether there are more than six digits behind the second.
        nano: bool,
        /// Whether the cells say a zone: times are counted in UTC.
        utc: bool,
    },
    /// Anything.
    String,
}

impl CellType {
    /// The type of a name that users write.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "bool" => Self::Bool,
            "int64" | "int" => Self::Int64,
            "uint64" => Self::UInt64,
            "float64" | "float" => Self::Float64,
            "date" => Self::Date,
            "timestamp" | "datetime" => Self::Timestamp { nano: false, utc: false },
            "string" | "text" | "str" => Self::String,
            _ => return None,
        })
    }

    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::Int64 => "int64",
            Self::UInt64 => "uint64",
            Self::Float64 => "float64",
            Self::Date => "date",
            Self::Timestamp { .. } => "timestamp",
            Self::String => "string",
        }
    }

    /// Whether a cell is missing: of texts, an empty one in quotes is a text.
    pub(crate) fn is_missing(self, cell: Cell<'_>) -> bool {
        if self == Self::String { cell.is_missing() } else { cell.text.is_empty() }
    }

    /// The Form of column number `at`, optional if cells may be empty.
    pub(crate) fn form(self, at: usize, is_optional: bool) -> Form {
        let key = format!("c{at}");
        let plain = |dtype| Form::Numpy { key: key.clone(), dtype, shape: vec![] };
        let logical = |meaning, dtype| Form::Logical { meaning, content: Box::new(plain(dtype)) };
        let form = match self {
            Self::Bool => plain(DType::Bool),
            Self::Int64 => plain(DType::Int64),
            Self::UInt64 => plain(DType::UInt64),
            Self::Float64 => plain(DType::Float64),
            Self::Date => logical(LogicalType::Date, DType::Int32),
            Self::Timestamp { nano, utc } => logical(
                LogicalType::Timestamp { unit: unit(nano), zone: utc.then_some(Zone::UTC) },
                DType::Int64,
            ),
            Self::String => Form::String { key: key.clone(), binary: false },
        };
        if is_optional { Form::Option { key: format!("o{at}"), content: Box::new(form) } } else { form }
    }
}

/// The unit of times.
pub(crate) const fn unit(nano: bool) -> TimeUnit {
    if nano { TimeUnit::Nano } else { TimeUnit::Micro }
}

/// What the cells of a column have been so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    missing: bool,
    /// Empty cells in quotes, which are missing unless the column has texts.
    blank: bool,
    bools: bool,
    integers: bool,
    negative: bool,
    /// Integers above the largest with a sign.
    large: bool,
    /// Integers that no float equals.
    wide: bool,
    floats: bool,
    dates: bool,
    times: bool,
    zoned: bool,
    /// Times with more than six digits behind the second.
    fine: bool,
    /// Times that nanoseconds of 64 bits do not reach.
    far: bool,
    texts: bool,
}

/// Integers up to this one are equal to a float.
const EXACT: u64 = 1 << 53;

impl Seen {
    /// Takes note of a cell.
    pub(crate) fn cell(&mut self, cell: Cell<'_>) {
        self.missing |= cell.is_missing();
        let cell = cell.text;
        if cell.is_empty() {
            self.blank = true;
        } else if self.texts {
        } else if decimal(cell).is_some() {
            self.floats = true;
        } else if let Some(moment) = moment(cell) {
            let has_time = cell.len() > 10;
            self.dates |= !has_time;
            self.times |= has_time;
            self.zoned |= moment.has_zone();
            self.fine |= has_time && fraction(cell) > 6;
            self.far |= time(moment, true, moment.has_zone()).is_none();
        } else if boolean(cell).is_some() {
            self.bools = true;
        } else if let Some(number) = integer(cell) {
            self.integers = true;
            self.negative |= number < 0;
            self.wide |= number.unsigned_abs() > EXACT;
        } else if unsigned(cell).is_some() {
            (self.integers, self.large, self.wide) = (true, true, true);
        } else if float(cell).is_some() {
            self.floats = true;
        } else {
            self.texts = true;
        }
    }

    /// Whether cells are missing in a column of a type.
    pub(crate) fn is_optional(&self, of: CellType) -> bool {
        self.missing || self.blank && of != CellType::String
    }

    /// The narrowest type that keeps all cells as they are.
    pub(crate) fn found(&self) -> CellType {
        let numbers = self.integers || self.floats;
        let moments = self.dates || self.times;
        let kinds = usize::from(self.bools) + usize::from(numbers) + usize::from(moments);
        if self.texts || kinds != 1 {
            return CellType::String;
        }
        match () {
            () if self.bools => CellType::Bool,
            () if self.integers && !self.floats && !self.large => CellType::Int64,
            () if self.integers && !self.floats && !self.negative => CellType::UInt64,
            () if numbers && !(self.integers && self.wide) => CellType::Float64,
            () if self.dates && !self.times => CellType::Date,
            () if self.times && !self.dates && !(self.fine && self.far) => {
                CellType::Timestamp { nano: self.fine, utc: self.zoned }
            }
            () => CellType::String,
        }
    }
}

/// `true` and `false`, as most programs write them.
pub(crate) fn boolean(cell: &[u8]) -> Option<bool> {
    match cell {
        b"true" | b"True" | b"TRUE" => Some(true),
        b"false" | b"False" | b"FALSE" => Some(false),
        _ => None,
    }
}

/// A whole number of 64 bits. With zeros before it, it is a text, such as a postal code.
pub(crate) fn integer(cell: &[u8]) -> Option<i64> {
    let digits = cell.strip_prefix(b"-").unwrap_or(cell);
    if (1..=SHORT).contains(&digits.len()) {
        let number = short(digits).filter(|_| cell != b"-0")?;
        return Some(if digits.len() < cell.len() { -number } else { number });
    }
    if is_plain(digits) { std::str::from_utf8(cell).ok()?.parse().ok() } else { None }
}

/// Digits whose number cannot be too large for 64 bits with a sign.
const SHORT: usize = 18;

/// A whole number of few digits, without zeros before it.
fn short(digits: &[u8]) -> Option<i64> {
    let mut number = 0;
    for byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number = 10 * number + i64::from(digit);
    }
    (digits.len() == 1 || digits[0] != b'0').then_some(number)
}

/// A whole number of 64 bits without a sign.
pub(crate) fn unsigned(cell: &[u8]) -> Option<u64> {
    if is_plain(cell) { std::str::from_utf8(cell).ok()?.parse().ok() } else { None }
}

/// Whether these are the digits of a whole number, without zeros before it.
fn is_plain(digits: &[u8]) -> bool {
    digits.iter().all(u8::is_ascii_digit) && (digits.len() == 1 || digits.first() != Some(&b'0'))
}

/// A floating-point number, `nan` and infinities among them. Digits without a point or an exponent are none: they are integers, or texts.
pub(crate) fn float(cell: &[u8]) -> Option<f64> {
    if let Some(value) = decimal(cell) {
        return Some(value);
    }
    let unsigned = cell.strip_prefix(b"-").or_else(|| cell.strip_prefix(b"+")).unwrap_or(cell);
    let begins = unsigned.first().is_some_and(|byte| byte.is_ascii_digit() || *byte == b'.');
    if begins {
        let has_mark = unsigned.iter().any(|byte| matches!(byte, b'.' | b'e' | b'E')) || cell == b"-0";
        let has_zeros = unsigned.len() > 1 && unsigned[0] == b'0' && unsigned[1].is_ascii_digit();
        if !has_mark || has_zeros {
            return None;
        }
    } else if ![&b"nan"[..], b"inf", b"infinity"].iter().any(|name| unsigned.eq_ignore_ascii_case(name)) {
        return None;
    }
    std::str::from_utf8(cell).ok()?.parse().ok()
}

/// A number of at most 18 digits with a point among them.
fn decimal(cell: &[u8]) -> Option<f64> {
    let unsigned = cell.strip_prefix(b"-").unwrap_or(cell);
    let whole = unsigned.iter().take(SHORT).position(|byte| *byte == b'.')?;
    let (before, after) = (&unsigned[..whole], &unsigned[whole + 1..]);
    if before.len() + after.len() > SHORT || (before.len() > 1 && before[0] == b'0') || before.is_empty() {
        return None;
    }
    let mut number = 0;
    for byte in before.iter().chain(after) {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number = 10 * number + u64::from(digit);
    }
    let value = nearest(number, -(after.len() as i64))?;
    Some(if unsigned.len() < cell.len() { -value } else { value })
}

/// A day or a time in ISO form.
pub(crate) fn moment(cell: &[u8]) -> Option<Moment> {
    if cell.len() < 10 || cell[4] != b'-' || cell[7] != b'-' {
        return None;
    }
    Moment::parse(cell)
}

/// Days since 1970.
pub(crate) fn day(moment: Moment) -> Option<i32> {
    let (days, rest) = moment.count(LogicalType::Date).ok()?;
    if rest { None } else { i32::try_from(days).ok() }
}

/// A time as a column counts it.
pub(crate) fn time(moment: Moment, nano: bool, utc: bool) -> Option<i64> {
    if moment.has_zone() != utc {
        return None;
    }
    let (count, rest) =
        moment.count(LogicalType::Timestamp { unit: unit(nano), zone: utc.then_some(Zone::UTC) }).ok()?;
    if rest { None } else { i64::try_from(count).ok() }
}

/// Digits behind the second.
fn fraction(cell: &[u8]) -> usize {
    let Some(at) = cell.iter().position(|byte| *byte == b'.') else { return 0 };
    cell[at + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(cells: &[&str]) -> CellType {
        let mut seen = Seen::default();
        cells.iter().for_each(|cell| seen.cell(Cell { text: cell.as_bytes(), is_quoted: false }));
        seen.found()
    }

    #[test]
    fn the_type_keeps_every_cell() {
        let local = |nano| CellType::Timestamp { nano, utc: false };
        for (cells, wanted) in [
            (&["1", "-2", ""][..], CellType::Int64),
            (&["1", "2.5", "nan", "-inf", "1e9"], CellType::Float64),
            (&["9007199254740993", "0.5"], CellType::String),
            (&["9223372036854775808", "1"], CellType::UInt64),
            (&["9223372036854775808", "-1"], CellType::String),
            (&["9223372036854775808", "1.5"], CellType::String),
            (&["18446744073709551616"], CellType::String),
            (&["007"], CellType::String),
            (&["true", "FALSE"], CellType::Bool),
            (&["true", "1"], CellType::String),
            (&["2024-02-29", "1969-12-31"], CellType::Date),
            (&["2023-02-29"], CellType::String),
            (&["2024-02-29T12:00:00", "2024-02-29 12:00:00.25"], local(false)),
            (&["2024-02-29T12:00:00.123456789"], local(true)),
            (&["2024-02-29T12:00:00.123456789", "9999-01-01T00:00:00"], CellType::String),
            (&["2024-02-29T12:00:00Z"], CellType::Timestamp { nano: false, utc: true }),
            (&["2024-02-29", "2024-02-29T12:00:00"], CellType::String),
            (&["", ""], CellType::String),
            (&["-", "1"], CellType::String),
            (&["0x10"], CellType::String),
        ] {
            assert_eq!(found(cells), wanted, "{cells:?}");
        }
    }

    #[test]
    fn numbers_of_few_digits_are_those_nearest_to_their_texts() {
        let mut seed = 11_u64;
        let mut next = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) % below
        };
        let mut exact = 0;
        for _ in 0..20_000 {
            let (before, after) = (next(12) as u32, next(12) as usize);
            let sign = if next(2) == 0 { "-" } else { "" };
            let whole = next(10_u64.pow(before.min(9)));
            let digits: String = (0..after).map(|_| char::from(b'0' + next(10) as u8)).collect();
            let text = format!("{sign}{whole}.{digits}");
            let wanted: f64 = text.parse().expect("a number");
            if let Some(found) = decimal(text.as_bytes()) {
                exact += 1;
                assert_eq!(found.to_bits(), wanted.to_bits(), "{text}");
            }
            assert_eq!(float(text.as_bytes()).map(f64::to_bits), Some(wanted.to_bits()), "{text}");
        }
        assert!(exact > 10_000, "{exact}");
        for text in [".5", "1.2.3", "1.x", "00.5", "-", ".", "-.", "1", "1.2e3", "1234567890123456789.5"] {
            assert_eq!(decimal(text.as_bytes()), None, "{text}");
        }
    }
}
