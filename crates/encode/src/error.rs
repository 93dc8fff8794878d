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
    /// The memory of the columns was changed since they were validated.
    #[error("columns that are not what their Form says: their memory was changed meanwhile")]
    Changed,
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
    /// A field of the layout without a column.
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
    #[error("{}{}null, which the schema does not allow", at(.member), is(.row))]
    Null {
        /// The value.
        member: String,
        /// Its row in the array; `None` if no row has it.
        row: Option<u64>,
    },
    /// A value out of the range of the layout's type.
    #[error("{}{}{found}, which is not within {wanted}", at(.member), is(.row))]
    Range {
        /// The value.
        member: String,
        /// Its row in the array; `None` if no row has it.
        row: Option<u64>,
        /// The value.
        found: String,
        /// The type.
        wanted: String,
    },
    /// A value that the layout does not allow.
    #[error("{}{}{what}", at(.member), in_row(.row))]
    Value {
        /// The value.
        member: String,
        /// Its row in the array; `None` where the caller knows it.
        row: Option<u64>,
        /// The fault, as a phrase.
        what: String,
    },
    /// A layout that can be read only, or a value that is too large to be written.
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
    /// A value out of the range of the layout's type, in a row of its node.
    pub(crate) fn range(member: &str, row: usize, found: String, wanted: String) -> Self {
        Self::Range { member: member.into(), row: Some(row as u64), found, wanted }
    }

    /// A value that is found to be wrong while it is appended.
    pub(crate) fn value(what: impl Into<String>) -> Self {
        Self::Value { member: String::new(), row: None, what: what.into() }
    }

    /// Something that is too large to be written.
    pub(crate) fn large(what: String) -> Self {
        Self::Unsupported { member: String::new(), what }
    }

    /// The row of the array that the value is in, if it is known.
    #[must_use]
    pub const fn row(&self) -> Option<u64> {
        match self {
            Self::Null { row, .. } | Self::Range { row, .. } | Self::Value { row, .. } => *row,
            _ => None,
        }
    }

    /// The path of the value; empty for the outermost, and where it is not known.
    #[must_use]
    pub fn member(&self) -> &str {
        match self {
            Self::Type { member, .. }
            | Self::Missing { member, .. }
            | Self::Extra { member, .. }
            | Self::Null { member, .. }
            | Self::Range { member, .. }
            | Self::Value { member, .. }
            | Self::Unsupported { member, .. }
            | Self::Deep { member } => member,
            Self::Invalid(_) | Self::Changed => "",
        }
    }

    /// The error without path and row, and these two.
    #[must_use]
    pub fn split(mut self) -> (Self, String, Option<u64>) {
        let (mut path, mut number) = (String::new(), None);
        match &mut self {
            Self::Type { member, .. }
            | Self::Missing { member, .. }
            | Self::Extra { member, .. }
            | Self::Unsupported { member, .. }
            | Self::Deep { member } => path = std::mem::take(member),
            Self::Null { member, row }
            | Self::Range { member, row, .. }
            | Self::Value { member, row, .. } => {
                (path, number) = (std::mem::take(member), row.take());
            }
            Self::Invalid(_) | Self::Changed => {}
        }
        (self, path, number)
    }

    /// The row of a node, as that of the node around it.
    pub(crate) fn renumbered(mut self, number: impl FnOnce(u64) -> Option<u64>) -> Self {
        if let Self::Null { row, .. } | Self::Range { row, .. } | Self::Value { row, .. } = &mut self {
            *row = row.and_then(number);
        }
        self
    }
}

fn at(member: &str) -> String {
    if member.is_empty() { String::new() } else { format!("{member}: ") }
}

fn in_row(row: &Option<u64>) -> String {
    row.map_or_else(String::new, |row| format!("row {row}: "))
}

fn is(row: &Option<u64>) -> String {
    row.map_or_else(String::new, |row| format!("row {row} is "))
}
