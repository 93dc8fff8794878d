//! Reading of CSV files.
//!
//! A file is read once when it is opened, in pieces: `scan` finds and counts the records, and infers the type
//! of each column (`seen`) from all of its cells, so that no later cell can contradict it. Records are
//! grouped into blocks of a few megabytes; [`CsvFormat`] parses the blocks again, on several threads, and
//! keeps only the requested columns.
//!
//! Records are parsed by RFC 4180: a cell in quotes may contain separators, line breaks and doubled quotes.
//! Plain records are divided at their separators and line breaks (`plain`), others by the crate `csv-core`
//! (`cells`). The cells of plain records are processed column by column.
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
