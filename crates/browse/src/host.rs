//! Interface of a browser to its environment.

use forthwith::{File, Key, Table, plan::Result};

/// Services that a browser requires of its environment.
pub trait Host: Send + Sync {
    /// Opens the file again.
    ///
    /// # Errors
    /// Returns a message if the file cannot be opened.
    fn reopen(&self) -> std::result::Result<File, String>;

    /// Opens a table of the file.
    ///
    /// # Errors
    /// Returns the errors of [`File::table`].
    fn table(&self, file: &File, path: &str) -> Result<Table> {
        file.table(path)
    }

    /// Returns an object other than a table as text, with lines of about `width` characters.
    ///
    /// # Errors
    /// Returns a message if the object cannot be read.
    fn object(&self, file: &File, key: &Key, width: usize) -> std::result::Result<String, String>;

    /// Returns a description of the plan of a column.
    ///
    /// # Errors
    /// Returns a message if the metadata are corrupt.
    fn plan(&self, table: &Table, field: u32, width: usize) -> std::result::Result<String, String>;

    /// Returns the program that decodes a column.
    ///
    /// # Errors
    /// Returns a message with the reason if the column is not decoded by a program.
    fn program(&self, table: &Table, field: u32) -> std::result::Result<String, String>;
}
