//! The services of the surroundings of a browser.

use forthwith::{File, Key, Table, plan::Result};

/// Services that a browser takes from its surroundings.
pub trait Host: Send + Sync {
    /// Opens the file again.
    ///
    /// # Errors
    /// The file cannot be opened, as text.
    fn reopen(&self) -> std::result::Result<File, String>;

    /// Opens a table of the file.
    ///
    /// # Errors
    /// As [`File::table`].
    fn table(&self, file: &File, path: &str) -> Result<Table> {
        file.table(path)
    }

    /// An object other than a table as text, with lines of about `width` characters.
    ///
    /// # Errors
    /// The object cannot be read, as text.
    fn object(&self, file: &File, key: &Key, width: usize) -> std::result::Result<String, String>;

    /// How a column is read, and its plan.
    ///
    /// # Errors
    /// Damaged metadata, as text.
    fn plan(&self, table: &Table, field: u32, width: usize) -> std::result::Result<String, String>;

    /// The program that decodes a column.
    ///
    /// # Errors
    /// Why the column is decoded in another way, as text.
    fn program(&self, table: &Table, field: u32) -> std::result::Result<String, String>;
}
