//! Python code with a `TypedDict`.

use super::{Column, Described, Taken, camel_case};
use forthwith::columns::{DType, Form, LogicalType};

/// Classes in the order of their definitions.
#[derive(Default)]
struct Printer {
    items: Vec<String>,
    names: Taken,
    /// Imported modules.
    modules: Vec<&'static str>,
}

pub(super) fn print(described: &Described) -> String {
    let mut printer = Printer::default();
    let name = printer.names.make(described.name.clone());
    let fields = described.columns.iter();
    let fields: Vec<_> = fields
        .map(|Column { name: column, form }| {
            (column.clone(), printer.typed(form, &format!("{name}{}", camel_case(column))))
        })
        .collect();
    printer.record(&name, &fields);
    printer.modules.sort_unstable();
    let mut text = format!(
        "\"\"\"The type of a record of {}, as `rows` gives it. Made by `forthwith gen python`.\"\"\"\n\n",
        described.from.replace(['"', '\\'], "_")
    );
    for module in &printer.modules {
        text.push_str(&format!("import {module}\n"));
    }
    text.push_str("from typing import Any, TypedDict\n");
    for item in &printer.items {
        text.push('\n');
        text.push_str(item);
    }
    let skipped = described.skipped_lines("#", "");
    if !skipped.is_empty() {
        text.push_str(&format!("\n# Columns that cannot be read:\n{skipped}"));
    }
    text
}

impl Printer {
    fn record(&mut self, name: &str, fields: &[(String, String)]) {
        let lines: String =
            fields.iter().map(|(field, typed)| format!("        {}: {typed},\n", quoted(field))).collect();
        self.items.push(format!("{name} = TypedDict(\n    \"{name}\",\n    {{\n{lines}    }},\n)\n"));
    }

    fn typed(&mut self, form: &Form, name: &str) -> String {
        let listed = |item: String| format!("list[{item}]");
        match form {
            Form::Numpy { dtype, shape, .. } => {
                let number = match dtype {
                    DType::Bool => "bool",
                    DType::Float32 | DType::Float64 => "float",
                    _ => "int",
                };
                shape.iter().fold(number.to_owned(), |item, _| listed(item))
            }
            Form::String { binary: true, .. } => "bytes".to_owned(),
            Form::String { .. } | Form::Categorical { .. } => "str".to_owned(),
            // Lists of pairs are dicts if they were maps.
            Form::List { content, .. } if let Some((key, value)) = pair(content) => {
                let (key, value) = (self.typed(key, name), self.typed(value, name));
                format!("dict[{key}, {value}] | list[tuple[{key}, {value}]]")
            }
            Form::List { content, .. } | Form::Regular { content, .. } => listed(self.typed(content, name)),
            Form::Option { content, .. } => format!("{} | None", self.typed(content, name)),
            // Decimals are `decimal.Decimal`, and times are NumPy scalars.
            Form::Logical { meaning: LogicalType::Half, .. } => "float".to_owned(),
            Form::Logical { .. } | Form::Empty => "Any".to_owned(),
            Form::Record { fields: None, contents, .. } => {
                let slots: Vec<String> = contents.iter().map(|content| self.typed(content, name)).collect();
                format!("tuple[{}]", slots.join(", "))
            }
            Form::Record { fields: Some(names), contents, .. } => {
                let item = self.names.make(name.to_owned());
                let fields = names.iter().zip(contents).map(|(field, form)| {
                    (field.clone(), self.typed(form, &format!("{item}{}", camel_case(field))))
                });
                let fields: Vec<_> = fields.collect();
                self.record(&item, &fields);
                item
            }
            Form::Union { contents, .. } => {
                let each: Vec<String> = contents.iter().map(|content| self.typed(content, name)).collect();
                each.join(" | ")
            }
            _ => "Any".to_owned(),
        }
    }
}

/// Returns the types of key and value if the items are pairs.
fn pair(item: &Form) -> Option<(&Form, &Form)> {
    match item {
        Form::Record { fields: None, contents, .. } => match contents.as_slice() {
            [key, value] => Some((key, value)),
            _ => None,
        },
        _ => None,
    }
}

/// Returns an ASCII string literal.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            ' '..='~' => out.push(c),
            c => out.push_str(&format!("\\U{:08x}", u32::from(c))),
        }
    }
    out + "\""
}
