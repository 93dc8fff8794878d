//! Operator-precedence parser.

mod calls;
mod precedence;
mod subscripts;

use crate::{
    error::{Fault, Span},
    lexer::{Lexeme, Token, tokens},
    syntax::{Binary, Id, Kind, Node, Reduction, Spelling, Unary},
};
use precedence::Binding;

/// Maximum nesting depth of brackets, signs and functions.
const DEEPEST: u32 = 200;
/// Maximum number of nodes of an expression.
const MOST: usize = 20_000;

/// Parses a text to nodes; the last one is the root.
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
    /// `in` or `not in`.
    Among {
        negated: bool,
    },
}

impl Parser {
    fn peek(&self) -> &Token {
        &self.lexeme().token
    }

    fn lexeme(&self) -> &Lexeme {
        // The last token is `End`, which is never passed.
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
        Fault::syntax(self.lexeme().at, format!("{wanted} is expected where {found} stands"))
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

    /// Parses an expression of operators with a precedence of at least `least`.
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
            if binds.level < least {
                break;
            }
            left = match infix {
                Infix::Binary(first) if first.is_comparison() && self.spelling == Spelling::Python => {
                    self.comparisons(left)?
                }
                Infix::Binary(binary) => {
                    if binary.is_comparison() {
                        self.not_shifted(left)?;
                    }
                    let operator = self.next;
                    self.advance();
                    let right = self.expression(binds.right)?;
                    self.not_mixed(binary, operator)?;
                    let at = self.at(left).to(self.at(right));
                    self.push(Kind::Binary(binary, left, right), at)?
                }
                Infix::Choice => {
                    self.advance();
                    let yes = self.expression(precedence::CHOICE)?;
                    self.expect(":")?;
                    let no = self.expression(precedence::CHOICE)?;
                    let at = self.at(left).to(self.at(no));
                    self.push(Kind::Where(left, yes, no), at)?
                }
                Infix::Among { negated } => self.membership(left, negated)?,
            };
        }
        Ok(left)
    }

    /// Parses `in`, followed by a text or a list of values, and `not in`.
    fn membership(&mut self, left: Id, negated: bool) -> Result<Id, Fault> {
        self.advance();
        if negated {
            self.advance();
        }
        if matches!(self.nodes[left as usize].kind, Kind::Text(_)) && !self.is_mark("[") {
            let text = self.expression(precedence::COMPARISON + 1)?;
            let at = self.at(left).to(self.at(text));
            let found = self.push(Kind::Contains { text, part: left }, at)?;
            return if negated { self.push(Kind::Unary(Unary::Not, found), at) } else { Ok(found) };
        }
        if !self.is_mark("[") && !self.is_mark("(") {
            return Err(self.unexpected("a list of values, as in x in [1, 2],"));
        }
        self.among(left, negated)
    }

    fn infix(&self) -> Option<(Infix, Binding)> {
        use Binary as B;
        let comparison = Binding { level: precedence::COMPARISON, right: precedence::COMPARISON + 1 };
        let binary = match self.peek() {
            Token::Name(word) if word == "or" => B::Or,
            Token::Name(word) if word == "and" => B::And,
            Token::Name(word) if word == "in" => return Some((Infix::Among { negated: false }, comparison)),
            Token::Name(word) if word == "not" && self.is_followed_by_in() => {
                return Some((Infix::Among { negated: true }, comparison));
            }
            Token::Mark("?") => {
                let level = precedence::CHOICE;
                return Some((Infix::Choice, Binding { level, right: level }));
            }
            Token::Mark("||") => B::Or,
            Token::Mark("&&") => B::And,
            Token::Mark("^") if self.spelling == Spelling::TTreeFormula => B::Power,
            Token::Mark(mark) => *B::ALL.iter().find(|binary| binary.word() == *mark)?,
            _ => return None,
        };
        Some((Infix::Binary(binary), precedence::binding(binary, self.spelling)))
    }

    fn is_followed_by_in(&self) -> bool {
        self.tokens.get(self.next + 1).is_some_and(|next| next.token == Token::Name("in".into()))
    }

    /// Parses one comparison, or a chain that is true if all hold: `1 < x < 5` is `(1 < x) and (x < 5)`.
    fn comparisons(&mut self, first: Id) -> Result<Id, Fault> {
        let mut left = first;
        let mut whole: Option<Id> = None;
        while let Some((Infix::Binary(comparison), Binding { level: precedence::COMPARISON, .. })) =
            self.infix()
        {
            if whole.is_some() {
                self.not_bits(left)?;
            }
            self.advance();
            let right = self.expression(precedence::COMPARISON + 1)?;
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

    /// Rejects `a > 1 & b < 2`, which in Python is a chain around `1 & b`, and rarely intended.
    fn not_bits(&self, middle: Id) -> Result<(), Fault> {
        let node = &self.nodes[middle as usize];
        match node.kind {
            Kind::Binary(bits @ (Binary::BitAnd | Binary::BitOr), ..) if !self.is_in_brackets(node) => {
                let what = format!(
                    "{} binds more tightly than comparisons: put the comparisons beside it in brackets",
                    bits.word()
                );
                Err(Fault::new(node.at, what))
            }
            _ => Ok(()),
        }
    }

    /// Rejects `<` after `<<`, which TTreeFormula does not parse as a comparison.
    fn not_shifted(&self, left: Id) -> Result<(), Fault> {
        let node = &self.nodes[left as usize];
        match node.kind {
            Kind::Binary(shift @ (Binary::ShiftLeft | Binary::ShiftRight), ..)
                if !self.is_in_brackets(node) =>
            {
                let what = format!("{} before a comparison: put it in brackets", shift.word());
                Err(Fault::new(node.at, what))
            }
            _ => Ok(()),
        }
    }

    /// Rejects mixed comparisons: TTreeFormula parses `a < b <= c` as `(a < b) <= c`, but `a < b > c` as `a <
    /// (b > c)`.
    fn not_mixed(&self, binary: Binary, operator: usize) -> Result<(), Fault> {
        let other = match binary {
            Binary::Less => "<=",
            Binary::Greater => ">=",
            _ => return Ok(()),
        };
        let mut depth = 0;
        for lexeme in &self.tokens[operator..self.next] {
            match lexeme.token {
                Token::Mark("(" | "[") => depth += 1,
                Token::Mark(")" | "]") => depth -= 1,
                Token::Mark(mark) if mark == other && depth == 0 => {
                    let what = format!("{other} behind {}: put one of them in brackets", binary.word());
                    return Err(Fault::new(lexeme.at, what));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn is_in_brackets(&self, node: &Node) -> bool {
        let before = self.tokens.iter().rev().find(|lexeme| lexeme.at.end <= node.at.start);
        before.is_some_and(|lexeme| lexeme.token == Token::Mark("("))
    }

    /// Parses a sign and its operand, or a value with its postfix operators.
    fn operand(&mut self, least: u8) -> Result<Id, Fault> {
        let start = self.lexeme().at;
        let (unary, binds) = match self.peek() {
            Token::Name(word) if word == "not" => (Unary::Not, precedence::NOT),
            Token::Mark("!") => (Unary::Not, precedence::of_prefix(self.spelling)),
            Token::Mark("-") => (Unary::Negative, precedence::of_sign(self.spelling).max(least)),
            Token::Mark("+") => (Unary::Positive, precedence::of_sign(self.spelling).max(least)),
            Token::Mark("~") => (Unary::Invert, precedence::of_prefix(self.spelling)),
            _ => return self.value(),
        };
        if unary == Unary::Not && binds < least && binds == precedence::NOT {
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
                "Iteration$" => Kind::Iteration { length: false },
                "Length$" => Kind::Iteration { length: true },
                "and" | "or" | "not" | "in" => {
                    return Err(Fault::syntax(at, format!("a value is expected where {name:?} stands")));
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
}

/// Whether a reduction has no value for an empty list.
pub(crate) const fn may_lack(by: Reduction) -> bool {
    matches!(by, Reduction::Min | Reduction::Max | Reduction::First | Reduction::Argmin | Reduction::Argmax)
}
