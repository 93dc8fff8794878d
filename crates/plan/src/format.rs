//! The one trait a format registers.

use crate::{Error, ErrorKind, Group, Result, Room, Task};
use forthwith_columns::Memory;
use forthwith_io::Decompressor;
use std::ops::Range;

/// What a format knows of its blocks. Registered under its id by the façade, looked up by the engine.
pub trait BlockFormat: Send + Sync {
    /// The id plans carry.
    fn id(&self) -> &'static str;

    /// What the format calls a block, for errors.
    fn unit(&self) -> &'static str {
        "basket"
    }

    /// Strips a stored block's framing: verifies it, finds the codec in the block itself, decompresses, splits off entry bounds.
    /// The result may borrow the stored bytes (nothing was compressed) or the scratch.
    ///
    /// # Errors
    /// Whatever is wrong with the framing or the codec's stream, with the byte.
    fn unframe<'a>(
        &self,
        group: &Group,
        task: &Task,
        stored: &'a [u8],
        scratch: &'a mut Scratch,
    ) -> Result<Block<'a>>;

    /// Where the entries' bytes lie within the stored block, if they lie there as they are: neither compressed nor followed by entry
    /// bounds that are needed. Told from the block's first bytes, so that a long block can be read and decoded piece by piece. `None`
    /// (the default, and the answer to anything odd) has the block read and [unframed](Self::unframe) as a whole.
    fn entries_at(&self, group: &Group, task: &Task, head: &[u8]) -> Option<Range<u64>> {
        let _ = (group, task, head);
        None
    }

    /// Where the entries' bytes lie within a task's stored bytes, if they lie there as they are, with framing between. Each piece holds whole
    /// entries, and is decoded where it lies. `None` (the default) has the block [unframed](Self::unframe) as a whole.
    ///
    /// # Errors
    /// Whatever is wrong with the framing, with the byte.
    fn pieces(&self, group: &Group, task: &Task, stored: &[u8]) -> Result<Option<Vec<Piece>>> {
        let _ = (group, task, stored);
        Ok(None)
    }

    /// Answers a program's `pause`: `request` is on top of the stack, the answer goes there instead.
    ///
    /// # Errors
    /// By default, that the format never pauses.
    fn resolve(&self, group: &Group, request: i64) -> Result<i64> {
        Err(Error::new(ErrorKind::Unsupported { what: format!("request {request} of a paused program") })
            .in_object(&group.path))
    }
}

/// A part of a task's stored bytes that is entries and nothing else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Where it lies.
    pub bytes: Range<usize>,
    /// Its entries.
    pub entries: u64,
    /// The number of the block it belongs to, for errors.
    pub block: u64,
}

/// A block without its framing.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    /// The entries' bytes, one after the other.
    pub payload: &'a [u8],
    /// Number of entries.
    pub entries: u64,
    /// Where each entry begins and ends, if the block says so: `entries + 1` little-endian `u32`, ascending and none
    /// above the payload's length. Empty if it does not.
    pub bounds: &'a [u8],
    /// What positions that the data name are counted from: how many bytes before the payload.
    pub origin: u64,
}

/// Memory a worker keeps warm from block to block.
#[derive(Default)]
pub struct Scratch {
    payload: Room,
    bounds: Room,
    grown: Vec<u8>,
    decompressor: Decompressor,
}

impl Scratch {
    /// Empty scratch.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Empty scratch, to be had from `memory`.
    #[must_use]
    pub fn of(memory: &Memory) -> Self {
        let room = || Room::new(memory.clone());
        Self { payload: room(), bounds: room(), ..Self::default() }
    }

    /// Gives back what is larger than `bytes`: one large block must not be paid for as long as there are small ones.
    pub fn trim(&mut self, bytes: usize) {
        self.payload.trim(bytes);
        self.bounds.trim(bytes);
        if self.grown.capacity() > bytes {
            self.grown = Vec::new();
        }
    }

    /// Memory for a payload whose length shows only when it is there, and the codecs. Contents are whatever the last block left; the
    /// length is what was needed so far.
    pub fn growing(&mut self) -> (&mut Vec<u8>, &mut Decompressor) {
        (&mut self.grown, &mut self.decompressor)
    }

    /// Room for a payload of `payload` bytes, for `bounds` bytes of entry bounds, and the codecs. Contents are whatever the last
    /// block left.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory) when the system has not that much.
    pub fn rooms(
        &mut self,
        payload: usize,
        bounds: usize,
    ) -> Result<(&mut [u8], &mut [u8], &mut Decompressor)> {
        Ok((self.payload.take(payload)?, self.bounds.take(bounds)?, &mut self.decompressor))
    }
}
