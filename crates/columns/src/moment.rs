//! ISO 8601 dates and times, for comparison with columns.

use crate::{LogicalType, TimeUnit};

/// A date and time: the day since 1970-01-01, the nanosecond of the day, and whether the text has a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    day: i64,
    nanosecond: i64,
    has_zone: bool,
}

const SECOND: i64 = 1_000_000_000;
const DAY: i64 = 86_400 * SECOND;

impl Moment {
    /// Parses `2024-01-31` or `2024-01-31T12:30`, optionally with seconds, a fraction of up to nine digits,
    /// and `Z` or an offset such as `+01:00`; a space may replace the `T`. Returns `None` for other texts.
    #[must_use]
    pub fn parse(text: &[u8]) -> Option<Self> {
        let (date, mut rest) = text.split_first_chunk()?;
        let (year, month, day) = year_month_day(date)?;
        if !(1..=12).contains(&month) || !(1..=days_in(year, month)).contains(&day) {
            return None;
        }
        let day = days(year, month, day);
        if rest.is_empty() {
            return Some(Self { day, nanosecond: 0, has_zone: false });
        }
        mark(&mut rest, b'T').or_else(|| mark(&mut rest, b' '))?;
        let mut nanosecond;
        if let Some((time, others)) = rest.split_first_chunk().filter(|(time, _)| time[5] == b':') {
            nanosecond = second_of_day(time)? * SECOND;
            rest = others;
            if mark(&mut rest, b'.').is_some() {
                let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
                let missing = 9_u32.checked_sub(u32::try_from(count).ok()?)?;
                nanosecond += digits(&mut rest, count)? * 10_i64.pow(missing);
            }
        } else {
            let (hour, minute) = clock(&mut rest)?;
            nanosecond = (hour * 60 + minute) * 60 * SECOND;
        }
        let mut has_zone = mark(&mut rest, b'Z').is_some();
        if !rest.is_empty() && !has_zone {
            let sign =
                if mark(&mut rest, b'+').is_some() { 1 } else { mark(&mut rest, b'-').map(|()| -1)? };
            let (hours, minutes) = clock(&mut rest)?;
            nanosecond -= sign * (hours * 60 + minutes) * 60 * SECOND;
            has_zone = true;
        }
        // An offset may change the date.
        let day = day + nanosecond.div_euclid(DAY);
        rest.is_empty().then_some(Self { day, nanosecond: nanosecond.rem_euclid(DAY), has_zone })
    }

    /// Whether the text has a zone.
    #[must_use]
    pub const fn has_zone(self) -> bool {
        self.has_zone
    }

    /// Converts to the unit of a logical type, rounding down; also returns whether the result was rounded.
    ///
    /// # Errors
    /// An error message if the logical type is neither a date nor a timestamp, or has no zone where the text
    /// has one.
    pub fn count(self, meaning: LogicalType) -> Result<(i128, bool), String> {
        let each = match meaning {
            LogicalType::Date => DAY,
            LogicalType::Timestamp { unit, .. } => match unit {
                TimeUnit::Second => SECOND,
                TimeUnit::Milli => 1_000_000,
                TimeUnit::Micro => 1_000,
                TimeUnit::Nano => 1,
            },
            _ => return Err(format!("a {meaning} cannot be compared with a date")),
        };
        if self.has_zone && !matches!(meaning, LogicalType::Timestamp { zone: Some(_), .. }) {
            return Err(format!("a {meaning} has no zone, and the text that it is compared with has one"));
        }
        let count = i128::from(self.day) * i128::from(DAY / each) + i128::from(self.nanosecond / each);
        Ok((count, self.nanosecond % each != 0))
    }
}

/// Removes `mark` from the front; `None` if another byte is first.
fn mark(rest: &mut &[u8], mark: u8) -> Option<()> {
    let (first, others) = rest.split_first()?;
    if *first != mark {
        return None;
    }
    *rest = others;
    Some(())
}

/// Parses and removes `count` digits, 1 to 9, from the front.
fn digits(rest: &mut &[u8], count: usize) -> Option<i64> {
    let (found, others) = rest.split_at_checked(count).filter(|(found, _)| (1..=9).contains(&found.len()))?;
    *rest = others;
    found
        .iter()
        .try_fold(0, |number, byte| byte.is_ascii_digit().then(|| 10 * number + i64::from(byte - b'0')))
}

/// Parses and removes hours and minutes from the front.
fn clock(rest: &mut &[u8]) -> Option<(i64, i64)> {
    let hour = digits(rest, 2).filter(|hour| *hour < 24)?;
    mark(rest, b':')?;
    let minute = digits(rest, 2).filter(|minute| *minute < 60)?;
    Some((hour, minute))
}

/// Parses year, month and day of `2024-01-31`, which need not be a valid date. All bytes are tested with a
/// single branch.
fn year_month_day(text: &[u8; 10]) -> Option<(i64, i64, i64)> {
    let digit = |at: usize| text[at].wrapping_sub(b'0');
    let are_digits = [0, 1, 2, 3, 5, 6, 8, 9].iter().fold(true, |all, at| all & (digit(*at) < 10));
    let number = |at: usize| 10 * i64::from(digit(at)) + i64::from(digit(at + 1));
    let is_date = are_digits & (text[4] == b'-') & (text[7] == b'-');
    is_date.then(|| (100 * number(0) + number(2), number(5), number(8)))
}

/// Parses `12:30:15` to the second of the day.
fn second_of_day(text: &[u8; 8]) -> Option<i64> {
    let digit = |at: usize| text[at].wrapping_sub(b'0');
    let are_digits = [0, 1, 3, 4, 6, 7].iter().fold(true, |all, at| all & (digit(*at) < 10));
    let number = |at: usize| 10 * i64::from(digit(at)) + i64::from(digit(at + 1));
    let (hour, minute, second) = (number(0), number(3), number(6));
    let is_time = are_digits & (text[2] == b':') & (text[5] == b':');
    (is_time & (hour < 24) & (minute < 60) & (second < 60)).then(|| (hour * 60 + minute) * 60 + second)
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Returns the days from 1970-01-01 to a date.
fn days(year: i64, month: i64, day: i64) -> i64 {
    // Years are counted from March, so that the leap day is their last.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    365 * year + leap + (153 * month + 2) / 5 + day - 1 - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In hundredths, which are all that the texts have.
    fn hundredths(text: &str) -> Option<(i128, bool)> {
        let total =
            |found: Moment| i128::from(found.day) * 8_640_000 + i128::from(found.nanosecond / 10_000_000);
        Moment::parse(text.as_bytes()).map(|found| (total(found), found.has_zone))
    }

    #[test]
    fn texts_in_iso_form_are_read() {
        for (text, wanted) in [
            ("1970-01-01", (0, false)),
            ("1969-12-31T23:59:59.5", (-50, false)),
            ("2000-02-29", (95_178_240_000, false)),
            ("2024-01-31 12:30", (170_670_420_000, false)),
            ("2024-01-31T12:30:15Z", (170_670_421_500, true)),
            ("2024-01-31T12:30:15.250+01:00", (170_670_061_525, true)),
            ("2024-01-31T12:30-00:30", (170_670_600_000, true)),
            ("0001-01-01", (-6_213_559_680_000, false)),
            ("9999-12-31", (25_340_221_440_000, false)),
        ] {
            assert_eq!(hundredths(text), Some(wanted), "{text}");
        }
        for text in [
            "",
            "2024",
            "2024-1-1",
            "2024-13-01",
            "2023-02-29",
            "1900-02-29",
            "2024-01-01T",
            "2024-01-01T24:00",
            "2024-01-01T12",
            "2024-01-01T12:60",
            "2024-01-01T12:00:60",
            "2024-01-01T12:00:00.",
            "2024-01-01Z",
            "2024-01-01T12:00:00.1234567890",
            "2024-01-01T12:00+1",
            "2024-01-01T12:00ZZ",
            "2024-01-01x",
            "é024-01-01",
            "2024-01-0é",
            "+024-01-01",
        ] {
            assert_eq!(hundredths(text), None, "{text}");
        }
    }

    #[test]
    fn moments_are_counts_of_what_a_column_counts() {
        let noon = Moment::parse(b"1970-01-02T12:00").expect("noon");
        assert_eq!(noon.count(LogicalType::Date), Ok((1, true)));
        let local = LogicalType::Timestamp { unit: TimeUnit::Milli, zone: None };
        assert_eq!(noon.count(local), Ok((129_600_000, false)));
        let zoned = Moment::parse(b"1970-01-02T12:00Z").expect("noon");
        assert!(zoned.count(local).is_err());
        assert!(noon.count(LogicalType::Half).is_err());
    }
}
