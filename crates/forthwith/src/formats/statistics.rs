//! Comparison of the statistics of a Parquet file's column chunks with the values.

use forthwith_columns::{Array, Column, DType, Form, Native, with_integer};
use forthwith_parquet::{Bound, Chunk, ParquetTable};
use forthwith_plan::{CheckReport, Finding, Severity};

/// Compares the statistics of a field in a row group (number of nulls, minimum and maximum) with its values,
/// and reports differences. Fields of several columns are skipped, and only plain numbers and texts are
/// compared.
pub(super) fn compare(
    table: &ParquetTable,
    row_group: usize,
    field: u32,
    array: &Array,
    report: &mut CheckReport,
) {
    let Ok(chunks) = table.chunks(field) else { return };
    let mut chunks = chunks.into_iter().filter(|chunk| chunk.row_group == row_group);
    let (Some(chunk), None) = (chunks.next(), chunks.next()) else { return };
    let mut add = |what: String| {
        let what = format!("{what}, in row group {row_group}");
        let object = Some(chunk.path.clone());
        report.add(Finding { severity: Severity::Damage, part: "statistics", object, byte: None, what });
    };
    let (nulls, content) = match array.form.kept() {
        Form::Option { key, content } => {
            let index = array.column(&format!("{key}-index")).and_then(Column::as_i64);
            let Some(index) = index else { return };
            (index.iter().filter(|row| **row < 0).count() as u64, content.kept())
        }
        other => (0, other),
    };
    let is_value = matches!(content, Form::Numpy { .. } | Form::String { .. });
    if let Some(said) = chunk.nulls.filter(|said| is_value && *said != nulls) {
        add(format!("{said} nulls are said to be there, and {nulls} are"));
    }
    if let Form::Numpy { key, shape, .. } = content
        && shape.is_empty()
        && let Some(column) = array.column(&format!("{key}-data"))
        && let Some(what) = outside(column, &chunk)
    {
        add(what);
    }
}

/// Describes the first number that is outside the bounds of the statistics.
fn outside(column: &Column, chunk: &Chunk) -> Option<String> {
    let (least, greatest, found) = match chunk.bounds.as_ref()? {
        (Bound::Integer(least), Bound::Integer(greatest)) => {
            let found = with_integer!(column.dtype(),
                T => first(column, |value: T| beyond(value.into(), *least, *greatest)),
                _ => None,
            );
            (least.to_string(), greatest.to_string(), found?)
        }
        (Bound::Float(least), Bound::Float(greatest)) => {
            let found = match column.dtype() {
                DType::Float32 => first(column, |value: f32| beyond(f64::from(value), *least, *greatest)),
                DType::Float64 => first(column, |value: f64| beyond(value, *least, *greatest)),
                _ => None,
            };
            (least.to_string(), greatest.to_string(), found?)
        }
        _ => return None,
    };
    Some(format!("values are said to be from {least} to {greatest}, and there is {found}"))
}

fn first<T: Native>(column: &Column, beyond: impl Fn(T) -> bool) -> Option<String> {
    let found = column.items::<T>()?.iter().find(|value| beyond(**value))?;
    Some(format!("{found:?}"))
}

/// Whether a value is out of bounds. NaN, as a value or as a bound, is never out of bounds.
fn beyond<T: PartialOrd>(value: T, least: T, greatest: T) -> bool {
    value < least || value > greatest
}
