//! Default values: from JSON in a schema to encoded bytes.

use crate::schema::{Field, Id, Kind, Schema};
use forthwith_encode::zigzag;
use serde_json::Value as Json;

/// Maximum depth of nested values: the default of a record may contain the record.
const MAX_DEPTH: usize = 64;
/// Maximum size of an encoded default in bytes.
const MAX_BYTES: usize = 1 << 20;
/// Maximum number of values that are tried for one default. Without a limit, nested unions take exponential
/// time.
const MAX_VALUES: usize = 1 << 16;

/// Encodes the default value of a field; returns `None` if the field has no default.
///
/// # Errors
/// Returns an error if the default is not a value of the type of the field.
pub fn encode_default(schema: &Schema, field: &Field) -> Result<Option<Vec<u8>>, String> {
    let bytes = field.default.as_ref().map(|json| encode(schema, field.schema, json)).transpose();
    bytes.map_err(|why| format!("the default of field {:?}: {why}", field.name))
}

/// Encodes a default value.
pub(crate) fn encode(schema: &Schema, id: Id, json: &Json) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    value(schema, id, json, &mut bytes, 0, &mut 0)?;
    Ok(bytes)
}

fn value(
    schema: &Schema,
    id: Id,
    json: &Json,
    out: &mut Vec<u8>,
    depth: usize,
    values: &mut usize,
) -> Result<(), String> {
    *values += 1;
    if depth > MAX_DEPTH || out.len() > MAX_BYTES || *values > MAX_VALUES {
        return Err("too deep or too long".into());
    }
    let wrong = || format!("{json} is no {}", schema.describe(id));
    let mut below = |id: Id, json: &Json, out: &mut Vec<u8>| value(schema, id, json, out, depth + 1, values);
    match &schema.get(id).kind {
        Kind::Null => json.as_null().ok_or_else(wrong)?,
        Kind::Boolean => out.push(json.as_bool().ok_or_else(wrong)?.into()),
        Kind::Int => {
            let number = json.as_i64().filter(|number| i32::try_from(*number).is_ok());
            zigzag(number.ok_or_else(wrong)?, out);
        }
        Kind::Long => zigzag(json.as_i64().ok_or_else(wrong)?, out),
        Kind::Float => out.extend((float(json).ok_or_else(wrong)? as f32).to_le_bytes()),
        Kind::Double => out.extend(float(json).ok_or_else(wrong)?.to_le_bytes()),
        Kind::String => {
            let text = json.as_str().ok_or_else(wrong)?;
            zigzag(text.len() as i64, out);
            out.extend(text.as_bytes());
        }
        Kind::Bytes => {
            let bytes = bytes(json).ok_or_else(wrong)?;
            zigzag(bytes.len() as i64, out);
            out.extend(bytes);
        }
        Kind::Fixed { size, .. } => {
            let bytes = bytes(json).filter(|bytes| bytes.len() as u64 == *size);
            out.extend(bytes.ok_or_else(wrong)?);
        }
        Kind::Enum { symbols, .. } => {
            let symbol = json.as_str().and_then(|name| symbols.iter().position(|symbol| symbol == name));
            zigzag(symbol.ok_or_else(wrong)? as i64, out);
        }
        Kind::Array(item) => {
            let items = json.as_array().ok_or_else(wrong)?;
            if !items.is_empty() {
                zigzag(items.len() as i64, out);
                items.iter().try_for_each(|json| below(*item, json, out))?;
            }
            out.push(0);
        }
        Kind::Map(item) => {
            let items = json.as_object().ok_or_else(wrong)?;
            if !items.is_empty() {
                zigzag(items.len() as i64, out);
                for (name, json) in items {
                    zigzag(name.len() as i64, out);
                    out.extend(name.as_bytes());
                    below(*item, json, out)?;
                }
            }
            out.push(0);
        }
        Kind::Union(branches) => {
            // Older versions of the specification demand the first branch, newer ones allow any.
            let start = out.len();
            for (number, branch) in branches.iter().enumerate() {
                zigzag(number as i64, out);
                if below(*branch, json, out).is_ok() {
                    return Ok(());
                }
                out.truncate(start);
            }
            return Err(wrong());
        }
        Kind::Record { fields, .. } => {
            let given = json.as_object().ok_or_else(wrong)?;
            for field in fields {
                let json = given.get(&field.name).or(field.default.as_ref());
                below(field.schema, json.ok_or_else(wrong)?, out)?;
            }
        }
    }
    Ok(())
}

/// Converts a string to bytes, one for each character; `None` if a character is above U+00FF.
fn bytes(json: &Json) -> Option<Vec<u8>> {
    json.as_str()?.chars().map(|c| u8::try_from(u32::from(c)).ok()).collect()
}

fn float(json: &Json) -> Option<f64> {
    match json {
        Json::String(text) => match text.as_str() {
            "NaN" | "nan" => Some(f64::NAN),
            "Infinity" | "INF" | "inf" => Some(f64::INFINITY),
            "-Infinity" | "-INF" | "-inf" => Some(f64::NEG_INFINITY),
            _ => None,
        },
        number => number.as_f64(),
    }
}
