//! Tables whose entries belong together, by the word of the file that has one of them.

/// A table whose entries belong to those of another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FriendName {
    /// Its name in expressions.
    pub name: String,
    /// The file that it is in, as the other one names it; empty if that is the same.
    pub file: String,
    /// The path of the table in that file.
    pub path: String,
}

/// Which entries of a table have which two numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableIndex {
    /// The first number, as an expression in TTreeFormula's spelling.
    pub major: String,
    /// The second number.
    pub minor: String,
    /// Both numbers of each entry, and the entry: as the file has them, whose word it is that they ascend.
    pub rows: Vec<(i64, i64, u64)>,
}
