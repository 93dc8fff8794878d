//! The pane that a browser begins with.

use forthwith::{
    File, Table,
    files::{self, Place},
    plan::Result,
};

/// The thing that is shown first.
#[derive(Clone, Debug)]
pub enum Start {
    /// The objects of a file, with the cursor on this one.
    Tree(String),
    /// The values of a table, or of some of its columns.
    Table(Table, Option<Vec<u32>>),
}

/// The first pane for a path in a file: a table, some columns of one, or the tree with an object selected.
///
/// # Errors
/// As [`files::locate`].
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
