//! The offsets of the lists of a step.

use super::{branch::Step, plain::changed};
use forthwith_columns::{Array, Form};
use forthwith_plan::Result;
use std::borrow::Cow;

/// The offsets of the lists that a path leads to; its last step is into them.
pub(super) fn lists_at<'a>(array: &'a Array, path: &[Step]) -> Result<Cow<'a, [i64]>> {
    let mut form = &array.form;
    for step in path {
        form = match (step, form.kept()) {
            (Step::Field(at), Form::Record { contents, .. }) => contents.get(*at).ok_or_else(changed)?,
            (Step::Items, form) => return lists(array, form),
            _ => return Err(changed()),
        };
    }
    Err(changed())
}

/// The offsets of lists, of which each row of an array has one.
pub(super) fn lists<'a>(array: &'a Array, form: &Form) -> Result<Cow<'a, [i64]>> {
    match form {
        Form::List { key, .. } => offsets(array, key),
        Form::Regular { size, .. } => {
            Ok((0..=array.length).map(|row| row.wrapping_mul(*size).cast_signed()).collect())
        }
        _ => Err(changed()),
    }
}

/// One offset more than an array has rows.
pub(super) fn offsets<'a>(array: &'a Array, key: &str) -> Result<Cow<'a, [i64]>> {
    let column = array.column(&format!("{key}-offsets")).ok_or_else(changed)?;
    let count = array.length as usize + 1;
    Ok(match column.as_i64() {
        Some(offsets) => offsets.get(..count).ok_or_else(changed)?.into(),
        None => (0..count).map_while(|row| column.item(row)).collect(),
    })
}
