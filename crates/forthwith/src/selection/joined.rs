//! Tables that are read beside the one that columns are selected of: where their entries are found.

use super::rows::Rows;
use crate::{Friend, Table};
use forthwith_columns::{Array, Column, DType, Form};
use forthwith_plan::{Error, Result};
use std::ops::Range;

/// A friend, and how its entries are found.
#[derive(Debug)]
pub(super) struct Joined {
    name: String,
    /// One behind the other.
    tables: Vec<Table>,
    /// The first entry of each, counted in all of them.
    starts: Vec<u64>,
    pub(super) by: By,
}

/// How entries are found.
#[derive(Debug)]
pub(super) enum By {
    /// By their number, to which this is added.
    Number(u64),
    /// By two numbers of the table that is selected of.
    Index { keys: [Key; 2], rows: Vec<(i64, i64, u64)> },
}

/// One of the numbers that entries are found by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Constant(i64),
    /// A field of the table that is selected of.
    Field(u32),
}

impl Joined {
    /// `key` says which number the text of an index is: a field or a constant, if the table has it.
    pub(super) fn new(friend: &Friend, mut key: impl FnMut(&str) -> Result<Option<Key>>) -> Result<Self> {
        let Friend { name, tables, before } = friend.clone();
        let mut starts = Vec::with_capacity(tables.len());
        let mut next = 0u64;
        for (at, table) in tables.iter().enumerate() {
            starts.push(next);
            if at + 1 < tables.len() {
                next = next.saturating_add(table.entries()?);
            }
        }
        let index = tables[0].here(tables[0].dataset().index())?;
        let mut by = By::Number(before);
        if let Some(first) = index
            && let (Some(major), Some(minor)) = (key(&first.major)?, key(&first.minor)?)
        {
            let mut rows = first.rows;
            for (table, start) in tables.iter().zip(&starts).skip(1) {
                let found = table.here(table.dataset().index())?.unwrap_or_default();
                if (&found.major, &found.minor) != (&first.major, &first.minor) {
                    let what = format!(
                        "the friend {name:?} has no index by {:?} and {:?} as that before it",
                        first.major, first.minor
                    );
                    return table.here(Err(Error::invalid(what)));
                }
                rows.extend(
                    found
                        .rows
                        .into_iter()
                        .map(|(major, minor, at)| (major, minor, at.saturating_add(*start))),
                );
            }
            // Of entries with the same numbers, the first is found; the sort keeps their order.
            rows.sort_by_key(|(major, minor, _)| (*major, *minor));
            by = By::Index { keys: [major, minor], rows };
        }
        Ok(Self { name, tables, starts, by })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The first table, whose fields are those of all.
    pub(super) fn first(&self) -> &Table {
        &self.tables[0]
    }

    /// The Form of a field: entries that are found by an index may be missing.
    pub(super) fn form(&self, field: u32) -> Result<Form> {
        let form = self.first().form(field)?;
        Ok(match self.by {
            By::Number(_) => form,
            By::Index { .. } => form.optional(),
        })
    }

    /// The entries that two numbers find.
    pub(super) fn find(
        &self,
        rows: &[(i64, i64, u64)],
        majors: &[Option<i64>],
        minors: &[Option<i64>],
    ) -> Vec<Option<u64>> {
        let found = majors.iter().zip(minors).map(|(major, minor)| {
            let wanted = ((*major)?, (*minor)?);
            let at = rows.partition_point(|row| (row.0, row.1) < wanted);
            rows.get(at).filter(|row| (row.0, row.1) == wanted).map(|row| row.2)
        });
        found.collect()
    }

    /// Some of the entries as those of each table. There have to be so many.
    pub(super) fn parts(&self, rows: &Rows) -> Result<Vec<(&Table, Rows)>> {
        let mut parts = Vec::new();
        let ends = self.starts.iter().skip(1).copied().chain([u64::MAX]);
        for ((table, start), end) in self.tables.iter().zip(&self.starts).zip(ends) {
            let part = rows.within(*start..end);
            if part.len() == 0 {
                continue;
            }
            let last = part.last().unwrap_or(0);
            if end == u64::MAX && table.entries_up_to(last.saturating_add(1))? <= last {
                let all = start.saturating_add(table.entries()?);
                let (name, last) = (&self.name, start.saturating_add(last));
                let what = format!(
                    "the friend {name:?} has {all} entries, fewer than the table it belongs to: entry {last} is wanted"
                );
                return table.here(Err(Error::invalid(what)));
            }
            parts.push((table, part));
        }
        if parts.is_empty() {
            parts.push((self.first(), Rows::All(0..0)));
        }
        Ok(parts)
    }

    /// Fields of the first table, as they are called in another one.
    pub(super) fn fields_in(&self, table: &Table, fields: &[u32]) -> Result<Vec<u32>> {
        let known = self.first().fields()?;
        let find = |field: &u32| match known.get(*field as usize) {
            Some(field) => table.find(&field.path),
            None => Ok(*field),
        };
        fields.iter().map(find).collect()
    }
}

/// Whether values of this Form are one number for each entry.
pub(super) fn is_number(form: &Form) -> bool {
    match form {
        Form::Numpy { shape, .. } => shape.is_empty(),
        Form::Option { content, .. } => matches!(&**content, Form::Numpy { shape, .. } if shape.is_empty()),
        _ => false,
    }
}

/// Numbers as ROOT takes them for an index: floats are cut. What is missing, and what int64 does not have, finds nothing.
pub(super) fn integers(array: &Array) -> Result<Vec<Option<i64>>> {
    let wrong =
        || Error::fault(format!("index column has type {}, expected numbers", array.form.type_string()));
    let rows = 0..usize::try_from(array.length).map_err(|_| wrong())?;
    match &array.form {
        Form::Numpy { key, .. } => {
            let column = array.column(&format!("{key}-data")).ok_or_else(wrong)?;
            rows.map(|row| integer(column, row).ok_or_else(wrong)).collect()
        }
        Form::Option { key, content } => {
            let Form::Numpy { key: inner, .. } = &**content else { return Err(wrong()) };
            let index = array.column(&format!("{key}-index")).ok_or_else(wrong)?;
            let column = array.column(&format!("{inner}-data")).ok_or_else(wrong)?;
            let at = |row| {
                let place: i64 = index.item(row).ok_or_else(wrong)?;
                usize::try_from(place).map_or(Ok(None), |place| integer(column, place).ok_or_else(wrong))
            };
            rows.map(at).collect()
        }
        _ => Err(wrong()),
    }
}

/// One number; `None` outside if there is none at this row, `None` inside if int64 has no such.
fn integer(column: &Column, row: usize) -> Option<Option<i64>> {
    let cut = |value: f64| {
        let fits = (-(2f64.powi(63))..2f64.powi(63)).contains(&value);
        fits.then_some(value as i64)
    };
    Some(match column.dtype() {
        DType::Float32 => cut(column.item::<f32>(row)?.into()),
        DType::Float64 => cut(column.item::<f64>(row)?),
        _ => i64::try_from(column.integer(row)?).ok(),
    })
}

/// The places of entries among different ones that ascend, as runs of those that are there.
pub(super) fn places(found: &[Option<u64>], entries: &[u64]) -> Vec<Range<u64>> {
    let mut runs: Vec<Range<u64>> = Vec::new();
    for entry in found.iter().flatten() {
        let at = entries.partition_point(|known| known < entry) as u64;
        match runs.last_mut() {
            Some(last) if last.end == at => last.end += 1,
            _ => runs.push(at..at + 1),
        }
    }
    runs
}
