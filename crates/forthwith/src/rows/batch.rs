//! Batches of rows.

use super::{FieldArrays, Row, RowSteps, step_stream::StepStream};
use crate::Selected;
use forthwith_plan::{Error, Result};
use std::{collections::HashMap, marker::PhantomData, ops::Range, sync::Arc};

/// Rows that were read together. Rows, and the slices of [`columns`](Self::columns), borrow from it.
pub struct Batch<R: Row> {
    entries: Range<u64>,
    kept: Option<Vec<u64>>,
    len: usize,
    columns: R::View,
}

impl<R: Row> Batch<R> {
    pub(super) fn of(step: Selected, numbers: &HashMap<String, usize>) -> Result<Self> {
        let len = match &step.kept {
            Some(kept) => kept.len() as u64,
            None => step.entries.end - step.entries.start,
        };
        if let Some(array) = step.arrays.iter().find(|array| array.length != len) {
            return Err(Error::fault(format!("{} rows of a column in a step of {len}", array.length)));
        }
        let columns = R::view_fields(&FieldArrays::new(numbers, &step.arrays))?;
        let len = usize::try_from(len).map_err(|_| Error::invalid(format!("a step of {len} rows")))?;
        Ok(Self { entries: step.entries, kept: step.kept, len, columns })
    }

    /// Number of rows.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no rows.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the range of entries that was read.
    #[must_use]
    pub fn entries(&self) -> Range<u64> {
        self.entries.clone()
    }

    /// Returns the entry number of a row in the table.
    #[must_use]
    pub fn entry(&self, row: usize) -> Option<u64> {
        match &self.kept {
            Some(kept) => kept.get(row).copied(),
            None => (row < self.len).then(|| self.entries.start + row as u64),
        }
    }

    /// Returns the columns by the fields of the row: slices of numbers, and lists as bounds of such slices.
    #[must_use]
    pub const fn columns(&self) -> &R::View {
        &self.columns
    }

    /// Returns the range of rows, for loops without bounds checks: no column has fewer rows than its batch.
    #[inline]
    pub(super) fn rows(&self) -> Range<usize> {
        0..self.len.min(R::rows(&self.columns))
    }

    /// Returns a row, or `None` if it is out of range.
    #[must_use]
    pub fn get(&self, row: usize) -> Option<R::Borrowed<'_>> {
        (row < self.len).then(|| R::get(&self.columns, row))
    }

    /// Iterates over the rows.
    #[inline]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = R::Borrowed<'_>> + DoubleEndedIterator {
        self.rows().map(|row| R::get(&self.columns, row))
    }
}

impl<'b, R: Row> IntoIterator for &'b Batch<R> {
    type Item = R::Borrowed<'b>;
    type IntoIter = BatchRows<'b, R>;

    fn into_iter(self) -> BatchRows<'b, R> {
        BatchRows { columns: &self.columns, rows: self.rows() }
    }
}

/// Iterator over the rows of a batch.
pub struct BatchRows<'b, R: Row> {
    columns: &'b R::View,
    rows: Range<usize>,
}

impl<'b, R: Row> Iterator for BatchRows<'b, R> {
    type Item = R::Borrowed<'b>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.rows.next().map(|row| R::get(self.columns, row))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.rows.size_hint()
    }
}

impl<R: Row> ExactSizeIterator for BatchRows<'_, R> {}

/// Iterator over batches. The next ones are read while the current one is in use.
pub struct Batches<R: Row> {
    steps: StepStream,
    numbers: Arc<HashMap<String, usize>>,
    row: PhantomData<fn() -> R>,
}

impl<R: Row> Batches<R> {
    pub(super) fn new(
        steps: Box<dyn RowSteps>,
        numbers: Arc<HashMap<String, usize>>,
        threads: Option<usize>,
    ) -> Result<Self> {
        Ok(Self { steps: StepStream::start(steps, threads)?, numbers, row: PhantomData })
    }
}

impl<R: Row> Iterator for Batches<R> {
    type Item = Result<Batch<R>>;

    fn next(&mut self) -> Option<Self::Item> {
        let step = self.steps.next().transpose()?;
        Some(step.and_then(|step| Batch::of(step, &self.numbers)))
    }
}
