//! Dates and times, which are compared with texts in ISO form and with each other, and what they share with decimals.

use super::{Checked, Compiler, Operand, Value};
use crate::{
    error::{Fault, Span},
    program::Kind,
    scalar::Number,
    syntax::Binary,
};
use forthwith_columns::{LogicalType, Moment};

impl Compiler<'_> {
    /// What a value means, if it is a column of dates, times or decimals.
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

    /// A comparison of which one side at least is a column of dates or times.
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

    /// A comparison with a count; where the value lies between two counts, `count` is the one before it.
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

    /// Dates, times or decimals as the numbers that they are counted by.
    pub(super) fn counts(&mut self, value: &Value, at: Span) -> Checked<Value> {
        let operand = self.operand(value, at)?;
        Ok(Value::Operand(Operand { kind: Kind::Number(operand.kind.dtype()), ..operand }))
    }
}

/// The comparison by which counts are compared, and with which count. Nothing if it is false or true for all of them, which is
/// the second.
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
