//! Texts of the cells of a table, read in chunks of rows and cached near the screen.

use crate::{
    answers::{Answer, Cells, ColumnCells},
    jobs::{Job, Jobs, Lane, Ticket},
};
use forthwith::{
    SelectOptions, Table,
    columns::{Array, Form},
    plan::Result,
};
use std::{
    collections::HashMap,
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

/// Number of rows of a chunk.
pub(crate) const CHUNK: u64 = 64;
/// Maximum number of characters of a cell.
pub(crate) const WIDEST: usize = 60;
/// Maximum number of cached chunks of columns, beyond which distant ones are dropped.
const KEPT: usize = 2048;

/// Entries of a table, in ascending order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Entries {
    /// All entries of a range.
    Range(Range<u64>),
    /// Single entries.
    List(Vec<u64>),
}

impl Entries {
    /// Returns the range from the first to the last entry.
    fn bounds(&self) -> Range<u64> {
        match self {
            Self::Range(range) => range.clone(),
            Self::List(list) => match (list.first(), list.last()) {
                (Some(first), Some(last)) => *first..last.saturating_add(1),
                _ => 0..0,
            },
        }
    }
}

/// Reads entries of some fields, until `stop` is set.
///
/// # Errors
/// Returns the errors of [`Table::plan`], [`Table::select`] and [`Table::read`].
pub(crate) fn read(
    table: &Table,
    fields: &[u32],
    entries: &Entries,
    stop: &AtomicBool,
) -> Result<Vec<Array>> {
    match entries {
        Entries::Range(range) => {
            let mut own = range.clone();
            if let [field] = fields {
                // A column may be shorter than its table.
                let end = table.entry_range_up_to(*field, range.end)?.end.min(range.end);
                own = range.start.min(end)..end;
            }
            // A few blocks are read faster without waking other threads.
            table.read(&table.plan(fields, own)?, Some(1), Some(&mut |_| !stop.load(Ordering::Relaxed)))
        }
        Entries::List(list) => {
            let columns: Vec<_> = fields.iter().map(|field| ("", Some(*field))).collect();
            let options = SelectOptions { entries: Some(list.clone()), ..SelectOptions::default() };
            Ok(table
                .select_fields(&columns, options)?
                .read(entries.bounds(), Some(1), Some(&mut |_| !stop.load(Ordering::Relaxed)))?
                .arrays)
        }
    }
}

/// Reads entries of some fields, one by one if they cannot be read together.
pub(crate) fn read_each(
    table: &Table,
    fields: &[u32],
    entries: &Entries,
    stop: &AtomicBool,
) -> Vec<Result<Array>> {
    if fields.len() > 1
        && let Ok(arrays) = read(table, fields, entries, stop)
        && arrays.len() == fields.len()
    {
        return arrays.into_iter().map(Ok).collect();
    }
    let empty = || Array { form: Form::Empty, length: 0, columns: Vec::new() };
    let one = |field: &u32| {
        read(table, &[*field], entries, stop).map(|mut arrays| arrays.pop().unwrap_or_else(empty))
    };
    fields.iter().map(one).collect()
}

/// Returns the text of each row of an array.
pub(crate) fn texts(array: &Array, width: usize) -> std::result::Result<Vec<String>, String> {
    array.preview(0..array.length, width).lines().map_err(|invalid| invalid.to_string())
}

/// Whether values are numbers, which are aligned to the right.
fn is_number(form: &Form) -> bool {
    match form {
        Form::Numpy { shape, .. } => shape.is_empty(),
        Form::Option { content, .. } => is_number(content),
        _ => false,
    }
}

impl ColumnCells {
    /// Returns cells that cannot be read, with the reason.
    const fn failed(why: String) -> Self {
        Self { texts: Err(why), is_number: false, kind: String::new() }
    }
}

struct CellsJob {
    table: Table,
    chunk: u64,
    fields: Vec<u32>,
    entries: Entries,
}

impl Job for CellsJob {
    fn step(&mut self, stop: &AtomicBool) -> (Answer, bool) {
        let read = read_each(&self.table, &self.fields, &self.entries, stop);
        let cells = |read: Result<Array>| match read {
            Ok(array) => ColumnCells {
                texts: texts(&array, WIDEST),
                is_number: is_number(&array.form),
                kind: array.form.type_string(),
            },
            Err(error) => ColumnCells::failed(error.to_string()),
        };
        let columns = self.fields.iter().copied().zip(read.into_iter().map(cells)).collect();
        (Answer::Cells(Cells { chunk: self.chunk, columns }), false)
    }
}

/// Cells that were read, and chunks that are being read.
#[derive(Default)]
pub(crate) struct CellCache {
    kept: HashMap<(u64, u32), Arc<ColumnCells>>,
    pending: HashMap<Ticket, (u64, Vec<u32>)>,
}

impl CellCache {
    /// Returns the cells of a column in a chunk of rows, if they were read.
    pub(crate) fn get(&self, chunk: u64, field: u32) -> Option<&Arc<ColumnCells>> {
        self.kept.get(&(chunk, field))
    }

    /// Starts reading chunks of some columns that were not requested yet, and cancels reads of all other
    /// chunks.
    pub(crate) fn request(
        &mut self,
        jobs: &mut Jobs,
        table: &Table,
        fields: &[u32],
        chunks: &[(u64, Entries)],
    ) {
        let is_near = |chunk: u64| chunks.iter().any(|(near, _)| *near == chunk);
        let far: Vec<Ticket> = self
            .pending
            .iter()
            .filter(|(_, (chunk, _))| !is_near(*chunk))
            .map(|(ticket, _)| *ticket)
            .collect();
        for ticket in far {
            self.pending.remove(&ticket);
            jobs.cancel(ticket);
        }
        if self.kept.len() > KEPT {
            self.kept.retain(|(chunk, _), _| is_near(*chunk));
        }
        for (chunk, entries) in chunks {
            let is_pending = |field: u32| {
                self.pending.values().any(|(pending, fields)| pending == chunk && fields.contains(&field))
            };
            let missing = fields.iter().copied();
            let missing =
                missing.filter(|field| !self.kept.contains_key(&(*chunk, *field)) && !is_pending(*field));
            let missing: Vec<u32> = missing.collect();
            if !missing.is_empty() {
                let (table, entries) = (table.clone(), entries.clone());
                let job = CellsJob { table, chunk: *chunk, fields: missing.clone(), entries };
                self.pending.insert(jobs.start(Lane::Screen, job), (*chunk, missing));
            }
        }
    }

    /// Stores an answer; returns it if it belongs to another part of the browser.
    pub(crate) fn take(&mut self, ticket: Ticket, answer: Answer) -> Option<Answer> {
        let Some((chunk, fields)) = self.pending.remove(&ticket) else { return Some(answer) };
        match answer {
            Answer::Cells(cells) => {
                for (field, column) in cells.columns {
                    self.kept.insert((cells.chunk, field), Arc::new(column));
                }
            }
            Answer::Failed(why) => {
                let failed = Arc::new(ColumnCells::failed(why));
                self.kept.extend(fields.into_iter().map(|field| ((chunk, field), Arc::clone(&failed))));
            }
            _ => {}
        }
        None
    }

    /// Drops all cells, since the rows have changed.
    pub(crate) fn clear(&mut self, jobs: &mut Jobs) {
        self.pending.drain().for_each(|(ticket, _)| jobs.cancel(ticket));
        self.kept.clear();
    }

    /// Drops chunks from `chunk` on, which were read before all of their rows were known.
    pub(crate) fn forget_from(&mut self, chunk: u64, jobs: &mut Jobs) {
        self.kept.retain(|(kept, _), _| *kept < chunk);
        let stale: Vec<Ticket> = self
            .pending
            .iter()
            .filter(|(_, (pending, _))| *pending >= chunk)
            .map(|(ticket, _)| *ticket)
            .collect();
        for ticket in stale {
            self.pending.remove(&ticket);
            jobs.cancel(ticket);
        }
    }
}
