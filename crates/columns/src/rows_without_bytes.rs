//! Limit on rows of arrays from outside that take no memory, such as nulls or records without fields.
//!
//! Their number is a claim without bytes behind it, and each row costs an index here and a turn of a loop in writers.

use crate::Invalid;

/// Rows without bytes that are accepted whatever else there is.
const MOST: u64 = 1 << 28;

/// Counts the rows without bytes of one import.
#[derive(Default)]
pub(crate) struct RowsWithoutBytes {
    rows: u64,
}

impl RowsWithoutBytes {
    /// Adds rows; `bytes` are those of all other columns, each of whose bits may be a row.
    pub(crate) fn add(&mut self, rows: u64, bytes: u64) -> Result<(), Invalid> {
        self.rows = self.rows.saturating_add(rows);
        let limit = bytes.saturating_mul(8).max(MOST);
        if self.rows > limit { Err(Invalid::WithoutBytes { rows: self.rows, limit }) } else { Ok(()) }
    }
}
