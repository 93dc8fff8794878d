//! One end of a table.

/// The entries to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The first.
    First(u64),
    /// The last.
    Last(u64),
}
