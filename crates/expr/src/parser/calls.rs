//! Calls of functions.

use super::{Parser, Spelling};
use crate::{
    error::{Fault, Span},
    functions::{self, Function},
    lexer::Token,
    syntax::{Binary, Id, Kind, Reduction, Unary},
};

impl Parser {
    pub(super) fn call(&mut self, name: &str, start: Span) -> Result<Id, Fault> {
        let formula = self.spelling == Spelling::TTreeFormula;
        let Some(function) = functions::function(name, formula) else {
            if let Some(value) = functions::tmath_constant(name) {
                self.advance();
                let end = self.expect(")")?;
                return self.push(Kind::Float(value), start.to(end));
            }
            if let Some(why) = functions::refused(name) {
                return Err(Fault::new(start, format!("{name} is not supported: {why}")));
            }
            let near = functions::suggested(&functions::similar(name));
            return Err(Fault::new(start, format!("there is no function {name:?}{near}")));
        };
        self.advance();
        if function == Function::IsIn {
            return self.is_in(name, start);
        }
        let (mut arguments, mut axis) = (Vec::new(), None);
        while !self.is_mark(")") {
            if !arguments.is_empty() || axis.is_some() {
                self.expect(",")?;
                if self.is_mark(")") {
                    break;
                }
            }
            let word = matches!(&self.lexeme().token, Token::Name(_))
                && self.tokens.get(self.next + 1).is_some_and(|next| next.token == Token::Mark("="));
            if word && axis.is_some() {
                return Err(Fault::new(self.lexeme().at, "axis is given twice"));
            } else if word {
                axis = Some(self.axis(function)?);
            } else if axis.is_some() {
                return Err(self.unexpected("\")\""));
            } else {
                arguments.push(self.expression(0)?);
            }
        }
        let at = start.to(self.expect(")")?);
        self.called(name, function, &arguments, axis, at)
    }

    /// Parses `axis=-1`.
    fn axis(&mut self, function: Function) -> Result<i64, Fault> {
        let word = self.advance();
        let takes_axis =
            matches!(function, Function::Reduction(_) | Function::Extreme(..) | Function::IsNone);
        if word.token != Token::Name("axis".into()) || !takes_axis {
            let known = if takes_axis { "the only one is axis" } else { "it takes none" };
            let Token::Name(name) = word.token else { return Err(self.unexpected("a name")) };
            return Err(Fault::new(word.at, format!("no argument of the name {name:?}: {known}")));
        }
        self.expect("=")?;
        let negative = self.is_mark("-");
        if negative {
            self.advance();
        }
        let number = self.advance();
        match number.token {
            Token::Int(axis) if axis < 100 => Ok(if negative { -(axis as i64) } else { axis as i64 }),
            _ => Err(Fault::new(number.at, "axis must be a whole number")),
        }
    }

    fn called(
        &mut self,
        name: &str,
        function: Function,
        arguments: &[Id],
        axis: Option<i64>,
        at: Span,
    ) -> Result<Id, Fault> {
        let kind = match (function, arguments) {
            (Function::Unary(unary), [x]) => Kind::Unary(unary, *x),
            (Function::Binary(binary), [x, y]) => Kind::Binary(binary, *x, *y),
            (Function::Reduction(by) | Function::Extreme(by, _), [items]) => {
                Kind::Reduce { by, items: *items, axis }
            }
            (Function::Extreme(_, binary), [x, y]) if axis.is_none() => match self.spelling {
                Spelling::Python => Kind::Binary(binary, *x, *y),
                // As in C++, the second is only taken if it is beyond the first.
                Spelling::TTreeFormula => {
                    let beyond = if binary == Binary::Minimum { Binary::Greater } else { Binary::Less };
                    let second = self.push(Kind::Binary(beyond, *x, *y), at)?;
                    Kind::Where(second, *y, *x)
                }
            },
            (Function::Extreme(..), [_, _]) => {
                let what = format!("{name} of two arguments goes item by item, and takes no axis");
                return Err(Fault::new(at, what));
            }
            (Function::Where, [c, x, y]) => Kind::Where(*c, *x, *y),
            (Function::Cast(dtype), [x]) => Kind::Cast(dtype, *x),
            (Function::IsNone, [x]) => Kind::IsNone { x: *x, axis },
            (Function::Item, [items, position]) => {
                let position = self.position(*position)?;
                Kind::Item { items: *items, position }
            }
            (Function::Round, [x]) => Kind::Round { x: *x, digits: 0 },
            (Function::Round, [x, digits]) => Kind::Round { x: *x, digits: self.position(*digits)? },
            (Function::Contains, [text, part]) => Kind::Contains { text: *text, part: *part },
            (Function::Formula(function), [x]) => Kind::Formula(function, *x),
            (Function::ReduceEntry(by), [items]) => Kind::ReduceEntry { by, items: *items },
            (Function::ReduceIf(by), [items, condition]) => {
                return self.reduce_if(by, *items, *condition, at);
            }
            (Function::Alternative, [x, y]) => Kind::Alternative(*x, *y),
            (Function::Parity(odd), [x]) => return self.parity(*x, odd, at),
            (Function::Gaus, [x, ..]) if arguments.len() <= 4 => return self.gaus(*x, &arguments[1..], at),
            _ => {
                let what = format!("{name} takes {} arguments, not {}", function.arity(), arguments.len());
                return Err(Fault::new(at, what));
            }
        };
        self.push(kind, at)
    }

    /// Parses the arguments of `isin(x, [1, 2])`.
    fn is_in(&mut self, name: &str, start: Span) -> Result<Id, Fault> {
        let x = self.expression(0)?;
        self.expect(",")?;
        if !self.is_mark("[") && !self.is_mark("(") {
            return Err(self.unexpected(&format!("a list of values, as in {name}(x, [1, 2]),")));
        }
        let found = self.among(x, false)?;
        if self.is_mark(",") {
            self.advance();
        }
        let end = self.expect(")")?;
        let at = start.to(end);
        self.nodes[found as usize].at = at;
        Ok(found)
    }

    /// Parses a bracketed list of values, and compares a value with each of them.
    pub(super) fn among(&mut self, x: Id, negated: bool) -> Result<Id, Fault> {
        let open = self.advance();
        let close = if open.token == Token::Mark("[") { "]" } else { ")" };
        let (comparison, joined) =
            if negated { (Binary::NotEqual, Binary::And) } else { (Binary::Equal, Binary::Or) };
        let mut whole: Option<Id> = None;
        while !self.is_mark(close) {
            if whole.is_some() {
                self.expect(",")?;
                if self.is_mark(close) {
                    break;
                }
            }
            let value = self.expression(0)?;
            let at = self.at(x).to(self.at(value));
            let one = self.push(Kind::Binary(comparison, x, value), at)?;
            whole = Some(match whole {
                None => one,
                Some(before) => self.push(Kind::Binary(joined, before, one), at)?,
            });
        }
        let end = self.expect(if close == "]" { "]" } else { ")" })?;
        whole.ok_or_else(|| Fault::new(open.at.to(end), "no value to compare with"))
    }

    /// Builds `MinIf$(x, condition)`, whose condition has one value for each item, or one for all of them.
    fn reduce_if(&mut self, by: Reduction, items: Id, condition: Id, at: Span) -> Result<Id, Fault> {
        let kept = self.push(Kind::FilterEntry { items, condition }, at)?;
        self.push(Kind::ReduceEntry { by, items: kept }, at)
    }

    /// Builds a test whether integers are odd or even.
    fn parity(&mut self, x: Id, odd: bool, at: Span) -> Result<Id, Fault> {
        let whole = self.push(Kind::Cast(forthwith_columns::DType::Int64, x), at)?;
        let one = self.push(Kind::Int(1), at)?;
        let bit = self.push(Kind::Binary(Binary::BitAnd, whole, one), at)?;
        let wanted = self.push(Kind::Int(i128::from(odd)), at)?;
        self.push(Kind::Binary(Binary::Equal, bit, wanted), at)
    }

    /// Builds `TMath::Gaus(x, mean, sigma, norm)`.
    fn gaus(&mut self, x: Id, more: &[Id], at: Span) -> Result<Id, Fault> {
        let norm = match more.get(2).map(|norm| &self.nodes[*norm as usize].kind) {
            None => false,
            Some(Kind::Int(norm)) => *norm != 0,
            Some(Kind::Bool(norm)) => *norm,
            Some(_) => return Err(Fault::new(at, "the last argument of Gaus must be 0 or 1")),
        };
        let mean = more.first().copied().map_or_else(|| self.push(Kind::Float(0.0), at), Ok)?;
        let sigma = more.get(1).copied().map_or_else(|| self.push(Kind::Float(1.0), at), Ok)?;
        let number = |parser: &mut Self, value: f64| parser.push(Kind::Float(value), at);
        let distance = self.push(Kind::Binary(Binary::Subtract, x, mean), at)?;
        let argument = self.push(Kind::Binary(Binary::Divide, distance, sigma), at)?;
        let half = number(self, -0.5)?;
        let scaled = self.push(Kind::Binary(Binary::Multiply, half, argument), at)?;
        let exponent = self.push(Kind::Binary(Binary::Multiply, scaled, argument), at)?;
        let mut value = self.push(Kind::Unary(Unary::Exp, exponent), at)?;
        // As in ROOT: zero beyond 39 standard deviations, and a large number without a width.
        let far = number(self, 39.0)?;
        let size = self.push(Kind::Unary(Unary::Abs, argument), at)?;
        let beyond = self.push(Kind::Binary(Binary::Greater, size, far), at)?;
        let zero = number(self, 0.0)?;
        value = self.push(Kind::Where(beyond, zero, value), at)?;
        if norm {
            let root = number(self, 2.506_628_274_631_000_2)?;
            let area = self.push(Kind::Binary(Binary::Multiply, root, sigma), at)?;
            value = self.push(Kind::Binary(Binary::Divide, value, area), at)?;
        }
        let none = self.push(Kind::Binary(Binary::Equal, sigma, zero), at)?;
        let large = number(self, 1e30)?;
        self.push(Kind::Where(none, large, value), at)
    }

    /// Returns an integer constant, which may have a sign.
    fn position(&self, id: Id) -> Result<i64, Fault> {
        let value = |id: Id| match self.nodes[id as usize].kind {
            Kind::Int(value) => i64::try_from(value).ok(),
            _ => None,
        };
        let found = match self.nodes[id as usize].kind {
            Kind::Unary(Unary::Negative, inner) => value(inner).map(i64::wrapping_neg),
            _ => value(id),
        };
        found.ok_or_else(|| Fault::new(self.at(id), "a position must be a whole number"))
    }
}
