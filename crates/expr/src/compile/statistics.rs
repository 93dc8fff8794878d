//! Means and variances of lists, computed in float64 from sums and counts, as in Awkward Array.

use super::{Checked, Compiler, Value};
use crate::{
    error::Span,
    syntax::{Binary, Reduction, Unary},
};
use forthwith_columns::DType;

impl Compiler<'_> {
    /// Computes the mean, variance or standard deviation of each list; NaN for an empty list.
    pub(super) fn statistic(
        &mut self,
        by: Reduction,
        items: &Value,
        axis: Option<i64>,
        at: Span,
    ) -> Checked<Value> {
        let items = self.numbers(items, at)?;
        self.lists_within(items.space, by.word(), at)?;
        let items = Value::Operand(self.cast(items, DType::Float64, at)?);
        let count = self.reduce(Reduction::Count, &items, axis, at)?;
        let sum = self.reduce(Reduction::Sum, &items, axis, at)?;
        let mean = self.binary(Binary::Divide, &sum, &count, at)?;
        if by == Reduction::Mean {
            return Ok(mean);
        }
        let deviation = self.binary(Binary::Subtract, &items, &mean, at)?;
        let squared = self.unary(Unary::Square, &deviation, at)?;
        let sum = self.reduce(Reduction::Sum, &squared, axis, at)?;
        let variance = self.binary(Binary::Divide, &sum, &count, at)?;
        match by {
            Reduction::Std => self.unary(Unary::Sqrt, &variance, at),
            _ => Ok(variance),
        }
    }

    /// Rounds to a number of decimal digits by scaling with a power of ten, as NumPy does.
    pub(super) fn rounded(&mut self, x: &Value, digits: i64, at: Span) -> Checked<Value> {
        let operand = self.numbers(x, at)?;
        let dtype = operand.kind.dtype();
        let x = Value::Operand(operand);
        match (crate::types::class(dtype), digits) {
            (crate::types::Class::Signed | crate::types::Class::Unsigned, 0..) => Ok(x),
            (crate::types::Class::Float, -300..=300) if digits != 0 => {
                let power = 10f64.powi(digits.unsigned_abs() as i32); // at most 300
                let power = Value::Number(crate::scalar::Number::Float(power));
                let (there, back) = match digits > 0 {
                    true => (Binary::Multiply, Binary::Divide),
                    false => (Binary::Divide, Binary::Multiply),
                };
                let scaled = self.binary(there, &x, &power, at)?;
                let rounded = self.unary(Unary::Rint, &scaled, at)?;
                self.binary(back, &rounded, &power, at)
            }
            (_, 0) => self.unary(Unary::Rint, &x, at),
            _ => {
                let what =
                    format!("round of {dtype} to {digits} digits: float64(…) makes floats, to 300 digits");
                Err(crate::error::Fault::new(at, what))
            }
        }
    }
}
