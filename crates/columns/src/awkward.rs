//! Serialization of Forms to Awkward Array's JSON.

use crate::{DType, Form};
use serde_json::{Map, Value as Json, json};

impl Form {
    /// Returns the JSON that `ak.forms.from_json` and `ak.from_buffers` accept. Nodes with buffers have their
    /// key as `form_key`; the others have a null `form_key`, which `ak.from_buffers` accepts.
    ///
    /// Awkward Array does not support an option around a union;
    /// [`Array::for_awkward`](crate::Array::for_awkward) turns it into a union of options.
    #[must_use]
    pub fn to_awkward_json(&self) -> String {
        json_of(self, false).to_string()
    }

    /// Returns the JSON for the result of [`Array::logical`](crate::Array::logical): numbers for which NumPy
    /// has a type, such as `datetime64[us]`, are of that type.
    #[must_use]
    pub fn to_logical_json(&self) -> String {
        json_of(self, true).to_string()
    }
}

fn json_of(form: &Form, typed: bool) -> Json {
    let json_of = |form: &Form| json_of(form, typed);
    match form {
        Form::Empty => node("EmptyArray", None, json!({}), json!({})),
        Form::Numpy { key, dtype, shape } => numpy(key, *dtype, shape, json!({})),
        Form::String { key, binary } => {
            let (outer, inner) = if *binary { ("bytestring", "byte") } else { ("string", "char") };
            let content = numpy(key, DType::UInt8, &[], json!({ "__array__": inner }));
            let members = json!({ "offsets": "i64", "content": content });
            node("ListOffsetArray", Some(key), members, json!({ "__array__": outer }))
        }
        Form::Categorical { key, .. } => {
            let texts = json_of(&Form::String { key: key.clone(), binary: false });
            let members = json!({ "index": "i32", "content": texts });
            node("IndexedArray", Some(key), members, json!({ "__array__": "categorical" }))
        }
        Form::List { key, content } => {
            let members = json!({ "offsets": "i64", "content": json_of(content) });
            node("ListOffsetArray", Some(key), members, json!({}))
        }
        Form::Regular { size, content } => {
            node("RegularArray", None, json!({ "size": size, "content": json_of(content) }), json!({}))
        }
        Form::Record { fields, contents, name } => {
            let contents: Vec<_> = contents.iter().map(&json_of).collect();
            let parameters = name.as_ref().map_or(json!({}), |name| json!({ "__record__": name }));
            node("RecordArray", None, json!({ "fields": fields, "contents": contents }), parameters)
        }
        Form::Option { key, content } => {
            let members = json!({ "index": "i64", "content": json_of(content) });
            node("IndexedOptionArray", Some(key), members, json!({}))
        }
        Form::Logical { meaning, content } => {
            let mut json = json_of(content);
            let primitive = match &**content {
                Form::Numpy { dtype, .. } if typed => meaning.primitive(*dtype),
                _ => None,
            };
            let says_all = primitive.is_some() && meaning.is_typed();
            if let (Some(primitive), Json::Object(node)) = (primitive, &mut json) {
                node.insert("primitive".into(), primitive.into());
            }
            if says_all {
                return json;
            }
            if let Some(Json::Object(parameters)) = json.get_mut("parameters") {
                parameters.insert("logical".into(), meaning.to_string().into());
            }
            json
        }
        Form::Union { key, contents } => {
            let contents: Vec<_> = contents.iter().map(&json_of).collect();
            let members = json!({ "tags": "i8", "index": "i64", "contents": contents });
            node("UnionArray", Some(key), members, json!({}))
        }
    }
}

fn numpy(key: &str, dtype: DType, shape: &[u64], parameters: Json) -> Json {
    node("NumpyArray", Some(key), json!({ "primitive": dtype.name(), "inner_shape": shape }), parameters)
}

fn node(class: &str, key: Option<&str>, members: Json, parameters: Json) -> Json {
    let mut node = Map::new();
    node.insert("class".into(), class.into());
    if let Json::Object(members) = members {
        node.extend(members);
    }
    node.insert("parameters".into(), parameters);
    node.insert("form_key".into(), key.into());
    Json::Object(node)
}
