//! Answers of jobs.

use crate::{
    entry_set::EntrySet,
    heat::Heat,
    histogram::{Histogram, Outside},
};
use forthwith::io::Version;
use std::any::Any;

/// Answer of a job.
pub(crate) enum Answer {
    /// Texts of cells.
    Cells(Cells),
    /// Number of entries, and whether it is exact.
    Count(u64, bool),
    /// Rows that pass a filter.
    Filtered(Filtered),
    /// Number of rows searched so far.
    Searched(u64),
    /// Result of a search.
    Found(Found),
    /// Types and sizes of columns.
    Described(Vec<NodeDescription>),
    /// Answer to a request.
    Reply(Box<dyn Any + Send>),
    /// Version of the file, and its size in bytes.
    State(Option<Version>, Option<u64>),
    /// Histogram of the values that were read so far.
    Picture(Box<Picture>),
    /// Lines of text.
    Text(String),
    /// Reason of a failure.
    Failed(String),
}

/// Texts of the cells of a column in one chunk of rows.
#[derive(Clone, Debug)]
pub(crate) struct ColumnCells {
    /// Text of each row, or the reason why they cannot be read.
    pub(crate) texts: std::result::Result<Vec<String>, String>,
    /// Whether the values are numbers.
    pub(crate) is_number: bool,
    /// Type of the values; empty if unknown.
    pub(crate) kind: String,
}

/// Texts of the cells of some columns in one chunk of rows.
pub(crate) struct Cells {
    pub(crate) chunk: u64,
    pub(crate) columns: Vec<(u32, ColumnCells)>,
}

/// Type of a column, and its stored size in bytes if known.
pub(crate) struct NodeDescription {
    /// Identifier of its node.
    pub(crate) node: u64,
    pub(crate) kind: String,
    pub(crate) bytes: Option<u64>,
}

/// Entries that pass a filter, found since the last answer.
pub(crate) struct Filtered {
    pub(crate) entries: EntrySet,
    /// Number of entries that were scanned so far.
    pub(crate) scanned: u64,
    /// Number of columns that could not be read everywhere.
    pub(crate) unread: usize,
    /// Whether all entries were scanned.
    pub(crate) is_complete: bool,
}

/// Result of a search.
pub(crate) struct Found {
    /// Row, and first column of it that matches; `None` if nothing matches.
    pub(crate) cell: Option<(u64, u32)>,
    /// Number of columns that could not be read everywhere.
    pub(crate) unread: usize,
}

/// Histogram, and its progress.
#[derive(Clone, Debug)]
pub(crate) struct Picture {
    /// Counts so far.
    pub(crate) shape: PictureShape,
    /// Number of entries that were read.
    pub(crate) read: u64,
    /// Number of entries that passed the cut.
    pub(crate) passed: u64,
    pub(crate) is_complete: bool,
}

/// Counts in bins.
#[derive(Clone, Debug)]
pub(crate) enum PictureShape {
    /// No finite value was found so far.
    Empty(Outside),
    One(Histogram),
    Two(Heat),
}
