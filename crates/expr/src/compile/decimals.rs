//! Comparison of decimals with constants and with each other, and their conversion to floats on request.

use super::{Checked, Compiler, Operand, Value};
use crate::{error::Fault, error::Span, scalar::Number, syntax::Binary};
use forthwith_columns::{DType, LogicalType};

impl Compiler<'_> {
    /// Returns the scale of a value, if it is a column of decimals.
    pub(super) fn scale(&mut self, value: &Value) -> Option<u32> {
        match self.time(value)? {
            LogicalType::Decimal { scale, .. } => Some(scale),
            _ => None,
        }
    }

    /// Compares two values, of which at least one is a column of decimals.
    pub(super) fn decimals(&mut self, operation: Binary, x: &Value, y: &Value, at: Span) -> Checked<Value> {
        if !operation.is_comparison() {
            let what = format!("{} of decimals: {ONLY}", operation.word());
            return Err(Fault::new(at, what));
        }
        let (column, scale, number, operation) = match (self.scale(x), self.scale(y), x, y) {
            (Some(a), Some(b), ..) if a == b => {
                let (x, y) = (self.counts(x, at)?, self.counts(y, at)?);
                return self.comparison(operation, &x, &y, at);
            }
            (Some(scale), None, column, Value::Number(number)) => (column, scale, number, operation),
            (None, Some(scale), Value::Number(number), column) => {
                (column, scale, number, operation.mirrored())
            }
            (Some(a), Some(b), ..) => {
                let what = format!("a decimal with {a} digits behind the point meets one with {b}: {ONLY}");
                return Err(Fault::new(at, what));
            }
            _ => return Err(Fault::new(at, format!("a decimal meets something else: {ONLY}"))),
        };
        let Some((count, is_between)) = count(*number, scale) else {
            return Err(Fault::new(at, format!("a decimal is compared with {number}: {ONLY}")));
        };
        self.by_count(column, operation, count, is_between, at)
    }

    /// Converts decimals to floats: the unscaled value as a float, divided by a power of ten.
    pub(super) fn float_of_decimals(
        &mut self,
        x: &Value,
        scale: u32,
        to: DType,
        at: Span,
    ) -> Checked<Operand> {
        let counts = self.counts(x, at)?;
        let divisor = Value::Number(Number::Float(10f64.powi(scale.cast_signed())));
        let counts = self.numbers(&counts, at)?;
        let counts = Value::Operand(self.cast(counts, DType::Float64, at)?);
        let made = self.binary(Binary::Divide, &counts, &divisor, at)?;
        let made = self.numbers(&made, at)?;
        self.cast(made, to, at)
    }
}

/// Supported operations on decimals, for errors.
const ONLY: &str = "decimals are compared with numbers in the text and with decimals of as many digits behind the point; \
                    float64(…) makes floats of them";

/// Returns the unscaled value of a constant, rounded down, and whether it was rounded; `None` for booleans
/// and NaN. A float is converted from its shortest decimal representation. The result saturates at 128 bits.
fn count(number: Number, scale: u32) -> Option<(i128, bool)> {
    let (digits, exponent) = match number {
        Number::Bool(_) => return None,
        Number::Int(value) => (value, 0),
        Number::Float(value) if value.is_nan() => return None,
        Number::Float(value) if value.is_infinite() => {
            return Some((if value > 0.0 { i128::MAX } else { i128::MIN }, false));
        }
        Number::Float(value) => {
            let text = format!("{value:e}");
            let (digits, exponent) = text.split_once('e')?;
            let behind = digits.split_once('.').map_or(0, |(_, behind)| behind.len() as i64);
            (digits.replace('.', "").parse().ok()?, exponent.parse::<i64>().ok()? - behind)
        }
    };
    let shift = exponent + i64::from(scale);
    let power = u32::try_from(shift.unsigned_abs()).ok().and_then(|power| 10i128.checked_pow(power));
    Some(match power {
        _ if digits == 0 => (0, false),
        Some(power) if shift < 0 => (digits.div_euclid(power), digits.rem_euclid(power) != 0),
        None if shift < 0 => (if digits < 0 { -1 } else { 0 }, true),
        power => {
            let most = if digits < 0 { i128::MIN } else { i128::MAX };
            (power.and_then(|power| digits.checked_mul(power)).unwrap_or(most), false)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_counted_in_last_digits() {
        use Number::{Bool, Float, Int};
        for (number, scale, wanted) in [
            (Int(3), 2, Some((300, false))),
            (Int(-3), 0, Some((-3, false))),
            (Int(i128::MAX), 1, Some((i128::MAX, false))),
            (Int(-1), 60, Some((i128::MIN, false))),
            (Int(0), 60, Some((0, false))),
            (Float(10.55), 2, Some((1055, false))),
            (Float(10.555), 2, Some((1055, true))),
            (Float(-10.555), 2, Some((-1056, true))),
            (Float(0.1), 1, Some((1, false))),
            (Float(1e20), 1, Some((10i128.pow(21), false))),
            (Float(1e300), 1, Some((i128::MAX, false))),
            (Float(1e-300), 1, Some((0, true))),
            (Float(-1e-300), 1, Some((-1, true))),
            (Float(f64::NEG_INFINITY), 1, Some((i128::MIN, false))),
            (Float(f64::NAN), 1, None),
            (Bool(true), 1, None),
        ] {
            assert_eq!(count(number, scale), wanted, "{number:?} with {scale} digits");
        }
    }
}
