//! First pane of a browser.

use forthwith::{
    File, Table,
    files::{self, Place},
    plan::Result,
};

/// Content of the first pane.
#[derive(Clone, Debug)]
pub enum Start {
    /// Objects of a file, with the cursor on the given path.
    Tree(String),
    /// Values of a table, of some columns or of all.
    Table(Table, Option<Vec<u32>>),
}

/// Returns the first pane for a path in a file: a column's values, or the tree with the cursor on an object
/// or table.
///
/// # Errors
/// Returns the errors of [`files::locate`].
pub fn start_at(file: &File, path: &str) -> Result<Start> {
    if path.is_empty() {
        return Ok(Start::Tree(String::new()));
    }
    Ok(match files::locate(file, path)? {
        Place::Table(table) => Start::Tree(table.path().to_owned()),
        Place::Field { table, field, .. } => Start::Table(table, Some(vec![field])),
        Place::Object(key) => Start::Tree(key.path),
    })
}
