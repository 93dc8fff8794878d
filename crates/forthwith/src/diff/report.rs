//! Results of comparisons.

use crate::stats::SummaryOf;
use serde::Serialize;
use std::ops::Range;

/// Differences between two tables. The first item of each pair belongs to the left table.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TableDiff {
    /// Numbers of entries of the tables.
    pub entries: [u64; 2],
    /// Number of pairs of entries that were compared.
    pub compared: u64,
    /// Columns that only one table has.
    pub only: [Vec<String>; 2],
    /// Entries without a match in the other table.
    pub unmatched: [UnmatchedEntries; 2],
    /// Columns that both tables have, in the order of the left table.
    pub columns: Vec<ColumnDiff>,
    /// Columns that were not compared, with the reason.
    pub not_compared: Vec<(String, String)>,
    /// Entries that could not be read and were not compared.
    pub damage: [Vec<DamagedEntries>; 2],
    /// Whether the comparison stopped at the first difference, so that further ones may be missing.
    pub stopped: bool,
}

/// Unmatched entries of one table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct UnmatchedEntries {
    /// Number of entries.
    pub count: u64,
    /// The first ones.
    pub first: Vec<u64>,
}

/// Differences in one column.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ColumnDiff {
    /// Path of the column in the left table.
    pub path: String,
    /// Types of the column.
    pub types: [String; 2],
    /// Whether the types differ, so that values were not compared.
    pub types_differ: bool,
    /// Entries of the column, if they differ from those of its table.
    pub entries: Option<[Range<u64>; 2]>,
    /// Difference of the cached summaries of the files, which proves that values differ. The values were then
    /// not read.
    pub summary: Option<SummaryDifference>,
    /// Number of entries whose values differ.
    pub differing: u64,
    /// Largest difference of two numbers.
    pub largest: Option<f64>,
    /// The first differences.
    pub first: Vec<Difference>,
}

/// A difference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Entries of the values.
    pub entries: [u64; 2],
    /// Path within the value, such as `[2].pt`; empty for the whole value.
    pub path: String,
    /// Both values, as single-line text, shortened if they are long.
    pub values: [String; 2],
}

/// Difference of the summaries of a column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SummaryDifference {
    /// Path within the values, such as `.pt`; empty for the whole values.
    pub path: String,
    /// Kind of values that were summarised.
    pub of: SummaryOf,
    /// Name of the statistic that differs.
    pub what: String,
    /// Both statistics, as text.
    pub values: [String; 2],
}

/// Entries that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DamagedEntries {
    /// Range of the entries; empty if even their number is unknown.
    pub entries: Range<u64>,
    /// Paths of the columns.
    pub columns: Vec<String>,
    /// The error, with its place.
    pub error: String,
}

/// Differences between two files.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FileDiff {
    /// Paths of tables and objects that only one file has.
    pub only: [Vec<String>; 2],
    /// Paths of objects with different classes, and these classes.
    pub classes: Vec<(String, [String; 2])>,
    /// Tables that both files have, with their paths.
    pub tables: Vec<(String, TableDiff)>,
    /// Objects that both files have.
    pub objects: Vec<ObjectDiff>,
    /// Whether the comparison stopped at the first difference, so that further ones may be missing, as well
    /// as further tables and objects.
    pub stopped: bool,
}

/// Differences between two objects that are not tables.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ObjectDiff {
    /// Path in both files.
    pub path: String,
    /// Class of the objects.
    pub class: String,
    /// Number of members and items that differ.
    pub differing: u64,
    /// First differing members and items, with their values.
    pub first: Vec<(String, [String; 2])>,
    /// Reason that the objects could not be compared.
    pub error: Option<String>,
}

impl TableDiff {
    /// Whether nothing differs in what was compared.
    #[must_use]
    pub fn is_same(&self) -> bool {
        self.entries[0] == self.entries[1]
            && self.only.iter().all(Vec::is_empty)
            && self.unmatched.iter().all(|unmatched| unmatched.count == 0)
            && self.columns.iter().all(ColumnDiff::is_same)
    }

    /// Whether everything could be compared.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.not_compared.is_empty() && self.damage.iter().all(Vec::is_empty)
    }
}

impl ColumnDiff {
    /// Whether nothing differs in what was compared.
    #[must_use]
    pub fn is_same(&self) -> bool {
        let has_same_entries = self.entries.as_ref().is_none_or(|[left, right]| left == right);
        !self.types_differ && self.differing == 0 && self.summary.is_none() && has_same_entries
    }
}

impl FileDiff {
    /// Whether nothing differs in what was compared.
    #[must_use]
    pub fn is_same(&self) -> bool {
        self.only.iter().all(Vec::is_empty)
            && self.classes.is_empty()
            && self.tables.iter().all(|(_, table)| table.is_same())
            && self.objects.iter().all(|object| object.differing == 0)
    }

    /// Whether everything could be compared.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.tables.iter().all(|(_, table)| table.is_complete())
            && self.objects.iter().all(|object| object.error.is_none())
    }
}
