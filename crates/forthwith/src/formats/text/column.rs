//! Columns prepared for formatting: buffers are looked up once, and values are appended to the text without
//! an allocation for each.

use forthwith_columns::{Array, Column, DType, Form, Invalid, LogicalType, Lookup, MAP, Native};
use std::borrow::Cow;

/// The nodes of a Form with their buffers.
pub(super) enum Spelled<'a> {
    /// Column of unknown type without values.
    Empty,
    Number(Numbers<'a>),
    Text {
        key: &'a str,
        offsets: Items<'a, i64>,
        bytes: &'a [u8],
        binary: bool,
    },
    Category {
        key: &'a str,
        index: Items<'a, i32>,
        categories: &'a [String],
    },
    List {
        key: &'a str,
        offsets: Items<'a, i64>,
        content: Box<Self>,
        weightless: bool,
    },
    /// Lists of pairs whose keys are text, which become JSON objects.
    Map {
        key: &'a str,
        offsets: Items<'a, i64>,
        names: Box<Self>,
        values: Box<Self>,
    },
    Regular {
        size: u64,
        content: Box<Self>,
        weightless: bool,
    },
    Record {
        names: Option<&'a [String]>,
        contents: Vec<Self>,
    },
    Logical {
        meaning: LogicalType,
        content: Box<Self>,
    },
    Option {
        key: &'a str,
        index: Items<'a, i64>,
        content: Box<Self>,
    },
    Union {
        key: &'a str,
        tags: Items<'a, i8>,
        index: Items<'a, i64>,
        contents: Vec<Self>,
    },
}

/// Items of a buffer, which are copied only if it is not aligned.
pub(super) struct Items<'a, T: Clone>(Cow<'a, [T]>);

/// Numbers of one type.
pub(super) enum Numbers<'a> {
    Bool(&'a [u8]),
    Int8(Items<'a, i8>),
    Int16(Items<'a, i16>),
    Int32(Items<'a, i32>),
    Int64(Items<'a, i64>),
    UInt8(Items<'a, u8>),
    UInt16(Items<'a, u16>),
    UInt32(Items<'a, u32>),
    UInt64(Items<'a, u64>),
    Float32(Items<'a, f32>),
    Float64(Items<'a, f64>),
}

/// Upper bound on the depth of a Form, which exceeds the depth of types in files.
const DEEPEST: u32 = 256;

impl<'a, T: Native + Clone> Items<'a, T> {
    fn of(column: &'a Column) -> Self {
        Self(match column.items::<T>() {
            Some(items) => Cow::Borrowed(items),
            None => (0..column.len()).filter_map(|at| column.item(at)).collect::<Vec<_>>().into(),
        })
    }
}

impl<T: Copy> Items<'_, T> {
    pub(super) fn at(&self, row: u64) -> Option<T> {
        usize::try_from(row).ok().and_then(|row| self.0.get(row)).copied()
    }
}

impl Items<'_, i64> {
    /// Returns the begin and end of a list.
    pub(super) fn bounds(&self, row: u64, key: &str) -> Result<(u64, u64), Invalid> {
        let at = |row| self.at(row).and_then(|at| u64::try_from(at).ok());
        match (at(row), row.checked_add(1).and_then(at)) {
            (Some(start), Some(stop)) if start <= stop => Ok((start, stop)),
            _ => Err(Invalid::Backwards { key: format!("{key}-offsets"), row }),
        }
    }
}

impl<'a> Spelled<'a> {
    /// Looks up the buffers of an array.
    pub(super) fn of(array: &'a Array) -> Result<Self, Invalid> {
        Self::node(&array.form, &Lookup::of(array), 0)
    }

    fn node(form: &'a Form, columns: &Lookup<'a>, depth: u32) -> Result<Self, Invalid> {
        if depth > DEEPEST {
            return Err(Invalid::Deep);
        }
        let buffer = |key: &str, part: &str, wanted: DType| columns.column(key, part, wanted, 0);
        let below = |form: &'a Form| Self::node(form, columns, depth + 1);
        Ok(match form {
            Form::Empty => Self::Empty,
            Form::Numpy { key, dtype, shape } => {
                let numbers = Self::Number(Numbers::of(buffer(key, "data", *dtype)?));
                shape.iter().rev().fold(numbers, |content, size| Self::Regular {
                    size: *size,
                    weightless: *size == 0 || content.is_weightless(),
                    content: Box::new(content),
                })
            }
            Form::String { key, binary } => Self::Text {
                key,
                offsets: Items::of(buffer(key, "offsets", DType::Int64)?),
                bytes: buffer(key, "data", DType::UInt8)?.as_bytes(),
                binary: *binary,
            },
            Form::Categorical { key, categories } => {
                Self::Category { key, index: Items::of(buffer(key, "index", DType::Int32)?), categories }
            }
            Form::List { key, content } => {
                let offsets = Items::of(buffer(key, "offsets", DType::Int64)?);
                match pair(content) {
                    Some((names, values)) => {
                        let (names, values) = (Box::new(below(names)?), Box::new(below(values)?));
                        Self::Map { key, offsets, names, values }
                    }
                    None => {
                        let content = Box::new(below(content)?);
                        Self::List { key, offsets, weightless: content.is_weightless(), content }
                    }
                }
            }
            Form::Regular { size, content } => {
                let content = Box::new(below(content)?);
                Self::Regular { size: *size, weightless: content.is_weightless(), content }
            }
            Form::Record { fields, contents, .. } => {
                let contents = contents.iter().map(below).collect::<Result<_, _>>()?;
                Self::Record { names: fields.as_deref(), contents }
            }
            Form::Logical { meaning, content } => {
                Self::Logical { meaning: *meaning, content: Box::new(below(content)?) }
            }
            Form::Option { key, content } => Self::Option {
                key,
                index: Items::of(buffer(key, "index", DType::Int64)?),
                content: Box::new(below(content)?),
            },
            Form::Union { key, contents } => Self::Union {
                key,
                tags: Items::of(buffer(key, "tags", DType::Int8)?),
                index: Items::of(buffer(key, "index", DType::Int64)?),
                contents: contents.iter().map(below).collect::<Result<_, _>>()?,
            },
            // New kinds of Forms are noticed by the tests of this module.
            _ => return Err(Invalid::Unknown { rows: 0 }),
        })
    }

    /// Whether items take no bytes in any buffer, so that the length of the buffers does not bound their
    /// number.
    fn is_weightless(&self) -> bool {
        match self {
            Self::Empty => true,
            Self::Regular { size, weightless, .. } => *size == 0 || *weightless,
            Self::Record { contents, .. } => contents.iter().all(Self::is_weightless),
            _ => false,
        }
    }
}

/// Returns the Forms of key and value if lists of such items are maps with text keys.
fn pair(item: &Form) -> Option<(&Form, &Form)> {
    let Form::Record { fields: None, contents, name } = item else { return None };
    match &contents[..] {
        [key @ Form::String { binary: false, .. }, value] => Some((key, value)),
        [key @ Form::Categorical { .. }, value] if name.as_deref() == Some(MAP) => Some((key, value)),
        _ => None,
    }
}

impl<'a> Numbers<'a> {
    fn of(column: &'a Column) -> Self {
        match column.dtype() {
            DType::Bool => Self::Bool(column.as_bytes()),
            DType::Int8 => Self::Int8(Items::of(column)),
            DType::Int16 => Self::Int16(Items::of(column)),
            DType::Int32 => Self::Int32(Items::of(column)),
            DType::Int64 => Self::Int64(Items::of(column)),
            DType::UInt8 => Self::UInt8(Items::of(column)),
            DType::UInt16 => Self::UInt16(Items::of(column)),
            DType::UInt32 => Self::UInt32(Items::of(column)),
            DType::UInt64 => Self::UInt64(Items::of(column)),
            DType::Float32 => Self::Float32(Items::of(column)),
            DType::Float64 => Self::Float64(Items::of(column)),
        }
    }

    /// Returns the integer at a row; `None` for booleans, floating-point numbers, and integers beyond `i64`.
    pub(super) fn whole(&self, row: u64) -> Option<i64> {
        match self {
            Self::Int8(items) => items.at(row).map(i64::from),
            Self::Int16(items) => items.at(row).map(i64::from),
            Self::Int32(items) => items.at(row).map(i64::from),
            Self::Int64(items) => items.at(row),
            Self::UInt8(items) => items.at(row).map(i64::from),
            Self::UInt16(items) => items.at(row).map(i64::from),
            Self::UInt32(items) => items.at(row).map(i64::from),
            Self::UInt64(items) => items.at(row).and_then(|number| i64::try_from(number).ok()),
            Self::Bool(_) | Self::Float32(_) | Self::Float64(_) => None,
        }
    }
}
