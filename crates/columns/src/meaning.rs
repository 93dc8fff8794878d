//! What values mean beyond how they are kept.

use serde::{Deserialize, Serialize};
use std::fmt;

/// What the numbers or bytes of a node mean. Columns are as they are without it; who knows such values (Arrow) gets them as such, and a
/// preview shows them so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Meaning {
    /// Whole numbers of the last digits behind the point: `int32`, `int64`, or byte strings in two's complement, most significant byte first.
    Decimal {
        /// Digits.
        precision: u32,
        /// Digits behind the point.
        scale: u32,
    },
    /// `int32`: days since 1970.
    Date,
    /// `int32` for milliseconds, otherwise `int64`: time of day.
    Time(TimeUnit),
    /// `int64`: time since 1970.
    Timestamp {
        /// What it is counted in.
        unit: TimeUnit,
        /// In UTC, rather than wherever it was.
        utc: bool,
    },
    /// `int64`: a length of time.
    Duration(TimeUnit),
    /// `uint16`: the bits of an IEEE 754 binary16 number.
    Half,
}

/// What time is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum TimeUnit {
    /// 1 s. Only lengths of time are counted in it.
    Second,
    /// 1/1000 s.
    Milli,
    /// 1/1000000 s.
    Micro,
    /// 1/1000000000 s.
    Nano,
}

impl TimeUnit {
    /// The name NumPy has for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Second => "s",
            Self::Milli => "ms",
            Self::Micro => "us",
            Self::Nano => "ns",
        }
    }

    const fn digits(self) -> usize {
        match self {
            Self::Second => 0,
            Self::Milli => 3,
            Self::Micro => 6,
            Self::Nano => 9,
        }
    }

    const fn in_a_second(self) -> i64 {
        match self {
            Self::Second => 1,
            Self::Milli => 1_000,
            Self::Micro => 1_000_000,
            Self::Nano => 1_000_000_000,
        }
    }
}

impl fmt::Display for Meaning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Decimal { precision, scale } => write!(f, "decimal[{precision}, {scale}]"),
            Self::Date => f.write_str("date"),
            Self::Half => f.write_str("float16"),
            Self::Duration(unit) => write!(f, "duration[{}]", unit.name()),
            Self::Time(unit) => write!(f, "time[{}]", unit.name()),
            Self::Timestamp { unit, utc: true } => write!(f, "timestamp[{}, UTC]", unit.name()),
            Self::Timestamp { unit, utc: false } => write!(f, "timestamp[{}]", unit.name()),
        }
    }
}

impl Meaning {
    /// The meaning that is spelled so: what `Display` makes of it.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(digits) = text.strip_prefix("decimal[").and_then(|rest| rest.strip_suffix(']')) {
            let (precision, scale) = digits.split_once(", ")?;
            return Some(Self::Decimal { precision: precision.parse().ok()?, scale: scale.parse().ok()? });
        }
        let units = [TimeUnit::Milli, TimeUnit::Micro, TimeUnit::Nano];
        let timed = units.into_iter().flat_map(|unit| {
            [
                Self::Time(unit),
                Self::Duration(unit),
                Self::Timestamp { unit, utc: true },
                Self::Timestamp { unit, utc: false },
            ]
        });
        let others = [Self::Date, Self::Half, Self::Duration(TimeUnit::Second)];
        others.into_iter().chain(timed).find(|meaning| meaning.to_string() == text)
    }

    /// The number whose bits in IEEE 754 binary16 these are.
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

    /// A number as what it means: `2026-11-20T18:00:00.000Z`. `None` for what is no number.
    #[must_use]
    pub fn spell_number(self, value: i64) -> Option<String> {
        Some(match self {
            Self::Decimal { scale, .. } => decimal(value.into(), scale)?,
            Self::Half => Self::half(u16::try_from(value).ok()?).to_string(),
            Self::Duration(unit) => {
                let seconds = decimal(value.into(), unit.digits() as u32)?;
                format!("{seconds} s")
            }
            Self::Date => date(value),
            Self::Time(unit) => clock(value, unit),
            Self::Timestamp { unit, utc } => {
                let day = 86_400 * unit.in_a_second();
                let zone = if utc { "Z" } else { "" };
                format!("{}T{}{zone}", date(value.div_euclid(day)), clock(value.rem_euclid(day), unit))
            }
        })
    }

    /// Bytes as the decimal they mean; `None` if they mean none, or one too long to be shown.
    #[must_use]
    pub fn spell_bytes(self, bytes: &[u8]) -> Option<String> {
        let Self::Decimal { scale, .. } = self else { return None };
        let value = i128::from_be_bytes(extend::<16>(bytes)?);
        decimal(value, scale)
    }
}

/// A whole number with its point.
fn decimal(value: i128, scale: u32) -> Option<String> {
    let digits = value.unsigned_abs().to_string();
    let scale = scale as usize;
    let digits = format!("{digits:0>width$}", width = scale.checked_add(1)?);
    let (whole, rest) = digits.split_at(digits.len() - scale);
    let sign = if value < 0 { "-" } else { "" };
    Some(if rest.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{rest}") })
}

/// A number in two's complement in so many bytes, most significant first; `None` if it needs more.
pub(crate) fn extend<const N: usize>(bytes: &[u8]) -> Option<[u8; N]> {
    let fill = if bytes.first().is_some_and(|first| *first >= 0x80) { 0xff } else { 0 };
    let mut out = [fill; N];
    let cut = bytes.len().saturating_sub(N);
    let (over, kept) = bytes.split_at(cut);
    out[N - kept.len()..].copy_from_slice(kept);
    // What is cut off must only repeat the sign.
    let same_sign = (out[0] >= 0x80) == (fill == 0xff);
    (over.iter().all(|byte| *byte == fill) && same_sign).then_some(out)
}

fn clock(value: i64, unit: TimeUnit) -> String {
    let (seconds, rest) = (value.div_euclid(unit.in_a_second()), value.rem_euclid(unit.in_a_second()));
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    let whole = format!("{hours:02}:{minutes:02}:{:02}", seconds % 60);
    match unit.digits() {
        0 => whole,
        digits => format!("{whole}.{rest:0digits$}"),
    }
}

/// The day of the Gregorian calendar, extended to all times.
fn date(days: i64) -> String {
    // Counted from the first of March of the year 0, in whole cycles of 400 years.
    let days = i128::from(days) + 719_468;
    let (cycle, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + cycle * 400 + i128::from(month <= 2);
    format!("{year:04}-{month:02}-{of_month:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_spelled_out() {
        let utc =
            |unit, value| Meaning::Timestamp { unit, utc: true }.spell_number(value).unwrap_or_default();
        assert_eq!(utc(TimeUnit::Milli, 0), "1970-01-01T00:00:00.000Z");
        assert_eq!(utc(TimeUnit::Micro, -1), "1969-12-31T23:59:59.999999Z");
        assert_eq!(utc(TimeUnit::Nano, 1_700_000_000_123_456_789), "2023-11-14T22:13:20.123456789Z");
        let dates = [(0, "1970-01-01"), (59, "1970-03-01"), (11_016, "2000-02-29"), (-719_162, "0001-01-01")];
        for (days, text) in dates {
            assert_eq!(Meaning::Date.spell_number(days).as_deref(), Some(text));
        }
        assert_eq!(Meaning::Time(TimeUnit::Milli).spell_number(86_399_999).as_deref(), Some("23:59:59.999"));
        assert!(
            Meaning::Date.spell_number(i64::MAX).is_some() && utc(TimeUnit::Milli, i64::MIN).ends_with('Z')
        );
    }

    #[test]
    fn decimals_are_spelled_out() {
        let text = |scale, bytes: &[u8]| Meaning::Decimal { precision: 20, scale }.spell_bytes(bytes);
        assert_eq!(text(2, &[0x04, 0xd2]).as_deref(), Some("12.34"));
        assert_eq!(text(4, &[0xff]).as_deref(), Some("-0.0001"));
        assert_eq!(text(0, &[0x80]).as_deref(), Some("-128"));
        assert_eq!(text(1, &[]).as_deref(), Some("0.0"));
        assert_eq!(text(0, &[1; 17]), None);
        assert_eq!(text(0, &[0; 40]).as_deref(), Some("0"));
    }

    #[test]
    fn halves_and_decimals_of_numbers_are_spelled_out() {
        let half = |bits: i64| Meaning::Half.spell_number(bits).unwrap_or_default();
        assert_eq!(
            [0x3c00, 0xc000, 0x0001, 0x7bff, 0xfc00].map(half),
            ["1", "-2", "0.000000059604645", "65504", "-inf"]
        );
        assert_eq!(Meaning::Decimal { precision: 9, scale: 2 }.spell_number(-5).as_deref(), Some("-0.05"));
    }

    #[test]
    fn numbers_are_not_cut() {
        assert_eq!(extend::<2>(&[0xff, 0x80, 0]), Some([0x80, 0]));
        assert_eq!(extend::<2>(&[0, 0x80, 0]), None);
        assert_eq!(extend::<2>(&[1, 0, 0]), None);
    }
}
