//! Errors of arrays that contradict themselves.

use crate::{DType, LongDecimal};

/// A fault of an [`Array`](crate::Array), and its place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Invalid {
    /// A buffer is not there.
    #[error("there is no buffer {key}")]
    Missing {
        /// Its name.
        key: String,
    },
    /// A buffer has another element type.
    #[error("buffer {key} holds {found}, not {wanted}")]
    Type {
        /// Its name.
        key: String,
        /// The type it has.
        found: DType,
        /// The type the Form asks for.
        wanted: DType,
    },
    /// A buffer is too short.
    #[error("buffer {key} holds {found} items where {needed} are needed")]
    Short {
        /// Its name.
        key: String,
        /// The items it has.
        found: u64,
        /// The items the Form asks for.
        needed: u64,
    },
    /// A list ends before it starts.
    #[error("{key}: row {row} ends before it starts")]
    Backwards {
        /// The buffer.
        key: String,
        /// The list.
        row: u64,
    },
    /// A list that has not as many items as all have.
    #[error("{key}: the number of items in row {row} is not {size}")]
    Length {
        /// The buffer.
        key: String,
        /// The list.
        row: u64,
        /// The items it should have.
        size: u64,
    },
    /// A number that points at no row, or a tag that names no alternative.
    #[error("{key}: row {row} refers to a value that does not exist")]
    Range {
        /// The buffer.
        key: String,
        /// The row.
        row: u64,
    },
    /// An unknown type cannot have rows.
    #[error("{rows} rows of unknown type")]
    Unknown {
        /// How many it should have.
        rows: u64,
    },
    /// More rows without bytes than other columns justify.
    #[error("{rows} rows that hold no bytes, of which at most {limit} are accepted")]
    WithoutBytes {
        /// Their number.
        rows: u64,
        /// The limit.
        limit: u64,
    },
    /// More items than can be counted.
    #[error("{rows} rows of {each} items are more than there can be")]
    Overflow {
        /// Rows of the outer dimension.
        rows: u64,
        /// Items in each.
        each: u64,
    },
    /// A decimal that is not spelled out.
    #[error("{key}: row {row} is {long}")]
    Decimal {
        /// The buffer.
        key: String,
        /// The row.
        row: u64,
        /// How long it is.
        long: LongDecimal,
    },
    /// A record with another number of fields than names.
    #[error("a record of {contents} fields with {names} names")]
    Names {
        /// Number of names.
        names: usize,
        /// Number of contents.
        contents: usize,
    },
    /// Parts that do not belong together.
    #[error("two parts of one column do not have the same structure{}", in_buffer(.key))]
    Unlike {
        /// The buffer that differs, unless it is the Forms.
        key: String,
    },
    /// Forms within Forms beyond reason.
    #[error("more than {DEEPEST} levels of structure")]
    Deep,
}

fn in_buffer(key: &str) -> String {
    if key.is_empty() { String::new() } else { format!(" ({key})") }
}

/// Structure deeper than this is an attack on the stack, not data.
pub(crate) const DEEPEST: u32 = 256;
