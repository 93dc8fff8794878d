//! Single rows as nested values.

use crate::invalid::DEEPEST;
use crate::lookup::Lookup;
use crate::validate::items;
use crate::{Array, Column, DType, Form, Invalid, LogicalType};
use serde::ser::{Serialize, SerializeMap, Serializer};

/// A row of an [`Array`], or a part of one. Records are serialised as maps, tuples and lists as sequences.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// A missing value.
    Null,
    /// A boolean.
    Bool(bool),
    /// A signed integer of any width.
    Int(i64),
    /// An unsigned integer of any width.
    UInt(u64),
    /// A single-precision number, which is kept as such so that it prints with no more digits than it has.
    Float32(f32),
    /// A double-precision number.
    Float64(f64),
    /// Text. Bytes that are not UTF-8 are replaced by U+FFFD.
    String(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// A time or a decimal, as text.
    Logical(String),
    /// A list, or an inner dimension.
    List(Vec<Self>),
    /// A record: names and values of the fields.
    Record(Vec<(String, Self)>),
    /// A tuple.
    Tuple(Vec<Self>),
}

impl Array {
    /// Returns a row, or `Null` if it is out of range.
    pub fn value(&self, row: u64) -> Result<Value, Invalid> {
        if row >= self.length {
            return Ok(Value::Null);
        }
        value(&Node { lookup: &Lookup::of(self), form: &self.form, depth: 0 }, row)
    }

    /// Returns a range of rows, clamped to the array.
    pub fn values(&self, rows: std::ops::Range<u64>) -> Result<Vec<Value>, Invalid> {
        let node = Node { lookup: &Lookup::of(self), form: &self.form, depth: 0 };
        (rows.start..rows.end.min(self.length)).map(|row| value(&node, row)).collect()
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_none(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Int(value) => serializer.serialize_i64(*value),
            Self::UInt(value) => serializer.serialize_u64(*value),
            Self::Float32(value) => serializer.serialize_f32(*value),
            Self::Float64(value) => serializer.serialize_f64(*value),
            Self::String(value) | Self::Logical(value) => serializer.serialize_str(value),
            Self::Bytes(value) => serializer.serialize_bytes(value),
            Self::List(items) | Self::Tuple(items) => serializer.collect_seq(items),
            Self::Record(fields) => {
                let mut map = serializer.serialize_map(Some(fields.len()))?;
                for (name, value) in fields {
                    map.serialize_entry(name, value)?;
                }
                map.end()
            }
        }
    }
}

/// A node of the Form, with the buffers.
pub(crate) struct Node<'a> {
    pub(crate) lookup: &'a Lookup<'a>,
    pub(crate) form: &'a Form,
    pub(crate) depth: u32,
}

/// Value of a row, whose contents are not read yet.
pub(crate) enum Peek<'a> {
    Value(Value),
    /// Content, first row and number of rows of a list.
    List(Node<'a>, u64, u64),
    /// Column, inner dimensions, and first item of a multidimensional row.
    Shape(&'a Column, &'a [u64], u64),
    /// Names, nodes and row of the fields of a record.
    Record(Option<&'a [String]>, Vec<Node<'a>>, u64),
}

impl<'a> Node<'a> {
    /// Reads a row one level deep. Options and unions are resolved.
    pub(crate) fn peek(&self, row: u64) -> Result<Peek<'a>, Invalid> {
        if self.depth > DEEPEST {
            return Err(Invalid::Deep);
        }
        let after = row.checked_add(1).ok_or(Invalid::Overflow { rows: row, each: 1 })?;
        match self.form {
            Form::Empty => Err(Invalid::Unknown { rows: after }),
            Form::Numpy { key, dtype, shape } => {
                let column = self.lookup.column(key, "data", *dtype, items(after, shape)?)?;
                let start = items(row, shape)?;
                Ok(if shape.is_empty() {
                    Peek::Value(number(column, start))
                } else {
                    Peek::Shape(column, shape, start)
                })
            }
            Form::String { key, binary } => {
                let (start, stop) = self.bounds(key, row)?;
                let bytes = self.lookup.column(key, "data", DType::UInt8, stop)?.as_bytes();
                let bytes = &bytes[start as usize..stop as usize]; // both are within the column
                Ok(Peek::Value(if *binary {
                    Value::Bytes(bytes.to_vec())
                } else {
                    Value::String(String::from_utf8_lossy(bytes).into_owned())
                }))
            }
            Form::Categorical { key, categories } => {
                let index = self.lookup.column(key, "index", DType::Int32, after)?;
                let at = index.item::<i32>(row as usize).and_then(|at| usize::try_from(at).ok());
                let text = at.and_then(|at| categories.get(at)).cloned();
                let text = text.ok_or_else(|| Invalid::Range { key: format!("{key}-index"), row })?;
                Ok(Peek::Value(Value::String(text)))
            }
            Form::List { key, content } => {
                let (start, stop) = self.bounds(key, row)?;
                Ok(Peek::List(self.below(content), start, stop - start))
            }
            Form::Regular { size, content } => {
                items(after, &[*size])?;
                Ok(Peek::List(self.below(content), row * size, *size))
            }
            Form::Record { fields, contents, .. } => {
                let nodes = contents.iter().map(|content| self.below(content)).collect();
                Ok(Peek::Record(fields.as_deref(), nodes, row))
            }
            Form::Logical { meaning, content } => Ok(match self.below(content).peek(row)? {
                Peek::Value(value) => Peek::Value(meant(*meaning, content, value, row)?),
                other => other,
            }),
            Form::Option { key, content } => match u64::try_from(self.integer(key, "index", row)?) {
                Ok(at) => self.below(content).peek(at),
                Err(_) => Ok(Peek::Value(Value::Null)),
            },
            Form::Union { key, contents } => {
                let tags = self.lookup.column(key, "tags", DType::Int8, after)?;
                let tag = tags.item::<i8>(row as usize).and_then(|tag| usize::try_from(tag).ok());
                let content = tag.and_then(|tag| contents.get(tag));
                let content = content.ok_or_else(|| Invalid::Range { key: format!("{key}-tags"), row })?;
                let at = u64::try_from(self.integer(key, "index", row)?)
                    .map_err(|_| Invalid::Range { key: format!("{key}-index"), row })?;
                self.below(content).peek(at)
            }
        }
    }

    fn below(&self, form: &'a Form) -> Self {
        Self { lookup: self.lookup, form, depth: self.depth + 1 }
    }

    fn integer(&self, key: &str, part: &str, at: u64) -> Result<i64, Invalid> {
        let needed = at.checked_add(1).ok_or(Invalid::Overflow { rows: at, each: 1 })?;
        let column = self.lookup.column(key, part, DType::Int64, needed)?;
        Ok(column.item(at as usize).unwrap_or(-1)) // it is there: the column is long enough
    }

    fn bounds(&self, key: &str, row: u64) -> Result<(u64, u64), Invalid> {
        let stop = self.integer(key, "offsets", row + 1)?;
        match (u64::try_from(self.integer(key, "offsets", row)?), u64::try_from(stop)) {
            (Ok(start), Ok(stop)) if start <= stop => Ok((start, stop)),
            _ => Err(Invalid::Backwards { key: format!("{key}-offsets"), row }),
        }
    }
}

/// Converts a number or bytes to its logical type; other values are unchanged.
fn meant(meaning: LogicalType, content: &Form, value: Value, row: u64) -> Result<Value, Invalid> {
    Ok(match value {
        Value::Int(number) => meaning.spell_number(number).map_or(value, Value::Logical),
        Value::UInt(bits) if meaning == LogicalType::Half => {
            u16::try_from(bits).map_or(value, |bits| Value::Float32(LogicalType::half(bits)))
        }
        Value::Bytes(bytes) => match meaning.spell_bytes(&bytes) {
            Ok(text) => text.map_or(Value::Bytes(bytes), Value::Logical),
            Err(long) => {
                let key =
                    if let Form::String { key, .. } = content.kept() { key.clone() } else { String::new() };
                return Err(Invalid::Decimal { key, row, long });
            }
        },
        other => other,
    })
}

fn value(node: &Node<'_>, row: u64) -> Result<Value, Invalid> {
    Ok(match node.peek(row)? {
        Peek::Value(value) => value,
        Peek::Shape(column, shape, start) => {
            if shape.contains(&0) {
                bounded(shape.iter().take_while(|size| **size > 0).product())?;
            }
            nested(column, shape, start)
        }
        Peek::List(content, start, count) => {
            if weightless(content.form, 0) {
                bounded(count)?;
            }
            let rows = start..start.saturating_add(count);
            Value::List(rows.map(|at| value(&content, at)).collect::<Result<_, _>>()?)
        }
        Peek::Record(names, contents, at) => {
            let mut values = contents.iter().map(|content| value(content, at));
            match names {
                None => Value::Tuple(values.collect::<Result<_, _>>()?),
                Some(names) => Value::Record(
                    names
                        .iter()
                        .zip(&mut values)
                        .map(|(name, value)| Ok((name.clone(), value?)))
                        .collect::<Result<_, _>>()?,
                ),
            }
        }
    })
}

/// Whether items take no memory in any buffer, so that no buffer limits their number.
fn weightless(form: &Form, depth: u32) -> bool {
    depth <= DEEPEST
        && match form {
            Form::Empty => true,
            Form::Numpy { shape, .. } => shape.contains(&0),
            Form::Regular { size, content } => *size == 0 || weightless(content, depth + 1),
            Form::Record { contents, .. } => contents.iter().all(|content| weightless(content, depth + 1)),
            _ => false,
        }
}

/// Limits the number of items without memory to [`MOST_WEIGHTLESS`].
fn bounded(count: u64) -> Result<(), Invalid> {
    if count > MOST_WEIGHTLESS { Err(Invalid::Overflow { rows: 1, each: count }) } else { Ok(()) }
}

/// Returns inner dimensions as nested lists.
fn nested(column: &Column, shape: &[u64], start: u64) -> Value {
    let Some((outer, inner)) = shape.split_first() else { return number(column, start) };
    if *outer == 0 {
        return Value::List(Vec::new()); // before the product: what is below no items may be any number
    }
    let each: u64 = inner.iter().product();
    Value::List((0..*outer).map(|at| nested(column, inner, start + at * each)).collect())
}

/// Returns an item of a column as a value, or `Null` if it is out of range.
pub(crate) fn number(column: &Column, at: u64) -> Value {
    let Ok(at) = usize::try_from(at) else { return Value::Null };
    let size = column.dtype().size();
    let Some(bytes) = at.checked_mul(size).and_then(|from| column.as_bytes().get(from..from + size)) else {
        return Value::Null;
    };
    let found = match column.dtype() {
        DType::Bool => bytes.first().map(|byte| Value::Bool(*byte != 0)),
        DType::Int8 | DType::Int16 | DType::Int32 | DType::Int64 => {
            column.integer(at).map(|value| Value::Int(value as i64))
        }
        DType::UInt8 | DType::UInt16 | DType::UInt32 | DType::UInt64 => {
            column.integer(at).map(|value| Value::UInt(value as u64))
        }
        DType::Float32 => column.item::<f32>(at).map(Value::Float32),
        DType::Float64 => column.item::<f64>(at).map(Value::Float64),
    };
    found.unwrap_or(Value::Null)
}

const MOST_WEIGHTLESS: u64 = 1 << 16;
