//! Comparing a type with a table: all misfits are one error.

use super::{RowColumn, RowSource, Value, value::RawOrder};
use forthwith_columns::{Form, safe_text};
use forthwith_plan::{Error, NameListing, Result, similar_names};

/// Misfits that are listed.
const LISTED: usize = 20;

/// The comparison of one type with a table: the columns that it needs, and what does not fit.
pub struct Check<'s> {
    /// The table; none where types are compared without one.
    source: Option<&'s dyn RowSource>,
    /// The fields from the row to the value that is compared: `muons`, `[]`, `pt`.
    path: Vec<String>,
    /// The column that is compared, as the table has it.
    column: String,
    columns: Vec<RowColumn>,
    misfits: Vec<String>,
    failed: Option<Error>,
}

impl<'s> Check<'s> {
    /// Compares a row with the columns of a table, and returns those that it needs.
    pub(super) fn run<R: super::Row>(source: &'s dyn RowSource) -> Result<Vec<RowColumn>> {
        let mut check = Check::new(Some(source));
        let level = Level::Table { prefix: "", in_lists: false };
        R::check_fields(&mut FieldCheck { level, check: &mut check });
        if let Some(error) = check.failed {
            return Err(error);
        }
        if check.misfits.is_empty() {
            return Ok(check.columns);
        }
        let count = check.misfits.len();
        let fields = if count == 1 { "1 field".to_owned() } else { format!("{count} fields") };
        let mut what = format!("{fields} of {} cannot be read", R::NAME);
        for misfit in check.misfits.iter().take(LISTED) {
            what.push_str("\n  ");
            what.push_str(misfit);
        }
        if count > LISTED {
            what.push_str(&format!("\n  and {} more", count - LISTED));
        }
        Err(source.locate(Error::invalid(what)))
    }

    /// Reports that the column has another type than `expected`.
    pub fn mismatch(&mut self, expected: &str, found: &Form) {
        self.mismatch_because(expected, found, "");
    }

    /// The same with a remark behind it: what to do.
    pub fn mismatch_because(&mut self, expected: &str, found: &Form, remark: &str) {
        let missing = match found {
            Form::Option { .. } => ": values that may be missing need Option<…> or #[row(default)]",
            _ => "",
        };
        let what = format!("is {}, not {expected}{missing}", found.type_string());
        let what = format!("column {:?} {what}{remark}", self.column);
        self.report(&what);
    }

    /// Reports a misfit.
    pub fn report(&mut self, what: &str) {
        let path = self.path.join(".").replace(".[]", "[]");
        self.misfits.push(format!("{path}: {what}"));
    }

    /// Compares a part of the value, such as the items of a list.
    pub fn within(&mut self, part: &str, check: impl FnOnce(&mut Self)) {
        self.path.push(part.to_owned());
        check(self);
        self.path.pop();
    }

    fn new(source: Option<&'s dyn RowSource>) -> Self {
        let (path, column) = (Vec::new(), String::new());
        Self { source, path, column, columns: Vec::new(), misfits: Vec::new(), failed: None }
    }

    fn need(&mut self, name: String, raw: Option<RawOrder>) {
        let needed = RowColumn { name, raw };
        match self.columns.iter().find(|known| known.name == needed.name) {
            None => self.columns.push(needed),
            Some(known) if *known == needed => {}
            Some(_) => self.report(&format!("column {:?} is read decoded and raw at once", needed.name)),
        }
    }
}

/// Whether values of a Form can be values of a type.
#[must_use]
pub fn fits<T: Value>(form: &Form) -> bool {
    let mut check = Check::new(None);
    T::check(form, &mut check);
    check.misfits.is_empty()
}

/// The columns among which fields are looked for.
#[derive(Clone, Copy)]
enum Level<'f> {
    /// Those of the table that begin with a prefix; their items, if these are lists of rows.
    Table { prefix: &'f str, in_lists: bool },
    /// Those of a record.
    Record { names: &'f [String], contents: &'f [Form] },
}

/// The comparison of the fields of a struct.
pub struct FieldCheck<'f, 's> {
    level: Level<'f>,
    check: &'f mut Check<'s>,
}

impl<'s> FieldCheck<'_, 's> {
    /// Compares a field with the column of a name, which may be absent if there is a default.
    pub fn field<T: Value>(&mut self, field: &str, name: &str, has_default: bool) {
        self.check.within(field, |check| match self.level {
            Level::Table { prefix, in_lists } => {
                table_field::<T>(check, &format!("{prefix}{name}"), in_lists, has_default);
            }
            Level::Record { names, contents } => {
                let at = names.iter().position(|known| known == name);
                match at.and_then(|at| contents.get(at)) {
                    Some(_) if T::RAW.is_some() => {
                        check.report("raw numbers are fields of the row itself, not of records in it")
                    }
                    Some(form) => T::check(form, check),
                    None if has_default => {}
                    None => absent(check, name, "field", names.iter().map(String::as_str)),
                }
            }
        });
    }

    /// Compares a field with the columns that begin with a prefix.
    pub fn prefixed<T: super::Prefixed>(&mut self, field: &str, prefix: &str, count: Option<&str>) {
        T::check_prefixed(self, field, prefix, count);
    }

    /// Compares the fields of a struct with the columns that begin with a prefix.
    pub fn record<T: super::Row>(&mut self, field: &str, prefix: &str, count: Option<&str>) {
        self.check.within(field, |check| {
            if count.is_some() {
                check.report("a count belongs to lists, and this is one record");
            }
            let Some((outer, in_lists)) = outer(self.level, check) else { return };
            let level = Level::Table { prefix: &format!("{outer}{prefix}"), in_lists };
            T::check_fields(&mut FieldCheck { level, check });
        });
    }

    /// Compares the fields of a struct with lists in the columns that begin with a prefix.
    pub(super) fn lists<T: super::Row>(&mut self, field: &str, prefix: &str, count: Option<&str>) {
        self.check.within(field, |check| {
            let Some((outer, in_lists)) = outer(self.level, check) else { return };
            if in_lists {
                return check.report("lists by a prefix within lists by a prefix are not supported yet");
            }
            if let Some(count) = count {
                table_field::<i64>(check, &format!("{outer}{count}"), false, false);
            }
            let before = check.columns.len();
            let level = Level::Table { prefix: &format!("{outer}{prefix}"), in_lists: true };
            check.within("[]", |check| T::check_fields(&mut FieldCheck { level, check }));
            if check.columns.len() == before && check.misfits.is_empty() {
                check.report("lists by a prefix need a column that the table has");
            }
        });
    }
}

/// The prefix around, and whether it is one of lists. Records of a column have no columns by a prefix.
fn outer<'f>(level: Level<'f>, check: &mut Check<'_>) -> Option<(&'f str, bool)> {
    match level {
        Level::Table { prefix, in_lists } => Some((prefix, in_lists)),
        Level::Record { .. } => {
            check.report("a prefix names columns of the table, and this is within a record of one column");
            None
        }
    }
}

fn table_field<T: Value>(check: &mut Check<'_>, column: &str, in_lists: bool, has_default: bool) {
    let Some(source) = check.source else { return check.report("this is not a table") };
    let form = match source.form(column) {
        Ok(Some(form)) => form,
        Ok(None) if has_default => return,
        Ok(None) => match source.names() {
            Ok(names) => return absent(check, column, "column", names.iter().map(String::as_str)),
            Err(error) => return check.failed = Some(error),
        },
        Err(error) => return check.report(&format!("column {column:?} cannot be read: {}", error.kind)),
    };
    column.clone_into(&mut check.column);
    match (T::RAW, in_lists) {
        (Some(_), true) => check.report("raw numbers are fields of the row itself, not of lists in it"),
        (Some(order), false) => {
            if let Err(error) = source.check_raw(column, order) {
                check.report(&format!("column {column:?} cannot be read raw: {}", error.kind));
            }
        }
        (None, false) => T::check(&form, check),
        (None, true) => match form.kept() {
            Form::List { content, .. } => T::check(content, check),
            kept => match kept.fixed() {
                Some((_, content)) => T::check(&content, check),
                None => check.mismatch("lists", &form),
            },
        },
    }
    check.need(column.to_owned(), T::RAW);
}

fn absent<'n>(check: &mut Check<'_>, name: &str, what: &str, names: impl Iterator<Item = &'n str> + Clone) {
    let near = similar_names(name, names.clone());
    let hint = match (near.is_empty(), NameListing::of(names).to_string()) {
        (false, _) => format!("; did you mean {}?", near.join(", ")),
        (true, known) if known.is_empty() => String::new(),
        (true, known) => format!("; {known}"),
    };
    check.report(&format!("there is no {what} {name:?}{}", safe_text(&hint)));
}

/// Compares the fields of a struct with those of a record.
pub(super) fn check_record<R: super::Row>(form: &Form, check: &mut Check<'_>) {
    match form.kept() {
        Form::Record { fields: Some(names), contents, .. } => {
            let level = Level::Record { names, contents };
            R::check_fields(&mut FieldCheck { level, check });
        }
        _ => check.mismatch(&format!("records for {}", R::NAME), form),
    }
}

impl Check<'_> {
    /// Compares a struct with the records of a column.
    pub fn record<R: super::Row>(&mut self, form: &Form) {
        check_record::<R>(form, self);
    }
}
