//! Scans of the rows of a table: filters, searches and counts.

use crate::{
    answers::{Answer, Filtered, Found},
    cells::Entries,
    entry_set::EntrySet,
    jobs::Job,
    text_search::{RowsLeft, TextSearch},
};
use forthwith::{SelectOptions, Step, Steps, Table, plan::Result};
use std::sync::atomic::{AtomicBool, Ordering};

/// Number of decompressed bytes that a cut reads at a time.
const STEP: u64 = 8 << 20;

/// Returns the options of a selection with a cut.
pub(crate) fn options(cut: &str) -> SelectOptions {
    SelectOptions { cut: Some(cut.to_owned()), ..SelectOptions::default() }
}

/// Checks that an expression is a valid cut of a table.
///
/// # Errors
/// Returns an error if the expression does not parse or is not boolean.
pub(crate) fn check_cut(table: &Table, cut: &str) -> Result<()> {
    table.select_fields(&[], options(cut)).map(drop)
}

/// Job that filters entries by an expression.
pub(crate) struct CutJob {
    table: Table,
    cut: String,
    steps: Option<Steps>,
}

impl CutJob {
    pub(crate) fn new(table: &Table, cut: &str) -> Self {
        Self { table: table.clone(), cut: cut.to_owned(), steps: None }
    }

    fn next(&mut self, stop: &AtomicBool) -> Result<Option<(EntrySet, u64)>> {
        if self.steps.is_none() {
            let selection = self.table.select_fields(&[], options(&self.cut))?;
            self.steps = Some(selection.steps(.., Step::Bytes(STEP))?);
        }
        let Some(steps) = &mut self.steps else { return Ok(None) };
        let read = steps.read_batch(None, Some(&mut |_| !stop.load(Ordering::Relaxed)))?;
        Ok(read.map(|read| {
            let entries = read.kept.as_deref().map_or_else(
                || {
                    let mut all = EntrySet::default();
                    all.push(read.entries.clone());
                    all
                },
                EntrySet::of,
            );
            (entries, read.entries.end)
        }))
    }
}

impl Job for CutJob {
    fn step(&mut self, stop: &AtomicBool) -> (Answer, bool) {
        match self.next(stop) {
            Ok(Some((entries, scanned))) => {
                (Answer::Filtered(Filtered { entries, scanned, unread: 0, is_complete: false }), true)
            }
            Ok(None) => {
                let complete =
                    Filtered { entries: EntrySet::default(), scanned: 0, unread: 0, is_complete: true };
                (Answer::Filtered(complete), false)
            }
            Err(error) => (Answer::Failed(error.to_string()), false),
        }
    }
}

/// Job that filters entries by a pattern.
pub(crate) struct TextFilterJob {
    pub(crate) search: TextSearch,
    pub(crate) next: u64,
}

impl TextFilterJob {
    fn some(&mut self, stop: &AtomicBool) -> Result<Filtered> {
        let wanted = self.next.saturating_add(self.search.rows());
        let end = self.search.table.entries_up_to(wanted)?.max(self.next);
        let start = self.next;
        let found = self.search.matches(&Entries::Range(start..end), stop)?;
        self.next = end;
        let entries: Vec<u64> = found.into_iter().map(|(row, _)| start + row).collect();
        let (entries, unread) = (EntrySet::of(&entries), self.search.unread());
        Ok(Filtered { entries, scanned: end, unread, is_complete: end < wanted })
    }
}

impl Job for TextFilterJob {
    fn step(&mut self, stop: &AtomicBool) -> (Answer, bool) {
        match self.some(stop) {
            Ok(filtered) => {
                let more = !filtered.is_complete;
                (Answer::Filtered(filtered), more)
            }
            Err(error) => (Answer::Failed(error.to_string()), false),
        }
    }
}

/// Job that searches for the next row that matches, from the cursor on and then from the other end.
pub(crate) struct SearchJob {
    pub(crate) search: TextSearch,
    pub(crate) left: RowsLeft,
    pub(crate) searched: u64,
}

impl SearchJob {
    fn next(&mut self, stop: &AtomicBool) -> Result<Option<Found>> {
        let found = |cell, search: &TextSearch| Ok(Some(Found { cell, unread: search.unread() }));
        let Some((rows, entries)) = self.left.next(self.search.rows()) else {
            return found(None, &self.search);
        };
        let matches = self.search.matches(&entries, stop)?;
        self.searched += rows.end - rows.start;
        let cell = if self.left.is_backward { matches.last() } else { matches.first() };
        match cell {
            Some((row, field)) => found(Some((rows.start + row, *field)), &self.search),
            None => Ok(None),
        }
    }
}

impl Job for SearchJob {
    fn step(&mut self, stop: &AtomicBool) -> (Answer, bool) {
        match self.next(stop) {
            Ok(Some(found)) => (Answer::Found(found), false),
            Ok(None) => (Answer::Searched(self.searched), true),
            Err(error) => (Answer::Failed(error.to_string()), false),
        }
    }
}

/// Job that counts the entries of a table without an index of blocks.
pub(crate) struct CountJob {
    pub(crate) table: Table,
    pub(crate) known: u64,
    /// Number of entries at which counting ends.
    pub(crate) most: u64,
}

/// Number of entries that are counted between two answers.
const COUNTED: u64 = 1 << 18;

impl Job for CountJob {
    fn step(&mut self, _: &AtomicBool) -> (Answer, bool) {
        let wanted = self.known.saturating_add(COUNTED).min(self.most);
        match self.table.entries_up_to(wanted) {
            Ok(found) => {
                self.known = found;
                let is_exact = found < wanted;
                (Answer::Count(found, is_exact), !is_exact && found < self.most)
            }
            Err(error) => (Answer::Failed(error.to_string()), false),
        }
    }
}
