//! Parallel type inference for blocks of values.

use crate::{
    decode::Framing,
    lexer::{DEEPEST, Lexer},
    seen::Seen,
};
use forthwith_plan::{Bench, BlockMaker, BlockRunner, Result, StoredBlock};
use std::{
    ops::Range,
    sync::{Mutex, PoisonError},
};

/// Blocks of a text and their inferred types.
struct Typing<'a> {
    text: &'a [u8],
    blocks: &'a [(Range<usize>, u64)],
    framing: Framing,
    found: Vec<Mutex<Option<Seen>>>,
}

impl BlockMaker for Typing<'_> {
    fn blocks(&self) -> usize {
        self.blocks.len()
    }

    fn weight(&self, block: usize) -> u64 {
        self.blocks[block].0.len() as u64
    }

    fn make(&self, block: usize, _: &mut Bench) -> Result<StoredBlock> {
        let found = types(&self.text[self.blocks[block].0.clone()], self.framing);
        *self.found[block].lock().unwrap_or_else(PoisonError::into_inner) = found;
        Ok(StoredBlock::default())
    }
}

/// Infers the types of each block of a text; `None` for a block that is not JSON.
pub(crate) fn types_of(
    runner: &dyn BlockRunner,
    text: &[u8],
    blocks: &[(Range<usize>, u64)],
    framing: Framing,
) -> Vec<Option<Seen>> {
    if let [(bytes, _)] = blocks {
        return vec![types(&text[bytes.clone()], framing)];
    }
    let found = blocks.iter().map(|_| Mutex::new(None)).collect();
    let typing = Typing { text, blocks, framing, found };
    // Blocks that were not processed have no types.
    let _ = runner.make_all(&typing);
    typing.found.into_iter().map(|found| found.into_inner().unwrap_or_else(PoisonError::into_inner)).collect()
}

/// Infers the types of the values of a block; `None` if it is not JSON.
pub(crate) fn types(text: &[u8], framing: Framing) -> Option<Seen> {
    let text = std::str::from_utf8(text).ok()?;
    let mut lexer = Lexer::new(text, true);
    let (mut seen, mut is_first) = (Seen::default(), true);
    while let Some(first) = lexer.peek() {
        // The text of a block begins with an item or, after the first block, with a comma.
        let item = match framing {
            Framing::List => lexer.next_item(is_first && first != b',').map(drop),
            _ => Ok(()),
        };
        item.and_then(|()| seen.value(&mut lexer, DEEPEST)).ok()?;
        is_first = false;
    }
    Some(seen)
}
