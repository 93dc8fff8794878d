//! Conversion of Forms to Arrow types.

use super::{ExportError, Options};
use crate::invalid::DEEPEST;
use crate::{DType, Form, Invalid, LogicalType, TimeUnit};
use arrow_schema::{DataType, Field, Fields, UnionFields, UnionMode};
use std::{collections::HashMap, sync::Arc};

pub(super) fn field(form: &Form, name: &str, options: &Options) -> Result<Field, ExportError> {
    nested(form, name, options, false, 0)
}

/// Returns the Arrow type of a Form. `missing` says whether an enclosing option makes its fields nullable.
pub(super) fn data_type(form: &Form, options: &Options, missing: bool) -> Result<DataType, ExportError> {
    Ok(nested(form, "", options, missing, 0)?.data_type().clone())
}

fn nested(
    form: &Form,
    name: &str,
    options: &Options,
    missing: bool,
    depth: u32,
) -> Result<Field, ExportError> {
    if depth > DEEPEST {
        return Err(Invalid::Deep.into());
    }
    let inside = |form: &Form, name: &str, missing: bool| nested(form, name, options, missing, depth + 1);
    let below = |form: &Form, name: &str| inside(form, name, false);
    let data_type = match form {
        Form::Empty => DataType::Null,
        Form::Numpy { key, dtype, shape } => shape
            .iter()
            .rev()
            .try_fold(primitive(*dtype), |inner, size| fixed(Field::new("item", inner, false), *size, key))?,
        Form::String { binary, .. } => match (*binary || options.binary, options.views) {
            (true, true) => DataType::BinaryView,
            (false, true) => DataType::Utf8View,
            (binary, false) => text(binary),
        },
        Form::Categorical { .. } => {
            DataType::Dictionary(Box::new(DataType::Int32), Box::new(text(options.binary)))
        }
        Form::List { content, .. } if let Some((key, value)) = pair(content, options) => {
            let fields = vec![below(key, "key")?, below(value, "value")?];
            DataType::Map(Arc::new(Field::new("key_value", DataType::Struct(fields.into()), false)), false)
        }
        Form::List { content, .. } => DataType::LargeList(Arc::new(below(content, "item")?)),
        Form::Regular { size, content } => fixed(below(content, "item")?, *size, "")?,
        Form::Record { fields, contents, .. } => {
            let named = contents.iter().enumerate().map(|(at, content)| {
                let field = inside(content, &slot(fields, at), missing)?;
                let list = matches!(field.data_type(), DataType::FixedSizeList(..));
                let nullable = field.is_nullable() || (options.missing_lists && missing && list);
                Ok::<_, ExportError>(field.with_nullable(nullable))
            });
            DataType::Struct(named.collect::<Result<Fields, _>>()?)
        }
        Form::Logical { meaning, content } => match meant(*meaning, content) {
            Some(data_type) => data_type,
            None => return inside(content, name, missing),
        },
        Form::Option { content, .. } => {
            return Ok(inside(content, name, true)?.with_nullable(true));
        }
        Form::Union { key, contents } => {
            // All alternatives are nullable: a null of an option around the union is stored in one of them.
            let names = if options.union_as_struct { alternatives(contents) } else { Vec::new() };
            let fields = contents.iter().enumerate().map(|(tag, content)| {
                let name = names.get(tag).cloned().unwrap_or_else(|| tag.to_string());
                Ok(inside(content, &name, true)?.with_nullable(true))
            });
            let fields = fields.collect::<Result<Vec<_>, ExportError>>()?;
            if options.union_as_struct {
                DataType::Struct(fields.into())
            } else {
                let tags = i8::try_from(fields.len()).map_err(|_| ExportError::Long { key: key.clone() })?;
                DataType::Union(UnionFields::try_new(0..tags, fields)?, UnionMode::Dense)
            }
        }
    };
    // A union's nulls are those of its alternatives.
    let has_option =
        |contents: &[Form]| contents.iter().any(|content| matches!(content, Form::Option { .. }));
    let nullable = data_type == DataType::Null
        || matches!(form, Form::Union { contents, .. } if !options.union_as_struct && has_option(contents));
    Ok(Field::new(name, data_type, nullable))
}

/// Names each alternative of a union after its type, and numbers those of equal type strings, such as `bytes`
/// and `bytes 2` for two sizes of Avro's `fixed`.
fn alternatives(contents: &[Form]) -> Vec<String> {
    let mut spelled: HashMap<String, u32> = HashMap::new();
    let named = contents.iter().map(|content| {
        let plain = content.type_string();
        let times = spelled.entry(plain.clone()).and_modify(|times| *times += 1).or_insert(1);
        if *times == 1 { plain } else { format!("{plain} {times}") }
    });
    named.collect()
}

/// Returns the Arrow type of a logical type, if Arrow has one for its content.
pub(super) fn meant(meaning: LogicalType, content: &Form) -> Option<DataType> {
    let unit = |unit| match unit {
        TimeUnit::Second => arrow_schema::TimeUnit::Second,
        TimeUnit::Milli => arrow_schema::TimeUnit::Millisecond,
        TimeUnit::Micro => arrow_schema::TimeUnit::Microsecond,
        TimeUnit::Nano => arrow_schema::TimeUnit::Nanosecond,
    };
    let dtype = match content {
        Form::Numpy { dtype, shape, .. } if shape.is_empty() => Some(*dtype),
        _ => None,
    };
    Some(match (meaning, dtype) {
        (LogicalType::Half, Some(DType::UInt16)) => DataType::Float16,
        (LogicalType::Decimal { precision, scale }, Some(DType::Int32 | DType::Int64)) => {
            // A claimed precision beyond Arrow's maximum is clamped to it.
            DataType::Decimal128(precision.min(38) as u8, i8::try_from(scale).ok()?)
        }
        (LogicalType::Decimal { precision, scale }, None) if matches!(content, Form::String { .. }) => {
            let (precision, scale) = (u8::try_from(precision).ok()?, i8::try_from(scale).ok()?);
            match precision {
                0..=38 => DataType::Decimal128(precision, scale),
                39..=76 => DataType::Decimal256(precision, scale),
                _ => return None,
            }
        }
        (LogicalType::Duration(of), Some(DType::Int64)) => DataType::Duration(unit(of)),
        (LogicalType::Date, Some(DType::Int32)) => DataType::Date32,
        (LogicalType::Time(TimeUnit::Milli), Some(DType::Int32)) => DataType::Time32(unit(TimeUnit::Milli)),
        (LogicalType::Time(of @ (TimeUnit::Micro | TimeUnit::Nano)), Some(DType::Int64)) => {
            DataType::Time64(unit(of))
        }
        (LogicalType::Timestamp { unit: of, zone }, Some(DType::Int64)) => {
            DataType::Timestamp(unit(of), zone.map(|zone| zone.name().into()))
        }
        _ => return None,
    })
}

/// Returns key and value of an item if its lists are exported as maps: a pair that starts with text, or that
/// is [marked as a map entry](crate::MAP).
pub(super) fn pair<'f>(item: &'f Form, options: &Options) -> Option<(&'f Form, &'f Form)> {
    match item {
        Form::Record { fields: None, contents, name } if options.maps => match &contents[..] {
            [key @ Form::String { binary: false, .. }, value] => Some((key, value)),
            // Keys must not be null.
            [Form::Option { .. } | Form::Empty, _] => None,
            [key, value] if name.as_deref() == Some(crate::MAP) => Some((key, value)),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the name of field `at` of a record, or its number in a tuple.
fn slot(names: &Option<Vec<String>>, at: usize) -> String {
    names.as_ref().and_then(|names| names.get(at).cloned()).unwrap_or_else(|| at.to_string())
}

fn fixed(item: Field, size: u64, key: &str) -> Result<DataType, ExportError> {
    let size = i32::try_from(size).map_err(|_| ExportError::Long { key: key.into() })?;
    Ok(DataType::FixedSizeList(Arc::new(item), size))
}

fn text(binary: bool) -> DataType {
    if binary { DataType::LargeBinary } else { DataType::LargeUtf8 }
}

fn primitive(dtype: DType) -> DataType {
    match dtype {
        DType::Bool => DataType::Boolean,
        DType::Int8 => DataType::Int8,
        DType::Int16 => DataType::Int16,
        DType::Int32 => DataType::Int32,
        DType::Int64 => DataType::Int64,
        DType::UInt8 => DataType::UInt8,
        DType::UInt16 => DataType::UInt16,
        DType::UInt32 => DataType::UInt32,
        DType::UInt64 => DataType::UInt64,
        DType::Float32 => DataType::Float32,
        DType::Float64 => DataType::Float64,
    }
}
