//! Execution of programs over columns, in blocks of entries.

pub(crate) mod arithmetic;
mod element;
mod input;
mod lists;
mod output;
mod special;
mod state;

use crate::{error::Error, program::Program};
use forthwith_columns::Array;
use input::Prepared;
use output::Outputs;
pub use output::holding;
use state::Run;
use std::{
    ops::Range,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread::Thread,
    time::Duration,
};

/// Maximum number of items of any level that are computed at a time, unless a single entry has more.
const ITEMS: usize = 2048;
/// Minimum number of items for each thread.
const PIECE: usize = 1 << 16;

/// Longest interval between calls of `goes_on` while other threads work.
const WAIT: Duration = Duration::from_millis(50);

/// Cancellation by the caller.
struct Asked<'a> {
    goes_on: &'a mut dyn FnMut() -> bool,
    is_stopped: AtomicBool,
}

/// Guard that notifies the calling thread when a worker ends, even by a panic.
struct Ended<'a> {
    left: &'a AtomicUsize,
    caller: &'a Thread,
}

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.left.fetch_sub(1, Ordering::Release);
        self.caller.unpark();
    }
}

impl Program {
    /// Computes the expressions for the first `length` rows of columns in the order of
    /// [`inputs`](Self::inputs). Returns an array for each expression.
    ///
    /// # Errors
    /// Returns an error, with the entry, if lists in an operation differ in length, or if the exponent of an
    /// integer is negative; and an error if an array has an unexpected type or is inconsistent.
    pub fn run(&self, columns: &[&Array], length: u64) -> Result<Vec<Array>, Error> {
        Ok(self.run_while(columns, length, 1, &mut || true)?.unwrap_or_default())
    }

    /// Computes the expressions like [`run`](Self::run), with up to `threads` threads if there are enough
    /// items. The threads live for this call. Values and errors do not depend on their number. `goes_on` is
    /// called on the calling thread after every few thousand items. Returns `None` if it returns `false`.
    ///
    /// # Errors
    /// Returns the errors of [`run`](Self::run).
    pub fn run_while(
        &self,
        columns: &[&Array],
        length: u64,
        threads: usize,
        goes_on: &mut dyn FnMut() -> bool,
    ) -> Result<Option<Vec<Array>>, Error> {
        let inputs = self.prepared(columns, length)?;
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let program = match &self.plain {
            Some(plain) if inputs.iter().all(|input| input.is_whole) => plain,
            _ => self,
        };
        let mut run = Run::new(program, &inputs);
        run.ranges(0..length);
        let whole = run.ranges;
        let items = whole.iter().map(ExactSizeIterator::len).max().unwrap_or(0);
        let pieces = threads.min(items / PIECE).min(length).max(1);
        let mut asked = Asked { goes_on, is_stopped: AtomicBool::new(false) };
        let made = match program.pieces(self, &inputs, length, pieces, &mut asked) {
            // If several pieces fail, return the error of a run with a single thread.
            Err(_) if pieces > 1 => program.pieces(self, &inputs, length, 1, &mut asked),
            made => made,
        };
        if asked.is_stopped.into_inner() {
            return Ok(None);
        }
        Ok(Some(made?.finish(columns, &inputs, &whole, length)))
    }

    fn prepared<'c>(&self, columns: &[&'c Array], length: u64) -> Result<Vec<Prepared<'c>>, Error> {
        let prepared = self.inputs.iter().enumerate().map(|(at, input)| {
            let found = match columns.get(at) {
                Some(array) => input::prepared(array, input, length),
                None => Err("it is not there".into()),
            };
            found.map_err(|what| Error {
                text: input.name.as_str().into(),
                at: 0..input.name.len(),
                what: format!("the column {:?} cannot be computed with: {what}", input.name),
                alias: None,
                entry: None,
                hint: None,
            })
        });
        prepared.collect()
    }

    /// Computes the results of all rows in pieces, in parallel.
    fn pieces<'p>(
        &'p self,
        promised: &'p Self,
        inputs: &'p [Prepared<'p>],
        length: usize,
        pieces: usize,
        asked: &mut Asked<'_>,
    ) -> Result<Outputs<'p>, Error> {
        let start = |at: usize| length / pieces * at + (length % pieces).min(at);
        let rows = |at: usize| start(at)..start(at + 1);
        let Asked { goes_on, is_stopped } = asked;
        let is_stopped = &*is_stopped;
        let mut ask = || {
            if !is_stopped.load(Ordering::Relaxed) && !goes_on() {
                is_stopped.store(true, Ordering::Relaxed);
            }
            !is_stopped.load(Ordering::Relaxed)
        };
        let caller = &std::thread::current();
        let has_failed = &AtomicBool::new(false);
        let left = &AtomicUsize::new(0);
        std::thread::scope(|scope| {
            let others: Vec<_> = (1..pieces)
                .map(|at| {
                    left.fetch_add(1, Ordering::Relaxed);
                    let work = move || {
                        let _ended = Ended { left, caller };
                        let is_over =
                            || is_stopped.load(Ordering::Relaxed) || has_failed.load(Ordering::Relaxed);
                        self.part(promised, inputs, rows(at), &mut || !is_over())
                    };
                    let other = std::thread::Builder::new().spawn_scoped(scope, work);
                    (at, other.inspect_err(|_| drop(Ended { left, caller })))
                })
                .collect();
            let first = self.part(promised, inputs, rows(0), &mut ask);
            has_failed.store(first.is_err(), Ordering::Relaxed);
            while left.load(Ordering::Acquire) > 0 {
                std::thread::park_timeout(WAIT);
                ask();
            }
            let mut made = first?;
            for (at, other) in others {
                let other = match other.map(std::thread::ScopedJoinHandle::join) {
                    Ok(Ok(other)) => other,
                    Ok(Err(panic)) => std::panic::resume_unwind(panic),
                    // No further thread can be started.
                    Err(_) => self.part(promised, inputs, rows(at), &mut ask),
                };
                made.extend(other?);
            }
            Ok(made)
        })
    }

    /// Computes the results of some rows; of fewer rows if `goes_on` returns `false`.
    fn part<'p>(
        &'p self,
        promised: &'p Self,
        inputs: &'p [Prepared<'p>],
        rows: Range<usize>,
        goes_on: &mut dyn FnMut() -> bool,
    ) -> Result<Outputs<'p>, Error> {
        let mut run = Run::new(self, inputs);
        run.ranges(rows.clone());
        let mut outputs = Outputs::new(self, promised, &run.ranges);
        let (mut start, mut step) = (rows.start, ITEMS);
        while start < rows.end && !self.steps.is_empty() && goes_on() {
            let mut end = start + step.min(rows.end - start);
            loop {
                run.ranges(start..end);
                let largest = run.ranges.iter().map(ExactSizeIterator::len).max().unwrap_or(0);
                if largest <= ITEMS || end - start == 1 {
                    break;
                }
                end = start + ((end - start) * ITEMS / largest).clamp(1, (end - start) / 2);
            }
            run.steps()?;
            outputs.append(&run);
            step = (2 * (end - start)).min(ITEMS);
            start = end;
        }
        Ok(outputs)
    }
}
