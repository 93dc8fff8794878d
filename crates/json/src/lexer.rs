//! Lexer of JSON text as defined by RFC 8259, without extensions.

use forthwith_kernels::digits::{POWERS, leading, number_of_eight};
use std::borrow::Cow;

/// Maximum nesting depth of lists and objects, which are parsed by recursion.
pub(crate) const DEEPEST: usize = 128;

/// Reason why a value could not be parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The text ends within the value.
    Incomplete,
    /// The text is not JSON, with the reason. It is boxed to keep the `Result` of each value small.
    Invalid(Box<Cow<'static, str>>),
}

impl Stop {
    /// Returns [`Stop::Invalid`] with a formatted reason.
    #[cold]
    pub(crate) fn invalid(reason: String) -> Self {
        Self::Invalid(Box::new(reason.into()))
    }
}

impl From<&'static str> for Stop {
    #[cold]
    fn from(reason: &'static str) -> Self {
        Self::Invalid(Box::new(reason.into()))
    }
}

pub(crate) type Result<T, E = Stop> = std::result::Result<T, E>;

/// Number as spelled in the text, and its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Number<'a> {
    pub text: &'a str,
    /// Whether the number has neither a fraction nor an exponent, and is not `-0`.
    pub is_whole: bool,
    pub is_negative: bool,
    /// All digits of the integer part and the fraction as one integer, modulo 2^64.
    pub digits: u64,
    /// Number of digits of the integer part and the fraction, including leading zeros.
    pub count: usize,
    /// Power of ten by which `digits` is multiplied.
    pub exponent: i64,
}

impl Number<'_> {
    /// Whether `digits` has not overflowed.
    pub(crate) const fn is_short(&self) -> bool {
        self.count <= 19
    }
}

/// First token of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Token<'a> {
    Null,
    Bool(bool),
    Number(Number<'a>),
    Text(Cow<'a, str>),
    List,
    Object,
}

/// Key as it is spelled with quotes and without escapes.
#[derive(Clone, Debug)]
pub(crate) struct Quoted {
    bytes: Box<[u8]>,
    /// For at most 16 bytes: the bytes as a little-endian number, and a mask of the bytes in use. `mask` is 0
    /// for longer keys.
    word: u128,
    mask: u128,
}

impl Quoted {
    /// Returns `None` if the key must be escaped.
    pub(crate) fn new(name: &str) -> Option<Self> {
        if name.bytes().any(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f)) {
            return None;
        }
        let bytes: Box<[u8]> = format!("\"{name}\"").into_bytes().into();
        let (mut word, mut mask) = ([0; 16], [0; 16]);
        if bytes.len() <= 16 {
            word[..bytes.len()].copy_from_slice(&bytes);
            mask[..bytes.len()].fill(0xff);
        }
        Some(Self { bytes, word: u128::from_le_bytes(word), mask: u128::from_le_bytes(mask) })
    }

    #[inline]
    fn begins(&self, text: &[u8]) -> bool {
        match text.first_chunk() {
            Some(begin) if self.mask != 0 => u128::from_le_bytes(*begin) & self.mask == self.word,
            _ => text.starts_with(&self.bytes),
        }
    }
}

/// Position in a text.
#[derive(Clone, Debug)]
pub(crate) struct Lexer<'a> {
    text: &'a str,
    at: usize,
    /// Whether the text is complete; otherwise more may follow it.
    is_end: bool,
}

impl<'a> Lexer<'a> {
    pub(crate) const fn new(text: &'a str, is_end: bool) -> Self {
        Self { text, at: 0, is_end }
    }

    /// Returns the byte offset of the lexer.
    pub(crate) const fn at(&self) -> usize {
        self.at
    }

    /// Moves the lexer to a byte offset.
    pub(crate) const fn go(&mut self, at: usize) {
        self.at = at;
    }

    /// Returns the whole text.
    pub(crate) const fn text(&self) -> &'a [u8] {
        self.text.as_bytes()
    }

    /// Skips white space and returns the next byte without consuming it; `None` at the end of the text.
    #[inline]
    pub(crate) fn peek(&mut self) -> Option<u8> {
        loop {
            let byte = *self.text().get(self.at)?;
            if !matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
                return Some(byte);
            }
            self.at += 1;
        }
    }

    #[inline]
    fn need(&mut self) -> Result<u8> {
        self.peek().ok_or(Stop::Incomplete)
    }

    /// Consumes one byte.
    #[inline]
    pub(crate) fn step(&mut self) {
        self.at += 1;
    }

    /// Skips white space and consumes the next byte if it is `byte`; returns whether it was.
    #[inline]
    pub(crate) fn take(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    /// Consumes the first token of a value.
    #[inline]
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
            b'"' => Token::Text(self.string()?),
            b'-' | b'0'..=b'9' => Token::Number(self.number()?),
            b't' => self.word("true", Token::Bool(true))?,
            b'f' => self.word("false", Token::Bool(false))?,
            b'n' => self.word("null", Token::Null)?,
            _ => return Err(self.unexpected("a value")),
        })
    }

    #[cold]
    fn unexpected(&self, wanted: &str) -> Stop {
        let left = self.text.get(self.at..).unwrap_or_default();
        let found: String = left.chars().take(12).collect();
        Stop::invalid(format!("{found:?} where {wanted} is expected"))
    }

    fn word(&mut self, word: &str, token: Token<'a>) -> Result<Token<'a>> {
        let left = &self.text()[self.at..];
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

    /// Consumes a number; the next byte must be a sign or a digit.
    #[inline(always)]
    pub(crate) fn number(&mut self) -> Result<Number<'a>> {
        let left = &self.text()[self.at..];
        let is_negative = left.first() == Some(&b'-');
        let begin = usize::from(is_negative);
        let (mut end, mut digits) = whole(left, begin, 0);
        let mut count = end - begin;
        let has_zeros = count > 1 && left[begin] == b'0';
        let (mut is_whole, mut is_short, mut exponent) = (true, count == 0, 0);
        if left.get(end) == Some(&b'.') {
            let point = end + 1;
            (end, digits) = whole(left, point, digits);
            let fraction = end - point;
            (is_whole, exponent) = (false, -(fraction as i64));
            is_short |= fraction == 0;
            count += fraction;
        }
        if let Some(b'e' | b'E') = left.get(end) {
            let sign = left.get(end + 1).filter(|sign| matches!(sign, b'+' | b'-'));
            let begin = (end + 1 + usize::from(sign.is_some())).min(left.len());
            let power;
            (end, power) = whole(left, begin, 0);
            is_whole = false;
            is_short |= end == begin;
            // A longer exponent is far outside the range of floats, and could overflow.
            let power = if end - begin > 9 { 1 << 30 } else { power as i64 };
            exponent += if sign == Some(&b'-') { -power } else { power };
        }
        // A number at the end of an incomplete text may have more digits.
        if end == left.len() && !self.is_end {
            return Err(Stop::Incomplete);
        }
        if has_zeros || is_short {
            return Err(self.unexpected("a number"));
        }
        let text = &self.text[self.at..self.at + end];
        self.at += end;
        is_whole &= !(is_negative && digits == 0 && count == 1);
        Ok(Number { text, is_whole, is_negative, digits, count, exponent })
    }

    /// Consumes a string; the next byte must be its opening quote.
    #[inline]
    pub(crate) fn string(&mut self) -> Result<Cow<'a, str>> {
        let start = self.at + 1;
        let plain = self.plain(start)?;
        if self.text()[plain] == b'"' {
            self.at = plain + 1;
            return Ok(Cow::Borrowed(&self.text[start..plain]));
        }
        let (mut text, mut from) = (String::new(), start);
        loop {
            let end = self.plain(from)?;
            text.push_str(&self.text[from..end]);
            if self.text()[end] == b'"' {
                self.at = end + 1;
                return Ok(Cow::Owned(text));
            }
            let (character, length) = self.escape(end)?;
            text.push(character);
            from = end + length;
        }
    }

    /// Returns the offset of the next quote or backslash, and refuses control characters before it.
    #[inline]
    fn plain(&self, from: usize) -> Result<usize> {
        let left = self.text().get(from..).ok_or(Stop::Incomplete)?;
        let (eights, rest) = left.as_chunks::<8>();
        let mut end = 0;
        for eight in eights {
            let flags = special(u64::from_le_bytes(*eight));
            end += flags.trailing_zeros() as usize / 8;
            if flags != 0 {
                break;
            }
        }
        if end == 8 * eights.len() {
            let special = rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f));
            end += special.ok_or(Stop::Incomplete)?;
        }
        if left[end] < 0x20 {
            return Err(Stop::invalid(format!("a text with the control character {:#04x}", left[end])));
        }
        Ok(from + end)
    }

    /// Decodes the escape sequence at a byte offset; returns its character and its length in bytes.
    fn escape(&self, at: usize) -> Result<(char, usize)> {
        let left = &self.text()[at..];
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

    /// Advances to the next item of a list and returns `true`, or consumes the closing bracket and returns
    /// `false`. The lexer must be after the opening bracket or after an item.
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

    /// Consumes the key `quoted` with its colon, and the comma before it unless it is the first; returns
    /// `false` and consumes nothing if the text does not continue with them.
    #[inline]
    pub(crate) fn take_key(&mut self, is_first: bool, quoted: &Quoted) -> bool {
        let before = self.at;
        if !is_first {
            if self.peek() != Some(b',') {
                return false;
            }
            self.step();
        }
        if self.peek().is_some() && quoted.begins(&self.text()[self.at..]) {
            self.at += quoted.bytes.len();
            if self.take(b':') {
                return true;
            }
        }
        self.at = before;
        false
    }

    /// Consumes the next key of an object and its colon, or the closing brace, for which it returns `None`.
    /// The lexer must be after the opening brace or after a member.
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
        let key = self.string()?;
        if self.need()? != b':' {
            return Err(self.unexpected("a colon"));
        }
        self.step();
        Ok(Some(key))
    }

    /// Consumes a value and discards it.
    #[inline]
    pub(crate) fn skip(&mut self, depth: usize) -> Result<()> {
        match self.need()? {
            b'"' => self.skip_string(),
            b'-' | b'0'..=b'9' => self.number().map(drop),
            _ => self.skip_other(depth),
        }
    }

    fn skip_string(&mut self) -> Result<()> {
        let mut from = self.at + 1;
        loop {
            let end = self.plain(from)?;
            if self.text()[end] == b'"' {
                self.at = end + 1;
                return Ok(());
            }
            from = end + self.escape(end)?.1;
        }
    }

    fn skip_other(&mut self, depth: usize) -> Result<()> {
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

/// Appends the digits from a byte offset on to an integer, modulo 2^64; returns the offset of the end of the
/// digits and the integer.
#[inline]
fn whole(text: &[u8], from: usize, before: u64) -> (usize, u64) {
    let (mut at, mut number) = (from, before);
    while let Some(eight) = text.get(at..).and_then(|left| left.first_chunk()) {
        let eight = u64::from_le_bytes(*eight);
        let count = leading(eight);
        if count == 0 {
            return (at, number);
        }
        number = number.wrapping_mul(POWERS[count]).wrapping_add(number_of_eight(eight << (8 * (8 - count))));
        at += count;
        if count < 8 {
            return (at, number);
        }
    }
    while let Some(digit) = text.get(at).map(|byte| byte.wrapping_sub(b'0')).filter(|digit| *digit < 10) {
        number = number.wrapping_mul(10).wrapping_add(digit.into());
        at += 1;
    }
    (at, number)
}

/// Sets the high bit of each of eight bytes that is a quote, a backslash or a control character. Only the
/// lowest flag is exact.
#[inline]
const fn special(eight: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x80 * ONES;
    let quote = eight ^ (b'"' as u64 * ONES);
    let backslash = eight ^ (b'\\' as u64 * ONES);
    let quote = quote.wrapping_sub(ONES) & !quote;
    let backslash = backslash.wrapping_sub(ONES) & !backslash;
    (quote | backslash | eight.wrapping_sub(0x20 * ONES) & !eight) & HIGH
}

/// Error for values that are nested deeper than [`DEEPEST`].
pub(crate) const TOO_DEEP: &str = "lists and objects nested more than 128 deep";

/// Returns the value of the four hexadecimal digits of a `\u` escape.
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
        let mut lexer = Lexer::new("-12 ", false);
        let Ok(Token::Number(number)) = lexer.token() else { panic!("a number") };
        assert_eq!(
            (number.text, number.digits, number.is_negative, number.is_whole),
            ("-12", 12, true, true)
        );
    }
}
