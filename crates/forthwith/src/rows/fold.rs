//! Parallel folding of rows.

use super::{Batch, Row, RowSteps, Rows, StepReader};
use forthwith_plan::{Error, ErrorKind, Result};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    ops::Range,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

impl<R: Row> Rows<R> {
    /// Folds the rows, in order, into one result. A small accumulator stays in registers, unlike captured
    /// variables that the function of [`for_each`](Self::for_each) modifies: a sum over a column is more than
    /// twice as fast.
    ///
    /// ```
    /// use forthwith::Row;
    /// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data");
    ///
    /// #[derive(Row)]
    /// struct Event {
    ///     #[row(name = "MET_pt")]
    ///     met: f32,
    /// }
    ///
    /// let events = forthwith::File::open(format!("{folder}/zmumu.root"))?.table("events")?;
    /// let sum = events.rows::<Event>()?.fold(0.0, |sum, event| *sum += f64::from(event.met))?;
    /// assert!(sum > 0.0);
    /// # Ok::<(), forthwith::plan::Error>(())
    /// ```
    ///
    /// # Errors
    /// Errors of [`for_each`](Self::for_each).
    pub fn fold<A>(&self, init: A, mut fold: impl FnMut(&mut A, R::Borrowed<'_>)) -> Result<A> {
        let mut result = init;
        for batch in self.batches()? {
            result = fold_batch(&batch?, result, &mut fold);
        }
        Ok(result)
    }

    /// Folds the rows of each step on one of several threads, and combines the results of the steps in order.
    /// Neither the steps nor the result depend on the number of threads, even for floating-point sums.
    ///
    /// ```
    /// use forthwith::{Row, rows::List};
    /// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data");
    ///
    /// #[derive(Row)]
    /// struct Event {
    ///     #[row(name = "MET_pt")]
    ///     met: f32,
    /// }
    ///
    /// let events = forthwith::File::open(format!("{folder}/zmumu.root"))?.table("events")?;
    /// let sum = events.rows::<Event>()?.par_fold(|| 0.0, |sum, event| *sum += f64::from(event.met), |sum, other| *sum += other)?;
    /// assert!(sum > 0.0);
    /// # Ok::<(), forthwith::plan::Error>(())
    /// ```
    ///
    /// # Errors
    /// Errors of [`for_each`](Self::for_each), for the first step that fails.
    pub fn par_fold<A: Send>(
        &self,
        identity: impl Fn() -> A + Sync,
        fold: impl Fn(&mut A, R::Borrowed<'_>) + Sync,
        combine: impl FnMut(&mut A, A) + Send,
    ) -> Result<A> {
        let steps = self.source.steps(&self.columns, &self.options)?;
        let reader = steps.reader();
        let results =
            Results { done: identity(), combined: 0, waiting: BTreeMap::new(), combine, failed: None };
        let shared = Shared {
            steps: Mutex::new(OpenSteps { steps, taken: 0, open: BTreeSet::new() }),
            results: Mutex::new(results),
            stopped: AtomicBool::new(false),
        };
        let numbers = &*self.numbers;
        let work = || fold_steps::<R, _, _>(&shared, numbers, reader.as_ref(), &identity, &fold);
        let threads = self.options.threads.unwrap_or_else(forthwith_platform::parallelism);
        std::thread::scope(|scope| {
            // Threads that cannot be spawned are left out.
            for _ in 1..threads {
                let _ = std::thread::Builder::new().spawn_scoped(scope, work);
            }
            work();
        });
        let results = shared.results.into_inner().unwrap_or_else(PoisonError::into_inner);
        match results.failed {
            Some((_, error)) => Err(error),
            None => Ok(results.done),
        }
    }
}

/// Folds the rows of a batch. Not inlined, so that accumulators stay in registers: see
/// [`HeldBatch`](super::held::HeldBatch).
#[inline(never)]
fn fold_batch<R: Row, A>(
    batch: &Batch<R>,
    mut result: A,
    mut fold: impl FnMut(&mut A, R::Borrowed<'_>),
) -> A {
    for row in batch.rows() {
        fold(&mut result, R::get(batch.columns(), row));
    }
    result
}

/// Reads and folds steps until none are left.
fn fold_steps<R: Row, A, C: FnMut(&mut A, A)>(
    shared: &Shared<A, C>,
    numbers: &HashMap<String, usize>,
    reader: &dyn StepReader,
    identity: &impl Fn() -> A,
    fold: &impl Fn(&mut A, R::Borrowed<'_>),
) {
    let folded = |step| {
        let read = reader.read_step(step, Some(1), &mut |_| !shared.stopped.load(Ordering::Relaxed))?;
        Ok(fold_batch(&Batch::<R>::of(read, numbers)?, identity(), fold))
    };
    let mut done = None;
    while !shared.stopped.load(Ordering::Relaxed) {
        let (number, step) = lock(&shared.steps).next(done.take(), reader);
        if let Ok(Some(step)) = &step {
            done = Some(step.start);
        }
        match step.and_then(|step| step.map(folded).transpose()) {
            Ok(None) => return,
            Ok(Some(result)) => lock(&shared.results).take(number, result),
            Err(error) => {
                shared.stopped.store(true, Ordering::Relaxed);
                lock(&shared.results).fail(number, error);
            }
        }
    }
}

/// Locks a mutex. A panicking thread ends the whole call.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Shared<A, C> {
    steps: Mutex<OpenSteps>,
    results: Mutex<Results<A, C>>,
    stopped: AtomicBool,
}

/// Steps, and those that are being read.
struct OpenSteps {
    steps: Box<dyn RowSteps>,
    taken: u64,
    /// First entries of steps that are being read.
    open: BTreeSet<u64>,
}

impl OpenSteps {
    /// Returns the next step with its number. `done` is the first entry of the step that the caller has
    /// finished.
    fn next(&mut self, done: Option<u64>, reader: &dyn StepReader) -> (u64, Result<Option<Range<u64>>>) {
        let number = self.taken;
        self.taken += 1;
        done.map(|start| self.open.remove(&start));
        let step = self.steps.skip_step().and_then(|step| {
            self.open.extend(step.as_ref().map(|step| step.start));
            // No open or later step starts before this entry.
            self.open.first().map_or(Ok(()), |first| reader.release(*first))?;
            Ok(step)
        });
        (number, step)
    }
}

/// Results of steps, combined in order.
struct Results<A, C> {
    done: A,
    combined: u64,
    /// Results of steps after an unfinished one.
    waiting: BTreeMap<u64, A>,
    combine: C,
    failed: Option<(u64, Error)>,
}

impl<A, C: FnMut(&mut A, A)> Results<A, C> {
    fn take(&mut self, number: u64, result: A) {
        self.waiting.insert(number, result);
        while let Some(next) = self.waiting.remove(&self.combined) {
            (self.combine)(&mut self.done, next);
            self.combined += 1;
        }
    }

    /// Keeps the error of the first failed step. Steps that are being read are cancelled.
    fn fail(&mut self, number: u64, error: Error) {
        let is_cancelled = |error: &Error| matches!(error.kind, ErrorKind::Cancelled);
        let is_first = self
            .failed
            .as_ref()
            .is_none_or(|(first, known)| is_cancelled(known) || (number < *first && !is_cancelled(&error)));
        if is_first {
            self.failed = Some((number, error));
        }
    }
}
