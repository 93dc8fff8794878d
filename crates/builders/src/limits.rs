//! Limits of builders.

/// Maximum nesting depth of lists, records and tuples.
pub const DEEPEST: usize = 1000;
/// Maximum number of slots of a tuple.
pub const MOST_SLOTS: usize = 1 << 16;
/// Maximum number of alternatives of a union: tags have eight bits.
pub const MOST_ALTERNATIVES: usize = 128;
/// Maximum number of columns of a builder.
pub const MOST_COLUMNS: usize = 1 << 24;
