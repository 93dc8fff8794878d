//! Comparison of two sequences of tables.

use super::columns::Part;
use super::tables::{MOST_DAMAGE, compare, sound, unmatched};
use super::{ColumnDiff, DiffOptions, DiffProgress, TableDiff};
use crate::Table;
use forthwith_plan::{Error, Result};

/// Compares two sequences of tables, each concatenated, entry by entry, regardless of the boundaries of
/// files.
///
/// Entry numbers count all tables of a side. A column that only some tables of a side have is listed as one
/// that only one side has.
///
/// # Errors
/// Errors of [`diff`](super::diff); matching by key columns is unsupported.
pub fn diff_sequences(
    left: &[Table],
    right: &[Table],
    options: &DiffOptions,
    progress: &mut DiffProgress<'_>,
) -> Result<TableDiff> {
    if !options.on.is_empty() {
        return Err(Error::unsupported("matching entries of several files by values"));
    }
    let mut report = TableDiff::default();
    let mut sides: [Vec<(Table, u64)>; 2] = Default::default();
    for (at, tables) in [left, right].into_iter().enumerate() {
        for table in tables {
            let table = sound(table, at, &mut report)?;
            let entries = table.entries()?;
            report.entries[at] = report.entries[at].saturating_add(entries);
            sides[at].push((table, entries));
        }
    }
    unmatched(&mut report);
    if options.brief && report.entries[0] != report.entries[1] {
        report.stopped = true;
        return Ok(report);
    }
    let total = report.entries[0].min(report.entries[1]);
    let mut parts = parts(&sides).into_iter().peekable();
    while let Some(([own, other], part)) = parts.next() {
        let tables = [&sides[0][own].0, &sides[1][other].0];
        let before = part.first;
        let found = compare(tables, part, options, empty(tables)?, &mut |done, all| {
            // Groups of columns are read in sequence.
            let share = if all == 0 { 0.0 } else { done as f64 / all as f64 };
            progress(before + (share * (total - before) as f64) as u64, total)
        })?;
        add(&mut report, found, options);
        if options.brief && !report.is_same() {
            report.stopped |= parts.peek().is_some();
            break;
        }
    }
    Ok(report)
}

/// Makes an empty report of two tables.
fn empty(tables: [&Table; 2]) -> Result<TableDiff> {
    Ok(TableDiff { entries: [tables[0].entries()?, tables[1].entries()?], ..TableDiff::default() })
}

/// Returns the pairs of tables with overlapping entry numbers. If there are none, the first tables are paired
/// for their columns.
fn parts(sides: &[Vec<(Table, u64)>; 2]) -> Vec<([usize; 2], Part)> {
    let mut parts = Vec::new();
    let (mut at, mut used, mut first) = ([0, 0], [0, 0], 0);
    while let (Some((_, own)), Some((_, other))) = (sides[0].get(at[0]), sides[1].get(at[1])) {
        let length = (own - used[0]).min(other - used[1]);
        if length > 0 {
            parts.push((at, Part { starts: used, length, first }));
        }
        first += length;
        for (side, entries) in [*own, *other].into_iter().enumerate() {
            used[side] += length;
            if used[side] == entries {
                (at[side], used[side]) = (at[side] + 1, 0);
            }
        }
    }
    if parts.is_empty() && sides.iter().all(|side| !side.is_empty()) {
        parts.push(([0, 0], Part { starts: [0, 0], length: 0, first: 0 }));
    }
    parts
}

/// Adds the report of a part.
fn add(report: &mut TableDiff, found: TableDiff, options: &DiffOptions) {
    report.compared += found.compared;
    report.stopped |= found.stopped;
    for (known, new) in report.only.iter_mut().zip(found.only) {
        let new: Vec<String> = new.into_iter().filter(|path| !known.contains(path)).collect();
        known.extend(new);
    }
    for (path, why) in found.not_compared {
        if report.not_compared.iter().all(|(known, _)| *known != path) {
            report.not_compared.push((path, why));
        }
    }
    for (known, new) in report.damage.iter_mut().zip(found.damage) {
        let room = MOST_DAMAGE.saturating_sub(known.len());
        known.extend(new.into_iter().take(room));
    }
    for column in found.columns {
        match report.columns.iter_mut().find(|known| known.path == column.path) {
            Some(known) => join(known, column, options.most),
            None => report.columns.push(column),
        }
    }
}

/// Adds the differences of a column in further entries.
fn join(known: &mut ColumnDiff, column: ColumnDiff, most: usize) {
    if column.types_differ && !known.types_differ {
        (known.types, known.types_differ) = (column.types, true);
    }
    known.entries = known.entries.take().or(column.entries);
    known.differing += column.differing;
    known.largest = [known.largest, column.largest].into_iter().flatten().reduce(f64::max);
    let room = most.saturating_sub(known.first.len());
    known.first.extend(column.first.into_iter().take(room));
}
