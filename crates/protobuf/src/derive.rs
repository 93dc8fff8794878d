//! Derivation of a schema from columns.

use forthwith_columns::{DType, Form, LogicalType, MAP};
use std::fmt::Write;

/// Maximum nesting depth of messages.
const DEEPEST: usize = 32;

type Made<T> = std::result::Result<T, String>;

/// Type of a field that is not repeated.
struct Value {
    type_name: String,
    is_option: bool,
}

/// Returns a `.proto` schema with one message type for the rows.
pub(crate) fn derive(columns: &[(String, Form)], message: &str) -> Made<String> {
    if !is_name(message) {
        return Err(format!("{message:?} is not a name for a message type without a package"));
    }
    let mut messages = String::new();
    let names = columns.iter().map(|(name, _)| name.as_str());
    define(&mut messages, message, names, columns.iter().map(|(_, form)| form), 1)?;
    let mut text = String::from("syntax = \"proto3\";\n");
    for import in ["timestamp", "duration"] {
        if messages.contains(&format!("google.protobuf.{}", type_of(import))) {
            let _ = writeln!(text, "import \"google/protobuf/{import}.proto\";");
        }
    }
    Ok(text + &messages)
}

fn type_of(import: &str) -> &'static str {
    if import == "timestamp" { "Timestamp" } else { "Duration" }
}

/// Appends the definition of a message type, with the definitions of inner messages nested in it.
fn define<'f>(
    text: &mut String,
    name: &str,
    names: impl Iterator<Item = &'f str>,
    forms: impl Iterator<Item = &'f Form>,
    depth: usize,
) -> Made<()> {
    if depth > DEEPEST {
        return Err(format!("messages nested more than {DEEPEST} deep"));
    }
    let indent = "  ".repeat(depth);
    let _ = writeln!(text, "{}message {name} {{", "  ".repeat(depth - 1));
    for (number, (field, form)) in (1..).zip(names.zip(forms)) {
        if !is_name(field) {
            return Err(format!("{field:?} cannot be the name of a field: give a schema"));
        }
        // Field numbers from 19000 to 19999 are reserved.
        let number = if number < 19_000 { number } else { number + 1_000 };
        let inner = inner_name(field);
        let line = line(text, form, &inner, depth).map_err(|why| match why.strip_prefix("column ") {
            Some(inside) => format!("column {field}.{inside}"),
            None => format!("column {field}: {why}"),
        })?;
        let _ = writeln!(text, "{indent}{line} {field} = {number};");
    }
    let _ = writeln!(text, "{}}}", "  ".repeat(depth - 1));
    Ok(())
}

/// Returns the label and the type of a field.
fn line(text: &mut String, form: &Form, inner: &str, depth: usize) -> Made<String> {
    if let Some((_, content)) = form.fixed() {
        return repeated(text, &content, inner, depth);
    }
    match form {
        Form::List { content, .. } => repeated(text, content, inner, depth),
        form => {
            let value = value(text, form, inner, depth)?;
            Ok(if value.is_option { format!("optional {}", value.type_name) } else { value.type_name })
        }
    }
}

fn repeated(text: &mut String, content: &Form, inner: &str, depth: usize) -> Made<String> {
    if let Form::Record { fields: None, contents, name } = content
        && let [key, of] = &contents[..]
        && (name.as_deref() == Some(MAP) || matches!(key, Form::String { binary: false, .. }))
    {
        let key = value(text, key, inner, depth)?;
        let is_key = !matches!(key.type_name.as_str(), "double" | "float" | "bytes") && !key.is_option;
        let of = value(text, of, inner, depth)?;
        if is_key && !of.is_option {
            return Ok(format!("map<{}, {}>", key.type_name, of.type_name));
        }
        return Err("a map with missing values or such keys has no type in ProtoBuf".into());
    }
    let value = value(text, content, inner, depth)?;
    if value.is_option {
        return Err("lists with missing values have no type in ProtoBuf".into());
    }
    Ok(format!("repeated {}", value.type_name))
}

fn value(text: &mut String, form: &Form, inner: &str, depth: usize) -> Made<Value> {
    let plain = |name: &str| Ok(Value { type_name: name.into(), is_option: false });
    match form {
        Form::Option { content, .. } => match value(text, content, inner, depth)? {
            Value { is_option: true, .. } => Err("options of options have no type in ProtoBuf".into()),
            Value { type_name, .. } => Ok(Value { type_name, is_option: true }),
        },
        Form::Numpy { dtype, shape, .. } if shape.is_empty() => plain(match dtype {
            DType::Bool => "bool",
            DType::Int8 | DType::Int16 | DType::Int32 => "int32",
            DType::Int64 => "int64",
            DType::UInt8 | DType::UInt16 | DType::UInt32 => "uint32",
            DType::UInt64 => "uint64",
            DType::Float32 => "float",
            DType::Float64 => "double",
        }),
        Form::String { binary, .. } => plain(if *binary { "bytes" } else { "string" }),
        Form::Categorical { .. } => plain("string"),
        Form::Logical { meaning: LogicalType::Timestamp { .. }, .. } => plain("google.protobuf.Timestamp"),
        Form::Logical { meaning: LogicalType::Duration(_), .. } => plain("google.protobuf.Duration"),
        Form::Record { fields: Some(fields), contents, .. } => {
            define(text, inner, fields.iter().map(String::as_str), contents.iter(), depth + 1)?;
            plain(inner)
        }
        Form::List { .. } | Form::Regular { .. } => {
            Err("lists of lists and lists that may be missing have no type in ProtoBuf: put them in records"
                .into())
        }
        form => Err(format!("{} has no type in ProtoBuf", form.type_string())),
    }
}

/// Returns the name of the message type of a field.
fn inner_name(field: &str) -> String {
    let mut chars = field.chars();
    let first = chars.next().map(|first| first.to_ascii_uppercase());
    format!("{}{}Message", first.into_iter().collect::<String>(), chars.as_str())
}

fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
