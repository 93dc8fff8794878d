//! The types of the cells of plain records, found on several threads.

use crate::{plain::Plain, seen::Seen};
use forthwith_plan::{Bench, BlockMaker, BlockRunner, BlockSink, Result, StoredBlock};
use std::sync::{Mutex, PoisonError};

/// Records that a thread looks at before it takes others.
const PART: usize = 1 << 12;

/// Plain records of a piece, and the types of the cells of their columns so far.
struct Typing<'a> {
    piece: &'a [u8],
    plain: &'a Plain,
    found: Mutex<Vec<Seen>>,
}

impl Typing<'_> {
    fn of(&self, records: std::ops::Range<usize>) -> Vec<Seen> {
        let mut all = vec![Seen::default(); self.plain.width()];
        for (column, seen) in all.iter_mut().enumerate() {
            seen.cells(self.plain.column(self.piece, records.clone(), column));
        }
        all
    }
}

impl BlockMaker for Typing<'_> {
    fn blocks(&self) -> usize {
        self.plain.len().div_ceil(PART)
    }

    fn weight(&self, _: usize) -> u64 {
        1
    }

    fn make(&self, block: usize, _: &mut Bench) -> Result<StoredBlock> {
        let begin = block * PART;
        let part = self.of(begin..self.plain.len().min(begin + PART));
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.iter_mut().zip(part).for_each(|(found, part)| found.merge(part));
        Ok(StoredBlock::default())
    }
}

/// Nothing is stored.
struct Nowhere;

impl BlockSink for Nowhere {
    fn take(&mut self, _: usize, _: &mut StoredBlock) -> Result<()> {
        Ok(())
    }
}

/// What the cells of each column are in plain records of a piece.
pub(crate) fn types_of(runner: &dyn BlockRunner, piece: &[u8], plain: &Plain) -> Result<Vec<Seen>> {
    let typing = Typing { piece, plain, found: Mutex::new(vec![Seen::default(); plain.width()]) };
    if plain.len() <= PART || runner.threads() == 1 {
        return Ok(typing.of(0..plain.len()));
    }
    runner.run(&typing, &mut Nowhere)?;
    Ok(typing.found.into_inner().unwrap_or_else(PoisonError::into_inner))
}
