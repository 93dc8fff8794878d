//! Element-wise operations: types of operands and results by the rules of NumPy.

use super::{Checked, Compiler, Operand, Value, lists::Missing, only_compared};
use crate::{
    error::{Fault, Span},
    program::{CONSTANT, Kind, Register, SpaceId, Step},
    scalar::{self, Number, Typed},
    syntax::{Binary, Unary},
    types::{Class, class, floating, is_float, promote, quotient},
};
use forthwith_columns::DType;

impl Compiler<'_> {
    pub(super) fn unary(&mut self, operation: Unary, x: &Value, at: Span) -> Checked<Value> {
        if let Value::Number(number) = x
            && let Some(folded) = scalar::unary(operation, *number)
        {
            return folded.map(Value::Number).map_err(|what| Fault::new(at, what));
        }
        let x = self.numbers(x, at)?;
        let dtype = x.kind.dtype();
        let refuse = |wanted: &str| Err(Fault::new(at, format!("{} of {dtype}: {wanted}", operation.word())));
        use Unary as U;
        let (operation, dtype) = match operation {
            U::Negative | U::Positive | U::Sign if dtype == DType::Bool => {
                return refuse("NumPy has none for booleans; not x is the opposite");
            }
            U::Invert if is_float(dtype) => return refuse("it needs integers or booleans"),
            U::Invert if dtype == DType::Bool => return self.opposite(x, at),
            U::Not => {
                let truth = self.truth(x, at)?;
                return self.opposite(truth, at);
            }
            U::Positive => return Ok(Value::Operand(x)),
            U::Abs if matches!(class(dtype), Class::Bool | Class::Unsigned) => return Ok(Value::Operand(x)),
            U::Floor | U::Ceil | U::Trunc if !is_float(dtype) => return Ok(Value::Operand(x)),
            U::Square if dtype == DType::Bool => (operation, DType::Int8),
            U::Negative | U::Invert | U::Abs | U::Sign | U::Floor | U::Ceil | U::Trunc | U::Square => {
                (operation, dtype)
            }
            U::IsNan | U::IsInf if !is_float(dtype) => return self.same_as_itself(x, Binary::NotEqual, at),
            U::IsFinite if !is_float(dtype) => return self.same_as_itself(x, Binary::Equal, at),
            U::IsNan | U::IsInf | U::IsFinite => (operation, dtype),
            _ => (operation, floating(dtype)),
        };
        let x = self.cast(x, dtype, at)?;
        self.made(Step::Unary { operation, dtype, x: x.register }, x, at).map(Value::Operand)
    }

    pub(super) fn binary(&mut self, operation: Binary, x: &Value, y: &Value, at: Span) -> Checked<Value> {
        if let (Value::Number(x), Value::Number(y)) = (x, y)
            && let Some(folded) = scalar::binary(operation, *x, *y)
        {
            return folded.map(Value::Number).map_err(|what| Fault::new(at, what));
        }
        if self.time(x).is_some() || self.time(y).is_some() {
            return self.times(operation, x, y, at);
        }
        if self.is_text(x) || self.is_text(y) {
            return self.texts(operation, x, y, at);
        }
        use Binary as B;
        match operation {
            B::And | B::Or | B::Xor => {
                let bits = match operation {
                    B::And => B::BitAnd,
                    B::Or => B::BitOr,
                    _ => B::BitXor,
                };
                let (x, y) = (self.numbers(x, at)?, self.numbers(y, at)?);
                let (x, y) = (self.truth(x, at)?, self.truth(y, at)?);
                match bits {
                    B::BitXor => self.pair(bits, DType::Bool, x, y, at),
                    _ => self.both_or_either(bits, x, y, at),
                }
            }
            _ if operation.is_comparison() => self.comparison(operation, x, y, at),
            _ => self.arithmetic(operation, x, y, at),
        }
    }

    fn arithmetic(&mut self, operation: Binary, x: &Value, y: &Value, at: Span) -> Checked<Value> {
        use Binary as B;
        let common = self.common(x, y, at)?;
        let refuse = |why: &str| Err(Fault::new(at, format!("{} of {common}: {why}", operation.word())));
        let (operation, dtype) = match (operation, common) {
            (B::BitAnd | B::BitOr, DType::Bool) => {
                let (x, y) = (self.typed(x, common, at)?, self.typed(y, common, at)?);
                return self.both_or_either(operation, x, y, at);
            }
            (B::Add, DType::Bool) => (B::BitOr, common),
            (B::Multiply, DType::Bool) => (B::BitAnd, common),
            (B::Subtract, DType::Bool) => return refuse("NumPy has none for booleans; != is what differs"),
            (B::BitXor, DType::Bool) => (operation, common),
            (B::BitXor, _) if is_float(common) => {
                return refuse("^ is for integers and booleans here, as in Python; ** is power");
            }
            (B::BitAnd | B::BitOr | B::ShiftLeft | B::ShiftRight, _) if is_float(common) => {
                return refuse("it needs integers or booleans; comparisons beside & and | need brackets");
            }
            (
                B::FloorDivide | B::Remainder | B::Fmod | B::Power | B::ShiftLeft | B::ShiftRight,
                DType::Bool,
            ) => (operation, DType::Int8),
            (B::Divide, _) => (operation, quotient(common)),
            (B::Arctan2 | B::Hypot | B::CopySign, _) => (operation, self.common_float(x, y, common, at)?),
            _ => (operation, common),
        };
        if let (B::Power, Value::Number(Number::Int(exponent)), false) = (operation, y, is_float(dtype))
            && *exponent < 0
        {
            let what = format!(
                "{dtype} to the power of {exponent}: negative powers need floats, as x**{exponent}.0"
            );
            return Err(Fault::new(at, what));
        }
        let (x, y) = (self.typed(x, dtype, at)?, self.typed(y, dtype, at)?);
        self.pair(operation, dtype, x, y, at)
    }

    pub(super) fn comparison(&mut self, operation: Binary, x: &Value, y: &Value, at: Span) -> Checked<Value> {
        // An integer out of range of the column's type is larger or smaller than all values.
        for (column, number, operation) in [(x, y, operation), (y, x, operation.mirrored())] {
            if let Value::Number(number @ Number::Int(value)) = number
                && !matches!(column, Value::Number(_))
            {
                let column = self.numbers(column, at)?;
                if class(column.kind.dtype()) != Class::Bool && number.typed(column.kind.dtype()).is_none() {
                    let holds = match operation {
                        Binary::Less | Binary::LessEqual => *value > 0,
                        Binary::Greater | Binary::GreaterEqual => *value < 0,
                        operation => operation == Binary::NotEqual,
                    };
                    let same = if holds { Binary::Equal } else { Binary::NotEqual };
                    return self.same_as_itself(column, same, at);
                }
            }
        }
        let common = self.common(x, y, at)?;
        if let (false, false) = (matches!(x, Value::Number(_)), matches!(y, Value::Number(_))) {
            let (a, b) = (self.numbers(x, at)?, self.numbers(y, at)?);
            if is_float(common) && !is_float(a.kind.dtype()) && !is_float(b.kind.dtype()) {
                return self.mixed(operation, a, b, at);
            }
        }
        let (x, y) = (self.typed(x, common, at)?, self.typed(y, common, at)?);
        self.pair(operation, common, x, y, at)
    }

    /// Compares signed with unsigned integers exactly.
    fn mixed(&mut self, operation: Binary, x: Operand, y: Operand, at: Span) -> Checked<Value> {
        let (operation, signed, unsigned) = match class(x.kind.dtype()) {
            Class::Signed => (operation, x, y),
            _ => (operation.mirrored(), y, x),
        };
        let (signed, unsigned) =
            (self.cast(signed, DType::Int64, at)?, self.cast(unsigned, DType::UInt64, at)?);
        let (signed, unsigned, space) = self.aligned(signed, unsigned, at)?;
        let step = Step::Mixed { operation, signed: signed.register, unsigned: unsigned.register };
        self.of_two(step, signed, unsigned, space, at)
    }

    pub(super) fn choose(&mut self, condition: &Value, x: &Value, y: &Value, at: Span) -> Checked<Value> {
        let condition = self.numbers(condition, at)?;
        let condition = self.truth(condition, at)?;
        let dtype = match (x, y) {
            (Value::Number(x), Value::Number(y)) => match (x.own_type(), y.own_type()) {
                (x, y) if x == y => x,
                (x, y) => promote(x, y),
            },
            _ => self.common(x, y, at)?,
        };
        let (x, y) = (self.typed(x, dtype, at)?, self.typed(y, dtype, at)?);
        let mut all = [condition, x, y];
        let space = self.all_aligned(&mut all, Missing::Items, at)?;
        let [condition, x, y] = all;
        let step = Step::Where { dtype, condition: condition.register, x: x.register, y: y.register };
        let chosen = self.made(step, Operand { space, ..condition }, at)?;
        // The value is valid if the condition is valid, and the operand that it selects.
        let mut valid = match (x.valid, y.valid) {
            (None, None) => None,
            (a, b) => {
                let mut sure = |valid: Option<Register>| match valid {
                    Some(valid) => Ok(valid),
                    None => self.constant(TRUE, at).map(|there| there.register),
                };
                let (x, y) = (sure(a)?, sure(b)?);
                let step = Step::Where { dtype: DType::Bool, condition: condition.register, x, y };
                Some(self.step(step, space, at)?)
            }
        };
        valid = self.both_valid(valid, condition.valid, space, at)?;
        Ok(Value::Operand(Operand { valid, ..chosen }))
    }

    pub(super) fn converted(&mut self, to: DType, x: &Value, at: Span) -> Checked<Value> {
        if let Some(scale) = self.scale(x)
            && is_float(to)
        {
            return Ok(Value::Operand(self.float_of_decimals(x, scale, to, at)?));
        }
        let x = match x {
            Value::Number(number) if number.typed(to).is_some() => self.typed(x, to, at)?,
            Value::Number(number) if !number.fits(to) => {
                return Err(Fault::new(at, format!("{number} is beyond {to}")));
            }
            _ => self.numbers(x, at)?,
        };
        Ok(Value::Operand(self.cast(x, to, at)?))
    }

    /// Aligns two operands of one type, and applies an operation to them.
    fn pair(&mut self, operation: Binary, dtype: DType, x: Operand, y: Operand, at: Span) -> Checked<Value> {
        let (x, mut y, space) = self.aligned(x, y, at)?;
        if operation == Binary::Power
            && !is_float(dtype)
            && let Some(there) = self.all_there(&[x, y], space, at)?
        {
            // The value at a missing exponent is arbitrary: replace it, as it may be negative.
            let zero = Number::Int(0).typed(dtype).unwrap_or(TRUE);
            let zero = self.constant(zero, at)?.register;
            let step = Step::Where { dtype, condition: there, x: y.register, y: zero };
            y.register = self.step(step, space, at)?;
            if y.space == CONSTANT {
                y.space = space;
            }
        }
        self.of_two(Step::Binary { operation, dtype, x: x.register, y: y.register }, x, y, space, at)
    }

    /// Returns the result of a step with two aligned operands, which is valid if both operands are.
    fn of_two(&mut self, step: Step, x: Operand, y: Operand, space: SpaceId, at: Span) -> Checked<Value> {
        let made = self.made(step, Operand { space, ..x }, at)?;
        let valid = self.both_valid(x.valid, y.valid, space, at)?;
        Ok(Value::Operand(Operand { valid, ..made }))
    }

    fn texts(&mut self, operation: Binary, x: &Value, y: &Value, at: Span) -> Checked<Value> {
        if !operation.is_comparison() {
            return Err(Fault::new(at, format!("{} of text: text can only be compared", operation.word())));
        }
        for value in [x, y] {
            if !matches!(value, Value::Text(_)) {
                // Reports unsupported columns first.
                self.operand(value, at)?;
            }
        }
        if !self.is_text(x) || !self.is_text(y) {
            return Err(Fault::new(at, "text is compared with a number"));
        }
        let (operation, x, text) = match (x, y) {
            (Value::Text(x), Value::Text(y)) => {
                return Ok(Value::Number(Number::Bool(operation.holds(x.cmp(y)))));
            }
            (Value::Text(text), column) => (operation.mirrored(), column, text),
            (column, Value::Text(text)) => (operation, column, text),
            (x, y) => {
                let (x, y) = (self.operand(x, at)?, self.operand(y, at)?);
                let (x, y, space) = self.aligned(x, y, at)?;
                return self.of_two(Step::Texts { operation, x: x.register, y: y.register }, x, y, space, at);
            }
        };
        let x = self.operand(x, at)?;
        let step = Step::TextWith { operation, x: x.register, text: std::sync::Arc::clone(text) };
        self.made(step, x, at).map(Value::Operand)
    }

    /// Returns the common type of two values.
    fn common(&mut self, x: &Value, y: &Value, at: Span) -> Checked<DType> {
        Ok(match (x, y) {
            (Value::Number(x), Value::Number(y)) => promote(x.own_type(), y.own_type()),
            (Value::Number(number), column) | (column, Value::Number(number)) => {
                number.with(self.numbers(column, at)?.kind.dtype())
            }
            (x, y) => promote(self.numbers(x, at)?.kind.dtype(), self.numbers(y, at)?.kind.dtype()),
        })
    }

    /// Returns the type of functions of two floating-point numbers: that of each operand, promoted to a
    /// common one.
    fn common_float(&mut self, x: &Value, y: &Value, common: DType, at: Span) -> Checked<DType> {
        if matches!(x, Value::Number(_)) || matches!(y, Value::Number(_)) {
            return Ok(floating(common));
        }
        let (x, y) = (self.numbers(x, at)?.kind.dtype(), self.numbers(y, at)?.kind.dtype());
        Ok(promote(floating(x), floating(y)))
    }

    /// Returns a value converted to a type. Constants out of its range are an error.
    fn typed(&mut self, value: &Value, dtype: DType, at: Span) -> Checked<Operand> {
        if let Value::Number(number) = value {
            let Some(typed) = number.typed(dtype) else {
                return Err(Fault::new(at, format!("{number} is beyond {dtype}, the type of the column")));
            };
            return self.constant(typed, at);
        }
        let operand = self.numbers(value, at)?;
        self.cast(operand, dtype, at)
    }

    pub(super) fn numbers(&mut self, value: &Value, at: Span) -> Checked<Operand> {
        let operand = self.operand(value, at)?;
        match operand.kind {
            Kind::Number(_) => Ok(operand),
            Kind::Text => Err(Fault::new(at, "text cannot be computed with")),
            Kind::Time(_, meaning) => Err(Fault::new(at, only_compared(meaning))),
        }
    }

    pub(super) fn is_text(&mut self, value: &Value) -> bool {
        match value {
            Value::Text(_) => true,
            Value::Column(input) => {
                self.load(*input, Span::default()).is_ok_and(|found| found.kind == Kind::Text)
            }
            Value::Operand(operand) => operand.kind == Kind::Text,
            Value::Number(_) => false,
        }
    }

    pub(super) fn cast(&mut self, x: Operand, to: DType, at: Span) -> Checked<Operand> {
        let from = x.kind.dtype();
        if from == to {
            return Ok(x);
        }
        self.made(Step::Cast { from, to, x: x.register }, x, at)
    }

    /// Compares values with themselves, so that `Equal` is true and `NotEqual` is false for each of them.
    pub(super) fn same_as_itself(&mut self, x: Operand, operation: Binary, at: Span) -> Checked<Value> {
        // NaN differs from itself, so floating-point numbers are compared as booleans.
        let x = if is_float(x.kind.dtype()) { self.truth(x, at)? } else { x };
        let step = Step::Binary { operation, dtype: x.kind.dtype(), x: x.register, y: x.register };
        self.made(step, x, at).map(Value::Operand)
    }
}

const TRUE: Typed = Typed { dtype: DType::Bool, bits: 1 };
