//! Checks of types against tables.

use super::{
    Check, FieldCheck, Prefixed, Row, RowColumn, RowSource, Value,
    check::{Level, absent, outer},
};
use forthwith_columns::Form;
use forthwith_plan::{Error, Result};

/// Maximum number of listed mismatches.
const LISTED: usize = 20;

impl<'s> Check<'s> {
    /// Checks a row type against the columns of a table, and returns the required columns.
    pub(crate) fn run<R: Row>(source: &'s dyn RowSource) -> Result<Vec<RowColumn>> {
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

    /// Checks a struct against the records of a column.
    pub fn record<R: Row>(&mut self, form: &Form) {
        match form.kept() {
            Form::Record { fields: Some(names), contents, .. } => {
                let level = Level::Record { names, contents };
                R::check_fields(&mut FieldCheck { level, check: self });
            }
            _ => self.mismatch(&format!("records for {}", R::NAME), form),
        }
    }
}

/// Whether values of a Form can be converted to a type.
#[must_use]
pub fn fits<T: Value>(form: &Form) -> bool {
    let mut check = Check::new(None);
    T::check(form, &mut check);
    check.misfits.is_empty()
}

impl<'s> FieldCheck<'_, 's> {
    /// Checks a field against the column of a name, which may be absent if there is a default.
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

    /// Checks a field against the columns with a prefix.
    pub fn prefixed<T: Prefixed>(&mut self, field: &str, prefix: &str, count: Option<&str>) {
        T::check_prefixed(self, field, prefix, count);
    }

    /// Checks the fields of a struct against the columns with a prefix.
    pub fn record<T: Row>(&mut self, field: &str, prefix: &str, count: Option<&str>) {
        self.check.within(field, |check| {
            if count.is_some() {
                check.report("a count belongs to lists, and this is one record");
            }
            let Some((outer, in_lists)) = outer(self.level, check) else { return };
            let level = Level::Table { prefix: &format!("{outer}{prefix}"), in_lists };
            T::check_fields(&mut FieldCheck { level, check });
        });
    }

    /// Checks the fields of a struct against lists in the columns with a prefix.
    pub(super) fn lists<T: Row>(&mut self, field: &str, prefix: &str, count: Option<&str>) {
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
