//! The most that a builder takes of each kind.

/// Lists, records and tuples within each other.
pub const DEEPEST: usize = 1000;
/// Slots of a tuple.
pub const MOST_SLOTS: usize = 1 << 16;
/// Alternatives of one place: tags have eight bits.
pub const MOST_ALTERNATIVES: usize = 128;
/// Columns of one builder.
pub const MOST_COLUMNS: usize = 1 << 24;
