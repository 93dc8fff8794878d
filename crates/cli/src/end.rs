//! Ends of a table.

/// Entries to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The given number of first entries.
    First(u64),
    /// The given number of last entries.
    Last(u64),
}
