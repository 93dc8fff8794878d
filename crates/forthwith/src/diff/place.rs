//! The way from a value within rows back to its row.

use std::borrow::Cow;

/// Where lists begin and end among their items.
#[derive(Debug)]
pub(super) enum Bounds<'a> {
    /// Offsets that do not decrease, the first of which is that of the first row.
    Offsets(Cow<'a, [i64]>),
    /// Lists of one length.
    Fixed {
        /// The first row.
        first: u64,
        /// Items in each.
        size: u64,
    },
}

impl Bounds<'_> {
    /// The first item of a row; of the row after the last, the end of the items.
    pub(super) fn start(&self, row: u64) -> u64 {
        match self {
            Self::Offsets(offsets) => offsets.get(row as usize).map_or(0, |offset| offset.unsigned_abs()),
            Self::Fixed { first, size } => (first + row) * size,
        }
    }

    /// The first row from `row` on, before `rows`, whose list has another length than that of `other`.
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

    /// The row that has an item.
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

/// A node within rows, and what leads to it.
pub(super) enum Frame<'a> {
    /// The rows themselves.
    Rows,
    /// A field of records, by its name.
    Field { parent: &'a Self, name: &'a str },
    /// The items of lists, from those of the row `first` on.
    Items { parent: &'a Self, bounds: &'a Bounds<'a>, first: u64 },
    /// Rows that are there, by the rows of the parent.
    Present { parent: &'a Self, rows: &'a [u64] },
}

impl Frame<'_> {
    /// The outermost row of a value.
    pub(super) fn row(&self, at: u64) -> u64 {
        match self {
            Self::Rows => at,
            Self::Field { parent, .. } => parent.row(at),
            Self::Items { parent, bounds, first } => parent.row(bounds.row_of(bounds.start(*first) + at)),
            Self::Present { parent, rows } => parent.row(rows.get(at as usize).copied().unwrap_or(at)),
        }
    }

    /// The outermost row of a value, and its path from there: `[2].pt`.
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
