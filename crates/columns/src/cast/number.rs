//! Exact casts between types of numbers.

use super::{CastReason, Result};
use crate::{Column, DType, Invalid, Native, with_integer};
use std::borrow::Cow;

/// Casts the first `count` numbers of a column exactly. Returns `None` if no cast exists between the two
/// types, and an error for a number that the other type cannot represent.
#[expect(
    clippy::unnecessary_fallible_conversions,
    reason = "some pairs of types that the macros make are alike"
)]
pub(super) fn converted(column: &Column, to: DType, count: u64) -> Result<Option<Column>> {
    let found = column.dtype();
    let result = with_integer!(found, S => with_integer!(to, T => each(column, count, |number: S| T::try_from(number).ok()),
        DType::Float32 => each(column, count, |number: S| {
            let real = number as f32;
            (size_of::<S>() <= 2 || real as i128 == i128::from(number)).then_some(real)
        }),
        DType::Float64 => each(column, count, |number: S| {
            let real = number as f64;
            (size_of::<S>() <= 4 || is_exact(real) || real as i128 == i128::from(number)).then_some(real)
        }),
        DType::Bool => return Ok(None),
    ),
        DType::Float32 if to == DType::Float64 => each(column, count, |number: f32| Some(f64::from(number))),
        DType::Float64 if to == DType::Float32 => each(column, count, |number: f64| {
            let real = number as f32;
            (number.is_nan() || f64::from(real) == number).then_some(real)
        }),
        DType::Float32 | DType::Float64 | DType::Bool => return Ok(None),
    );
    match result? {
        Ok(column) => Ok(Some(column)),
        Err(number) => Err(CastReason::Number { number, wanted: to }.into()),
    }
}

/// Whether every integer converts to this float exactly: below 2^53, floats are at most 1 apart.
fn is_exact(real: f64) -> bool {
    real.abs() < 9_007_199_254_740_992.0
}

/// Converts each number, or returns the first one that cannot be converted, as text.
fn each<S: Native + std::fmt::Display, T: Native>(
    column: &Column,
    count: u64,
    convert: impl Fn(S) -> Option<T>,
) -> Result<Result<Column, String>> {
    let numbers = numbers::<S>(column, count)?;
    let mut made = Vec::with_capacity(numbers.len());
    for number in numbers.iter() {
        match convert(*number) {
            Some(number) => made.push(number),
            None => return Ok(Err(number.to_string())),
        }
    }
    Ok(Ok(Column::from_vec(made)))
}

fn numbers<S: Native>(column: &Column, count: u64) -> Result<Cow<'_, [S]>> {
    let found = column.len() as u64;
    let short = || Invalid::Short { key: "data".into(), found, needed: count };
    let count = usize::try_from(count).ok().filter(|count| *count <= column.len()).ok_or_else(short)?;
    Ok(match column.items::<S>() {
        Some(items) => Cow::Borrowed(&items[..count]),
        None => (0..count).filter_map(|at| column.item(at)).collect::<Vec<_>>().into(),
    })
}
