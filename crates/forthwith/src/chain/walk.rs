//! Iteration over the files of a chain, which are opened when they are reached and counted as far as needed.

use super::{Chain, opening::is_remote};
use crate::{Table, files::StoreOptions};
use forthwith_plan::{Error, ErrorKind, Result};
use std::{collections::VecDeque, ops::Range, panic::resume_unwind, thread::JoinHandle, time::Duration};

/// Number of remote files that are opened in advance.
const AHEAD: usize = 2;
/// Interval at which the calling thread checks for cancellation while it waits for a file.
const POLL: Duration = Duration::from_millis(2);

pub(super) struct FileWalk {
    pub(super) chain: Chain,
    /// Entries to read, counted across all files.
    range: Range<u64>,
    /// The next file to open.
    next: usize,
    /// Number of entries of the files before the current one.
    pub(super) before: u64,
    /// Files that are being opened, in order.
    ahead: VecDeque<(usize, JoinHandle<Result<Table>>)>,
}

impl FileWalk {
    pub(super) fn new(chain: Chain, range: Range<u64>) -> Self {
        Self { chain, range, next: 0, before: 0, ahead: VecDeque::new() }
    }

    /// Returns the next file that may have entries in the range; `None` after the last.
    pub(super) fn next_file(&mut self) -> Option<usize> {
        let file = self.next;
        (file < self.chain.len() && self.before < self.range.end).then(|| {
            self.next += 1;
            file
        })
    }

    /// Returns the range within the current file, which may have fewer entries.
    pub(super) fn part(&self) -> Range<u64> {
        self.range.start.saturating_sub(self.before)..self.range.end.saturating_sub(self.before)
    }

    /// Skips a file that is known to be before the range, without opening it; returns whether it was skipped.
    pub(super) fn passes(&mut self, file: usize) -> bool {
        let known = self.chain.known_length(file);
        let is_before = known.is_some_and(|length| 0 < length && length <= self.part().start);
        if is_before {
            self.before = self.before.saturating_add(known.unwrap_or(0));
        }
        is_before
    }

    /// Returns the table of a file, which may have been opened in advance.
    pub(super) fn table(&mut self, file: usize) -> Result<Table> {
        while self.ahead.front().is_some_and(|(at, _)| *at < file) {
            self.ahead.pop_front();
        }
        let table = match self.ahead.pop_front() {
            Some((at, opening)) if at == file => wait_for(opening, &self.chain.options().store),
            later => {
                self.ahead.extend(later);
                self.chain.table(file)
            }
        };
        self.open_ahead();
        table
    }

    /// Starts to open the next remote files. If the last file to read is unknown, no file is opened that may
    /// not be needed.
    pub(super) fn open_ahead(&mut self) {
        if !is_remote(&self.chain) || self.range.end != u64::MAX {
            return;
        }
        let first = self.ahead.back().map_or(self.next, |(at, _)| at + 1);
        for file in first..(self.next + AHEAD).min(self.chain.len()) {
            let chain = self.chain.clone();
            // If no thread can be spawned, the file is opened on demand.
            let Ok(opening) = std::thread::Builder::new().spawn(move || chain.table(file)) else { break };
            self.ahead.push_back((file, opening));
        }
    }

    /// Leaves the current file. Its entries are counted as far as needed, and remembered if `is_whole` says
    /// that the table has all entries of the file.
    pub(super) fn leave(&mut self, file: usize, table: &Table, is_whole: bool) -> Result<()> {
        let end = self.part().end;
        let length = table.entries_up_to(end)?;
        if length < end && is_whole {
            self.chain.set_length(file, length);
        }
        self.before = self.before.saturating_add(length);
        Ok(())
    }
}

/// Waits for a thread and returns its result. Signals are handled meanwhile, and may cancel the wait.
fn wait_for(opening: JoinHandle<Result<Table>>, store: &StoreOptions) -> Result<Table> {
    while !opening.is_finished() {
        if !store.goes_on() {
            return Err(Error::new(ErrorKind::Cancelled));
        }
        std::thread::sleep(POLL);
    }
    opening.join().unwrap_or_else(|panic| resume_unwind(panic))
}
