//! Derivation of schemas from Forms.

use crate::schema::PRIMITIVES;
use forthwith_columns::{DType, Form, LogicalType, MAP, TimeUnit};
use serde_json::{Value as Json, json};
use std::collections::{HashMap, HashSet};

type Refusal = String;

/// Returns the schema of records with these columns.
pub(super) fn record<'f>(
    names: &[String],
    forms: impl Iterator<Item = &'f Form>,
    name: &str,
) -> Result<String, Refusal> {
    let mut types = Types::default();
    let name = types.name(name);
    let mut fields = Vec::new();
    check(names)?;
    for (field, form) in names.iter().zip(forms) {
        let described = types.field(field, &spelled(form), field);
        fields.push(described.map_err(|what| types.at_fault(&what))?);
    }
    Ok(json!({ "type": "record", "name": name, "fields": fields }).to_string())
}

/// Returns the schema of values of a Form.
pub(super) fn value(form: &Form, name: &str) -> Result<String, Refusal> {
    let mut types = Types { outermost: Some(name.to_owned()), ..Types::default() };
    let described = types.of(&spelled(form), "");
    Ok(described.map_err(|what| types.at_fault(&what))?.to_string())
}

/// Returns the Form with names for the fields of tuples, and with valid names of records.
pub(super) fn spelled(form: &Form) -> Form {
    fn spell(form: &mut Form, is_item: bool) {
        match form {
            // A list of pairs with string keys is a map.
            Form::Record { fields: None, contents, .. } if is_item && is_map(contents) => {}
            Form::Record { fields, contents, name } => {
                fields.get_or_insert_with(|| (0..contents.len()).map(|at| format!("_{at}")).collect());
                *name = name.as_deref().map(word);
            }
            _ => {}
        }
        let are_items = matches!(form, Form::List { .. });
        form.contents_mut().iter_mut().for_each(|content| spell(content, are_items));
    }
    let mut spelled = form.clone();
    spell(&mut spelled, false);
    spelled
}

/// Refuses duplicate field names. Other names are kept even if the specification does not allow them, since
/// readers accept them.
fn check(names: &[String]) -> Result<(), Refusal> {
    let mut known = HashSet::new();
    match names.iter().find(|name| !known.insert(*name)) {
        Some(name) => Err(format!("two fields called {name:?}")),
        None => Ok(()),
    }
}

/// Replaces characters of a type name that are not letters, digits or underscores.
fn word(name: &str) -> String {
    let mut word: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect();
    if !word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        word.insert(0, '_');
    }
    word
}

fn is_map(contents: &[Form]) -> bool {
    matches!(contents, [Form::String { binary: false, .. }, _])
}

#[derive(Default)]
struct Types {
    /// Named types so far, with their signatures.
    named: HashMap<String, String>,
    /// Name of the outermost record if its Form has none.
    outermost: Option<String>,
    /// Names of the enclosing fields; after an error, of the refused field.
    way: Vec<String>,
}

impl Types {
    /// Returns the error for a type that Avro does not have, with the path of its column.
    fn at_fault(&self, what: &str) -> Refusal {
        match &self.way[..] {
            [] => format!("{what} in Avro"),
            way => format!("{what} in Avro (column {:?})", way.join("/")),
        }
    }

    /// Reserves a unique type name.
    fn name(&mut self, name: &str) -> String {
        let word = word(name);
        let numbered = std::iter::once(word.clone()).chain((2..).map(|n| format!("{word}_{n}")));
        let free = |name: &String| {
            !self.named.contains_key(name) && PRIMITIVES.iter().all(|(other, _)| other != name)
        };
        let name = numbered.into_iter().find(free).unwrap_or(word);
        self.named.insert(name.clone(), String::new());
        name
    }

    fn field(&mut self, name: &str, form: &Form, path: &str) -> Result<Json, Refusal> {
        self.way.push(name.to_owned());
        let ty = self.of(form, path)?;
        self.way.pop();
        Ok(match &ty {
            Json::Array(branches) if branches.first() == Some(&json!("null")) => {
                json!({ "name": name, "type": ty, "default": null })
            }
            _ => json!({ "name": name, "type": ty }),
        })
    }

    /// Returns the type of the column at `path`.
    fn of(&mut self, form: &Form, path: &str) -> Result<Json, Refusal> {
        Ok(match form {
            Form::Empty => json!("null"),
            Form::Numpy { dtype, shape, .. } => {
                let mut ty = json!(number(*dtype));
                for _ in shape {
                    ty = json!({ "type": "array", "items": ty });
                }
                ty
            }
            Form::String { binary, .. } => json!(if *binary { "bytes" } else { "string" }),
            Form::Categorical { categories, .. } => self.symbols(categories, path),
            Form::List { content, .. } => match &**content {
                Form::Record { fields: None, contents, .. } if is_map(contents) => {
                    let values =
                        self.of(contents.get(1).unwrap_or(&Form::Empty), &format!("{path}_value"))?;
                    json!({ "type": "map", "values": values })
                }
                content => json!({ "type": "array", "items": self.of(content, &format!("{path}_item"))? }),
            },
            Form::Regular { content, .. } => {
                json!({ "type": "array", "items": self.of(content, &format!("{path}_item"))? })
            }
            Form::Record { fields, contents, name } => {
                self.record(form, fields.as_deref().unwrap_or_default(), contents, name.as_deref(), path)?
            }
            Form::Option { .. } | Form::Union { .. } => {
                let mut branches = Vec::new();
                let null = self.branches(form, path, &mut branches)?;
                if null {
                    branches.insert(0, json!("null"));
                }
                match branches.len() {
                    1 => branches.swap_remove(0),
                    _ => Json::Array(branches),
                }
            }
            Form::Logical { meaning, content } => match logical(*meaning) {
                Some((ty, name)) if kind(content) == Some(ty) => json!({ "type": ty, "logicalType": name }),
                _ => match (*meaning, &**content) {
                    (LogicalType::Decimal { precision, scale }, Form::String { .. } | Form::Numpy { .. }) => {
                        json!({
                            "type": "bytes", "logicalType": "decimal", "precision": precision, "scale": scale
                        })
                    }
                    (LogicalType::Half, _) => json!("float"),
                    (LogicalType::Duration(_), _) => {
                        return Err(format!("{meaning}, a length of time,"));
                    }
                    _ => self.of(content, path)?,
                },
            },
            other => return Err(other.type_string()),
        })
    }

    fn record(
        &mut self,
        form: &Form,
        fields: &[String],
        contents: &[Form],
        name: Option<&str>,
        path: &str,
    ) -> Result<Json, Refusal> {
        let outermost = self.outermost.take();
        // The name only marks pairs of a map, and is not a name of the type.
        let base = name.filter(|name| *name != MAP).map(str::to_owned).or(outermost);
        let base = word(&base.unwrap_or_else(|| if path.is_empty() { "Record".into() } else { path.into() }));
        // A type that was defined before is referred to by name.
        let signature = signature(form);
        if self.named.get(&base) == Some(&signature) {
            return Ok(json!(base));
        }
        let name = self.name(&base);
        self.named.insert(name.clone(), signature);
        let mut described = Vec::new();
        for (field, form) in fields.iter().zip(contents) {
            // Unnamed records are named for their path.
            let inner = if path.is_empty() { field.clone() } else { format!("{path}_{field}") };
            described.push(self.field(field, form, &inner)?);
        }
        let fields = Json::Array(described);
        Ok(json!({ "type": "record", "name": name, "fields": fields }))
    }

    /// Returns an enum, or a string type if the symbols are not valid names.
    fn symbols(&mut self, categories: &[String], path: &str) -> Json {
        let different = categories.iter().collect::<HashSet<_>>().len() == categories.len();
        if !different || categories.is_empty() || categories.iter().any(|name| word(name) != **name) {
            return json!("string");
        }
        let base = word(&format!("{path}_symbols"));
        let signature = format!("enum {}", categories.join(" "));
        if self.named.get(&base) == Some(&signature) {
            return json!(base);
        }
        let name = self.name(&base);
        self.named.insert(name.clone(), signature);
        json!({ "type": "enum", "name": name, "symbols": categories })
    }

    /// Collects the branches of a union except null; returns whether null is one of them.
    fn branches(&mut self, form: &Form, path: &str, found: &mut Vec<Json>) -> Result<bool, Refusal> {
        match form {
            Form::Option { content, .. } => {
                self.branches(content, path, found)?;
                Ok(true)
            }
            Form::Union { contents, .. } => {
                let mut null = false;
                for content in contents {
                    null |= self.branches(content, path, found)?;
                }
                Ok(null)
            }
            Form::Empty => Ok(false),
            form => {
                let ty = self.of(form, path)?;
                if found.iter().any(|other| *other == ty || is_called(other, &ty)) {
                    return Ok(false);
                }
                let class = class(&ty);
                if !named(&ty) && found.iter().any(|other| !named(other) && self::class(other) == class) {
                    return Err(format!("a union of two kinds of {class}"));
                }
                found.push(ty);
                Ok(false)
            }
        }
    }
}

/// Returns a key that is equal for equal types: the type string and the symbols of enums.
fn signature(form: &Form) -> String {
    let symbols = form.nodes().filter_map(|node| match node {
        Form::Categorical { categories, .. } => Some(format!(" {};", categories.join(" "))),
        _ => None,
    });
    std::iter::once(form.type_string()).chain(symbols).collect()
}

/// Whether `name` is the name of the type `ty`.
fn is_called(ty: &Json, name: &Json) -> bool {
    name.is_string() && ty.get("name") == Some(name)
}

/// Returns the kind of a type; a union may have only one unnamed type of each kind.
fn class(ty: &Json) -> String {
    let name = ty.get("type").unwrap_or(ty);
    name.as_str().map_or_else(|| name.to_string(), str::to_owned)
}

fn named(ty: &Json) -> bool {
    match ty {
        Json::String(name) => PRIMITIVES.iter().all(|(other, _)| other != name),
        other => other.get("name").is_some(),
    }
}

fn number(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "boolean",
        DType::Int8 | DType::Int16 | DType::Int32 | DType::UInt8 | DType::UInt16 => "int",
        DType::Float32 => "float",
        DType::Float64 => "double",
        // `uint64` values beyond the range of `long` are refused when they are encoded.
        _ => "long",
    }
}

/// Returns the base type and the name of a logical type.
fn logical(meaning: LogicalType) -> Option<(&'static str, &'static str)> {
    use TimeUnit::{Micro, Milli, Nano};
    Some(match meaning {
        LogicalType::Date => ("int", "date"),
        LogicalType::Time(Milli) => ("int", "time-millis"),
        LogicalType::Time(Micro) => ("long", "time-micros"),
        LogicalType::Timestamp { unit: Milli, zone: Some(_) } => ("long", "timestamp-millis"),
        LogicalType::Timestamp { unit: Micro, zone: Some(_) } => ("long", "timestamp-micros"),
        LogicalType::Timestamp { unit: Nano, zone: Some(_) } => ("long", "timestamp-nanos"),
        LogicalType::Timestamp { unit: Milli, zone: None } => ("long", "local-timestamp-millis"),
        LogicalType::Timestamp { unit: Micro, zone: None } => ("long", "local-timestamp-micros"),
        LogicalType::Timestamp { unit: Nano, zone: None } => ("long", "local-timestamp-nanos"),
        _ => return None,
    })
}

fn kind(form: &Form) -> Option<&'static str> {
    match form {
        Form::Numpy { dtype, shape, .. } if shape.is_empty() => Some(number(*dtype)),
        _ => None,
    }
}
