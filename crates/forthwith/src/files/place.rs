//! Look-up of an object in a file, or a field of a table, by path.

use crate::{File, Key, Table};
use forthwith_plan::{Error, ErrorKind, Result};
use std::collections::BTreeSet;

/// Object or field that a path refers to.
#[derive(Clone, Debug)]
pub enum Place {
    /// A table.
    Table(Table),
    /// A field of a table.
    Field {
        /// The table.
        table: Table,
        /// The field.
        field: u32,
        /// Whether the path names the table.
        named: bool,
    },
    /// A directory, or another object that is not a table.
    Object(Key),
}

/// Returns what a path refers to. The longest prefix that is an object takes precedence; if it is a table,
/// the remainder is a field of it, whose name may contain `/`. A path without such a prefix is a field of the
/// file's only table.
///
/// ```
/// use forthwith::{File, files::{Place, locate}};
/// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data");
///
/// let file = File::open(format!("{folder}/zmumu.root"))?;
/// assert!(matches!(locate(&file, "events/MET_pt")?, Place::Field { named: true, .. }));
/// # Ok::<(), forthwith::plan::Error>(())
/// ```
///
/// # Errors
/// [`NotFound`](ErrorKind::NotFound), with similar names; a table that cannot be read.
pub fn locate(file: &File, path: &str) -> Result<Place> {
    let missing = match file.find(path) {
        Ok(key) if key.is_table || key.is_unsupported_table => return Ok(Place::Table(file.table(path)?)),
        Ok(key) => return Ok(Place::Object(key)),
        Err(error) if is_not_found(&error) => error,
        Err(error) => return Err(error),
    };
    for (slash, _) in path.match_indices('/').rev() {
        match file.find(&path[..slash]) {
            Ok(key) if key.is_table || key.is_unsupported_table => {
                let table = file.table(&path[..slash])?;
                let field = table.find(&path[slash + 1..])?;
                return Ok(Place::Field { table, field, named: true });
            }
            Err(error) if !is_not_found(&error) => return Err(error),
            _ => {}
        }
    }
    let Some(only) = only_table(file)? else { return Err(missing) };
    let table = file.table(&only)?;
    match table.find(path) {
        Ok(field) => Ok(Place::Field { table, field, named: false }),
        // In a file that is one table, the path can only be a field; other errors than not finding it are
        // more informative.
        Err(error) if file.is_one_table() || !is_not_found(&error) => Err(error),
        Err(_) => Err(missing),
    }
}

/// Returns the path of the only table of a file; `None` if it has none or several.
fn only_table(file: &File) -> Result<Option<String>> {
    let mut paths = tables(file)?;
    let only = paths.pop_first();
    Ok(only.filter(|_| paths.is_empty()))
}

/// Returns the distinct paths of the tables of a file, which may have several cycles.
pub(crate) fn tables(file: &File) -> Result<BTreeSet<String>> {
    let keys = file.keys("", true)?.into_iter();
    Ok(keys.filter(|key| key.is_table).map(|key| key.path).collect())
}

fn is_not_found(error: &Error) -> bool {
    matches!(error.kind, ErrorKind::NotFound { .. })
}
