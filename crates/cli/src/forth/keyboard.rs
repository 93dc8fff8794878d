//! Standard input: a program, data, or an interactive user.

use std::io::{self, BufRead, IsTerminal, Read};

/// Source of lines for a command.
pub struct Keyboard<'a> {
    lines: Box<dyn BufRead + 'a>,
    /// Whether an interactive user can be asked.
    is_person: bool,
}

impl<'a> Keyboard<'a> {
    /// Reads standard input.
    #[must_use]
    pub fn standard() -> Self {
        let stdin = io::stdin();
        let is_person = stdin.is_terminal();
        // Standard input is not locked before it is read, so that a command that does not read leaves it to
        // others.
        Self { lines: Box::new(io::BufReader::new(stdin)), is_person }
    }

    /// Reads from another source, which is interactive if `is_person`.
    pub fn new(lines: impl BufRead + 'a, is_person: bool) -> Self {
        Self { lines: Box::new(lines), is_person }
    }

    pub(crate) fn is_person(&self) -> bool {
        self.is_person
    }

    /// Returns the underlying reader.
    pub(crate) fn reader(&mut self) -> &mut dyn BufRead {
        &mut *self.lines
    }

    /// Reads everything up to the end.
    pub(crate) fn all(&mut self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.lines.read_to_end(&mut bytes)?;
        self.is_person = false;
        Ok(bytes)
    }

    /// Reads a line; returns `None` at the end.
    pub(crate) fn line(&mut self) -> io::Result<Option<String>> {
        let mut line = String::new();
        // Limits the length of a line to a megabyte.
        let length = (&mut self.lines).take(1 << 20).read_line(&mut line)?;
        Ok((length > 0).then_some(line))
    }
}

impl std::fmt::Debug for Keyboard<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Keyboard").field("is_person", &self.is_person).finish_non_exhaustive()
    }
}
