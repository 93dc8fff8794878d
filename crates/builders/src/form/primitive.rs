//! Types of single values.

use forthwith_columns::DType;

/// Type of a single value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[expect(missing_docs, reason = "they say it themselves")]
pub enum Primitive {
    Bool,
    Int8,
    Int16,
    Int32,
    Int64,
    UInt8,
    UInt16,
    UInt32,
    UInt64,
    Float16,
    Float32,
    Float64,
    /// Two float32: real and imaginary part.
    Complex64,
    /// Two float64: real and imaginary part.
    Complex128,
    /// Units since 1970-01-01 as int64; the minimum of int64 is NaT ("not a time").
    Datetime64(Unit),
    /// Duration in units as int64; the minimum of int64 is NaT ("not a time").
    Timedelta64(Unit),
}

/// Unit of times: a multiple of a [`TimeUnit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Unit {
    /// Multiplier.
    pub count: u32,
    /// Base unit.
    pub unit: TimeUnit,
}

/// Time units of NumPy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "they say it themselves")]
pub enum TimeUnit {
    Year,
    Month,
    Week,
    Day,
    Hour,
    Minute,
    Second,
    Millisecond,
    Microsecond,
    Nanosecond,
    Picosecond,
    Femtosecond,
    Attosecond,
    /// Generic unit of NumPy: of times without a unit, such as a bare NaT.
    None,
}

impl Primitive {
    /// Returns the type with a name of NumPy, such as `float64` or `datetime64[us]`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        if let Some(unit) = name.strip_prefix("datetime64[").and_then(|rest| rest.strip_suffix(']')) {
            return Unit::from_name(unit).map(Self::Datetime64);
        }
        if let Some(unit) = name.strip_prefix("timedelta64[").and_then(|rest| rest.strip_suffix(']')) {
            return Unit::from_name(unit).map(Self::Timedelta64);
        }
        PLAIN.iter().find(|(plain, ..)| *plain == name).map(|(_, primitive, ..)| *primitive)
    }

    /// Returns the names of all types except times, whose names have a unit.
    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        PLAIN.iter().map(|(name, ..)| *name)
    }

    /// Returns NumPy's name.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Self::Datetime64(Unit::NONE) => "datetime64".into(),
            Self::Timedelta64(Unit::NONE) => "timedelta64".into(),
            Self::Datetime64(unit) => format!("datetime64[{unit}]"),
            Self::Timedelta64(unit) => format!("timedelta64[{unit}]"),
            plain => plain.row().0.into(),
        }
    }

    /// Returns the dtype of the stored items, and the number of items for each value. Half floats are stored
    /// as uint16.
    #[must_use]
    pub fn stored(self) -> (DType, usize) {
        let (_, _, dtype, parts) = self.row();
        (*dtype, *parts)
    }

    /// Returns the row of [`PLAIN`]; for times, that of int64.
    fn row(self) -> &'static Row {
        let plain = match self {
            Self::Datetime64(_) | Self::Timedelta64(_) => Self::Int64,
            plain => plain,
        };
        &PLAIN[PLAIN.iter().position(|(_, primitive, ..)| *primitive == plain).unwrap_or(0)]
    }
}

type Row = (&'static str, Primitive, DType, usize);

/// Names of types, with the stored dtype and the number of items for each value.
const PLAIN: [Row; 14] = [
    ("bool", Primitive::Bool, DType::Bool, 1),
    ("int8", Primitive::Int8, DType::Int8, 1),
    ("int16", Primitive::Int16, DType::Int16, 1),
    ("int32", Primitive::Int32, DType::Int32, 1),
    ("int64", Primitive::Int64, DType::Int64, 1),
    ("uint8", Primitive::UInt8, DType::UInt8, 1),
    ("uint16", Primitive::UInt16, DType::UInt16, 1),
    ("uint32", Primitive::UInt32, DType::UInt32, 1),
    ("uint64", Primitive::UInt64, DType::UInt64, 1),
    ("float16", Primitive::Float16, DType::UInt16, 1),
    ("float32", Primitive::Float32, DType::Float32, 1),
    ("float64", Primitive::Float64, DType::Float64, 1),
    ("complex64", Primitive::Complex64, DType::Float32, 2),
    ("complex128", Primitive::Complex128, DType::Float64, 2),
];

impl Unit {
    /// Returns a unit with multiplier 1.
    #[must_use]
    pub const fn of(unit: TimeUnit) -> Self {
        Self { count: 1, unit }
    }

    /// Generic unit of times without a unit.
    pub const NONE: Self = Self::of(TimeUnit::None);

    /// Parses NumPy's spelling, such as `us` or `10us`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let digits = name.bytes().take_while(u8::is_ascii_digit).count();
        let (count, unit) = name.split_at(digits);
        let count = if digits == 0 { 1 } else { count.parse().ok().filter(|count| *count > 0)? };
        Some(Self { count, unit: TimeUnit::from_name(unit)? })
    }

    /// Converts a number of these units to another unit exactly; returns `None` if the result is not an
    /// integer or out of range. NaT is kept. With `calendar`, years and months are those after January 1970;
    /// otherwise they have no fixed length and cannot be converted to days.
    #[must_use]
    pub fn convert(self, value: i64, to: Self, calendar: bool) -> Option<i64> {
        if value == i64::MIN || self == to {
            return Some(value);
        }
        if [self.unit, to.unit].contains(&TimeUnit::None) {
            return None;
        }
        let value = i128::from(value) * i128::from(self.count);
        let from_months = self.unit.months();
        let whole = match (from_months, to.unit.months()) {
            (Some(from), Some(to)) => divide(value * from, to)?,
            (None, None) => {
                let (from, to) = (self.unit.attoseconds()?, to.unit.attoseconds()?);
                if from >= to { value.checked_mul(from / to)? } else { divide(value, to / from)? }
            }
            (Some(from), None) if calendar => {
                // A unit is either a whole number of days or divides a day.
                let (days, to) = (days_of_month(value * from)?, to.unit.attoseconds()?);
                if to >= DAY { divide(days, to / DAY)? } else { days.checked_mul(DAY / to)? }
            }
            _ => return None,
        };
        // The minimum of int64 is reserved for NaT.
        divide(whole, i128::from(to.count))
            .and_then(|whole| i64::try_from(whole).ok())
            .filter(|whole| *whole != i64::MIN)
    }
}

impl std::fmt::Display for Unit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.count != 1 {
            write!(f, "{}", self.count)?;
        }
        f.write_str(TIMES.iter().find(|(_, unit, _)| *unit == self.unit).map_or("", |(name, ..)| name))
    }
}

impl TimeUnit {
    /// Parses NumPy's spelling.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        TIMES.iter().find(|(known, ..)| *known == name).map(|(_, unit, _)| *unit)
    }

    fn months(self) -> Option<i128> {
        match self {
            Self::Year => Some(12),
            Self::Month => Some(1),
            _ => None,
        }
    }

    /// Returns the length in attoseconds; `None` for months and years, which vary.
    #[must_use]
    pub fn attoseconds(self) -> Option<i128> {
        TIMES
            .iter()
            .find(|(_, unit, _)| *unit == self)
            .map(|(.., length)| *length)
            .filter(|length| *length > 0)
    }
}

const DAY: i128 = 86_400 * SECOND;

/// Returns the quotient of an exact division; `None` if it has a remainder.
fn divide(value: i128, by: i128) -> Option<i128> {
    (value % by == 0).then_some(value / by)
}

/// Returns the number of days from 1970-01-01 to the first of a month, given in months after January 1970.
fn days_of_month(months: i128) -> Option<i128> {
    // Out of range for any unit.
    if months.abs() > 1 << 64 {
        return None;
    }
    // Counting years from March places the leap day at the end.
    let (year, month) = (1970 + months.div_euclid(12), months.rem_euclid(12));
    let (year, month) = if month < 2 { (year - 1, month + 10) } else { (year, month - 2) };
    let days =
        year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + (month * 153 + 2) / 5;
    Some(days - 719_468)
}

const SECOND: i128 = 1_000_000_000_000_000_000;

/// Names and lengths in attoseconds; 0 for months and years.
const TIMES: [(&str, TimeUnit, i128); 13] = [
    ("Y", TimeUnit::Year, 0),
    ("M", TimeUnit::Month, 0),
    ("W", TimeUnit::Week, 7 * DAY),
    ("D", TimeUnit::Day, DAY),
    ("h", TimeUnit::Hour, 3600 * SECOND),
    ("m", TimeUnit::Minute, 60 * SECOND),
    ("s", TimeUnit::Second, SECOND),
    ("ms", TimeUnit::Millisecond, SECOND / 1_000),
    ("us", TimeUnit::Microsecond, SECOND / 1_000_000),
    ("ns", TimeUnit::Nanosecond, SECOND / 1_000_000_000),
    ("ps", TimeUnit::Picosecond, SECOND / 1_000_000_000_000),
    ("fs", TimeUnit::Femtosecond, 1_000),
    ("as", TimeUnit::Attosecond, 1),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn convert(value: i64, from: &str, to: &str, calendar: bool) -> Option<i64> {
        Unit::from_name(from).unwrap().convert(value, Unit::from_name(to).unwrap(), calendar)
    }

    #[test]
    fn times_convert_exactly_or_not_at_all() {
        assert_eq!(convert(3, "ms", "us", true), Some(3000));
        assert_eq!(convert(3000, "us", "ms", true), Some(3));
        assert_eq!(convert(3001, "us", "ms", true), None);
        assert_eq!(convert(2, "W", "D", false), Some(14));
        assert_eq!(convert(3, "10us", "us", true), Some(30));
        assert_eq!(convert(30, "us", "10us", true), Some(3));
        assert_eq!(convert(i64::MIN, "Y", "as", true), Some(i64::MIN));
        assert_eq!(convert(i64::MAX, "s", "ns", true), None);
        assert_eq!(convert(30, "Y", "D", true), Some(10957)); // 2000-01-01
        assert_eq!(convert(30, "Y", "W", true), None);
        assert_eq!(convert(-1, "M", "D", true), Some(-31));
        assert_eq!(convert(361, "M", "s", true), Some(10988 * 86_400)); // 2000-02-01
        assert_eq!(convert(362, "M", "D", true), Some(11017)); // 2000-03-01, after a leap day
        assert_eq!(convert(2, "Y", "M", false), Some(24));
        assert_eq!(convert(2, "Y", "D", false), None);
        assert_eq!(convert(365, "D", "Y", true), None);
        assert_eq!(convert(i64::MAX, "Y", "as", true), None);
    }
}
