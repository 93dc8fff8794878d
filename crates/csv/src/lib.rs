//! CSV files as tables.
//!
//! Opening a file reads it once, in pieces: `scan` finds where records begin, counts them, and finds the type of each column
//! (`seen`) from all of its cells, so that no later cell can contradict it. Records are grouped into blocks of a few megabytes;
//! [`CsvFormat`] parses the blocks again, on several threads, and keeps only the requested columns.
//!
//! Records are divided as RFC 4180 says: quotes around a cell may enclose separators, line breaks, and doubled quotes. Plain
//! ones are divided where their separators and line breaks are (`plain`), others by the crate `csv-core` (`cells`). The cells
//! of plain records are looked at and parsed column by column.
#![deny(missing_docs)]

mod cells;
mod decode;
mod fill;
mod plain;
mod scan;
mod seen;
mod table;
mod types;
mod typing;

pub use decode::CsvFormat;
pub use scan::{CsvFile, CsvOptions};
pub use table::CsvTable;
