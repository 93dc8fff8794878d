//! Reading step after step.

use crate::{ProgressCallback, Selected, Selection, Step, Table, cut};
use forthwith_columns::Array;
use forthwith_plan::{Error, ErrorKind, Result};
use std::{collections::VecDeque, ops::Range};

/// Steps that are smaller than this are read together: decompressed bytes.
pub(crate) const TOGETHER_BYTES: u64 = 32 << 20;
const TOGETHER: f64 = TOGETHER_BYTES as f64;
/// Entries that are looked at to find out how large entries are.
const PROBE: u64 = 1024;

/// Reads some columns of a table, some entries at a time.
///
/// A block is decompressed whole or not at all. So that steps much smaller than a block do not decompress it each anew, steps that follow
/// each other are read together, some 32 MiB of them, and each is handed out as a copy that keeps nothing of the others.
///
/// Steps over a [stream](Table::is_stream) are cut as its entries arrive, and each is read by itself. Entries before the present step are
/// dropped if the stream keeps more than its limit, so memory is bounded whatever the stream's length.
#[derive(Debug)]
pub struct Steps {
    selection: Selection,
    steps: VecDeque<Range<u64>>,
    /// Entries that are cut into steps when they are read, and the size of the steps.
    uncut: Option<(Range<u64>, Step)>,
    /// The size that steps were cut to, if they were not given.
    size: Option<Step>,
    /// Entries that are read together at most.
    together: u64,
    /// The same for now: a reader of the first steps only must not wait for many.
    grown: u64,
    /// Entries that were read and not handed out yet.
    held: Option<Selected>,
}

impl Steps {
    /// Steps that are given.
    pub(crate) fn of(selection: Selection, steps: Vec<Range<u64>>) -> Result<Self> {
        Self::new(selection, steps.into(), None)
    }

    /// Steps that were cut to a size.
    pub(crate) fn cut_to(selection: Selection, steps: Vec<Range<u64>>, size: Step) -> Result<Self> {
        Ok(Self { size: Some(size), ..Self::of(selection, steps)? })
    }

    /// Steps that are cut on the way.
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
        // Where blocks must be counted, a few are at first.
        let grown = if uncut.is_some() { 0 } else { u64::MAX };
        Ok(Self { selection, steps, uncut, size, together, grown, held: None })
    }

    /// The table.
    #[must_use]
    pub fn table(&self) -> &Table {
        self.selection.table()
    }

    /// The selection that is read.
    pub(crate) fn selection(&self) -> &Selection {
        &self.selection
    }

    /// The paths of the columns, for messages.
    #[must_use]
    pub fn paths(&self) -> Vec<String> {
        self.selection.paths()
    }

    /// The same as [`Selection::with_bits`].
    #[must_use]
    pub fn with_bits(mut self, bits: bool) -> Self {
        self.selection = self.selection.with_bits(bits);
        self
    }

    /// Texts as Arrow's views: see [`Selection::with_views`].
    #[must_use]
    pub fn with_views(mut self, views: bool) -> Self {
        self.selection = self.selection.with_views(views);
        self
    }

    /// The steps that are still to come, as far as they are cut.
    pub fn ranges(&self) -> impl ExactSizeIterator<Item = Range<u64>> + '_ {
        self.steps.iter().cloned()
    }

    /// Whether steps were cut to a size at which none is read together with others.
    pub(crate) fn are_large(&self) -> bool {
        matches!(self.size, Some(Step::Bytes(bytes)) if bytes >= TOGETHER_BYTES)
    }

    /// The entries of the next step, which is not read; `None` after the last. A stream drops nothing: the step may be read later.
    ///
    /// # Errors
    /// As [`Table::plan`].
    pub fn skip_step(&mut self) -> Result<Option<Range<u64>>> {
        self.cut()?;
        Ok(self.steps.pop_front())
    }

    /// The next step and an array for each column; `None` after the last. `threads` and `tick` are those of [`Table::read`]. After an
    /// error the next call goes on with the step behind the one that failed. The arrays may have fewer entries than the step:
    /// [`read_batch`](Self::read_batch) says which.
    ///
    /// # Errors
    /// As [`Table::plan`] and [`Table::read`].
    pub fn read(
        &mut self,
        threads: Option<usize>,
        tick: Option<&mut ProgressCallback<'_>>,
    ) -> Result<Option<(Range<u64>, Vec<Array>)>> {
        Ok(self.read_batch(threads, tick)?.map(|batch| (batch.entries, batch.arrays)))
    }

    /// The next step with the entries that it has.
    ///
    /// # Errors
    /// As [`read`](Self::read).
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
                    // Whatever it was, it may lie behind this step. From here on each step speaks for itself.
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

    /// Cuts as many steps as may be read together.
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
                // First what stands before.
                Err(_) if !self.steps.is_empty() => break,
                Err(error) => return Err(error),
            };
            self.steps.extend(cut);
            self.uncut = next.map(|next| (next..range.end, step));
        }
        Ok(())
    }

    /// Cuts the next step of a stream.
    fn cut_stream(&mut self) -> Result<()> {
        let Some((range, step)) = self.uncut.clone().filter(|_| self.steps.is_empty()) else { return Ok(()) };
        let next = stream_step(&self.selection, &range, step)?;
        self.uncut = (next.start < next.end && next.end < range.end).then_some((next.end..range.end, step));
        self.steps.extend(Some(next).filter(|next| !next.is_empty()));
        Ok(())
    }

    /// This step and as many of the following as are read with it.
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

/// Decompressed bytes in an entry of some fields, by the entries counted where that takes looking at blocks, up to `known`.
fn density(selection: &Selection, known: Option<u64>) -> Result<f64> {
    let table = selection.table();
    let dataset = table.dataset();
    let known = match known {
        // Blocks before a damaged one tell, too.
        Some(known) if dataset.counts_blocks() && dataset.entries_up_to(known).is_err() => {
            Some(known.min(table.here(dataset.entries_counted())?))
        }
        known => known,
    };
    selection.density(known)
}

/// The first step of a range of a stream; an empty one after its end. It waits for no more entries than it has.
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
            // First the entries before the damage; the next call comes to it.
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
        // The first entries may be smaller than others.
        wanted = step_end.min(counted.saturating_add(4 * (counted - start)));
    }
}

/// The first steps of a range, for which no more than about `entries` entries are counted, and where the next ones begin if there are
/// any.
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
            // First what stands before the damage; the next call comes to it.
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
        // The last one ends where the counting ended, and may not be what it will be.
        if steps.len() > 1
            && let Some(last) = steps.pop()
        {
            return Ok((steps, Some(last.start)));
        }
        ahead = ahead.saturating_mul(2);
    }
}
