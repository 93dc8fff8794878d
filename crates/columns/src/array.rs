//! A Form with its columns.

use crate::{Column, Form};

/// Columns and what they mean: the arguments of `ak.from_buffers`.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// The structure.
    pub form: Form,
    /// Number of rows.
    pub length: u64,
    /// The buffers by name: `node0-offsets`, `node1-data`.
    pub columns: Vec<(String, Column)>,
}

impl Array {
    /// The buffer called `key`.
    #[must_use]
    pub fn column(&self, key: &str) -> Option<&Column> {
        self.columns.iter().find(|(name, _)| name == key).map(|(_, column)| column)
    }

    /// Bytes in all buffers.
    #[must_use]
    pub fn nbytes(&self) -> usize {
        self.columns.iter().map(|(_, column)| column.nbytes()).sum()
    }
}
