//! Summary of numbers.

use super::{
    counts::Counts,
    options::StatsOptions,
    report::{ColumnStats, FrequentValue, Quantile, SummaryOf},
    sample::Reservoir,
};
use forthwith_columns::{DType, LogicalType, Value};

/// Size of the sample for quantiles.
const SAMPLE: usize = 1 << 15;
/// Number of values that are summed before they are merged.
const TOGETHER: usize = 4096;

/// A number of a column.
pub(super) trait Num: Copy {
    fn float(self) -> f64;
    /// Returns the exact number, if its type is an integer.
    fn whole(self) -> Option<i128>;
    /// Returns bits that are equal for equal numbers.
    fn bits(self) -> u64;
    fn is_nan(self) -> bool {
        false
    }
}

macro_rules! whole {
    ($($number:ident)*) => {
        $(impl Num for $number {
            fn float(self) -> f64 {
                self as f64
            }
            fn whole(self) -> Option<i128> {
                Some(i128::from(self))
            }
            fn bits(self) -> u64 {
                self as u64
            }
        })*
    };
}
whole!(i8 i16 i32 i64 u8 u16 u32 u64);

macro_rules! float {
    ($($number:ident)*) => {
        $(impl Num for $number {
            fn float(self) -> f64 {
                f64::from(self)
            }
            fn whole(self) -> Option<i128> {
                None
            }
            fn bits(self) -> u64 {
                // 0.0 and -0.0 are equal.
                (f64::from(self) + 0.0).to_bits()
            }
            fn is_nan(self) -> bool {
                self.is_nan()
            }
        })*
    };
}
float!(f32 f64);

/// Counts, extremes and moments of numbers, and samples of them.
#[derive(Debug)]
pub(super) struct NumberSummary {
    dtype: DType,
    count: u64,
    nan: u64,
    /// Smallest and largest number; exact for integers.
    whole: Option<(i128, i128)>,
    float: Option<(f64, f64)>,
    sum: i128,
    mean: f64,
    /// Sum of squared deviations from the mean.
    squares: f64,
    counts: Counts,
    sample: Reservoir<u64>,
}

impl NumberSummary {
    pub(super) fn new(dtype: DType, distinct: usize) -> Self {
        let are_bytes = matches!(dtype, DType::Bool | DType::Int8 | DType::UInt8);
        Self {
            dtype,
            count: 0,
            nan: 0,
            whole: None,
            float: None,
            sum: 0,
            mean: 0.0,
            squares: 0.0,
            counts: Counts::new(are_bytes, distinct),
            sample: Reservoir::new(SAMPLE),
        }
    }

    pub(super) fn add<T: Num>(&mut self, numbers: &[T]) {
        let mut sound: Vec<T> = Vec::new();
        for numbers in numbers.chunks(TOGETHER) {
            let nan = numbers.iter().filter(|number| number.is_nan()).count();
            if nan == 0 {
                self.add_sound(numbers);
                continue;
            }
            self.nan += nan as u64;
            sound.clear();
            sound.extend(numbers.iter().filter(|number| !number.is_nan()));
            self.add_sound(&sound);
        }
    }

    /// Adds numbers without NaN, at most [`TOGETHER`].
    fn add_sound<T: Num>(&mut self, numbers: &[T]) {
        let Some(first) = numbers.first() else { return };
        let count = numbers.len() as f64;
        let sum: f64 = if let Some(first) = first.whole() {
            let (mut low, mut high, mut sum) = (first, first, 0);
            for number in numbers.iter().filter_map(|number| number.whole()) {
                low = low.min(number);
                high = high.max(number);
                sum += number;
            }
            self.whole = Some(self.whole.map_or((low, high), |(l, h)| (l.min(low), h.max(high))));
            self.sum = self.sum.saturating_add(sum);
            sum as f64
        } else {
            let (mut low, mut high) = (first.float(), first.float());
            let mut sums = [0.0; 8];
            for eight in numbers.chunks(8) {
                for (sum, number) in sums.iter_mut().zip(eight) {
                    let number = number.float();
                    *sum += number;
                    low = if number < low { number } else { low };
                    high = if number > high { number } else { high };
                }
            }
            self.float = Some(self.float.map_or((low, high), |(l, h)| (l.min(low), h.max(high))));
            sums.iter().sum()
        };
        let mean = sum / count;
        let mut squares = [0.0; 8];
        for eight in numbers.chunks(8) {
            for (square, number) in squares.iter_mut().zip(eight) {
                let deviation = number.float() - mean;
                *square += deviation * deviation;
            }
        }
        // Merges two sets by the formula of Chan, Golub and LeVeque.
        let (before, all) = (self.count as f64, self.count as f64 + count);
        let distance = mean - self.mean;
        self.mean += distance * count / all;
        self.squares += squares.iter().sum::<f64>() + distance * distance * before * count / all;
        self.count += numbers.len() as u64;
        self.counts.add(numbers.iter().map(|number| number.bits()));
        self.sample.offer(numbers.len() as u64, |at| numbers[at as usize].bits());
    }

    pub(super) fn finish(
        self,
        path: String,
        of: SummaryOf,
        meaning: Option<LogicalType>,
        missing: u64,
        options: &StatsOptions,
    ) -> ColumnStats {
        let is_float = matches!(self.dtype, DType::Float32 | DType::Float64);
        let spelled = |bits: u64| spell(bits, self.dtype, meaning);
        let (is_exact, count) = (self.sample.is_complete(), self.count);
        let divisor = meaning.map_or(1.0, divisor);
        // Decimals are summarised as numbers; other logical types are formatted.
        let is_spelled = meaning.is_some_and(|meaning| !matches!(meaning, LogicalType::Decimal { .. }));
        let quantiles: Vec<Value> = if is_spelled {
            let mut sorted: Vec<i128> =
                self.sample.values().iter().map(|bits| whole(*bits, self.dtype)).collect();
            sorted.sort_unstable();
            let at = |fraction: &f64| spelled(whole_quantile(&sorted, *fraction) as u64);
            options.quantiles.iter().map(at).collect()
        } else {
            let value = |bits: u64| match is_float {
                true => f64::from_bits(bits),
                false => whole(bits, self.dtype) as f64 / divisor,
            };
            let mut sorted: Vec<f64> = self.sample.values().iter().map(|bits| value(*bits)).collect();
            sorted.sort_unstable_by(f64::total_cmp);
            options.quantiles.iter().map(|fraction| Value::Float64(quantile(&sorted, *fraction))).collect()
        };
        let quantiles = options.quantiles.iter().zip(quantiles).filter(|_| count > 0);
        let quantiles = quantiles.map(|(fraction, value)| Quantile { fraction: *fraction, value }).collect();
        let (distinct, frequent, is_counted) = self.counts.finish(options.top, &self.sample);
        let frequent = frequent.into_iter();
        let frequent = frequent.map(|(bits, count)| FrequentValue { value: spelled(bits), count }).collect();
        let extreme = |(low, high): (i128, i128)| [low, high].map(|number| spelled(number as u64));
        let float_extreme = |(low, high): (f64, f64)| [low, high].map(|number| spelled(number.bits()));
        let extremes = self.whole.map(extreme).or_else(|| self.float.map(float_extreme));
        let [min, max] = extremes.map_or([None, None], |extremes| extremes.map(Some));
        let mean = match self.whole {
            Some(_) if is_spelled => spelled(nearest(self.sum, count) as u64),
            Some(_) => Value::Float64(self.sum as f64 / count as f64 / divisor),
            None => Value::Float64(self.mean),
        };
        ColumnStats {
            path,
            of,
            kind: meaning.map_or_else(|| self.dtype.name().to_owned(), |meaning| meaning.to_string()),
            count,
            missing,
            nan: is_float.then_some(self.nan),
            min,
            max,
            mean: (count > 0).then_some(mean),
            deviation: (count > 0).then(|| (self.squares / count as f64).sqrt() / divisor),
            quantiles,
            quantiles_are_exact: is_exact,
            distinct: Some(distinct),
            frequent,
            frequent_is_exact: is_counted,
        }
    }
}

/// Returns the number of stored units in one: last digits of a decimal, or ticks of a second.
fn divisor(meaning: LogicalType) -> f64 {
    match meaning {
        LogicalType::Decimal { scale, .. } => 10_f64.powi(i32::try_from(scale).unwrap_or(i32::MAX)),
        LogicalType::Time(unit) | LogicalType::Timestamp { unit, .. } | LogicalType::Duration(unit) => {
            unit.in_a_second() as f64
        }
        _ => 1.0,
    }
}

/// Returns a quantile of sorted numbers, interpolated linearly.
fn quantile(sorted: &[f64], fraction: f64) -> f64 {
    let at = fraction.clamp(0.0, 1.0) * sorted.len().saturating_sub(1) as f64;
    let low = at.floor() as usize;
    let (Some(left), right) = (sorted.get(low), sorted.get(low + 1)) else { return f64::NAN };
    match right {
        Some(right) if at > low as f64 => left + (right - left) * (at - low as f64),
        _ => *left,
    }
}

/// Returns a quantile like [`quantile`], rounded to the nearest integer.
fn whole_quantile(sorted: &[i128], fraction: f64) -> i128 {
    let at = fraction.clamp(0.0, 1.0) * sorted.len().saturating_sub(1) as f64;
    let low = at.floor() as usize;
    let Some(left) = sorted.get(low) else { return 0 };
    let right = sorted.get(low + 1).unwrap_or(left);
    left + ((right - left) as f64 * (at - low as f64)).round() as i128
}

/// Returns the quotient of a sum and a count, rounded to the nearest integer.
const fn nearest(sum: i128, count: u64) -> i128 {
    let count = count as i128;
    if count == 0 {
        0
    } else {
        (sum.saturating_mul(2).saturating_add(count)).div_euclid(count.saturating_mul(2))
    }
}

fn whole(bits: u64, dtype: DType) -> i128 {
    match dtype {
        DType::UInt64 => i128::from(bits),
        _ => i128::from(bits as i64),
    }
}

/// Converts the bits of a number to a value of its logical type.
fn spell(bits: u64, dtype: DType, meaning: Option<LogicalType>) -> Value {
    match dtype {
        DType::Bool => Value::Bool(bits != 0),
        DType::Float32 => Value::Float32(f64::from_bits(bits) as f32),
        DType::Float64 => Value::Float64(f64::from_bits(bits)),
        DType::UInt64 => Value::UInt(bits),
        _ => {
            let number = bits as i64;
            let meant = meaning.and_then(|meaning| meaning.spell_number(number));
            meant.map_or(Value::Int(number), Value::Logical)
        }
    }
}
