//! Standard input: a program, data, or a user who types.

use std::io::{self, BufRead, IsTerminal, Read};

/// The source of the command's lines.
pub struct Keyboard<'a> {
    lines: Box<dyn BufRead + 'a>,
    /// Whether there is a user to ask.
    is_person: bool,
}

impl<'a> Keyboard<'a> {
    /// Standard input.
    #[must_use]
    pub fn standard() -> Self {
        let stdin = io::stdin();
        let is_person = stdin.is_terminal();
        // Not locked before it is read: a command that reads nothing leaves it to others.
        Self { lines: Box::new(io::BufReader::new(stdin)), is_person }
    }

    /// Something else; with `is_person`, questions are asked.
    pub fn new(lines: impl BufRead + 'a, is_person: bool) -> Self {
        Self { lines: Box::new(lines), is_person }
    }

    pub(crate) fn is_person(&self) -> bool {
        self.is_person
    }

    /// The source of lines.
    pub(crate) fn reader(&mut self) -> &mut dyn BufRead {
        &mut *self.lines
    }

    /// All there is.
    pub(crate) fn all(&mut self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.lines.read_to_end(&mut bytes)?;
        self.is_person = false;
        Ok(bytes)
    }

    /// A line; None at the end.
    pub(crate) fn line(&mut self) -> io::Result<Option<String>> {
        let mut line = String::new();
        // Typed lines are shorter than a megabyte.
        let length = (&mut self.lines).take(1 << 20).read_line(&mut line)?;
        Ok((length > 0).then_some(line))
    }
}

impl std::fmt::Debug for Keyboard<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Keyboard").field("is_person", &self.is_person).finish_non_exhaustive()
    }
}
