//! Schemas of a chain: files with the same fields and types.

use super::ChainSelection;
use crate::{SelectOptions, Selection, Step, Table, UnitedColumn};
use forthwith_plan::Result;

/// Options for reading the files of one schema, see
/// [`AlikeSteps::begin_like`](super::AlikeSteps::begin_like).
#[derive(Clone, Debug, Default)]
pub struct SchemaOptions {
    /// Columns with a common type across several files.
    pub united: Vec<UnitedColumn>,
    /// Aliases and cut, if they differ from those of all files.
    pub expressions: Option<SchemaExpressions>,
    /// Step size by decompressed sizes, if it differs from that of all files.
    pub payload_step: Option<PayloadStep>,
    /// Whether tables of the schema must also have the same format and type names, by which a caller may
    /// display values.
    pub has_type_names: bool,
}

/// Aliases and cut of the files of one schema.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SchemaExpressions {
    /// Aliases, as in [`SelectOptions::aliases`].
    pub aliases: Vec<(String, String)>,
    /// Cut, as in [`SelectOptions::cut`].
    pub cut: Option<String>,
}

/// Step of as many entries as have about `bytes` decompressed bytes in some fields, by the average of the
/// file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PayloadStep {
    /// Number of bytes of a step.
    pub bytes: u64,
    /// Positions of the fields whose bytes are counted. A field may be counted several times.
    pub fields: Vec<u32>,
}

/// Selection for files that have the same fields and types as its first table.
pub(super) struct Schema {
    id: u64,
    selection: ChainSelection,
    payload_step: Option<PayloadStep>,
    /// Names of the format and of the types of columns that are fields.
    type_names: Option<Vec<String>>,
}

impl SchemaOptions {
    /// Merges these options with those of all files.
    pub(super) fn select(&self, all: &SelectOptions) -> SelectOptions {
        let mut options = SelectOptions { united: self.united.clone(), ..all.clone() };
        if let Some(SchemaExpressions { aliases, cut }) = self.expressions.clone() {
            (options.aliases, options.cut) = (aliases, cut);
        }
        options
    }
}

impl PayloadStep {
    /// Returns the number of entries of a step in a table, at least one.
    fn entries(&self, table: &Table) -> Result<u64> {
        let mut payload = 0_u64;
        for field in &self.fields {
            payload = payload.saturating_add(table.describe(*field)?.payload_bytes);
        }
        let entries = table.entries()?.max(1);
        if payload == 0 {
            return Ok(entries);
        }
        let wanted = self.bytes as f64 * entries as f64 / payload as f64;
        Ok((wanted.round_ties_even() as u64).max(1))
    }
}

impl Schema {
    pub(super) fn new(
        id: u64,
        selection: ChainSelection,
        options: SchemaOptions,
        first: &Table,
    ) -> Result<Self> {
        let mut schema = Self { id, selection, payload_step: options.payload_step, type_names: None };
        if options.has_type_names {
            schema.type_names = Some(schema.type_names_in(first)?);
        }
        Ok(schema)
    }

    pub(super) fn id(&self) -> u64 {
        self.id
    }

    /// Returns the step size for a table.
    ///
    /// # Errors
    /// Damaged metadata.
    pub(super) fn step(&self, table: &Table, all: Step) -> Result<Step> {
        let Some(payload) = &self.payload_step else { return Ok(all) };
        payload.entries(table).map(Step::Entries)
    }

    /// Returns the selection that reads a file; `None` if it has another schema.
    pub(super) fn selection_of(&self, table: &Table, file: usize, before: u64) -> Option<Selection> {
        let selection = self.selection.of_table(table, file, before).ok()?;
        if !selection.forms().is_ok_and(|forms| forms == self.selection.forms()) {
            return None;
        }
        let is_same = |names: &Vec<String>| self.type_names_in(table).is_ok_and(|found| found == *names);
        self.type_names.as_ref().is_none_or(is_same).then_some(selection)
    }

    fn type_names_in(&self, table: &Table) -> Result<Vec<String>> {
        let mut names = vec![table.dataset().format().to_owned()];
        for field in self.selection.fields() {
            names.push(table.describe(field)?.type_name);
        }
        Ok(names)
    }
}
