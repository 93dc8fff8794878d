//! Files of several schemas: the columns are chosen once in a table of each schema.

use super::{Chain, ChainSelection, fill::has_same_fields, selection::ColumnLookup};
use crate::{SelectOptions, Table, UnitedColumn};
use forthwith_plan::{Error, Result};
use std::sync::Arc;

/// Columns of the files of one schema, chosen in the table of one of them: [`Chain::select_schemas`] takes them.
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

impl Chain {
    /// Columns by labels, of files of several schemas. `of_file` has the position of each file's schema. Computed columns, the cut and
    /// `options` are the same for all files; [`united`](SelectOptions::united) columns are those of the schemas.
    /// [`ChainSelection::read_runs`] reads them.
    ///
    /// # Errors
    /// As [`Table::select_fields`], of any schema; not one schema for each file. No file is opened.
    pub fn select_schemas(
        &self,
        names: &[&str],
        schemas: Vec<SchemaColumns>,
        of_file: Vec<usize>,
        options: SelectOptions,
    ) -> Result<ChainSelection> {
        let has_all = of_file.len() == self.len() && of_file.iter().all(|at| *at < schemas.len());
        if !has_all || schemas.iter().any(|schema| schema.fields.len() != names.len()) {
            return Err(Error::invalid("schemas that are not those of all files and columns"));
        }
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        let mut of_schemas = Vec::with_capacity(schemas.len());
        let lookup = ColumnLookup::Schemas(Arc::new(FileSchemas { schemas: schemas.clone(), of_file }));
        let mut selection = ChainSelection::new(self, names, options, lookup);
        for schema in &schemas {
            of_schemas.push(selection.of_table(&schema.table, schema.file, 0)?);
        }
        if let Some(first) = of_schemas.first() {
            selection.forms = first.forms()?;
        }
        selection.counts_entries = of_schemas.iter().any(crate::Selection::counts_entries);
        let are_fields = schemas.iter().all(|schema| schema.fields.iter().all(Option::is_some));
        selection.is_of_fields = are_fields && of_schemas.iter().all(crate::Selection::is_of_fields_alone);
        Ok(selection)
    }
}

impl FileSchemas {
    /// All files have the schema of the first one.
    pub(super) fn like(first: &Table, fields: Vec<Option<u32>>, united: Vec<UnitedColumn>) -> Self {
        let schema = SchemaColumns { table: first.clone(), file: 0, fields, united, group: 0 };
        Self { schemas: vec![schema], of_file: Vec::new() }
    }

    /// The schema of a file.
    ///
    /// # Errors
    /// There is no such file.
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
