//! Columns prepared for the steps: validated offsets, aligned numbers, values and validity.

use crate::{
    buffer::{Buffer, Slice, copied},
    compile::{Leaf, is_list},
    program::{Input, Kind},
};
use forthwith_columns::{Array, Column, DType, Form, decimal_count};
use std::borrow::Cow;

/// A prepared column.
pub(super) struct Prepared<'a> {
    /// Offsets of each level of lists, together with their column; `None` for lists of fixed length.
    pub(super) levels: Vec<Option<Offsets<'a>>>,
    pub(super) values: Values<'a>,
    /// Validity of each value, if values are optional.
    pub(super) valid: Option<Vec<u8>>,
    /// Validity of the lists of each level, if they are optional.
    pub(super) lists: Vec<Option<Vec<u8>>>,
    /// Whether no value or list is missing.
    pub(super) is_whole: bool,
}

pub(super) struct Offsets<'a> {
    pub(super) items: Cow<'a, [i64]>,
    /// The column that has exactly these offsets, if there is one.
    pub(super) column: Option<&'a Column>,
}

pub(super) enum Values<'a> {
    Borrowed(Slice<'a>),
    Owned(Buffer),
    Text(Texts<'a>),
    /// Values that are not used; only their validity may be.
    Unused,
}

/// Texts: their offsets, and the index of each row's text if it is not its own.
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
    /// Returns the text of a row, which is empty if it is missing.
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

/// Prepares an array for an input of a program.
pub(super) fn prepared<'a>(array: &'a Array, input: &Input, length: u64) -> Result<Prepared<'a>, String> {
    if array.length < length {
        return Err(format!("{} rows of {length}", array.length));
    }
    if !input.used {
        let (levels, lists) = (Vec::new(), Vec::new());
        return Ok(Prepared { levels, values: Values::Unused, valid: None, lists, is_whole: true });
    }
    let (wanted, found) = (Leaf::of(&input.form), Leaf::of(&array.form));
    if wanted != found {
        return Err(format!("{} where {} was promised", array.form.type_string(), input.form.type_string()));
    }
    let mut rows = usize::try_from(length).map_err(|_| "row count overflows usize".to_owned())?;
    let (mut levels, mut lists, mut form) = (Vec::new(), Vec::new(), &array.form);
    let mut around: Option<Around<'_>> = None;
    loop {
        form = match form {
            Form::List { key, content } => {
                let outer = around.take();
                let offsets = match outer.as_ref().filter(|outer| !outer.is_identity) {
                    None => offsets(array, key, rows)?,
                    Some(outer) => placed(array, key, &outer.index)?,
                };
                rows = offsets.items.last().map_or(0, |end| *end as usize);
                levels.push(Some(offsets));
                lists.push(outer.map(|outer| outer.there()));
                content
            }
            Form::Regular { size, content } => {
                let outer = around.take();
                if outer.as_ref().is_some_and(|outer| !outer.is_identity) {
                    return Err("missing or reordered lists of a fixed length are not supported".into());
                }
                rows = times(rows, *size)?;
                levels.push(None);
                lists.push(outer.map(|outer| outer.there()));
                content
            }
            Form::Option { key, content } if is_list(content) => {
                if around.is_some() {
                    return Err("nested option types around a list are not supported".into());
                }
                around = Some(Around::of(integers(buffer(array, key, "index", DType::Int64)?, rows)?));
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
    let index = index.map(Around::of);
    let valid = index.as_ref().map(Around::there);
    let values = match meant(form) {
        _ if found.kind.is_err() => Values::Unused,
        Form::Numpy { key, dtype, shape } => {
            for size in shape {
                rows = times(rows, *size)?;
                levels.push(None);
            }
            let column = buffer(array, key, "data", *dtype)?;
            match index {
                Some(Around { index, is_identity: false }) => {
                    Values::Owned(gathered(&copied(column), &index)?)
                }
                _ => numbers(column, rows)?,
            }
        }
        Form::String { key, .. } if matches!(found.kind, Ok(Kind::Time(..))) => {
            let bytes = texts(array, key, rows, index.map(|index| index.index))?;
            let rows = 0..valid.as_ref().map_or(rows, Vec::len);
            Values::Owned(Buffer::Int64(
                rows.map(|row| decimal_count(bytes.get(row))).collect::<Option<_>>().ok_or(LONG)?,
            ))
        }
        Form::String { key, .. } => Values::Text(texts(array, key, rows, index.map(|index| index.index))?),
        Form::Categorical { key, .. } => {
            let numbers = buffer(array, key, "index", DType::Int32)?;
            let at = |row: usize| numbers.item::<i32>(row).map(i64::from);
            let missing = || format!("a buffer of {} rows", numbers.len());
            let rows = match index {
                None => (0..rows).map(at).collect::<Option<Vec<_>>>().ok_or_else(missing)?,
                Some(Around { index, .. }) => {
                    let at = |row: &i64| usize::try_from(*row).map_or(Some(-1), at);
                    index.iter().map(at).collect::<Option<Vec<_>>>().ok_or_else(missing)?
                }
            };
            let count = buffer(array, key, "offsets", DType::Int64)?.len().saturating_sub(1);
            Values::Text(texts(array, key, count, Some(rows.into()))?)
        }
        other => return Err(format!("values of type {}", other.type_string())),
    };
    let all = |there: &Vec<u8>| !there.contains(&0);
    let is_whole = valid.as_ref().is_none_or(all) && lists.iter().flatten().all(all);
    Ok(Prepared { levels, values, valid, lists, is_whole })
}

/// Error for decimals that exceed 64 bits.
const LONG: &str = "decimals of more than 18 digits cannot be computed with";

/// Returns the Form of the stored values, without their logical type.
fn meant(form: &Form) -> &Form {
    match form {
        Form::Logical { content, .. } => content,
        other => other,
    }
}

/// Index of an option around lists or values.
struct Around<'a> {
    index: Cow<'a, [i64]>,
    /// Whether each row refers to itself, so that none is missing.
    is_identity: bool,
}

impl<'a> Around<'a> {
    fn of(index: Cow<'a, [i64]>) -> Self {
        let is_identity = index.iter().enumerate().all(|(row, at)| *at == row as i64);
        Self { index, is_identity }
    }

    /// Returns the validity of each row.
    fn there(&self) -> Vec<u8> {
        self.index.iter().map(|at| u8::from(*at >= 0)).collect()
    }
}

/// Returns the offsets of the lists that an index refers to. Missing lists are empty.
fn placed<'a>(array: &'a Array, key: &str, index: &[i64]) -> Result<Offsets<'a>, String> {
    let column = buffer(array, key, "offsets", DType::Int64)?;
    let offsets = integers(column, column.len())?;
    let bounds = |at: &i64| {
        let at = usize::try_from(*at).ok()?;
        Some((*offsets.get(at)?, *offsets.get(at.checked_add(1)?)?))
    };
    let first = index.iter().find(|at| **at >= 0).and_then(bounds).map_or(0, |(start, _)| start);
    let mut items = Vec::with_capacity(index.len() + 1);
    items.push(first);
    let mut end = first;
    for at in index {
        if *at >= 0 {
            let count = offsets.len().saturating_sub(1);
            let missing = || format!("list index {at} is out of range: there are {count} lists");
            let (start, stop) = bounds(at).ok_or_else(missing)?;
            if start < 0 || stop < start {
                return Err("list offsets are negative or decrease".into());
            }
            if start != end {
                return Err(format!(
                    "list offsets are not contiguous: list {at} starts at {start}, expected {end}"
                ));
            }
            end = stop;
        }
        items.push(end);
    }
    Ok(Offsets { items: items.into(), column: None })
}

fn times(rows: usize, size: u64) -> Result<usize, String> {
    let size = usize::try_from(size).ok();
    size.and_then(|size| rows.checked_mul(size)).ok_or_else(|| "item count overflows usize".into())
}

fn buffer<'a>(array: &'a Array, key: &str, part: &str, dtype: DType) -> Result<&'a Column, String> {
    let name = format!("{key}-{part}");
    match array.column(&name) {
        Some(column) if column.dtype() == dtype => Ok(column),
        Some(column) => Err(format!("buffer {name} holds {}, not {dtype}", column.dtype())),
        None => Err(format!("there is no buffer {name}")),
    }
}

/// Returns the first `count` integers of a column.
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
    // Without an early exit, so that the loop is vectorized.
    let ascends = items.windows(2).fold(true, |ascends, pair| ascends & (pair[0] <= pair[1]))
        && items.first().is_none_or(|first| *first >= 0);
    if !ascends {
        return Err("list offsets are negative or decrease".into());
    }
    Ok(Offsets { items, column: Some(column) })
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
    with_type!(from.slice().dtype(), T => {
        let from = T::in_slice(from.slice());
        let at = |at: &i64| match usize::try_from(*at) {
            Ok(at) => from.get(at).copied().ok_or(at),
            Err(_) => Ok(T::default()),
        };
        let items = index.iter().map(at).collect::<Result<Vec<T>, usize>>();
        let missing = |at| format!("row index {at} is out of range: there are {} rows", from.len());
        Ok(T::buffer(items.map_err(missing)?))
    })
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
