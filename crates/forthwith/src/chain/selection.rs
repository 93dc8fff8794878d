//! Columns of a chain, read or computed, of all entries or of some.

use super::{
    Chain, ChainLoss, Damage, MissingColumns, Portion,
    fill::{Reading, Segment, Wanted, has_same_fields, together},
    is_unreadable,
    survey::Survey,
};
use crate::{Loss, ProgressCallback, SelectOptions, Selected, Selection, Table, table::bounds};
use forthwith_columns::{Array, Form};
use forthwith_plan::{Error, ErrorKind, Result};
use std::{
    ops::{Range, RangeBounds},
    sync::Arc,
};

/// Columns of the tables of a chain: [`Chain::select`] makes it.
#[derive(Clone, Debug)]
pub struct ChainSelection {
    chain: Chain,
    names: Arc<[String]>,
    options: Arc<SelectOptions>,
    survey: Arc<Survey>,
    forms: Vec<Form>,
    /// The table of the first file and the fields of columns in it, if all files must have the same fields.
    like: Option<(Table, Arc<[Option<u32>]>)>,
    /// Whether all columns are fields of the files in one type, and all entries are read.
    is_of_fields: bool,
    /// Whether entries are counted in all files together.
    counts_entries: bool,
    bits: bool,
}

/// Entries of a chain that were read.
#[derive(Debug)]
pub struct ChainSelected {
    /// The entries looked at, counted in all files.
    pub entries: Range<u64>,
    /// Those of them that the arrays have, if these may not be all.
    pub kept: Option<Vec<u64>>,
    /// An array for each column.
    pub arrays: Vec<Array>,
    /// Entries and files that were left out, or whose values are missing.
    pub lost: Vec<ChainLoss>,
}

/// The entries of one file.
struct FilePart {
    file: usize,
    uri: String,
    /// The entries looked at, counted in the file.
    entries: Range<u64>,
    /// Entries of the whole file.
    length: u64,
    kept: Option<Vec<u64>>,
    arrays: Vec<Array>,
    losses: Vec<Loss>,
}

/// The entries of one file, or the number of a file that is left out and why.
type FileResult = Result<FilePart, (usize, Error)>;

impl Chain {
    /// Columns by their names, aliases or expressions, as [`Table::select`] takes them. Entries and friends are counted in all files
    /// together.
    ///
    /// # Errors
    /// As [`Table::select`], of the first file; with [`MissingColumns::Null`] a file that cannot be opened, or a column whose
    /// types have no common one.
    pub fn select(&self, names: &[&str], options: SelectOptions) -> Result<ChainSelection> {
        let names: Arc<[String]> = names.iter().map(|name| (*name).to_owned()).collect();
        let survey = match self.options().missing {
            MissingColumns::Raise => Survey::default(),
            MissingColumns::Null => Survey::of(self, &names, &options)?,
        };
        let mut selection = ChainSelection::new(self, names, options);
        selection.survey = Arc::new(survey);
        let table = self.first_table()?;
        let first = selection.of_table(&table, 0)?;
        selection.forms = first.forms()?;
        selection.counts_entries = first.counts_entries();
        let found = selection.names.iter().map(|name| table.found(name));
        let are_fields = found.collect::<Result<Vec<_>>>()?.iter().all(Option::is_some);
        selection.is_of_fields = are_fields && selection.survey.is_empty() && first.is_of_fields_alone();
        Ok(selection)
    }

    /// Columns of files that all have the fields of the first one, of which this is the table, in its order. Fields may be given by
    /// their positions in it, as [`Table::select_fields`] takes them. [`ChainSelection::read_alike`] reads them.
    ///
    /// # Errors
    /// As [`Table::select_fields`]. No file is opened.
    pub fn select_like(
        &self,
        first: &Table,
        columns: &[(&str, Option<u32>)],
        options: SelectOptions,
    ) -> Result<ChainSelection> {
        Ok(ChainSelection::like(self, first, columns, options, 0)?.0)
    }

    /// The first table that can be opened, where those that cannot are left out.
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
}

impl ChainSelection {
    fn new(chain: &Chain, names: Arc<[String]>, options: SelectOptions) -> Self {
        let (chain, options) = (chain.clone(), Arc::new(options));
        let (survey, forms) = (Arc::default(), Vec::new());
        Self {
            chain,
            names,
            options,
            survey,
            forms,
            like: None,
            is_of_fields: false,
            counts_entries: false,
            bits: false,
        }
    }

    /// Columns of files with the fields of a table, and the columns of the table, which has `before` entries of other files before it.
    pub(super) fn like(
        chain: &Chain,
        first: &Table,
        columns: &[(&str, Option<u32>)],
        options: SelectOptions,
        before: u64,
    ) -> Result<(Self, Selection)> {
        let names: Arc<[String]> = columns.iter().map(|(name, _)| (*name).to_owned()).collect();
        let fields: Arc<[Option<u32>]> = columns.iter().map(|(_, field)| *field).collect();
        let are_fields = fields.iter().all(Option::is_some);
        let mut selection = Self { like: Some((first.clone(), fields)), ..Self::new(chain, names, options) };
        let of_first = selection.of_table(first, before)?;
        selection.forms = of_first.forms()?;
        selection.counts_entries = of_first.counts_entries();
        selection.is_of_fields = are_fields && of_first.is_of_fields_alone();
        Ok((selection, of_first))
    }

    /// Columns of files that were compared already. Only steps of it are read.
    pub(super) fn with_survey(chain: &Chain, names: &[&str], options: SelectOptions, survey: Survey) -> Self {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        Self { survey: Arc::new(survey), ..Self::new(chain, names, options) }
    }

    /// The chain.
    #[must_use]
    pub fn chain(&self) -> &Chain {
        &self.chain
    }

    /// The names of the columns, as they were asked for.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The Form of each column in the first file, or with [`MissingColumns::Null`] in all files together.
    #[must_use]
    pub fn forms(&self) -> &[Form] {
        &self.forms
    }

    /// As [`Selection::with_bits`].
    #[must_use]
    pub fn with_bits(mut self, bits: bool) -> Self {
        self.bits = bits;
        self
    }

    /// The columns of one table, before which there are so many entries.
    ///
    /// # Errors
    /// As [`Table::select`].
    pub(super) fn of_table(&self, table: &Table, before: u64) -> Result<Selection> {
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
            united: match &self.like {
                // Fields of the first table are those of this one.
                Some(_) => options.united.clone(),
                None => self.survey.united(table)?,
            },
            before: options.before.saturating_add(before),
        };
        let selection = match &self.like {
            None => table.select(&self.names.iter().map(String::as_str).collect::<Vec<_>>(), options)?,
            Some((first, fields)) => {
                if !has_same_fields(first, table)? {
                    return Err(
                        Error::invalid("other fields than the first file").in_file(table.file().uri())
                    );
                }
                let columns = self.names.iter().map(String::as_str).zip(fields.iter().copied());
                table.select_fields(&columns.collect::<Vec<_>>(), options)?
            }
        };
        Ok(selection.with_bits(self.bits))
    }

    /// Reads and computes the columns for a range of entries. `threads` and `tick` are those of [`Table::read`]; the progress is that of
    /// the files that are read together.
    ///
    /// # Errors
    /// As [`Selection::read`], of the first file that has an error; columns without a common type.
    pub fn read(
        &self,
        entries: impl RangeBounds<u64>,
        threads: Option<usize>,
        tick: Option<&mut ProgressCallback<'_>>,
    ) -> Result<ChainSelected> {
        let (start, end) = bounds(&entries);
        let range = start..end.unwrap_or(u64::MAX);
        let portions = self.chain.portions(&range)?;
        if self.is_of_fields && self.like.is_none() && self.chain.options().damage == Damage::Raise {
            let fields = Wanted::Names(&self.names);
            let mut reading = Reading { fields, portions: &portions, bits: self.bits, threads, tick };
            let arrays = self.chain.fill(&mut reading)?;
            return self.of_all(&range, arrays);
        }
        let (first, parts) = self.parts(portions, threads, tick)?;
        self.assembled(first, parts)
    }

    /// The same for files that all have the columns in one type, in which nothing has to be converted. `None` if they have not, or if
    /// something is wrong with one of them, which reading it by itself tells.
    ///
    /// # Errors
    /// [`Cancelled`](ErrorKind::Cancelled).
    pub fn read_alike(
        &self,
        entries: impl RangeBounds<u64>,
        threads: Option<usize>,
        tick: Option<&mut ProgressCallback<'_>>,
    ) -> Result<Option<ChainSelected>> {
        let (start, end) = bounds(&entries);
        let read = || -> Result<Option<ChainSelected>> {
            let range = start..end.unwrap_or(u64::MAX);
            let portions = self.chain.portions(&range)?;
            let Some((first, fields)) = &self.like else { return Ok(None) };
            let fields: Option<Vec<u32>> = fields.iter().copied().collect();
            if let (true, Some(fields)) = (self.is_of_fields, fields) {
                let fields = Wanted::Like(first, &fields);
                let mut reading = Reading { fields, portions: &portions, bits: self.bits, threads, tick };
                let arrays = self.chain.fill_alike(&mut reading)?;
                return arrays.map(|arrays| self.of_all(&range, arrays)).transpose();
            }
            let (first, parts) = self.parts(portions, threads, tick)?;
            let is_alike = |part: &FileResult| {
                part.as_ref()
                    .is_ok_and(|part| part.arrays.iter().map(|array| &array.form).eq(self.forms.iter()))
            };
            if parts.iter().all(is_alike) { self.assembled(first, parts).map(Some) } else { Ok(None) }
        };
        match read() {
            Err(error) if !matches!(error.kind, ErrorKind::Cancelled) => Ok(None),
            // Of no entries the type is not that of any file.
            Ok(Some(read)) if read.entries.is_empty() => Ok(None),
            read => read,
        }
    }

    /// All entries of a range.
    fn of_all(&self, range: &Range<u64>, arrays: Vec<Array>) -> Result<ChainSelected> {
        let rows = match arrays.first() {
            Some(array) => array.length,
            None => self.chain.entries()?.min(range.end).saturating_sub(range.start),
        };
        let entries = range.start..range.start.saturating_add(rows);
        Ok(ChainSelected { entries, kept: None, arrays, lost: Vec::new() })
    }

    /// The parts of all files, each read by itself, and the entries before the first of them. A file that may be left out is an error
    /// among them.
    fn parts(
        &self,
        mut portions: Vec<Portion>,
        threads: Option<usize>,
        tick: Option<&mut ProgressCallback<'_>>,
    ) -> Result<(u64, Vec<FileResult>)> {
        if self.needs_entry_numbers() {
            let mut before = 0_u64;
            for (portion, length) in portions.iter_mut().zip(self.chain.lengths()?) {
                if portion.before.is_none() {
                    portion.before = Some(before);
                }
                before = before.saturating_add(length);
            }
        }
        let skips = self.chain.options().damage == Damage::Skip;
        let parts = self.chain.for_files(&portions, threads, tick, &|portion, threads, tick| match self
            .part(portion, threads, tick)
        {
            Err(error) if skips && is_unreadable(&error) => Ok(Err((portion.file, error))),
            part => part.map(Ok),
        })?;
        Ok((portions.first().and_then(|portion| portion.before).unwrap_or(0), parts))
    }

    /// Whether something that is read depends on the numbers that entries have in all files together.
    fn needs_entry_numbers(&self) -> bool {
        self.counts_entries || self.options.entries.is_some() || !self.options.friends.is_empty()
    }

    /// The entries of one file.
    fn part(
        &self,
        portion: &Portion,
        threads: Option<usize>,
        tick: &mut ProgressCallback<'_>,
    ) -> Result<FilePart> {
        let mut table = match &self.like {
            Some((first, _)) if portion.file == 0 => first.clone(),
            _ => self.chain.table(portion.file)?,
        };
        let mut losses = Vec::new();
        if self.chain.options().damage == Damage::Skip {
            let (sound, gaps) = table.sound()?;
            losses.extend(gaps.into_iter().map(|gap| Loss::of_gap(&sound, gap)));
            table = sound;
        }
        let length = table.entries()?;
        self.chain.set_length(portion.file, length);
        let range = portion.entries.clone().unwrap_or(0..length);
        let selection = self.of_table(&table, portion.before.unwrap_or(0))?;
        let (read, more) = read_part(&selection, self.chain.options().damage, range.clone(), threads, tick)?;
        losses.extend(more);
        let Selected { kept, arrays, .. } = read;
        let uri = table.file().uri().to_owned();
        Ok(FilePart { file: portion.file, uri, entries: range, length, kept, arrays, losses })
    }

    /// Puts the parts of all files together.
    fn assembled(&self, first: u64, parts: Vec<FileResult>) -> Result<ChainSelected> {
        let (mut before, mut lost, mut segments) = (first, Vec::new(), Vec::new());
        let chooses = self.options.cut.is_some() || self.options.entries.is_some();
        let leaves_out = self.chain.options().damage == Damage::Skip;
        let mut kept = (chooses || leaves_out).then(Vec::new);
        let mut bounds: Option<Range<u64>> = None;
        for part in parts {
            let part = match part {
                Ok(part) => part,
                Err((file, error)) => {
                    lost.push(ChainLoss { file, loss: Loss { entries: 0..0, error } });
                    continue;
                }
            };
            let (from, to) = (before + part.entries.start, before + part.entries.end);
            bounds = Some(bounds.map_or(from..to, |all| all.start..to));
            if let Some(kept) = &mut kept {
                match part.kept {
                    Some(entries) => kept.extend(entries.into_iter().map(|entry| before + entry)),
                    None => kept.extend(from..to),
                }
            }
            lost.extend(part.losses.into_iter().map(|loss| ChainLoss { file: part.file, loss }));
            segments.push(Segment { uri: part.uri, arrays: part.arrays });
            before = before.saturating_add(part.length);
        }
        if segments.is_empty()
            && let Some(ChainLoss { loss, .. }) = lost.pop()
        {
            return Err(loss.error);
        }
        let arrays = together(&self.names, segments)?;
        Ok(ChainSelected { entries: bounds.unwrap_or(first..first), kept, arrays, lost })
    }
}

/// Reads a range of a file by a treatment of damage.
pub(super) fn read_part(
    selection: &Selection,
    damage: Damage,
    range: Range<u64>,
    threads: Option<usize>,
    tick: &mut ProgressCallback<'_>,
) -> Result<(Selected, Vec<Loss>)> {
    match damage {
        Damage::Raise => Ok((selection.read(range, threads, Some(tick))?, Vec::new())),
        Damage::Null => selection.read_with_nulls(range, threads, tick),
        Damage::Skip => selection.read_around(range, threads, tick),
    }
}
