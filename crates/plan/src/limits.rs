//! Statistics of values that a file stores.

use std::ops::Range;

/// Bounds on the values of a field in a range of entries, by the file's statistics. They cover the items of
/// lists and all values that are not missing, except NaN.
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    /// The range of entries.
    pub entries: Range<u64>,
    /// Lower bound on the values.
    pub least: Limit,
    /// Upper bound on the values.
    pub greatest: Limit,
}

/// A bound on values.
#[derive(Clone, Debug, PartialEq)]
pub enum Limit {
    /// An integer; 0 or 1 for booleans.
    Integer(i128),
    /// A floating-point number, which is not NaN.
    Float(f64),
    /// Text, which is compared byte by byte.
    Text(Vec<u8>),
}
