//! Validation of columns against their Form.

use crate::invalid::DEEPEST;
use crate::lookup::Lookup;
use crate::{Array, DType, Form, Invalid, kernels};

impl Array {
    /// Checks that every buffer of the Form exists, has its type and is long enough, that offsets never
    /// decrease, and that offsets, indexes and tags are in range. Text is not checked to be UTF-8.
    pub fn validate(&self) -> Result<(), Invalid> {
        self.validate_by(1)
    }

    /// Validates like [`validate`](Self::validate), with up to `threads` threads for many offsets.
    pub fn validate_by(&self, threads: usize) -> Result<(), Invalid> {
        walk(&Lookup::of(self), &self.form, self.length, threads, 0)
    }
}

fn walk(lookup: &Lookup<'_>, form: &Form, length: u64, threads: usize, depth: u32) -> Result<(), Invalid> {
    if depth > DEEPEST {
        return Err(Invalid::Deep);
    }
    let below = |content: &Form, length: u64| walk(lookup, content, length, threads, depth + 1);
    let offsets_end = |key: &str, length: u64| offsets_end_by(lookup, key, length, threads);
    match form {
        Form::Empty if length > 0 => Err(Invalid::Unknown { rows: length }),
        Form::Empty => Ok(()),
        Form::Numpy { key, dtype, shape } => {
            lookup.column(key, "data", *dtype, items(length, shape)?).map(drop)
        }
        Form::String { key, .. } => {
            let bytes = offsets_end(key, length)?;
            lookup.column(key, "data", DType::UInt8, bytes).map(drop)
        }
        Form::Categorical { key, categories } => {
            let index = lookup.column(key, "index", DType::Int32, length)?;
            let count = categories.len();
            let beyond =
                |at: &[u8; 4]| usize::try_from(i32::from_ne_bytes(*at)).map_or(true, |at| at >= count);
            let numbers = &index.as_bytes().as_chunks::<4>().0[..length as usize];
            if let Some(row) = numbers.iter().position(beyond) {
                return Err(Invalid::Range { key: format!("{key}-index"), row: row as u64 });
            }
            let bytes = offsets_end(key, count as u64)?;
            lookup.column(key, "data", DType::UInt8, bytes).map(drop)
        }
        Form::List { key, content } => below(content, offsets_end(key, length)?),
        Form::Regular { size, content } => below(content, items(length, &[*size])?),
        Form::Record { fields, contents, .. } => {
            if let Some(names) = fields
                && names.len() != contents.len()
            {
                return Err(Invalid::Names { names: names.len(), contents: contents.len() });
            }
            contents.iter().try_for_each(|content| below(content, length))
        }
        Form::Logical { content, .. } => below(content, length),
        Form::Option { key, content } => {
            if lookup.is_complete(key, length)? {
                return below(content, length);
            }
            below(content, lookup.rows_there(key, length)?)
        }
        Form::Union { key, contents } => {
            let lengths = union_lengths(lookup, key, contents.len(), length)?;
            contents.iter().zip(lengths).try_for_each(|(content, rows)| below(content, rows))
        }
    }
}

/// Returns `length` times the inner dimensions.
pub(crate) fn items(length: u64, shape: &[u64]) -> Result<u64, Invalid> {
    shape.iter().try_fold(length, |rows, each| {
        rows.checked_mul(*each)
            .filter(|items| i64::try_from(*items).is_ok())
            .ok_or(Invalid::Overflow { rows, each: *each })
    })
}

/// Checks the offsets of `length` lists, and returns the last one.
pub(crate) fn offsets_end(lookup: &Lookup<'_>, key: &str, length: u64) -> Result<u64, Invalid> {
    offsets_end_by(lookup, key, length, 1)
}

fn offsets_end_by(lookup: &Lookup<'_>, key: &str, length: u64, threads: usize) -> Result<u64, Invalid> {
    let count = length.checked_add(1).ok_or(Invalid::Overflow { rows: length, each: 1 })?;
    let column = lookup.column(key, "offsets", DType::Int64, count)?;
    if let Some((texts, rows)) = column.texts()
        && (rows, count) == (0..texts.rows(), texts.rows() as u64 + 1)
    {
        return Ok(texts.length());
    }
    let offsets = column.as_bytes();
    let offsets = offsets.as_chunks::<8>().0.get(..count as usize).unwrap_or_default(); // as many as there are
    let name = || format!("{key}-offsets");
    let number = |offset: &[u8; 8]| i64::from_ne_bytes(*offset);
    let (first, last) = (offsets.first().map_or(-1, number), offsets.last().map_or(-1, number));
    if kernels::fall_by(offsets, threads) {
        let row = offsets.array_windows::<2>().position(|[start, end]| number(start) > number(end));
        return Err(Invalid::Backwards { key: name(), row: row.unwrap_or(0) as u64 });
    }
    if first < 0 {
        return Err(Invalid::Range { key: name(), row: 0 });
    }
    Ok(last.unsigned_abs())
}

/// Returns the number of rows that each of the `count` alternatives of a union must have.
pub(crate) fn union_lengths(
    lookup: &Lookup<'_>,
    key: &str,
    count: usize,
    length: u64,
) -> Result<Vec<u64>, Invalid> {
    let tags = lookup.tags(key, length)?;
    let index = lookup.integers(key, "index", length)?;
    let mut lengths = vec![0; count];
    for (row, (tag, at)) in tags.iter().zip(index.iter()).enumerate() {
        let rows = usize::try_from(*tag).ok().and_then(|tag| lengths.get_mut(tag));
        let Some(rows) = rows else {
            return Err(Invalid::Range { key: format!("{key}-tags"), row: row as u64 });
        };
        let Some(end) = u64::try_from(*at).ok().map(|at| at + 1) else {
            return Err(Invalid::Range { key: format!("{key}-index"), row: row as u64 });
        };
        *rows = end.max(*rows);
    }
    Ok(lengths)
}
