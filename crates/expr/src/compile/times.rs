//! Dates and times, which can be compared with texts in ISO form and with each other, and conversions shared
//! with decimals.

use super::{Checked, Compiler, Operand, Value};
use crate::{
    error::{Fault, Span},
    program::Kind,
    scalar::Number,
    syntax::Binary,
};
use forthwith_columns::{LogicalType, Moment};

impl Compiler<'_> {
    /// Returns the logical type of a value that is a column of dates, times or decimals.
    pub(super) fn time(&mut self, value: &Value) -> Option<LogicalType> {
        let kind = match value {
            Value::Column(input) => self.load(*input, Span::default()).ok()?.kind,
            Value::Operand(operand) => operand.kind,
            Value::Number(_) | Value::Text(_) => return None,
        };
        match kind {
            Kind::Time(_, meaning) => Some(meaning),
            Kind::Number(_) | Kind::Text => None,
        }
    }

    /// Compares two values, of which at least one is a column of dates, times or decimals.
    pub(super) fn times(&mut self, operation: Binary, x: &Value, y: &Value, at: Span) -> Checked<Value> {
        if self.scale(x).is_some() || self.scale(y).is_some() {
            return self.decimals(operation, x, y, at);
        }
        if !operation.is_comparison() {
            let meaning = self.time(x).or(self.time(y)).unwrap_or(LogicalType::Date);
            let what = format!("{} of a {meaning}: it can only be compared", operation.word());
            return Err(Fault::new(at, what));
        }
        let (column, meaning, text, operation) = match (self.time(x), self.time(y), x, y) {
            (Some(a), Some(b), ..) if a.is_alike(b) => {
                let (x, y) = (self.counts(x, at)?, self.counts(y, at)?);
                return self.comparison(operation, &x, &y, at);
            }
            (Some(meaning), None, column, Value::Text(text)) => (column, meaning, text, operation),
            (None, Some(meaning), Value::Text(text), column) => (column, meaning, text, operation.mirrored()),
            (Some(a), Some(b), ..) => {
                return Err(Fault::new(
                    at,
                    format!("a {a} is compared with a {b}: they must be of one type"),
                ));
            }
            (a, b, ..) => {
                let meaning = a.or(b).unwrap_or(LogicalType::Date);
                let what = format!(
                    "a {meaning} is compared with a text in ISO form, such as \"2024-01-31\" or \"2024-01-31T12:30:00\""
                );
                return Err(Fault::new(at, what));
            }
        };
        let Some(moment) = Moment::parse(text.as_bytes()) else {
            let what = format!(
                "{text:?} is no date or time in ISO form, such as \"2024-01-31\" or \"2024-01-31T12:30:00\""
            );
            return Err(Fault::new(at, what));
        };
        let (count, is_between) = moment.count(meaning).map_err(|what| Fault::new(at, what))?;
        self.by_count(column, operation, count, is_between, at)
    }

    /// Compares a column with a count of its unit. If the value is between two counts, `count` is the lower
    /// one.
    pub(super) fn by_count(
        &mut self,
        column: &Value,
        operation: Binary,
        count: i128,
        is_between: bool,
        at: Span,
    ) -> Checked<Value> {
        let (operation, count) = compared(operation, count, is_between);
        let column = self.counts(column, at)?;
        match count {
            Ok(count) => self.comparison(operation, &column, &Value::Number(Number::Int(count)), at),
            Err(holds) => {
                let column = self.numbers(&column, at)?;
                let same = if holds { Binary::Equal } else { Binary::NotEqual };
                self.same_as_itself(column, same, at)
            }
        }
    }

    /// Returns dates, times or decimals as the integers that store them.
    pub(super) fn counts(&mut self, value: &Value, at: Span) -> Checked<Value> {
        let operand = self.operand(value, at)?;
        Ok(Value::Operand(Operand { kind: Kind::Number(operand.kind.dtype()), ..operand }))
    }
}

/// Returns the comparison and the count by which stored integers are compared. In place of the count, an
/// error has the result if it is the same for all integers.
fn compared(operation: Binary, count: i128, is_between: bool) -> (Binary, Result<i128, bool>) {
    match operation {
        operation if !is_between => (operation, Ok(count)),
        Binary::Less | Binary::LessEqual => (Binary::LessEqual, Ok(count)),
        Binary::Greater | Binary::GreaterEqual => (Binary::Greater, Ok(count)),
        operation => (operation, Err(operation == Binary::NotEqual)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_between_two_counts_are_compared_with_the_one_before() {
        use Binary::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
        for (operation, wanted) in [
            (Less, (LessEqual, Ok(1))),
            (LessEqual, (LessEqual, Ok(1))),
            (Greater, (Greater, Ok(1))),
            (GreaterEqual, (Greater, Ok(1))),
            (Equal, (Equal, Err(false))),
            (NotEqual, (NotEqual, Err(true))),
        ] {
            assert_eq!(compared(operation, 1, true), wanted);
            assert_eq!(compared(operation, 1, false), (operation, Ok(1)));
        }
    }
}
