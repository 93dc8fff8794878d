//! Resolves paths in the array of a column to a Form, its rows, and the offsets of lists on the way.

use super::{branch::Step, without_nulls::changed};
use forthwith_columns::{Array, Form};
use forthwith_plan::Result;
use std::borrow::Cow;

/// End of a path.
pub(super) struct Place<'a> {
    /// Offsets of the first lists on the path, if there are any: the items of each entry.
    pub(super) lists: Option<Cow<'a, [i64]>>,
    pub(super) form: &'a Form,
    pub(super) rows: u64,
}

/// Follows a path through fields and into lists.
pub(super) fn at<'a>(array: &'a Array, path: &[Step]) -> Result<Place<'a>> {
    let (mut first, mut form, mut rows) = (None, array.form.kept(), array.length);
    for step in path {
        form = match (step, form) {
            (Step::Field(at), Form::Record { contents, .. }) => contents.get(*at).ok_or_else(changed)?.kept(),
            (Step::Items, Form::List { content, .. } | Form::Regular { content, .. }) => {
                let offsets = lists(array, form, rows)?;
                rows = offsets.last().copied().unwrap_or(0).max(0).cast_unsigned();
                first = first.or(Some(offsets));
                content.kept()
            }
            _ => return Err(changed()),
        };
    }
    Ok(Place { lists: first, form, rows })
}

/// Returns the offsets of the lists at a path, whose last step is into them.
pub(super) fn lists_at<'a>(array: &'a Array, path: &[Step]) -> Result<Cow<'a, [i64]>> {
    let [path @ .., Step::Items] = path else { return Err(changed()) };
    let Place { form, rows, .. } = at(array, path)?;
    lists(array, form, rows)
}

/// Returns the offsets of `rows` lists.
pub(super) fn lists<'a>(array: &'a Array, form: &Form, rows: u64) -> Result<Cow<'a, [i64]>> {
    match form {
        Form::List { key, .. } => offsets(array, key, rows),
        Form::Regular { size, .. } => {
            Ok((0..=rows).map(|row| row.wrapping_mul(*size).cast_signed()).collect())
        }
        _ => Err(changed()),
    }
}

/// Returns `rows + 1` offsets.
pub(super) fn offsets<'a>(array: &'a Array, key: &str, rows: u64) -> Result<Cow<'a, [i64]>> {
    let column = array.column(&format!("{key}-offsets")).ok_or_else(changed)?;
    let count = usize::try_from(rows).ok().and_then(|rows| rows.checked_add(1)).ok_or_else(changed)?;
    Ok(match column.as_i64() {
        Some(offsets) => offsets.get(..count).ok_or_else(changed)?.into(),
        None => (0..count).map_while(|row| column.item(row)).collect(),
    })
}
