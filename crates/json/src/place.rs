//! Errors with the line, the column and the path of a value.

use crate::lexer::Stop;
use forthwith_kernels::lines::LineFeeds;
use forthwith_plan::{Error, Task};

/// Error for text that ends within a value.
pub(crate) const CUT: &str = "the text ends within a value, or was cut off";

/// Position in a file at which a text begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub byte: u64,
    /// Line number, counted from 1.
    pub line: u64,
    /// Number of bytes before the position on its line.
    pub column: u64,
}

impl Place {
    /// Returns the position of the block of a task. Its byte offset is 0: offsets in errors count from the
    /// beginning of the block.
    pub(crate) fn of_task(task: &Task) -> Self {
        let number = |at: usize| task.numbers.get(at).and_then(|number| u64::try_from(*number).ok());
        Self { byte: 0, line: number(0).unwrap_or(1), column: number(1).unwrap_or(0) }
    }

    /// Returns the position after `text`, which begins at this one.
    pub(crate) fn behind(self, text: &[u8]) -> Self {
        self.behind_lines(text, LineFeeds::of(text))
    }

    /// Returns the position after `text`, which begins at this one and has these line feeds.
    pub(crate) fn behind_lines(self, text: &[u8], feeds: LineFeeds) -> Self {
        let lines = feeds.count as u64;
        let column = match text.iter().rposition(|byte| *byte == b'\n') {
            Some(at) => (text.len() - at - 1) as u64,
            None => self.column + text.len() as u64,
        };
        Self { byte: self.byte + text.len() as u64, line: self.line + lines, column }
    }

    /// Returns the error that the value at offset `at` of `text`, which begins at this position, is refused.
    pub(crate) fn fault(&self, reason: &str, path: &str, text: &[u8], at: usize) -> Error {
        let place = self.behind(&text[..at.min(text.len())]);
        let path = path.trim_start_matches('.');
        let within = if path.is_empty() { String::new() } else { format!(", in {path}") };
        let what = format!("{reason} (line {}, column {}{within})", place.line, place.column + 1);
        Error::fault(what).at_byte(place.byte)
    }

    /// Returns the error of a lexer that stopped at offset `at` of `text`, which begins at this position.
    pub(crate) fn stop(&self, stop: &Stop, path: &str, text: &[u8], at: usize) -> Error {
        match stop {
            Stop::Incomplete => self.fault(CUT, path, text, at),
            Stop::Invalid(reason) => self.fault(reason, path, text, at),
        }
    }
}
