//! Reading of a table in steps.

use crate::{ProgressCallback, Selected, Selection, Step, Table, cut};
use forthwith_columns::Array;
use forthwith_plan::{Error, ErrorKind, Result};
use std::{collections::VecDeque, ops::Range};

/// Number of decompressed bytes up to which consecutive steps are read together.
pub(crate) const TOGETHER_BYTES: u64 = 32 << 20;
const TOGETHER: f64 = TOGETHER_BYTES as f64;
/// Number of entries whose size is determined first.
const PROBE: u64 = 1024;

/// Reads columns of a table in steps.
///
/// A block is decompressed as a whole. So that small steps do not decompress the same block repeatedly,
/// consecutive steps are read together, up to about 32 MiB, and each is returned as a copy that keeps no
/// memory of the others alive.
///
/// Steps of a [stream](Table::is_stream) are determined as its entries arrive, and each is read alone.
/// Entries before the current step are dropped if the stream exceeds its memory limit, so memory is bounded
/// for streams of any length.
#[derive(Debug)]
pub struct Steps {
    selection: Selection,
    steps: VecDeque<Range<u64>>,
    /// Entries that are not divided into steps yet, and the step size.
    uncut: Option<(Range<u64>, Step)>,
    /// Step size, unless the steps were given.
    size: Option<Step>,
    /// Maximum number of entries that are read together.
    together: u64,
    /// Current limit of entries that are read together, which grows, so that a reader of only the first steps
    /// does not wait for many.
    grown: u64,
    /// Entries that were read but not returned yet.
    held: Option<Selected>,
}

impl Steps {
    /// Makes steps of given ranges.
    pub(crate) fn of(selection: Selection, steps: Vec<Range<u64>>) -> Result<Self> {
        Self::new(selection, steps.into(), None)
    }

    /// Makes steps of ranges that were divided by a step size.
    pub(crate) fn cut_to(selection: Selection, steps: Vec<Range<u64>>, size: Step) -> Result<Self> {
        Ok(Self { size: Some(size), ..Self::of(selection, steps)? })
    }

    /// Makes steps of a range that is divided while it is read.
    pub(crate) fn cutting(selection: Selection, entries: Range<u64>, step: Step) -> Result<Self> {
        Self::new(selection, VecDeque::new(), Some((entries, step)))
    }

    fn new(
        selection: Selection,
        steps: VecDeque<Range<u64>>,
        uncut: Option<(Range<u64>, Step)>,
    ) -> Result<Self> {
        if selection.table().is_stream() {
            return Ok(Self { selection, steps, uncut, size: None, together: 0, grown: 0, held: None });
        }
        let known = uncut.as_ref().map(|(entries, _)| entries.start.saturating_add(PROBE));
        let density = density(&selection, known)?;
        let size = uncut.as_ref().map(|(_, size)| *size);
        let together = (TOGETHER / density.max(1e-9)) as u64;
        // If blocks must be counted, start with a few.
        let grown = if uncut.is_some() { 0 } else { u64::MAX };
        Ok(Self { selection, steps, uncut, size, together, grown, held: None })
    }

    /// Returns the table.
    #[must_use]
    pub fn table(&self) -> &Table {
        self.selection.table()
    }

    /// Returns the selection that is read.
    pub(crate) fn selection(&self) -> &Selection {
        &self.selection
    }

    /// Returns the paths of the columns, for messages.
    #[must_use]
    pub fn paths(&self) -> Vec<String> {
        self.selection.paths()
    }

    /// Sets whether options are read as validity bits; see [`Selection::with_bits`].
    #[must_use]
    pub fn with_bits(mut self, bits: bool) -> Self {
        self.selection = self.selection.with_bits(bits);
        self
    }

    /// Sets whether text is read as Arrow views; see [`Selection::with_views`].
    #[must_use]
    pub fn with_views(mut self, views: bool) -> Self {
        self.selection = self.selection.with_views(views);
        self
    }

    /// Iterates over the next steps, as far as they are determined.
    pub fn ranges(&self) -> impl ExactSizeIterator<Item = Range<u64>> + '_ {
        self.steps.iter().cloned()
    }

    /// Whether the step size is so large that each step is read alone.
    pub(crate) fn are_large(&self) -> bool {
        matches!(self.size, Some(Step::Bytes(bytes)) if bytes >= TOGETHER_BYTES)
    }

    /// Skips the next step and returns its entries; `None` after the last. A stream keeps the entries, so
    /// that the step may be read later.
    ///
    /// # Errors
    /// Errors of [`Table::plan`].
    pub fn skip_step(&mut self) -> Result<Option<Range<u64>>> {
        self.cut()?;
        Ok(self.steps.pop_front())
    }

    /// Reads the next step, and returns its entries and an array for each column; `None` after the last.
    /// `threads` and `tick` are those of [`Table::read`]. After an error, the next call continues after the
    /// failed step. The arrays may have fewer entries than the step: [`read_batch`](Self::read_batch) returns
    /// which.
    ///
    /// # Errors
    /// Errors of [`Table::plan`] and [`Table::read`].
    pub fn read(
        &mut self,
        threads: Option<usize>,
        tick: Option<&mut ProgressCallback<'_>>,
    ) -> Result<Option<(Range<u64>, Vec<Array>)>> {
        Ok(self.read_batch(threads, tick)?.map(|batch| (batch.entries, batch.arrays)))
    }

    /// Reads the next step, with the entries that its arrays have; `None` after the last.
    ///
    /// # Errors
    /// Errors of [`read`](Self::read).
    pub fn read_batch(
        &mut self,
        threads: Option<usize>,
        mut tick: Option<&mut ProgressCallback<'_>>,
    ) -> Result<Option<Selected>> {
        let Some(step) = self.skip_step()? else { return Ok(None) };
        self.selection.release(step.start)?;
        let is_held = |held: &Selected| held.entries.start <= step.start && step.end <= held.entries.end;
        if !self.held.as_ref().is_some_and(is_held) {
            self.held = None;
            let all = self.ahead(&step);
            self.grown = self.grown.max((all.end - all.start).saturating_mul(4)).max(PROBE);
            if all == step {
                return self.selection.read_range(step, threads, tick).map(Some);
            }
            match self.selection.read_range(all, threads, tick.as_deref_mut()) {
                Ok(read) => self.held = Some(read),
                Err(error) if matches!(error.kind, ErrorKind::Cancelled) => return Err(error),
                Err(_) => {
                    // The error may be due to a later step. From here on, each step is read alone.
                    self.together = 0;
                    return self.selection.read_range(step, threads, tick).map(Some);
                }
            }
        }
        let Some(held) = &self.held else { return Ok(None) };
        let (rows, kept) = match &held.kept {
            None => (step.start - held.entries.start..step.end - held.entries.start, None),
            Some(kept) => {
                let row = |entry: u64| kept.partition_point(|at| *at < entry);
                let rows = row(step.start)..row(step.end);
                (rows.start as u64..rows.end as u64, Some(kept[rows].to_vec()))
            }
        };
        let part = |array: &Array| array.part(rows.clone()).map_err(|error| Error::fault(error.to_string()));
        let arrays = held.arrays.iter().map(part).collect::<Result<_>>()?;
        if self.steps.front().is_none_or(|next| next.start >= held.entries.end) {
            self.held = None;
        }
        Ok(Some(Selected { entries: step, kept, arrays }))
    }

    /// Determines as many steps as may be read together.
    fn cut(&mut self) -> Result<()> {
        if self.table().is_stream() {
            return self.cut_stream();
        }
        while let Some((range, step)) = self.uncut.clone() {
            let first = self.steps.front().map_or(range.start, |step| step.start);
            if range.start > first && range.start - first > self.together.min(self.grown) {
                break;
            }
            let ahead = match step {
                Step::Entries(entries) => entries.saturating_mul(2),
                Step::Bytes(bytes) => (self.together as f64 * bytes as f64 / TOGETHER * 2.0) as u64,
            };
            let (cut, next) = match some(&self.selection, range.clone(), step, ahead) {
                Ok(found) => found,
                // Steps before the error are returned first.
                Err(_) if !self.steps.is_empty() => break,
                Err(error) => return Err(error),
            };
            self.steps.extend(cut);
            self.uncut = next.map(|next| (next..range.end, step));
        }
        Ok(())
    }

    /// Determines the next step of a stream.
    fn cut_stream(&mut self) -> Result<()> {
        let Some((range, step)) = self.uncut.clone().filter(|_| self.steps.is_empty()) else { return Ok(()) };
        let next = stream_step(&self.selection, &range, step)?;
        self.uncut = (next.start < next.end && next.end < range.end).then_some((next.end..range.end, step));
        self.steps.extend(Some(next).filter(|next| !next.is_empty()));
        Ok(())
    }

    /// Returns the range of a step and the following ones that are read with it.
    fn ahead(&self, step: &Range<u64>) -> Range<u64> {
        let mut all = step.clone();
        for next in &self.steps {
            if next.start != all.end || next.end.saturating_sub(all.start) > self.together.min(self.grown) {
                break;
            }
            all.end = next.end;
        }
        all
    }
}

impl Iterator for Steps {
    type Item = Result<Selected>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read_batch(None, None).transpose()
    }
}

/// Returns the average number of decompressed bytes of an entry; where counting entries reads blocks, of at
/// most `known` entries.
fn density(selection: &Selection, known: Option<u64>) -> Result<f64> {
    let table = selection.table();
    let dataset = table.dataset();
    let known = match known {
        // Blocks before a damaged one suffice.
        Some(known) if dataset.counts_blocks() && dataset.entries_up_to(known).is_err() => {
            Some(known.min(table.here(dataset.entries_counted())?))
        }
        known => known,
    };
    selection.density(known)
}

/// Returns the first step of a range of a stream, which is empty after the end. Waits only for the entries of
/// the step.
fn stream_step(selection: &Selection, range: &Range<u64>, step: Step) -> Result<Range<u64>> {
    let (table, start) = (selection.table(), range.start);
    let mut wanted = match step {
        Step::Entries(entries) => start.saturating_add(entries.max(1)),
        Step::Bytes(_) => start.saturating_add(1),
    };
    loop {
        wanted = wanted.min(range.end);
        let end = match table.entries_up_to(wanted) {
            Ok(end) => end,
            Err(error) if matches!(error.kind, ErrorKind::Cancelled) => return Err(error),
            // Return the entries before the damage; the next call reports it.
            Err(error) => match table.dataset().entries_counted() {
                Ok(counted) if counted > start => return Ok(start..counted.min(wanted)),
                _ => return Err(error),
            },
        };
        let Step::Bytes(bytes) = step else { return Ok(start..end.max(start)) };
        if end < wanted || end <= start {
            return Ok(start..end.max(start));
        }
        let counted = table.here(table.dataset().entries_counted())?;
        let entries = bytes as f64 / density(selection, Some(counted))?.max(1e-9);
        let step_end = start.saturating_add((entries as u64).max(1)).min(range.end);
        if step_end <= counted {
            return Ok(start..step_end);
        }
        // The first entries may be smaller than later ones.
        wanted = step_end.min(counted.saturating_add(4 * (counted - start)));
    }
}

/// Returns the first steps of a range, for which at most about `entries` entries are counted, and the start
/// of the following ones, if there are any.
fn some(
    selection: &Selection,
    range: Range<u64>,
    step: Step,
    entries: u64,
) -> Result<(Vec<Range<u64>>, Option<u64>)> {
    let (table, fields) = (selection.table(), selection.fields());
    let dataset = table.dataset();
    let mut ahead = entries.max(1);
    loop {
        let wanted = range.start.saturating_add(ahead).min(range.end);
        let (end, damaged) = match table.entries_up_to(wanted) {
            Ok(end) => (end, false),
            // Return steps before the damage; the next call reports it.
            Err(error) => match dataset.entries_counted() {
                Ok(counted) if counted > range.start => (counted, true),
                _ => return Err(error),
            },
        };
        let start = range.start.min(end);
        let density = density(selection, Some(end))?;
        let mut steps = table.here(cut::cut(dataset, fields, start..end, step, density))?;
        if damaged {
            return Ok((steps, Some(end)));
        }
        if end < wanted || end == range.end {
            return Ok((steps, None));
        }
        // The last step ends where counting stopped, and may change.
        if steps.len() > 1
            && let Some(last) = steps.pop()
        {
            return Ok((steps, Some(last.start)));
        }
        ahead = ahead.saturating_mul(2);
    }
}
