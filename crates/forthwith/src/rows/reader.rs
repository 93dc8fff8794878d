//! Reading of rows.

use super::{Batch, Batches, Check, Row, RowColumn, RowOptions, RowSource, held::HeldBatch};
use crate::{Step, Table, table::bounds};
use forthwith_plan::{Error, Result};
use std::{collections::HashMap, marker::PhantomData, ops::RangeBounds, sync::Arc};

/// Rows of a table as structs, from [`Table::rows`]. Set options first, then iterate with one of the methods.
pub struct Rows<R: Row> {
    pub(super) source: Arc<dyn RowSource>,
    pub(super) columns: Vec<RowColumn>,
    pub(super) numbers: Arc<HashMap<String, usize>>,
    pub(super) options: RowOptions,
    /// Batches and the current row, once [`next`](Self::next) was called.
    started: Option<Started<R>>,
    row: PhantomData<fn() -> R>,
}

struct Started<R: Row> {
    batches: Batches<R>,
    batch: Option<Batch<R>>,
    row: usize,
}

impl Table {
    /// Returns the rows of the table as structs, whose type is checked against the table before any data are
    /// read.
    ///
    /// # Errors
    /// Fields whose columns are absent or have another type, with a line for each.
    pub fn rows<R: Row>(&self) -> Result<Rows<R>> {
        Rows::of(Arc::new(self.clone()))
    }
}

impl<R: Row> Rows<R> {
    /// Returns the rows of any source.
    ///
    /// # Errors
    /// Errors of [`Table::rows`].
    pub fn of(source: Arc<dyn RowSource>) -> Result<Self> {
        let columns = Check::run::<R>(source.as_ref())?;
        let numbers = columns.iter().enumerate().map(|(at, column)| (column.name.clone(), at)).collect();
        let options = RowOptions::default();
        Ok(Self { source, columns, numbers: Arc::new(numbers), options, started: None, row: PhantomData })
    }

    /// Selects rows for which an expression is true; see [`Table::select`].
    #[must_use]
    pub fn cut(mut self, expression: &str) -> Self {
        self.options.cut = Some(expression.to_owned());
        self
    }

    /// Selects entries, in ascending order.
    #[must_use]
    pub fn entries(mut self, entries: Vec<u64>) -> Self {
        self.options.entries = Some(entries);
        self
    }

    /// Limits the entries to a range, which may exceed the table.
    #[must_use]
    pub fn range(mut self, entries: impl RangeBounds<u64>) -> Self {
        let (start, end) = bounds(&entries);
        (self.options.start, self.options.end) = (start, end.unwrap_or(u64::MAX).max(start));
        self
    }

    /// Sets the size of the batches: 32 MiB of data by default. Two are in memory, the current one and the
    /// next. Batches of 32 MiB and more are each read by one thread, up to four at a time; the thread that
    /// consumes the rows reads as well while the next batch is not ready. Each thread of
    /// [`par_fold`](Self::par_fold) has one batch.
    #[must_use]
    pub const fn step(mut self, step: Step) -> Self {
        self.options.step = step;
        self
    }

    /// Sets the number of threads that read, by default that of the engine. With 1, the next batch is not
    /// prefetched.
    #[must_use]
    pub const fn threads(mut self, threads: usize) -> Self {
        self.options.threads = Some(threads);
        self
    }

    /// Iterates over the names of the columns that are read.
    pub fn columns(&self) -> impl ExactSizeIterator<Item = &str> {
        self.columns.iter().map(|column| column.name.as_str())
    }

    /// Returns the rows in batches, for loops over slices or rows.
    ///
    /// ```
    /// use forthwith::Row;
    /// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data");
    ///
    /// #[derive(Row)]
    /// struct Event<'a> {
    ///     #[row(name = "MET_pt")]
    ///     met: f32,
    ///     #[row(name = "Muon_pt")]
    ///     muon_pt: &'a [f32],
    /// }
    ///
    /// let events = forthwith::File::open(format!("{folder}/zmumu.root"))?.table("events")?;
    /// let (mut sum, mut muons) = (0.0, 0);
    /// for batch in events.rows::<Event>()?.batches()? {
    ///     let batch = batch?;
    ///     sum += batch.columns().met.iter().map(|met| f64::from(*met)).sum::<f64>();
    ///     for event in &batch {
    ///         muons += event.muon_pt.len();
    ///     }
    /// }
    /// assert!(sum > 0.0 && muons > 0);
    /// # Ok::<(), forthwith::plan::Error>(())
    /// ```
    ///
    /// # Errors
    /// A cut that cannot be computed; entries that are not in ascending order. A batch that cannot be read is
    /// an error, and the last item.
    pub fn batches(&self) -> Result<Batches<R>> {
        let steps = self.source.steps(&self.columns, &self.options)?;
        Batches::new(steps, Arc::clone(&self.numbers), self.options.threads)
    }

    /// Calls a function with each row.
    ///
    /// # Errors
    /// Errors of [`batches`](Self::batches); damaged data.
    pub fn for_each(&self, mut each: impl FnMut(R::Borrowed<'_>)) -> Result<()> {
        self.try_for_each(|row| {
            each(row);
            Ok::<(), Error>(())
        })
    }

    /// Calls a function with each row, until it fails.
    ///
    /// # Errors
    /// Errors of [`for_each`](Self::for_each) and of the function.
    pub fn try_for_each<E: From<Error>>(
        &self,
        mut each: impl FnMut(R::Borrowed<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut held = HeldBatch::before(self.batches()?);
        while held.advance() {
            let Some(batch) = held.batch() else { break };
            for row in batch.rows() {
                each(R::get(batch.columns(), row))?;
            }
        }
        Ok(held.end()?)
    }

    /// Returns the next row, or `None` after the last. It borrows from the batch until the next call.
    ///
    /// ```
    /// use forthwith::Row;
    /// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data");
    ///
    /// #[derive(Row)]
    /// struct Event<'a> {
    ///     #[row(name = "Muon_pt")]
    ///     muon_pt: &'a [f32],
    /// }
    ///
    /// let events = forthwith::File::open(format!("{folder}/zmumu.root"))?.table("events")?;
    /// let mut rows = events.rows::<Event>()?.cut("nMuon == 2").range(..1000);
    /// while let Some(event) = rows.next()? {
    ///     assert_eq!(event.muon_pt.len(), 2);
    /// }
    /// # Ok::<(), forthwith::plan::Error>(())
    /// ```
    ///
    /// # Errors
    /// Errors of [`for_each`](Self::for_each).
    #[allow(clippy::should_implement_trait, reason = "an iterator's items cannot borrow from it")]
    pub fn next(&mut self) -> Result<Option<R::Borrowed<'_>>> {
        if self.started.is_none() {
            self.started = Some(Started { batches: self.batches()?, batch: None, row: 0 });
        }
        let Some(started) = &mut self.started else { return Ok(None) };
        while started.batch.as_ref().is_none_or(|batch| started.row == batch.len()) {
            // The next batch can reuse the memory of the last one.
            started.batch = None;
            started.row = 0;
            match started.batches.next() {
                Some(batch) => started.batch = Some(batch?),
                None => return Ok(None),
            }
        }
        let row = started.row;
        started.row += 1;
        Ok(started.batch.as_ref().and_then(|batch| batch.get(row)))
    }
}
