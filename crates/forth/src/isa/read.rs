//! Parser words such as `#!i->`: spelling and external bytecode.

use super::Parser;

/// A parser instruction as known at compile time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Read {
    pub(crate) parser: Parser,
    /// Width of `Nbit`, else 0.
    pub(crate) bits: u8,
    pub(crate) big: bool,
    pub(crate) repeated: bool,
    pub(crate) input: u32,
    /// Output that the items are appended to; None: they are pushed onto the stack.
    pub(crate) output: Option<u32>,
}

const TO_OUTPUT: i32 = 1;
const REPEATED: i32 = 2;
const BIG_ENDIAN: i32 = 4;

impl Read {
    /// Parses `[#][!]CODE->`; the caller sets the input and the output.
    pub(crate) fn parse(word: &str) -> Option<Self> {
        let rest = word.strip_suffix("->")?;
        let (repeated, rest) = strip(rest, '#');
        let (big, rest) = strip(rest, '!');
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (digits, code) = rest.split_at(digits);
        let parser = Parser::ALL.iter().copied().find(|parser| parser.text() == code)?;
        let bits = if parser.has_width() {
            digits.parse::<u8>().ok().filter(|bits| (1..=64).contains(bits))?
        } else if digits.is_empty() {
            0
        } else {
            return None;
        };
        // `msb` has one spelling only, since it implies the order of bits.
        if parser == Parser::MsbBits && big {
            return None;
        }
        Some(Self { parser, bits, big, repeated, input: 0, output: None })
    }

    /// Whether the word is reserved. `!` on codes without byte order is accepted but not reserved, nor are
    /// words that Awkward Array's machine does not have.
    pub(crate) fn is_reserved(self) -> bool {
        let plain = !self.big || self.parser == Parser::NBit || self.parser.size() > 1;
        plain && self.parser != Parser::MsbBits
    }

    /// Returns the word in canonical spelling.
    pub(crate) fn word(self) -> std::string::String {
        let mut text = std::string::String::new();
        if self.repeated {
            text.push('#');
        }
        if self.big {
            text.push('!');
        }
        if self.parser.has_width() {
            text.push_str(&self.bits.to_string());
        }
        text.push_str(self.parser.text());
        text.push_str("->");
        text
    }

    pub(crate) fn encode(self, to: &mut Vec<i32>) {
        let mut flags = i32::from(self.parser as u8) * 8;
        flags |= if self.output.is_some() { TO_OUTPUT } else { 0 };
        flags |= if self.repeated { REPEATED } else { 0 };
        flags |= if self.big { BIG_ENDIAN } else { 0 };
        to.push(!flags);
        to.push(self.input as i32);
        if self.parser.has_width() {
            to.push(i32::from(self.bits));
        }
        to.extend(self.output.map(|output| output as i32));
    }

    /// Decodes the parser instruction at the head of `code`, and returns it with its length; None if it is
    /// another instruction.
    pub(crate) fn decode(code: &[i32]) -> Option<(Self, usize)> {
        let (&first, rest) = code.split_first()?;
        if first >= 0 {
            return None;
        }
        let flags = !first;
        let parser = Parser::of_number(flags >> 3)?;
        let input = *rest.first()? as u32;
        let mut length = 2;
        let mut bits = 0;
        if parser.has_width() {
            bits = *rest.get(length - 1)? as u8;
            length += 1;
        }
        let mut output = None;
        if flags & TO_OUTPUT != 0 {
            output = Some(*rest.get(length - 1)? as u32);
            length += 1;
        }
        let read = Self {
            parser,
            bits,
            big: flags & BIG_ENDIAN != 0,
            repeated: flags & REPEATED != 0,
            input,
            output,
        };
        Some((read, length))
    }
}

fn strip(text: &str, mark: char) -> (bool, &str) {
    match text.strip_prefix(mark) {
        Some(rest) => (true, rest),
        None => (false, text),
    }
}
