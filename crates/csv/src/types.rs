//! Types of columns, and parsing of cells.

use forthwith_columns::{DType, Form, LogicalType, Moment, TimeUnit, Zone};
use forthwith_kernels::{decimals::nearest, digits};
use serde::{Deserialize, Serialize};

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum CellType {
    /// `true` and `false`.
    Bool,
    /// Signed integers of 64 bits.
    Int64,
    /// Unsigned integers of 64 bits.
    UInt64,
    /// Floating-point numbers.
    Float64,
    /// Dates.
    Date,
    /// Timestamps in microseconds or, if `nano`, in nanoseconds.
    Timestamp {
        /// Whether cells have more than six digits after the decimal point of the seconds.
        nano: bool,
        /// Whether cells have a time zone; values are then in UTC.
        utc: bool,
    },
    /// Any text.
    String,
}

impl CellType {
    /// Returns the type of this name; `None` for other names.
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

    /// Returns the name of the type.
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

    /// Returns the Form of column number `at`, an option type if `is_optional`.
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

/// Returns the unit of timestamps.
pub(crate) const fn unit(nano: bool) -> TimeUnit {
    if nano { TimeUnit::Nano } else { TimeUnit::Micro }
}

/// Parses `true` and `false` in the spellings of most programs.
pub(crate) fn boolean(cell: &[u8]) -> Option<bool> {
    match cell {
        b"true" | b"True" | b"TRUE" => Some(true),
        b"false" | b"False" | b"FALSE" => Some(false),
        _ => None,
    }
}

/// Parses a signed 64-bit integer. Digits with leading zeros are text, such as a postal code.
#[inline]
pub(crate) fn integer(cell: &[u8]) -> Option<i64> {
    let digits = cell.strip_prefix(b"-").unwrap_or(cell);
    if digits.len() > digits::MOST {
        return if is_plain(digits) { std::str::from_utf8(cell).ok()?.parse().ok() } else { None };
    }
    let number = whole(digits)? as i64;
    match digits.len() < cell.len() {
        true if number == 0 => None,
        true => Some(-number),
        false => Some(number),
    }
}

/// Parses an integer of at most 18 digits without leading zeros.
#[inline]
pub(crate) fn whole(digits: &[u8]) -> Option<u64> {
    match digits {
        [] | [b'0', _, ..] => None,
        _ => digits::number(digits),
    }
}

/// Parses an unsigned 64-bit integer.
pub(crate) fn unsigned(cell: &[u8]) -> Option<u64> {
    if is_plain(cell) { std::str::from_utf8(cell).ok()?.parse().ok() } else { None }
}

/// Whether these are the digits of an integer without leading zeros.
fn is_plain(digits: &[u8]) -> bool {
    digits.iter().all(u8::is_ascii_digit) && (digits.len() == 1 || digits.first() != Some(&b'0'))
}

/// Parses a floating-point number, `nan` or an infinity. `None` for digits without a point and an exponent,
/// which are integers or text.
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

/// Parses a number of at most 18 digits that include a decimal point.
#[inline]
pub(crate) fn decimal(cell: &[u8]) -> Option<f64> {
    let unsigned = cell.strip_prefix(b"-").unwrap_or(cell);
    let (before, after) = parts(unsigned)?;
    let number = whole(before)? * digits::POWERS[after.len()] + digits::number(after)?;
    let value = nearest(number, -(after.len() as i64))?;
    Some(if unsigned.len() < cell.len() { -value } else { value })
}

/// Returns the digits before and after the decimal point of a number of at most 18 digits.
#[inline]
pub(crate) fn parts(unsigned: &[u8]) -> Option<(&[u8], &[u8])> {
    let point = unsigned.iter().take(digits::MOST).position(|byte| *byte == b'.')?;
    let (before, after) = (&unsigned[..point], &unsigned[point + 1..]);
    (before.len() + after.len() <= digits::MOST).then_some((before, after))
}

/// Parses a date or a time in ISO 8601 format.
pub(crate) fn moment(cell: &[u8]) -> Option<Moment> {
    if cell.len() < 10 || cell[4] != b'-' || cell[7] != b'-' {
        return None;
    }
    Moment::parse(cell)
}

/// Returns the days since 1970-01-01; `None` if the moment has a time of day.
pub(crate) fn day(moment: Moment) -> Option<i32> {
    let (days, rest) = moment.count(LogicalType::Date).ok()?;
    if rest { None } else { i32::try_from(days).ok() }
}

/// Returns the value of a time in a column of this unit; `None` if it is not exact or its zone does not match
/// `utc`.
pub(crate) fn time(moment: Moment, nano: bool, utc: bool) -> Option<i64> {
    if moment.has_zone() != utc {
        return None;
    }
    let (count, rest) =
        moment.count(LogicalType::Timestamp { unit: unit(nano), zone: utc.then_some(Zone::UTC) }).ok()?;
    if rest { None } else { i64::try_from(count).ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

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
