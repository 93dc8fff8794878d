//! The result of a comparison.

use crate::stats::SummaryOf;
use serde::Serialize;
use std::ops::Range;

/// The differences between two tables. The first of each pair is of the left table.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TableDiff {
    /// Numbers of entries.
    pub entries: [u64; 2],
    /// Pairs of entries that were compared.
    pub compared: u64,
    /// Columns that only one of them has.
    pub only: [Vec<String>; 2],
    /// Entries that the other table has none for.
    pub unmatched: [UnmatchedEntries; 2],
    /// Columns that both have, in the order of the left table.
    pub columns: Vec<ColumnDiff>,
    /// Columns that were not compared, with the reason.
    pub not_compared: Vec<(String, String)>,
    /// Entries that could not be read and were not compared.
    pub damage: [Vec<DamagedEntries>; 2],
    /// Whether the comparison ended with the first difference before all was compared, so that others may not be listed.
    pub stopped: bool,
}

/// Entries of one table alone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct UnmatchedEntries {
    /// How many.
    pub count: u64,
    /// The first ones.
    pub first: Vec<u64>,
}

/// The differences in one column.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ColumnDiff {
    /// Its path in the left table.
    pub path: String,
    /// Its types.
    pub types: [String; 2],
    /// Whether the types differ and values were therefore not compared.
    pub types_differ: bool,
    /// Entries that the column has, where its table has others.
    pub entries: Option<[Range<u64>; 2]>,
    /// A difference of the summaries that are kept beside the files, which proves that values differ. They were not read then.
    pub summary: Option<SummaryDifference>,
    /// Entries whose values differ.
    pub differing: u64,
    /// The largest difference of two numbers.
    pub largest: Option<f64>,
    /// The first differences.
    pub first: Vec<Difference>,
}

/// One difference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The entries.
    pub entries: [u64; 2],
    /// The place in the value, as in `[2].pt`; empty for all of it.
    pub path: String,
    /// Both values, as text of a line, cut if they are long.
    pub values: [String; 2],
}

/// A difference of the summaries of a column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SummaryDifference {
    /// The place in the values, as in `.pt`; empty for all of them.
    pub path: String,
    /// Whether values, items or lengths were summarised.
    pub of: SummaryOf,
    /// Which number of the summaries differs.
    pub what: String,
    /// Both numbers, as text.
    pub values: [String; 2],
}

/// Entries that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DamagedEntries {
    /// The entries; empty where not even their number is known.
    pub entries: Range<u64>,
    /// The columns.
    pub columns: Vec<String>,
    /// The error, with its place.
    pub error: String,
}

/// The differences between two files.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FileDiff {
    /// Paths of tables and objects that only one of them has.
    pub only: [Vec<String>; 2],
    /// Paths at which the classes of objects differ, with these.
    pub classes: Vec<(String, [String; 2])>,
    /// Tables that both have, by their paths.
    pub tables: Vec<(String, TableDiff)>,
    /// Objects that both have.
    pub objects: Vec<ObjectDiff>,
    /// Whether the comparison ended with the first difference before all was compared, so that others may not be listed, in
    /// these tables or in tables and objects that are not listed.
    pub stopped: bool,
}

/// The differences between two objects that are no tables.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ObjectDiff {
    /// The path in both files.
    pub path: String,
    /// The class.
    pub class: String,
    /// The number of members and items that differ.
    pub differing: u64,
    /// The first of them, with their values.
    pub first: Vec<(String, [String; 2])>,
    /// Why the objects could not be compared.
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
