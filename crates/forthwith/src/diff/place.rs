//! Paths from nested values to their rows.

use std::borrow::Cow;

/// Bounds of lists among their items.
#[derive(Debug)]
pub(super) enum Bounds<'a> {
    /// Non-decreasing offsets, starting with that of the first row.
    Offsets(Cow<'a, [i64]>),
    /// Fixed-size lists.
    Fixed {
        /// First row.
        first: u64,
        /// Number of items in each.
        size: u64,
    },
}

impl Bounds<'_> {
    /// Returns the first item of a row; for the row after the last, the end of the items.
    pub(super) fn start(&self, row: u64) -> u64 {
        match self {
            Self::Offsets(offsets) => offsets.get(row as usize).map_or(0, |offset| offset.unsigned_abs()),
            Self::Fixed { first, size } => (first + row) * size,
        }
    }

    /// Returns the first row from `row` to `rows` whose list has another length than that of `other`.
    pub(super) fn alike(&self, other: &Self, row: u64, rows: u64) -> u64 {
        let length = |bounds: &Self, row| bounds.start(row + 1) - bounds.start(row);
        match (self, other) {
            (Self::Fixed { size, .. }, Self::Fixed { size: other, .. }) => {
                if size == other {
                    rows
                } else {
                    row
                }
            }
            (Self::Offsets(left), Self::Offsets(right)) => {
                let range = row as usize..=rows as usize;
                let (Some(left), Some(right)) = (left.get(range.clone()), right.get(range)) else {
                    return row;
                };
                if left == right {
                    return rows;
                }
                let pairs = left.windows(2).zip(right.windows(2));
                let unlike = pairs.enumerate().find(|(_, (l, r))| l[1] - l[0] != r[1] - r[0]);
                unlike.map_or(rows, |(at, _)| row + at as u64)
            }
            _ => (row..rows).find(|&row| length(self, row) != length(other, row)).unwrap_or(rows),
        }
    }

    /// Returns the row that contains an item.
    fn row_of(&self, item: u64) -> u64 {
        match self {
            Self::Offsets(offsets) => {
                let after = offsets.partition_point(|offset| offset.unsigned_abs() <= item);
                after.saturating_sub(1) as u64
            }
            Self::Fixed { first, size } => (item / (*size).max(1)).saturating_sub(*first),
        }
    }
}

/// A node within rows, linked to its parents.
pub(super) enum Frame<'a> {
    /// The rows.
    Rows,
    /// A field of records.
    Field { parent: &'a Self, name: &'a str },
    /// Items of lists, starting with those of row `first`.
    Items { parent: &'a Self, bounds: &'a Bounds<'a>, first: u64 },
    /// Present rows, as rows of the parent.
    Present { parent: &'a Self, rows: &'a [u64] },
}

impl Frame<'_> {
    /// Returns the outermost row of a value.
    pub(super) fn row(&self, at: u64) -> u64 {
        match self {
            Self::Rows => at,
            Self::Field { parent, .. } => parent.row(at),
            Self::Items { parent, bounds, first } => parent.row(bounds.row_of(bounds.start(*first) + at)),
            Self::Present { parent, rows } => parent.row(rows.get(at as usize).copied().unwrap_or(at)),
        }
    }

    /// Returns the outermost row of a value, and its path within the row, such as `[2].pt`.
    pub(super) fn place(&self, at: u64) -> (u64, String) {
        match self {
            Self::Rows => (at, String::new()),
            Self::Field { parent, name } => {
                let (row, path) = parent.place(at);
                (row, format!("{path}.{name}"))
            }
            Self::Items { parent, bounds, first } => {
                let item = bounds.start(*first) + at;
                let row = bounds.row_of(item);
                let (outer, path) = parent.place(row);
                (outer, format!("{path}[{}]", item.saturating_sub(bounds.start(row))))
            }
            Self::Present { parent, rows } => parent.place(rows.get(at as usize).copied().unwrap_or(at)),
        }
    }
}
