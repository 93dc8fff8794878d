//! Subscripts: a condition, positions or slices in brackets after a value.

use super::Parser;
use crate::{
    error::{Fault, Span},
    lexer::Token,
    syntax::{Id, Kind, Selector},
};

use super::Spelling;

impl Parser {
    /// Parses all brackets after a value.
    pub(super) fn brackets(&mut self, value: Id) -> Result<Id, Fault> {
        match self.spelling {
            Spelling::Python => self.python_brackets(value),
            Spelling::TTreeFormula => self.formula_brackets(value),
        }
    }

    /// Parses `x[condition]`, `x[:, 0]` (whose first selector stands for all entries), or `x[..., 0]`.
    fn python_brackets(&mut self, items: Id) -> Result<Id, Fault> {
        let open = self.advance().at;
        if self.is_mark(":") || self.is_mark("...") {
            return self.positions(items, open);
        }
        if self.is_mark("::") {
            return Err(Fault::new(self.lexeme().at, BY_ENTRY));
        }
        let condition = self.expression(0)?;
        if self.is_mark(":") || self.is_mark(",") {
            return Err(Fault::new(self.lexeme().at, BY_ENTRY));
        }
        let at = self.at(items).to(self.expect("]")?);
        let is_number = |id: Id| matches!(self.nodes[id as usize].kind, Kind::Int(_));
        let inner = match self.nodes[condition as usize].kind {
            Kind::Unary(_, inner) => inner,
            _ => condition,
        };
        if is_number(inner) {
            let what = "a number in brackets is an entry in Python and an item in TTreeFormula: \
                        x[:, 0] or item(x, 0) is the first item of each list";
            return Err(Fault::new(open.to(at), what));
        }
        self.push(Kind::Filter { items, condition }, at)
    }

    fn positions(&mut self, items: Id, open: Span) -> Result<Id, Fault> {
        let innermost = self.advance().token == Token::Mark("...");
        if !innermost && !self.is_mark(",") && !self.is_mark("]") {
            return Err(Fault::new(self.lexeme().at, BY_ENTRY));
        }
        let mut selectors = Vec::new();
        while self.is_mark(",") {
            self.advance();
            if self.is_mark("]") {
                break;
            }
            selectors.push(self.selector()?);
        }
        let at = self.at(items).to(open.to(self.expect("]")?));
        self.push(Kind::Subscript { items, selectors, innermost }, at)
    }

    /// Parses a position or a slice.
    fn selector(&mut self) -> Result<Selector, Fault> {
        let start = self.optional_position()?;
        // Two adjacent colons are one token.
        let with_step = self.is_mark("::");
        if !with_step && !self.is_mark(":") {
            return start
                .map(Selector::At)
                .ok_or_else(|| self.unexpected("a position, as in x[:, 0], or a slice, as in x[:, :2],"));
        }
        self.advance();
        let stop = if with_step { None } else { self.optional_position()? };
        let mut step = 1;
        if with_step || self.is_mark(":") {
            if !with_step {
                self.advance();
            }
            let at = self.lexeme().at;
            step = self.optional_position()?.unwrap_or(1);
            if step < 1 {
                return Err(Fault::new(at, format!("a step of {step}: slices go forward by 1 or more")));
            }
        }
        Ok(match (start, stop, step) {
            (None, None, 1) => Selector::All,
            _ => Selector::Slice { start, stop, step },
        })
    }

    fn optional_position(&mut self) -> Result<Option<i64>, Fault> {
        let negative = self.is_mark("-");
        if negative {
            self.advance();
        }
        let Token::Int(number) = *self.peek() else {
            return if negative { Err(self.unexpected("a whole number")) } else { Ok(None) };
        };
        let at = self.advance().at;
        match i64::try_from(number) {
            Ok(number) if number < i64::from(u32::MAX) => Ok(Some(if negative { -number } else { number })),
            _ => Err(Fault::new(at, format!("{number} is beyond the length of any list"))),
        }
    }

    /// Parses `x[0][1]` and `x[][1]`.
    fn formula_brackets(&mut self, items: Id) -> Result<Id, Fault> {
        let mut selectors = Vec::new();
        let mut at = self.at(items);
        while self.is_mark("[") {
            self.advance();
            selectors.push(match *self.peek() {
                Token::Mark("]") => Selector::All,
                Token::Int(number) if number < u128::from(u32::MAX) => {
                    self.advance();
                    Selector::At(number as i64) // at most 32 bits
                }
                _ => {
                    let what = "an index of a formula that is not a number as it is: only x[0] and x[] are supported";
                    return Err(Fault::new(self.lexeme().at, what));
                }
            });
            at = at.to(self.expect("]")?);
        }
        self.push(Kind::Subscript { items, selectors, innermost: false }, at)
    }
}

const BY_ENTRY: &str =
    "a slice of entries: entry_start= and entry_stop= choose entries, and x[:, :2] cuts each list";
