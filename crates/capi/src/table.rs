//! Tables of one file or of a chain.

use crate::{
    file::FileHandle,
    names::NameList,
    options::GivenOptions,
    pointer::{Out, free, handle, text_or_none, texts},
    status::{Failure, Status, guard, guard_value},
};
use forthwith::{Chain, Table, plan::Result};
use std::ffi::c_char;

/// Table of a file, or the tables of many files as one. Several threads may use it at once.
#[derive(Debug)]
pub struct TableHandle {
    pub(crate) rows: TableRows,
}

/// One table or a chain.
#[derive(Debug)]
pub(crate) enum TableRows {
    /// One table.
    Table(Table),
    /// Chain of tables.
    Chain(Chain),
}

impl TableHandle {
    /// Returns the paths of the columns with values.
    pub(crate) fn names(&self) -> Result<Vec<String>> {
        match &self.rows {
            TableRows::Table(table) => column_names(table),
            TableRows::Chain(chain) => chain.names(),
        }
    }
}

fn column_names(table: &Table) -> Result<Vec<String>> {
    let columns = table.fields()?.iter().filter(|field| field.has_data);
    Ok(columns.map(|field| field.path.clone()).collect())
}

/// Returns the type of a column of a table; empty if it cannot be read.
fn type_text(table: &Table, name: &str) -> Result<String> {
    match table.found(name)? {
        Some(field) => {
            let reading = table.describe_first(field, 0)?.reading;
            Ok(reading.map_or_else(|_| String::new(), |reading| reading.form.type_string()))
        }
        None => Ok(String::new()),
    }
}

/// Opens a table of a file by its path, such as `dir/events`. A null `path` is the only table of the file.
///
/// # Safety
/// `file` is a file that is not freed; `path` is null or ends with NUL. `out` may be written to; the table is
/// freed by `forthwith_table_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn forthwith_table(
    file: *const FileHandle,
    path: *const c_char,
    out: *mut *mut TableHandle,
) -> Status {
    guard(|| {
        // SAFETY: the caller's promise.
        let (out, file, path) =
            unsafe { (Out::of_handle(out)?, handle(file, "file")?, text_or_none(path, "path")?) };
        let path = match path {
            Some(path) => path.to_owned(),
            None => only_table(file)?,
        };
        out.put(TableHandle { rows: TableRows::Table(file.file.table(&path)?) });
        Ok(())
    })
}

/// Returns the path of the only table of a file.
fn only_table(file: &FileHandle) -> Result<String, Failure> {
    if file.file.is_one_table() {
        return Ok(String::new());
    }
    let mut tables = file.tables()?;
    match (tables.len(), tables.pop()) {
        (1, Some((only, _))) => Ok(only),
        (count, _) => {
            Err(Failure::invalid(format!("{} has {count} tables: name one as path", file.file.uri())))
        }
    }
}

/// Makes one table of the tables of many files. Each name is `path:table`, where the path may be a pattern, a
/// folder or a URL, and `:table` may be omitted if each file has one table. Files are opened when they are
/// read. `options` are those of `forthwith_open`, and `missing` (`"raise"` or `"null"`) for columns that some
/// files lack.
///
/// # Safety
/// `names` points to `count` texts that end with NUL, `options` is such a text or null. `out` may be written
/// to; the table is freed by `forthwith_table_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn forthwith_chain(
    names: *const *const c_char,
    count: usize,
    options: *const c_char,
    out: *mut *mut TableHandle,
) -> Status {
    guard(|| {
        // SAFETY: the caller's promise.
        let (out, names, options) = unsafe {
            (Out::of_handle(out)?, texts(names, count, "names")?, text_or_none(options, "options")?)
        };
        let names = names.unwrap_or_default();
        let chain = Chain::of(&names, GivenOptions::parse(options)?.for_chain())?;
        out.put(TableHandle { rows: TableRows::Chain(chain) });
        Ok(())
    })
}

/// Writes the number of entries. In a chain, this opens all files that were not counted before.
///
/// # Safety
/// `table` is a table that is not freed; `out` may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn forthwith_table_entries(table: *const TableHandle, out: *mut u64) -> Status {
    guard(|| {
        // SAFETY: the caller's promise.
        let (out, table) = unsafe { (Out::new(out, "out")?, handle(table, "table")?) };
        out.write(match &table.rows {
            TableRows::Table(table) => table.entries()?,
            TableRows::Chain(chain) => chain.entries()?,
        });
        Ok(())
    })
}

/// Lists the columns with their types, such as `var * float32`; for a chain, the common columns with the
/// types of the first file.
///
/// # Safety
/// `table` is a table that is not freed. `out` may be written to; the list is freed by
/// `forthwith_names_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn forthwith_table_columns(
    table: *const TableHandle,
    out: *mut *mut NameList,
) -> Status {
    guard(|| {
        // SAFETY: the caller's promise.
        let (out, table) = unsafe { (Out::of_handle(out)?, handle(table, "table")?) };
        let first = match &table.rows {
            TableRows::Table(table) => table.clone(),
            TableRows::Chain(chain) => chain.table(0)?,
        };
        let typed = table.names()?.into_iter().map(|name| {
            let kind = type_text(&first, &name)?;
            Ok((name, kind))
        });
        out.put(NameList::new(typed.collect::<Result<Vec<_>>>()?));
        Ok(())
    })
}

/// Frees a table; null is ignored. Its selections remain valid.
///
/// # Safety
/// `table` is null or a table that is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn forthwith_table_free(table: *mut TableHandle) {
    // SAFETY: the caller's promise.
    guard_value((), || unsafe { free(table) });
}
