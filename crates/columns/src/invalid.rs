//! Errors of arrays that contradict themselves.

use crate::{DType, LongDecimal};

/// Reason that an [`Array`](crate::Array) is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Invalid {
    /// A buffer is absent.
    #[error("there is no buffer {key}")]
    Missing {
        /// Name of the buffer.
        key: String,
    },
    /// A buffer has another element type.
    #[error("buffer {key} holds {found}, not {wanted}")]
    Type {
        /// Name of the buffer.
        key: String,
        /// Its element type.
        found: DType,
        /// The element type that the Form requires.
        wanted: DType,
    },
    /// A buffer is too short.
    #[error("buffer {key} holds {found} items where {needed} are needed")]
    Short {
        /// Name of the buffer.
        key: String,
        /// Its number of items.
        found: u64,
        /// The number of items that the Form requires.
        needed: u64,
    },
    /// A list ends before it starts.
    #[error("{key}: row {row} ends before it starts")]
    Backwards {
        /// Name of the buffer.
        key: String,
        /// Row of the list.
        row: u64,
    },
    /// A list has another length than required.
    #[error("{key}: the number of items in row {row} is not {size}")]
    Length {
        /// Name of the buffer.
        key: String,
        /// Row of the list.
        row: u64,
        /// The required number of items.
        size: u64,
    },
    /// An index out of range, or a tag without an alternative.
    #[error("{key}: row {row} refers to a value that does not exist")]
    Range {
        /// Name of the buffer.
        key: String,
        /// The row.
        row: u64,
    },
    /// An array of unknown type has rows.
    #[error("{rows} rows of unknown type")]
    Unknown {
        /// Number of rows.
        rows: u64,
    },
    /// More rows without bytes than other columns justify.
    #[error("{rows} rows that hold no bytes, of which at most {limit} are accepted")]
    WithoutBytes {
        /// Number of rows.
        rows: u64,
        /// The limit.
        limit: u64,
    },
    /// The number of items exceeds the range of int64.
    #[error("{rows} rows of {each} items are more than there can be")]
    Overflow {
        /// Number of rows of the outer dimension.
        rows: u64,
        /// Number of items in each.
        each: u64,
    },
    /// A decimal that is too long to be converted to text.
    #[error("{key}: row {row} is {long}")]
    Decimal {
        /// Name of the buffer.
        key: String,
        /// The row.
        row: u64,
        /// Its length.
        long: LongDecimal,
    },
    /// A record whose numbers of fields and names differ.
    #[error("a record of {contents} fields with {names} names")]
    Names {
        /// Number of names.
        names: usize,
        /// Number of fields.
        contents: usize,
    },
    /// Arrays that cannot be combined.
    #[error("two parts of one column do not have the same structure{}", in_buffer(.key))]
    Unlike {
        /// Name of the buffer that differs; empty if the Forms differ.
        key: String,
    },
    /// The Form exceeds the maximum depth.
    #[error("more than {DEEPEST} levels of structure")]
    Deep,
}

fn in_buffer(key: &str) -> String {
    if key.is_empty() { String::new() } else { format!(" ({key})") }
}

/// Maximum depth of a Form, which bounds recursion on the stack.
pub(crate) const DEEPEST: u32 = 256;
