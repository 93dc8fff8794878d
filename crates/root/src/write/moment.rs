//! Time and UUID of a written file.

use forthwith_platform::wall_clock;
use std::hash::{BuildHasher, Hasher, RandomState};

use forthwith_columns::calendar;

use crate::record::Datime;

/// Seconds since 1970. Files store times in UTC, so that they do not depend on the time zone of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment(pub i64);

impl Moment {
    /// Returns the time of the environment variable `SOURCE_DATE_EPOCH`, so that equal input gives equal
    /// bytes, or else the present time.
    #[must_use]
    pub fn now() -> Self {
        Self::fixed().unwrap_or_else(|| Self(i64::try_from(wall_clock().as_secs()).unwrap_or(0)))
    }

    /// Returns the time of the environment variable `SOURCE_DATE_EPOCH`, if it is set to a number.
    #[must_use]
    pub fn fixed() -> Option<Self> {
        std::env::var("SOURCE_DATE_EPOCH").ok()?.trim().parse().ok().map(Self)
    }

    /// Converts the time to ROOT's form. Years outside 1995 to 2058 are clamped to the nearest day of that
    /// range.
    #[must_use]
    pub fn datime(self) -> Datime {
        let days = self.0.div_euclid(86_400).clamp(FIRST_DAY, LAST_DAY);
        let second = self.0.rem_euclid(86_400) as u32;
        let [year, month, day] = calendar(days).map(|number| number as u32);
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        let date = (year - 1995) << 26 | month << 22 | day << 17;
        Datime(date | hour << 12 | minute << 6 | second)
    }
}

/// Days of 1 January 1995 and 31 December 2058, counted from 1970.
const FIRST_DAY: i64 = 9131;
const LAST_DAY: i64 = 32_506;

/// UUID of a file or directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uuid(pub [u8; 16]);

impl Uuid {
    /// Returns a random UUID, or one that is derived from the environment variable `SOURCE_DATE_EPOCH` if it
    /// is set.
    #[must_use]
    pub fn fresh() -> Self {
        match Moment::fixed() {
            Some(Moment(seconds)) => Self::from_numbers(seconds as u64, FIXED),
            None => {
                let random = || RandomState::new().build_hasher().finish();
                Self::from_numbers(random(), random())
            }
        }
    }

    /// Derives the UUID of a part, such as a directory of a file, from its number.
    #[must_use]
    pub fn part(self, number: u64) -> Self {
        let [high, low] = self.halves();
        Self::from_numbers(
            high ^ number.wrapping_mul(SPREAD),
            low ^ number.wrapping_mul(SPREAD).rotate_left(32),
        )
    }

    fn halves(self) -> [u64; 2] {
        let half = |at: usize| self.0[at..at + 8].iter().fold(0, |sum, &byte| sum << 8 | u64::from(byte));
        [half(0), half(8)]
    }

    /// Creates a UUID of version 4 from 128 bits, six of which are replaced.
    fn from_numbers(high: u64, low: u64) -> Self {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&high.to_be_bytes());
        bytes[8..].copy_from_slice(&low.to_be_bytes());
        bytes[6] = bytes[6] & 0x0F | 0x40;
        bytes[8] = bytes[8] & 0x3F | 0x80;
        Self(bytes)
    }
}

const FIXED: u64 = 0x666f_7274_6877_6974;
/// An odd multiplier whose bits are evenly distributed (the golden ratio).
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_dates() {
        let text = |seconds| Moment(seconds).datime().to_string();
        assert_eq!(text(951_826_554), "2000-02-29 12:15:54");
        assert_eq!(text(1_798_761_599), "2026-12-31 23:59:59");
        assert_eq!(text(0), "1995-01-01 00:00:00");
        assert_eq!(text(i64::MAX / 2).get(..10), Some("2058-12-31"));
    }

    #[test]
    fn parts_have_numbers_of_their_own() {
        let file = Uuid([7; 16]);
        assert_ne!(file.part(1), file.part(2));
        assert_eq!(file.part(1), file.part(1));
        assert_ne!(Uuid::fresh(), file);
    }
}
