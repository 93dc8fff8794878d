//! Answers of jobs.

use crate::{
    entry_set::EntrySet,
    heat::Heat,
    histogram::{Histogram, Outside},
};
use forthwith::io::Version;
use std::any::Any;

/// An answer of a job.
pub(crate) enum Answer {
    /// Texts of cells.
    Cells(Cells),
    /// The number of entries, and whether it is exact.
    Count(u64, bool),
    /// Rows that pass a filter.
    Filtered(Filtered),
    /// The number of rows that a search has looked at.
    Searched(u64),
    /// The result of a search.
    Found(Found),
    /// Types and sizes of columns.
    Described(Vec<NodeDescription>),
    /// The answer to a request.
    Reply(Box<dyn Any + Send>),
    /// The present state of the file, and its size.
    State(Option<Version>, Option<u64>),
    /// A picture, as far as its values are read.
    Picture(Box<Picture>),
    /// Lines of text.
    Text(String),
    /// The reason of a failure.
    Failed(String),
}

/// Texts of a column's cells in one chunk of rows.
#[derive(Clone, Debug)]
pub(crate) struct ColumnCells {
    /// Texts by row, or why they cannot be read.
    pub(crate) texts: std::result::Result<Vec<String>, String>,
    /// Whether they are numbers.
    pub(crate) is_number: bool,
    /// The type; empty if it is unknown.
    pub(crate) kind: String,
}

/// Texts of some columns in one chunk of rows.
pub(crate) struct Cells {
    pub(crate) chunk: u64,
    pub(crate) columns: Vec<(u32, ColumnCells)>,
}

/// The type of a column, and its stored bytes where the file says them.
pub(crate) struct NodeDescription {
    /// The id of its node.
    pub(crate) node: u64,
    pub(crate) kind: String,
    pub(crate) bytes: Option<u64>,
}

/// Entries that pass, found since the last answer.
pub(crate) struct Filtered {
    pub(crate) entries: EntrySet,
    /// Entries that were looked at so far.
    pub(crate) scanned: u64,
    /// Columns that could not be read everywhere.
    pub(crate) unread: usize,
    /// Whether all were looked at.
    pub(crate) is_complete: bool,
}

/// The result of a search.
pub(crate) struct Found {
    /// The row, and the first column of it that matches.
    pub(crate) cell: Option<(u64, u32)>,
    /// Columns that could not be read everywhere.
    pub(crate) unread: usize,
}

/// A picture and the part of the entries that it is of.
#[derive(Clone, Debug)]
pub(crate) struct Picture {
    /// Counts so far.
    pub(crate) shape: PictureShape,
    /// Entries that were looked at.
    pub(crate) read: u64,
    /// Entries that passed the cut.
    pub(crate) passed: u64,
    pub(crate) is_complete: bool,
}

/// Counts in bins.
#[derive(Clone, Debug)]
pub(crate) enum PictureShape {
    /// No value is finite so far.
    Empty(Outside),
    One(Histogram),
    Two(Heat),
}
