//! Source text of a program, quoted with a mark at a place.

use crate::{
    failure::{Failure, Result},
    human::clean,
};

/// Source text, and the name of its origin.
pub(crate) struct Text {
    pub(crate) name: String,
    pub(crate) source: String,
}

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

    /// Returns a place as `file:line:column`.
    pub(crate) fn place(&self, line: usize, column: usize) -> String {
        format!("{}:{line}:{column}", clean(&self.name))
    }

    pub(crate) fn line(&self, line: usize) -> Option<&str> {
        self.source.lines().nth(line.checked_sub(1)?)
    }

    /// Returns a line with a mark below the word at a column; both are counted from 1.
    pub(crate) fn quote(&self, line: usize, column: usize) -> String {
        let source: String = self.source.chars().map(|c| if c == '\n' { c } else { plain(c) }).collect();
        forthwith::forth::quote(&source, line, column)
    }
}

/// Replaces a character that cannot be shown by a single one, so that the mark stays in position.
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
