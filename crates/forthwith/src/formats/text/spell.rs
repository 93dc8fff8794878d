//! Formatting of values as JSON and as CSV cells.

use super::cells::Cells;
use super::column::{Numbers, Spelled};
use forthwith_columns::{Invalid, LogicalType, json_text};
use forthwith_plan::NotNumbers;
use std::io::Write;

/// Error of formatting a value.
#[derive(Debug)]
pub(super) enum Unspelled {
    /// The columns are inconsistent with their Form.
    Invalid(Invalid),
    /// NaN or an infinity, which JSON does not have, by name.
    NoNumber(&'static str),
}

impl From<Invalid> for Unspelled {
    fn from(invalid: Invalid) -> Self {
        Self::Invalid(invalid)
    }
}

/// Upper bound on the items of a list whose items take no memory in any buffer.
const MOST_WEIGHTLESS: u64 = 1 << 16;

impl Spelled<'_> {
    /// Appends the value at a row as JSON.
    pub(super) fn json(&self, row: u64, instead: NotNumbers, to: &mut Vec<u8>) -> Result<(), Unspelled> {
        match self {
            Self::Empty => to.extend_from_slice(b"null"),
            Self::Number(numbers) => return numbers.json(row, instead, to),
            Self::Text { key, offsets, bytes, binary } => {
                let (start, stop) = offsets.bounds(row, key)?;
                let bytes = range(bytes, start, stop, key)?;
                if *binary { latin(bytes, to) } else { json_text(&String::from_utf8_lossy(bytes), to) }
            }
            Self::Category { key, index, categories } => {
                json_text(category(key, index.at(row), categories, row)?, to)
            }
            Self::List { key, offsets, content, weightless } => {
                let (start, stop) = offsets.bounds(row, key)?;
                return content.json_list(start, stop, *weightless, instead, to);
            }
            Self::Regular { size, content, weightless } => {
                let start = row.checked_mul(*size);
                let bounds = start.and_then(|start| Some((start, start.checked_add(*size)?)));
                let (start, stop) = bounds.ok_or(Invalid::Overflow { rows: row, each: *size })?;
                return content.json_list(start, stop, *weightless, instead, to);
            }
            Self::Map { key, offsets, names, values } => {
                let (start, stop) = offsets.bounds(row, key)?;
                to.push(b'{');
                for at in start..stop {
                    if at > start {
                        to.push(b',');
                    }
                    names.json(at, instead, to)?;
                    to.push(b':');
                    values.json(at, instead, to)?;
                }
                to.push(b'}');
            }
            Self::Record { names, contents } => {
                to.push(if names.is_some() { b'{' } else { b'[' });
                for (at, content) in contents.iter().enumerate() {
                    if at > 0 {
                        to.push(b',');
                    }
                    if let Some(name) = names.and_then(|names| names.get(at)) {
                        json_text(name, to);
                        to.push(b':');
                    }
                    content.json(row, instead, to)?;
                }
                to.push(if names.is_some() { b'}' } else { b']' });
            }
            Self::Logical { meaning, content } => match content.meant(*meaning, row)? {
                Logical::Text(text) => json_text(&text, to),
                Logical::Half(number) => return real(number, instead, to),
                Logical::Nothing => return content.json(row, instead, to),
            },
            Self::Option { key, index, content } => match present(key, index.at(row), row)? {
                Some(at) => return content.json(at, instead, to),
                None => to.extend_from_slice(b"null"),
            },
            Self::Union { key, tags, index, contents } => {
                let tag = tags.at(row).and_then(|tag| usize::try_from(tag).ok());
                let content = tag.and_then(|tag| contents.get(tag));
                let content = content.ok_or_else(|| Invalid::Range { key: format!("{key}-tags"), row })?;
                let at = present(key, index.at(row), row)?;
                let at = at.ok_or_else(|| Invalid::Range { key: format!("{key}-index"), row })?;
                return content.json(at, instead, to);
            }
        }
        Ok(())
    }

    fn json_list(
        &self,
        start: u64,
        stop: u64,
        weightless: bool,
        instead: NotNumbers,
        to: &mut Vec<u8>,
    ) -> Result<(), Unspelled> {
        if weightless && stop - start > MOST_WEIGHTLESS {
            return Err(Invalid::Overflow { rows: 1, each: stop - start }.into());
        }
        to.push(b'[');
        for at in start..stop {
            if at > start {
                to.push(b',');
            }
            self.json(at, instead, to)?;
        }
        to.push(b']');
        Ok(())
    }

    /// Appends the value at a row as a CSV cell. Only numbers and text have one.
    pub(super) fn cell(&self, row: u64, cells: &Cells, to: &mut Vec<u8>) -> Result<(), Invalid> {
        match self {
            Self::Number(numbers) => return cells.number(to, |to| numbers.cell(row, to)),
            Self::Text { key, offsets, bytes, .. } => {
                let (start, stop) = offsets.bounds(row, key)?;
                cells.text(&String::from_utf8_lossy(range(bytes, start, stop, key)?), to);
            }
            Self::Category { key, index, categories } => {
                cells.text(category(key, index.at(row), categories, row)?, to)
            }
            Self::Logical { meaning, content } => match content.meant(*meaning, row)? {
                Logical::Text(text) if matches!(meaning, LogicalType::Decimal { .. }) => {
                    return cells.number(to, |to| {
                        to.extend_from_slice(text.as_bytes());
                        Ok(())
                    });
                }
                Logical::Text(text) => cells.text(&text, to),
                Logical::Half(number) => {
                    return cells.number(to, |to| {
                        real_cell(number, to);
                        Ok(())
                    });
                }
                Logical::Nothing => return content.cell(row, cells, to),
            },
            Self::Option { key, index, content } => match present(key, index.at(row), row)? {
                Some(at) => return content.cell(at, cells, to),
                None => cells.missing(to),
            },
            // `Cells::new` refuses columns of other types.
            _ => return Err(Invalid::Deep),
        }
        Ok(())
    }

    /// Returns the value at a row as its logical type represents it.
    fn meant(&self, meaning: LogicalType, row: u64) -> Result<Logical, Invalid> {
        let text = match self {
            Self::Number(numbers) => match (meaning, numbers.whole(row)) {
                (LogicalType::Half, Some(bits)) => {
                    return Ok(u16::try_from(bits)
                        .map_or(Logical::Nothing, |bits| Logical::Half(LogicalType::half(bits))));
                }
                (_, number) => number.and_then(|number| meaning.spell_number(number)),
            },
            Self::Text { key, offsets, bytes, .. } => {
                let (start, stop) = offsets.bounds(row, key)?;
                let text = meaning.spell_bytes(range(bytes, start, stop, key)?);
                text.map_err(|long| Invalid::Decimal { key: key.to_string(), row, long })?
            }
            _ => None,
        };
        Ok(text.map_or(Logical::Nothing, Logical::Text))
    }
}

/// A value as its logical type represents it.
enum Logical {
    Text(String),
    Half(f32),
    /// The stored value, because the logical type has no representation of it.
    Nothing,
}

impl Numbers<'_> {
    fn json(&self, row: u64, instead: NotNumbers, to: &mut Vec<u8>) -> Result<(), Unspelled> {
        match self {
            Self::Float32(items) => real(items.at(row).ok_or_else(|| short(row))?, instead, to),
            Self::Float64(items) => real(items.at(row).ok_or_else(|| short(row))?, instead, to),
            _ => Ok(self.cell(row, to)?),
        }
    }

    fn cell(&self, row: u64, to: &mut Vec<u8>) -> Result<(), Invalid> {
        macro_rules! plain {
            ($items:expr) => {{
                let number = $items.at(row).ok_or_else(|| short(row))?;
                // Writing a number to memory does not fail.
                let _ = serde_json::to_writer(to, &number);
            }};
        }
        match self {
            Self::Bool(bytes) => {
                let byte =
                    usize::try_from(row).ok().and_then(|row| bytes.get(row)).ok_or_else(|| short(row))?;
                to.extend_from_slice(if *byte == 0 { b"false" } else { b"true" });
            }
            Self::Int8(items) => plain!(items),
            Self::Int16(items) => plain!(items),
            Self::Int32(items) => plain!(items),
            Self::Int64(items) => plain!(items),
            Self::UInt8(items) => plain!(items),
            Self::UInt16(items) => plain!(items),
            Self::UInt32(items) => plain!(items),
            Self::UInt64(items) => plain!(items),
            Self::Float32(items) => real_cell(items.at(row).ok_or_else(|| short(row))?, to),
            Self::Float64(items) => real_cell(items.at(row).ok_or_else(|| short(row))?, to),
        }
        Ok(())
    }
}

/// A floating-point number, which is formatted with the shortest digits of its own precision.
trait Real: serde::Serialize + Copy + std::fmt::Display + Into<f64> {}
impl Real for f32 {}
impl Real for f64 {}

fn real(number: impl Real, instead: NotNumbers, to: &mut Vec<u8>) -> Result<(), Unspelled> {
    let name = match number.into() {
        finite if finite.is_finite() => {
            let _ = serde_json::to_writer(to, &number);
            return Ok(());
        }
        f64::INFINITY => "Infinity",
        f64::NEG_INFINITY => "-Infinity",
        _ => "NaN",
    };
    match instead {
        NotNumbers::Refused => return Err(Unspelled::NoNumber(name)),
        NotNumbers::Null => to.extend_from_slice(b"null"),
        NotNumbers::Text => json_text(name, to),
    }
    Ok(())
}

/// Appends a number to a CSV cell, which may be NaN or infinite, unlike numbers in JSON.
fn real_cell(number: impl Real, to: &mut Vec<u8>) {
    let _ = if number.into().is_finite() {
        serde_json::to_writer(to, &number).map_err(Into::into)
    } else {
        write!(to, "{number}")
    };
}

/// Appends bytes as a text of the characters U+0000 to U+00FF, as in the JSON encoding of Avro.
fn latin(bytes: &[u8], to: &mut Vec<u8>) {
    let text: String = bytes.iter().map(|byte| char::from(*byte)).collect();
    json_text(&text, to);
}

fn range<'b>(bytes: &'b [u8], start: u64, stop: u64, key: &str) -> Result<&'b [u8], Invalid> {
    let range = usize::try_from(start).ok().zip(usize::try_from(stop).ok());
    let found = range.and_then(|(start, stop)| bytes.get(start..stop));
    found.ok_or_else(|| Invalid::Short {
        key: format!("{key}-data"),
        found: bytes.len() as u64,
        needed: stop,
    })
}

fn category<'c>(key: &str, at: Option<i32>, categories: &'c [String], row: u64) -> Result<&'c str, Invalid> {
    let text = at.and_then(|at| usize::try_from(at).ok()).and_then(|at| categories.get(at));
    text.map(String::as_str).ok_or_else(|| Invalid::Range { key: format!("{key}-index"), row })
}

/// Returns the row that an index refers to; `None` for a missing value.
fn present(key: &str, at: Option<i64>, row: u64) -> Result<Option<u64>, Invalid> {
    let at = at.ok_or_else(|| Invalid::Range { key: format!("{key}-index"), row })?;
    Ok(u64::try_from(at).ok())
}

fn short(row: u64) -> Invalid {
    Invalid::Short { key: "data".into(), found: row, needed: row.saturating_add(1) }
}
