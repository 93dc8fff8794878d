//! Rows of CSV: cells with separators between them.

use super::column::Spelled;
use forthwith_columns::{Array, Form, Invalid};
use forthwith_plan::{CellOptions, Error, Quotes, Result};

/// Character that readers skip at the beginning of a file.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Formatting options of cells.
pub(super) struct Cells {
    separator: u8,
    header: bool,
    /// Text of missing values as set by the options; `missing` is that text as it is written.
    null: String,
    missing: Vec<u8>,
    quotes: Quotes,
    line_end: &'static [u8],
    /// Bytes that require quotes around a text.
    special: [bool; 256],
}

impl Cells {
    /// Creates the formatting of these columns.
    ///
    /// # Errors
    /// Returns an error, with its name, if a column has values that CSV does not support, or if the separator
    /// or the text of missing values makes cells ambiguous.
    pub(super) fn new(fields: &[(String, Form)], options: &CellOptions, separator: u8) -> Result<Self> {
        if let Some((name, form)) = fields.iter().find(|(_, form)| !is_flat(form)) {
            let what = format!("{} in CSV (column {name:?}); .jsonl has them", form.type_string());
            return Err(Error::unsupported(what));
        }
        let separator = match options.separator {
            None => separator,
            Some(given) => u8::try_from(given).ok().filter(|byte| is_separator(*byte)).ok_or_else(|| {
                let which = "one ASCII character that is not a letter, a digit, a sign, a point, a quote or a line break";
                Error::invalid(format!("separator: {which}, not {given:?}"))
            })?,
        };
        let mut special = [false; 256];
        for byte in [separator, b'"', b'\n', b'\r'] {
            special[usize::from(byte)] = true;
        }
        let null = options.null.clone();
        if null.bytes().any(|byte| special[usize::from(byte)]) {
            let what = format!("null: a text without separators, quotes and line breaks, not {null:?}");
            return Err(Error::invalid(what));
        }
        // Text that equals it is quoted, but cells of other types are not.
        if let Some((name, _)) = fields.iter().find(|(_, form)| !is_text(form) && may_be(&null)) {
            let what = format!("null: {null:?} could be a value of column {name:?}");
            return Err(Error::invalid(what));
        }
        let missing = match fields {
            // Most readers skip empty lines. In a column of text, quotes are an empty text.
            [(_, form)] if null.is_empty() && !is_text(form) => b"\"\"".to_vec(),
            _ => null.clone().into_bytes(),
        };
        let line_end: &[u8] = if options.crlf { b"\r\n" } else { b"\n" };
        Ok(Self {
            separator,
            header: options.header,
            null,
            missing,
            quotes: options.quotes,
            line_end,
            special,
        })
    }

    /// Appends the header line, unless it is switched off.
    pub(super) fn header(&self, names: &[String], to: &mut Vec<u8>) {
        if !self.header {
            return;
        }
        for (at, name) in names.iter().enumerate() {
            if at > 0 {
                to.push(self.separator);
            }
            self.put(name, self.quotes == Quotes::Always, to);
        }
        to.extend_from_slice(self.line_end);
    }

    /// Appends a row of columns.
    pub(super) fn row(&self, columns: &[Spelled<'_>], row: u64, to: &mut Vec<u8>) -> Result<(), Invalid> {
        for (at, column) in columns.iter().enumerate() {
            if at > 0 {
                to.push(self.separator);
            }
            column.cell(row, self, to)?;
        }
        to.extend_from_slice(self.line_end);
        Ok(())
    }

    /// Appends a number.
    pub(super) fn number(
        &self,
        to: &mut Vec<u8>,
        number: impl FnOnce(&mut Vec<u8>) -> Result<(), Invalid>,
    ) -> Result<(), Invalid> {
        let is_quoted = self.quotes == Quotes::Always;
        if is_quoted {
            to.push(b'"');
        }
        number(to)?;
        if is_quoted {
            to.push(b'"');
        }
        Ok(())
    }

    /// Appends a text.
    pub(super) fn text(&self, text: &str, to: &mut Vec<u8>) {
        self.put(text, self.quotes != Quotes::Necessary, to);
    }

    /// Appends the text of a missing value.
    pub(super) fn missing(&self, to: &mut Vec<u8>) {
        to.extend_from_slice(&self.missing);
    }

    /// Appends a text, quoted if necessary or requested. An empty text is quoted, which distinguishes it from
    /// a missing value.
    fn put(&self, text: &str, is_quoted: bool, to: &mut Vec<u8>) {
        let is_plain = !is_quoted
            && !text.is_empty()
            && text != self.null
            && !text.starts_with(BYTE_ORDER_MARK)
            && !text.bytes().any(|byte| self.special[usize::from(byte)])
            && text.trim() == text;
        if is_plain {
            return to.extend_from_slice(text.as_bytes());
        }
        to.push(b'"');
        for byte in text.bytes() {
            if byte == b'"' {
                to.push(byte);
            }
            to.push(byte);
        }
        to.push(b'"');
    }
}

/// Prepares columns for formatting.
///
/// # Errors
/// Returns an error if a column is inconsistent with its Form.
pub(super) fn spelled(columns: &[Array]) -> Result<Vec<Spelled<'_>>, Invalid> {
    columns.iter().map(Spelled::of).collect()
}

/// Whether a byte can separate cells: an ASCII character that does not occur in numbers, booleans or quotes.
fn is_separator(byte: u8) -> bool {
    byte.is_ascii()
        && !byte.is_ascii_alphanumeric()
        && !matches!(byte, b'"' | b'\n' | b'\r' | b'+' | b'-' | b'.' | 0)
}

/// Whether each value is a single number or text, or missing.
fn is_flat(form: &Form) -> bool {
    match form {
        Form::Numpy { shape, .. } => shape.is_empty(),
        Form::String { binary, .. } => !binary,
        Form::Categorical { .. } => true,
        // Byte strings with a logical type are decimals.
        Form::Logical { content, .. } => matches!(**content, Form::String { .. }) || is_flat(content),
        Form::Option { content, .. } => is_flat(content),
        _ => false,
    }
}

/// Whether a text may represent a number or a boolean.
fn may_be(text: &str) -> bool {
    text.parse::<f64>().is_ok() && text.bytes().any(|byte| byte.is_ascii_digit())
        || matches!(text, "true" | "false")
}

/// Whether values are text, which may be empty.
fn is_text(form: &Form) -> bool {
    match form {
        Form::String { .. } | Form::Categorical { .. } => true,
        Form::Option { content, .. } => is_text(content),
        _ => false,
    }
}
