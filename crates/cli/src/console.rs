//! Output of answers and notes.

use crate::{failure::Result, paint::Paint};
use forthwith::columns::{SafeJson, safe_lines};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;
use std::io::Write;

/// Standard output and standard error, and properties of standard output.
pub(crate) struct Console<'a> {
    out: &'a mut dyn Write,
    err: &'a mut dyn Write,
    /// Width of the terminal in characters; `None` if the output is not a terminal and must not be cut.
    pub(crate) width: Option<usize>,
    pub(crate) paint: Paint,
    answered: bool,
}

impl<'a> Console<'a> {
    pub(crate) fn new(
        out: &'a mut dyn Write,
        err: &'a mut dyn Write,
        width: Option<usize>,
        paint: Paint,
    ) -> Self {
        Self { out, err, width, paint, answered: false }
    }

    /// Writes text to the answer.
    pub(crate) fn text(&mut self, text: &str) -> Result<()> {
        self.answered = true;
        Ok(self.out.write_all(text.as_bytes())?)
    }

    /// Writes bytes to the answer.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        self.answered = true;
        Ok(self.out.write_all(bytes)?)
    }

    /// Writes lines of text from a file to the answer. On a terminal, control characters and characters that
    /// reorder text are escaped, so that a file cannot control it; elsewhere the bytes are unchanged.
    pub(crate) fn lines_of_file(&mut self, bytes: &[u8]) -> Result<()> {
        if self.width.is_none() {
            return self.bytes(bytes);
        }
        let text = String::from_utf8_lossy(bytes);
        self.text(&safe_lines(&text))
    }

    /// Writes a line to the answer.
    pub(crate) fn line(&mut self, text: &str) -> Result<()> {
        self.answered = true;
        Ok(writeln!(self.out, "{text}")?)
    }

    /// Writes indented JSON to the answer.
    pub(crate) fn json(&mut self, value: &impl Serialize) -> Result<()> {
        self.answered = true;
        serde_json::to_writer_pretty(SafeJson::new(&mut *self.out), value)?;
        Ok(writeln!(self.out)?)
    }

    /// Writes compact JSON to the answer, without a line feed.
    pub(crate) fn json_part(&mut self, value: &impl Serialize) -> Result<()> {
        Ok(serde_json::to_writer(SafeJson::new(&mut *self.out), value)?)
    }

    /// Writes a detail of the last note to standard error.
    pub(crate) fn remark(&mut self, text: &str) {
        // Errors are ignored, as in notes.
        let _ = writeln!(self.err, "{text}");
    }

    /// Whether anything was written to the answer.
    pub(crate) fn has_answered(&self) -> bool {
        self.answered
    }

    /// Resets [`has_answered`](Self::has_answered).
    pub(crate) fn forget(&mut self) {
        self.answered = false;
    }

    /// Flushes the answer before long work.
    pub(crate) fn flush(&mut self) -> Result<()> {
        Ok(self.out.flush()?)
    }

    /// Writes a note to standard error, which is not part of the answer.
    pub(crate) fn note(&mut self, text: &str) {
        // The answer must be written even if standard error is closed.
        let _ = self.out.flush();
        let _ = writeln!(self.err, "forthwith: {text}");
    }

    /// Writes the reason of a failure to standard error.
    pub(crate) fn fail(&mut self, failure: &crate::failure::Failure) {
        self.note(&failure.to_string());
    }
}

/// Creates a progress bar, which is hidden unless it is seen on a terminal.
pub(crate) fn bar(length: Option<u64>, template: &str, seen: bool) -> ProgressBar {
    let target = if seen { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(length, target);
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
