//! Reading a chain step after step.

use super::{Chain, ChainLoss, ChainSelection, Damage, Portion, is_unreadable, opening::is_remote};
use crate::{Loss, ProgressCallback, Selected, Selection, Step, Steps, Table, table::bounds};
use forthwith_columns::Array;
use forthwith_plan::Result;
use std::{
    collections::VecDeque,
    ops::{Range, RangeBounds},
    panic::resume_unwind,
    thread::JoinHandle,
};

/// Reads some columns of a chain, some entries at a time; no step has entries of two files. The next file of a server is opened
/// while one is read.
pub struct ChainSteps {
    selection: ChainSelection,
    portions: VecDeque<Portion>,
    step: Step,
    current: Option<Current>,
    /// Entries of the files before the current one.
    before: u64,
    ahead: Option<(usize, JoinHandle<Result<Table>>)>,
    /// Losses of files that could not be opened, which the next step reports.
    lost: Vec<ChainLoss>,
}

/// The file that is read.
struct Current {
    file: usize,
    length: u64,
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

impl ChainSelection {
    /// Reads step by step; no step has entries of two files.
    ///
    /// # Errors
    /// A file cannot be opened or counted, if `entries` has bounds.
    pub fn steps(&self, entries: impl RangeBounds<u64>, step: Step) -> Result<ChainSteps> {
        let (start, end) = bounds(&entries);
        let portions = self.chain().portions(&(start..end.unwrap_or(u64::MAX)))?;
        Ok(ChainSteps::new(self.clone(), portions, step))
    }
}

impl ChainSteps {
    fn new(selection: ChainSelection, portions: Vec<Portion>, step: Step) -> Self {
        let portions = portions.into();
        Self { selection, portions, step, current: None, before: 0, ahead: None, lost: Vec::new() }
    }

    /// The next step; `None` after the last. `threads` and `tick` are those of [`Table::read`].
    ///
    /// # Errors
    /// As [`ChainSelection::read`].
    pub fn read(
        &mut self,
        threads: Option<usize>,
        tick: &mut ProgressCallback<'_>,
    ) -> Result<Option<ChainStep>> {
        loop {
            if self.current.is_none() && !self.open_next()? {
                return Ok(None);
            }
            let Some(current) = &mut self.current else { return Ok(None) };
            let read = match self.selection.chain().options().damage {
                Damage::Raise => {
                    current.steps.read_batch(threads, Some(tick))?.map(|read| (read, Vec::new()))
                }
                Damage::Skip | Damage::Null => match current.steps.skip_step()? {
                    Some(range) => {
                        Some(self.selection.read_file(&current.selection, range, threads, tick)?)
                    }
                    None => None,
                },
            };
            let (file, before) = (current.file, self.before);
            let Some((Selected { entries, kept, arrays }, losses)) = read else {
                self.before = before.saturating_add(current.length);
                self.current = None;
                continue;
            };
            let mut lost = std::mem::take(&mut self.lost);
            lost.extend(losses.into_iter().map(|loss| ChainLoss { file, loss }));
            return Ok(Some(ChainStep { file, before, entries, kept, arrays, lost }));
        }
    }

    /// The entries of the next step, which is not read: counted in its file, with the entries of the files before it and the
    /// selection that reads it. None after the last.
    pub(super) fn skip_step(&mut self) -> Result<Option<(Range<u64>, u64, Selection)>> {
        while self.current.is_some() || self.open_next()? {
            let Some(current) = &mut self.current else { return Ok(None) };
            if let Some(step) = current.steps.skip_step()? {
                return Ok(Some((step, self.before, current.selection.clone())));
            }
            self.before = self.before.saturating_add(current.length);
            self.current = None;
        }
        Ok(None)
    }

    /// Begins with the next file that can be opened. False after the last.
    fn open_next(&mut self) -> Result<bool> {
        while let Some(portion) = self.portions.pop_front() {
            self.before = portion.before.unwrap_or(self.before);
            match self.opened(&portion) {
                Ok(current) => {
                    self.current = Some(current);
                    return Ok(true);
                }
                Err(error)
                    if self.selection.chain().options().damage == Damage::Skip && is_unreadable(&error) =>
                {
                    self.lost.push(ChainLoss { file: portion.file, loss: Loss { entries: 0..0, error } });
                }
                Err(error) => return Err(error),
            }
        }
        Ok(false)
    }

    fn opened(&mut self, portion: &Portion) -> Result<Current> {
        let file = portion.file;
        let mut table = self.table(file)?;
        if self.selection.chain().options().damage == Damage::Skip {
            let (sound, gaps) = table.sound()?;
            self.lost.extend(gaps.into_iter().map(|gap| ChainLoss { file, loss: Loss::of_gap(&sound, gap) }));
            table = sound;
        }
        let selection = self.selection.of_table(&table, self.before)?;
        let length = table.entries()?;
        let steps = selection.steps(portion.entries.clone().unwrap_or(0..length), self.step)?;
        Ok(Current { file, length, selection, steps })
    }

    /// The table of a file, which may have been opened ahead; then the next one is.
    fn table(&mut self, file: usize) -> Result<Table> {
        let chain = self.selection.chain();
        let table = match self.ahead.take() {
            Some((at, opening)) if at == file => opening.join().unwrap_or_else(|panic| resume_unwind(panic)),
            _ => chain.table(file),
        };
        if is_remote(chain)
            && let Some(next) = self.portions.front().map(|portion| portion.file)
        {
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
