//! Scans of a table's rows: all rows that pass a filter, and the next row with a text.

use crate::{
    answers::{Answer, Filtered},
    cells::{self, Entries, WIDEST},
    jobs::Job,
};
use forthwith::{SelectOptions, Step, Steps, Table, plan::Result};
use regex_lite::{Regex, RegexBuilder};
use std::{
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

/// Decompressed bytes that a cut reads at a time.
const STEP: u64 = 8 << 20;
/// Rows whose texts are searched at a time.
const ROWS: u64 = 4096;

/// A text or pattern that is searched in the texts of cells.
#[derive(Clone, Debug)]
pub(crate) struct TextPattern {
    regex: Regex,
}

impl TextPattern {
    /// A regular expression; capital letters count only if there are any.
    ///
    /// # Errors
    /// An invalid regular expression.
    pub(crate) fn new(typed: &str) -> std::result::Result<Self, String> {
        let is_small = !typed.chars().any(char::is_uppercase);
        let regex = RegexBuilder::new(typed).case_insensitive(is_small).build();
        let regex = regex.map_err(|error| format!("invalid regular expression: {error}"))?;
        Ok(Self { regex })
    }

    pub(crate) fn is_match(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }

    /// Those of some rows in which a cell matches, by their position.
    fn matching(&self, table: &Table, fields: &[u32], entries: &Entries) -> Result<Vec<u64>> {
        let mut rows = Vec::new();
        for array in cells::read_each(table, fields, entries) {
            let texts = cells::texts(&array?, WIDEST).unwrap_or_default();
            rows.extend((0..).zip(texts).filter(|(_, text)| self.is_match(text)).map(|(row, _)| row));
        }
        rows.sort_unstable();
        rows.dedup();
        Ok(rows)
    }
}

/// Chooses entries by an expression.
pub(crate) struct CutJob {
    table: Table,
    cut: String,
    steps: Option<Steps>,
}

impl CutJob {
    /// A cut whose expression is checked at once.
    ///
    /// # Errors
    /// An expression that does not parse or is of another type than a truth value.
    pub(crate) fn new(table: &Table, cut: &str) -> Result<Self> {
        table.select_fields(&[], options(cut))?;
        Ok(Self { table: table.clone(), cut: cut.to_owned(), steps: None })
    }

    fn next(&mut self, stop: &AtomicBool) -> Result<Option<(Vec<u64>, u64)>> {
        if self.steps.is_none() {
            let selection = self.table.select_fields(&[], options(&self.cut))?;
            self.steps = Some(selection.steps(.., Step::Bytes(STEP))?);
        }
        let Some(steps) = &mut self.steps else { return Ok(None) };
        let read = steps.read_batch(None, Some(&mut |_| !stop.load(Ordering::Relaxed)))?;
        Ok(read.map(|read| (read.kept.unwrap_or_else(|| read.entries.clone().collect()), read.entries.end)))
    }
}

/// The options of a selection by a cut.
pub(crate) fn options(cut: &str) -> SelectOptions {
    SelectOptions { cut: Some(cut.to_owned()), ..SelectOptions::default() }
}

impl Job for CutJob {
    fn step(&mut self, stop: &AtomicBool) -> (Answer, bool) {
        match self.next(stop) {
            Ok(Some((entries, scanned))) => {
                (Answer::Filtered(Filtered { entries, scanned, is_complete: false }), true)
            }
            Ok(None) => {
                let complete = Filtered { entries: Vec::new(), scanned: 0, is_complete: true };
                (Answer::Filtered(complete), false)
            }
            Err(error) => (Answer::Failed(error.to_string()), false),
        }
    }
}

/// Chooses entries by the texts of their cells.
pub(crate) struct TextFilterJob {
    pub(crate) table: Table,
    pub(crate) fields: Vec<u32>,
    pub(crate) pattern: TextPattern,
    pub(crate) next: u64,
}

impl TextFilterJob {
    fn some(&mut self) -> Result<Filtered> {
        let wanted = self.next.saturating_add(ROWS);
        let end = self.table.entries_up_to(wanted)?.max(self.next);
        let start = self.next;
        let found = self.pattern.matching(&self.table, &self.fields, &Entries::Range(start..end))?;
        self.next = end;
        let entries = found.into_iter().map(|row| start + row).collect();
        Ok(Filtered { entries, scanned: end, is_complete: end < wanted })
    }
}

impl Job for TextFilterJob {
    fn step(&mut self, _: &AtomicBool) -> (Answer, bool) {
        match self.some() {
            Ok(filtered) => {
                let more = !filtered.is_complete;
                (Answer::Filtered(filtered), more)
            }
            Err(error) => (Answer::Failed(error.to_string()), false),
        }
    }
}

/// Searches the next row that has a text, from a row on and then from the other end.
pub(crate) struct SearchJob {
    pub(crate) table: Table,
    pub(crate) fields: Vec<u32>,
    pub(crate) pattern: TextPattern,
    /// The entries of rows, if these are not all.
    pub(crate) list: Option<Arc<Vec<u64>>>,
    /// Ranges of rows that are left to search, in their order.
    pub(crate) left: Vec<Range<u64>>,
    pub(crate) is_backward: bool,
}

impl SearchJob {
    /// The next rows to search, off the side of the first range that the search comes from.
    fn rows(&mut self) -> Option<Range<u64>> {
        loop {
            let range = self.left.first_mut()?;
            if range.is_empty() {
                self.left.remove(0);
                continue;
            }
            let rows = if self.is_backward {
                let start = range.end.saturating_sub(ROWS).max(range.start);
                let rows = start..range.end;
                range.end = start;
                rows
            } else {
                let end = range.start.saturating_add(ROWS).min(range.end);
                let rows = range.start..end;
                range.start = end;
                rows
            };
            return Some(rows);
        }
    }

    fn search(&self, rows: &Range<u64>) -> Result<Option<u64>> {
        let entries = match &self.list {
            None => Entries::Range(rows.clone()),
            Some(list) => {
                let end = rows.end.min(list.len() as u64);
                Entries::List(list[rows.start.min(end) as usize..end as usize].to_vec())
            }
        };
        let found = self.pattern.matching(&self.table, &self.fields, &entries)?;
        let found = if self.is_backward { found.last() } else { found.first() };
        Ok(found.map(|row| rows.start + row))
    }
}

impl Job for SearchJob {
    fn step(&mut self, _: &AtomicBool) -> (Answer, bool) {
        let Some(rows) = self.rows() else { return (Answer::Found(None), false) };
        match self.search(&rows) {
            Ok(Some(row)) => (Answer::Found(Some(row)), false),
            Ok(None) => (Answer::Count(rows.end, false), true),
            Err(error) => (Answer::Failed(error.to_string()), false),
        }
    }
}

/// Counts entries of a table whose blocks have to be looked at.
pub(crate) struct CountJob {
    pub(crate) table: Table,
    pub(crate) known: u64,
    /// Entries that are enough.
    pub(crate) most: u64,
}

/// Entries that are counted between two answers.
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
