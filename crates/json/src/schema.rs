//! Schemas in three notations: Forms and types of Awkward Array, Avro schemas, and JSON Schema.

use forthwith_builders::{Form as BuilderForm, TypedColumns};
use forthwith_columns::{DType, Form, LogicalType, TimeUnit, Zone};
use forthwith_plan::{Error, Result};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::HashMap;

/// Maximum depth of nested types and references.
const DEEPEST: usize = 64;

/// Parses a schema to the Form of an entry. Its keys are empty until [`number_keys`].
pub(crate) fn form(text: &str) -> Result<Form> {
    let Ok(value) = serde_json::from_str::<Value>(text) else { return of_awkward(text) };
    if value.get("class").is_some() {
        return of_awkward(text);
    }
    if let Ok(form) = Form::deserialize(&value) {
        return Ok(form);
    }
    let mut types = Types { root: &value, named: HashMap::new() };
    match (types.form(&value, DEEPEST), &value) {
        (Err(_), Value::String(text)) => of_awkward(text),
        (form, _) => form,
    }
}

/// Parses a Form or a type of Awkward Array.
fn of_awkward(text: &str) -> Result<Form> {
    let refused = |why: &dyn std::fmt::Display| Error::invalid(format!("schema: {why}"));
    let form = if text.trim_start().starts_with("{\"") {
        BuilderForm::from_json(text)
    } else {
        BuilderForm::parse(text)
    };
    let columns = TypedColumns::new(&form.map_err(|why| refused(&why))?).map_err(|why| refused(&why))?;
    Ok(columns.finish().to_array().map_err(|why| refused(&why))?.form)
}

/// Converter of Avro schemas and JSON Schema. Keywords that both have mean the same.
struct Types<'a> {
    root: &'a Value,
    /// Named types of Avro.
    named: HashMap<String, Form>,
}

fn invalid(what: impl std::fmt::Display) -> Error {
    Error::invalid(format!("schema: {what}"))
}

fn plain(dtype: DType) -> Form {
    Form::Numpy { key: String::new(), dtype, shape: vec![] }
}

fn text(binary: bool) -> Form {
    Form::String { key: String::new(), binary }
}

fn list(content: Form) -> Form {
    Form::List { key: String::new(), content: Box::new(content) }
}

fn optional(content: Form) -> Form {
    match content {
        Form::Option { .. } => content,
        _ => Form::Option { key: String::new(), content: Box::new(content) },
    }
}

fn map(content: Form) -> Form {
    list(Form::Record { fields: None, contents: vec![text(false), content], name: None })
}

fn logical(meaning: LogicalType) -> Form {
    let dtype = if meaning == LogicalType::Date { DType::Int32 } else { DType::Int64 };
    Form::Logical { meaning, content: Box::new(plain(dtype)) }
}

fn timestamp(unit: TimeUnit, is_zoned: bool) -> Form {
    logical(LogicalType::Timestamp { unit, zone: is_zoned.then_some(Zone::UTC) })
}

impl<'a> Types<'a> {
    fn form(&mut self, schema: &'a Value, depth: usize) -> Result<Form> {
        let depth = depth.checked_sub(1).ok_or_else(|| invalid("types nested too deep, or in a circle"))?;
        match schema {
            Value::String(name) => self.simple(name, None, depth),
            Value::Array(types) => self.union(types.iter(), None, depth),
            Value::Object(words) => self.object(words, depth),
            other => Err(invalid(format!("{other} is not a type"))),
        }
    }

    fn object(&mut self, words: &'a Map<String, Value>, depth: usize) -> Result<Form> {
        for word in ["anyOf", "oneOf"] {
            if let Some(Value::Array(types)) = words.get(word) {
                return self.union(types.iter(), None, depth);
            }
        }
        if let Some(reference) = words.get("$ref") {
            let path = reference.as_str().and_then(|reference| reference.strip_prefix('#'));
            let found = path.and_then(|path| self.root.pointer(path));
            return self.form(found.ok_or_else(|| invalid(format!("{reference} is not in it")))?, depth);
        }
        match words.get("type") {
            Some(Value::String(name)) => self.simple(name, Some(words), depth),
            Some(Value::Array(names)) => self.union(names.iter(), Some(words), depth),
            Some(nested) => self.form(nested, depth),
            None if words.contains_key("properties") => self.simple("object", Some(words), depth),
            None if is_texts(words.get("enum")) => Ok(text(false)),
            None => Err(invalid(format!("{} has no type", Value::Object(words.clone())))),
        }
    }

    /// Returns a union, or an optional type if one of the types is null. `words` are the keywords beside the
    /// names of types in JSON Schema.
    fn union(
        &mut self,
        types: impl Iterator<Item = &'a Value>,
        words: Option<&'a Map<String, Value>>,
        depth: usize,
    ) -> Result<Form> {
        let forms = types.map(|of| match (of, words) {
            (Value::String(name), Some(_)) => self.simple(name, words, depth),
            _ => self.form(of, depth),
        });
        let mut contents = forms.collect::<Result<Vec<_>>>()?;
        let count = contents.len();
        contents.retain(|form| *form != Form::Empty);
        let is_optional = contents.len() < count;
        let form = match contents.len() {
            0 => Form::Empty,
            1 => contents.swap_remove(0),
            _ => Form::Union { key: String::new(), contents },
        };
        Ok(if is_optional { optional(form) } else { form })
    }

    fn simple(&mut self, name: &str, words: Option<&'a Map<String, Value>>, depth: usize) -> Result<Form> {
        let word = |word: &str| words.and_then(|words| words.get(word));
        Ok(match name {
            "null" => Form::Empty,
            "boolean" => plain(DType::Bool),
            "int" | "long" | "integer" => match word("logicalType").and_then(Value::as_str) {
                Some(meaning) => of_avro(meaning)?,
                None => plain(if name == "int" { DType::Int32 } else { DType::Int64 }),
            },
            "float" => plain(DType::Float32),
            "double" | "number" => plain(DType::Float64),
            "bytes" | "fixed" => match word("logicalType").and_then(Value::as_str) {
                Some(meaning) => of_avro(meaning)?,
                None => self.name(words, text(true)),
            },
            "enum" => self.name(words, text(false)),
            "string" => match word("format").and_then(Value::as_str) {
                Some("date-time") => timestamp(TimeUnit::Micro, true),
                Some("date") => logical(LogicalType::Date),
                _ => text(false),
            },
            "array" => self.array(&word, depth)?,
            "map" => map(self.form(word("values").ok_or_else(|| invalid("a map without values"))?, depth)?),
            "record" => self.record(words, depth)?,
            "object" => self.properties(&word, depth)?,
            other => match self.named.get(other) {
                Some(form) => form.clone(),
                None => return Err(invalid(format!("there is no type {other:?}"))),
            },
        })
    }

    fn array(&mut self, word: &dyn Fn(&str) -> Option<&'a Value>, depth: usize) -> Result<Form> {
        if let Some(Value::Array(items)) = word("prefixItems") {
            let contents = items.iter().map(|item| self.form(item, depth)).collect::<Result<_>>()?;
            return Ok(Form::Record { fields: None, contents, name: None });
        }
        let content = self.form(word("items").ok_or_else(|| invalid("an array without items"))?, depth)?;
        let bound = |name| word(name).and_then(Value::as_u64);
        Ok(match (bound("minItems"), bound("maxItems")) {
            (Some(least), Some(most)) if least == most => {
                Form::Regular { size: least, content: Box::new(content) }
            }
            _ => list(content),
        })
    }

    fn properties(&mut self, word: &dyn Fn(&str) -> Option<&'a Value>, depth: usize) -> Result<Form> {
        let Some(Value::Object(properties)) = word("properties") else {
            let values = word("additionalProperties").filter(|values| values.is_object());
            return Ok(
                map(self.form(values.ok_or_else(|| invalid("an object without properties"))?, depth)?),
            );
        };
        let required: Vec<&str> = word("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let (mut names, mut contents) = (Vec::new(), Vec::new());
        for (name, of) in properties {
            let form = self.form(of, depth)?;
            contents.push(if required.contains(&name.as_str()) { form } else { optional(form) });
            names.push(name.clone());
        }
        Ok(Form::Record { fields: Some(names), contents, name: None })
    }

    fn record(&mut self, words: Option<&'a Map<String, Value>>, depth: usize) -> Result<Form> {
        let fields = words.and_then(|words| words.get("fields")).and_then(Value::as_array);
        let (mut names, mut contents) = (Vec::new(), Vec::new());
        for field in fields.ok_or_else(|| invalid("a record without fields"))? {
            let parts = field.get("name").and_then(Value::as_str).zip(field.get("type"));
            let (name, of) = parts.ok_or_else(|| invalid("a field without a name or a type"))?;
            contents.push(self.form(of, depth)?);
            names.push(name.to_owned());
        }
        Ok(self.name(words, Form::Record { fields: Some(names), contents, name: None }))
    }

    /// Registers a named type, and returns it.
    fn name(&mut self, words: Option<&Map<String, Value>>, form: Form) -> Form {
        let word = |word| words.and_then(|words| words.get(word)).and_then(Value::as_str);
        if let Some(name) = word("name") {
            if let Some(space) = word("namespace") {
                self.named.insert(format!("{space}.{name}"), form.clone());
            }
            self.named.insert(name.to_owned(), form.clone());
        }
        form
    }
}

fn of_avro(meaning: &str) -> Result<Form> {
    let (unit, is_zoned) = match meaning {
        "date" => return Ok(logical(LogicalType::Date)),
        "timestamp-millis" => (TimeUnit::Milli, true),
        "timestamp-micros" => (TimeUnit::Micro, true),
        "timestamp-nanos" => (TimeUnit::Nano, true),
        "local-timestamp-millis" => (TimeUnit::Milli, false),
        "local-timestamp-micros" => (TimeUnit::Micro, false),
        "local-timestamp-nanos" => (TimeUnit::Nano, false),
        other => return Err(Error::unsupported(format!("the logical type {other:?} in JSON"))),
    };
    Ok(timestamp(unit, is_zoned))
}

fn is_texts(values: Option<&Value>) -> bool {
    values.and_then(Value::as_array).is_some_and(|values| values.iter().all(Value::is_string))
}

/// Gives each node of a Form a unique key.
pub(crate) fn number_keys(form: &mut Form) {
    fn number(form: &mut Form, next: &mut usize) {
        if let Form::Numpy { key, .. }
        | Form::String { key, .. }
        | Form::List { key, .. }
        | Form::Option { key, .. }
        | Form::Union { key, .. } = form
        {
            *key = format!("node{next}");
            *next += 1;
        }
        form.contents_mut().iter_mut().for_each(|content| number(content, next));
    }
    number(form, &mut 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemas_of_all_kinds_are_types() {
        let json_schema = r##"{"type": "object", "required": ["a"], "$defs": {"t": {"type": "string", "format": "date-time"}},
            "properties": {"a": {"type": "integer"}, "b": {"type": ["number", "null"]}, "c": {"type": "array", "items":
            {"type": "string"}}, "t": {"$ref": "#/$defs/t"}, "m": {"type": "object", "additionalProperties": {"type":
            "boolean"}}, "u": {"anyOf": [{"type": "string"}, {"type": "integer"}]}}}"##;
        let avro = r#"{"type": "record", "name": "e", "fields": [{"name": "a", "type": "int"}, {"name": "b", "type":
            ["null", "float"]}, {"name": "h", "type": {"type": "array", "items": {"type": "record", "name": "h",
            "fields": [{"name": "x", "type": "bytes"}]}}}, {"name": "d", "type": {"type": "int", "logicalType": "date"}},
            {"name": "g", "type": "h"}]}"#;
        for (text, wanted) in [
            ("{a: int32, b: var * ?string}", "{a: int32, b: var * ?string}"),
            ("\"var * float32\"", "var * float32"),
            (r#"{"class": "NumpyArray", "primitive": "uint8"}"#, "uint8"),
            (
                json_schema,
                "{a: int64, b: ?float64, c: ?var * string, m: ?var * (string, bool), t: ?timestamp[us, UTC], u: ?union[string, int64]}",
            ),
            (avro, "{a: int32, b: ?float32, h: var * {x: bytes}, d: date, g: {x: bytes}}"),
        ] {
            let mut found = form(text).unwrap_or_else(|error| panic!("{error}"));
            number_keys(&mut found);
            assert_eq!(found.type_string(), wanted);
        }
        for text in ["{", "{}", "\"nothing\"", r#"{"type": "array"}"#, r##"{"$ref": "#"}"##, "7"] {
            assert!(form(text).is_err(), "{text}");
        }
    }
}
