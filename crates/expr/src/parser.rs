//! From tokens to syntax, by the precedence of operators.

use crate::{
    error::{Fault, Span},
    functions::{self, Function},
    lexer::{Lexeme, Token, tokens},
    syntax::{Binary, Id, Kind, Node, Reduction, Unary},
};

/// Whose spelling a text has, where one differs from the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spelling {
    /// Python's over whole arrays, with TTreeFormula's where Python has none.
    #[default]
    Python,
    /// TTreeFormula's: `^` is power.
    TTreeFormula,
}

/// Brackets, signs and functions within each other.
const DEEPEST: u32 = 200;
/// Nodes of one expression.
const MOST: usize = 20_000;

/// The nodes of a text; the last is the whole.
pub(crate) fn parse(text: &str, spelling: Spelling) -> Result<Vec<Node>, Fault> {
    let tokens = tokens(text)?;
    let mut parser = Parser { tokens, next: 0, nodes: Vec::new(), depth: 0, spelling };
    if parser.peek() == &Token::End {
        return Err(parser.unexpected("an expression"));
    }
    let root = parser.expression(0)?;
    if parser.peek() != &Token::End {
        return Err(parser.unexpected("an operator or the end"));
    }
    debug_assert_eq!(root as usize + 1, parser.nodes.len());
    Ok(parser.nodes)
}

struct Parser {
    tokens: Vec<Lexeme>,
    next: usize,
    nodes: Vec<Node>,
    depth: u32,
    spelling: Spelling,
}

/// An operator between two operands.
#[derive(Clone, Copy)]
enum Infix {
    Binary(Binary),
    /// `?`, with `:` behind.
    Choice,
}

/// How tightly operators bind: Python's order, and `?` weakest.
mod binding {
    pub(super) const CHOICE: u8 = 1;
    pub(super) const OR: u8 = 2;
    pub(super) const AND: u8 = 3;
    pub(super) const NOT: u8 = 4;
    pub(super) const COMPARISON: u8 = 5;
    pub(super) const BIT_OR: u8 = 6;
    pub(super) const BIT_XOR: u8 = 7;
    pub(super) const BIT_AND: u8 = 8;
    pub(super) const SHIFT: u8 = 9;
    pub(super) const SUM: u8 = 10;
    pub(super) const PRODUCT: u8 = 11;
    pub(super) const SIGN: u8 = 12;
    pub(super) const POWER: u8 = 13;
}

impl Parser {
    fn peek(&self) -> &Token {
        &self.lexeme().token
    }

    fn lexeme(&self) -> &Lexeme {
        // The last token is the end, which is never passed.
        &self.tokens[self.next.min(self.tokens.len() - 1)]
    }

    fn advance(&mut self) -> Lexeme {
        let lexeme = self.lexeme().clone();
        self.next = (self.next + 1).min(self.tokens.len() - 1);
        lexeme
    }

    fn is_mark(&self, mark: &str) -> bool {
        matches!(self.peek(), Token::Mark(found) if *found == mark)
    }

    fn expect(&mut self, mark: &'static str) -> Result<Span, Fault> {
        if self.is_mark(mark) {
            return Ok(self.advance().at);
        }
        Err(self.unexpected(&format!("{mark:?}")))
    }

    fn unexpected(&self, wanted: &str) -> Fault {
        let found = match self.peek() {
            Token::Name(name) | Token::Quoted(name) => format!("the name {name:?}"),
            Token::Int(_) | Token::Float(_) => "a number".into(),
            Token::Text(_) => "a text".into(),
            Token::Mark("=") => "\"=\" (a comparison is \"==\")".into(),
            Token::Mark(mark) => format!("{mark:?}"),
            Token::End => "the end".into(),
        };
        Fault::new(self.lexeme().at, format!("{wanted} is expected where {found} stands"))
    }

    fn push(&mut self, kind: Kind, at: Span) -> Result<Id, Fault> {
        if self.nodes.len() >= MOST {
            return Err(Fault::new(at, format!("more than {MOST} operands and operators in one expression")));
        }
        self.nodes.push(Node { kind, at });
        Ok(self.nodes.len() as Id - 1)
    }

    fn at(&self, id: Id) -> Span {
        self.nodes[id as usize].at
    }

    /// An expression of operators that bind at least as tightly.
    fn expression(&mut self, least: u8) -> Result<Id, Fault> {
        self.depth += 1;
        if self.depth > DEEPEST {
            let what = format!("more than {DEEPEST} brackets, signs and functions within each other");
            return Err(Fault::new(self.lexeme().at, what));
        }
        let found = self.operators(least);
        self.depth -= 1;
        found
    }

    fn operators(&mut self, least: u8) -> Result<Id, Fault> {
        let mut left = self.operand(least)?;
        while let Some((infix, binds)) = self.infix() {
            if binds < least {
                break;
            }
            left = match infix {
                Infix::Binary(first) if first.is_comparison() => self.comparisons(left)?,
                Infix::Binary(binary) => {
                    self.advance();
                    // To the right: 2**3**2 is 2**9.
                    let right =
                        self.expression(if binary == Binary::Power { binding::SIGN } else { binds + 1 })?;
                    let at = self.at(left).to(self.at(right));
                    self.push(Kind::Binary(binary, left, right), at)?
                }
                Infix::Choice => {
                    self.advance();
                    let yes = self.expression(binding::CHOICE)?;
                    self.expect(":")?;
                    let no = self.expression(binding::CHOICE)?;
                    let at = self.at(left).to(self.at(no));
                    self.push(Kind::Where(left, yes, no), at)?
                }
            };
        }
        Ok(left)
    }

    fn infix(&self) -> Option<(Infix, u8)> {
        use Binary as B;
        let binary = match self.peek() {
            Token::Name(word) if word == "or" => B::Or,
            Token::Name(word) if word == "and" => B::And,
            Token::Mark("?") => return Some((Infix::Choice, binding::CHOICE)),
            Token::Mark("||") => B::Or,
            Token::Mark("&&") => B::And,
            Token::Mark("^") if self.spelling == Spelling::TTreeFormula => B::Power,
            Token::Mark(mark) => *B::ALL.iter().find(|binary| binary.word() == *mark)?,
            _ => return None,
        };
        let binds = match binary {
            B::Or => binding::OR,
            B::And => binding::AND,
            B::BitOr => binding::BIT_OR,
            B::BitXor => binding::BIT_XOR,
            B::BitAnd => binding::BIT_AND,
            B::ShiftLeft | B::ShiftRight => binding::SHIFT,
            B::Add | B::Subtract => binding::SUM,
            B::Multiply | B::Divide | B::FloorDivide | B::Remainder => binding::PRODUCT,
            B::Power => binding::POWER,
            _ => binding::COMPARISON,
        };
        Some((Infix::Binary(binary), binds))
    }

    /// One comparison, or several in a chain, which all have to hold: `1 < x < 5` is `(1 < x) and (x < 5)`.
    fn comparisons(&mut self, first: Id) -> Result<Id, Fault> {
        let mut left = first;
        let mut whole: Option<Id> = None;
        while let Some((Infix::Binary(comparison), binding::COMPARISON)) = self.infix() {
            if whole.is_some() {
                self.not_bits(left)?;
            }
            self.advance();
            let right = self.expression(binding::COMPARISON + 1)?;
            let at = self.at(left).to(self.at(right));
            let one = self.push(Kind::Binary(comparison, left, right), at)?;
            whole = Some(match whole {
                None => one,
                Some(before) => {
                    let at = self.at(before).to(at);
                    self.push(Kind::Binary(Binary::And, before, one), at)?
                }
            });
            left = right;
        }
        Ok(whole.unwrap_or(first))
    }

    /// `a > 1 & b < 2` is a chain around `1 & b` in Python, and seldom meant.
    fn not_bits(&self, middle: Id) -> Result<(), Fault> {
        let node = &self.nodes[middle as usize];
        let is_open = |mark: &Lexeme| mark.at.end <= node.at.start && mark.token == Token::Mark("(");
        let opened =
            self.tokens.iter().rev().find(|lexeme| lexeme.at.end <= node.at.start).is_some_and(is_open);
        match node.kind {
            Kind::Binary(bits @ (Binary::BitAnd | Binary::BitOr), ..) if !opened => {
                let what = format!(
                    "{} binds more tightly than comparisons: put the comparisons beside it in brackets",
                    bits.word()
                );
                Err(Fault::new(node.at, what))
            }
            _ => Ok(()),
        }
    }

    /// A sign, or a value with what stands behind it.
    fn operand(&mut self, least: u8) -> Result<Id, Fault> {
        let start = self.lexeme().at;
        let (unary, binds) = match self.peek() {
            Token::Name(word) if word == "not" => (Unary::Not, binding::NOT),
            Token::Mark("!") => (Unary::Not, binding::SIGN),
            Token::Mark("-") => (Unary::Negative, binding::SIGN),
            Token::Mark("+") => (Unary::Positive, binding::SIGN),
            Token::Mark("~") => (Unary::Invert, binding::SIGN),
            _ => return self.value(),
        };
        if unary == Unary::Not && binds < least && binds == binding::NOT {
            return Err(Fault::new(
                start,
                "\"not\" binds less tightly than what stands before it: put it in brackets",
            ));
        }
        self.advance();
        let operand = self.expression(binds)?;
        let at = start.to(self.at(operand));
        self.push(Kind::Unary(unary, operand), at)
    }

    fn value(&mut self) -> Result<Id, Fault> {
        let mut value = self.atom()?;
        while self.is_mark("[") {
            value = self.brackets(value)?;
        }
        Ok(value)
    }

    fn atom(&mut self) -> Result<Id, Fault> {
        let Lexeme { token, at } = self.advance();
        let kind = match token {
            Token::Int(value) => Kind::Int(value as i128), // at most 64 bits
            Token::Float(value) => Kind::Float(value),
            Token::Text(text) => Kind::Text(text),
            Token::Quoted(name) => Kind::Name { name, quoted: true },
            Token::Name(name) if self.is_mark("(") => return self.call(&name, at),
            Token::Name(name) => match name.as_str() {
                "True" | "true" => Kind::Bool(true),
                "False" | "false" => Kind::Bool(false),
                "and" | "or" | "not" => {
                    return Err(Fault::new(at, format!("a value is expected where {name:?} stands")));
                }
                _ => Kind::Name { name, quoted: false },
            },
            Token::Mark("(") => {
                let inner = self.expression(0)?;
                self.expect(")")?;
                return Ok(inner);
            }
            _ => {
                self.next = self.next.saturating_sub(usize::from(token != Token::End));
                return Err(self.unexpected("a value"));
            }
        };
        self.push(kind, at)
    }

    /// `x[condition]`, or a position, which is refused with what to write instead.
    fn brackets(&mut self, items: Id) -> Result<Id, Fault> {
        let open = self.advance().at;
        let condition = self.expression(0)?;
        let at = self.at(items).to(self.expect("]")?);
        let is_number = |id: Id| matches!(self.nodes[id as usize].kind, Kind::Int(_));
        let inner = match self.nodes[condition as usize].kind {
            Kind::Unary(_, inner) => inner,
            _ => condition,
        };
        if is_number(inner) {
            let what = "a number in brackets is an entry in Python and an item in TTreeFormula: \
                        item(x, 0) is the first item of each list, and missing where there is none";
            return Err(Fault::new(open.to(at), what));
        }
        self.push(Kind::Filter { items, condition }, at)
    }

    fn call(&mut self, name: &str, start: Span) -> Result<Id, Fault> {
        let Some(function) = functions::function(name) else {
            if let Some(value) =
                functions::constant(&name.replace("Pi", "pi")).filter(|_| name.starts_with("TMath::"))
            {
                self.advance();
                let end = self.expect(")")?;
                return self.push(Kind::Float(value), start.to(end));
            }
            let near = functions::suggested(&functions::similar(name));
            return Err(Fault::new(start, format!("there is no function {name:?}{near}")));
        };
        self.advance();
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

    /// `axis=-1`.
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
            (Function::Extreme(_, binary), [x, y]) if axis.is_none() => Kind::Binary(binary, *x, *y),
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
            _ => {
                let wanted = match function {
                    Function::Unary(_) | Function::Reduction(_) | Function::Cast(_) | Function::IsNone => "1",
                    Function::Extreme(..) => "1 or 2",
                    Function::Binary(_) | Function::Item => "2",
                    Function::Where => "3",
                };
                let what = format!("{name} takes {wanted} arguments, not {}", arguments.len());
                return Err(Fault::new(at, what));
            }
        };
        self.push(kind, at)
    }

    /// A whole number, with a sign or without.
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

/// A shorthand for tests and messages: whether a reduction has no value for an empty list.
pub(crate) const fn may_lack(by: Reduction) -> bool {
    matches!(by, Reduction::Min | Reduction::Max | Reduction::First)
}
