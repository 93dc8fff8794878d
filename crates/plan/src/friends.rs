//! Friend tables, as a file declares them.

/// A friend of a table: another table with corresponding entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FriendName {
    /// Name of the friend in expressions.
    pub name: String,
    /// The file of the friend, as the table names it; empty if it is the same file.
    pub file: String,
    /// Path of the friend in that file.
    pub path: String,
}

/// Index of a table by two numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableIndex {
    /// Expression of the first number, in the syntax of TTreeFormula.
    pub major: String,
    /// Expression of the second number.
    pub minor: String,
    /// Both numbers of each entry, and the entry, as stored in the file, which should have them in ascending
    /// order.
    pub rows: Vec<(i64, i64, u64)>,
}
