//! Comparison of numbers.

use super::DiffOptions;
use forthwith_columns::{Column, DType, LogicalType, Native, TimeUnit};

/// Number of values that are compared as a block before they are compared individually.
const TOGETHER: u64 = 1024;

/// Numbers of a column, starting at an item.
#[derive(Clone, Copy)]
pub(super) struct NumberColumn<'a> {
    column: &'a Column,
    start: usize,
    meaning: Option<LogicalType>,
}

/// A number of any type, without loss.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Number {
    Whole(i128),
    Float(f64),
}

/// Callback for each row that differs, with the distance of the numbers.
type Report<'r> = dyn FnMut(u64, Option<f64>) + 'r;

impl<'a> NumberColumn<'a> {
    pub(super) const fn new(column: &'a Column, start: usize, meaning: Option<LogicalType>) -> Self {
        Self { column, start, meaning }
    }

    /// Compares `rows` numbers with those of another column.
    pub(super) fn compare(&self, other: &Self, rows: u64, options: &DiffOptions, report: &mut Report<'_>) {
        let is_alike = self.column.dtype() == other.column.dtype() && self.meaning == other.meaning;
        let is_float = matches!(self.column.dtype(), DType::Float32 | DType::Float64) || self.is_half();
        // Equal bytes are equal numbers, except for NaN if it is unequal to itself.
        let by_bytes = is_alike && (options.nan_equal || !is_float);
        for first in (0..rows).step_by(TOGETHER as usize) {
            let some = first..rows.min(first + TOGETHER);
            let (first, count) = (some.start as usize, (some.end - some.start) as usize);
            if by_bytes && self.bytes(first, count) == other.bytes(first, count) {
                continue;
            }
            if is_alike && self.are_close(other, first, count, options) {
                continue;
            }
            for row in some {
                let pair = [self.number(row as usize), other.number(row as usize)];
                let differ = match options.bitwise {
                    true => self.bytes(row as usize, 1) != other.bytes(row as usize, 1),
                    false => !are_equal(pair, options),
                };
                if differ {
                    report(row, distance(pair));
                }
            }
        }
    }

    fn is_half(&self) -> bool {
        self.meaning == Some(LogicalType::Half)
    }

    fn bytes(&self, first: usize, count: usize) -> &'a [u8] {
        let size = self.column.dtype().size();
        let start = (self.start + first) * size;
        self.column.as_bytes().get(start..start + count * size).unwrap_or_default()
    }

    /// Whether all these numbers are within the tolerances, by a test of the whole block; `false` is
    /// inconclusive.
    fn are_close(&self, other: &Self, first: usize, count: usize, options: &DiffOptions) -> bool {
        if options.bitwise {
            return false;
        }
        match self.column.dtype() {
            DType::Float32 => self.floats::<f32>(other, first, count, options),
            DType::Float64 => self.floats::<f64>(other, first, count, options),
            _ => false,
        }
    }

    fn floats<T: Native + Into<f64>>(
        &self,
        other: &Self,
        first: usize,
        count: usize,
        options: &DiffOptions,
    ) -> bool {
        let (Some(left), Some(right)) = (self.items::<T>(first, count), other.items::<T>(first, count))
        else {
            return false;
        };
        left.iter().zip(right).fold(true, |all, (left, right)| {
            let (left, right): (f64, f64) = ((*left).into(), (*right).into());
            all & ((left - right).abs() <= options.atol + options.rtol * right.abs())
        })
    }

    fn items<T: Native>(&self, first: usize, count: usize) -> Option<&'a [T]> {
        let start = self.start + first;
        self.column.items::<T>()?.get(start..start + count)
    }

    fn number(&self, row: usize) -> Number {
        let at = self.start + row;
        match self.column.dtype() {
            DType::Float32 => Number::Float(self.column.item::<f32>(at).map_or(0.0, f64::from)),
            DType::Float64 => Number::Float(self.column.item::<f64>(at).unwrap_or(0.0)),
            _ => {
                let whole = self.column.integer(at).unwrap_or(0);
                if self.is_half() {
                    return Number::Float(f64::from(LogicalType::half(whole as u16)));
                }
                Number::Whole(whole * self.meaning.map_or(1, nanoseconds))
            }
        }
    }
}

/// Returns the number of nanoseconds in a unit of a time; 1 for other logical types.
const fn nanoseconds(meaning: LogicalType) -> i128 {
    let (LogicalType::Time(unit) | LogicalType::Timestamp { unit, .. } | LogicalType::Duration(unit)) =
        meaning
    else {
        return 1;
    };
    match unit {
        TimeUnit::Second => 1_000_000_000,
        TimeUnit::Milli => 1_000_000,
        TimeUnit::Micro => 1_000,
        TimeUnit::Nano => 1,
    }
}

fn are_equal(pair: [Number; 2], options: &DiffOptions) -> bool {
    match pair {
        [Number::Whole(left), Number::Whole(right)] => left == right,
        [Number::Float(left), Number::Float(right)] => options.are_equal(left, right),
        [Number::Float(float), Number::Whole(whole)] | [Number::Whole(whole), Number::Float(float)] => {
            let rounded = whole as f64;
            let is_exact = rounded as i128 == whole;
            (is_exact || options.rtol > 0.0 || options.atol > 0.0) && options.are_equal(rounded, float)
        }
    }
}

/// Returns the distance of two numbers, if it is a number.
fn distance(pair: [Number; 2]) -> Option<f64> {
    let float = |number| match number {
        Number::Whole(whole) => whole as f64,
        Number::Float(float) => float,
    };
    let distance = match pair {
        [Number::Whole(left), Number::Whole(right)] => left.saturating_sub(right).unsigned_abs() as f64,
        [left, right] => (float(left) - float(right)).abs(),
    };
    distance.is_finite().then_some(distance)
}
