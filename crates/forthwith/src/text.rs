//! Tables as text, for programs that read nothing better: an object a line (JSON Lines) or values with commas between them (CSV).

use forthwith_columns::{Array, Form, Value};
use forthwith_io::Sink;
use forthwith_plan::{Error, ErrorKind, NotNumbers, Result, TableWriter, WriteOptions, Written};
use std::io::Write;

/// Rows that are made into text together.
const ROWS: u64 = 1024;

/// Writes a line for each entry. Numbers have as many digits as it takes to read them back as they were; what is missing is `null` or nothing
/// (in quotes, if nothing else is on the line and it is no text); times and decimals are spelled out. JSON has no NaN and no infinities: what
/// becomes of them has to be said.
pub(crate) struct TextWriter {
    sink: Box<dyn Sink>,
    names: Vec<String>,
    style: Style,
    not_numbers: NotNumbers,
    /// What stands for nothing: quotes where the line would be empty, which most readers take for no line at all.
    nothing: &'static [u8],
    line: Vec<u8>,
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
        let mut writer = Self { sink, names, style, not_numbers, nothing, line: Vec::new(), written };
        if style == Style::Csv {
            for at in 0..writer.names.len() {
                writer.comma(at);
                quoted(&writer.names[at], &mut writer.line);
            }
            writer.line.push(b'\n');
            writer.flush()?;
        }
        Ok(writer)
    }

    fn comma(&mut self, at: usize) {
        if at > 0 {
            self.line.push(b',');
        }
    }

    fn flush(&mut self) -> Result<()> {
        let written = self.sink.write_all(&self.line);
        written.map_err(|error| forthwith_io::Error::new(error.into(), self.sink.uri()))?;
        self.written.bytes += self.line.len() as u64;
        self.line.clear();
        Ok(())
    }

    fn row(&mut self, values: &mut [Value], entry: u64) -> Result<()> {
        if self.style == Style::JsonLines {
            self.line.push(b'{');
        }
        for (at, value) in values.iter_mut().enumerate() {
            self.comma(at);
            match self.style {
                Style::JsonLines => {
                    json(&self.names[at], &mut self.line)?;
                    self.line.push(b':');
                    spell_for_json(value, self.not_numbers, &self.names[at])
                        .map_err(|error| error.at_entry(entry).in_file(self.sink.uri()))?;
                    json(value, &mut self.line)?;
                }
                Style::Csv => cell(value, self.nothing, &mut self.line)?,
            }
        }
        if self.style == Style::JsonLines {
            self.line.push(b'}');
        }
        self.line.push(b'\n');
        Ok(())
    }
}

fn json(value: &impl serde::Serialize, to: &mut Vec<u8>) -> Result<()> {
    serde_json::to_writer(to, value).map_err(|e| Error::new(ErrorKind::Invalid { what: e.to_string() }))
}

/// Replaces what JSON has no numbers for: NaN and the infinities.
///
/// # Errors
/// They are to be refused, and there is one.
pub fn spell_for_json(value: &mut Value, instead: NotNumbers, column: &str) -> Result<()> {
    finite(value, instead).map_err(|number| {
        let what = format!(
            "JSON has no number {number} (column {column:?}): nan=null writes null, nan=string a text"
        );
        Error::new(ErrorKind::Invalid { what })
    })
}

/// The same; answers the first of them.
fn finite(value: &mut Value, instead: NotNumbers) -> Result<(), &'static str> {
    let number = match value {
        Value::Float32(number) if !number.is_finite() => f64::from(*number),
        Value::Float64(number) if !number.is_finite() => *number,
        Value::List(items) | Value::Tuple(items) => {
            return items.iter_mut().try_for_each(|item| finite(item, instead));
        }
        Value::Record(fields) => return fields.iter_mut().try_for_each(|(_, field)| finite(field, instead)),
        _ => return Ok(()),
    };
    let name = match number {
        f64::INFINITY => "Infinity",
        f64::NEG_INFINITY => "-Infinity",
        _ => "NaN",
    };
    *value = match instead {
        NotNumbers::Refused => return Err(name),
        NotNumbers::Null => Value::Null,
        NotNumbers::Text => Value::String(name.into()),
    };
    Ok(())
}

/// Text is in quotes if it has to be.
fn cell(value: &Value, nothing: &[u8], to: &mut Vec<u8>) -> Result<()> {
    match value {
        Value::Null => to.extend(nothing),
        Value::String(text) | Value::Meant(text) => quoted(text, to),
        // JSON has none of these.
        Value::Float32(number) if !number.is_finite() => to.extend(number.to_string().bytes()),
        Value::Float64(number) if !number.is_finite() => to.extend(number.to_string().bytes()),
        number => json(number, to)?,
    }
    Ok(())
}

fn quoted(text: &str, to: &mut Vec<u8>) {
    // An empty text in quotes is told from nothing.
    let plain = !text.is_empty() && !text.contains([',', '"', '\n', '\r']) && text.trim() == text;
    if plain {
        return to.extend(text.bytes());
    }
    to.push(b'"');
    to.extend(text.replace('"', "\"\"").bytes());
    to.push(b'"');
}

/// Whether values are no more than one number or text.
fn is_flat(form: &Form) -> bool {
    match form {
        Form::Numpy { shape, .. } => shape.is_empty(),
        Form::String { binary, .. } => !binary,
        Form::Categorical { .. } | Form::Meant { .. } => true,
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
        let odd = |what: String| Error::new(ErrorKind::Invalid { what }).in_file(self.sink.uri());
        if columns.len() != self.names.len() || columns.iter().any(|column| column.length != rows) {
            return Err(odd("columns that are not those of the file, or differ in length".into()));
        }
        let before = self.written.entries;
        let mut from = 0;
        while from < rows {
            let to = rows.min(from + ROWS);
            let all = columns.iter().map(|column| column.values(from..to));
            let all: Vec<Vec<Value>> = all
                .collect::<Result<_, _>>()
                .map_err(|e| Error::new(ErrorKind::Fault { what: e.to_string() }).in_file(self.sink.uri()))?;
            let mut columns: Vec<_> = all.into_iter().map(Vec::into_iter).collect();
            for row in from..to {
                let mut values: Vec<Value> =
                    columns.iter_mut().map(|values| values.next().unwrap_or(Value::Null)).collect();
                self.row(&mut values, before + row)?;
            }
            self.flush()?;
            self.written.entries += to - from;
            from = to;
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Written> {
        self.sink.finish()?;
        Ok(self.written)
    }
}
