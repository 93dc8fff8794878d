//! Writing of blocks, the counterpart of a [`BlockFormat`](crate::BlockFormat).
//!
//! A format divides its columns into blocks. A [`BlockMaker`] encodes each block, on any thread; a
//! [`BlockSink`] takes the blocks in order, one at a time; a [`BlockRunner`] connects the two, and controls
//! threads and memory. [`OneThread`] is the runner for a single thread; the engine has one for several
//! threads.
//!
//! ```
//! use forthwith_plan::{Bench, BlockMaker, BlockRunner, BlockSink, OneThread, Result, StoredBlock};
//!
//! struct Squares(Vec<u32>);
//!
//! impl BlockMaker for Squares {
//!     fn blocks(&self) -> usize {
//!         self.0.len()
//!     }
//!
//!     fn weight(&self, _: usize) -> u64 {
//!         4
//!     }
//!
//!     fn make(&self, block: usize, bench: &mut Bench) -> Result<StoredBlock> {
//!         let mut bytes = bench.spare();
//!         bytes.extend((self.0[block] * self.0[block]).to_be_bytes());
//!         Ok(StoredBlock { bytes, payload: 4, note: 0 })
//!     }
//! }
//!
//! struct File(Vec<u8>);
//!
//! impl BlockSink for File {
//!     fn take(&mut self, _: usize, stored: &mut StoredBlock) -> Result<()> {
//!         self.0.extend(&stored.bytes);
//!         Ok(())
//!     }
//! }
//!
//! let mut file = File(Vec::new());
//! OneThread::default().run(&Squares(vec![1, 16]), &mut file)?;
//! assert_eq!(file.0, [0, 0, 0, 1, 0, 0, 1, 0]);
//! # Ok::<(), forthwith_plan::Error>(())
//! ```

use crate::Result;
use forthwith_io::Compressor;
use forthwith_platform::ProcessLock;
use std::fmt;

/// Encodes blocks, each independently of the others.
pub trait BlockMaker: Sync {
    /// Returns the number of blocks.
    fn blocks(&self) -> usize;

    /// Returns an estimate of the memory in bytes that a block needs from its encoding until it is taken, by
    /// which the number of blocks in progress is bounded.
    fn weight(&self, block: usize) -> u64;

    /// Encodes and compresses a block. Any thread may call this.
    ///
    /// # Errors
    /// Values that the format cannot represent; errors of the codec.
    fn make(&self, block: usize, bench: &mut Bench) -> Result<StoredBlock>;
}

/// Takes the blocks of a [`BlockMaker`] in order.
pub trait BlockSink {
    /// Writes a block and keeps what the metadata need of it. A sink that keeps the bytes moves them out of
    /// `stored`, and may leave another vector for reuse.
    ///
    /// # Errors
    /// Errors of the file's sink.
    fn take(&mut self, block: usize, stored: &mut StoredBlock) -> Result<()>;

    /// Checks for reasons to stop, such as signals. Called by the thread that started the run, while other
    /// threads take blocks.
    ///
    /// # Errors
    /// An error cancels the run.
    fn listen(&mut self) -> Result<()> {
        Ok(())
    }
}

impl<S: BlockSink + ?Sized> BlockSink for &mut S {
    fn take(&mut self, block: usize, stored: &mut StoredBlock) -> Result<()> {
        (**self).take(block, stored)
    }

    fn listen(&mut self) -> Result<()> {
        (**self).listen()
    }
}

/// Runs a [`BlockMaker`]: all blocks are encoded and taken, or the error of the first failing block in their
/// order is returned. All blocks before that one were taken.
pub trait BlockRunner: Send + Sync + fmt::Debug {
    /// Encodes all blocks and passes them to the sink in order, on the calling thread.
    ///
    /// # Errors
    /// The error of the first block, in their order, that could not be encoded or taken.
    fn run(&self, blocks: &dyn BlockMaker, sink: &mut dyn BlockSink) -> Result<()>;

    /// Encodes all blocks without a sink, for makers that store their results elsewhere.
    ///
    /// # Errors
    /// The error of the first block that could not be encoded.
    fn make_all(&self, blocks: &dyn BlockMaker) -> Result<()> {
        self.run(blocks, &mut Nowhere)
    }

    /// Returns the number of threads that work at once, including the calling one.
    fn threads(&self) -> usize {
        1
    }

    /// Runs as [`run`](Self::run) does, but any thread may call the sink, one at a time. A thread that takes
    /// the block it encoded finds the bytes in its cache.
    ///
    /// # Errors
    /// See [`run`](Self::run).
    fn run_anywhere(&self, blocks: &dyn BlockMaker, mut sink: &mut (dyn BlockSink + Send)) -> Result<()> {
        self.run(blocks, &mut sink)
    }
}

/// A sink that discards all blocks.
struct Nowhere;

impl BlockSink for Nowhere {
    fn take(&mut self, _: usize, _: &mut StoredBlock) -> Result<()> {
        Ok(())
    }
}

/// An encoded block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredBlock {
    /// The stored bytes. The vector is reused for later blocks.
    pub bytes: Vec<u8>,
    /// Length in bytes of the payload before compression.
    pub payload: u64,
    /// A number that the format's metadata need of the block, such as the largest count in it.
    pub note: u64,
}

/// Buffers that a thread reuses between the blocks it encodes.
#[derive(Debug, Default)]
pub struct Bench {
    /// The codecs, with their contexts.
    pub compressor: Compressor,
    /// Buffer of a payload before compression, with unspecified contents.
    pub payload: Vec<u8>,
    spare: Vec<Vec<u8>>,
}

impl Bench {
    /// Returns an empty vector for stored bytes, with the capacity of an earlier block if possible.
    #[must_use]
    pub fn spare(&mut self) -> Vec<u8> {
        let mut bytes = self.used();
        bytes.clear();
        bytes
    }

    /// Returns a vector as [`spare`](Self::spare) does, but with unspecified contents and length: bytes that
    /// are overwritten need not be zeroed again.
    #[must_use]
    pub fn used(&mut self) -> Vec<u8> {
        self.spare.pop().unwrap_or_default()
    }

    /// Whether the memory of an earlier block can be reused.
    #[must_use]
    pub fn has_spare(&self) -> bool {
        !self.spare.is_empty()
    }

    /// Keeps the memory of a block for later ones, unless it is too large or enough is kept.
    pub fn keep(&mut self, bytes: Vec<u8>) {
        if (1..=LARGEST_KEPT).contains(&bytes.capacity()) && self.spare.len() < SPARES_KEPT {
            self.spare.push(bytes);
        }
    }

    /// Frees the payload buffer if a large block has made it too large to keep.
    pub fn trim(&mut self) {
        if self.payload.capacity() > LARGEST_KEPT {
            self.payload = Vec::new();
        }
    }
}

/// Capacity in bytes up to which a buffer is kept.
const LARGEST_KEPT: usize = 16 << 20;
const SPARES_KEPT: usize = 16;

/// Encodes each block after the previous one was taken, on the calling thread.
#[derive(Debug, Default)]
pub struct OneThread(ProcessLock<Option<Bench>>);

impl BlockRunner for OneThread {
    fn run(&self, blocks: &dyn BlockMaker, sink: &mut dyn BlockSink) -> Result<()> {
        let mut bench = self.0.lock().take().unwrap_or_default();
        let result = in_turn(blocks, sink, &mut bench);
        bench.trim();
        *self.0.lock() = Some(bench);
        result
    }
}

/// Encodes each block after the previous one was taken.
///
/// # Errors
/// The first error of the maker or the sink.
pub fn in_turn(blocks: &dyn BlockMaker, sink: &mut dyn BlockSink, bench: &mut Bench) -> Result<()> {
    for block in 0..blocks.blocks() {
        let mut stored = blocks.make(block, bench)?;
        sink.take(block, &mut stored)?;
        bench.keep(stored.bytes);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_empty_unless_it_is_to_be_written_over() {
        let mut bench = Bench::default();
        bench.keep(vec![1, 2, 3]);
        let bytes = bench.spare();
        assert!(bytes.is_empty() && bytes.capacity() >= 3);
        bench.keep(vec![4, 5]);
        assert_eq!(bench.used(), [4, 5]);
        assert!(bench.used().is_empty());
    }
}
