//! Members of records that are stored as a whole column, such as the leaves of one branch or an unsplit
//! object.

use super::inputs::Input;
use forthwith_columns::{Array, Form};
use forthwith_plan::{Error, Result};

/// A member of a column's records: in the lists around the records, and missing where an option around it is.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Member {
    /// The column, which is read whole.
    pub(super) of: Input,
    path: Vec<String>,
    pub(super) form: Form,
}

impl Member {
    /// Looks up a member by its path from record to record.
    pub(super) fn new(of: Input, form: &Form, path: &str) -> Option<Self> {
        let path: Vec<String> = path.split(['.', '/']).map(str::to_owned).collect();
        let form = form.pick(&path)?;
        Some(Self { of, path, form })
    }

    /// Extracts the member from the array of the column, without a copy.
    pub(super) fn array(&self, of: &Array) -> Result<Array> {
        of.pick(&self.path).map_err(|error| Error::fault(error.to_string()))
    }

    /// Returns the member's path within the column.
    pub(super) fn path(&self) -> String {
        self.path.join(".")
    }
}

/// Iterates over the splits of a name into a column and the path of a member, longest column first.
pub(super) fn divided(name: &str) -> impl Iterator<Item = (&str, &str)> {
    let plain = name.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '/' | '_' | ':'));
    let ends = name.char_indices().rev().filter(move |(_, c)| plain && matches!(c, '.' | '/'));
    ends.map(|(at, _)| (&name[..at], &name[at + 1..])).filter(|(of, path)| !of.is_empty() && !path.is_empty())
}
