//! The array that a builder gives.

use forthwith_columns::Column;

/// Columns with their Form, in Awkward Array's own notation: the arguments of `ak.from_buffers`.
///
/// Dates and spans of time are int64, complex numbers pairs of float64. Options and unions may be nested as
/// Awkward Array's own builder nests them, which `ak.from_buffers` straightens out unless told not to.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The Form as JSON.
    pub form: String,
    /// Number of items.
    pub length: u64,
    /// The buffers by name: `node0-offsets`, `node1-data`.
    pub columns: Vec<(String, Column)>,
}
