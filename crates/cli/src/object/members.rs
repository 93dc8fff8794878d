//! Formats members of objects as indented text or JSON.

use crate::human;
use forthwith::columns::DType;
use forthwith::root::{Object, Value, text as decoded};
use serde_json::{Map, Value as Json, json};
use std::borrow::Cow;

/// Maximum nesting depth of listed objects.
const DEEPEST: usize = 8;
/// Maximum number of lines of text.
const LINES: usize = 200;
/// Maximum number of array items shown in text.
const ITEMS: usize = 8;
/// Maximum number of items in JSON.
const MOST: usize = 1 << 20;

/// Lists the members, one per line.
pub(super) fn text(top: Object<'_>) -> String {
    let Lines { mut lines, .. } = Lines { lines: Vec::new(), most: LINES, items: ITEMS }.of(top);
    if lines.len() > LINES {
        let more = lines.len() - LINES;
        lines.truncate(LINES);
        lines.push(format!("… and {} more; --json has all", human::counted(more as u64, "line", "lines")));
    }
    lines.into_iter().map(|line| line + "\n").collect()
}

/// Lists all members with all items, one member per line.
pub(super) fn all(top: Object<'_>) -> String {
    Lines { lines: Vec::new(), most: usize::MAX, items: usize::MAX }.of(top).lines.join("\n") + "\n"
}

/// Collects lines that describe members.
struct Lines {
    lines: Vec<String>,
    /// Maximum number of lines.
    most: usize,
    /// Maximum number of array items shown.
    items: usize,
}

impl Lines {
    /// Adds the lines for an object.
    fn of(mut self, top: Object<'_>) -> Self {
        object(top, 0, &mut vec![top.number()], &mut self);
        if self.lines.is_empty() {
            self.lines.push(match top.fault() {
                Some(error) => format!("it cannot be read: {}", human::clean(&error.to_string())),
                None if top.is_opaque() => "the file does not say what is in it".into(),
                None => "it has no members".into(),
            });
        }
        self
    }

    fn push(&mut self, line: String) {
        self.lines.push(line);
    }
}

fn object(object: Object<'_>, depth: usize, path: &mut Vec<u32>, lines: &mut Lines) {
    for (label, value) in labelled(object) {
        member(&label, value, depth, path, lines);
    }
    if let Some(value) = object.inner() {
        member("value", value, depth, path, lines);
    }
    for (at, item) in object.items().enumerate() {
        let value = item.map_or(Value::Null, Value::Object);
        member(&format!("[{at}]"), value, depth, path, lines);
    }
}

/// Iterates over members with labels. Labels distinguish members with equal names.
fn labelled(object: Object<'_>) -> impl Iterator<Item = (Cow<'_, str>, Value<'_>)> {
    let mut labels = object.labels(0..object.members().count()).map(Vec::into_iter);
    object.members().map(move |(name, value)| {
        let label = labels.as_mut().and_then(Iterator::next);
        (label.map_or(Cow::Borrowed(name), Cow::Owned), value)
    })
}

fn member(name: &str, value: Value<'_>, depth: usize, path: &mut Vec<u32>, lines: &mut Lines) {
    // One line beyond the limit is kept to signal that more follow.
    if lines.lines.len() > lines.most {
        return;
    }
    let indent = "  ".repeat(depth);
    let name = human::clean(name);
    let short = |text: String| lines_of(&indent, &name, &text);
    match value {
        Value::Object(below) => {
            let class = human::clean(below.class());
            if let Some(Value::Text(bytes)) = below.inner() {
                return lines.push(short(quoted(bytes)));
            }
            if path.contains(&below.number()) {
                return lines.push(short(format!("{class}, around this one")));
            }
            lines.push(short(class));
            if depth < DEEPEST {
                path.push(below.number());
                object(below, depth + 1, path, lines);
                path.pop();
            }
        }
        Value::Objects(items) => {
            lines.push(short(human::counted(items.len() as u64, "object", "objects")));
            for (at, item) in items.enumerate() {
                let value = item.map_or(Value::Null, Value::Object);
                member(&format!("[{at}]"), value, depth + 1, path, lines);
            }
        }
        Value::List(list) => {
            lines.push(short(human::counted(list.len() as u64, "value", "values")));
            for (at, value) in list.enumerate() {
                if depth < DEEPEST {
                    member(&format!("[{at}]"), value, depth + 1, path, lines);
                }
            }
        }
        Value::Array(array) => lines.push(short(items(array.floats(), array.len(), lines.items))),
        Value::Packed(packed) => lines.push(short(items(packed.floats(), packed.len(), lines.items))),
        Value::Null => lines.push(short("null".into())),
        Value::Bool(value) => lines.push(short(value.to_string())),
        Value::Int(value) => lines.push(short(value.to_string())),
        Value::UInt(value) => lines.push(short(value.to_string())),
        Value::Float(value) => lines.push(short(shortest(value))),
        Value::Text(bytes) => lines.push(short(quoted(bytes))),
        Value::Elsewhere(at) => lines.push(short(format!("what is at byte {at}"))),
        Value::Skipped(bytes) => {
            lines.push(short(format!("{} that are not read", human::bytes(bytes.len() as u64))));
        }
        _ => lines.push(short("…".into())),
    }
}

fn lines_of(indent: &str, name: &str, text: &str) -> String {
    format!("{indent}{name:<16} {text}")
}

fn quoted(bytes: &[u8]) -> String {
    format!("'{}'", human::clean(&human::cut(&decoded(bytes), 200)))
}

/// Formats a number with the fewest digits that identify it.
fn shortest(number: f64) -> String {
    let text = format!("{number:?}");
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}

/// Formats the first numbers, and the total count.
fn items(numbers: impl Iterator<Item = f64>, length: usize, most: usize) -> String {
    let shown: Vec<String> = numbers.take(most).map(shortest).collect();
    let more = if length > most { ", …" } else { "" };
    format!("[{}{more}] ({})", shown.join(", "), human::counted(length as u64, "number", "numbers"))
}

/// Converts members to JSON: objects become JSON objects keyed by member name, collections become arrays. An
/// object nested in itself is reduced to its class; numbers without a JSON representation become null.
pub(super) fn json(top: Object<'_>) -> Json {
    of_object(top, &mut vec![top.number()], &mut { MOST })
}

fn of_object(object: Object<'_>, path: &mut Vec<u32>, left: &mut usize) -> Json {
    if let Some(inner) = object.inner() {
        return of_value(inner, path, left);
    }
    if let Some(error) = object.fault() {
        return json!({ "unread": error.to_string() });
    }
    if object.members().next().is_none() && object.items().len() > 0 {
        let items = object.items().map(|item| item.map_or(Json::Null, |item| of_below(item, path, left)));
        return Json::Array(items.collect());
    }
    let mut map = Map::new();
    for (label, value) in labelled(object) {
        map.insert(label.into_owned(), of_value(value, path, left));
    }
    if object.items().len() > 0 {
        let items = object.items().map(|item| item.map_or(Json::Null, |item| of_below(item, path, left)));
        map.insert("items".into(), Json::Array(items.collect()));
    }
    Json::Object(map)
}

fn of_below(below: Object<'_>, path: &mut Vec<u32>, left: &mut usize) -> Json {
    // An object with several pointers to it is written once per pointer, so the total is limited.
    if path.contains(&below.number()) || path.len() > DEEPEST || *left == 0 {
        return json!({ "class": below.class() });
    }
    *left -= 1;
    path.push(below.number());
    let value = of_object(below, path, left);
    path.pop();
    value
}

fn of_value(value: Value<'_>, path: &mut Vec<u32>, left: &mut usize) -> Json {
    match value {
        Value::Bool(value) => json!(value),
        Value::Int(value) => json!(value),
        Value::UInt(value) => json!(value),
        Value::Float(value) => json!(value),
        Value::Text(bytes) => json!(decoded(bytes)),
        Value::Array(array) if matches!(array.basic, DType::Float32 | DType::Float64) => {
            array.floats().map(|n| json!(n)).collect()
        }
        Value::Array(array) => array.ints().map(|n| json!(n)).collect(),
        Value::Packed(packed) => packed.floats().map(|n| json!(n)).collect(),
        Value::Object(below) => of_below(below, path, left),
        Value::Objects(items) => {
            items.map(|item| item.map_or(Json::Null, |item| of_below(item, path, left))).collect()
        }
        Value::List(list) => list.map(|value| of_value(value, path, left)).collect(),
        _ => Json::Null,
    }
}
