//! Members of records that a column has whole, such as the leaves of one branch or an object that is not split.

use super::inputs::Input;
use forthwith_columns::{Array, Form};
use forthwith_plan::{Error, Result};

/// A member of the records of a column: with the lists around these, and missing where one of them is.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Member {
    /// The column, which is read whole.
    pub(super) of: Input,
    path: Vec<String>,
    pub(super) form: Form,
}

impl Member {
    /// A member by its path from record to record, if the column has it.
    pub(super) fn new(of: Input, form: &Form, path: &str) -> Option<Self> {
        let path: Vec<String> = path.split(['.', '/']).map(str::to_owned).collect();
        let form = form.pick(&path)?;
        Some(Self { of, path, form })
    }

    /// The member of what was read of the column, without a copy.
    pub(super) fn array(&self, of: &Array) -> Result<Array> {
        of.pick(&self.path).map_err(|error| Error::fault(error.to_string()))
    }

    /// The member's path within the column.
    pub(super) fn path(&self) -> String {
        self.path.join(".")
    }
}

/// The ways to take a name apart into a column and the path of a member, the longest column first.
pub(super) fn divided(name: &str) -> impl Iterator<Item = (&str, &str)> {
    let plain = name.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '/' | '_' | ':'));
    let ends = name.char_indices().rev().filter(move |(_, c)| plain && matches!(c, '.' | '/'));
    ends.map(|(at, _)| (&name[..at], &name[at + 1..])).filter(|(of, path)| !of.is_empty() && !path.is_empty())
}
