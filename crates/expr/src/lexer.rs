//! Division of text into tokens.

use crate::error::{Fault, Span};

/// A token and its position.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Lexeme {
    pub(crate) token: Token,
    pub(crate) at: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token {
    /// An unquoted name: of a column, an alias or a function, or a keyword.
    Name(String),
    /// A name in backticks: never a keyword or a function.
    Quoted(String),
    Int(u128),
    Float(f64),
    Text(String),
    /// An operator or a bracket.
    Mark(&'static str),
    End,
}

/// Operators and brackets; longer ones precede their prefixes.
const MARKS: [&str; 33] = [
    "...", "**", "//", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "::", "+", "-", "*", "/", "%", "(",
    ")", "[", "]", ",", "<", ">", "=", "&", "|", "^", "~", "!", "?", ":", "@",
];

/// Maximum length of a text in bytes.
pub(crate) const LONGEST: usize = 1 << 16;

pub(crate) fn tokens(text: &str) -> Result<Vec<Lexeme>, Fault> {
    if text.len() > LONGEST {
        let what = format!("an expression of {} bytes: the most is {LONGEST}", text.len());
        return Err(Fault::new(Span::new(0, 0), what));
    }
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        if c.is_whitespace() {
            at += c.len_utf8();
            continue;
        }
        let (token, length) = token(&text[at..], c, at)?;
        found.push(Lexeme { token, at: Span::new(at, at + length) });
        at += length;
    }
    found.push(Lexeme { token: Token::End, at: Span::new(at, at) });
    Ok(found)
}

/// Returns the first token of a text, and its length in bytes. `at` is the offset of the text, for errors.
fn token(text: &str, c: char, at: usize) -> Result<(Token, usize), Fault> {
    let second = text[c.len_utf8()..].chars().next();
    if c.is_ascii_digit() || (c == '.' && second.is_some_and(|c| c.is_ascii_digit())) {
        return number(text, at);
    }
    if is_first(c) {
        let length = name(text);
        return Ok((Token::Name(text[..length].to_owned()), length));
    }
    if matches!(c, '`' | '\'' | '"') {
        let Some(end) = text[1..].find(c) else {
            let what = format!("{c} is opened and not closed");
            return Err(Fault::new(Span::new(at, at + 1), what));
        };
        let inner = text[1..=end].to_owned();
        if inner.contains('\\') && c != '`' {
            return Err(Fault::new(Span::new(at, at + end + 2), "text with \\ is not understood"));
        }
        if inner.is_empty() && c == '`' {
            return Err(Fault::new(Span::new(at, at + 2), "a name without characters"));
        }
        return Ok((if c == '`' { Token::Quoted(inner) } else { Token::Text(inner) }, end + 2));
    }
    match MARKS.iter().find(|mark| text.starts_with(**mark)) {
        Some(mark) => Ok((Token::Mark(mark), mark.len())),
        None => Err(Fault::syntax(Span::new(at, at + c.len_utf8()), format!("{c:?} has no meaning here"))),
    }
}

fn is_first(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

fn is_inner(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns the length in bytes of a name, whose parts are separated by dots or `::`, and which may end with
/// `$` as in TTreeFormula.
fn name(text: &str) -> usize {
    let word = |from: usize| text[from..].find(|c| !is_inner(c)).map_or(text.len(), |length| from + length);
    let mut end = word(0);
    loop {
        let rest = &text[end..];
        let gap = if rest.starts_with("::") { 2 } else { usize::from(rest.starts_with('.')) };
        if gap == 0 || !rest[gap..].starts_with(is_first) {
            break;
        }
        end = word(end + gap);
    }
    end + usize::from(text[end..].starts_with('$'))
}

fn number(text: &str, at: usize) -> Result<(Token, usize), Fault> {
    let bytes = text.as_bytes();
    let byte = |at: usize| bytes.get(at).copied().unwrap_or(0);
    let digits = |mut at: usize, hex: bool| {
        while (if hex { byte(at).is_ascii_hexdigit() } else { byte(at).is_ascii_digit() }) || byte(at) == b'_'
        {
            at += 1;
        }
        at
    };
    let hex = byte(0) == b'0' && matches!(byte(1), b'x' | b'X');
    let mut end = digits(if hex { 2 } else { 0 }, hex);
    let mut float = false;
    if !hex {
        if byte(end) == b'.' {
            float = true;
            end = digits(end + 1, false);
        }
        if matches!(byte(end), b'e' | b'E') {
            let sign = usize::from(matches!(byte(end + 1), b'+' | b'-'));
            if byte(end + 1 + sign).is_ascii_digit() {
                float = true;
                end = digits(end + 1 + sign, false);
            }
        }
    }
    let wrong = |end: usize| {
        let end = end + text[end..].find(|c| !is_inner(c)).unwrap_or(text.len() - end);
        Fault::new(Span::new(at, at + end), format!("{:?} is no number", &text[..end]))
    };
    if text[end..].starts_with(is_inner) {
        return Err(wrong(end));
    }
    let plain: String = text[..end].chars().filter(|c| *c != '_').collect();
    let token = if float {
        plain.parse().ok().map(Token::Float)
    } else if hex {
        u128::from_str_radix(&plain[2..], 16).ok().map(Token::Int)
    } else {
        plain.parse().ok().map(Token::Int)
    };
    let too_large = |token: &Token| matches!(token, Token::Int(value) if *value > u128::from(u64::MAX));
    match token {
        Some(token) if too_large(&token) => {
            let what = format!("{plain} is too large for an integer of 64 bits");
            Err(Fault::new(Span::new(at, at + end), what))
        }
        Some(token) => Ok((token, end)),
        None => Err(wrong(end)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<Token> {
        let tokens = tokens(text).expect("tokens").into_iter().map(|lexeme| lexeme.token);
        tokens.filter(|token| *token != Token::End).collect()
    }

    #[test]
    fn names_have_dots_and_dollars_and_numbers_have_points() {
        let name = |text: &str| Token::Name(text.to_owned());
        assert_eq!(
            read("Muon.pt*Sum$(x)"),
            [name("Muon.pt"), Token::Mark("*"), name("Sum$"), Token::Mark("("), name("x"), Token::Mark(")")]
        );
        assert_eq!(read("TMath::Abs `a/b.`"), [name("TMath::Abs"), Token::Quoted("a/b.".into())]);
        assert_eq!(
            read("1 1. .5 1e3 1_000 0xff"),
            [
                Token::Int(1),
                Token::Float(1.0),
                Token::Float(0.5),
                Token::Float(1000.0),
                Token::Int(1000),
                Token::Int(255)
            ]
        );
        assert_eq!(read("a<=b"), [name("a"), Token::Mark("<="), name("b")]);
    }

    #[test]
    fn what_is_no_token_is_refused_with_its_place() {
        for (text, start) in
            [("a $ b", 2), ("1x", 0), ("0x", 0), ("`a", 0), ("x + 'a", 4), ("99999999999999999999999", 0)]
        {
            let fault = tokens(text).expect_err(text);
            assert_eq!(fault.at.start, start, "{text}: {}", fault.what);
        }
        assert!(tokens(&"x".repeat(LONGEST + 1)).is_err());
    }
}
