//! Summary of decimals of any width that are stored as byte strings.

use super::{
    number::NumberSummary,
    options::StatsOptions,
    report::{ColumnStats, FrequentValue, SummaryOf},
    text::TextSummary,
};
use forthwith_columns::{DType, LogicalType, Value};
use std::cmp::Ordering;

/// Counts, extremes and moments of decimals. Extremes and distinct values are exact; moments are those of the
/// nearest floating-point numbers, if all values are in their range.
#[derive(Debug)]
pub(super) struct DecimalSummary {
    meaning: LogicalType,
    scale: u32,
    numbers: NumberSummary,
    /// Whether a value exceeds the largest floating-point number.
    exceeds_float: bool,
    /// Counts of the values, by their [keys](key).
    values: TextSummary,
    /// Smallest and largest value, in big-endian two's complement without redundant sign bytes.
    extremes: Option<[Vec<u8>; 2]>,
}

impl DecimalSummary {
    pub(super) fn new(meaning: LogicalType, distinct: usize) -> Self {
        Self {
            meaning,
            scale: if let LogicalType::Decimal { scale, .. } = meaning { scale } else { 0 },
            numbers: NumberSummary::new(DType::Float64, distinct),
            exceeds_float: false,
            values: TextSummary::new(true, distinct),
            extremes: None,
        }
    }

    pub(super) fn add(&mut self, bytes: &[u8]) {
        let bytes = significant(bytes);
        let number = float(bytes, self.scale);
        if number.is_finite() {
            self.numbers.add(&[number]);
        } else {
            self.exceeds_float = true;
        }
        self.values.add(&key(bytes));
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
            extremes.each_ref().map(|bytes| Some(Value::Logical(spelled(self.meaning, bytes))))
        });
        let moments = self.numbers.finish(String::new(), of, None, 0, options);
        let meaning = self.meaning;
        let mut found = self.values.finish(path, of, missing, options);
        // The sample truncates long values.
        let frequent = found.frequent.into_iter().filter_map(|FrequentValue { value, count }| match value {
            Value::Bytes(key) => of_key(&key)
                .map(|bytes| FrequentValue { value: Value::Logical(spelled(meaning, bytes)), count }),
            _ => None,
        });
        found.frequent = frequent.collect();
        // Sums and squares of large numbers may overflow, too.
        let is_finite = |value: &Value| matches!(value, Value::Float64(number) if number.is_finite());
        let has_moments = !self.exceeds_float && moments.mean.as_ref().is_some_and(is_finite);
        let quantiles = moments.quantiles;
        let has_quantiles = !self.exceeds_float && quantiles.iter().all(|found| is_finite(&found.value));
        ColumnStats {
            kind: meaning.to_string(),
            min,
            max,
            mean: moments.mean.filter(|_| has_moments),
            deviation: moments.deviation.filter(|deviation| has_moments && deviation.is_finite()),
            quantiles: if has_quantiles { quantiles } else { Vec::new() },
            quantiles_are_exact: moments.quantiles_are_exact,
            ..found
        }
    }
}

fn spelled(meaning: LogicalType, bytes: &[u8]) -> String {
    let spelled = meaning.spell_bytes(bytes);
    spelled.ok().flatten().unwrap_or_else(|| format!("a number of {} bytes", bytes.len()))
}

/// Returns a key with the order of the numbers: sign and length, before the significant bytes.
fn key(bytes: &[u8]) -> Vec<u8> {
    let length = i32::try_from(bytes.len()).unwrap_or(i32::MAX);
    let signed = if is_negative(bytes) { -length } else { length };
    // Negative lengths sort first.
    let prefix = signed.cast_unsigned() ^ SIGN;
    [&prefix.to_be_bytes(), bytes].concat()
}

/// Returns the significant bytes of a number from its key; `None` if the key was truncated.
fn of_key(key: &[u8]) -> Option<&[u8]> {
    let (prefix, bytes) = key.split_first_chunk()?;
    let signed = (u32::from_be_bytes(*prefix) ^ SIGN).cast_signed();
    (bytes.len() == signed.unsigned_abs() as usize).then_some(bytes)
}

const SIGN: u32 = 1 << 31;

/// Returns the floating-point number near that of [significant] bytes, divided by a power of ten; infinite if
/// it is out of range.
fn float(bytes: &[u8], scale: u32) -> f64 {
    const MOST_DIGITS: u32 = 22; // the largest power of ten that is exact
    const MOST_BITS: usize = 512;
    let (first, rest) = bytes.split_at(bytes.len().min(size_of::<i128>()));
    let start: i128 = if is_negative(bytes) { -1 } else { 0 };
    let mut number = first.iter().fold(start, |number, byte| (number << 8) | i128::from(*byte)) as f64;
    let (mut bits, mut digits) = (rest.len() * 8, scale);
    // The powers of two and ten are applied in alternation, so that neither overflows.
    while number != 0.0 && number.is_finite() && (bits > 0 || digits > 0) {
        if bits > 0 && (digits == 0 || number.abs() < 1.0) {
            let step = bits.min(MOST_BITS);
            number *= 2_f64.powi(step as i32);
            bits -= step;
        } else {
            let step = digits.min(MOST_DIGITS);
            number /= 10_f64.powi(step as i32);
            digits -= step;
        }
    }
    number
}

fn is_negative(bytes: &[u8]) -> bool {
    bytes.first().is_some_and(|first| *first >= 0x80)
}

/// Removes redundant sign bytes.
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

/// Compares two big-endian numbers in two's complement.
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
                let found = float(significant(&form), 0);
                assert!(
                    (found - left as f64).abs() <= (left as f64).abs() * 16.0 * f64::EPSILON,
                    "{left} {found}"
                );
            }
        }
        assert_eq!((compare(&[], &[0]), compare(&[], &[0xff])), (Ordering::Equal, Ordering::Greater));
        let mut keys: Vec<Vec<u8>> = numbers.map(|number| key(significant(&number.to_be_bytes()))).to_vec();
        assert!(keys.is_sorted());
        keys.dedup();
        assert_eq!(keys.len(), numbers.len());
        for (number, key) in numbers.iter().zip(&keys) {
            assert_eq!(of_key(key), Some(significant(&number.to_be_bytes())));
            assert_eq!(of_key(&key[..key.len() - 1]), None);
        }
    }

    #[test]
    fn numbers_are_scaled_without_overflow() {
        for (number, scale, expected) in
            [(12345_i128, 2, 123.45), (-5, 1, -0.5), (i128::MAX, 38, 1.701_411_834_604_692_4), (1, 400, 0.0)]
        {
            let found = float(significant(&number.to_be_bytes()), scale);
            assert!((found - expected).abs() <= 1e-15 * expected.abs(), "{found} {expected}");
        }
        // 2 to the power of 4000, as 1.318e1204.
        let large = [&[1][..], &[0; 500]].concat();
        assert!((float(&large, 1204) - 1.318_204_093_430_943).abs() < 1e-12);
        assert_eq!((float(&large, 0), float(&large, u32::MAX)), (f64::INFINITY, 0.0));
        let large = [&[0xff, 0][..], &[0; 500]].concat();
        assert_eq!(float(&large, 0), f64::NEG_INFINITY);
    }

    fn summary(scale: u32, values: &[&[u8]]) -> ColumnStats {
        let meaning = LogicalType::Decimal { precision: 1_000_000, scale };
        let mut summary = DecimalSummary::new(meaning, 1 << 15);
        values.iter().for_each(|value| summary.add(value));
        summary.finish("d".into(), SummaryOf::Values, 0, &StatsOptions::default())
    }

    #[test]
    fn values_are_counted_whatever_their_width() {
        let wide = |last: u8| [&[1; 70_000][..], &[last]].concat();
        let found = summary(0, &[&wide(1), &wide(2), &wide(1), &[5], &[0, 0, 5]]);
        let distinct = found.distinct.expect("counted");
        assert_eq!((found.count, distinct.count, distinct.is_exact), (5, 3, true));
        assert_eq!(found.frequent[0].value, Value::Logical("5".into()));
        assert_eq!((found.mean, found.deviation, found.quantiles.len()), (None, None, 0));
        // Beyond floating-point numbers only as whole numbers, or in their sums.
        let large = [&[1][..], &[0; 500]].concat();
        let found = summary(1204, &[&large, &large]);
        assert!(matches!(found.mean, Some(Value::Float64(mean)) if (mean - 1.318_204).abs() < 1e-5));
        let largest = [&[0x70][..], &[0; 127]].concat();
        let found = summary(0, &[&largest[..]; 3]);
        assert!(found.mean.is_none_or(|mean| matches!(mean, Value::Float64(mean) if mean.is_finite())));
        assert!(found.deviation.is_none_or(f64::is_finite));
    }
}
