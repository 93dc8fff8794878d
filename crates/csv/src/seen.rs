//! Inference of column types from all cells.

use crate::{
    plain::Cell,
    types::{CellType, boolean, decimal, float, integer, moment, parts, time, unsigned, whole},
};
use forthwith_kernels::digits;

/// Set of the types of the cells of a column so far, as a union of the constants below.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen(u16);

const MISSING: u16 = 1;
/// Empty cells, in quotes or not, which are missing unless the column has texts.
const BLANK: u16 = 1 << 1;
const BOOLS: u16 = 1 << 2;
const INTEGERS: u16 = 1 << 3;
const NEGATIVE: u16 = 1 << 4;
/// Integers above `i64::MAX`.
const LARGE: u16 = 1 << 5;
/// Integers that may not be exact as `f64`.
const WIDE: u16 = 1 << 6;
const FLOATS: u16 = 1 << 7;
const DATES: u16 = 1 << 8;
const TIMES: u16 = 1 << 9;
const ZONED: u16 = 1 << 10;
/// Times with more than six digits after the decimal point of the seconds.
const FINE: u16 = 1 << 11;
/// Times that are out of range of 64-bit nanoseconds.
const FAR: u16 = 1 << 12;
const TEXTS: u16 = 1 << 13;
/// Times without a zone.
const LOCAL: u16 = 1 << 14;

/// Upper bound on the integers that are always exact as `f64`.
const EXACT: u64 = 1 << 53;
/// Number of digits of integers that are always exact as `f64`.
const NARROW: usize = 15;
/// Years that are in the range of 64-bit nanoseconds.
const NEAR: std::ops::RangeInclusive<u64> = 1700..=2200;

impl Seen {
    /// Adds the types of cells.
    pub(crate) fn cells<'a>(&mut self, cells: impl IntoIterator<Item = Cell<'a>>) {
        let (mut all, mut last) = (self.0, 0);
        for cell in cells {
            if cell.text.is_empty() {
                all |= if cell.is_quoted { BLANK } else { MISSING | BLANK };
            } else if all & TEXTS == 0 {
                // Most cells are of the same kind as the previous one.
                last = same_kind(last, cell.text).unwrap_or_else(|| kind(cell.text));
                all |= last;
            }
        }
        self.0 = all;
    }

    /// Adds the types of another set.
    pub(crate) const fn merge(&mut self, other: Self) {
        self.0 |= other.0;
    }

    const fn has(self, what: u16) -> bool {
        self.0 & what != 0
    }

    /// Whether a column of this type has missing cells.
    pub(crate) fn is_optional(self, of: CellType) -> bool {
        self.has(MISSING) || self.has(BLANK) && of != CellType::String
    }

    /// Returns the narrowest type that represents all cells exactly.
    pub(crate) fn found(self) -> CellType {
        let (bools, integers, floats) = (self.has(BOOLS), self.has(INTEGERS), self.has(FLOATS));
        let (dates, times) = (self.has(DATES), self.has(TIMES));
        let kinds = usize::from(bools) + usize::from(integers || floats) + usize::from(dates || times);
        if self.has(TEXTS) || kinds != 1 {
            return CellType::String;
        }
        match () {
            () if bools => CellType::Bool,
            () if integers && !floats && !self.has(LARGE) => CellType::Int64,
            () if integers && !floats && !self.has(NEGATIVE) => CellType::UInt64,
            () if floats && !(integers && self.has(WIDE)) => CellType::Float64,
            () if dates && !times => CellType::Date,
            () if self.has(ZONED) && self.has(LOCAL) => CellType::String,
            () if times && !dates && !(self.has(FINE) && self.has(FAR)) => {
                CellType::Timestamp { nano: self.has(FINE), utc: self.has(ZONED) }
            }
            () => CellType::String,
        }
    }
}

/// Returns the type of a cell that is not empty.
fn kind(cell: &[u8]) -> u16 {
    if decimal(cell).is_some() {
        return FLOATS;
    }
    if let Some(moment) = moment(cell) {
        let has_time = cell.len() > 10;
        let zoned = if moment.has_zone() { ZONED } else { LOCAL };
        let fine = if has_time && fraction(cell) > 6 { FINE } else { 0 };
        let far = if time(moment, true, moment.has_zone()).is_none() { FAR } else { 0 };
        return if has_time { TIMES | zoned } else { DATES } | fine | far;
    }
    if boolean(cell).is_some() {
        return BOOLS;
    }
    if let Some(number) = integer(cell) {
        let negative = if number < 0 { NEGATIVE } else { 0 };
        return INTEGERS | negative | if number.unsigned_abs() > EXACT { WIDE } else { 0 };
    }
    if unsigned(cell).is_some() {
        return INTEGERS | LARGE | WIDE;
    }
    if float(cell).is_some() { FLOATS } else { TEXTS }
}

/// Returns the type of a cell as [`kind`] does, but faster, for common spellings of the type `last`; `None`
/// for all others.
#[inline]
fn same_kind(last: u16, cell: &[u8]) -> Option<u16> {
    let unsigned = cell.strip_prefix(b"-").unwrap_or(cell);
    match last & (FLOATS | INTEGERS | TIMES | DATES | BOOLS) {
        FLOATS => {
            let (before, after) = parts(unsigned)?;
            whole(before)?;
            digits::number(after).map(|_| FLOATS)
        }
        INTEGERS if unsigned.len() <= NARROW => {
            let number = whole(unsigned)?;
            let is_negative = unsigned.len() < cell.len();
            (number > 0 || !is_negative).then_some(INTEGERS | if is_negative { NEGATIVE } else { 0 })
        }
        DATES if cell.len() == 10 => is_day(cell).then_some(DATES),
        TIMES if cell.len() >= 19 => {
            let is_near = is_day(&cell[..10]) && matches!(cell[10], b'T' | b' ') && is_clock(&cell[11..19]);
            let (rest, zoned) = match cell[19..].strip_suffix(b"Z") {
                Some(rest) => (rest, ZONED),
                None => (&cell[19..], LOCAL),
            };
            let is_plain = match rest {
                [] => true,
                [b'.', fraction @ ..] => {
                    (1..=6).contains(&fraction.len()) && digits::number(fraction).is_some()
                }
                _ => false,
            };
            (is_near && is_plain).then_some(TIMES | zoned)
        }
        BOOLS => boolean(cell).map(|_| BOOLS),
        _ => None,
    }
}

/// Whether ten bytes are a date within [`NEAR`], up to day 28 of the month, which is valid in every month.
fn is_day(text: &[u8]) -> bool {
    let within = |at: std::ops::Range<usize>, range: std::ops::RangeInclusive<u64>| {
        digits::number(&text[at]).is_some_and(|number| range.contains(&number))
    };
    text[4] == b'-' && text[7] == b'-' && within(0..4, NEAR) && within(5..7, 1..=12) && within(8..10, 1..=28)
}

/// Whether eight bytes are a time as `hh:mm:ss`.
fn is_clock(text: &[u8]) -> bool {
    let below = |at: usize, end: u64| digits::number(&text[at..at + 2]).is_some_and(|number| number < end);
    text[2] == b':' && text[5] == b':' && below(0, 24) && below(3, 60) && below(6, 60)
}

/// Returns the number of digits after the decimal point of the seconds.
fn fraction(cell: &[u8]) -> usize {
    let Some(at) = cell.iter().position(|byte| *byte == b'.') else { return 0 };
    cell[at + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(text: &str) -> Cell<'_> {
        Cell { text: text.as_bytes(), is_quoted: false }
    }

    fn found(cells: &[&str]) -> CellType {
        let mut seen = Seen::default();
        seen.cells(cells.iter().map(|text| cell(text)));
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
            (&["2024-02-29T12:00:00Z", "2024-02-29T12:00:00"], CellType::String),
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
    fn a_cell_is_what_it_is_without_the_one_before() {
        let mut seed = 3_u64;
        let mut next = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) as usize % below
        };
        let plain = [
            "1",
            "-2",
            "0",
            "-0",
            "007",
            "123456789012345",
            "1234567890123456",
            "9007199254740993",
            "1.5",
            "-0.25",
            "1.",
            ".5",
            "00.5",
            "123456789012.345678",
            "1234567890123.456789",
            "2024-02-28",
            "2024-02-29",
            "2023-02-29",
            "1600-01-01",
            "2300-01-01",
            "2024-13-01",
            "2024-02-28T12:30:15",
            "2024-02-28 12:30:15.25",
            "2024-02-28 12:30:15.1234567",
            "2024-02-28T12:30:15Z",
            "2024-02-28T12:30:15.250000Z",
            "2024-02-28T12:30:15+01:00",
            "2024-02-28T24:30:15",
            "2024-02-28T12:30:60",
            "2024-02-28T12:30",
            "2024-02-28T12:30:15.",
            "true",
            "FALSE",
            "x",
            "-",
            "1e9",
        ];
        let mut found = 0;
        for _ in 0..200_000 {
            let mut text = plain[next(plain.len())].as_bytes().to_vec();
            if next(3) == 0 {
                let at = next(text.len());
                text[at] = b"0123456789-.:TZ e"[next(17)];
            }
            let wanted = kind(&text);
            for last in [FLOATS, INTEGERS, DATES, TIMES, BOOLS, TIMES | ZONED | FINE, 0] {
                if let Some(same) = same_kind(last, &text) {
                    found += 1;
                    assert_eq!(same, wanted, "{}", String::from_utf8_lossy(&text));
                }
            }
        }
        assert!(found > 50_000, "{found}");
    }

    #[test]
    fn cells_are_seen_in_parts_as_at_once() {
        let texts = ["1", "", "2.5", "-3", "9007199254740993"];
        for split in 0..=texts.len() {
            let (mut whole, mut left, mut right) = (Seen::default(), Seen::default(), Seen::default());
            whole.cells(texts.iter().map(|text| cell(text)));
            left.cells(texts[..split].iter().map(|text| cell(text)));
            right.cells(texts[split..].iter().map(|text| cell(text)));
            left.merge(right);
            assert_eq!(left, whole);
        }
    }
}
