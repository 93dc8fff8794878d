//! CSV files as tables.
//!
//! Opening a file reads it once, in pieces: `scan` finds where records begin, counts them, and finds the type of each column
//! (`types`) from all of its cells, so that no later cell can contradict it. Records are grouped into blocks of a few megabytes;
//! [`CsvFormat`] parses the blocks again, on several threads, and keeps only the requested columns.
//!
//! Cells are divided by the crate `csv-core` as RFC 4180 says: quotes around a cell may enclose separators, line breaks, and
//! doubled quotes.
#![deny(missing_docs)]

mod cells;
mod decode;
mod scan;
mod table;
mod types;

pub use decode::CsvFormat;
pub use scan::{CsvFile, CsvOptions};
pub use table::CsvTable;
