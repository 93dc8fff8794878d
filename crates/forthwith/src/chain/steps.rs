//! Reading of a chain in steps.

use super::{ChainLoss, ChainSelection, Damage, is_unreadable, read::read_part, walk::FileWalk};
use crate::{Loss, ProgressCallback, Selected, Selection, Step, Steps, table::bounds};
use forthwith_columns::Array;
use forthwith_plan::Result;
use std::ops::{Range, RangeBounds};

/// Reads columns of a chain in steps; a step never spans two files. Files are opened when their first step is
/// read, and no more entries are counted than needed. For remote files, the next files are opened while one
/// is read.
pub struct ChainSteps {
    selection: ChainSelection,
    files: FileWalk,
    step: Step,
    /// Maximum number of entries of the first step.
    first_step: Option<u64>,
    current: Option<CurrentFile>,
    /// Losses of files that could not be opened, which the next step reports.
    lost: Vec<ChainLoss>,
}

/// The file that is being read.
pub(super) struct CurrentFile {
    pub(super) file: usize,
    pub(super) selection: Selection,
    steps: FileSteps,
    /// Entries after these steps, and their step size.
    behind: Option<(Range<u64>, Step)>,
}

enum FileSteps {
    Cut(Box<Steps>),
    /// All entries at once, which needs no block boundaries; `None` once they are read.
    Whole(Option<Range<u64>>),
}

impl CurrentFile {
    /// Starts with a part of a file, which may end after it. `first_step` limits the entries of the first
    /// step.
    pub(super) fn begin(
        file: usize,
        selection: Selection,
        part: Range<u64>,
        step: Step,
        first_step: Option<u64>,
    ) -> Result<Self> {
        let middle = first_step.map_or(part.end, |entries| part.start.saturating_add(entries).min(part.end));
        let steps = FileSteps::new(&selection, part.start..middle, step)?;
        let behind = (middle < part.end).then_some((middle..part.end, step));
        Ok(Self { file, selection, steps, behind })
    }

    /// Skips the next step and returns its entries.
    fn skip_step(&mut self) -> Result<Option<Range<u64>>> {
        loop {
            let step = match &mut self.steps {
                FileSteps::Cut(steps) => steps.skip_step()?,
                FileSteps::Whole(part) => part.take(),
            };
            if step.is_some() || !self.go_on()? {
                return Ok(step);
            }
        }
    }

    /// Continues with the entries after the first step; returns `false` if there are none.
    fn go_on(&mut self) -> Result<bool> {
        let Some((part, step)) = self.behind.take() else { return Ok(false) };
        self.steps = FileSteps::new(&self.selection, part, step)?;
        Ok(true)
    }

    /// Reads the next step with a treatment of damage; also returns its losses.
    pub(super) fn read(
        &mut self,
        damage: Damage,
        threads: Option<usize>,
        tick: &mut ProgressCallback<'_>,
    ) -> Result<Option<(Selected, Vec<Loss>)>> {
        while let (Damage::Raise, FileSteps::Cut(steps)) = (damage, &mut self.steps) {
            let read = steps.read_batch(threads, Some(&mut *tick))?;
            if read.is_some() || !self.go_on()? {
                return Ok(read.map(|read| (read, Vec::new())));
            }
        }
        let Some(range) = self.skip_step()? else { return Ok(None) };
        read_part(&self.selection, damage, range, threads, tick).map(Some)
    }
}

impl FileSteps {
    fn new(selection: &Selection, part: Range<u64>, step: Step) -> Result<Self> {
        Ok(match step {
            Step::Bytes(u64::MAX) => {
                let end = selection.table().entries_up_to(part.end)?;
                Self::Whole(Some(part.start..end).filter(|part| !part.is_empty()))
            }
            step => Self::Cut(Box::new(selection.steps(part, step)?)),
        })
    }
}

/// Entries of one file of a chain.
#[derive(Debug)]
pub struct ChainStep {
    /// Number of the file.
    pub file: usize,
    /// Number of entries of the files before it.
    pub before: u64,
    /// Range of entries that was read, counted within the file.
    pub entries: Range<u64>,
    /// Entries that the arrays have; `None` for all of the range.
    pub kept: Option<Vec<u64>>,
    /// An array for each column.
    pub arrays: Vec<Array>,
    /// Entries and files that were left out, or whose values are null.
    pub lost: Vec<ChainLoss>,
}

impl ChainSelection {
    /// Returns steps; a step never spans two files.
    ///
    /// # Errors
    /// Never fails: files are opened when they are read.
    pub fn steps(&self, entries: impl RangeBounds<u64>, step: Step) -> Result<ChainSteps> {
        let (start, end) = bounds(&entries);
        let files = FileWalk::new(self.chain().clone(), start..end.unwrap_or(u64::MAX));
        let (selection, first_step) = (self.clone(), None);
        Ok(ChainSteps { selection, files, step, first_step, current: None, lost: Vec::new() })
    }
}

impl ChainSteps {
    /// Limits the entries of the first step, for a reader that waits for the first entries.
    #[must_use]
    pub fn with_first_step(mut self, entries: u64) -> Self {
        self.first_step = Some(entries);
        self
    }

    /// Returns the selection of the file of the last step, until the next step is read.
    #[must_use]
    pub fn selection(&self) -> Option<&Selection> {
        self.current.as_ref().map(|current| &current.selection)
    }

    /// Takes the losses that no step reported, which are those after the last step.
    pub fn take_lost(&mut self) -> Vec<ChainLoss> {
        std::mem::take(&mut self.lost)
    }

    /// Reads the next step; `None` after the last. `threads` and `tick` are those of
    /// [`Table::read`](crate::Table::read).
    ///
    /// # Errors
    /// Errors of [`ChainSelection::read`].
    pub fn read(
        &mut self,
        threads: Option<usize>,
        tick: &mut ProgressCallback<'_>,
    ) -> Result<Option<ChainStep>> {
        while self.current.is_some() || self.open_next()? {
            if let Some(step) = self.read_current(threads, tick)? {
                return Ok(Some(step));
            }
        }
        Ok(None)
    }

    /// Reads the next step of the current file, and closes the file after its last step.
    fn read_current(
        &mut self,
        threads: Option<usize>,
        tick: &mut ProgressCallback<'_>,
    ) -> Result<Option<ChainStep>> {
        let Some(current) = &mut self.current else { return Ok(None) };
        let read = current.read(self.files.chain.options().damage, threads, tick)?;
        let (file, before) = (current.file, self.files.before);
        let Some((Selected { entries, kept, arrays }, losses)) = read else {
            self.leave_current()?;
            return Ok(None);
        };
        let mut lost = std::mem::take(&mut self.lost);
        lost.extend(losses.into_iter().map(|loss| ChainLoss { file, loss }));
        Ok(Some(ChainStep { file, before, entries, kept, arrays, lost }))
    }

    /// Skips the next step; returns its entries, counted within its file, the number of entries of the files
    /// before it, and the selection that reads it. `None` after the last step.
    pub(super) fn skip_step(&mut self) -> Result<Option<(Range<u64>, u64, Selection)>> {
        while self.current.is_some() || self.open_next()? {
            let Some(current) = &mut self.current else { return Ok(None) };
            if let Some(step) = current.skip_step()? {
                return Ok(Some((step, self.files.before, current.selection.clone())));
            }
            self.leave_current()?;
        }
        Ok(None)
    }

    /// Opens the next file that can be opened and has entries in the range; returns `false` after the last.
    fn open_next(&mut self) -> Result<bool> {
        let damage = self.files.chain.options().damage;
        while let Some(file) = self.files.next_file() {
            match self.open_file(file) {
                Ok(Some(current)) => {
                    self.current = Some(current);
                    return Ok(true);
                }
                Ok(None) => {}
                Err(error) if damage == Damage::Skip && is_unreadable(&error) => {
                    self.lost.push(ChainLoss { file, loss: Loss { entries: 0..0, error } });
                }
                Err(error) => return Err(error),
            }
        }
        Ok(false)
    }

    /// Opens a file; `None` if it has no entries in the range.
    fn open_file(&mut self, file: usize) -> Result<Option<CurrentFile>> {
        let skips = self.files.chain.options().damage == Damage::Skip;
        if !skips && self.files.passes(file) {
            return Ok(None);
        }
        let mut table = self.files.table(file)?;
        if skips {
            let (sound, gaps) = table.sound()?;
            self.lost.extend(gaps.into_iter().map(|gap| ChainLoss { file, loss: Loss::of_gap(&sound, gap) }));
            table = sound;
        }
        let part = self.files.part();
        // Missing columns are an error even in a file without entries.
        if part.start > 0 && table.entries_up_to(part.start.saturating_add(1))? <= part.start {
            self.files.leave(file, &table, !skips)?;
            return Ok(None);
        }
        let selection = self.selection.of_table(&table, file, self.files.before)?;
        let part = self.selection.entries_of(file, part);
        CurrentFile::begin(file, selection, part, self.step, self.first_step.take()).map(Some)
    }

    /// Closes the current file.
    fn leave_current(&mut self) -> Result<()> {
        let Some(CurrentFile { file, selection, .. }) = self.current.take() else { return Ok(()) };
        let skips = self.files.chain.options().damage == Damage::Skip;
        self.files.leave(file, selection.table(), !skips)
    }
}

impl Iterator for ChainSteps {
    type Item = Result<ChainStep>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read(None, &mut |_| true).transpose()
    }
}

forthwith_io::impl_debug!(ChainSteps, |it| "step": it.step);
