//! Where the entries are: blocks of text with some values each.

use crate::{decode::Framing, place};
use forthwith_plan::{Error, Result};
use std::ops::Range;

/// Some values that are decoded together.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    pub bytes: Range<u64>,
    pub entries: Range<u64>,
    /// Line and column at which it begins.
    pub place: place::Place,
}

/// Blocks from one on, and how many there were altogether.
#[derive(Clone, Debug, Default)]
pub(crate) struct BlockList {
    pub framing: Framing,
    pub blocks: Vec<Block>,
    /// Entries in all blocks.
    pub entries: u64,
    /// The number of dropped blocks, and the entry behind them.
    pub dropped: u64,
    pub first: u64,
    /// Bytes in all blocks.
    pub bytes: u64,
}

impl BlockList {
    pub(crate) fn push(&mut self, block: Block) {
        self.entries = block.entries.end;
        self.bytes = self.bytes.saturating_add(block.bytes.end - block.bytes.start);
        self.blocks.push(block);
    }

    /// The number of all blocks.
    pub(crate) fn count(&self) -> u64 {
        self.dropped + self.blocks.len() as u64
    }

    /// The blocks with some of these entries, with their numbers.
    ///
    /// # Errors
    /// Some of them were dropped.
    pub(crate) fn within(&self, entries: &Range<u64>) -> Result<impl Iterator<Item = (u64, &Block)>> {
        if entries.start < self.first.min(entries.end) {
            let what = format!(
                "entries {} to {} of a stream, of which those before {} were dropped after they were read: \
                 a stream is read once, forwards",
                entries.start, entries.end, self.first
            );
            return Err(Error::invalid(what));
        }
        let from = self.blocks.partition_point(|block| block.entries.end <= entries.start);
        let to = self.blocks.partition_point(|block| block.entries.start < entries.end);
        let numbers = self.dropped + from as u64..;
        Ok(numbers.zip(self.blocks.get(from..to.max(from)).unwrap_or_default()))
    }

    /// Drops blocks that begin before a byte.
    pub(crate) fn release(&mut self, byte: u64) {
        let count = self.blocks.partition_point(|block| block.bytes.start < byte);
        if let Some(last) = self.blocks.drain(..count).next_back() {
            self.first = last.entries.end;
        }
        self.dropped += count as u64;
    }
}
