//! Schemas of the files of a chain: what files have in common that are read by the same columns.

use super::ChainSelection;
use crate::{SelectOptions, Selection, Step, Table, UnitedColumn};
use forthwith_plan::Result;

/// How the files of one schema are read: what [`AlikeSteps::begin_like`](super::AlikeSteps::begin_like) takes beside the columns.
#[derive(Clone, Debug, Default)]
pub struct SchemaOptions {
    /// Columns in the types that they have in several files together.
    pub united: Vec<UnitedColumn>,
    /// Aliases and cut, if they are not those of all files.
    pub expressions: Option<SchemaExpressions>,
    /// Step size by stored sizes, if it is not that of all files.
    pub payload_step: Option<PayloadStep>,
    /// Whether tables of the schema also have one format, and the names of their types are equal: a caller may show values by these.
    pub has_type_names: bool,
}

/// Aliases and cut of the files of one schema.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SchemaExpressions {
    /// As [`SelectOptions::aliases`].
    pub aliases: Vec<(String, String)>,
    /// As [`SelectOptions::cut`].
    pub cut: Option<String>,
}

/// A step of as many entries as have about this many decompressed bytes in some fields, by the average of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PayloadStep {
    /// Bytes of a step.
    pub bytes: u64,
    /// The fields whose bytes are counted, by their positions. A field may be counted several times.
    pub fields: Vec<u32>,
}

/// Columns of files that have the fields of the selection's first table in the same types.
pub(super) struct Schema {
    id: u64,
    selection: ChainSelection,
    payload_step: Option<PayloadStep>,
    /// Names of the format, and of the types of the columns that are fields.
    type_names: Option<Vec<String>>,
}

impl SchemaOptions {
    /// Options of a selection, of which some are for all files.
    pub(super) fn select(&self, all: &SelectOptions) -> SelectOptions {
        let mut options = SelectOptions { united: self.united.clone(), ..all.clone() };
        if let Some(SchemaExpressions { aliases, cut }) = self.expressions.clone() {
            (options.aliases, options.cut) = (aliases, cut);
        }
        options
    }
}

impl PayloadStep {
    /// Entries of a step in one table, at least one.
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

    /// The step size in one table.
    ///
    /// # Errors
    /// Damaged metadata.
    pub(super) fn step(&self, table: &Table, all: Step) -> Result<Step> {
        let Some(payload) = &self.payload_step else { return Ok(all) };
        payload.entries(table).map(Step::Entries)
    }

    /// The selection that reads a file; `None` if it is of another schema.
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
