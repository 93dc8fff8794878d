//! Steps over a chain whose columns the caller selects once for all files with the same fields and types.

use super::{
    Chain, ChainLoss, ChainSelection, ChainStep, Damage,
    schema::{Schema, SchemaOptions},
    steps::CurrentFile,
    walk::FileWalk,
};
use crate::{ProgressCallback, SelectOptions, Selected, Selection, Step, Table, table::bounds};
use forthwith_plan::{Error, Result};
use std::{
    collections::VecDeque,
    ops::{Range, RangeBounds},
};

/// Maximum number of remembered schemas, each of which keeps a file open; the least recently used one is
/// dropped.
const MOST_SCHEMAS: usize = 8;

/// Reads the files of a chain in steps; a step never spans two files. Files of unknown schema are returned,
/// and the caller [selects their columns](Self::begin_like), [reads the file with a selection](Self::begin)
/// or [skips it](Self::pass). Files of a known schema are opened and read directly.
///
/// ```
/// use forthwith::{AlikeStep, Chain, SchemaOptions, SelectOptions, Step};
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
///
/// let chain = Chain::of(&["tests/data/zmumu.root:events", "tests/data/zmumu.root:events"], Default::default())?;
/// let mut steps = chain.alike_steps(SelectOptions::default(), .., Step::Entries(1000));
/// let (mut asked, mut read) = (0, 0);
/// while let Some(step) = steps.read(None, &mut |_| true)? {
///     match step {
///         AlikeStep::Read { step, .. } => read += step.arrays[0].length,
///         AlikeStep::Unknown { file, .. } => {
///             let table = chain.table(file)?;
///             let field = table.find("MET_pt")?;
///             steps.begin_like(&table, &[("MET_pt", Some(field))], SchemaOptions::default())?;
///             asked += 1;
///         }
///     }
/// }
/// assert_eq!((asked, read), (1, 7200));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct AlikeSteps {
    files: FileWalk,
    options: SelectOptions,
    bits: bool,
    step: Step,
    /// Known schemas, most recently used first.
    schemas: VecDeque<Schema>,
    /// Number of schemas that the caller has selected columns for.
    named: u64,
    current: Option<(Option<u64>, CurrentFile)>,
    /// The file that was returned last, while the caller has not decided about it.
    asked: Option<usize>,
    returns_empty: bool,
    /// The entries to read of each file, if they are limited.
    file_entries: Option<FileEntries>,
}

/// Range of entries of each file, with the semantics of a Python slice: a negative bound counts from the end
/// of the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileEntries {
    /// First entry; `None` for the start of the file.
    pub start: Option<i64>,
    /// End of the range; `None` for the end of the file.
    pub stop: Option<i64>,
}

/// A step, or a file that the caller must decide about.
#[derive(Debug)]
pub enum AlikeStep {
    /// A step.
    Read {
        /// Number of the file's schema, from [`AlikeSteps::begin_like`]; `None` for a file that is read with
        /// a selection.
        schema: Option<u64>,
        /// Entries and arrays of the step.
        step: ChainStep,
    },
    /// A file that was not read, because its schema is unknown or it cannot be opened. With [`Damage::Skip`]
    /// and [`Damage::Null`], also a file with gaps.
    Unknown {
        /// Number of the file.
        file: usize,
        /// Number of entries of the files before it.
        before: u64,
    },
}

impl Chain {
    /// Returns steps over files whose columns are selected when they are reached. `options` apply to all
    /// files; `entries` are counted across all files.
    #[must_use]
    pub fn alike_steps(
        &self,
        options: SelectOptions,
        entries: impl RangeBounds<u64>,
        step: Step,
    ) -> AlikeSteps {
        let (start, end) = bounds(&entries);
        AlikeSteps {
            files: FileWalk::new(self.clone(), start..end.unwrap_or(u64::MAX)),
            options,
            bits: false,
            step,
            schemas: VecDeque::new(),
            named: 0,
            current: None,
            asked: None,
            returns_empty: false,
            file_entries: None,
        }
    }
}

impl FileEntries {
    /// Returns the range for a file of `entries` entries.
    #[must_use]
    pub fn of(self, entries: u64) -> Range<u64> {
        let resolve = |bound: i64| match bound {
            0.. => bound.unsigned_abs().min(entries),
            _ => entries.saturating_sub(bound.unsigned_abs()),
        };
        let start = self.start.map_or(0, resolve);
        start..self.stop.map_or(entries, resolve).max(start)
    }
}

impl AlikeSteps {
    /// Sets whether options are read as validity bits; see [`Selection::with_bits`].
    #[must_use]
    pub fn with_bits(mut self, bits: bool) -> Self {
        self.bits = bits;
        self
    }

    /// Sets whether files of unknown schema are returned even if they are empty; by default, these are
    /// skipped. No effect if damage is not an error.
    #[must_use]
    pub fn with_empty_files(mut self, returns_empty: bool) -> Self {
        self.returns_empty = returns_empty;
        self
    }

    /// Limits the entries that are read of each file. The range across all files still applies.
    #[must_use]
    pub fn with_file_entries(mut self, entries: FileEntries) -> Self {
        self.file_entries = Some(entries);
        self
    }

    /// Reads the next step, or returns a file of unknown schema; `None` after the last. `threads` and `tick`
    /// are those of [`Table::read`].
    ///
    /// # Errors
    /// A step cannot be read.
    pub fn read(
        &mut self,
        threads: Option<usize>,
        tick: &mut ProgressCallback<'_>,
    ) -> Result<Option<AlikeStep>> {
        self.asked = None;
        loop {
            if self.current.is_some() {
                if let Some(step) = self.read_current(threads, tick)? {
                    return Ok(Some(step));
                }
                continue;
            }
            let Some(file) = self.files.next_file() else { return Ok(None) };
            // The caller opens the first file anyway, unless it may be before the range, and an unreadable
            // one for its error.
            let is_first = self.schemas.is_empty() && self.files.part().start == 0;
            if is_first || !self.open(file).unwrap_or(false) {
                self.asked = Some(file);
                return Ok(Some(AlikeStep::Unknown { file, before: self.files.before }));
            }
        }
    }

    /// Reads the returned file, and later files of the same schema, with columns of its table. Fields are
    /// given by their positions, as for [`Table::select_fields`]. Returns the number of the schema.
    ///
    /// # Errors
    /// Errors of [`Table::select_fields`]; no file was returned.
    pub fn begin_like(
        &mut self,
        table: &Table,
        columns: &[(&str, Option<u32>)],
        options: SchemaOptions,
    ) -> Result<u64> {
        if self.named == 0 {
            self.files.chain = self.files.chain.with_engine(table.file().engine());
        }
        let select = options.select(&self.options);
        let (selection, of_table) =
            ChainSelection::like(&self.files.chain, table, columns, select, self.files.before)?;
        let (selection, of_table) = (selection.with_bits(self.bits), of_table.with_bits(self.bits));
        let id = self.named;
        let schema = Schema::new(id, selection, options, table)?;
        self.begin_file(Some(id), of_table, schema.step(table, self.step)?)?;
        self.named += 1;
        self.schemas.push_front(schema);
        self.schemas.truncate(MOST_SCHEMAS);
        self.files.open_ahead();
        Ok(id)
    }

    /// Reads only the returned file, with a selection of its table.
    ///
    /// # Errors
    /// Damaged metadata; no file was returned.
    pub fn begin(&mut self, selection: &Selection) -> Result<()> {
        self.begin_file(None, selection.clone().with_bits(self.bits), self.step)
    }

    /// Skips the returned file, which has `entries` entries.
    pub fn pass(&mut self, entries: u64) {
        if self.asked.take().is_some() {
            self.files.before = self.files.before.saturating_add(entries);
        }
    }

    /// Iterates over the numbers of the remembered schemas.
    pub fn schemas(&self) -> impl Iterator<Item = u64> + '_ {
        self.schemas.iter().map(Schema::id)
    }

    /// Returns the selection of the file of the last step, until the next step is read.
    #[must_use]
    pub fn selection(&self) -> Option<&Selection> {
        self.current.as_ref().map(|(_, current)| &current.selection)
    }

    /// Returns the number of entries of the files before the current one, or of all files after the last
    /// step.
    #[must_use]
    pub fn entries_before(&self) -> u64 {
        self.files.before
    }

    fn begin_file(&mut self, schema: Option<u64>, selection: Selection, step: Step) -> Result<()> {
        let file = self.asked.ok_or_else(|| Error::invalid("no file was returned to be read"))?;
        let part = self.part_of(selection.table())?;
        let current = CurrentFile::begin(file, selection, part, step, None)?;
        self.asked = None;
        self.current = Some((schema, current));
        Ok(())
    }

    /// Returns the entries to read of a table. Unless they are limited for each file, their end may exceed
    /// the table.
    fn part_of(&self, table: &Table) -> Result<Range<u64>> {
        let part = self.files.part();
        let Some(entries) = self.file_entries else { return Ok(part) };
        let own = entries.of(table.entries()?);
        let start = part.start.max(own.start);
        Ok(start..part.end.min(own.end).max(start))
    }

    /// Opens a file; returns whether it has a known schema.
    fn open(&mut self, file: usize) -> Result<bool> {
        let damage = self.files.chain.options().damage;
        if damage == Damage::Raise && self.files.passes(file) {
            return Ok(true);
        }
        let table = self.files.table(file)?;
        if damage != Damage::Raise && !table.sound()?.1.is_empty() {
            return Ok(false);
        }
        let part = self.files.part();
        let is_empty = table.entries_up_to(part.start.saturating_add(1))? <= part.start;
        let passes = is_empty && !self.returns_empty;
        if !passes && !self.begin_known(&table, file)? {
            return Ok(false);
        }
        if is_empty {
            self.current = None;
            self.files.leave(file, &table, damage == Damage::Raise)?;
        }
        Ok(true)
    }

    /// Starts reading a file by a known schema; returns `false` if no schema matches.
    fn begin_known(&mut self, table: &Table, file: usize) -> Result<bool> {
        for at in 0..self.schemas.len() {
            let schema = &self.schemas[at];
            let Some(selection) = schema.selection_of(table, file, self.files.before) else { continue };
            let (step, part) = (schema.step(table, self.step)?, self.part_of(table)?);
            let current = CurrentFile::begin(file, selection, part, step, None)?;
            self.current = Some((Some(schema.id()), current));
            let used = self.schemas.remove(at);
            self.schemas.extend(used);
            self.schemas.rotate_right(1);
            return Ok(true);
        }
        Ok(false)
    }

    /// Reads the next step of the current file, and closes the file after its last step.
    fn read_current(
        &mut self,
        threads: Option<usize>,
        tick: &mut ProgressCallback<'_>,
    ) -> Result<Option<AlikeStep>> {
        let Some((schema, current)) = &mut self.current else { return Ok(None) };
        let damage = self.files.chain.options().damage;
        let read = current.read(damage, threads, tick)?;
        let (schema, file, before) = (*schema, current.file, self.files.before);
        let Some((Selected { entries, kept, arrays }, losses)) = read else {
            if let Some((_, current)) = self.current.take() {
                self.files.leave(file, current.selection.table(), damage == Damage::Raise)?;
            }
            return Ok(None);
        };
        let lost = losses.into_iter().map(|loss| ChainLoss { file, loss }).collect();
        let step = ChainStep { file, before, entries, kept, arrays, lost };
        Ok(Some(AlikeStep::Read { schema, step }))
    }
}

forthwith_io::impl_debug!(AlikeSteps, |it| "step": it.step);
