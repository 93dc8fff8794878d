//! A list of blocks that are found sequentially in a file, or in a stream, which drops bytes after they were
//! read.

use crate::{Error, Result, Stored};
use std::ops::Range;

/// A block, with the format's decoding state at its start.
#[derive(Clone, Debug)]
pub struct FoundBlock<S> {
    /// The entries of the block.
    pub entries: Range<u64>,
    /// The stored bytes of the block.
    pub stored: Stored,
    /// The state of the format's decoder at the start of the block.
    pub start: S,
}

impl<S> FoundBlock<S> {
    fn first_byte(&self) -> Option<u64> {
        if let Stored::Range(range) = &self.stored { Some(range.start) } else { None }
    }
}

/// A list of consecutive blocks, whose first ones may have been dropped, with totals of all blocks.
#[derive(Clone, Debug)]
pub struct BlockList<S> {
    blocks: Vec<FoundBlock<S>>,
    entries: u64,
    bytes: u64,
    /// Number of dropped blocks, and the first entry after them.
    dropped: u64,
    first: u64,
}

impl<S> Default for BlockList<S> {
    fn default() -> Self {
        Self { blocks: Vec::new(), entries: 0, bytes: 0, dropped: 0, first: 0 }
    }
}

impl<S> BlockList<S> {
    /// Appends a block, whose entries have to continue those of the last one.
    pub fn push(&mut self, block: FoundBlock<S>) {
        self.entries = block.entries.end;
        self.bytes = self.bytes.saturating_add(block.stored.len());
        self.blocks.push(block);
    }

    /// Returns the number of entries in all blocks, including dropped ones.
    #[must_use]
    pub const fn entries(&self) -> u64 {
        self.entries
    }

    /// Returns the number of stored bytes in all blocks, including dropped ones.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the number of all blocks, including dropped ones.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.dropped + self.blocks.len() as u64
    }

    /// Returns the blocks that overlap a range of entries, with their block numbers.
    ///
    /// # Errors
    /// A block of these entries was dropped.
    pub fn within(&self, entries: &Range<u64>) -> Result<impl Iterator<Item = (u64, &FoundBlock<S>)>> {
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

    /// Returns the byte offset of the block that contains an entry; `None` if the block was not found yet or
    /// is not a range of the file.
    #[must_use]
    pub fn byte_of(&self, entry: u64) -> Option<u64> {
        let at = self.blocks.partition_point(|block| block.entries.end <= entry);
        self.blocks.get(at)?.first_byte()
    }

    /// Drops the blocks that start before a byte offset.
    pub fn release(&mut self, byte: u64) {
        let is_before = |block: &FoundBlock<S>| block.first_byte().is_some_and(|first| first < byte);
        let count = self.blocks.partition_point(is_before);
        if let Some(last) = self.blocks.drain(..count).next_back() {
            self.first = last.entries.end;
        }
        self.dropped += count as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list() -> BlockList<char> {
        let mut list = BlockList::default();
        for (number, start) in ['a', 'b', 'c'].into_iter().enumerate() {
            let number = number as u64;
            let stored = Stored::Range(100 * number..100 * number + 50);
            list.push(FoundBlock { entries: 10 * number..10 * number + 10, stored, start });
        }
        list
    }

    #[test]
    fn blocks_are_found_by_entries() {
        let list = list();
        assert_eq!((list.entries(), list.bytes(), list.count()), (30, 150, 3));
        let within = |entries: Range<u64>| -> Vec<(u64, char)> {
            let found =
                list.within(&entries).map(|found| found.map(|(at, block)| (at, block.start)).collect());
            found.unwrap_or_default()
        };
        assert_eq!(within(0..30), [(0, 'a'), (1, 'b'), (2, 'c')]);
        assert_eq!(within(10..11), [(1, 'b')]);
        assert_eq!(within(10..10), []);
        assert_eq!((list.byte_of(15), list.byte_of(30)), (Some(100), None));
    }

    #[test]
    fn dropped_blocks_keep_their_numbers() {
        let mut list = list();
        list.release(150);
        assert_eq!((list.count(), list.entries()), (3, 30));
        assert!(list.within(&(15..25)).is_err());
        let found = list.within(&(20..30)).map(|found| found.map(|(at, _)| at).collect::<Vec<_>>());
        assert_eq!(found.unwrap_or_default(), [2]);
    }
}
