//! Why columns cannot be written.

use forthwith_columns::Invalid;

/// Why columns cannot be written as a layout says. `member` is the path of the value: `hits[].x`, empty for
/// the outermost.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// The columns are not what their Form says.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// A column of another type than the layout wants.
    #[error("{}{found} cannot be written as {wanted}", at(.member))]
    Type {
        /// The value.
        member: String,
        /// The type of the column.
        found: String,
        /// The type in the layout.
        wanted: String,
    },
    /// A field of the layout for which there is no column.
    #[error("{}there is no column for the field {field:?} of the schema", at(.member))]
    Missing {
        /// The record.
        member: String,
        /// The field.
        field: String,
    },
    /// A column for which the layout has no field.
    #[error("{}the schema has no field for the column {field:?}", at(.member))]
    Extra {
        /// The record.
        member: String,
        /// The column.
        field: String,
    },
    /// A null where the layout has none.
    #[error("{}row {row} is null, which the schema does not allow", at(.member))]
    Null {
        /// The value.
        member: String,
        /// Its row within its node.
        row: u64,
    },
    /// A value that the layout's type has no room for.
    #[error("{}row {row} is {found}, which is not within {wanted}", at(.member))]
    Range {
        /// The value.
        member: String,
        /// Its row within its node.
        row: u64,
        /// The value.
        found: String,
        /// The type.
        wanted: String,
    },
    /// A layout that can be read only.
    #[error("{}{what} cannot be written", at(.member))]
    Unsupported {
        /// The value.
        member: String,
        /// The thing itself, as a phrase.
        what: String,
    },
    /// Nested more deeply than the limit.
    #[error("{}nested more deeply than can be written", at(.member))]
    Deep {
        /// The value.
        member: String,
    },
}

impl EncodeError {
    /// A value that the layout's type has no room for, in a row of its node.
    pub(crate) fn range(member: &str, row: usize, found: String, wanted: String) -> Self {
        Self::Range { member: member.into(), row: row as u64, found, wanted }
    }
}

fn at(member: &str) -> String {
    if member.is_empty() { String::new() } else { format!("{member}: ") }
}
