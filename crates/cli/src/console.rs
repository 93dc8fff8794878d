//! The outputs of answers and remarks.

use crate::{failure::Result, paint::Paint};
use forthwith::columns::{SafeJson, safe_lines};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;
use std::io::Write;

/// The two streams, and what is known of the one answers go to.
pub(crate) struct Console<'a> {
    out: &'a mut dyn Write,
    err: &'a mut dyn Write,
    /// Characters in a line of the terminal; `None` if answers go elsewhere, and are then never cut.
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

    /// A part of the answer.
    pub(crate) fn text(&mut self, text: &str) -> Result<()> {
        self.answered = true;
        Ok(self.out.write_all(text.as_bytes())?)
    }

    /// The same, as bytes.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        self.answered = true;
        Ok(self.out.write_all(bytes)?)
    }

    /// Lines of text of a file, as bytes. On a terminal, control characters and those that reorder text
    /// appear escaped, so that a file cannot steer it; anywhere else the bytes are what they are.
    pub(crate) fn lines_of_file(&mut self, bytes: &[u8]) -> Result<()> {
        if self.width.is_none() {
            return self.bytes(bytes);
        }
        let text = String::from_utf8_lossy(bytes);
        self.text(&safe_lines(&text))
    }

    /// A line of the answer.
    pub(crate) fn line(&mut self, text: &str) -> Result<()> {
        self.answered = true;
        Ok(writeln!(self.out, "{text}")?)
    }

    /// The answer as indented JSON.
    pub(crate) fn json(&mut self, value: &impl Serialize) -> Result<()> {
        self.answered = true;
        serde_json::to_writer_pretty(SafeJson::new(&mut *self.out), value)?;
        Ok(writeln!(self.out)?)
    }

    /// A value of the answer within a line of it.
    pub(crate) fn json_part(&mut self, value: &impl Serialize) -> Result<()> {
        Ok(serde_json::to_writer(SafeJson::new(&mut *self.out), value)?)
    }

    /// Something more about the last note.
    pub(crate) fn remark(&mut self, text: &str) {
        // As for notes.
        let _ = writeln!(self.err, "{text}");
    }

    /// Whether anything was answered so far.
    pub(crate) fn has_answered(&self) -> bool {
        self.answered
    }

    /// From here on nothing was answered.
    pub(crate) fn forget(&mut self) {
        self.answered = false;
    }

    /// Sends what was written so far on its way: long work follows.
    pub(crate) fn flush(&mut self) -> Result<()> {
        Ok(self.out.flush()?)
    }

    /// Something worth knowing that is not part of the answer.
    pub(crate) fn note(&mut self, text: &str) {
        // The answer is given even if standard error is closed.
        let _ = self.out.flush();
        let _ = writeln!(self.err, "forthwith: {text}");
    }

    /// Why there is no answer.
    pub(crate) fn fail(&mut self, failure: &crate::failure::Failure) {
        self.note(&failure.to_string());
    }
}

/// A bar of progress, on a terminal that it is seen on.
pub(crate) fn bar(length: Option<u64>, template: &str, seen: bool) -> ProgressBar {
    let target = if seen { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(length, target);
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
