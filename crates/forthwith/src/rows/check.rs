//! Mismatches between a type and a table, collected into one error.

use super::{RawOrder, RowColumn, RowSource};
use forthwith_columns::{Form, safe_text};
use forthwith_plan::{Error, NameListing, similar_names};

/// Check of a type against a table: the required columns, and the mismatches.
pub struct Check<'s> {
    /// The table; `None` if types are compared without one.
    pub(super) source: Option<&'s dyn RowSource>,
    /// Path from the row to the checked value: `muons`, `[]`, `pt`.
    pub(super) path: Vec<String>,
    /// Name of the checked column, as in the table.
    pub(super) column: String,
    pub(super) columns: Vec<RowColumn>,
    pub(super) misfits: Vec<String>,
    pub(super) failed: Option<Error>,
}

impl<'s> Check<'s> {
    pub(super) fn new(source: Option<&'s dyn RowSource>) -> Self {
        let (path, column) = (Vec::new(), String::new());
        Self { source, path, column, columns: Vec::new(), misfits: Vec::new(), failed: None }
    }

    /// Reports that the column has another type than `expected`.
    pub fn mismatch(&mut self, expected: &str, found: &Form) {
        self.mismatch_because(expected, found, "");
    }

    /// Reports that the column has another type than `expected`, with advice.
    pub fn mismatch_because(&mut self, expected: &str, found: &Form, remark: &str) {
        let missing = match found {
            Form::Option { .. } => ": values that may be missing need Option<…> or #[row(default)]",
            _ => "",
        };
        let what = format!("is {}, not {expected}{missing}", found.type_string());
        let what = format!("column {:?} {what}{remark}", self.column);
        self.report(&what);
    }

    /// Reports a mismatch.
    pub fn report(&mut self, what: &str) {
        let path = self.path.join(".").replace(".[]", "[]");
        self.misfits.push(format!("{path}: {what}"));
    }

    /// Checks a part of the value, such as the items of a list.
    pub fn within(&mut self, part: &str, check: impl FnOnce(&mut Self)) {
        self.path.push(part.to_owned());
        check(self);
        self.path.pop();
    }

    pub(super) fn need(&mut self, name: String, raw: Option<RawOrder>) {
        let needed = RowColumn { name, raw };
        match self.columns.iter().find(|known| known.name == needed.name) {
            None => self.columns.push(needed),
            Some(known) if *known == needed => {}
            Some(_) => self.report(&format!("column {:?} is read decoded and raw at once", needed.name)),
        }
    }
}

/// Columns that fields are looked up in.
#[derive(Clone, Copy)]
pub(super) enum Level<'f> {
    /// Columns of the table with a prefix; with `in_lists`, the items of their lists.
    Table { prefix: &'f str, in_lists: bool },
    /// Fields of a record.
    Record { names: &'f [String], contents: &'f [Form] },
}

/// Check of the fields of a struct.
pub struct FieldCheck<'f, 's> {
    pub(super) level: Level<'f>,
    pub(super) check: &'f mut Check<'s>,
}

/// Returns the enclosing prefix, and whether it is one of lists. Records in a column do not support prefixes.
pub(super) fn outer<'f>(level: Level<'f>, check: &mut Check<'_>) -> Option<(&'f str, bool)> {
    match level {
        Level::Table { prefix, in_lists } => Some((prefix, in_lists)),
        Level::Record { .. } => {
            check.report("a prefix names columns of the table, and this is within a record of one column");
            None
        }
    }
}

pub(super) fn absent<'n>(
    check: &mut Check<'_>,
    name: &str,
    what: &str,
    names: impl Iterator<Item = &'n str> + Clone,
) {
    let near = similar_names(name, names.clone());
    let hint = match (near.is_empty(), NameListing::of(names).to_string()) {
        (false, _) => format!("; did you mean {}?", near.join(", ")),
        (true, known) if known.is_empty() => String::new(),
        (true, known) => format!("; {known}"),
    };
    check.report(&format!("there is no {what} {name:?}{}", safe_text(&hint)));
}
