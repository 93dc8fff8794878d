//! Rows of arrays that are appended together.

use super::fill::is_lent;
use forthwith_columns::{Array, Form};
use std::ops::Range;

/// Approximate size in bytes of the arrays that are appended together, whose pages several threads seal.
const STEP: u64 = 64 << 20;
/// Size in bytes of a step whose pages are encoded from borrowed memory.
const LENT_STEP: u64 = 128 << 20;

/// Returns the number of rows after `from` that are appended together: at least one, and within `left` bytes.
/// It only depends on the arrays, so that the file does not depend on threads.
pub(super) fn rows(arrays: &[Array], from: u64, length: u64, left: u64) -> u64 {
    let is_lent = arrays.iter().all(|array| is_lent(&array.form));
    let left = left.min(if is_lent { LENT_STEP } else { STEP });
    let fit = |rows: u64| {
        let each = arrays.iter().map(|array| bytes(array, &(from..from + rows)));
        each.fold(0, u64::saturating_add) <= left
    };
    let (mut fits, mut beyond) = (0, length - from);
    if fit(beyond) {
        return beyond;
    }
    while beyond - fits > 1 {
        let middle = fits.midpoint(beyond);
        *(if fit(middle) { &mut fits } else { &mut beyond }) = middle;
    }
    fits.max(1)
}

/// Returns the size of rows in bytes, by their offsets or as the average of all rows.
fn bytes(array: &Array, rows: &Range<u64>) -> u64 {
    told(array, &array.form, rows).unwrap_or_else(|| {
        let count = u128::from(rows.end - rows.start);
        let all = array.nbytes() as u128 * count / u128::from(array.length.max(1));
        u64::try_from(all).unwrap_or(u64::MAX)
    })
}

/// Returns the size of rows in bytes from offsets, or `None` for Forms with options or unions. The offsets
/// may have changed.
fn told(array: &Array, form: &Form, rows: &Range<u64>) -> Option<u64> {
    let count = rows.end.saturating_sub(rows.start);
    let items = |key: &str| {
        let offsets = array.column(&format!("{key}-offsets"))?;
        let at = |row: u64| u64::try_from(offsets.item::<i64>(usize::try_from(row).ok()?)?).ok();
        Some(at(rows.start)?..at(rows.end)?)
    };
    match form {
        Form::Empty => Some(0),
        Form::Numpy { dtype, shape, .. } => {
            let each = shape.iter().fold(dtype.size() as u64, |each, size| each.saturating_mul(*size));
            Some(count.saturating_mul(each))
        }
        Form::String { key, .. } => {
            let items = items(key)?;
            Some(count.saturating_mul(8).saturating_add(items.end.saturating_sub(items.start)))
        }
        Form::List { key, content } => {
            Some(count.saturating_mul(8).saturating_add(told(array, content, &items(key)?)?))
        }
        Form::Regular { size, content } => {
            told(array, content, &(rows.start.saturating_mul(*size)..rows.end.saturating_mul(*size)))
        }
        Form::Record { contents, .. } => contents
            .iter()
            .try_fold(0u64, |sum, content| Some(sum.saturating_add(told(array, content, rows)?))),
        Form::Logical { content, .. } => told(array, content, rows),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forthwith_columns::{Column, DType};

    #[test]
    fn rows_fill_a_cluster_also_where_they_become_longer() {
        let rows_there = 40_000u64;
        let offsets: Vec<i64> = (0..=rows_there as i64).map(|row| row * row / 100).collect();
        let numbers = Form::Numpy { key: "n".into(), dtype: DType::Int32, shape: vec![] };
        let items = offsets.last().copied().unwrap_or(0) as usize;
        let array = Array {
            form: Form::List { key: "l".into(), content: Box::new(numbers) },
            length: rows_there,
            columns: vec![
                ("l-offsets".into(), Column::from_vec(offsets.clone())),
                ("n-data".into(), Column::from_vec(vec![0i32; items])),
            ],
        };
        let weight = |from: u64, rows: u64| {
            8 * rows + 4 * (offsets[(from + rows) as usize] - offsets[from as usize]) as u64
        };
        let (mut from, left) = (0, 1 << 20);
        while from < rows_there {
            let step = rows(std::slice::from_ref(&array), from, rows_there, left);
            assert!(weight(from, step) <= left);
            assert!(from + step == rows_there || weight(from, step + 1) > left);
            from += step;
        }
        // A row that exceeds the limit is a step of its own.
        assert_eq!(rows(std::slice::from_ref(&array), rows_there - 5, rows_there, 10), 1);
    }
}
