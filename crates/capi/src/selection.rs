//! Selections of columns and expressions, for entries that pass a cut.

use crate::{
    pointer::{Out, free, handle, text_or_none, texts},
    status::{Failure, Status, guard, guard_value},
    table::{TableHandle, TableRows},
};
use forthwith::{
    ChainSelection, SelectOptions, Selection,
    columns::{
        Form,
        arrow::{self, FFI_ArrowSchema, SchemaRef},
    },
    plan::Result,
};
use std::ffi::c_char;

/// Columns of a table, for all entries or the entries that pass a cut. Several threads may use it at once.
#[derive(Clone, Debug)]
pub struct SelectionHandle {
    pub(crate) rows: SelectedRows,
}

/// Selection of one table or of a chain.
#[derive(Clone, Debug)]
pub(crate) enum SelectedRows {
    /// One table.
    Table(Box<Selection>),
    /// Chain of tables.
    Chain(ChainSelection),
}

impl SelectionHandle {
    /// Returns the names and Forms of the columns.
    pub(crate) fn columns(&self) -> Result<Vec<(String, Form)>> {
        Ok(match &self.rows {
            SelectedRows::Table(selection) => {
                selection.names().map(str::to_owned).zip(selection.forms()?).collect()
            }
            SelectedRows::Chain(selection) => {
                selection.names().iter().cloned().zip(selection.forms().iter().cloned()).collect()
            }
        })
    }

    pub(crate) fn schema(&self) -> Result<SchemaRef, Failure> {
        let columns = self.columns()?;
        let named: Vec<_> = columns.iter().map(|(name, form)| (name.as_str(), form)).collect();
        Ok(arrow::schema(&named, &arrow::Options::default())?)
    }
}

/// Selects columns, by names or by expressions such as `Muon_pt * 2`, for the entries for which the
/// expression `cut` is true. A null `columns` selects all columns; a null `cut` keeps all entries. Types are
/// checked, but nothing is read.
///
/// # Safety
/// `table` is a table that is not freed; `columns` is null or points to `count` texts that end with NUL;
/// `cut` is null or such a text. `out` may be written to; the selection is freed by
/// `forthwith_selection_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn forthwith_select(
    table: *const TableHandle,
    columns: *const *const c_char,
    count: usize,
    cut: *const c_char,
    out: *mut *mut SelectionHandle,
) -> Status {
    guard(|| {
        // SAFETY: the caller's promise.
        let (out, table, columns, cut) = unsafe {
            (
                Out::of_handle(out)?,
                handle(table, "table")?,
                texts(columns, count, "columns")?,
                text_or_none(cut, "cut")?,
            )
        };
        let all = if columns.is_none() { table.names()? } else { Vec::new() };
        let columns = columns.unwrap_or_else(|| all.iter().map(String::as_str).collect());
        let options = SelectOptions { cut: cut.map(str::to_owned), ..SelectOptions::default() };
        let rows = match &table.rows {
            TableRows::Table(table) => SelectedRows::Table(Box::new(table.select(&columns, options)?)),
            TableRows::Chain(chain) => SelectedRows::Chain(chain.select(&columns, options)?),
        };
        out.put(SelectionHandle { rows });
        Ok(())
    })
}

/// Exports the schema of a selection over Arrow's C data interface. Nothing is read.
///
/// # Safety
/// `selection` is a selection that is not freed. `out` may be written to, and is released by its `release`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn forthwith_selection_schema(
    selection: *const SelectionHandle,
    out: *mut FFI_ArrowSchema,
) -> Status {
    guard(|| {
        // SAFETY: the caller's promise.
        let out = unsafe { Out::with(out, "out", FFI_ArrowSchema::empty()) }?;
        // SAFETY: the caller's promise.
        let selection = unsafe { handle(selection, "selection") }?;
        out.write(arrow::c_schema(&*selection.schema()?)?);
        Ok(())
    })
}

/// Frees a selection; null is ignored. Its steps and streams remain valid.
///
/// # Safety
/// `selection` is null or a selection that is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn forthwith_selection_free(selection: *mut SelectionHandle) {
    // SAFETY: the caller's promise.
    guard_value((), || unsafe { free(selection) });
}
