//! Reading a chain step after step.

use super::{Chain, ChainLoss, ChainSelection, Damage, is_unreadable, opening::is_remote};
use crate::{Loss, ProgressCallback, Selected, Selection, Step, Steps, Table, table::bounds};
use forthwith_columns::Array;
use forthwith_plan::Result;
use std::{
    ops::{Range, RangeBounds},
    panic::resume_unwind,
    thread::JoinHandle,
};

/// Reads some columns of a chain, some entries at a time; no step has entries of two files. Files are opened when their first step is
/// read, and no more entries are counted than it takes. The next file of a server is opened while one is read.
pub struct ChainSteps {
    selection: ChainSelection,
    /// The entries to read, counted in all files.
    range: Range<u64>,
    step: Step,
    current: Option<Current>,
    /// The next file to open.
    next: usize,
    /// Entries of the files before the current one.
    before: u64,
    ahead: Option<(usize, JoinHandle<Result<Table>>)>,
    /// Losses of files that could not be opened, which the next step reports.
    lost: Vec<ChainLoss>,
}

/// The file that is read.
struct Current {
    file: usize,
    selection: Selection,
    steps: Steps,
}

/// Entries of one of the files of a chain.
#[derive(Debug)]
pub struct ChainStep {
    /// The number of the file.
    pub file: usize,
    /// Entries of the files before it.
    pub before: u64,
    /// The entries looked at, counted in the file.
    pub entries: Range<u64>,
    /// Those of them that the arrays have, if these may not be all.
    pub kept: Option<Vec<u64>>,
    /// An array for each column.
    pub arrays: Vec<Array>,
    /// Entries and files that were left out, or whose values are missing.
    pub lost: Vec<ChainLoss>,
}

/// A step of files with the columns of the first one, or a file that has not these columns.
#[derive(Debug)]
pub enum AlikeStep {
    /// A step.
    Read(ChainStep),
    /// A file with other fields or types, or that cannot be opened; it was not read.
    Other {
        /// The number of the file.
        file: usize,
        /// Entries of the files before it.
        before: u64,
    },
}

impl ChainSelection {
    /// Reads step by step; no step has entries of two files.
    ///
    /// # Errors
    /// None: files are opened when they are read.
    pub fn steps(&self, entries: impl RangeBounds<u64>, step: Step) -> Result<ChainSteps> {
        let (start, end) = bounds(&entries);
        Ok(ChainSteps {
            selection: self.clone(),
            range: start..end.unwrap_or(u64::MAX),
            step,
            current: None,
            next: 0,
            before: 0,
            ahead: None,
            lost: Vec::new(),
        })
    }
}

impl ChainSteps {
    /// The next step; `None` after the last. `threads` and `tick` are those of [`Table::read`].
    ///
    /// # Errors
    /// As [`ChainSelection::read`].
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

    /// The next step of a selection that [`Chain::select_like`] made. A file that is not like the first one is returned instead of being
    /// read: [`skip_other`](Self::skip_other) goes on behind it.
    ///
    /// # Errors
    /// A step cannot be read.
    pub fn read_alike(
        &mut self,
        threads: Option<usize>,
        tick: &mut ProgressCallback<'_>,
    ) -> Result<Option<AlikeStep>> {
        loop {
            if self.current.is_none() {
                match self.open_next() {
                    Ok(false) => return Ok(None),
                    Ok(true) if self.has_same_forms() => {}
                    _ => {
                        self.current = None;
                        return Ok(Some(AlikeStep::Other { file: self.next - 1, before: self.before }));
                    }
                }
            }
            if let Some(step) = self.read_current(threads, tick)? {
                return Ok(Some(AlikeStep::Read(step)));
            }
        }
    }

    /// Goes on behind a file that was not read, which has this number of entries.
    pub fn skip_other(&mut self, entries: u64) {
        self.before = self.before.saturating_add(entries);
    }

    /// The selection of the file of the last step, until the next one is read.
    #[must_use]
    pub fn selection(&self) -> Option<&Selection> {
        self.current.as_ref().map(|current| &current.selection)
    }

    /// Whether the current file has the columns in the types of the first one.
    fn has_same_forms(&self) -> bool {
        let forms = self.current.as_ref().map(|current| current.selection.forms());
        forms.is_some_and(|forms| forms.is_ok_and(|forms| forms == self.selection.forms()))
    }

    /// The next step of the current file; leaves the file after its last.
    fn read_current(
        &mut self,
        threads: Option<usize>,
        tick: &mut ProgressCallback<'_>,
    ) -> Result<Option<ChainStep>> {
        let Some(current) = &mut self.current else { return Ok(None) };
        let read = match self.selection.chain().options().damage {
            Damage::Raise => current.steps.read_batch(threads, Some(tick))?.map(|read| (read, Vec::new())),
            Damage::Skip | Damage::Null => match current.steps.skip_step()? {
                Some(range) => Some(self.selection.read_file(&current.selection, range, threads, tick)?),
                None => None,
            },
        };
        let (file, before) = (current.file, self.before);
        let Some((Selected { entries, kept, arrays }, losses)) = read else {
            self.leave_current()?;
            return Ok(None);
        };
        let mut lost = std::mem::take(&mut self.lost);
        lost.extend(losses.into_iter().map(|loss| ChainLoss { file, loss }));
        Ok(Some(ChainStep { file, before, entries, kept, arrays, lost }))
    }

    /// The entries of the next step, which is not read: counted in its file, with the entries of the files before it and the
    /// selection that reads it. None after the last.
    pub(super) fn skip_step(&mut self) -> Result<Option<(Range<u64>, u64, Selection)>> {
        while self.current.is_some() || self.open_next()? {
            let Some(current) = &mut self.current else { return Ok(None) };
            if let Some(step) = current.steps.skip_step()? {
                return Ok(Some((step, self.before, current.selection.clone())));
            }
            self.leave_current()?;
        }
        Ok(None)
    }

    /// Begins with the next file that can be opened and has entries of the range. False after the last.
    fn open_next(&mut self) -> Result<bool> {
        let damage = self.selection.chain().options().damage;
        while self.next < self.selection.chain().len() && self.before < self.range.end {
            let file = self.next;
            self.next += 1;
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

    /// Opens a file; `None` if it has no entries of the range.
    fn open_file(&mut self, file: usize) -> Result<Option<Current>> {
        let start = self.range.start.saturating_sub(self.before);
        let end = self.range.end.saturating_sub(self.before);
        let skips = self.selection.chain().options().damage == Damage::Skip;
        if !skips
            && let Some(length) = self.selection.chain().known_length(file)
            && 0 < length
            && length <= start
        {
            self.before = self.before.saturating_add(length);
            return Ok(None);
        }
        let mut table = self.table(file)?;
        if skips {
            let (sound, gaps) = table.sound()?;
            self.lost.extend(gaps.into_iter().map(|gap| ChainLoss { file, loss: Loss::of_gap(&sound, gap) }));
            table = sound;
        }
        let has_entries = table.entries_up_to(start.saturating_add(1))? > start;
        if !has_entries && (start > 0 || self.selection.is_alike()) {
            self.before = self.before.saturating_add(table.entries()?);
            return Ok(None);
        }
        // Columns that a file without entries lacks are an error, too.
        let selection = self.selection.of_table(&table, self.before)?;
        let steps = selection.steps(start..end, self.step)?;
        Ok(Some(Current { file, selection, steps }))
    }

    /// Counts the entries of the current file, as far as the range needs them, and closes it.
    fn leave_current(&mut self) -> Result<()> {
        let Some(Current { file, selection, .. }) = self.current.take() else { return Ok(()) };
        let end = self.range.end.saturating_sub(self.before);
        let length = selection.table().entries_up_to(end)?;
        if length < end && self.selection.chain().options().damage != Damage::Skip {
            self.selection.chain().set_length(file, length);
        }
        self.before = self.before.saturating_add(length);
        Ok(())
    }

    /// The table of a file, which may have been opened ahead; then the next one is.
    fn table(&mut self, file: usize) -> Result<Table> {
        let chain = self.selection.chain();
        let table = match self.ahead.take() {
            Some((at, opening)) if at == file => opening.join().unwrap_or_else(|panic| resume_unwind(panic)),
            _ => chain.table(file),
        };
        // Where the last file is not known, none is opened that may not be needed.
        if is_remote(chain) && self.range.end == u64::MAX && self.next < chain.len() {
            let next = self.next;
            let chain: Chain = chain.clone();
            let begun = std::thread::Builder::new().spawn(move || chain.table(next));
            // Without another thread it is opened when it is asked for.
            self.ahead = begun.ok().map(|opening| (next, opening));
        }
        table
    }
}

impl Iterator for ChainSteps {
    type Item = Result<ChainStep>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read(None, &mut |_| true).transpose()
    }
}

forthwith_io::impl_debug!(ChainSteps, |it| "step": it.step);
