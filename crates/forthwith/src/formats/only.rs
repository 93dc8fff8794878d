//! Keys of files with a single table.

use crate::Key;
use forthwith_io::Source;
use forthwith_plan::Result;

impl Key {
    /// Creates the key of a table that is the only object of its file. Its class is the name of the format,
    /// and its data begin at byte `begin` of the file.
    pub(crate) fn of_only(
        source: &dyn Source,
        format: &str,
        name: String,
        title: String,
        begin: u64,
    ) -> Result<Self> {
        let bytes = source.size_so_far()?.saturating_sub(begin);
        Ok(Self {
            path: name.clone(),
            name,
            cycle: 1,
            class: format.into(),
            title,
            stored_bytes: bytes,
            object_bytes: bytes,
            is_directory: false,
            is_table: true,
            is_unsupported_table: false,
        })
    }
}
