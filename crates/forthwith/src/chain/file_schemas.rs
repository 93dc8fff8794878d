//! Schemas of the files of a chain, with columns that are selected once in a table of each schema.

use crate::{Table, UnitedColumn};
use forthwith_plan::{Error, Field, Result};

/// Columns of the files of one schema, selected in the table of one of them, for
/// [`Chain::select_schemas`](crate::Chain::select_schemas).
#[derive(Clone, Debug)]
pub struct SchemaColumns {
    /// A table of the schema; all files of the schema have its fields.
    pub table: Table,
    /// Number of the table's file.
    pub file: usize,
    /// Field of each column; `None` for computed columns.
    pub fields: Vec<Option<u32>>,
    /// Columns with a common type across the files of all schemas.
    pub united: Vec<UnitedColumn>,
    /// Group of schemas whose files may be read into one result, such as those with equal Arrow metadata.
    pub group: usize,
}

/// The schema of each file.
#[derive(Clone, Debug)]
pub(super) struct FileSchemas {
    /// The schemas, at least one.
    schemas: Vec<SchemaColumns>,
    /// Position of each file's schema; empty if all files have the first.
    of_file: Vec<usize>,
}

impl FileSchemas {
    /// Makes schemas, with the position of each file's schema.
    pub(super) const fn new(schemas: Vec<SchemaColumns>, of_file: Vec<usize>) -> Self {
        Self { schemas, of_file }
    }

    /// Makes a single schema for all files.
    pub(super) fn like(first: &Table, fields: Vec<Option<u32>>, united: Vec<UnitedColumn>) -> Self {
        let schema = SchemaColumns { table: first.clone(), file: 0, fields, united, group: 0 };
        Self { schemas: vec![schema], of_file: Vec::new() }
    }

    /// Returns the schema of a file.
    ///
    /// # Errors
    /// No file has this number.
    pub(super) fn of(&self, file: usize) -> Result<&SchemaColumns> {
        let at = if self.of_file.is_empty() { Some(0) } else { self.of_file.get(file).copied() };
        at.and_then(|at| self.schemas.get(at))
            .ok_or_else(|| Error::fault(format!("no schema of file {file}")))
    }

    /// Returns the group of a file's schema.
    pub(super) fn group(&self, file: usize) -> Option<usize> {
        self.of(file).ok().map(|schema| schema.group)
    }

    /// Returns the fields of the first schema.
    pub(super) fn first_fields(&self) -> Vec<u32> {
        self.schemas.first().map_or_else(Vec::new, |schema| schema.fields.iter().flatten().copied().collect())
    }
}

impl SchemaColumns {
    /// Returns the table, if it is that of file `file`.
    pub(super) fn table_of(&self, file: usize) -> Option<Table> {
        (self.file == file).then(|| self.table.clone())
    }

    /// # Errors
    /// The table has other fields than the schema.
    pub(super) fn check(&self, table: &Table) -> Result<()> {
        if has_same_fields(&self.table, table)? {
            return Ok(());
        }
        Err(Error::invalid("other fields than the first file").in_file(table.file().uri()))
    }

    /// Returns the fields of the columns, if none is computed.
    ///
    /// # Errors
    /// A column is computed.
    pub(super) fn positions(&self) -> Result<Vec<u32>> {
        let positions: Option<Vec<u32>> = self.fields.iter().copied().collect();
        positions.ok_or_else(|| Error::fault("a computed column among fields"))
    }
}

/// Whether two tables have fields with the same paths in the same order.
pub(super) fn has_same_fields(first: &Table, other: &Table) -> Result<bool> {
    let (first, other) = (first.fields()?, other.fields()?);
    let is_same = |(first, other): (&Field, &Field)| {
        (&first.path, first.has_data, first.is_part) == (&other.path, other.has_data, other.is_part)
    };
    Ok(first.len() == other.len() && first.iter().zip(other).all(is_same))
}
