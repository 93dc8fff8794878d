//! Selections of columns of a chain, stored or computed, and of entries.

use super::{
    Chain, ChainProjection, Damage, MissingColumns,
    file_schemas::{FileSchemas, SchemaColumns},
    is_unreadable, opening,
    survey::Survey,
};
use crate::{SelectOptions, Selection, Table};
use forthwith_columns::Form;
use forthwith_plan::{Error, Result};
use std::{ops::Range, sync::Arc};

/// Columns of a chain, from [`Chain::select`].
#[derive(Clone, Debug)]
pub struct ChainSelection {
    pub(super) chain: Chain,
    pub(super) names: Arc<[String]>,
    pub(super) options: Arc<SelectOptions>,
    pub(super) lookup: ColumnLookup,
    pub(super) forms: Vec<Form>,
    /// Whether all columns are fields with the same type in all files, and all entries are read.
    pub(super) is_of_fields: bool,
    /// Whether expressions refer to entry numbers, which are counted across all files.
    pub(super) counts_entries: bool,
    pub(super) bits: bool,
}

/// Look-up of the columns of a chain in a file.
#[derive(Clone, Debug)]
pub(super) enum ColumnLookup {
    /// By name, with common types across all files.
    Names(Arc<Survey>),
    /// By their positions in the table of each schema, whose fields the files of the schema must have.
    Schemas(Arc<FileSchemas>),
    /// By positions that are given for each file. Further columns are computed.
    Projection(Arc<ChainProjection>),
}

impl Chain {
    /// Selects columns by names, aliases or expressions, as [`Table::select`] does. Entries and friends are
    /// counted across all files.
    ///
    /// # Errors
    /// Errors of [`Table::select`], for the first file; with [`MissingColumns::Null`], a file that cannot be
    /// opened, or a column without a common type.
    pub fn select(&self, names: &[&str], options: SelectOptions) -> Result<ChainSelection> {
        let names: Arc<[String]> = names.iter().map(|name| (*name).to_owned()).collect();
        let survey = match self.options().missing {
            MissingColumns::Raise => Survey::default(),
            MissingColumns::Null => Survey::of(self, &names, &options)?,
        };
        let is_alike = survey.is_empty();
        let mut selection = ChainSelection::new(self, names, options, ColumnLookup::Names(Arc::new(survey)));
        let table = self.first_table()?;
        let first = selection.of_table(&table, 0, 0)?;
        selection.forms = first.forms()?;
        selection.counts_entries = first.counts_entries();
        let found = selection.names.iter().map(|name| table.found(name));
        let are_fields = found.collect::<Result<Vec<_>>>()?.iter().all(Option::is_some);
        selection.is_of_fields = are_fields && is_alike && first.is_of_fields_alone();
        Ok(selection)
    }

    /// Selects columns of files that all have the fields of the first one, whose table is `first`, in the
    /// same order. Columns may be fields, given by their positions, as for [`Table::select_fields`].
    /// [`ChainSelection::read_alike`] reads them. No file is opened.
    ///
    /// # Errors
    /// Errors of [`Table::select_fields`].
    pub fn select_like(
        &self,
        first: &Table,
        columns: &[(&str, Option<u32>)],
        options: SelectOptions,
    ) -> Result<ChainSelection> {
        Ok(ChainSelection::like(self, first, columns, options, 0)?.0)
    }

    /// Selects fields that were chosen in each file, followed by computed columns, which are aliases or
    /// expressions. If anything is computed or cut, all files are opened, and each computed column must have
    /// the same type in all of them, apart from options.
    ///
    /// # Errors
    /// Errors of [`Table::select_fields`], for the first file that fails.
    pub fn select_projected(
        &self,
        projection: &Arc<ChainProjection>,
        computed: &[&str],
        options: SelectOptions,
    ) -> Result<ChainSelection> {
        if projection.len() != self.len() {
            let (found, expected) = (projection.len(), self.len());
            return Err(Error::invalid(format!("a projection of {found} files for a chain of {expected}")));
        }
        let fields = projection.columns().map(|(name, form)| (name.to_owned(), form.clone()));
        let (mut names, mut forms): (Vec<String>, Vec<Form>) = fields.unzip();
        let count = names.len();
        names.extend(computed.iter().map(|name| (*name).to_owned()));
        let has_expressions = !computed.is_empty() || options.cut.is_some() || !options.aliases.is_empty();
        let lookup = ColumnLookup::Projection(Arc::clone(projection));
        let mut selection = ChainSelection::new(self, names.into(), options, lookup);
        let look = |file: usize| -> Result<(Vec<Form>, bool)> {
            let of_file = selection.of_table(&self.table(file)?, file, 0)?;
            Ok((of_file.forms()?.split_off(count), of_file.counts_entries()))
        };
        let mut united: Option<(usize, Vec<Form>)> = None;
        let mut counts_entries = false;
        let looked_at = if has_expressions { 0..self.len() } else { 0..0 };
        for (file, found) in looked_at.clone().zip(opening::side_by_side(self, looked_at, &look)) {
            let (found, counts) = match found {
                Err(error) if self.options().damage == Damage::Skip && is_unreadable(&error) => continue,
                found => found?,
            };
            counts_entries |= counts;
            match &mut united {
                None => united = Some((file, found)),
                Some((first, united)) => {
                    for ((form, other), name) in united.iter_mut().zip(found).zip(computed) {
                        *form = projection.unite_computed(name, (*first, &*form), (file, other))?;
                    }
                }
            }
        }
        forms.extend(united.into_iter().flat_map(|(_, forms)| forms));
        (selection.forms, selection.counts_entries) = (forms, counts_entries);
        Ok(selection)
    }

    /// Opens the first table that can be opened, if unreadable files are left out.
    fn first_table(&self) -> Result<Table> {
        let mut first = self.table(0);
        for file in 1..self.len() {
            match &first {
                Err(error) if self.options().damage == Damage::Skip && is_unreadable(error) => {
                    first = self.table(file);
                }
                _ => break,
            }
        }
        first
    }

    /// Selects columns of files of several schemas. `names` are the labels of the columns; `of_file` has the
    /// position of each file's schema. Computed columns, the cut and `options` apply to all files; each
    /// schema has its own [`united`](SelectOptions::united) columns. [`ChainSelection::read_runs`] reads
    /// them. No file is opened.
    ///
    /// # Errors
    /// Errors of [`Table::select_fields`], for any schema; the schemas do not match the files or columns.
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
        let lookup = ColumnLookup::Schemas(Arc::new(FileSchemas::new(schemas.clone(), of_file)));
        let mut selection = ChainSelection::new(self, names, options, lookup);
        for schema in &schemas {
            of_schemas.push(selection.of_table(&schema.table, schema.file, 0)?);
        }
        if let Some(first) = of_schemas.first() {
            selection.forms = first.forms()?;
        }
        selection.counts_entries = of_schemas.iter().any(Selection::counts_entries);
        let are_fields = schemas.iter().all(|schema| schema.fields.iter().all(Option::is_some));
        selection.is_of_fields = are_fields && of_schemas.iter().all(Selection::is_of_fields_alone);
        Ok(selection)
    }
}

impl ChainSelection {
    pub(super) fn new(
        chain: &Chain,
        names: Arc<[String]>,
        options: SelectOptions,
        lookup: ColumnLookup,
    ) -> Self {
        let (chain, options) = (chain.clone(), Arc::new(options));
        let (forms, is_of_fields, counts_entries, bits) = (Vec::new(), false, false, false);
        Self { chain, names, options, lookup, forms, is_of_fields, counts_entries, bits }
    }

    /// Selects columns of files with the fields of `first`, and those of this table itself, which has
    /// `before` entries of other files before it.
    pub(super) fn like(
        chain: &Chain,
        first: &Table,
        columns: &[(&str, Option<u32>)],
        options: SelectOptions,
        before: u64,
    ) -> Result<(Self, Selection)> {
        let names: Arc<[String]> = columns.iter().map(|(name, _)| (*name).to_owned()).collect();
        let fields: Vec<Option<u32>> = columns.iter().map(|(_, field)| *field).collect();
        let are_fields = fields.iter().all(Option::is_some);
        let schemas = FileSchemas::like(first, fields, options.united.clone());
        let lookup = ColumnLookup::Schemas(Arc::new(schemas));
        let mut selection = Self::new(chain, names, options, lookup);
        let of_first = selection.of_table(first, 0, before)?;
        selection.forms = of_first.forms()?;
        selection.counts_entries = of_first.counts_entries();
        selection.is_of_fields = are_fields && of_first.is_of_fields_alone();
        Ok((selection, of_first))
    }

    /// Selects columns of files that were compared already, for reading in steps only.
    pub(super) fn with_survey(chain: &Chain, names: &[&str], options: SelectOptions, survey: Survey) -> Self {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        Self::new(chain, names, options, ColumnLookup::Names(Arc::new(survey)))
    }

    /// Returns the chain.
    #[must_use]
    pub fn chain(&self) -> &Chain {
        &self.chain
    }

    /// Returns the names of the columns, as they were given.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the Form of each column in the first file, or with [`MissingColumns::Null`] and for a
    /// projection, its common Form across all files.
    #[must_use]
    pub fn forms(&self) -> &[Form] {
        &self.forms
    }

    /// Sets whether options are read as validity bits; see [`Selection::with_bits`].
    #[must_use]
    pub fn with_bits(mut self, bits: bool) -> Self {
        self.bits = bits;
        self
    }

    /// Returns the selection for the table of one file, which has `before` entries of other files before it.
    ///
    /// # Errors
    /// Errors of [`Table::select`].
    pub(super) fn of_table(&self, table: &Table, file: usize, before: u64) -> Result<Selection> {
        let options = &*self.options;
        let entries = options.entries.as_ref().map(|all| -> Result<Vec<u64>> {
            let end = before.saturating_add(table.entries()?);
            let (from, to) =
                (all.partition_point(|entry| *entry < before), all.partition_point(|entry| *entry < end));
            Ok(all.get(from..to).unwrap_or_default().iter().map(|entry| entry - before).collect())
        });
        let friends = options.friends.iter().cloned().map(|mut friend| {
            friend.before = friend.before.saturating_add(before);
            friend
        });
        let options = SelectOptions {
            aliases: options.aliases.clone(),
            cut: options.cut.clone(),
            entries: entries.transpose()?,
            friends: friends.collect(),
            united: match &self.lookup {
                // The schema's fields have the same positions in this table.
                ColumnLookup::Schemas(schemas) => schemas.of(file)?.united.clone(),
                ColumnLookup::Names(survey) => survey.united(table)?,
                ColumnLookup::Projection(projection) => projection.united(file),
            },
            before: options.before.saturating_add(before),
        };
        let names = self.names.iter().map(String::as_str);
        let selection = match &self.lookup {
            ColumnLookup::Names(_) => table.select(&names.collect::<Vec<_>>(), options)?,
            ColumnLookup::Schemas(schemas) => {
                let schema = schemas.of(file)?;
                schema.check(table)?;
                table.select_fields(&names.zip(schema.fields.iter().copied()).collect::<Vec<_>>(), options)?
            }
            ColumnLookup::Projection(projection) => {
                let fields = projection.fields_of(file, table)?.into_iter().chain(std::iter::repeat(None));
                table.select_fields(&names.zip(fields).collect::<Vec<_>>(), options)?
            }
        };
        Ok(selection.with_bits(self.bits))
    }

    /// Returns the fields of the first schema.
    pub(super) fn fields(&self) -> Vec<u32> {
        let ColumnLookup::Schemas(schemas) = &self.lookup else { return Vec::new() };
        schemas.first_fields()
    }

    /// Limits a range to the entries that are read of a file.
    pub(super) fn entries_of(&self, file: usize, range: Range<u64>) -> Range<u64> {
        let ColumnLookup::Projection(projection) = &self.lookup else { return range };
        let Some(entries) = projection.entries_of(file) else { return range };
        let start = range.start.max(entries.start).min(range.end);
        start..range.end.min(entries.end).max(start)
    }
}
