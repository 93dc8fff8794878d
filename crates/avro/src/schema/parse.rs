//! Parser of schemas.

use super::{Field, Id, Kind, Logical, Name, PRIMITIVES, Schema, Type, Unit};
use serde_json::{Map, Value as Json};
use std::{
    collections::{HashMap, HashSet},
    str::FromStr,
};

/// Maximum number of types in a schema.
const MAX_TYPES: usize = 1 << 16;
/// Maximum nesting depth of types. The JSON parser allows 128 levels of brackets, of which a type takes up to
/// two.
const MAX_DEPTH: usize = 128;

/// Error for an invalid schema.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}{}", if .path.is_empty() { String::new() } else { format!(" (in {})", .path) })]
pub struct SchemaError {
    /// Description of the fault.
    pub what: String,
    /// Path of the fault: names of records and fields from the outside in.
    pub path: String,
}

impl FromStr for Schema {
    type Err = SchemaError;

    fn from_str(text: &str) -> Result<Self, SchemaError> {
        let error = |what: String| SchemaError { what, path: String::new() };
        let json = match serde_json::from_str(text) {
            Ok(json) => json,
            // The oldest writers omit the quotes around the name of a primitive type.
            Err(_) if primitive(text.trim()).is_some() => Json::String(text.trim().into()),
            Err(bad) => return Err(error(format!("not JSON: {bad}"))),
        };
        let mut parser =
            Parser { types: Vec::new(), named: HashMap::new(), reserved: HashSet::new(), path: Vec::new() };
        let root = parser.any(&json, "")?;
        Ok(Self { types: parser.types, root, named: parser.named })
    }
}

struct Parser {
    types: Vec<Type>,
    named: HashMap<String, Id>,
    /// Types with names.
    reserved: HashSet<Id>,
    path: Vec<String>,
}

impl Parser {
    fn fail<T>(&self, what: impl Into<String>) -> Result<T, SchemaError> {
        Err(SchemaError { what: what.into(), path: self.path.join(".") })
    }

    fn add(&mut self, ty: Type) -> Result<Id, SchemaError> {
        if self.types.len() >= MAX_TYPES {
            return self.fail(format!("more than {MAX_TYPES} types"));
        }
        self.types.push(ty);
        Ok(Id(self.types.len() as u32 - 1))
    }

    fn plain(&mut self, kind: Kind) -> Result<Id, SchemaError> {
        self.add(Type { kind, logical: None, doc: None, properties: Map::new() })
    }

    /// Parses a type, in any spelling, within a namespace.
    fn any(&mut self, json: &Json, space: &str) -> Result<Id, SchemaError> {
        if self.path.len() > MAX_DEPTH {
            return self.fail("nested too deeply");
        }
        match json {
            Json::String(name) => match primitive(name) {
                Some(kind) => self.plain(kind),
                None => self.reference(name, space),
            },
            Json::Array(branches) => {
                let branches: Result<Vec<_>, _> =
                    branches.iter().map(|branch| self.below("<>", branch, space)).collect();
                let branches = branches?;
                self.distinct(&branches)?;
                self.plain(Kind::Union(branches))
            }
            Json::Object(object) => self.object(object, space),
            other => self.fail(format!("a type cannot be {other}")),
        }
    }

    /// Checks that the branches of a union have different types, so that each value has one branch.
    fn distinct(&self, branches: &[Id]) -> Result<(), SchemaError> {
        let mut met = HashSet::new();
        for id in branches {
            // Named types differ by name, and may be incomplete at this point.
            if self.reserved.contains(id) {
                if !met.insert(Err(id)) {
                    return self.fail("a union with the same named type twice");
                }
                continue;
            }
            let Some(ty) = self.types.get(id.0 as usize) else { continue };
            let kind = match &ty.kind {
                Kind::Union(_) => return self.fail("a union directly within a union"),
                Kind::Array(_) => "array",
                Kind::Map(_) => "map",
                kind => match kind.primitive() {
                    Some(name) => name,
                    None => continue, // it has a name
                },
            };
            if !met.insert(Ok(kind)) {
                return self.fail(format!("a union with {kind} twice"));
            }
        }
        Ok(())
    }

    fn below(&mut self, step: &str, json: &Json, space: &str) -> Result<Id, SchemaError> {
        self.path.push(step.into());
        let id = self.any(json, space)?;
        self.path.pop();
        Ok(id)
    }

    /// Resolves a reference to a named type, in the current namespace or by its full name.
    fn reference(&self, name: &str, space: &str) -> Result<Id, SchemaError> {
        let full = qualified(name, space);
        match self.named.get(&full).or_else(|| self.named.get(name)) {
            Some(id) => Ok(*id),
            None => self.fail(format!("there is no type {name:?}: a type is defined before it is used")),
        }
    }

    fn object(&mut self, object: &Map<String, Json>, space: &str) -> Result<Id, SchemaError> {
        let Some(kind) = object.get("type") else { return self.fail("a type without \"type\"") };
        let Json::String(kind) = kind else {
            // `{"type": {...}}` is a spelling of `{...}`; other properties of the outer object are ignored.
            return self.below("", kind, space);
        };
        let mut known = vec!["type", "doc"];
        let (id, kind) = match kind.as_str() {
            "record" | "error" => {
                known.extend(["name", "namespace", "aliases", "fields"]);
                return self.record(object, space, &known);
            }
            "enum" => {
                known.extend(["name", "namespace", "aliases", "symbols", "default"]);
                let id = self.reserve(object, space)?;
                let name = self.name(object, space)?;
                let symbols = self.strings(object, "symbols")?;
                let mut met = HashSet::new();
                if let Some(twice) = symbols.iter().find(|symbol| !met.insert(*symbol)) {
                    return self.fail(format!("enum {:?} has two symbols {twice:?}", name.full));
                }
                let default = object.get("default").and_then(Json::as_str).map(str::to_owned);
                if default.as_ref().is_some_and(|default| !symbols.contains(default)) {
                    return self.fail("the default of an enum is none of its symbols");
                }
                (Some(id), Kind::Enum { name, symbols, default })
            }
            "fixed" => {
                known.extend(["name", "namespace", "aliases", "size"]);
                let id = self.reserve(object, space)?;
                let name = self.name(object, space)?;
                let size =
                    object.get("size").and_then(Json::as_u64).filter(|size| i32::try_from(*size).is_ok());
                let Some(size) = size else { return self.fail("a fixed type without a valid size") };
                (Some(id), Kind::Fixed { name, size })
            }
            "array" => {
                known.push("items");
                let Some(items) = object.get("items") else { return self.fail("an array without items") };
                (None, Kind::Array(self.below("[]", items, space)?))
            }
            "map" => {
                known.push("values");
                let Some(values) = object.get("values") else { return self.fail("a map without values") };
                (None, Kind::Map(self.below("{}", values, space)?))
            }
            name => match primitive(name) {
                Some(kind) => (None, kind),
                None => return self.reference(name, space),
            },
        };
        let properties = rest(object, &known);
        let logical = logical(&kind, &properties);
        let ty = Type { kind, logical, doc: text(object, "doc"), properties };
        match id {
            Some(id) => {
                self.types[id.0 as usize] = ty;
                Ok(id)
            }
            None => self.add(ty),
        }
    }

    /// Reserves the identifier of a named type, which may be referred to before it is complete.
    fn reserve(&mut self, object: &Map<String, Json>, space: &str) -> Result<Id, SchemaError> {
        let name = self.name(object, space)?;
        let id = self.plain(Kind::Null)?;
        if primitive(&name.full).is_some() {
            return self.fail(format!("a type called {:?}", name.full));
        }
        self.reserved.insert(id);
        if self.named.insert(name.full.clone(), id).is_some() {
            return self.fail(format!("two types called {:?}", name.full));
        }
        Ok(id)
    }

    fn name(&self, object: &Map<String, Json>, space: &str) -> Result<Name, SchemaError> {
        // Some writers name the outermost record "".
        let is_outermost = self.path.is_empty();
        let name = object.get("name").and_then(Json::as_str).filter(|name| is_outermost || !name.is_empty());
        let Some(name) = name else {
            return self.fail("a record, enum or fixed without a name");
        };
        let space = object.get("namespace").and_then(Json::as_str).unwrap_or(space);
        let full = qualified(name, space);
        let space = full.rsplit_once('.').map_or("", |(space, _)| space);
        let aliases = self.aliases(object)?.iter().map(|alias| qualified(alias, space)).collect();
        Ok(Name { full, aliases })
    }

    fn record(&mut self, object: &Map<String, Json>, space: &str, known: &[&str]) -> Result<Id, SchemaError> {
        let id = self.reserve(object, space)?;
        let name = self.name(object, space)?;
        let inside = name.full.rsplit_once('.').map_or("", |(space, _)| space).to_owned();
        let Some(list) = object.get("fields").and_then(Json::as_array) else {
            return self.fail(format!("record {:?} without fields", name.full));
        };
        let mut fields: Vec<Field> = Vec::with_capacity(list.len());
        let mut names = HashSet::new();
        for field in list {
            let found = field.as_object().and_then(|f| Some((f, f.get("name")?.as_str()?, f.get("type")?)));
            let Some((field, called, ty)) = found else {
                return self.fail(format!("a field of record {:?} without name or type", name.full));
            };
            if !names.insert(called.to_owned()) {
                return self.fail(format!("record {:?} has two fields called {called:?}", name.full));
            }
            let schema = self.below(called, ty, &inside)?;
            fields.push(Field {
                name: called.to_owned(),
                schema,
                default: field.get("default").cloned(),
                aliases: self.aliases(field)?,
                doc: text(field, "doc"),
                properties: rest(field, &["name", "type", "default", "aliases", "doc"]),
            });
        }
        let properties = rest(object, known);
        let kind = Kind::Record { name, fields };
        self.types[id.0 as usize] = Type { kind, logical: None, doc: text(object, "doc"), properties };
        Ok(id)
    }

    /// Returns the aliases of a type or field. Some writers store a single alias as a string instead of a
    /// list.
    fn aliases(&self, object: &Map<String, Json>) -> Result<Vec<String>, SchemaError> {
        match object.get("aliases") {
            None => Ok(Vec::new()),
            Some(Json::String(alias)) => Ok(vec![alias.clone()]),
            Some(_) => self.strings(object, "aliases"),
        }
    }

    fn strings(&self, object: &Map<String, Json>, key: &str) -> Result<Vec<String>, SchemaError> {
        let list = object.get(key).and_then(Json::as_array);
        let strings = list.and_then(|list| list.iter().map(|s| s.as_str().map(str::to_owned)).collect());
        match strings {
            Some(strings) => Ok(strings),
            None => self.fail(format!("{key} is not a list of names")),
        }
    }
}

fn text(object: &Map<String, Json>, key: &str) -> Option<String> {
    object.get(key).and_then(Json::as_str).map(str::to_owned)
}

fn rest(object: &Map<String, Json>, known: &[&str]) -> Map<String, Json> {
    let unknown = object.iter().filter(|(key, _)| !known.contains(&key.as_str()));
    unknown.map(|(key, value)| (key.clone(), value.clone())).collect()
}

fn qualified(name: &str, space: &str) -> String {
    if space.is_empty() || name.is_empty() || name.contains('.') {
        name.to_owned()
    } else {
        format!("{space}.{name}")
    }
}

fn primitive(name: &str) -> Option<Kind> {
    PRIMITIVES.iter().find(|(known, _)| *known == name).map(|(_, kind)| kind.clone())
}

/// Returns the logical type if it is known and fits the encoding.
fn logical(kind: &Kind, properties: &Map<String, Json>) -> Option<Logical> {
    let name = properties.get("logicalType")?.as_str()?;
    Some(match (name, kind) {
        ("decimal", Kind::Bytes | Kind::Fixed { .. }) => {
            let number = |key: &str| properties.get(key).and_then(Json::as_u64);
            let precision = u32::try_from(number("precision")?).ok().filter(|digits| *digits > 0)?;
            let scale = match properties.get("scale") {
                Some(scale) => u32::try_from(scale.as_u64()?).ok()?,
                None => 0,
            };
            let fits = match kind {
                Kind::Fixed { size, .. } => {
                    // `n` bytes represent `log10(2^(8 n - 1) - 1)` digits.
                    let bits = size.checked_mul(8)?.checked_sub(1)?;
                    f64::from(precision) <= (bits as f64 * std::f64::consts::LOG10_2).floor()
                }
                _ => true,
            };
            (fits && scale <= precision).then_some(Logical::Decimal { precision, scale })?
        }
        ("uuid", Kind::String | Kind::Fixed { size: 16, .. }) => Logical::Uuid,
        ("date", Kind::Int) => Logical::Date,
        ("time-millis", Kind::Int) => Logical::Time(Unit::Milli),
        ("time-micros", Kind::Long) => Logical::Time(Unit::Micro),
        ("timestamp-millis", Kind::Long) => Logical::Timestamp(Unit::Milli),
        ("timestamp-micros", Kind::Long) => Logical::Timestamp(Unit::Micro),
        ("timestamp-nanos", Kind::Long) => Logical::Timestamp(Unit::Nano),
        ("local-timestamp-millis", Kind::Long) => Logical::LocalTimestamp(Unit::Milli),
        ("local-timestamp-micros", Kind::Long) => Logical::LocalTimestamp(Unit::Micro),
        ("local-timestamp-nanos", Kind::Long) => Logical::LocalTimestamp(Unit::Nano),
        ("duration", Kind::Fixed { size: 12, .. }) => Logical::Duration,
        _ => return None,
    })
}
