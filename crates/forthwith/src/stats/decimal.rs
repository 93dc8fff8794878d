//! Summary of decimals that are stored as byte strings, whatever their width.

use super::{
    number::NumberSummary,
    options::StatsOptions,
    report::{ColumnStats, SummaryOf},
    text::TextSummary,
};
use forthwith_columns::{DType, LogicalType, Value};
use std::cmp::Ordering;

/// Counts, extremes and moments of decimals. Extremes and distinct values are exact, moments are those of
/// floating-point numbers close to the values.
#[derive(Debug)]
pub(super) struct DecimalSummary {
    meaning: LogicalType,
    /// The number of last digits in one.
    divisor: f64,
    numbers: NumberSummary,
    texts: TextSummary,
    /// In two's complement, most significant byte first.
    extremes: Option<[Vec<u8>; 2]>,
}

impl DecimalSummary {
    pub(super) fn new(meaning: LogicalType, distinct: usize) -> Self {
        Self {
            meaning,
            divisor: divisor(meaning),
            numbers: NumberSummary::new(DType::Float64, distinct),
            texts: TextSummary::new(false, distinct),
            extremes: None,
        }
    }

    pub(super) fn add(&mut self, bytes: &[u8]) {
        self.numbers.add(&[float(bytes) / self.divisor]);
        self.texts.add(self.spelled(bytes).as_bytes());
        match &mut self.extremes {
            None => self.extremes = Some([bytes.to_vec(), bytes.to_vec()]),
            Some([low, _]) if compare(bytes, low).is_lt() => *low = bytes.to_vec(),
            Some([_, high]) if compare(bytes, high).is_gt() => *high = bytes.to_vec(),
            Some(_) => {}
        }
    }

    pub(super) fn finish(
        self,
        path: String,
        of: SummaryOf,
        missing: u64,
        options: &StatsOptions,
    ) -> ColumnStats {
        let extremes = self.extremes.as_ref();
        let [min, max] = extremes.map_or([None, None], |extremes| {
            extremes.each_ref().map(|bytes| Some(Value::Logical(self.spelled(bytes))))
        });
        let moments = self.numbers.finish(String::new(), of, None, 0, options);
        let mut found = self.texts.finish(path, of, missing, options);
        for frequent in &mut found.frequent {
            if let Value::String(text) = &frequent.value {
                frequent.value = Value::Logical(text.clone());
            }
        }
        ColumnStats {
            kind: self.meaning.to_string(),
            min,
            max,
            mean: moments.mean,
            deviation: moments.deviation,
            quantiles: moments.quantiles,
            quantiles_are_exact: moments.quantiles_are_exact,
            ..found
        }
    }

    fn spelled(&self, bytes: &[u8]) -> String {
        let spelled = self.meaning.spell_bytes(bytes);
        spelled.ok().flatten().unwrap_or_else(|| format!("a number of {} bytes", bytes.len()))
    }
}

/// The number of units that numbers with a meaning are counted in, in one: last digits of a decimal, ticks of a second.
pub(super) fn divisor(meaning: LogicalType) -> f64 {
    match meaning {
        LogicalType::Decimal { scale, .. } => 10_f64.powi(i32::try_from(scale).unwrap_or(i32::MAX)),
        LogicalType::Time(unit) | LogicalType::Timestamp { unit, .. } | LogicalType::Duration(unit) => {
            unit.in_a_second() as f64
        }
        _ => 1.0,
    }
}

/// The floating-point number close to one in two's complement, most significant byte first.
fn float(bytes: &[u8]) -> f64 {
    let is_negative = is_negative(bytes);
    // The complement of a negative number is one less than its absolute value.
    let flip = if is_negative { 0xff } else { 0 };
    let size = bytes.iter().fold(0.0, |sum: f64, byte| sum.mul_add(256.0, f64::from(byte ^ flip)));
    if is_negative { -size - 1.0 } else { size }
}

fn is_negative(bytes: &[u8]) -> bool {
    bytes.first().is_some_and(|first| *first >= 0x80)
}

/// Without bytes that only repeat the sign.
fn significant(mut bytes: &[u8]) -> &[u8] {
    let fill = if is_negative(bytes) { 0xff } else { 0 };
    while let [first, rest @ ..] = bytes
        && *first == fill
        && (fill == 0xff) == is_negative(rest)
    {
        bytes = rest;
    }
    bytes
}

/// Compares two numbers in two's complement, most significant byte first.
fn compare(left: &[u8], right: &[u8]) -> Ordering {
    let (left, right) = (significant(left), significant(right));
    match [left, right].map(is_negative) {
        [true, false] => Ordering::Less,
        [false, true] => Ordering::Greater,
        [true, true] => right.len().cmp(&left.len()).then_with(|| left.cmp(right)),
        [false, false] => left.len().cmp(&right.len()).then_with(|| left.cmp(right)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_compared_and_converted_as_numbers() {
        let numbers =
            [i128::MIN, -70_000, -257, -256, -255, -129, -128, -2, -1, 0, 1, 127, 128, 255, 256, i128::MAX];
        // The shortest and the longest form of each.
        let forms = |number: i128| {
            let bytes = number.to_be_bytes();
            [
                significant(&bytes).to_vec(),
                bytes.to_vec(),
                [&[if number < 0 { 0xff } else { 0 }; 3], &bytes[..]].concat(),
            ]
        };
        for left in numbers {
            for right in numbers {
                for (l, r) in forms(left).iter().flat_map(|l| forms(right).map(|r| (l.clone(), r))) {
                    assert_eq!(compare(&l, &r), left.cmp(&right), "{left} {right}");
                }
            }
            for form in forms(left) {
                let found = float(&form);
                assert!(
                    (found - left as f64).abs() <= (left as f64).abs() * 16.0 * f64::EPSILON,
                    "{left} {found}"
                );
            }
        }
        assert_eq!((compare(&[], &[0]), compare(&[], &[0xff])), (Ordering::Equal, Ordering::Greater));
    }
}
