//! Formatting of rows as short text.

use crate::lookup::Lookup;
use crate::value::{Node, Peek, Value, number};
use crate::{Array, Column, Invalid, safe_text};
use std::fmt::{self, Write};
use std::ops::Range;

impl Array {
    /// Formats rows, one line each, as Awkward Array does: `[1.5, 2.25, ..., 9]`, `{x: 1, y: 'text'}`. Items
    /// beyond `width` characters are replaced by an ellipsis, and not read. Rows out of range are left out.
    /// The result implements `Display`: `println!("{}", array.preview(0..5, 80))`.
    #[must_use]
    pub const fn preview(&self, rows: Range<u64>, width: usize) -> Preview<'_> {
        Preview { array: self, rows, width }
    }
}

/// Rows of an array that are displayed as short text, one line each; an invalid row is displayed as its
/// error.
#[derive(Clone, Debug)]
pub struct Preview<'a> {
    array: &'a Array,
    rows: Range<u64>,
    width: usize,
}

impl Preview<'_> {
    /// Formats each row as a line.
    ///
    /// # Errors
    /// The error of the first row that is invalid.
    pub fn lines(&self) -> Result<Vec<String>, Invalid> {
        let lookup = Lookup::of(self.array);
        let node = Node { lookup: &lookup, form: &self.array.form, depth: 0 };
        self.present().map(|row| line(&node, row, self.width)).collect()
    }

    fn present(&self) -> Range<u64> {
        self.rows.start..self.rows.end.min(self.array.length)
    }
}

impl fmt::Display for Preview<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lookup = Lookup::of(self.array);
        let node = Node { lookup: &lookup, form: &self.array.form, depth: 0 };
        for (number, row) in self.present().enumerate() {
            let gap = if number == 0 { "" } else { "\n" };
            match line(&node, row, self.width) {
                Ok(text) => write!(f, "{gap}{text}")?,
                Err(error) => write!(f, "{gap}({error})")?,
            }
        }
        Ok(())
    }
}

/// Writes the type and the first rows, like Awkward Array's `show`.
impl fmt::Display for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} * {}", self.length, self.form.type_string())?;
        if self.length > 0 {
            write!(f, "\n{}", self.preview(0..SHOWN, WIDTH))?;
        }
        if self.length > SHOWN { write!(f, "\n{ELLIPSIS}") } else { Ok(()) }
    }
}

/// Number of rows that `Display` writes, and of characters in each.
const SHOWN: u64 = 10;
const WIDTH: usize = 80;

fn line(node: &Node<'_>, row: u64, width: usize) -> Result<String, Invalid> {
    match node.peek(row)? {
        Peek::Value(value) => Ok(single(&value, width)),
        Peek::Shape(column, shape, start) => Ok(dimension(column, shape, start, width)),
        Peek::List(content, start, count) => {
            sequence(("[", "]"), count, width, |at, width| line(&content, start + at, width))
        }
        Peek::Record(names, contents, row) => {
            let brackets = if names.is_some() { ("{", "}") } else { ("(", ")") };
            sequence(brackets, contents.len() as u64, width, |at, width| {
                let at = at as usize; // less than the number of contents
                let name = names
                    .and_then(|names| names.get(at))
                    .map_or(String::new(), |name| format!("{}: ", safe_text(name)));
                let room = width.saturating_sub(name.chars().count());
                Ok(name + &line(&contents[at], row, room)?)
            })
        }
    }
}

fn dimension(column: &Column, shape: &[u64], start: u64, width: usize) -> String {
    let Some((outer, inner)) = shape.split_first() else { return single(&number(column, start), width) };
    if *outer == 0 {
        return "[]".into();
    }
    let each: u64 = inner.iter().product();
    let text = sequence(("[", "]"), *outer, width, |at, width| {
        Ok(dimension(column, inner, start.saturating_add(at.saturating_mul(each)), width))
    });
    text.unwrap_or_default() // items without errors make no error
}

/// Formats as many items as fit, an ellipsis, and the last item.
fn sequence(
    (open, close): (&str, &str),
    count: u64,
    width: usize,
    item: impl Fn(u64, usize) -> Result<String, Invalid>,
) -> Result<String, Invalid> {
    let Some(last) = count.checked_sub(1) else { return Ok(format!("{open}{close}")) };
    let room = width.saturating_sub(2);
    if room < ELLIPSIS.len() {
        return Ok(format!("{open}{ELLIPSIS}{close}"));
    }
    // If there are many items, most do not fit: read no more than could.
    let mut parts: Vec<String> = Vec::new();
    let mut taken = 0;
    for at in 0..count {
        let rest = room.saturating_sub(taken);
        let text = item(at, rest)?;
        let length = text.chars().count() + if at == 0 { 0 } else { 2 };
        // All items but the last must leave space for an ellipsis.
        let reserve = if at == last { 0 } else { ELLIPSIS.len() + 2 };
        if taken + length + reserve > room {
            break;
        }
        taken += length;
        parts.push(text);
    }
    if (parts.len() as u64) < count {
        // Drop items from the end until the last item fits, if it ever does.
        let ending = item(last, room.saturating_sub(ELLIPSIS.len() + 4))?;
        let needed = ending.chars().count() + ELLIPSIS.len() + 4;
        let fits = needed + parts.first().map_or(0, |first| first.chars().count()) <= room;
        if fits && count - parts.len() as u64 > 1 {
            while taken + needed > room
                && let Some(part) = parts.pop()
            {
                taken -= part.chars().count() + if parts.is_empty() { 0 } else { 2 };
            }
            parts.push(ELLIPSIS.into());
            parts.push(ending);
        } else {
            parts.push(ELLIPSIS.into());
        }
    }
    Ok(format!("{open}{}{close}", parts.join(", ")))
}

fn single(value: &Value, width: usize) -> String {
    match value {
        Value::Null => "None".into(),
        Value::Bool(true) => "True".into(),
        Value::Bool(false) => "False".into(),
        Value::Int(value) => value.to_string(),
        Value::UInt(value) => value.to_string(),
        Value::Float32(value) => float(format!("{value:?}")),
        Value::Float64(value) => float(format!("{value:?}")),
        Value::Logical(text) => {
            if text.chars().count() > width {
                ELLIPSIS.into()
            } else {
                text.clone()
            }
        }
        Value::String(text) => quoted(text.chars().map(|c| c.escape_debug().to_string()), "'", width),
        Value::Bytes(bytes) => quoted(bytes.iter().map(|b| b.escape_ascii().to_string()), "b'", width),
        // Unreachable: `peek` never returns these as values.
        Value::List(_) | Value::Record(_) | Value::Tuple(_) => ELLIPSIS.into(),
    }
}

fn float(text: String) -> String {
    match text.strip_suffix(".0") {
        Some(whole) => whole.into(),
        None => text.replace("NaN", "nan"),
    }
}

fn quoted(characters: impl Iterator<Item = String>, open: &str, width: usize) -> String {
    let room = width.saturating_sub(open.len() + 1);
    let mut text = String::from(open);
    let mut taken = 0;
    let mut cut = text.len(); // where an ellipsis still fits
    for piece in characters {
        let length = piece.chars().count();
        if taken + length > room {
            text.truncate(cut);
            let _ = write!(text, "{ELLIPSIS}");
            break;
        }
        taken += length;
        text.push_str(&piece);
        if taken + ELLIPSIS.len() <= room {
            cut = text.len();
        }
    }
    text.push('\'');
    text
}

const ELLIPSIS: &str = "...";
