//! Bulk words: a run of levels or indices at once. There is one implementation, which every tier calls.

mod hybrid;
mod levels;

pub(crate) use hybrid::unpack_into;

use crate::error::RunError;
use crate::isa::{Bulk, BulkWord};
use crate::machine::Machine;
use crate::state::Width;
use levels::{Levels, Rule};

impl<W: Width> Machine<W> {
    /// Executes a bulk word, for which there are enough items on the stack.
    pub(crate) fn bulk(&mut self, bulk: Bulk, inputs: &[&[u8]]) -> Result<(), RunError> {
        match bulk.word {
            BulkWord::Rle => self.hybrid(bulk, inputs[bulk.input as usize]),
            _ => self.levels(bulk, inputs),
        }
    }

    /// `( count width -- )`, or `( count -- )` when the width is written.
    fn hybrid(&mut self, bulk: Bulk, input: &[u8]) -> Result<(), RunError> {
        let bits = if bulk.bits == 0 { self.pop()? } else { i64::from(bulk.bits) };
        let count = u64::try_from(self.pop()?).unwrap_or(0);
        let bits = u32::try_from(bits).ok().filter(|&bits| bits <= 64).ok_or(RunError::VarintTooBig)?;
        let at = &mut self.state.positions[bulk.input as usize];
        hybrid::decode(&mut self.state.outputs, bulk.output as usize, input, at, bits, count)
    }

    /// `( n k p d -- m )`, and the index of the next item on top for `#index->`.
    fn levels(&mut self, bulk: Bulk, inputs: &[&[u8]]) -> Result<(), RunError> {
        let first = if bulk.word == BulkWord::Index { self.pop()? } else { 0 };
        let (d, p, k, n) = (self.pop()?, self.pop()?, self.pop()?, self.pop()?);
        let count = usize::try_from(n).unwrap_or(if n < 0 { 0 } else { usize::MAX });
        let window = |input: u32| {
            let at = self.state.positions[input as usize];
            let end = at.checked_add(count).ok_or(RunError::ReadBeyond)?;
            inputs[input as usize].get(at..end).ok_or(RunError::ReadBeyond)
        };
        let levels = Levels {
            definition: window(bulk.input)?,
            repetition: bulk.repetition.map(window).transpose()?,
            rule: Rule::new(bulk.word, k, p, d),
        };
        let items = levels.write(&mut self.state.outputs, bulk.output as usize, bulk.word, first)?;
        let same = bulk.repetition == Some(bulk.input);
        for input in std::iter::once(bulk.input).chain(bulk.repetition.filter(|_| !same)) {
            self.state.positions[input as usize] += count;
        }
        self.push(items as i64)
    }
}
