//! Interval arithmetic over expressions: whether a cut can be true, given limits of the columns.

use crate::{
    program::{Kind, Output, Program, Register, Step},
    scalar::Typed,
    syntax::{Binary, Reduction, Unary},
    types::{Class, bounds, class},
};
use forthwith_columns::{DType, Form, with_integer};
use std::sync::Arc;

/// Inclusive limits of values.
#[derive(Clone, Debug, PartialEq)]
pub enum Interval {
    /// Integers; false and true are 0 and 1.
    Integers(i128, i128),
    /// Floating-point numbers; values may also be NaN.
    Floats(f64, f64),
    /// Text, compared byte by byte.
    Text(Vec<u8>, Vec<u8>),
}

impl Program {
    /// Whether a boolean expression can be true for any entry, given limits of its columns in the order of
    /// [`inputs`](Self::inputs). `true` if unknown.
    #[must_use]
    pub fn may_hold(&self, output: usize, limits: &[Option<Interval>]) -> bool {
        let Some(Output::Numbers { dtype: DType::Bool, values, .. }) = self.outputs.get(output) else {
            // An unchanged column.
            let Some(Output::Column(input)) = self.outputs.get(output) else { return true };
            return !matches!(limits.get(*input as usize), Some(Some(Interval::Integers(_, 0))));
        };
        let known = self.registers(limits, false);
        known.get(*values as usize).is_none_or(|known| known.truth().1)
    }

    /// Whether a boolean expression is true for every entry, given limits of its columns in the order of
    /// [`inputs`](Self::inputs), none of which has missing values. `false` if unknown.
    #[must_use]
    pub fn must_hold(&self, output: usize, limits: &[Option<Interval>]) -> bool {
        let (values, valid) = match self.outputs.get(output) {
            Some(Output::Numbers { dtype: DType::Bool, values, valid, .. }) => (values, valid),
            Some(Output::Column(input)) => {
                return matches!(limits.get(*input as usize), Some(Some(Interval::Integers(1, 1))));
            }
            _ => return false,
        };
        let known = self.registers(limits, true);
        let is_true = |register: &Register| {
            known.get(*register as usize).is_some_and(|known| known.truth() == (false, true))
        };
        is_true(values) && valid.as_ref().is_none_or(is_true)
    }

    /// Returns the limits of each register; with `complete`, no column has missing values.
    fn registers(&self, limits: &[Option<Interval>], complete: bool) -> Vec<Known> {
        let mut known: Vec<Known> = Vec::with_capacity(self.steps.len());
        for made in &self.steps {
            let found = match &made.step {
                Step::Valid { .. } if complete => Some(Known::Integers(1, 1)),
                step => self.known(step, &known, limits),
            };
            known.push(found.unwrap_or_else(|| Known::anything(made.step.kind())));
        }
        known
    }

    /// Returns the limits of a step's values that are present; placeholders of missing values are ignored.
    fn known(&self, step: &Step, known: &[Known], limits: &[Option<Interval>]) -> Option<Known> {
        let of = |register: &Register| known.get(*register as usize);
        match step {
            Step::Load { input, .. } => {
                let limits = limits.get(*input as usize)?.as_ref()?;
                Known::of(limits, step.kind(), &self.inputs.get(*input as usize)?.form)
            }
            Step::Constant(typed) => Some(Known::constant(*typed)),
            Step::Unary { operation, dtype, x } => unary(*operation, *dtype, of(x)?),
            Step::Binary { operation, dtype, x, y } => binary(*operation, *dtype, of(x)?, of(y)?),
            Step::Mixed { operation, signed, unsigned } => compare(*operation, of(signed)?, of(unsigned)?),
            Step::Texts { operation, x, y } => compare(*operation, of(x)?, of(y)?),
            Step::TextWith { operation, x, text } => {
                let text: Arc<[u8]> = text.as_bytes().into();
                compare(*operation, of(x)?, &Known::Text(Arc::clone(&text), text))
            }
            Step::Where { condition, x, y, .. } => match of(condition)?.truth() {
                (false, _) => of(x).cloned(),
                (_, false) => of(y).cloned(),
                _ => of(x)?.or(of(y)?),
            },
            Step::Cast { to, x, .. } => cast(of(x)?, *to),
            Step::Expand { x, .. } | Step::Keep { x, .. } | Step::Item { x, .. } => of(x).cloned(),
            Step::Reduce { by, x, .. } => match by {
                // For an empty list, `any` is false and `all` is true.
                Reduction::Any => Some(Known::may(true, of(x)?.truth().1)),
                Reduction::All => Some(Known::may(of(x)?.truth().0, true)),
                Reduction::Min | Reduction::Max | Reduction::First => of(x).cloned(),
                Reduction::Count => Some(Known::Integers(0, i64::MAX.into())),
                Reduction::Argmin | Reduction::Argmax => Some(Known::Integers(0, i64::MAX.into())),
                Reduction::Sum | Reduction::Prod | Reduction::Mean | Reduction::Var | Reduction::Std => None,
            },
            Step::Valid { .. }
            | Step::ListsValid { .. }
            | Step::Some { .. }
            | Step::Has { .. }
            | Step::Index { .. }
            | Step::TextHas { .. }
            | Step::Same { .. }
            | Step::Lists { .. } => None,
        }
    }
}

/// Limits of the values of a register.
#[derive(Clone, Debug, PartialEq)]
enum Known {
    Integers(i128, i128),
    Floats { least: f64, greatest: f64, may_be_nan: bool },
    Text(Arc<[u8]>, Arc<[u8]>),
    Anything,
}

impl Known {
    const fn anything(kind: Kind) -> Self {
        match kind {
            Kind::Number(DType::Bool) => Self::Integers(0, 1),
            _ => Self::Anything,
        }
    }

    fn of(limits: &Interval, kind: Kind, form: &Form) -> Option<Self> {
        match (limits, kind) {
            (Interval::Integers(least, greatest), Kind::Number(dtype)) if least <= greatest => {
                let (low, high) = if dtype == DType::Bool { (0, 1) } else { bounds(dtype)? };
                (low <= *least && *greatest <= high).then_some(Self::Integers(*least, *greatest))
            }
            (Interval::Floats(least, greatest), Kind::Number(dtype))
                if class(dtype) == Class::Float && least <= greatest =>
            {
                Some(Self::Floats { least: *least, greatest: *greatest, may_be_nan: true })
            }
            (Interval::Text(least, greatest), Kind::Text) if least <= greatest && is_text(form) => {
                Some(Self::Text(least.as_slice().into(), greatest.as_slice().into()))
            }
            _ => None,
        }
    }

    fn constant(typed: Typed) -> Self {
        let bits = typed.bits;
        let float = |value: f64| match value.is_nan() {
            true => Self::Anything,
            false => Self::Floats { least: value, greatest: value, may_be_nan: false },
        };
        let value = with_integer!(typed.dtype, T => (bits as T).into(),
            DType::Bool => (bits as u8).into(),
            DType::Float32 => return float(f32::from_bits(bits as u32).into()),
            DType::Float64 => return float(f64::from_bits(bits)),
        );
        Self::Integers(value, value)
    }

    fn floats(least: f64, greatest: f64, dtype: DType, may_be_nan: bool) -> Self {
        if least.is_nan() || greatest.is_nan() {
            return Self::Anything;
        }
        // Rounding is monotonic.
        let rounded = |x: f64| if dtype == DType::Float32 { f64::from(x as f32) } else { x };
        Self::Floats { least: rounded(least), greatest: rounded(greatest), may_be_nan }
    }

    fn integers(least: Option<i128>, greatest: Option<i128>, dtype: DType) -> Option<Self> {
        let (low, high) = bounds(dtype)?;
        let (least, greatest) = (least?, greatest?);
        // Values outside the type wrap around.
        (low <= least && greatest <= high).then_some(Self::Integers(least, greatest))
    }

    /// Makes a boolean that may be false, and may be true.
    fn may(be_false: bool, be_true: bool) -> Self {
        Self::Integers(i128::from(!be_false), i128::from(be_true))
    }

    /// Returns whether values may be false, and whether they may be true, which is nonzero.
    fn truth(&self) -> (bool, bool) {
        match self {
            Self::Integers(least, greatest) => (*least <= 0 && 0 <= *greatest, *least != 0 || *greatest != 0),
            Self::Floats { least, greatest, may_be_nan } => {
                (*least <= 0.0 && 0.0 <= *greatest, *may_be_nan || *least != 0.0 || *greatest != 0.0)
            }
            Self::Text(..) | Self::Anything => (true, true),
        }
    }

    /// Returns the union of two limits.
    fn or(&self, other: &Self) -> Option<Self> {
        match (self, other) {
            (Self::Integers(a, b), Self::Integers(c, d)) => Some(Self::Integers(*a.min(c), *b.max(d))),
            (
                Self::Floats { least: a, greatest: b, may_be_nan: x },
                Self::Floats { least: c, greatest: d, may_be_nan: y },
            ) => Some(Self::Floats { least: a.min(*c), greatest: b.max(*d), may_be_nan: *x || *y }),
            _ => None,
        }
    }
}

/// Whether a column holds text rather than bytes.
fn is_text(form: &Form) -> bool {
    match form {
        Form::Option { content, .. } | Form::List { content, .. } | Form::Regular { content, .. } => {
            is_text(content)
        }
        Form::String { binary, .. } => !binary,
        Form::Categorical { .. } => true,
        _ => false,
    }
}

fn unary(operation: Unary, dtype: DType, x: &Known) -> Option<Known> {
    match (operation, x) {
        (Unary::Not, x) => {
            let (may_be_false, may_be_true) = x.truth();
            Some(Known::may(may_be_true, may_be_false))
        }
        (Unary::Negative, Known::Integers(a, b)) => Known::integers(Some(-b), Some(-a), dtype),
        (Unary::Negative, Known::Floats { least, greatest, may_be_nan }) => {
            Some(Known::floats(-greatest, -least, dtype, *may_be_nan))
        }
        (Unary::Abs, Known::Integers(a, b)) => {
            let nearest = if *a <= 0 && 0 <= *b { 0 } else { a.abs().min(b.abs()) };
            Known::integers(Some(nearest), Some(a.abs().max(b.abs())), dtype)
        }
        (Unary::Abs, Known::Floats { least: a, greatest: b, may_be_nan }) => {
            let nearest = if *a <= 0.0 && 0.0 <= *b { 0.0 } else { a.abs().min(b.abs()) };
            Some(Known::floats(nearest, a.abs().max(b.abs()), dtype, *may_be_nan))
        }
        _ => None,
    }
}

fn binary(operation: Binary, dtype: DType, x: &Known, y: &Known) -> Option<Known> {
    if operation.is_comparison() {
        return compare(operation, x, y);
    }
    if dtype == DType::Bool {
        let ((x_false, x_true), (y_false, y_true)) = (x.truth(), y.truth());
        return match operation {
            Binary::BitAnd => Some(Known::may(x_false || y_false, x_true && y_true)),
            Binary::BitOr => Some(Known::may(x_false && y_false, x_true || y_true)),
            _ => None,
        };
    }
    match (x, y) {
        (Known::Integers(a, b), Known::Integers(c, d)) => match operation {
            Binary::Add => Known::integers(a.checked_add(*c), b.checked_add(*d), dtype),
            Binary::Subtract => Known::integers(a.checked_sub(*d), b.checked_sub(*c), dtype),
            Binary::Multiply => {
                let corners = [(a, c), (a, d), (b, c), (b, d)].map(|(x, y)| x.checked_mul(*y));
                let corners: Option<Vec<i128>> = corners.into_iter().collect();
                let corners = corners?;
                Known::integers(corners.iter().min().copied(), corners.iter().max().copied(), dtype)
            }
            _ => None,
        },
        (
            Known::Floats { least: a, greatest: b, may_be_nan: x_nan },
            Known::Floats { least: c, greatest: d, may_be_nan: y_nan },
        ) => {
            // Infinite operands may give NaN.
            if ![a, b, c, d].iter().all(|x| x.is_finite()) {
                return None;
            }
            let may_be_nan = *x_nan || *y_nan;
            match operation {
                Binary::Add => Some(Known::floats(a + c, b + d, dtype, may_be_nan)),
                Binary::Subtract => Some(Known::floats(a - d, b - c, dtype, may_be_nan)),
                Binary::Multiply => {
                    let corners = [a * c, a * d, b * c, b * d];
                    let least = corners.into_iter().fold(f64::INFINITY, f64::min);
                    let greatest = corners.into_iter().fold(f64::NEG_INFINITY, f64::max);
                    Some(Known::floats(least, greatest, dtype, may_be_nan))
                }
                _ => None,
            }
        }
        _ => None,
    }
}

fn cast(x: &Known, to: DType) -> Option<Known> {
    if to == DType::Bool {
        let (may_be_false, may_be_true) = x.truth();
        return Some(Known::may(may_be_false, may_be_true));
    }
    match x {
        // Conversion rounds, which is monotonic.
        Known::Integers(a, b) if to == DType::Float32 => {
            Some(Known::floats(f64::from(*a as f32), f64::from(*b as f32), to, false))
        }
        Known::Integers(a, b) if to == DType::Float64 => Some(Known::floats(*a as f64, *b as f64, to, false)),
        Known::Integers(a, b) => Known::integers(Some(*a), Some(*b), to),
        Known::Floats { least, greatest, may_be_nan } if class(to) == Class::Float => {
            Some(Known::floats(*least, *greatest, to, *may_be_nan))
        }
        _ => None,
    }
}

fn compare(operation: Binary, x: &Known, y: &Known) -> Option<Known> {
    match (x, y) {
        (Known::Integers(a, b), Known::Integers(c, d)) => compared(operation, (a, b), (c, d), false),
        (
            Known::Floats { least: a, greatest: b, may_be_nan: x_nan },
            Known::Floats { least: c, greatest: d, may_be_nan: y_nan },
        ) => compared(operation, (a, b), (c, d), *x_nan || *y_nan),
        (Known::Text(a, b), Known::Text(c, d)) => compared(operation, (a, b), (c, d), false),
        _ => None,
    }
}

/// Returns whether a comparison may be false, and may be true, for values within limits.
fn compared<T: PartialOrd>(
    operation: Binary,
    (a, b): (T, T),
    (c, d): (T, T),
    may_be_nan: bool,
) -> Option<Known> {
    let (meet, one) = (a <= d && c <= b, a == b && c == d && a == c);
    let (may_be_false, may_be_true) = match operation {
        Binary::Less => (b >= c, a < d),
        Binary::LessEqual => (b > c, a <= d),
        Binary::Greater => (a <= d, b > c),
        Binary::GreaterEqual => (a < d, b >= c),
        Binary::Equal => (!one, meet),
        Binary::NotEqual => return Some(Known::may(meet, !one || may_be_nan)),
        _ => return None,
    };
    Some(Known::may(may_be_false || may_be_nan, may_be_true))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Expression, Named};

    fn may_hold(text: &str, n: (i128, i128), f: (f64, f64)) -> bool {
        holds(text, n, f).0
    }

    /// Whether a cut may hold, and whether it must.
    fn holds(text: &str, n: (i128, i128), f: (f64, f64)) -> (bool, bool) {
        let number = |dtype| Form::Numpy { key: "x".into(), dtype, shape: vec![] };
        let string = Form::String { key: "s".into(), binary: false };
        let expression = Expression::parse(text).expect(text);
        let program = Program::new(&[&expression], &mut |name| {
            Named::Column(match name {
                "n" => number(DType::Int32),
                "l" => Form::List { key: "l".into(), content: Box::new(number(DType::Float32)) },
                "b" => number(DType::Bool),
                "s" => string.clone(),
                _ => Form::Option { key: "o".into(), content: Box::new(number(DType::Float64)) },
            })
        });
        let program = program.expect(text);
        let limits = program.inputs().map(|name| match name {
            "n" => Some(Interval::Integers(n.0, n.1)),
            "b" => Some(Interval::Integers(0, 0)),
            "s" => Some(Interval::Text(b"ab".to_vec(), b"ad".to_vec())),
            "unknown" => None,
            _ => Some(Interval::Floats(f.0, f.1)),
        });
        let limits = limits.collect::<Vec<_>>();
        (program.may_hold(0, &limits), program.must_hold(0, &limits))
    }

    #[test]
    fn cuts_that_all_values_within_the_limits_pass_must_hold() {
        for (text, must) in [
            ("n >= 0", true),
            ("n > 0", false),
            ("n < 6 and n >= 0", true),
            ("(n < 6) & (n > 0)", false),
            ("n < 6 or n > 9", true),
            ("not (n > 5)", true),
            // NaN is beyond the statistics.
            ("f >= 2", false),
            ("f >= 2 or n >= 0", true),
            ("s >= 'ab'", true),
            ("s > 'ab'", false),
            ("b", false),
            ("not b", true),
            ("unknown > 5", false),
            ("unknown > 5 or n >= 0", true),
            ("unknown > 5 and n >= 0", false),
            // Of empty lists they are missing.
            ("max(l) < 4", false),
            ("n / 2 >= 0", false),
            ("n + 1 > 0", true),
            ("is_none(f)", false),
            ("where(n > 5, n, 1) == 1", true),
        ] {
            assert_eq!(holds(text, (0, 5), (2.0, 3.0)).1, must, "{text}");
        }
    }

    #[test]
    fn cuts_that_no_value_within_the_limits_passes_cannot_hold() {
        for (text, holds) in [
            ("n > 5", false),
            ("n >= 5", true),
            ("n < 0", false),
            ("n == 6", false),
            ("n != 3", true),
            ("not (n >= 0)", false),
            ("n > 3 and f < 1", false),
            ("n > 5 or f > 1", true),
            ("(n > 5) | (f < 1)", false),
            ("n * 2 > 10", false),
            ("n * 2 >= 10", true),
            ("abs(-n) > 5", false),
            ("n + f > 8", false),
            ("n + f > 7", true),
            // A NaN is not within the limits, and differs from all numbers.
            ("f != 2", true),
            ("not (f < 4)", true),
            ("isnan(f)", true),
            ("unknown > 5", true),
            ("n > 5 and unknown > 5", false),
            ("any(l > 4)", false),
            ("any(l > 2)", true),
            ("all(l > 4)", true),
            ("max(l) > 4", false),
            ("sum(l) > 100", true),
            ("any(l[l > 2] * n > 15)", false),
            ("s == 'abc'", true),
            ("s == 'b'", false),
            ("s < 'ab'", false),
            ("'b' <= s", false),
            ("b", false),
            ("not b", true),
            ("where(n > 5, 1, 0) == 1", false),
            ("n / 0 > 5", true),
            ("bool(n - 3)", true),
            ("n > 1e10", false),
            // What is missing may decide nothing, and what is there may.
            ("is_none(n)", false),
            ("is_none(f)", true),
            ("is_none(f) or n > 5", true),
            ("f > 3 or n > 5", false),
            ("not (f < 4 or n > 5)", true),
            ("not (n < 6 or f < 4)", false),
            ("not (n < 6 and f >= 2)", true),
            ("is_none(n < 6 or f > 9)", false),
            ("is_none(n < 6 and f > 9)", true),
        ] {
            assert_eq!(may_hold(text, (0, 5), (2.0, 3.0)), holds, "{text}");
        }
        assert!(may_hold("n > 5", (7, 3), (2.0, 3.0)), "limits that cannot be");
        assert!(may_hold("n + n < 0", (0, i32::MAX.into()), (2.0, 3.0)), "sums wrap around");
        assert!(!may_hold("f != 2 and f < 1", (0, 5), (2.0, 2.0)));
    }
}
