//! Rows of a table in the browser: all entries, or those of a filter.

use crate::{
    answers::Filtered,
    cells::{CHUNK, Entries},
    entry_set::EntrySet,
    human,
    jobs::Ticket,
};
use forthwith::{Table, plan::Result};
use std::sync::Arc;

/// Number of entries that are counted at first in a table without an index of blocks.
const FIRST: u64 = 4096;

/// Rows by their number on the screen.
#[derive(Debug)]
pub(crate) struct RowSet {
    /// Number of entries of the table that are known to exist.
    pub(crate) known: u64,
    /// Whether `known` is the exact number.
    pub(crate) is_exact: bool,
    pub(crate) filter: Option<FilteredRows>,
}

/// Rows that pass a filter.
#[derive(Debug)]
pub(crate) struct FilteredRows {
    /// Description of the filter.
    pub(crate) text: String,
    /// Expression of the filter; `None` for a pattern.
    pub(crate) cut: Option<String>,
    pub(crate) entries: Arc<EntrySet>,
    /// Scan that finds the rows; `None` once it has ended.
    pub(crate) scan: Option<Ticket>,
    pub(crate) scanned: u64,
    /// Number of columns that could not be read everywhere.
    unread: usize,
    /// Reason why the scan ended before the last entry.
    pub(crate) ended: Option<&'static str>,
}

impl FilteredRows {
    /// Creates a filter without rows.
    pub(crate) fn new(text: String, cut: Option<String>, scan: Ticket) -> Self {
        let (entries, scan) = (Arc::default(), Some(scan));
        Self { text, cut, entries, scan, scanned: 0, unread: 0, ended: None }
    }
}

impl RowSet {
    /// Creates the rows of all entries; in a table without an index of blocks, of the first ones.
    ///
    /// # Errors
    /// Returns an error if the metadata are corrupt.
    pub(crate) fn of(table: &Table) -> Result<Self> {
        let (known, is_exact) = if table.counts_blocks() {
            let known = table.entries_up_to(FIRST)?;
            (known, known < FIRST)
        } else {
            (table.entries()?, true)
        };
        Ok(Self { known, is_exact, filter: None })
    }

    /// Returns the number of rows so far.
    pub(crate) fn len(&self) -> u64 {
        self.filter.as_ref().map_or(self.known, |filter| filter.entries.len())
    }

    /// Returns the entry of a row.
    pub(crate) fn entry(&self, row: u64) -> Option<u64> {
        match &self.filter {
            None => (row < self.known).then_some(row),
            Some(filter) => filter.entries.get(row),
        }
    }

    /// Returns the row of an entry, or of the next entry that passes the filter.
    pub(crate) fn row_of(&self, entry: u64) -> u64 {
        match &self.filter {
            None => entry,
            Some(filter) => filter.entries.rank(entry),
        }
    }

    /// Returns the entries of a chunk of rows.
    pub(crate) fn chunk(&self, chunk: u64) -> Entries {
        let start = chunk.saturating_mul(CHUNK).min(self.len());
        let end = start.saturating_add(CHUNK).min(self.len());
        match &self.filter {
            None => Entries::Range(start..end),
            Some(filter) => Entries::List(filter.entries.slice(start..end)),
        }
    }

    /// Adds rows that a filter has found.
    pub(crate) fn extend(&mut self, found: Filtered) {
        let Some(filter) = &mut self.filter else { return };
        if !found.entries.is_empty() {
            Arc::make_mut(&mut filter.entries).append(found.entries);
        }
        filter.scanned = filter.scanned.max(found.scanned);
        filter.unread = filter.unread.max(found.unread);
        if found.is_complete {
            filter.scan = None;
        }
    }

    /// Returns the number of rows as text.
    pub(crate) fn words(&self) -> String {
        let at_least = if self.is_exact { "" } else { "at least " };
        let all = format!("{at_least}{}", human::count(self.known));
        match &self.filter {
            None => format!("{all} {}", if self.known == 1 { "row" } else { "rows" }),
            Some(filter) => {
                let rows = human::count(filter.entries.len());
                let scanned = human::count(filter.scanned);
                let progress = match (filter.scan, filter.ended) {
                    (Some(_), _) => format!(", {scanned} searched so far"),
                    (None, Some(why)) => format!(", {why} after {scanned}"),
                    (None, None) => String::new(),
                };
                let unread = match filter.unread {
                    0 => String::new(),
                    columns => {
                        let columns = human::counted(columns as u64, "column", "columns");
                        format!(", {columns} not readable everywhere")
                    }
                };
                format!("{rows} of {all} rows: {}{progress}{unread}", filter.text)
            }
        }
    }
}
