//! Blocks being written: the mirror of a [`BlockFormat`](crate::BlockFormat).
//!
//! A format that writes cuts its columns into blocks. A [`BlockMaker`] makes the stored bytes of each block,
//! on any thread; a [`BlockSink`] takes them in order, one at a time; a [`BlockRunner`]
//! stands between the two and decides about threads and memory. [`OneThread`] is the runner of a format by
//! itself; the engine has one for several threads.
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

/// Makes the stored bytes of blocks, each independently of the others.
pub trait BlockMaker: Sync {
    /// The number of blocks.
    fn blocks(&self) -> usize;

    /// About how many bytes of memory a block takes while it is made and until it is taken. Bounds what is
    /// under way, so an estimate is enough.
    fn weight(&self, block: usize) -> u64;

    /// Makes a block, on any thread: encodes and compresses it.
    ///
    /// # Errors
    /// Values that the format has no room for; the codec's errors.
    fn make(&self, block: usize, bench: &mut Bench) -> Result<StoredBlock>;
}

/// Takes the blocks of a [`BlockMaker`], from the first to the last.
pub trait BlockSink {
    /// Writes a block and remembers what the metadata need of it. A sink that keeps the bytes takes them out of the block, and may leave other memory in it.
    ///
    /// # Errors
    /// Whatever the file's sink says.
    fn take(&mut self, block: usize, stored: &mut StoredBlock) -> Result<()>;

    /// Looks for reasons to stop, such as signals, by the thread that started the run, while others take blocks.
    ///
    /// # Errors
    /// The run is to end.
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

/// Runs makers: all blocks are made and taken, or the error of the earliest block that failed is returned.
/// Blocks before that one have been taken.
pub trait BlockRunner: Send + Sync + fmt::Debug {
    /// Makes all blocks and hands them to the sink in order, on the calling thread.
    ///
    /// # Errors
    /// The earliest one that making or taking a block gave.
    fn run(&self, blocks: &dyn BlockMaker, sink: &mut dyn BlockSink) -> Result<()>;

    /// Makes all blocks without storing them: each leaves its result elsewhere.
    ///
    /// # Errors
    /// The error of the first block that cannot be made.
    fn make_all(&self, blocks: &dyn BlockMaker) -> Result<()> {
        self.run(blocks, &mut Nowhere)
    }

    /// The threads that may work at a time, the calling one included.
    fn threads(&self) -> usize {
        1
    }

    /// As [`run`](Self::run), with a sink that any thread may call, one at a time: a thread that takes the block which
    /// it made finds it in its caches.
    ///
    /// # Errors
    /// As those of `run`.
    fn run_anywhere(&self, blocks: &dyn BlockMaker, mut sink: &mut (dyn BlockSink + Send)) -> Result<()> {
        self.run(blocks, &mut sink)
    }
}

/// A sink that stores nothing.
struct Nowhere;

impl BlockSink for Nowhere {
    fn take(&mut self, _: usize, _: &mut StoredBlock) -> Result<()> {
        Ok(())
    }
}

/// A block as it is to be stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredBlock {
    /// The stored bytes. Their memory is used again for later blocks.
    pub bytes: Vec<u8>,
    /// The length of the payload that they were made of.
    pub payload: u64,
    /// A number that the format's metadata need of the block, such as the largest count in it.
    pub note: u64,
}

/// The memory that a thread which makes blocks keeps from one to the next.
#[derive(Debug, Default)]
pub struct Bench {
    /// The codecs, with their contexts.
    pub compressor: Compressor,
    /// Memory for a payload before it is compressed, holding anything.
    pub payload: Vec<u8>,
    spare: Vec<Vec<u8>>,
}

impl Bench {
    /// An empty vector for stored bytes, with memory of an earlier block if there is any.
    #[must_use]
    pub fn spare(&mut self) -> Vec<u8> {
        let mut bytes = self.used();
        bytes.clear();
        bytes
    }

    /// As [`spare`](Self::spare), but the vector may hold anything: what is written over its bytes needs no zeros before.
    #[must_use]
    pub fn used(&mut self) -> Vec<u8> {
        self.spare.pop().unwrap_or_default()
    }

    /// Whether memory of an earlier block is there.
    #[must_use]
    pub fn has_spare(&self) -> bool {
        !self.spare.is_empty()
    }

    /// Keeps the memory of a block that was taken.
    pub fn keep(&mut self, bytes: Vec<u8>) {
        if (1..=LARGEST_KEPT).contains(&bytes.capacity()) && self.spare.len() < SPARES_KEPT {
            self.spare.push(bytes);
        }
    }

    /// Gives back what one large block needed.
    pub fn trim(&mut self) {
        if self.payload.capacity() > LARGEST_KEPT {
            self.payload = Vec::new();
        }
    }
}

/// Memory of a block that is kept for later blocks.
const LARGEST_KEPT: usize = 16 << 20;
const SPARES_KEPT: usize = 16;

/// Makes each block when the one before it was taken, on the calling thread alone.
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

/// Makes each block when the one before it was taken.
///
/// # Errors
/// The first one.
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
