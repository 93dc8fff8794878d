//! A Form with its columns.

use crate::{Column, Form};
use std::collections::HashSet;

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

    /// The fields of a record, an array each; anything else stays as it is. Columns are shared, not copied.
    #[must_use]
    pub fn into_fields(self) -> Vec<Self> {
        let Form::Record { contents, .. } = &self.form else { return vec![self] };
        let field = |form: &Form| {
            let mut keys = HashSet::new();
            form.keys(&mut keys);
            let mine = self
                .columns
                .iter()
                .filter(|(name, _)| name.rsplit_once('-').is_some_and(|(key, _)| keys.contains(key)));
            Self { form: form.clone(), length: self.length, columns: mine.cloned().collect() }
        };
        contents.iter().map(field).collect()
    }

    /// Bytes in all buffers.
    #[must_use]
    pub fn nbytes(&self) -> usize {
        self.columns.iter().map(|(_, column)| column.nbytes()).sum()
    }
}
