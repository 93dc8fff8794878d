//! Running programs over columns, some entries at a time.

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
use std::ops::Range;

/// Items of any lists that are computed at a time, if single entries do not have more.
const ITEMS: usize = 2048;
/// Items that are worth a thread.
const PIECE: usize = 1 << 16;

impl Program {
    /// Computes the expressions for the first `length` rows of the columns, which come in the order of [`inputs`](Self::inputs): an array
    /// for each expression.
    ///
    /// # Errors
    /// Lists that meet and are not equally long, and integers to negative powers: with the entry. Arrays that are not
    /// what was promised, or contradict themselves.
    pub fn run(&self, columns: &[&Array], length: u64) -> Result<Vec<Array>, Error> {
        self.run_on(columns, length, 1)
    }

    /// The same by several threads, which live for the call, if there is enough for them to do. Neither values nor errors
    /// depend on their number.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_on(&self, columns: &[&Array], length: u64, threads: usize) -> Result<Vec<Array>, Error> {
        let mut inputs = Vec::with_capacity(self.inputs.len());
        for (at, input) in self.inputs.iter().enumerate() {
            let found = match columns.get(at) {
                Some(array) => input::prepared(array, input, length),
                None => Err("it is not there".into()),
            };
            inputs.push(found.map_err(|what| Error {
                text: input.name.as_str().into(),
                at: 0..input.name.len(),
                what: format!("the column {:?} cannot be computed with: {what}", input.name),
                alias: None,
                entry: None,
                hint: None,
            })?);
        }
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
        let piece = |at: usize| length / pieces * at + (length % pieces).min(at);
        let part = |at: usize| program.part(self, &inputs, piece(at)..piece(at + 1));
        let made = std::thread::scope(|scope| {
            let others: Vec<_> = (1..pieces)
                .map(|at| (at, std::thread::Builder::new().spawn_scoped(scope, move || part(at))))
                .collect();
            let mut made = part(0)?;
            for (at, other) in others {
                let other = match other.map(std::thread::ScopedJoinHandle::join) {
                    Ok(Ok(other)) => other,
                    Ok(Err(panic)) => std::panic::resume_unwind(panic),
                    // There is no further thread to be had.
                    Err(_) => part(at),
                };
                made.extend(other?);
            }
            Ok(made)
        });
        let outputs = match made {
            Ok(outputs) => outputs,
            // Of several errors it is always the one that a single thread meets first.
            Err(_) if pieces > 1 => program.part(self, &inputs, 0..length)?,
            Err(error) => return Err(error),
        };
        Ok(outputs.finish(columns, &inputs, &whole, length))
    }

    /// The results for some rows.
    fn part<'p>(
        &'p self,
        promised: &'p Self,
        inputs: &'p [Prepared<'p>],
        rows: Range<usize>,
    ) -> Result<Outputs<'p>, Error> {
        let mut run = Run::new(self, inputs);
        run.ranges(rows.clone());
        let mut outputs = Outputs::new(self, promised, &run.ranges);
        let (mut start, mut step) = (rows.start, ITEMS);
        while start < rows.end && !self.steps.is_empty() {
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
