//! The account that a file gives of values, without their being read.

use std::ops::Range;

/// Limits of the values of a field in some entries, as a file's statistics say: the items of lists, and the values that
/// are not missing. Of NaN they say nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    /// The entries.
    pub entries: Range<u64>,
    /// No value is smaller.
    pub least: Limit,
    /// No value is larger.
    pub greatest: Limit,
}

/// One limit.
#[derive(Clone, Debug, PartialEq)]
pub enum Limit {
    /// A whole number; of booleans 0 or 1.
    Integer(i128),
    /// A number, which is not NaN.
    Float(f64),
    /// Text, compared byte by byte.
    Text(Vec<u8>),
}
