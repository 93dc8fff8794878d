//! Answers of jobs.

use crate::{
    heat::Heat,
    histogram::{Histogram, Outside},
};

/// An answer of a job.
pub(crate) enum Answer {
    /// Texts of cells.
    Cells(Cells),
    /// The number of entries, and whether it is exact.
    Count(u64, bool),
    /// Rows that pass a filter.
    Filtered(Filtered),
    /// The row that a search found, if any.
    Found(Option<u64>),
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
}

/// Texts of some columns in one chunk of rows.
pub(crate) struct Cells {
    pub(crate) chunk: u64,
    pub(crate) columns: Vec<(u32, ColumnCells)>,
}

/// Entries that pass, found since the last answer.
pub(crate) struct Filtered {
    /// In ascending order.
    pub(crate) entries: Vec<u64>,
    /// Entries that were looked at so far.
    pub(crate) scanned: u64,
    /// Whether all were looked at.
    pub(crate) is_complete: bool,
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
