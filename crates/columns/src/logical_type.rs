//! Logical types: the meaning of stored values.

use crate::{Zone, decimal};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Logical type of the numbers or bytes of a node. It does not affect the columns; the Arrow export and
/// previews convert values by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum LogicalType {
    /// Unscaled integers: `int32`, `int64`, or big-endian byte strings in two's complement.
    Decimal {
        /// Number of digits.
        precision: u32,
        /// Number of digits after the decimal point.
        scale: u32,
    },
    /// `int32`: days since 1970-01-01.
    Date,
    /// `int32` for milliseconds, otherwise `int64`: time of day.
    Time(TimeUnit),
    /// `int64`: time since 1970-01-01.
    Timestamp {
        /// The unit of the count.
        unit: TimeUnit,
        /// Time zone in which the timestamp is displayed. With a zone, it is counted in UTC; without one, in
        /// an unspecified local time.
        zone: Option<Zone>,
    },
    /// `int64`: a duration.
    Duration(TimeUnit),
    /// `uint16`: the bits of an IEEE 754 binary16 number.
    Half,
}

/// Unit of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum TimeUnit {
    /// 1 s, for durations only.
    Second,
    /// 1/1000 s.
    Milli,
    /// 1/1000000 s.
    Micro,
    /// 1/1000000000 s.
    Nano,
}

impl TimeUnit {
    /// Returns NumPy's name of the unit.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Second => "s",
            Self::Milli => "ms",
            Self::Micro => "us",
            Self::Nano => "ns",
        }
    }

    fn parse(name: &str) -> Option<Self> {
        [Self::Second, Self::Milli, Self::Micro, Self::Nano].into_iter().find(|unit| unit.name() == name)
    }

    const fn digits(self) -> usize {
        match self {
            Self::Second => 0,
            Self::Milli => 3,
            Self::Micro => 6,
            Self::Nano => 9,
        }
    }

    /// Returns the number of units in a second.
    #[must_use]
    pub const fn in_a_second(self) -> u64 {
        match self {
            Self::Second => 1,
            Self::Milli => 1_000,
            Self::Micro => 1_000_000,
            Self::Nano => 1_000_000_000,
        }
    }
}

/// A decimal that is too long to be converted to text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a decimal of {bytes} bytes; those of up to {} are spelled out", decimal::MOST_BYTES)]
pub struct LongDecimal {
    /// Its length in bytes.
    pub bytes: usize,
}

impl fmt::Display for LogicalType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Decimal { precision, scale } => write!(f, "decimal[{precision}, {scale}]"),
            Self::Date => f.write_str("date"),
            Self::Half => f.write_str("float16"),
            Self::Duration(unit) => write!(f, "duration[{}]", unit.name()),
            Self::Time(unit) => write!(f, "time[{}]", unit.name()),
            Self::Timestamp { unit, zone: Some(zone) } => write!(f, "timestamp[{}, {zone}]", unit.name()),
            Self::Timestamp { unit, zone: None } => write!(f, "timestamp[{}]", unit.name()),
        }
    }
}

impl LogicalType {
    /// Whether values of both types are stored alike and have the same meaning: timestamps may have different
    /// zones, which only affect their display.
    #[must_use]
    pub fn is_alike(self, other: Self) -> bool {
        match (self, other) {
            (Self::Timestamp { unit, zone: Some(_) }, Self::Timestamp { unit: of, zone: Some(_) }) => {
                unit == of
            }
            (one, other) => one == other,
        }
    }

    /// Parses the text that `Display` writes; `None` if it is not such.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(digits) = text.strip_prefix("decimal[").and_then(|rest| rest.strip_suffix(']')) {
            let (precision, scale) = digits.split_once(", ")?;
            return Some(Self::Decimal { precision: precision.parse().ok()?, scale: scale.parse().ok()? });
        }
        if let Some((unit, zone)) = text.strip_prefix("timestamp[").and_then(|rest| rest.split_once(", ")) {
            let unit = TimeUnit::parse(unit)?;
            return Some(Self::Timestamp { unit, zone: Some(Zone::parse(zone.strip_suffix(']')?)?) });
        }
        let units = [TimeUnit::Milli, TimeUnit::Micro, TimeUnit::Nano];
        let timed = units
            .into_iter()
            .flat_map(|unit| [Self::Time(unit), Self::Duration(unit), Self::Timestamp { unit, zone: None }]);
        let others = [Self::Date, Self::Half, Self::Duration(TimeUnit::Second)];
        others.into_iter().chain(timed).find(|meaning| meaning.to_string() == text)
    }

    /// Converts the bits of an IEEE 754 binary16 number.
    #[must_use]
    pub fn half(bits: u16) -> f32 {
        let (sign, exponent, fraction) = (bits >> 15, i32::from(bits >> 10 & 31), f32::from(bits & 1023));
        let size = match exponent {
            0 => fraction * 2f32.powi(-24),
            31 if bits & 1023 != 0 => f32::NAN,
            31 => f32::INFINITY,
            _ => (1024.0 + fraction) * 2f32.powi(exponent - 25),
        };
        if sign == 1 { -size } else { size }
    }

    /// Formats a number by its logical type, such as `2026-11-20T18:00:00.000Z`. Returns `None` for a half of
    /// more than 16 bits.
    #[must_use]
    pub fn spell_number(self, value: i64) -> Option<String> {
        Some(match self {
            Self::Decimal { scale, .. } => decimal::of_number(value.into(), scale),
            Self::Half => Self::half(u16::try_from(value).ok()?).to_string(),
            Self::Duration(unit) => {
                let seconds = decimal::of_number(value.into(), unit.digits() as u32);
                format!("{seconds} s")
            }
            Self::Date => {
                let mut text = String::with_capacity(LONGEST);
                date(value, &mut text);
                text
            }
            Self::Time(unit) => {
                let mut text = String::with_capacity(LONGEST);
                clock(value, unit, &mut text);
                text
            }
            Self::Timestamp { unit, zone } => {
                let day = (86_400 * unit.in_a_second()).cast_signed();
                let mut text = String::with_capacity(LONGEST);
                date(value.div_euclid(day), &mut text);
                text.push('T');
                clock(value.rem_euclid(day), unit, &mut text);
                if zone.is_some() {
                    text.push('Z');
                }
                text
            }
        })
    }

    /// Formats the bytes of a decimal; `None` for other logical types.
    ///
    /// # Errors
    /// [`LongDecimal`] if there are too many bytes.
    pub fn spell_bytes(self, bytes: &[u8]) -> Result<Option<String>, LongDecimal> {
        let Self::Decimal { scale, .. } = self else { return Ok(None) };
        decimal::of_bytes(bytes, scale).map(Some).ok_or(LongDecimal { bytes: bytes.len() })
    }
}

/// Length in bytes of a timestamp in nanoseconds with a zone.
const LONGEST: usize = "2026-11-20T18:00:00.000000000Z".len();

/// Appends a number, padded with zeros to `digits` digits.
fn pad(number: u64, digits: usize, to: &mut String) {
    let mut text = [b'0'; 20];
    let (mut rest, mut at) = (number, text.len());
    while at > 0 && (rest > 0 || at > text.len() - digits.min(text.len())) {
        at -= 1;
        text[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    to.extend(text[at..].iter().map(|digit| char::from(*digit)));
}

/// Appends a time of day as hours, minutes and seconds. A negative value has a sign, and hours may exceed 23.
fn clock(value: i64, unit: TimeUnit, to: &mut String) {
    if value < 0 {
        to.push('-');
    }
    let value = value.unsigned_abs();
    let (seconds, rest) = (value / unit.in_a_second(), value % unit.in_a_second());
    pad(seconds / 3600, 2, to);
    to.push(':');
    pad(seconds / 60 % 60, 2, to);
    to.push(':');
    pad(seconds % 60, 2, to);
    if unit.digits() > 0 {
        to.push('.');
        pad(rest, unit.digits(), to);
    }
}

/// Returns year, month and day in the proleptic Gregorian calendar of a day counted from 1970-01-01.
#[must_use]
pub fn calendar(days: i64) -> [i64; 3] {
    // Days are counted from March 1 of the year 0, in cycles of 400 years. The shift is added to the
    // remainder, which cannot overflow.
    let (cycle, day) = (days.div_euclid(146_097), days.rem_euclid(146_097) + 719_468);
    let (cycle, day) = (cycle + day / 146_097, day % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    [year + cycle * 400 + i64::from(month <= 2), month, of_month]
}

/// Appends a date.
fn date(days: i64, to: &mut String) {
    let [year, month, day] = calendar(days);
    if year < 0 {
        to.push('-');
    }
    pad(year.unsigned_abs(), 4, to);
    to.push('-');
    pad(month.unsigned_abs(), 2, to);
    to.push('-');
    pad(day.unsigned_abs(), 2, to);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_spelled_out() {
        let utc = |unit, value| {
            LogicalType::Timestamp { unit, zone: Some(Zone::UTC) }.spell_number(value).unwrap_or_default()
        };
        assert_eq!(utc(TimeUnit::Milli, 0), "1970-01-01T00:00:00.000Z");
        assert_eq!(utc(TimeUnit::Micro, -1), "1969-12-31T23:59:59.999999Z");
        assert_eq!(utc(TimeUnit::Nano, 1_700_000_000_123_456_789), "2023-11-14T22:13:20.123456789Z");
        let dates = [(0, "1970-01-01"), (59, "1970-03-01"), (11_016, "2000-02-29"), (-719_162, "0001-01-01")];
        for (days, text) in dates {
            assert_eq!(LogicalType::Date.spell_number(days).as_deref(), Some(text));
        }
        assert_eq!(
            LogicalType::Time(TimeUnit::Milli).spell_number(86_399_999).as_deref(),
            Some("23:59:59.999")
        );
        let times = [(-1, "-00:00:00.001"), (-86_400_000, "-24:00:00.000"), (90_061_001, "25:01:01.001")];
        for (value, text) in times {
            assert_eq!(LogicalType::Time(TimeUnit::Milli).spell_number(value).as_deref(), Some(text));
        }
        assert_eq!(LogicalType::Date.spell_number(-719_529).as_deref(), Some("-0001-12-31"));
        assert!(
            LogicalType::Date.spell_number(i64::MAX).is_some()
                && utc(TimeUnit::Milli, i64::MIN).ends_with('Z')
        );
    }

    #[test]
    fn zones_are_named_and_instants_are_spelled_in_utc() {
        let berlin = LogicalType::Timestamp { unit: TimeUnit::Micro, zone: Some(Zone::of("Europe/Berlin")) };
        assert_eq!(berlin.to_string(), "timestamp[us, Europe/Berlin]");
        assert_eq!(LogicalType::parse("timestamp[us, Europe/Berlin]"), Some(berlin));
        assert_eq!(berlin.spell_number(0).as_deref(), Some("1970-01-01T00:00:00.000000Z"));
        for text in ["timestamp[us, ]", "timestamp[us, UTC", "timestamp[h, UTC]", "timestamp[us, a]b]"] {
            assert_eq!(LogicalType::parse(text), None);
        }
    }

    #[test]
    fn decimals_are_spelled_out() {
        let text =
            |scale, bytes: &[u8]| LogicalType::Decimal { precision: 20, scale }.spell_bytes(bytes).unwrap();
        assert_eq!(text(2, &[0x04, 0xd2]).as_deref(), Some("12.34"));
        assert_eq!(text(4, &[0xff]).as_deref(), Some("-0.0001"));
        assert_eq!(text(0, &[0x80]).as_deref(), Some("-128"));
        assert_eq!(text(1, &[]).as_deref(), Some("0.0"));
        assert_eq!(text(3, &[1; 17]).as_deref(), Some("341616807575530379006368233343265341.697"));
        assert_eq!(LogicalType::Date.spell_bytes(&[1]), Ok(None));
        assert_eq!(text(0, &[0; 40]).as_deref(), Some("0"));
    }

    #[test]
    fn halves_and_decimals_of_numbers_are_spelled_out() {
        let half = |bits: i64| LogicalType::Half.spell_number(bits).unwrap_or_default();
        assert_eq!(
            [0x3c00, 0xc000, 0x0001, 0x7bff, 0xfc00].map(half),
            ["1", "-2", "0.000000059604645", "65504", "-inf"]
        );
        assert_eq!(
            LogicalType::Decimal { precision: 9, scale: 2 }.spell_number(-5).as_deref(),
            Some("-0.05")
        );
    }
}
