//! Text → tokens. Comments are dropped, and a string becomes one token, so that its words are not parsed.

use crate::error::{CompileError, CompileErrorKind};

/// A word with its byte range, which for `s"` and `."` includes the string. It is small, because texts may be
/// large.
#[derive(Debug)]
pub(crate) struct Token<'a> {
    pub(crate) word: &'a str,
    pub(crate) start: u32,
    pub(crate) end: u32,
}

impl Token<'_> {
    /// Returns the text after `s"` or `."`: from after exactly one separator to the quote, with `\"` as the
    /// only escape.
    pub(crate) fn string(&self, source: &str) -> String {
        let text = source.get(self.start as usize + self.word.len() + 1..self.end as usize - 1);
        text.unwrap_or_default().replace("\\\"", "\"")
    }
}

pub(crate) fn tokenize(source: &str) -> Result<Vec<Token<'_>>, CompileError> {
    if u32::try_from(source.len()).is_err() {
        return Err(CompileError::new(CompileErrorKind::ProgramTooLarge, source, 0, 0));
    }
    let mut lexer = Lexer { source, at: 0 };
    let mut tokens = Vec::new();
    while let Some((start, word)) = lexer.word() {
        match word {
            "(" => lexer.comment(start)?,
            "\\" => lexer.line(),
            "s\"" | ".\"" => {
                lexer.string(start)?;
                tokens.push(Token { word, start: start as u32, end: lexer.at as u32 });
            }
            _ => tokens.push(Token { word, start: start as u32, end: lexer.at as u32 }),
        }
    }
    Ok(tokens)
}

struct Lexer<'a> {
    source: &'a str,
    at: usize,
}

impl<'a> Lexer<'a> {
    fn word(&mut self) -> Option<(usize, &'a str)> {
        let bytes = self.source.as_bytes();
        while bytes.get(self.at).is_some_and(|&b| is_space(b)) {
            self.at += 1;
        }
        let start = self.at;
        while bytes.get(self.at).is_some_and(|&b| !is_space(b)) {
            self.at += 1;
        }
        // Separators are ASCII, so both ends are character boundaries.
        (start < self.at).then(|| (start, &self.source[start..self.at]))
    }

    fn comment(&mut self, start: usize) -> Result<(), CompileError> {
        let mut depth = 1;
        while depth > 0 {
            match self.word() {
                Some((_, "(")) => depth += 1,
                Some((_, ")")) => depth -= 1,
                Some(_) => {}
                None => {
                    let end = self.source[start..].find('\n').map_or(self.source.len(), |at| start + at);
                    return Err(CompileError::new(
                        CompileErrorKind::UnclosedComment,
                        self.source,
                        start,
                        end,
                    ));
                }
            }
        }
        Ok(())
    }

    fn line(&mut self) {
        let rest = &self.source.as_bytes()[self.at..];
        self.at += rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
    }

    /// Moves to after the quote that ends a string: the first one without a backslash before it.
    fn string(&mut self, start: usize) -> Result<(), CompileError> {
        let bytes = self.source.as_bytes();
        let first = self.at + 1;
        let mut end = first;
        while end < bytes.len() {
            if bytes[end] == b'"' && (end == first || bytes[end - 1] != b'\\') {
                self.at = end + 1;
                return Ok(());
            }
            end += 1;
        }
        Err(CompileError::new(CompileErrorKind::UnclosedString, self.source, start, self.at))
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c)
}

/// Returns the value of an integer word; None if it is not an integer or does not fit 64 bits.
pub(crate) fn integer(word: &str) -> Option<i64> {
    let (digits, radix) = match word.strip_prefix("0x") {
        Some(digits) => (digits, 16),
        None => (word, 10),
    };
    let unsigned = digits.strip_prefix(['+', '-']).unwrap_or(digits);
    if unsigned.is_empty() || !unsigned.chars().all(|c| c.is_digit(radix)) {
        return None;
    }
    let value = i128::from_str_radix(digits, radix).ok()?;
    match i64::try_from(value) {
        Ok(value) => Some(value),
        // Hexadecimal bit patterns may use all 64 bits.
        Err(_) if radix == 16 => u64::try_from(value).ok().map(|value| value as i64),
        Err(_) => None,
    }
}
