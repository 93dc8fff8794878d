//! Types printed in Awkward Array's notation: `var * {x: float64, y: ?string}`.

use super::parse::WORDS;
use super::{Form, Kind, Parameters, Primitive, Text};
use crate::build_error::is_identifier;
use serde_json::Value as Json;

impl Form {
    /// Returns the type in Awkward Array's notation.
    #[must_use]
    pub fn type_string(&self) -> String {
        let mut out = String::new();
        self.write_type(&mut out);
        out
    }

    fn write_type(&self, out: &mut String) {
        let mut other: Parameters = self.parameters.clone();
        other.retain(|name, value| !self.implied(name, value));
        let parameters = (!other.is_empty()).then(|| format!("parameters={}", spaced(&Json::Object(other))));
        if let Some(text) = self.as_text() {
            out.push_str(if text == Text::String { "string" } else { "bytes" });
            if let Kind::Regular { size, .. } = self.kind {
                out.push_str(&format!("[{size}]"));
            }
            return;
        }
        // Parameters at the end of brackets that have other contents.
        let tail = parameters.as_ref().map_or_else(String::new, |parameters| format!(", {parameters}"));
        match &self.kind {
            Kind::Empty => bracketed(out, "unknown", parameters),
            Kind::Numpy { primitive, shape } => {
                shape.iter().for_each(|size| out.push_str(&format!("{size} * ")));
                let name = match self.parameters.get("__array__").and_then(Json::as_str) {
                    Some(name @ ("char" | "byte")) => name.to_owned(),
                    _ => primitive.name(),
                };
                bracketed(out, &name, parameters);
            }
            Kind::Regular { content, .. } | Kind::ListOffset { content, .. } | Kind::List { content, .. } => {
                let count =
                    if let Kind::Regular { size, .. } = self.kind { size.to_string() } else { "var".into() };
                let (open, close) = if parameters.is_some() { ("[", "]") } else { ("", "") };
                content.write_within(out, &format!("{open}{count} * "), &format!("{tail}{close}"));
            }
            Kind::Record { fields, contents } => {
                self.write_record(out, fields.as_deref(), contents, parameters)
            }
            Kind::Indexed { content, .. } if self.is_categorical() => {
                content.write_within(out, "categorical[type=", "]");
            }
            Kind::Indexed { content, .. } => content.write_type(out),
            Kind::IndexedOption { content, .. }
            | Kind::ByteMasked { content, .. }
            | Kind::BitMasked { content, .. }
            | Kind::Unmasked { content } => {
                let list = content.as_text().is_none()
                    && (matches!(&content.kind, Kind::Numpy { shape, .. } if !shape.is_empty())
                        || matches!(
                            content.kind,
                            Kind::Regular { .. } | Kind::ListOffset { .. } | Kind::List { .. }
                        ));
                if self.is_categorical() {
                    content.write_within(out, "?categorical[type=", "]");
                } else if list || parameters.is_some() {
                    content.write_within(out, "option[", &format!("{tail}]"));
                } else {
                    content.write_within(out, "?", "");
                }
            }
            Kind::Union { contents, .. } => {
                out.push_str("union[");
                listed(out, None, contents);
                out.push_str(&format!("{tail}]"));
            }
        }
    }

    fn write_within(&self, out: &mut String, open: &str, close: &str) {
        out.push_str(open);
        self.write_type(out);
        out.push_str(close);
    }

    fn write_record(
        &self,
        out: &mut String,
        fields: Option<&[String]>,
        contents: &[Self],
        parameters: Option<String>,
    ) {
        let name = self.record_name().filter(|name| is_plain(name));
        let (open, close) = match (name, fields, &parameters) {
            (Some(name), ..) => (format!("{name}["), "]"),
            (None, Some(_), None) => ("{".into(), "}"),
            (None, None, None) => ("(".into(), ")"),
            (None, Some(_), Some(_)) => ("struct[{".into(), "}"),
            (None, None, Some(_)) => ("tuple[[".into(), "]"),
        };
        out.push_str(&open);
        listed(out, fields, contents);
        if name.is_some() {
            let comma = if contents.is_empty() { "" } else { ", " };
            out.push_str(&parameters.map_or_else(String::new, |parameters| format!("{comma}{parameters}")));
            out.push_str(close);
        } else {
            out.push_str(close);
            out.push_str(&parameters.map_or_else(String::new, |parameters| format!(", {parameters}]")));
        }
    }

    pub(crate) fn is_categorical(&self) -> bool {
        matches!(self.kind, Kind::Indexed { .. } | Kind::IndexedOption { .. })
            && self.parameters.get("__array__").and_then(Json::as_str) == Some("categorical")
    }

    /// Whether the notation expresses this parameter implicitly.
    fn implied(&self, name: &str, value: &Json) -> bool {
        match name {
            "__record__" => self.record_name().is_some_and(is_plain),
            "__array__" => {
                self.as_text().is_some()
                    || self.is_categorical()
                    || (matches!(self.kind, Kind::Numpy { .. })
                        && matches!(value.as_str(), Some("char" | "byte")))
            }
            _ => false,
        }
    }
}

fn bracketed(out: &mut String, name: &str, parameters: Option<String>) {
    out.push_str(name);
    if let Some(parameters) = parameters {
        out.push_str(&format!("[{parameters}]"));
    }
}

fn listed(out: &mut String, fields: Option<&[String]>, contents: &[Form]) {
    for (at, content) in contents.iter().enumerate() {
        if at > 0 {
            out.push_str(", ");
        }
        if let Some(name) = fields.and_then(|fields| fields.get(at)) {
            out.push_str(&word(name));
            out.push_str(": ");
        }
        content.write_type(out);
    }
}

/// Formats JSON as Python's `json.dumps` does.
fn spaced(json: &Json) -> String {
    match json {
        Json::Array(items) => format!("[{}]", items.iter().map(spaced).collect::<Vec<_>>().join(", ")),
        Json::Object(map) => {
            let pairs = map.iter().map(|(name, value)| format!("{}: {}", quoted(name), spaced(value)));
            format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))
        }
        Json::String(text) => quoted(text),
        plain => plain.to_string(),
    }
}

/// Returns a name, quoted unless it is an identifier.
fn word(name: &str) -> String {
    if is_identifier(name) { name.into() } else { quoted(name) }
}

fn quoted(text: &str) -> String {
    let mut out = String::new();
    for char in Json::from(text).to_string().chars() {
        if char.is_ascii() && char != '\x7f' {
            out.push(char);
        } else {
            let mut units = [0; 2];
            char.encode_utf16(&mut units).iter().for_each(|unit| out.push_str(&format!("\\u{unit:04x}")));
        }
    }
    out
}

/// Whether a record may have this name before a bracket, where other words are types.
fn is_plain(name: &str) -> bool {
    let mut others = Primitive::names().chain(WORDS).chain(["float128", "complex256"]);
    is_identifier(name) && (name == "var" || others.all(|other| other != name))
}
