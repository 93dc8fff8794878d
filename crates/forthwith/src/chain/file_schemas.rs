//! Files of several schemas: the columns are chosen once in a table of each schema.

use crate::{Table, UnitedColumn};
use forthwith_plan::{Error, Field, Result};

/// Columns of the files of one schema, chosen in the table of one of them: [`Chain::select_schemas`](crate::Chain::select_schemas) takes them.
#[derive(Clone, Debug)]
pub struct SchemaColumns {
    /// The table, whose fields all files of the schema have.
    pub table: Table,
    /// The number of its file.
    pub file: usize,
    /// The position of each column that is a field; `None` of computed ones.
    pub fields: Vec<Option<u32>>,
    /// Columns in the types that the files of all schemas have together.
    pub united: Vec<UnitedColumn>,
    /// A number that schemas share whose files may be read into one result, such as those with the same metadata of Arrow.
    pub group: usize,
}

/// The schema of each file.
#[derive(Clone, Debug)]
pub(super) struct FileSchemas {
    /// At least one.
    schemas: Vec<SchemaColumns>,
    /// The position of each file's schema; without any, all files have the first.
    of_file: Vec<usize>,
}

impl FileSchemas {
    /// The schemas, and the position of each file's.
    pub(super) const fn new(schemas: Vec<SchemaColumns>, of_file: Vec<usize>) -> Self {
        Self { schemas, of_file }
    }

    /// All files have the schema of the first one.
    pub(super) fn like(first: &Table, fields: Vec<Option<u32>>, united: Vec<UnitedColumn>) -> Self {
        let schema = SchemaColumns { table: first.clone(), file: 0, fields, united, group: 0 };
        Self { schemas: vec![schema], of_file: Vec::new() }
    }

    /// The schema of a file.
    ///
    /// # Errors
    /// No file has this number.
    pub(super) fn of(&self, file: usize) -> Result<&SchemaColumns> {
        let at = if self.of_file.is_empty() { Some(0) } else { self.of_file.get(file).copied() };
        at.and_then(|at| self.schemas.get(at))
            .ok_or_else(|| Error::fault(format!("no schema of file {file}")))
    }

    /// The group of the schema of a file.
    pub(super) fn group(&self, file: usize) -> Option<usize> {
        self.of(file).ok().map(|schema| schema.group)
    }

    /// The fields of the first schema at the positions that they have in it.
    pub(super) fn first_fields(&self) -> Vec<u32> {
        self.schemas.first().map_or_else(Vec::new, |schema| schema.fields.iter().flatten().copied().collect())
    }
}

impl SchemaColumns {
    /// The table of a file, if it is that in which the columns were chosen.
    pub(super) fn table_of(&self, file: usize) -> Option<Table> {
        (self.file == file).then(|| self.table.clone())
    }

    /// # Errors
    /// A table has other fields.
    pub(super) fn check(&self, table: &Table) -> Result<()> {
        if has_same_fields(&self.table, table)? {
            return Ok(());
        }
        Err(Error::invalid("other fields than the first file").in_file(table.file().uri()))
    }

    /// The positions of the columns, if all are fields.
    ///
    /// # Errors
    /// A column is computed.
    pub(super) fn positions(&self) -> Result<Vec<u32>> {
        let positions: Option<Vec<u32>> = self.fields.iter().copied().collect();
        positions.ok_or_else(|| Error::fault("a computed column among fields"))
    }
}

/// Whether two tables have fields of the same paths in the same order.
pub(super) fn has_same_fields(first: &Table, other: &Table) -> Result<bool> {
    let (first, other) = (first.fields()?, other.fields()?);
    let is_same = |(first, other): (&Field, &Field)| {
        (&first.path, first.has_data, first.is_part) == (&other.path, other.has_data, other.is_part)
    };
    Ok(first.len() == other.len() && first.iter().zip(other).all(is_same))
}
