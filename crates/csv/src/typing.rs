//! Inference of the types of plain records, on several threads.

use crate::{plain::Plain, seen::Seen};
use forthwith_plan::{Bench, BlockMaker, BlockRunner, Result, StoredBlock};
use std::sync::{Mutex, PoisonError};

/// Number of records that a thread processes at a time.
const PART: usize = 1 << 12;

/// The plain records of a piece, and the types of the cells of each column so far.
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
        // All parts have about the same number of bytes.
        (self.piece.len() / self.blocks().max(1)) as u64
    }

    fn make(&self, block: usize, _: &mut Bench) -> Result<StoredBlock> {
        let begin = block * PART;
        let part = self.of(begin..self.plain.len().min(begin + PART));
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.iter_mut().zip(part).for_each(|(found, part)| found.merge(part));
        Ok(StoredBlock::default())
    }
}

/// Returns the types of the cells of each column in the plain records of a piece.
pub(crate) fn types_of(runner: &dyn BlockRunner, piece: &[u8], plain: &Plain) -> Result<Vec<Seen>> {
    let typing = Typing { piece, plain, found: Mutex::new(vec![Seen::default(); plain.width()]) };
    if plain.len() <= PART || runner.threads() == 1 {
        return Ok(typing.of(0..plain.len()));
    }
    runner.make_all(&typing)?;
    Ok(typing.found.into_inner().unwrap_or_else(PoisonError::into_inner))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cells::Records;
    use forthwith_plan::BlockSink;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// Makes blocks in turn, and sums up what they weigh: few bytes are not worth threads.
    #[derive(Debug, Default)]
    struct Weighed(AtomicU64);

    impl BlockRunner for Weighed {
        fn run(&self, blocks: &dyn BlockMaker, sink: &mut dyn BlockSink) -> Result<()> {
            for block in 0..blocks.blocks() {
                self.0.fetch_add(blocks.weight(block), Ordering::Relaxed);
                sink.take(block, &mut blocks.make(block, &mut Bench::default())?)?;
            }
            Ok(())
        }

        fn threads(&self) -> usize {
            2
        }
    }

    #[test]
    fn parts_weigh_what_their_text_does() {
        let text: String = (0..3 * PART).map(|row| format!("{row},{}.5,text\n", row * 7)).collect();
        let (mut records, mut plain) = (Records::new(b','), Plain::new(3));
        records.begin(text.as_bytes());
        assert_eq!(records.read_plain(text.as_bytes(), 0, usize::MAX, &mut plain), text.len());
        let runner = Weighed::default();
        let found = types_of(&runner, text.as_bytes(), &plain).expect("types");
        assert!(runner.0.into_inner() > text.len() as u64 * 9 / 10, "threads are not begun for so few bytes");
        let names: Vec<&str> = found.iter().map(|seen| seen.found().name()).collect();
        assert_eq!(names, ["int64", "float64", "string"]);
    }
}
