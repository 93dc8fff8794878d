//! Columns as the steps take them: checked offsets, aligned numbers, values and whether they are there.

use crate::{
    buffer::{Buffer, Slice, copied},
    compile::{Leaf, is_list},
    program::Input,
};
use forthwith_columns::{Array, Column, DType, Form};
use std::borrow::Cow;

/// A column, looked at.
pub(super) struct Prepared<'a> {
    /// The offsets of each level that has any, with the column they are in.
    pub(super) levels: Vec<Option<Offsets<'a>>>,
    pub(super) values: Values<'a>,
    /// Whether values are there, if they may not be.
    pub(super) valid: Option<Vec<u8>>,
}

pub(super) struct Offsets<'a> {
    pub(super) items: Cow<'a, [i64]>,
    pub(super) column: &'a Column,
}

pub(super) enum Values<'a> {
    Borrowed(Slice<'a>),
    Owned(Buffer),
    Text(Texts<'a>),
    /// Of columns that nothing is computed of.
    Unused,
}

/// Texts: where each ends, and which one a row has if not its own.
pub(super) struct Texts<'a> {
    offsets: Cow<'a, [i64]>,
    bytes: &'a [u8],
    rows: Option<Vec<i64>>,
}

impl<'a> Values<'a> {
    pub(super) fn numbers(&self) -> Option<Slice<'_>> {
        match self {
            Self::Borrowed(slice) => Some(*slice),
            Self::Owned(buffer) => Some(buffer.slice()),
            Self::Text(_) | Self::Unused => None,
        }
    }
}

impl Texts<'_> {
    /// The text of a row; nothing where it is missing.
    pub(super) fn get(&self, row: usize) -> &[u8] {
        let row = match &self.rows {
            Some(rows) => rows.get(row).and_then(|row| usize::try_from(*row).ok()),
            None => Some(row),
        };
        let found = row.and_then(|row| {
            let (start, end) = (self.offsets.get(row)?, self.offsets.get(row + 1)?);
            self.bytes.get(usize::try_from(*start).ok()?..usize::try_from(*end).ok()?)
        });
        found.unwrap_or_default()
    }
}

/// Looks at an array that a column has.
pub(super) fn prepared<'a>(array: &'a Array, input: &Input, length: u64) -> Result<Prepared<'a>, String> {
    if array.length < length {
        return Err(format!("{} rows of {length}", array.length));
    }
    if !input.used {
        return Ok(Prepared { levels: Vec::new(), values: Values::Unused, valid: None });
    }
    let (wanted, found) = (Leaf::of(&input.form)?, Leaf::of(&array.form)?);
    if wanted != found {
        return Err(format!("{} where {} was promised", array.form.type_string(), input.form.type_string()));
    }
    let mut rows = usize::try_from(length).map_err(|_| "more rows than memory has room for".to_owned())?;
    let (mut levels, mut form) = (Vec::new(), &array.form);
    loop {
        form = match form {
            Form::List { key, content } => {
                let offsets = offsets(array, key, rows)?;
                rows = offsets.items.last().map_or(0, |end| *end as usize);
                levels.push(Some(offsets));
                content
            }
            Form::Regular { size, content } => {
                rows = times(rows, *size)?;
                levels.push(None);
                content
            }
            Form::Option { key, content } if is_list(content) => {
                present(buffer(array, key, "index", DType::Int64)?, rows)?;
                content
            }
            _ => break,
        };
    }
    let (form, index) = match form {
        Form::Option { key, content } => {
            (&**content, Some(integers(buffer(array, key, "index", DType::Int64)?, rows)?))
        }
        other => (other, None),
    };
    let valid = index.as_ref().map(|index| index.iter().map(|at| u8::from(*at >= 0)).collect());
    let values = match form {
        Form::Numpy { key, dtype, shape } => {
            for size in shape {
                rows = times(rows, *size)?;
                levels.push(None);
            }
            let column = buffer(array, key, "data", *dtype)?;
            match index {
                None => numbers(column, rows)?,
                Some(index) => Values::Owned(gathered(&copied(column), &index)?),
            }
        }
        Form::String { key, .. } => Values::Text(texts(array, key, rows, index)?),
        Form::Categorical { key, .. } => {
            let numbers = buffer(array, key, "index", DType::Int32)?;
            let at = |row: usize| numbers.item::<i32>(row).map(i64::from);
            let missing = || format!("a buffer of {} rows", numbers.len());
            let rows = match index {
                None => (0..rows).map(at).collect::<Option<Vec<_>>>().ok_or_else(missing)?,
                Some(index) => {
                    let at = |row: &i64| usize::try_from(*row).map_or(Some(-1), at);
                    index.iter().map(at).collect::<Option<Vec<_>>>().ok_or_else(missing)?
                }
            };
            let count = buffer(array, key, "offsets", DType::Int64)?.len().saturating_sub(1);
            Values::Text(texts(array, key, count, Some(rows.into()))?)
        }
        other => return Err(format!("values of type {}", other.type_string())),
    };
    Ok(Prepared { levels, values, valid })
}

impl PartialEq for Leaf {
    fn eq(&self, other: &Self) -> bool {
        (&self.levels, self.kind, self.lacking) == (&other.levels, other.kind, other.lacking)
    }
}

/// Refuses lists that are missing, and such as stand elsewhere than their row.
fn present(index: &Column, rows: usize) -> Result<(), String> {
    let index = integers(index, rows)?;
    match index.iter().enumerate().find(|(row, at)| usize::try_from(**at) != Ok(*row)) {
        None => Ok(()),
        Some((_, at)) if *at < 0 => Err("one of its lists is missing".into()),
        Some(_) => Err("its lists are not in their places".into()),
    }
}

fn times(rows: usize, size: u64) -> Result<usize, String> {
    let size = usize::try_from(size).ok();
    size.and_then(|size| rows.checked_mul(size)).ok_or_else(|| "more items than memory has room for".into())
}

fn buffer<'a>(array: &'a Array, key: &str, part: &str, dtype: DType) -> Result<&'a Column, String> {
    let name = format!("{key}-{part}");
    match array.column(&name) {
        Some(column) if column.dtype() == dtype => Ok(column),
        Some(column) => Err(format!("buffer {name} holds {}, not {dtype}", column.dtype())),
        None => Err(format!("there is no buffer {name}")),
    }
}

/// The first integers of a column.
fn integers(column: &Column, count: usize) -> Result<Cow<'_, [i64]>, String> {
    let short = || format!("a buffer of {} rows where {count} are needed", column.len());
    match column.as_i64() {
        Some(items) => items.get(..count).map(Cow::Borrowed).ok_or_else(short),
        None => {
            (0..count).map(|at| column.item(at)).collect::<Option<Vec<_>>>().map(Cow::Owned).ok_or_else(short)
        }
    }
}

fn offsets<'a>(array: &'a Array, key: &str, rows: usize) -> Result<Offsets<'a>, String> {
    let column = buffer(array, key, "offsets", DType::Int64)?;
    let items = integers(column, rows + 1)?;
    let ascends =
        items.first().is_none_or(|first| *first >= 0) && items.windows(2).all(|pair| pair[0] <= pair[1]);
    if !ascends {
        return Err("lists that end before they start".into());
    }
    Ok(Offsets { items, column })
}

fn numbers(column: &Column, rows: usize) -> Result<Values<'_>, String> {
    if column.len() < rows {
        return Err(format!("a buffer of {} items where {rows} are needed", column.len()));
    }
    if column.dtype() == DType::Bool && column.as_bytes().iter().all(|byte| *byte <= 1) {
        return Ok(Values::Borrowed(Slice::UInt8(column.as_bytes())));
    }
    Ok(Slice::of(column).map_or_else(|| Values::Owned(copied(column)), Values::Borrowed))
}

fn gathered(from: &Buffer, index: &[i64]) -> Result<Buffer, String> {
    use crate::buffer::{Item, with_type};
    use forthwith_columns::Native;
    macro_rules! gather {
        ($number:ident) => {{
            let from = $number::in_slice(from.slice());
            let at = |at: &i64| match usize::try_from(*at) {
                Ok(at) => from.get(at).copied().ok_or(at),
                Err(_) => Ok($number::default()),
            };
            let items = index.iter().map(at).collect::<Result<Vec<$number>, usize>>();
            $number::buffer(items.map_err(|at| format!("row {at} is meant of {}", from.len()))?)
        }};
    }
    let dtype = with_slice_type(from.slice());
    Ok(with_type!(dtype, T => { let _ = T::DTYPE; gather!(T) }))
}

/// The type of numbers.
fn with_slice_type(slice: Slice<'_>) -> DType {
    match slice {
        Slice::Int8(_) => DType::Int8,
        Slice::Int16(_) => DType::Int16,
        Slice::Int32(_) => DType::Int32,
        Slice::Int64(_) => DType::Int64,
        Slice::UInt8(_) => DType::UInt8,
        Slice::UInt16(_) => DType::UInt16,
        Slice::UInt32(_) => DType::UInt32,
        Slice::UInt64(_) => DType::UInt64,
        Slice::Float32(_) => DType::Float32,
        Slice::Float64(_) => DType::Float64,
    }
}

fn texts<'a>(
    array: &'a Array,
    key: &str,
    rows: usize,
    index: Option<Cow<'a, [i64]>>,
) -> Result<Texts<'a>, String> {
    let column = buffer(array, key, "offsets", DType::Int64)?;
    let count = if index.is_some() { column.len() } else { rows + 1 };
    let offsets = integers(column, count)?;
    let bytes = buffer(array, key, "data", DType::UInt8)?.as_bytes();
    Ok(Texts { offsets, bytes, rows: index.map(Cow::into_owned) })
}
