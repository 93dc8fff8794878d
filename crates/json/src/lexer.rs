//! JSON text, token by token, as RFC 8259 defines it: nothing more is accepted.

use std::borrow::Cow;

/// Limit on how deep lists and objects may be nested, since they are walked by recursion.
pub(crate) const DEEPEST: usize = 128;

/// A reason why there is no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The text ends within the value.
    Incomplete,
    /// The text is not JSON, and why.
    Invalid(Cow<'static, str>),
}

impl From<&'static str> for Stop {
    fn from(reason: &'static str) -> Self {
        Self::Invalid(reason.into())
    }
}

pub(crate) type Result<T, E = Stop> = std::result::Result<T, E>;

/// A number as it is spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Number<'a> {
    pub text: &'a str,
    /// Whether it has neither a point nor an exponent, and is not `-0`.
    pub is_whole: bool,
}

/// The first token of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Token<'a> {
    Null,
    Bool(bool),
    Number(Number<'a>),
    Text(Cow<'a, str>),
    List,
    Object,
}

/// A place in a text.
#[derive(Clone, Debug)]
pub(crate) struct Lexer<'a> {
    text: &'a str,
    at: usize,
    /// Whether nothing follows the text.
    is_end: bool,
}

impl<'a> Lexer<'a> {
    pub(crate) const fn new(text: &'a str, is_end: bool) -> Self {
        Self { text, at: 0, is_end }
    }

    /// The byte at which it stands.
    pub(crate) const fn at(&self) -> usize {
        self.at
    }

    fn bytes(&self) -> &'a [u8] {
        self.text.as_bytes()
    }

    /// Steps over white space and returns the byte behind it, if there is one.
    pub(crate) fn peek(&mut self) -> Option<u8> {
        let left = self.bytes().get(self.at..).unwrap_or_default();
        let blanks = left.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).count();
        self.at += blanks;
        left.get(blanks).copied()
    }

    fn need(&mut self) -> Result<u8> {
        self.peek().ok_or(Stop::Incomplete)
    }

    /// Steps over a byte.
    pub(crate) fn step(&mut self) {
        self.at += 1;
    }

    /// The first token of the value that begins here.
    pub(crate) fn token(&mut self) -> Result<Token<'a>> {
        Ok(match self.need()? {
            b'{' => {
                self.step();
                Token::Object
            }
            b'[' => {
                self.step();
                Token::List
            }
            b'"' => Token::Text(self.text()?),
            b'-' | b'0'..=b'9' => Token::Number(self.number()?),
            b't' => self.word("true", Token::Bool(true))?,
            b'f' => self.word("false", Token::Bool(false))?,
            b'n' => self.word("null", Token::Null)?,
            _ => return Err(self.unexpected("a value")),
        })
    }

    fn unexpected(&self, wanted: &str) -> Stop {
        let left = self.text.get(self.at..).unwrap_or_default();
        let found: String = left.chars().take(12).collect();
        Stop::Invalid(format!("{found:?} where {wanted} is expected").into())
    }

    fn word(&mut self, word: &str, token: Token<'a>) -> Result<Token<'a>> {
        let left = &self.bytes()[self.at..];
        let given = left.get(..word.len()).unwrap_or(left);
        if given == word.as_bytes() {
            self.at += word.len();
            return Ok(token);
        }
        if word.as_bytes().starts_with(given) {
            return Err(Stop::Incomplete);
        }
        Err(self.unexpected("a value"))
    }

    fn number(&mut self) -> Result<Number<'a>> {
        let left = &self.bytes()[self.at..];
        let digits = |from: usize| left[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let mut end = usize::from(left.first() == Some(&b'-'));
        let whole = digits(end);
        let has_zeros = left.get(end) == Some(&b'0') && whole > 1;
        end += whole;
        let (mut is_whole, mut is_short) = (true, whole == 0);
        if left.get(end) == Some(&b'.') {
            let fraction = digits(end + 1);
            is_whole = false;
            is_short |= fraction == 0;
            end += 1 + fraction;
        }
        if let Some(b'e' | b'E') = left.get(end) {
            let sign = usize::from(matches!(left.get(end + 1), Some(b'+' | b'-')));
            let exponent = digits((end + 1 + sign).min(left.len()));
            is_whole = false;
            is_short |= exponent == 0;
            end += 1 + sign + exponent;
        }
        let end = end.min(left.len());
        // A number at the end of the text may go on.
        if end == left.len() && !self.is_end {
            return Err(Stop::Incomplete);
        }
        if has_zeros || is_short {
            return Err(self.unexpected("a number"));
        }
        let text = &self.text[self.at..self.at + end];
        self.at += end;
        Ok(Number { text, is_whole: is_whole && text != "-0" })
    }

    /// The text that begins here with a quote.
    fn text(&mut self) -> Result<Cow<'a, str>> {
        let start = self.at + 1;
        let plain = self.plain(start)?;
        if self.bytes()[plain] == b'"' {
            self.at = plain + 1;
            return Ok(Cow::Borrowed(&self.text[start..plain]));
        }
        let (mut text, mut from) = (String::new(), start);
        loop {
            let end = self.plain(from)?;
            text.push_str(&self.text[from..end]);
            if self.bytes()[end] == b'"' {
                self.at = end + 1;
                return Ok(Cow::Owned(text));
            }
            let (character, length) = self.escape(end)?;
            text.push(character);
            from = end + length;
        }
    }

    /// The end of characters that stand for themselves: a quote or a backslash.
    fn plain(&self, from: usize) -> Result<usize> {
        let left = self.bytes().get(from..).ok_or(Stop::Incomplete)?;
        let end = left.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f));
        let end = end.ok_or(Stop::Incomplete)?;
        if left[end] < 0x20 {
            return Err(Stop::Invalid(
                format!("a text with the control character {:#04x}", left[end]).into(),
            ));
        }
        Ok(from + end)
    }

    /// The character of an escape, and the bytes of the escape.
    fn escape(&self, at: usize) -> Result<(char, usize)> {
        let left = &self.bytes()[at..];
        let simple = match left.get(1).ok_or(Stop::Incomplete)? {
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let high = unit(left)?;
                let is_pair = (0xd800..0xdc00).contains(&high);
                if !is_pair {
                    let character = char::from_u32(high).ok_or("a text with half of a surrogate pair")?;
                    return Ok((character, 6));
                }
                let after = &left[6..];
                match after.get(..2) {
                    Some(b"\\u") => {}
                    None if b"\\u".starts_with(after) => return Err(Stop::Incomplete),
                    _ => return Err("a text with half of a surrogate pair".into()),
                }
                let low = unit(after)?;
                if !(0xdc00..0xe000).contains(&low) {
                    return Err("a text with half of a surrogate pair".into());
                }
                let character = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                return Ok((char::from_u32(character).ok_or("a text with half of a surrogate pair")?, 12));
            }
            _ => return Err("a text with an unknown escape".into()),
        };
        Ok((simple, 2))
    }

    /// Whether a list that was begun, or of which an item was read, has a further item, on which it stands then.
    pub(crate) fn next_item(&mut self, is_first: bool) -> Result<bool> {
        match (self.need()?, is_first) {
            (b']', _) => {
                self.step();
                Ok(false)
            }
            (_, true) => Ok(true),
            (b',', false) => {
                self.step();
                if self.need()? == b']' {
                    return Err(self.unexpected("a value"));
                }
                Ok(true)
            }
            _ => Err(self.unexpected("a comma or the end of a list")),
        }
    }

    /// The next key of an object that was begun, or of which a member was read; it stands on the value then.
    pub(crate) fn next_key(&mut self, is_first: bool) -> Result<Option<Cow<'a, str>>> {
        match (self.need()?, is_first) {
            (b'}', _) => {
                self.step();
                return Ok(None);
            }
            (_, true) => {}
            (b',', false) => self.step(),
            _ => return Err(self.unexpected("a comma or the end of an object")),
        }
        if self.need()? != b'"' {
            return Err(self.unexpected("a key"));
        }
        let key = self.text()?;
        if self.need()? != b':' {
            return Err(self.unexpected("a colon"));
        }
        self.step();
        Ok(Some(key))
    }

    /// Steps over a value.
    pub(crate) fn skip(&mut self, depth: usize) -> Result<()> {
        match self.token()? {
            Token::List => {
                let depth = depth.checked_sub(1).ok_or(TOO_DEEP)?;
                let mut is_first = true;
                while self.next_item(is_first)? {
                    self.skip(depth)?;
                    is_first = false;
                }
            }
            Token::Object => {
                let depth = depth.checked_sub(1).ok_or(TOO_DEEP)?;
                let mut is_first = true;
                while self.next_key(is_first)?.is_some() {
                    self.skip(depth)?;
                    is_first = false;
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// The reason for refusing values that are nested deeper than [`DEEPEST`].
pub(crate) const TOO_DEEP: &str = "lists and objects nested more than 128 deep";

/// The four hexadecimal digits behind `\u`.
fn unit(escape: &[u8]) -> Result<u32> {
    let mut unit = 0;
    for at in 2..6 {
        let digit = escape.get(at).ok_or(Stop::Incomplete)?;
        let digit = char::from(*digit).to_digit(16).ok_or("a text with an unknown escape")?;
        unit = unit << 4 | digit;
    }
    Ok(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skipped(text: &str) -> Result<usize> {
        let mut lexer = Lexer::new(text, true);
        lexer.skip(DEEPEST)?;
        Ok(lexer.at())
    }

    #[test]
    fn values_are_as_the_standard_says() {
        for text in ["0", "-0", "1.5e-3", "\"\\u00e9\\n\"", "[1, [], {}]", r#"{"a": {"b": null}, "": true}"#]
        {
            assert_eq!(skipped(text), Ok(text.len()), "{text}");
        }
        for text in [
            "01",
            "1.",
            ".5",
            "+1",
            "1e",
            "-",
            "[1,]",
            "{\"a\":1,}",
            "{1:2}",
            "nul1",
            "NaN",
            "'a'",
            "\"\t\"",
            "\"\\x\"",
            "\"\\ud800\"",
            "\"\\ud800\\u0041\"",
        ] {
            assert!(matches!(skipped(text), Err(Stop::Invalid(_))), "{text}: {:?}", skipped(text));
        }
        assert_eq!(skipped(&"[".repeat(1000)), Err(TOO_DEEP.into()));
    }

    #[test]
    fn the_end_may_be_anywhere() {
        let text = r#"{"a": [1, "x\u00e9\ud83d\ude00", true, -1.5e3], "b": null}"#;
        for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
            let mut lexer = Lexer::new(&text[..end], false);
            assert_eq!(lexer.skip(DEEPEST), Err(Stop::Incomplete), "{}", &text[..end]);
        }
        let mut lexer = Lexer::new(r#""\ud83d\ude00\t""#, true);
        assert_eq!(lexer.token(), Ok(Token::Text("\u{1f600}\t".into())));
        assert_eq!(Lexer::new("1", false).skip(1), Err(Stop::Incomplete));
        let mut lexer = Lexer::new("12 ", false);
        assert_eq!(lexer.token(), Ok(Token::Number(Number { text: "12", is_whole: true })));
    }
}
