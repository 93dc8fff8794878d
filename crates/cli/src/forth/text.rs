//! A program's text, quoted with a mark under the place that is meant.

use crate::{
    failure::{Failure, Result},
    human::clean,
};
use std::fmt::Write;

/// The text and the name of where it came from.
pub(crate) struct Text {
    pub(crate) name: String,
    pub(crate) source: String,
}

/// Characters of a line that are shown.
const SHOWN: usize = 100;

impl Text {
    pub(crate) fn new(name: &str, bytes: Vec<u8>) -> Result<Self> {
        match String::from_utf8(bytes) {
            Ok(source) => Ok(Self { name: name.to_owned(), source }),
            Err(error) => {
                let at = error.utf8_error().valid_up_to();
                Err(Failure::Program { what: format!("{}: not UTF-8 at byte {at}", clean(name)) })
            }
        }
    }

    /// `file:line:column`.
    pub(crate) fn place(&self, line: usize, column: usize) -> String {
        format!("{}:{line}:{column}", clean(&self.name))
    }

    pub(crate) fn line(&self, line: usize) -> Option<&str> {
        self.source.lines().nth(line.checked_sub(1)?)
    }

    /// The line with the word at a column (both from 1) marked below it.
    pub(crate) fn quote(&self, line: usize, column: usize) -> String {
        let text = self.line(line).unwrap_or_default();
        let at = column.saturating_sub(1);
        let word = text.chars().skip(at).take_while(|c| !c.is_ascii_whitespace()).count().clamp(1, SHOWN);
        // Of a long line, what is around the word.
        let from = if at + word > SHOWN { at.saturating_sub(SHOWN / 2) } else { 0 };
        let shown: String = text.chars().skip(from).take(SHOWN).map(plain).collect();
        let number = line.to_string();
        let gap = " ".repeat(number.len());
        let mut quoted = String::new();
        // Writing to a string cannot fail.
        let _ = writeln!(quoted, "  {number} | {}", shown);
        let _ = write!(
            quoted,
            "  {gap} | {}{}",
            " ".repeat(at - from),
            "^".repeat(word.min(SHOWN - (at - from).min(SHOWN - 1)))
        );
        quoted
    }
}

/// One character for each, so that the mark stays where it belongs.
fn plain(c: char) -> char {
    match c {
        '\t' => ' ',
        _ if clean(c.encode_utf8(&mut [0; 4])).chars().ne([c]) => '·',
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quote(source: &str, line: usize, column: usize) -> String {
        Text { name: "p".into(), source: source.into() }.quote(line, column)
    }

    #[test]
    fn the_word_is_marked() {
        assert_eq!(quote("1\n é foo bar", 2, 4), "  2 |  é foo bar\n    |    ^^^");
        assert_eq!(quote("\tx", 1, 2), "  1 |  x\n    |  ^");
        assert_eq!(quote("", 1, 1), "  1 | \n    | ^");
        let long = format!("{} foo", "x ".repeat(500));
        let quoted = quote(&long, 1, 1002);
        let lines: Vec<&str> = quoted.lines().collect();
        let mark = lines[1].find('^').expect("a mark");
        assert!(lines[0].len() < 120 && lines[0][mark..].starts_with("foo"), "{quoted}");
    }
}
