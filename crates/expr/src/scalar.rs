//! Constants, and Python's arithmetic on them: their type depends on the columns that they are combined with.

use crate::{
    syntax::{Binary, Unary},
    types::{Class, bounds, class},
};
use forthwith_columns::DType;

/// A Python number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Number {
    Int(i128),
    Float(f64),
    Bool(bool),
}

/// A number of a type, as stored bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Typed {
    pub(crate) dtype: DType,
    pub(crate) bits: u64,
}

impl Number {
    /// Returns the type of the constant without a column.
    pub(crate) fn own_type(self) -> DType {
        match self {
            Self::Bool(_) => DType::Bool,
            Self::Float(_) => DType::Float64,
            Self::Int(value) if i64::try_from(value).is_err() => DType::UInt64,
            Self::Int(_) => DType::Int64,
        }
    }

    /// Returns the common type of the constant and a column.
    pub(crate) fn with(self, column: DType) -> DType {
        match (self, class(column)) {
            (Self::Bool(_), _) | (_, Class::Float) => column,
            (Self::Int(_), Class::Bool) => DType::Int64,
            (Self::Int(_), _) => column,
            (Self::Float(_), _) => DType::Float64,
        }
    }

    /// Converts the number to a type; `None` if it is an integer out of range, or a float and the type is an
    /// integer.
    pub(crate) fn typed(self, dtype: DType) -> Option<Typed> {
        let float = self.float();
        let bits = match (dtype, self) {
            (DType::Float32, _) => u64::from((float as f32).to_bits()),
            (DType::Float64, _) => float.to_bits(),
            (DType::Bool, Self::Bool(value)) => u64::from(value),
            (DType::Bool, Self::Int(value)) => u64::from(value != 0),
            (DType::Bool, Self::Float(value)) => u64::from(value != 0.0),
            (_, Self::Float(_)) => return None,
            (_, Self::Bool(value)) => u64::from(value),
            (_, Self::Int(value)) => {
                let (low, high) = bounds(dtype)?;
                if value < low || value > high {
                    return None;
                }
                value as u64 // the low bits, which are all that the type keeps
            }
        };
        Some(Typed { dtype, bits })
    }

    /// Whether the number is in the range of a type, ignoring its fraction.
    pub(crate) fn fits(self, dtype: DType) -> bool {
        match (self, bounds(dtype)) {
            (Self::Float(value), Some((low, high))) => {
                value.trunc() >= low as f64 && value.trunc() < high as f64 + 1.0
            }
            _ => self.typed(dtype).is_some(),
        }
    }

    fn float(self) -> f64 {
        match self {
            Self::Bool(value) => f64::from(u8::from(value)),
            Self::Int(value) => value as f64,
            Self::Float(value) => value,
        }
    }

    fn int(self) -> Option<i128> {
        match self {
            Self::Bool(value) => Some(i128::from(value)),
            Self::Int(value) => Some(value),
            Self::Float(_) => None,
        }
    }

    pub(crate) fn is_true(self) -> bool {
        self.float() != 0.0
    }
}

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Int(value) => write!(f, "{value}"),
            Self::Float(value) => write!(f, "{value}"),
            Self::Bool(value) => f.write_str(if *value { "True" } else { "False" }),
        }
    }
}

/// Returns the result of an operator on a number; `None` for functions, which have typed results.
pub(crate) fn unary(operator: Unary, x: Number) -> Option<Result<Number, String>> {
    let found = match (operator, x) {
        (Unary::Negative, Number::Float(x)) => Number::Float(-x),
        (Unary::Positive, Number::Float(x)) => Number::Float(x),
        (Unary::Negative, x) => Number::Int(x.int()?.wrapping_neg()),
        (Unary::Positive, x) => Number::Int(x.int()?),
        (Unary::Not, x) => Number::Bool(!x.is_true()),
        (Unary::Invert, Number::Float(_)) => return Some(Err("~ needs integers or booleans".into())),
        (Unary::Invert, x) => Number::Int(!x.int()?),
        (Unary::Abs, Number::Float(x)) => Number::Float(x.abs()),
        (Unary::Abs, x) => Number::Int(x.int()?.wrapping_abs()),
        _ => return None,
    };
    Some(in_range(found))
}

/// Returns the result of an operator on two numbers; `None` for functions, which have typed results.
pub(crate) fn binary(operator: Binary, x: Number, y: Number) -> Option<Result<Number, String>> {
    use Binary as B;
    let ordering = match (x.int(), y.int()) {
        (Some(x), Some(y)) => Some(x.cmp(&y)),
        _ => x.float().partial_cmp(&y.float()),
    };
    let holds = match operator {
        // NaN differs from every number, and all other comparisons with it are false.
        _ if operator.is_comparison() => {
            Some(ordering.map_or(operator == B::NotEqual, |ordering| operator.holds(ordering)))
        }
        B::And => Some(x.is_true() && y.is_true()),
        B::Or => Some(x.is_true() || y.is_true()),
        _ => None,
    };
    if let Some(holds) = holds {
        return Some(Ok(Number::Bool(holds)));
    }
    let found = match (x.int(), y.int()) {
        (Some(a), Some(b)) => {
            of_integers(operator, a, b, matches!((x, y), (Number::Bool(_), Number::Bool(_))))?
        }
        _ => of_floats(operator, x.float(), y.float())?,
    };
    Some(found.and_then(in_range))
}

fn of_integers(operator: Binary, x: i128, y: i128, both_bool: bool) -> Option<Result<Number, String>> {
    use Binary as B;
    let large = || "an integer of more than 64 bits".to_owned();
    let int = |value: Option<i128>| value.map(Number::Int).ok_or_else(large);
    let bits = |value: i128| if both_bool { Number::Bool(value != 0) } else { Number::Int(value) };
    Some(match operator {
        B::Add => int(x.checked_add(y)),
        B::Subtract => int(x.checked_sub(y)),
        B::Multiply => int(x.checked_mul(y)),
        B::Divide | B::FloorDivide | B::Remainder if y == 0 => Err("division by zero".into()),
        B::Divide => Ok(Number::Float(x as f64 / y as f64)),
        B::FloorDivide => int(Some(x.div_euclid(y) - i128::from(y < 0 && x.rem_euclid(y) != 0))),
        B::Remainder => int(Some(x - y * (x.div_euclid(y) - i128::from(y < 0 && x.rem_euclid(y) != 0)))),
        B::Power if y < 0 && x == 0 => Err("zero to a negative power".into()),
        B::Power if y < 0 => Ok(Number::Float((x as f64).powf(y as f64))),
        B::Power => int(u32::try_from(y).ok().and_then(|y| x.checked_pow(y))),
        B::BitAnd => Ok(bits(x & y)),
        B::BitOr => Ok(bits(x | y)),
        B::BitXor => Ok(bits(x ^ y)),
        B::ShiftLeft | B::ShiftRight if y < 0 => Err("a negative shift".into()),
        B::ShiftLeft => {
            int(u32::try_from(y).ok().filter(|y| *y < 64).and_then(|y| x.checked_mul(1i128 << y)))
        }
        B::ShiftRight => int(Some(x >> y.min(127))),
        _ => return None,
    })
}

fn of_floats(operator: Binary, x: f64, y: f64) -> Option<Result<Number, String>> {
    use Binary as B;
    let float = |value: f64| Ok(Number::Float(value));
    Some(match operator {
        B::Add => float(x + y),
        B::Subtract => float(x - y),
        B::Multiply => float(x * y),
        B::Divide | B::FloorDivide | B::Remainder if y == 0.0 => Err("division by zero".into()),
        B::Divide => float(x / y),
        B::FloorDivide => float(crate::run::arithmetic::floor_divide(x, y)),
        B::Remainder => float(crate::run::arithmetic::remainder(x, y)),
        B::Power if x < 0.0 && y.fract() != 0.0 => {
            Err("a negative number to a power that is not whole".into())
        }
        B::Power if x == 0.0 && y < 0.0 => Err("zero to a negative power".into()),
        B::Power => float(x.powf(y)),
        B::BitAnd | B::BitOr | B::BitXor | B::ShiftLeft | B::ShiftRight => {
            Err(format!("{} needs integers or booleans", operator.word()))
        }
        _ => return None,
    })
}

fn in_range(number: Number) -> Result<Number, String> {
    match number {
        Number::Int(value) if value < i128::from(i64::MIN) || value > i128::from(u64::MAX) => {
            Err("an integer of more than 64 bits".into())
        }
        other => Ok(other),
    }
}
