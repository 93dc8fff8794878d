//! Tables as text, for programs that read nothing better: an object a line (JSON Lines) or values with commas between them (CSV).

mod column;
mod compressed;
mod rows;
mod spell;
#[cfg(test)]
mod tests;

#[cfg(any(feature = "csv", feature = "json"))]
pub(super) use compressed::COMPRESSED;
pub(super) use compressed::decompressed;
pub use rows::JsonRows;

use super::Format;
use column::Spelled;
use forthwith_columns::{Array, Form, Invalid};
use forthwith_io::Sink;
use forthwith_plan::{Error, NotNumbers, Result, TableWriter, WriteOptions, Written};
use spell::quoted;

/// A Form as text, as the option `schema` of formats without types of their own takes it.
#[must_use]
pub fn form_text(form: &Form) -> String {
    serde_json::to_string(form).unwrap_or_default()
}

/// Bytes of text that are written at once.
const PIECE: usize = 256 << 10;

/// A format of text: a row of the table.
pub(super) struct Text {
    name: &'static str,
    endings: &'static [&'static str],
    style: Style,
}

/// An object a line; in files whose names end in `.json`, as the items of one list.
pub(super) static JSON_LINES: Text =
    Text { name: "JSON Lines", endings: &["jsonl", "ndjson", LIST], style: Style::JsonLines };

/// The ending of files that are one list.
const LIST: &str = "json";

/// Values with commas between them, below their names: numbers and text only.
pub(super) static CSV: Text = Text { name: "CSV", endings: &["csv"], style: Style::Csv };

impl Format for Text {
    fn name(&self) -> &'static str {
        self.name
    }

    fn is_text(&self) -> bool {
        true
    }

    fn endings(&self) -> &'static [&'static str] {
        self.endings
    }

    fn is_read(&self) -> bool {
        false
    }

    fn writer(
        &self,
        fields: &[(String, Form)],
        sink: Box<dyn Sink>,
        options: &WriteOptions,
    ) -> Result<Box<dyn TableWriter>> {
        Ok(Box::new(TextWriter::new(self.style, fields, sink, options)?))
    }
}

/// Writes a line for each entry. Numbers have as many digits as it takes to read them back as they were; what is missing is `null` or nothing
/// (in quotes, if nothing else is on the line and it is no text); times and decimals are spelled out. JSON has no NaN and no infinities: what
/// becomes of them has to be said.
pub(crate) struct TextWriter {
    sink: Box<dyn Sink>,
    names: Vec<String>,
    style: Style,
    not_numbers: NotNumbers,
    /// The text for nothing: quotes where the line would be empty, which most readers take for no line at all.
    nothing: &'static [u8],
    line: Vec<u8>,
    /// Whether objects are items of a list.
    is_list: bool,
    written: Written,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    JsonLines,
    Csv,
}

impl TextWriter {
    pub(crate) fn new(
        style: Style,
        fields: &[(String, Form)],
        sink: Box<dyn Sink>,
        options: &WriteOptions,
    ) -> Result<Self> {
        let uri = sink.uri().to_owned();
        if options.codec.as_deref().is_some_and(|codec| codec != "none") || options.level.is_some() {
            return Err(Error::unsupported("a codec in text files").in_file(&uri));
        }
        if style == Style::Csv
            && let Some((name, form)) = fields.iter().find(|(_, form)| !is_flat(form))
        {
            let what = format!("{} in CSV (column {name:?}); .jsonl has them", form.type_string());
            return Err(Error::unsupported(what).in_file(&uri));
        }
        let names: Vec<String> = fields.iter().map(|(name, _)| name.clone()).collect();
        let (not_numbers, written) = (options.not_numbers, Written { entries: 0, bytes: 0 });
        let nothing: &[u8] = match fields {
            // Of text, quotes are an empty one.
            [(_, form)] if !is_text(form) => b"\"\"",
            _ => b"",
        };
        let is_list = style == Style::JsonLines && super::ending(&uri).as_deref() == Some(LIST);
        let line = if is_list { b"[".to_vec() } else { Vec::new() };
        let mut writer = Self { sink, names, style, not_numbers, nothing, line, is_list, written };
        if style == Style::Csv {
            for (at, name) in writer.names.iter().enumerate() {
                if at > 0 {
                    writer.line.push(b',');
                }
                quoted(name, &mut writer.line);
            }
            writer.line.push(b'\n');
            flush(&mut writer.line, writer.sink.as_mut(), &mut writer.written)?;
        }
        Ok(writer)
    }
}

/// Gives the text on.
fn flush(line: &mut Vec<u8>, sink: &mut dyn Sink, written: &mut Written) -> Result<()> {
    sink.write_all(line).map_err(|error| forthwith_io::Error::new(error.into(), sink.uri()))?;
    written.bytes += line.len() as u64;
    line.clear();
    Ok(())
}

/// Whether values are no more than one number or text.
fn is_flat(form: &Form) -> bool {
    match form {
        Form::Numpy { shape, .. } => shape.is_empty(),
        Form::String { binary, .. } => !binary,
        Form::Categorical { .. } | Form::Logical { .. } => true,
        Form::Option { content, .. } => is_flat(content),
        _ => false,
    }
}

/// Whether values may be an empty text.
fn is_text(form: &Form) -> bool {
    match form {
        Form::String { .. } | Form::Categorical { .. } => true,
        Form::Option { content, .. } => is_text(content),
        _ => false,
    }
}

impl TableWriter for TextWriter {
    fn write(&mut self, columns: &[Array]) -> Result<()> {
        let rows = columns.first().map_or(0, |column| column.length);
        let odd = |what: String| Error::invalid(what).in_file(self.sink.uri());
        if columns.len() != self.names.len() || columns.iter().any(|column| column.length != rows) {
            return Err(odd("columns that are not those of the file, or differ in length".into()));
        }
        let Self { sink, names, line, written, is_list, .. } = self;
        let before = written.entries;
        let uri = sink.uri().to_owned();
        let placed = |error: Error, row: u64| error.at_entry(before + row).in_file(&uri);
        match self.style {
            Style::JsonLines => {
                let spelled = JsonRows::new(names, columns, self.not_numbers);
                let spelled = spelled.map_err(|error| error.in_file(&uri))?;
                for row in 0..rows {
                    match (*is_list, before + row) {
                        (true, 0) => line.push(b'\n'),
                        (true, _) => line.extend_from_slice(b",\n"),
                        _ => {}
                    }
                    spelled.row(row, line).map_err(|error| placed(error, row))?;
                    if !*is_list {
                        line.push(b'\n');
                    }
                    if line.len() >= PIECE {
                        flush(line, sink.as_mut(), written)?;
                    }
                }
            }
            Style::Csv => {
                let invalid = |invalid: Invalid| Error::fault(invalid.to_string());
                let spelled: Result<Vec<_>, _> = columns.iter().map(Spelled::of).collect();
                let spelled = spelled.map_err(|error| invalid(error).in_file(&uri))?;
                for row in 0..rows {
                    for (at, column) in spelled.iter().enumerate() {
                        if at > 0 {
                            line.push(b',');
                        }
                        let cell = column.cell(row, self.nothing, line);
                        cell.map_err(|error| placed(invalid(error), row))?;
                    }
                    line.push(b'\n');
                    if line.len() >= PIECE {
                        flush(line, sink.as_mut(), written)?;
                    }
                }
            }
        }
        written.entries += rows;
        flush(line, sink.as_mut(), written)
    }

    fn finish(mut self: Box<Self>) -> Result<Written> {
        if self.is_list {
            self.line.extend_from_slice(b"\n]\n");
        }
        flush(&mut self.line, self.sink.as_mut(), &mut self.written)?;
        self.sink.finish()?;
        Ok(self.written)
    }
}
