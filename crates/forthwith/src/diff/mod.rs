//! Comparison of tables and files by content.

mod columns;
mod files;
mod keys;
mod numbers;
mod place;
mod report;
mod sequences;
mod summaries;
mod tables;
#[cfg(test)]
mod tests;
mod types;
mod walk;

pub use files::{diff_files, diff_objects};
pub use report::{
    ColumnDiff, DamagedEntries, Difference, FileDiff, ObjectDiff, SummaryDifference, TableDiff,
    UnmatchedEntries,
};
pub use sequences::diff_sequences;
pub use tables::diff;

use crate::PathFilter;

/// How tables and files are compared.
///
/// Numbers are equal by value: 0.0 and -0.0 are, and so are all NaN unless [`nan_equal`](Self::nan_equal) is unset.
#[derive(Clone)]
pub struct DiffOptions {
    /// The difference of two floating-point numbers, relative to the right one, up to which they are equal.
    pub rtol: f64,
    /// The absolute difference up to which they are equal; both add up.
    pub atol: f64,
    /// Whether numbers of one type are compared by their bits, without tolerance.
    pub bitwise: bool,
    /// Whether NaN is equal to NaN.
    pub nan_equal: bool,
    /// Whether values of different types are compared, such as tables of different formats have for one content: numbers by
    /// value, lists of any length with lists of one length, categories with texts, and types whose values may be missing
    /// with those whose values may not.
    pub same_content: bool,
    /// Columns, or expressions, by whose values entries are matched. Without any, they are matched by number.
    pub on: Vec<String>,
    /// Which columns are compared, by their paths.
    pub columns: Option<PathFilter>,
    /// Whether columns, tables and objects that only one side has are passed over.
    pub common: bool,
    /// Whether the comparison ends with the first difference. Metadata are compared first, then
    /// [summaries](crate::File::with_stats) of the columns, and values last.
    pub brief: bool,
    /// Differences that are described, in each column.
    pub most: usize,
    /// Threads that read; as many as there are processors if nothing is said.
    pub threads: Option<usize>,
}

impl DiffOptions {
    /// Whether two floating-point numbers are equal within the tolerances.
    pub(crate) fn are_equal(&self, left: f64, right: f64) -> bool {
        if left.is_nan() || right.is_nan() {
            return self.nan_equal && left.is_nan() && right.is_nan();
        }
        let distance = (left - right).abs();
        left == right || distance.is_finite() && distance <= self.atol + self.rtol * right.abs()
    }
}

impl Default for DiffOptions {
    fn default() -> Self {
        Self {
            rtol: 0.0,
            atol: 0.0,
            bitwise: false,
            nan_equal: true,
            same_content: false,
            on: Vec::new(),
            columns: None,
            common: false,
            brief: false,
            most: 3,
            threads: None,
        }
    }
}

forthwith_io::impl_debug!(DiffOptions, |it| "rtol": it.rtol, "atol": it.atol, "same_content": it.same_content, "on": it.on);

/// Called with the entries that were compared and those that there are to compare; an answer of `false` ends the comparison
/// with [`Cancelled`](forthwith_plan::ErrorKind::Cancelled).
pub type DiffProgress<'p> = dyn FnMut(u64, u64) -> bool + 'p;
