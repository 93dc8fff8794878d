//! Limit on rows of imported arrays that take no memory, such as nulls or records without fields.
//!
//! No bytes back their number, and each row costs an index here and an iteration in writers.

use crate::Invalid;

/// Number of rows without bytes that are always accepted.
const MOST: u64 = 1 << 28;

/// Counts the rows without bytes of one import.
#[derive(Default)]
pub(crate) struct RowsWithoutBytes {
    rows: u64,
}

impl RowsWithoutBytes {
    /// Adds rows and checks the limit: [`MOST`], or the number of bits in the `bytes` of all other columns if
    /// that is larger.
    pub(crate) fn add(&mut self, rows: u64, bytes: u64) -> Result<(), Invalid> {
        self.rows = self.rows.saturating_add(rows);
        let limit = bytes.saturating_mul(8).max(MOST);
        if self.rows > limit { Err(Invalid::WithoutBytes { rows: self.rows, limit }) } else { Ok(()) }
    }
}
