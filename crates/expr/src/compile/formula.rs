//! Arithmetic of TTreeFormula: all numbers are doubles, and functions are defined outside their domains.

use super::{Checked, Compiler, Operand, Value};
use crate::{
    error::{Fault, Span},
    scalar::Number,
    syntax::{self, Binary, FormulaFunction, Unary},
};
use forthwith_columns::DType;

/// Maximum argument of TTreeFormula's `exp`.
const LARGEST_EXPONENT: f64 = 700.0;

impl Compiler<'_> {
    /// Compiles a node whose operands are doubles; `None` if the rules of Python apply unchanged.
    pub(super) fn formula_node(&mut self, node: &syntax::Node, values: &[Value]) -> Checked<Option<Value>> {
        let at = node.at;
        let value = |id: syntax::Id| &values[id as usize];
        match &node.kind {
            syntax::Kind::Unary(Unary::Not, _) => Ok(None),
            syntax::Kind::Unary(Unary::Invert, _) => {
                Err(Fault::new(at, "~ is not an operator of TTreeFormula"))
            }
            syntax::Kind::Unary(operation, x) => {
                let x = self.double(value(*x), at)?;
                self.unary(*operation, &x, at).map(Some)
            }
            syntax::Kind::Binary(operation, x, y) => {
                self.formula_binary(*operation, value(*x), value(*y), at).map(Some)
            }
            syntax::Kind::Where(condition, x, y) => {
                let (x, y) = (self.double(value(*x), at)?, self.double(value(*y), at)?);
                self.choose(value(*condition), &x, &y, at).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Converts a number to a double.
    pub(super) fn double(&mut self, x: &Value, at: Span) -> Checked<Value> {
        let x = self.numbers(x, at)?;
        Ok(Value::Operand(self.cast(x, DType::Float64, at)?))
    }

    fn formula_binary(&mut self, operation: Binary, x: &Value, y: &Value, at: Span) -> Checked<Value> {
        use Binary as B;
        let is_logic = matches!(operation, B::And | B::Or | B::Xor);
        if is_logic || [x, y].iter().any(|value| self.time(value).is_some() || self.is_text(value)) {
            return self.binary(operation, x, y, at);
        }
        match operation {
            B::Remainder => {
                let (x, y) = (self.whole_number(x, at)?, self.whole_number(y, at)?);
                let rest = self.binary(B::Fmod, &x, &y, at)?;
                return self.double(&rest, at);
            }
            B::BitAnd | B::BitOr | B::ShiftLeft | B::ShiftRight => {
                let (x, y) = (self.bits(x, at)?, self.bits(y, at)?);
                let bits = self.binary(operation, &x, &y, at)?;
                return self.double(&bits, at);
            }
            _ => {}
        }
        let (x, y) = (self.double(x, at)?, self.double(y, at)?);
        match operation {
            B::Divide => {
                let quotient = self.binary(B::Divide, &x, &y, at)?;
                let divides = self.binary(B::NotEqual, &y, &ZERO, at)?;
                self.choose(&divides, &quotient, &ZERO, at)
            }
            B::Arctan2 => {
                // For two zeros the result is 0, whatever their signs.
                let angle = self.binary(B::Arctan2, &x, &y, at)?;
                let zeros = [self.binary(B::Equal, &x, &ZERO, at)?, self.binary(B::Equal, &y, &ZERO, at)?];
                let both = self.binary(B::And, &zeros[0], &zeros[1], at)?;
                self.choose(&both, &ZERO, &angle, at)
            }
            B::Minimum | B::Maximum => {
                let first = if operation == B::Minimum { B::LessEqual } else { B::GreaterEqual };
                let first = self.binary(first, &x, &y, at)?;
                self.choose(&first, &x, &y, at)
            }
            _ => self.binary(operation, &x, &y, at),
        }
    }

    /// Truncates a number to a signed integer.
    fn whole_number(&mut self, x: &Value, at: Span) -> Checked<Value> {
        let double = self.double(x, at)?;
        let x = self.numbers(&double, at)?;
        Ok(Value::Operand(self.cast(x, DType::Int64, at)?))
    }

    /// Converts a number to an unsigned integer; negative ones wrap around.
    fn bits(&mut self, x: &Value, at: Span) -> Checked<Value> {
        let x = self.double(x, at)?;
        let signed = self.whole_number(&x, at)?;
        let signed = self.numbers(&signed, at)?;
        let signed = Value::Operand(self.cast(signed, DType::UInt64, at)?);
        let plain = self.numbers(&x, at)?;
        let plain = Value::Operand(self.cast(plain, DType::UInt64, at)?);
        let negative = self.binary(Binary::Less, &x, &ZERO, at)?;
        self.choose(&negative, &signed, &plain, at)
    }

    /// Compiles a function that is defined for every number.
    pub(super) fn formula_function(
        &mut self,
        function: FormulaFunction,
        x: &Value,
        at: Span,
    ) -> Checked<Value> {
        use FormulaFunction as F;
        let x = self.double(x, at)?;
        let number = |value: f64| Value::Number(Number::Float(value));
        let (unary, inside) = match function {
            F::Sqrt => {
                let size = self.unary(Unary::Abs, &x, at)?;
                return self.unary(Unary::Sqrt, &size, at);
            }
            F::Int => {
                let whole = self.whole_number(&x, at)?;
                return self.double(&whole, at);
            }
            F::Sign => {
                let negative = self.binary(Binary::Less, &x, &ZERO, at)?;
                return self.choose(&negative, &number(-1.0), &number(1.0), at);
            }
            F::Round => return self.rounded_away(&x, at),
            F::Exp => {
                let most = self.binary(Binary::Greater, &x, &number(LARGEST_EXPONENT), at)?;
                let exponent = self.choose(&most, &number(LARGEST_EXPONENT), &x, at)?;
                let power = self.unary(Unary::Exp, &exponent, at)?;
                let least = self.binary(Binary::Less, &x, &number(-LARGEST_EXPONENT), at)?;
                return self.choose(&least, &ZERO, &power, at);
            }
            F::Log => (Unary::Log, self.binary(Binary::Greater, &x, &ZERO, at)?),
            F::Log10 => (Unary::Log10, self.binary(Binary::Greater, &x, &ZERO, at)?),
            // NaN remains NaN for this function.
            F::Acosh => {
                let outside = self.binary(Binary::Less, &x, &number(1.0), at)?;
                (Unary::Arccosh, self.unary(Unary::Not, &outside, at)?)
            }
            F::Asin | F::Acos | F::Atanh => {
                let size = self.unary(Unary::Abs, &x, at)?;
                let outside = self.binary(Binary::Greater, &size, &number(1.0), at)?;
                let inside = self.unary(Unary::Not, &outside, at)?;
                let unary = match function {
                    F::Asin => Unary::Arcsin,
                    F::Acos => Unary::Arccos,
                    _ => Unary::Arctanh,
                };
                (unary, inside)
            }
        };
        let value = self.unary(unary, &x, at)?;
        self.choose(&inside, &value, &ZERO, at)
    }

    /// Rounds halves away from zero, as `round` does in C.
    fn rounded_away(&mut self, x: &Value, at: Span) -> Checked<Value> {
        let whole = self.unary(Unary::Trunc, x, at)?;
        let rest = self.binary(Binary::Subtract, x, &whole, at)?;
        let rest = self.unary(Unary::Abs, &rest, at)?;
        let far = self.binary(Binary::GreaterEqual, &rest, &Value::Number(Number::Float(0.5)), at)?;
        let one = self.double(&Value::Number(Number::Float(1.0)), at)?;
        let one = self.binary(Binary::CopySign, &one, x, at)?;
        let away = self.binary(Binary::Add, &whole, &one, at)?;
        self.choose(&far, &away, &whole, at)
    }
}

const ZERO: Value = Value::Number(Number::Float(0.0));

impl Compiler<'_> {
    /// Reduces all items of an entry to one value, which is 0 if there are none.
    pub(super) fn of_entry(&mut self, by: syntax::Reduction, items: &Value, at: Span) -> Checked<Value> {
        use syntax::Reduction as R;
        let operand = self.operand(items, at)?;
        let mut depth = self.path(operand.space).len();
        let mut value = match by {
            R::Count if depth == 0 => return Ok(Value::Number(Number::Int(1))),
            R::Count => Value::Operand(operand),
            _ if self.formula => self.double(&Value::Operand(operand), at)?,
            _ => Value::Operand(self.numbers(&Value::Operand(operand), at)?),
        };
        let mut next = by;
        while depth > 0 {
            value = self.reduce(next, &value, None, at)?;
            next = if by == R::Count { R::Sum } else { by };
            depth -= 1;
        }
        let zero = if self.formula { ZERO } else { Value::Number(Number::Int(0)) };
        let value = if self.formula { self.double(&value, at)? } else { value };
        self.alternative(&value, &zero, at)
    }

    /// Selects the items of an entry for which a condition holds.
    pub(super) fn filter_entry(&mut self, items: &Value, condition: &Value, at: Span) -> Checked<Value> {
        let (items, condition) = (self.numbers(items, at)?, self.numbers(condition, at)?);
        let condition = self.truth(condition, at)?;
        let (items, condition, space) = self.aligned(items, condition, at)?;
        if !self.path(space).is_empty() {
            return self.filter(&Value::Operand(items), &Value::Operand(condition), at);
        }
        let mut valid = self.both_valid(items.valid, condition.valid, space, at)?;
        valid = self.both_valid(valid, Some(condition.register), space, at)?;
        Ok(Value::Operand(Operand { valid, space, ..items }))
    }

    /// Takes the first operand where it is present, and the second elsewhere.
    pub(super) fn alternative(&mut self, x: &Value, y: &Value, at: Span) -> Checked<Value> {
        let x = self.numbers(x, at)?;
        if !self.path(x.space).is_empty() {
            let what = "Alt$ of lists is not supported: only of single values, such as Alt$(x[0], -1)";
            return Err(Fault::new(at, what));
        }
        let Some(valid) = x.valid else { return Ok(Value::Operand(x)) };
        let kind = crate::program::Kind::Number(DType::Bool);
        let there = Value::Operand(Operand { register: valid, kind, valid: None, ..x });
        let y = if self.formula { self.double(y, at)? } else { y.clone() };
        self.choose(&there, &Value::Operand(Operand { valid: None, ..x }), &y, at)
    }

    /// Tests whether text contains a constant.
    pub(super) fn contains(&mut self, text: &Value, part: &Value, at: Span) -> Checked<Value> {
        let Value::Text(part) = part else {
            return Err(Fault::new(at, "the text that is searched for must be in quotes"));
        };
        if let Value::Text(text) = text {
            return Ok(Value::Number(Number::Bool(text.contains(&**part))));
        }
        let x = self.operand(text, at)?;
        if x.kind != crate::program::Kind::Text {
            return Err(Fault::new(at, "a text is searched for in something else than text"));
        }
        self.made(crate::program::Step::TextHas { x: x.register, part: part.clone() }, x, at)
            .map(Value::Operand)
    }
}
