//! Forms as JSON, as written by `ak.forms.Form.to_json` and read by `ak.forms.from_json`.

use super::{Form, FormError, Index, Kind, Parameters, Primitive};
use serde_json::{Map, Value as Json, json};

impl Form {
    /// Parses the JSON of `ak.forms.Form.to_json`. A string, such as `"float64"`, is a number type.
    ///
    /// # Errors
    /// Returns an error if the text is not JSON or not a Form, if it is nested too deeply, or if it has a
    /// class without values of its own (virtual arrays).
    pub fn from_json(text: &str) -> Result<Self, FormError> {
        let json = serde_json::from_str(text).map_err(|error| FormError::Json(error.to_string()))?;
        node(&json, &mut String::new(), 0)
    }

    /// Returns JSON for `ak.forms.from_json` and `ak.from_buffers`.
    #[must_use]
    pub fn to_json(&self) -> String {
        json_of(self).to_string()
    }
}

fn node(json: &Json, place: &mut String, depth: usize) -> Result<Form, FormError> {
    if depth > Form::DEEPEST {
        return Err(FormError::Deep);
    }
    if let Json::String(name) = json {
        return Ok(Form::number(primitive(name, place)?));
    }
    let Json::Object(map) = json else {
        return Err(wrong(place, "expected an object or the name of a number"));
    };
    let class = member(map, "class", Json::as_str, place, "it has no class")?;
    let content = |place: &mut String| -> Result<Box<Form>, FormError> {
        let json = member(map, "content", Some, place, "it has no content")?;
        Ok(Box::new(below(json, ".content", place, depth)?))
    };
    let contents = |place: &mut String| -> Result<Vec<Form>, FormError> {
        let json = member(map, "contents", Json::as_array, place, "it has no contents")?;
        let each = json.iter().enumerate();
        each.map(|(at, json)| below(json, &format!(".contents[{at}]"), place, depth)).collect()
    };
    let index = |name: &str, place: &str| {
        let read = |json: &Json| json.as_str().and_then(Index::from_name);
        let fault = format!("its {name} must be \"i32\", \"u32\" or \"i64\"");
        member(map, name, read, place, &fault)
    };
    let signed = |name: &str, place: &str| match index(name, place)? {
        Index::U32 => Err(wrong(place, &format!("its {name} must have a sign"))),
        found => Ok(found),
    };
    let flag = |name: &str, place: &str| {
        member(map, name, Json::as_bool, place, &format!("its {name} must be true or false"))
    };
    let kind = match class {
        "EmptyArray" => Kind::Empty,
        "NumpyArray" => {
            let name = member(map, "primitive", Json::as_str, place, "it has no primitive")?;
            let shape = match map.get("inner_shape") {
                None => Some(Vec::new()),
                Some(shape) => shape.as_array().and_then(|shape| shape.iter().map(Json::as_u64).collect()),
            };
            let shape = shape.ok_or_else(|| wrong(place, "its inner_shape must be a list of numbers"))?;
            if shape.len() + depth > Form::DEEPEST {
                return Err(FormError::Deep);
            }
            Kind::Numpy { primitive: primitive(name, place)?, shape }
        }
        "RegularArray" => {
            let size = member(map, "size", Json::as_u64, place, "its size must be a number")?;
            Kind::Regular { size, content: content(place)? }
        }
        "ListOffsetArray" => Kind::ListOffset { offsets: index("offsets", place)?, content: content(place)? },
        "ListArray" => {
            let starts = index("starts", place)?;
            if index("stops", place)? != starts {
                return Err(wrong(place, "starts and stops must be of one type"));
            }
            Kind::List { starts, content: content(place)? }
        }
        "RecordArray" => {
            let fields = match map.get("fields") {
                None | Some(Json::Null) => None,
                Some(fields) => {
                    let names = fields.as_array().and_then(|fields| {
                        fields.iter().map(|name| name.as_str().map(String::from)).collect::<Option<Vec<_>>>()
                    });
                    Some(names.ok_or_else(|| wrong(place, "its fields must be null or names"))?)
                }
            };
            let contents = contents(place)?;
            if fields.as_ref().is_some_and(|fields| fields.len() != contents.len()) {
                return Err(wrong(place, "it has not as many names as contents"));
            }
            Kind::Record { fields, contents }
        }
        "IndexedArray" => Kind::Indexed { index: index("index", place)?, content: content(place)? },
        "IndexedOptionArray" => {
            Kind::IndexedOption { index: signed("index", place)?, content: content(place)? }
        }
        "ByteMaskedArray" => {
            Kind::ByteMasked { valid_when: flag("valid_when", place)?, content: content(place)? }
        }
        "BitMaskedArray" => Kind::BitMasked {
            valid_when: flag("valid_when", place)?,
            lsb_order: flag("lsb_order", place)?,
            content: content(place)?,
        },
        "UnmaskedArray" => Kind::Unmasked { content: content(place)? },
        "UnionArray" => Kind::Union { index: index("index", place)?, contents: contents(place)? },
        other => return Err(FormError::Unsupported(format!("a node of class {other}"))),
    };
    let parameters = match map.get("parameters") {
        None | Some(Json::Null) => Parameters::new(),
        Some(Json::Object(parameters)) => parameters.clone(),
        Some(_) => return Err(wrong(place, "its parameters must be an object")),
    };
    let key = map.get("form_key").and_then(Json::as_str).map(String::from);
    Ok(Form { kind, parameters, key })
}

/// Returns a member converted by `read`, or the error `fault` if it is absent or invalid.
fn member<'j, T>(
    map: &'j Map<String, Json>,
    name: &str,
    read: impl FnOnce(&'j Json) -> Option<T>,
    place: &str,
    fault: &str,
) -> Result<T, FormError> {
    map.get(name).and_then(read).ok_or_else(|| wrong(place, fault))
}

fn wrong(place: &str, what: &str) -> FormError {
    let place = if place.is_empty() { "the Form" } else { place.trim_start_matches('.') };
    FormError::Node { place: place.into(), what: what.into() }
}

/// Parses an inner node, with its step added to the path.
fn below(json: &Json, step: &str, place: &mut String, depth: usize) -> Result<Form, FormError> {
    let length = place.len();
    place.push_str(step);
    let form = node(json, place, depth + 1)?;
    place.truncate(length);
    Ok(form)
}

fn primitive(name: &str, place: &str) -> Result<Primitive, FormError> {
    Primitive::from_name(name).ok_or_else(|| match name {
        "float128" | "complex256" => {
            FormError::Unsupported(format!("{name}, which differs between machines,"))
        }
        "datetime64" | "timedelta64" => FormError::Unsupported(format!("{name} without a unit")),
        _ => wrong(place, &format!("there is no number type {name:?}")),
    })
}

fn json_of(form: &Form) -> Json {
    let (class, members) = match &form.kind {
        Kind::Empty => ("EmptyArray", json!({})),
        Kind::Numpy { primitive, shape } => {
            ("NumpyArray", json!({ "primitive": primitive.name(), "inner_shape": shape }))
        }
        Kind::Regular { size, .. } => ("RegularArray", json!({ "size": size })),
        Kind::ListOffset { offsets, .. } => ("ListOffsetArray", json!({ "offsets": offsets.name() })),
        Kind::List { starts, .. } => {
            ("ListArray", json!({ "starts": starts.name(), "stops": starts.name() }))
        }
        Kind::Record { fields, .. } => ("RecordArray", json!({ "fields": fields })),
        Kind::Indexed { index, .. } => ("IndexedArray", json!({ "index": index.name() })),
        Kind::IndexedOption { index, .. } => ("IndexedOptionArray", json!({ "index": index.name() })),
        Kind::ByteMasked { valid_when, .. } => {
            ("ByteMaskedArray", json!({ "mask": "i8", "valid_when": valid_when }))
        }
        Kind::BitMasked { valid_when, lsb_order, .. } => {
            ("BitMaskedArray", json!({ "mask": "u8", "valid_when": valid_when, "lsb_order": lsb_order }))
        }
        Kind::Unmasked { .. } => ("UnmaskedArray", json!({})),
        Kind::Union { index, .. } => ("UnionArray", json!({ "tags": "i8", "index": index.name() })),
    };
    let mut map = Map::new();
    map.insert("class".into(), class.into());
    if let Json::Object(members) = members {
        map.extend(members);
    }
    let mut contents = form.contents().iter().map(json_of);
    match &form.kind {
        Kind::Record { .. } | Kind::Union { .. } => _ = map.insert("contents".into(), contents.collect()),
        _ => map.extend(contents.next().map(|content| ("content".into(), content))),
    }
    map.insert("parameters".into(), Json::Object(form.parameters.clone()));
    map.insert("form_key".into(), form.key.clone().into());
    Json::Object(map)
}
