//! Look-up of the entries of friends: tables that are read together with the selected table.

use super::rows::Rows;
use crate::{Friend, Table};
use forthwith_columns::{Array, Column, DType, Form};
use forthwith_plan::{Error, Result};
use std::ops::Range;

/// A friend, with the look-up of its entries.
#[derive(Debug)]
pub(super) struct Joined {
    name: String,
    /// Tables of the friend, which are concatenated.
    tables: Vec<Table>,
    /// First entry of each table, among the entries of all tables.
    starts: Vec<u64>,
    pub(super) by: By,
}

/// Method of looking up entries.
#[derive(Debug)]
pub(super) enum By {
    /// By the entry number, to which this offset is added.
    Number(u64),
    /// By two numbers in the selected table. The rows (major, minor, entry) are sorted.
    Index { keys: [Key; 2], rows: Vec<(i64, i64, u64)> },
}

/// A number by which entries are looked up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Constant(i64),
    /// A field of the selected table.
    Field(u32),
}

impl Joined {
    /// Creates the look-up of a friend. `key` resolves the expression of an index to a field or a constant;
    /// `None` if the selected table lacks it.
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
            // The sort is stable, so the first of several entries with the same numbers is found.
            rows.sort_by_key(|(major, minor, _)| (*major, *minor));
            by = By::Index { keys: [major, minor], rows };
        }
        Ok(Self { name, tables, starts, by })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the first table, whose fields all tables have.
    pub(super) fn first(&self) -> &Table {
        &self.tables[0]
    }

    /// Returns the Form of a field, which is an option if entries are looked up by an index.
    pub(super) fn form(&self, field: u32) -> Result<Form> {
        let form = self.first().form(field)?;
        Ok(match self.by {
            By::Number(_) => form,
            By::Index { .. } => form.optional(),
        })
    }

    /// Returns, for each pair of numbers, the first entry with these numbers; `None` if there is none.
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

    /// Splits rows by table. Returns an error if the friend has fewer entries than needed.
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

    /// Returns the indexes in another table of fields of the first one, by their paths.
    pub(super) fn fields_in(&self, table: &Table, fields: &[u32]) -> Result<Vec<u32>> {
        let known = self.first().fields()?;
        let find = |field: &u32| match known.get(*field as usize) {
            Some(field) => table.find(&field.path),
            None => Ok(*field),
        };
        fields.iter().map(find).collect()
    }
}

/// Whether values of this Form are one number per entry, or missing.
pub(super) fn is_number(form: &Form) -> bool {
    match form {
        Form::Numpy { shape, .. } => shape.is_empty(),
        Form::Option { content, .. } => matches!(&**content, Form::Numpy { shape, .. } if shape.is_empty()),
        _ => false,
    }
}

/// Converts numbers to index keys as ROOT does: floating-point numbers are truncated. Missing values and
/// values beyond `i64` become `None`.
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

/// Returns the number at a row as an index key: the outer `None` if the row is out of range, the inner one if
/// the value is beyond `i64`.
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

/// Returns the positions of the found entries in `entries`, which is in ascending order, as runs of
/// consecutive positions.
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
