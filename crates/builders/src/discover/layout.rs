//! The result: as a type, and as the columns of the complete items.

use super::ArrayBuilder;
use super::node::{Node, Nodes, alternatives, end, valid};
use crate::Snapshot;
use crate::build_error::is_identifier;
use forthwith_columns::{Column, DType};
use serde_json::Value as Json;
use std::fmt::Write as _;

impl ArrayBuilder {
    /// The number of items and their type, as Awkward Array prints it.
    #[must_use]
    pub fn type_string(&self) -> String {
        let mut text = format!("{} * ", self.len());
        self.nodes.type_of(Self::ROOT.0, &mut text);
        text
    }

    /// The Form of what [`snapshot`](Self::snapshot) gives, in Awkward Array's JSON.
    #[must_use]
    pub fn form_json(&self) -> String {
        let mut text = String::new();
        self.nodes.form_of(Self::ROOT.0, &mut 0, &mut text);
        text
    }

    /// The complete items, copied; the builder goes on as if nothing had been.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        Self { nodes: self.nodes.clone(), open: Vec::new() }.finish()
    }

    /// The complete items, moved out of the builder.
    #[must_use]
    pub fn finish(mut self) -> Snapshot {
        let form = self.form_json();
        let length = self.len();
        let mut columns = Vec::new();
        self.nodes.columns_of(Self::ROOT.0, length, &mut 0, &mut columns);
        Snapshot { form, length: length as u64, columns }
    }
}

/// The name of the next node.
fn key(next: &mut usize) -> String {
    let key = format!("node{next}");
    *next += 1;
    key
}

impl Nodes {
    /// Moves the columns of the first `length` values out.
    fn columns_of(&mut self, node: u32, length: usize, next: &mut usize, out: &mut Vec<(String, Column)>) {
        let key = key(next);
        let mut give = |part: &str, column: Column| out.push((format!("{key}-{part}"), column));
        let below: Vec<(u32, usize)> = match std::mem::replace(self.at_mut(node), Node::Unknown { nulls: 0 })
        {
            Node::Unknown { nulls: 0 } => Vec::new(),
            Node::Unknown { .. } => {
                give("index", Column::from_vec(vec![-1i64; length]));
                *next += 1; // of the unknown
                Vec::new()
            }
            Node::Boolean(items) => {
                let bytes = column(items, length);
                give("data", bytes.view(DType::Bool).unwrap_or(bytes)); // both are of one byte
                Vec::new()
            }
            Node::Integer(items) | Node::Time { items, .. } => {
                give("data", column(items, length));
                Vec::new()
            }
            Node::Real(items) => {
                give("data", column(items, length));
                Vec::new()
            }
            Node::Complex(items) => {
                give("data", column(items.into_flattened(), 2 * length));
                Vec::new()
            }
            Node::Text { mut offsets, bytes, .. } => {
                offsets.truncate(length + 1);
                let end = end(&offsets);
                give("offsets", Column::from_vec(offsets));
                give("data", column(bytes, end));
                Vec::new()
            }
            Node::List { mut offsets, content } => {
                offsets.truncate(length + 1);
                let end = end(&offsets);
                give("offsets", Column::from_vec(offsets));
                vec![(content, end)]
            }
            Node::Tuple { contents, .. } => contents.iter().map(|content| (*content, length)).collect(),
            Node::Record(record) => record.fields.iter().map(|field| (field.content, length)).collect(),
            Node::Option { mut index, content } => {
                index.truncate(length);
                let rows = valid(&index);
                give("index", Column::from_vec(index));
                vec![(content, rows)]
            }
            Node::Union { mut tags, mut index, contents } => {
                tags.truncate(length);
                index.truncate(length);
                let rows = alternatives(&tags, &index, contents.len());
                give("tags", Column::from_vec(tags));
                give("index", Column::from_vec(index));
                contents.into_iter().zip(rows).collect()
            }
        };
        for (content, rows) in below {
            self.columns_of(content, rows, next, out);
        }
    }

    fn form_of(&self, node: u32, next: &mut usize, out: &mut String) {
        let key = key(next);
        let number = |primitive: &str| format!(r#"{{"class":"NumpyArray","primitive":"{primitive}""#);
        match self.at(node) {
            Node::Unknown { nulls: 0 } => out.push_str(r#"{"class":"EmptyArray""#),
            Node::Unknown { .. } => {
                let inner = *next;
                *next += 1;
                let content = format!(r#"{{"class":"EmptyArray","form_key":"node{inner}"}}"#);
                push(
                    out,
                    format_args!(r#"{{"class":"IndexedOptionArray","index":"i64","content":{content}"#),
                );
            }
            Node::Boolean(_) => out.push_str(&number("bool")),
            Node::Integer(_) => out.push_str(&number("int64")),
            Node::Real(_) => out.push_str(&number("float64")),
            Node::Complex(_) => out.push_str(&number("complex128")),
            Node::Time { unit, .. } => out.push_str(&number(unit)),
            Node::Text { binary, .. } => {
                let (list, item) = if *binary { ("bytestring", "byte") } else { ("string", "char") };
                let parameters = format!(r#""parameters":{{"__array__":"{item}"}}"#);
                let content = format!(r#"{},{parameters},"form_key":"{key}"}}"#, number("uint8"));
                out.push_str(r#"{"class":"ListOffsetArray","offsets":"i64","#);
                push(out, format_args!(r#""content":{content},"parameters":{{"__array__":"{list}"}}"#));
            }
            Node::List { content, .. } => {
                out.push_str(r#"{"class":"ListOffsetArray","offsets":"i64","content":"#);
                self.form_of(*content, next, out);
            }
            Node::Tuple { contents, .. } => {
                out.push_str(r#"{"class":"RecordArray","fields":null,"contents":"#);
                self.forms_of(contents.iter().copied(), next, out);
            }
            Node::Record(record) => {
                let names: Vec<_> = record.fields.iter().map(|field| Json::from(&*field.name)).collect();
                push(
                    out,
                    format_args!(r#"{{"class":"RecordArray","fields":{},"contents":"#, Json::from(names)),
                );
                self.forms_of(record.fields.iter().map(|field| field.content), next, out);
                if !record.name.is_empty() {
                    let name = Json::from(&*record.name);
                    push(out, format_args!(r#","parameters":{{"__record__":{name}}}"#));
                }
            }
            Node::Option { content, .. } => {
                out.push_str(r#"{"class":"IndexedOptionArray","index":"i64","content":"#);
                self.form_of(*content, next, out);
            }
            Node::Union { contents, .. } => {
                out.push_str(r#"{"class":"UnionArray","tags":"i8","index":"i64","contents":"#);
                self.forms_of(contents.iter().copied(), next, out);
            }
        }
        push(out, format_args!(r#","form_key":"{key}"}}"#));
    }

    fn forms_of(&self, contents: impl Iterator<Item = u32>, next: &mut usize, out: &mut String) {
        out.push('[');
        for (at, content) in contents.enumerate() {
            out.push_str(if at == 0 { "" } else { "," });
            self.form_of(content, next, out);
        }
        out.push(']');
    }

    fn type_of(&self, node: u32, out: &mut String) {
        match self.at(node) {
            Node::Unknown { nulls } => out.push_str(if *nulls == 0 { "unknown" } else { "?unknown" }),
            Node::Boolean(_) => out.push_str("bool"),
            Node::Integer(_) => out.push_str("int64"),
            Node::Real(_) => out.push_str("float64"),
            Node::Complex(_) => out.push_str("complex128"),
            Node::Time { unit, .. } => out.push_str(unit),
            Node::Text { binary, .. } => out.push_str(if *binary { "bytes" } else { "string" }),
            Node::List { content, .. } => {
                out.push_str("var * ");
                self.type_of(*content, out);
            }
            Node::Tuple { contents, .. } => {
                out.push('(');
                self.types_of(contents.iter().map(|content| (None, *content)), out);
                out.push(')');
            }
            Node::Record(record) => {
                let fields = record.fields.iter().map(|field| (Some(&*field.name), field.content));
                let plain = is_identifier(&record.name) && !RESERVED.contains(&&*record.name);
                if record.name.is_empty() {
                    out.push('{');
                    self.types_of(fields, out);
                    out.push('}');
                } else if plain {
                    push(out, format_args!("{}[", record.name));
                    self.types_of(fields, out);
                    out.push(']');
                } else {
                    out.push_str("struct[{");
                    self.types_of(fields, out);
                    let name = quoted(&record.name);
                    push(out, format_args!(r#"}}, parameters={{"__record__": {name}}}]"#));
                }
            }
            // Awkward Array says of the alternatives that they may be null, not of the union.
            Node::Option { content, .. } => match self.at(*content) {
                Node::Union { contents, .. } => {
                    out.push_str("union[");
                    for (at, content) in contents.iter().enumerate() {
                        out.push_str(if at == 0 { "" } else { ", " });
                        self.optional_type_of(*content, out);
                    }
                    out.push(']');
                }
                _ => self.optional_type_of(*content, out),
            },
            Node::Union { contents, .. } => {
                out.push_str("union[");
                self.types_of(contents.iter().map(|content| (None, *content)), out);
                out.push(']');
            }
        }
    }

    fn optional_type_of(&self, node: u32, out: &mut String) {
        let list = matches!(self.at(node), Node::List { .. });
        out.push_str(if list { "option[" } else { "?" });
        self.type_of(node, out);
        out.push_str(if list { "]" } else { "" });
    }

    fn types_of<'a>(&self, contents: impl Iterator<Item = (Option<&'a str>, u32)>, out: &mut String) {
        for (at, (name, content)) in contents.enumerate() {
            out.push_str(if at == 0 { "" } else { ", " });
            match name {
                Some(name) if is_identifier(name) => push(out, format_args!("{name}: ")),
                Some(name) => push(out, format_args!("{}: ", quoted(name))),
                None => {}
            }
            self.type_of(content, out);
        }
    }
}

fn column<T: forthwith_columns::Native>(mut items: Vec<T>, length: usize) -> Column {
    items.truncate(length);
    Column::from_vec(items)
}

fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = out.write_fmt(text);
}

/// A name as Python's `json.dumps` writes it.
fn quoted(name: &str) -> String {
    let mut out = String::new();
    for char in Json::from(name).to_string().chars() {
        if char.is_ascii() && char != '\x7f' {
            out.push(char);
        } else {
            let mut units = [0; 2];
            for unit in char.encode_utf16(&mut units) {
                push(&mut out, format_args!("\\u{unit:04x}"));
            }
        }
    }
    out
}

/// Names of records that mean something else in a type.
const RESERVED: [&str; 26] = [
    "unknown",
    "string",
    "bytes",
    "option",
    "tuple",
    "struct",
    "union",
    "categorical",
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
    "float64",
    "float128",
    "complex64",
    "complex128",
    "complex256",
    "datetime64",
    "timedelta64",
];
