//! [`BlockFormat`], the trait that a format implements to be read by the engine, and its context types.

use crate::{Decoder, Error, Group, Kernel, Result, ScratchBuffer, Task};
use forthwith_columns::{Encoding, Memory, Presence, Slot};
use forthwith_io::Decompressor;
use std::{
    any::Any,
    ops::Range,
    sync::{Arc, atomic::AtomicBool},
};

/// Unframing and decoding of the blocks of a format. The façade registers the implementations by their id,
/// and the engine looks them up.
pub trait BlockFormat: Send + Sync {
    /// Returns the id of the format, which plans contain.
    fn id(&self) -> &'static str;

    /// Returns the format's name for a block, for errors.
    fn unit(&self) -> &'static str {
        "basket"
    }

    /// Removes the framing of a stored block: verifies it, decompresses the block by the codec that it
    /// declares, and separates entry bounds. The result may borrow from the stored bytes (if they are
    /// uncompressed) or from the scratch memory. The default returns the stored bytes.
    ///
    /// # Errors
    /// An invalid framing, or an error of the codec, with the byte offset.
    fn unframe<'a>(
        &self,
        group: &Group,
        task: &Task,
        stored: &'a [u8],
        scratch: &'a mut Scratch,
    ) -> Result<Block<'a>> {
        let _ = (group, scratch);
        let entries = task.entries.end.saturating_sub(task.entries.start);
        Ok(Block { payload: stored, entries, bounds: &[], origin: 0 })
    }

    /// Returns the encoding of the values of an unframed block; `None` unless the block consists of values of
    /// one type.
    fn values(&self, group: &Group, task: &Task) -> Option<Encoding> {
        let _ = task;
        match &group.decoder {
            Decoder::Kernel(Kernel::Flat { wire, .. } | Kernel::Jagged { header: 0, wire, .. }) => {
                Some(*wire)
            }
            _ => None,
        }
    }

    /// Returns how the bytes of the entries are arranged in a stored block. Called before the block is read,
    /// so that a long one can be read in pieces and decoded by several threads. `head` is the part of the
    /// block that was read, which may be empty. The default is [`Framing::Whole`], which is also right for
    /// unusual or invalid framing.
    fn locate(&self, group: &Group, task: &Task, head: &[u8]) -> Framing {
        let _ = (group, task, head);
        Framing::Whole
    }

    /// Returns the ranges of the entries in a task's stored bytes, for blocks with [`Framing::Pieces`].
    ///
    /// # Errors
    /// An invalid framing, with the byte offset. The default returns an error, as the format has no such
    /// blocks.
    fn pieces(&self, group: &Group, task: &Task, stored: &[u8]) -> Result<Vec<Piece>> {
        let _ = (task, stored);
        Err(Error::unsupported(format!("a block of {} in pieces", self.id())).in_object(&group.path))
    }

    /// Whether `next` continues `task` in the file and in its entries, and both are uncompressed with no
    /// bytes between them. [`unframe`](Self::unframe) of a single task with both ranges then returns the
    /// bytes of both.
    fn continues(&self, group: &Group, task: &Task, next: &Task) -> bool {
        let _ = (group, task, next);
        false
    }

    /// Whether [`decode`](Self::decode) runs programs that may run without bound. Their blocks are not
    /// decoded by the calling thread, which checks for cancellation, and `decode` has to observe the
    /// [interrupt flag](Scratch::interrupt) of its scratch memory.
    fn may_run_long(&self) -> bool {
        false
    }

    /// Whether blocks of two groups with [`Decoder::Format`], from two files, can be appended to the same
    /// columns. Blocks of the second file get only [`Columns::ends`] and [`Columns::origin`] from the first.
    fn fills_same_columns(&self, first: &Group, other: &Group) -> bool {
        first.decoder == other.decoder
    }

    /// Decodes a stored block of a group with [`Decoder::Format`].
    ///
    /// # Errors
    /// An invalid block. The default returns an error, as the format has no such groups.
    fn decode(
        &self,
        group: &Group,
        task: &Task,
        stored: &[u8],
        scratch: &mut Scratch,
        columns: &mut dyn Columns,
    ) -> Result<()> {
        let _ = (task, stored, scratch, columns);
        Err(Error::unsupported(format!("a block of {} that decodes itself", self.id()))
            .in_object(&group.path))
    }
}

/// Arrangement of the bytes of the entries in a stored block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Framing {
    /// Unknown until the whole block is read and [unframed](BlockFormat::unframe).
    Whole,
    /// Uncompressed and contiguous in this range of the stored bytes. Several threads can unframe the block
    /// and decode some of its entries each; if entry bounds are not needed, the range can be read and decoded
    /// in pieces.
    Plain(Range<u64>),
    /// Uncompressed with framing in between: [`pieces`](BlockFormat::pieces) returns the ranges after the
    /// block was read.
    Pieces,
}

/// A contiguous part of a task's stored bytes that consists of entries only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Range in the stored bytes.
    pub bytes: Range<usize>,
    /// Number of entries.
    pub entries: u64,
    /// Number of its block, for errors.
    pub block: u64,
}

/// Columns of a group, to which a format that [decodes](BlockFormat::decode) its blocks appends items in the
/// order of the blocks. During its turn, a block takes slots any number of times. Before its turn, it can
/// determine the number of items it needs, wait, take all slots, pass the turn on, and then write
/// concurrently with other blocks.
pub trait Columns {
    /// Whether the block has its turn.
    fn is_turn(&self) -> bool;

    /// Waits for the turn of the block.
    ///
    /// # Errors
    /// [`Cancelled`](crate::ErrorKind::Cancelled), if the operation was cancelled meanwhile.
    fn wait(&mut self) -> Result<()>;

    /// Checks for cancellation, after the [flag](Scratch::interrupt) of the scratch was set.
    ///
    /// # Errors
    /// [`Cancelled`](crate::ErrorKind::Cancelled), if the operation was cancelled.
    fn go_on(&self) -> Result<()>;

    /// Returns the numbers that the previous block left by [`set_ends`](Self::set_ends): one for each column,
    /// such as its last offset or its number of content rows, and any further numbers. They are 0 at first.
    /// Call it during the turn.
    fn ends(&self) -> Vec<i64>;

    /// Returns the [`ends`](Self::ends) before the first block of this plan: 0, unless blocks of other plans
    /// were appended before. Numbers that are relative to a plan are relative to these. Call it during the
    /// turn.
    fn origin(&self) -> Vec<i64>;

    /// Sets the numbers for the next block: one for each column, and any number of others. Call it during the
    /// turn.
    fn set_ends(&mut self, ends: &[i64]);

    /// Allocates slots for a number of items of each column. Call it during the turn, after slots that were
    /// taken before have been dropped.
    ///
    /// # Errors
    /// [`OutOfMemory`](crate::ErrorKind::OutOfMemory).
    fn take(&mut self, items: &[usize]) -> Result<Vec<Slot<'_>>>;

    /// Appends the index of an option type to a column of 64-bit integers without allocating memory for it.
    /// `rows` tells which rows are valid, and `first` is the content row of the first valid one. Returns
    /// `false`, without effect, if the column cannot represent this or the plan does not ask for it. Call it
    /// during the turn.
    fn append_rows(&mut self, column: usize, first: i64, rows: &Presence) -> bool;

    /// Returns the number of the column for text views, as [`Group::views`](crate::Group::views), if the plan
    /// asks for views. A view is two 64-bit integers; the next column has the bytes to which the views point.
    fn views(&self) -> Option<usize> {
        None
    }

    /// Adds to the total length of texts that were appended as views.
    fn count_text(&self, _bytes: u64) {}

    /// Allocates slots as [`take`](Self::take) does, and passes the turn on.
    ///
    /// # Errors
    /// See [`take`](Self::take).
    fn take_last(&mut self, items: &[usize]) -> Result<Vec<Slot<'_>>>;

    /// Declares that all text that the block appended is valid UTF-8. Unless every block does, the engine
    /// validates all text of the columns.
    fn text_is_valid(&mut self) {}
}

/// A block without its framing.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    /// The bytes of the entries, which are contiguous.
    pub payload: &'a [u8],
    /// Number of entries.
    pub entries: u64,
    /// Byte offsets of the entries in the payload: `entries + 1` little-endian `u32`, ascending and none
    /// above the payload's length; or only those of the [wanted](Task::wanted) entries, one more than their
    /// number. Empty if the block does not store them.
    pub bounds: &'a [u8],
    /// Number of bytes before the payload from which positions in the data are counted.
    pub origin: u64,
}

/// Memory and codec contexts that a worker reuses between blocks.
#[derive(Default)]
pub struct Scratch {
    payload: ScratchBuffer,
    bounds: ScratchBuffer,
    grown: Vec<u8>,
    decompressor: Decompressor,
    limit: Option<usize>,
    interrupt: Arc<AtomicBool>,
    own: Option<Box<dyn Any + Send>>,
}

impl Scratch {
    /// Creates empty scratch memory.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates empty scratch memory that is allocated from `memory`.
    #[must_use]
    pub fn of(memory: &Memory) -> Self {
        let room = || ScratchBuffer::new(memory.clone());
        Self { payload: room(), bounds: room(), ..Self::default() }
    }

    /// Sets the upper bound on the decompressed size of a block in bytes.
    #[must_use]
    pub fn limited(mut self, bytes: Option<usize>) -> Self {
        self.decompressor.set_limit(bytes);
        self.limit = bytes;
        self
    }

    /// Returns the upper bound on the decompressed bytes of one block; `None` if unlimited.
    #[must_use]
    pub const fn limit(&self) -> Option<usize> {
        self.limit
    }

    /// Returns the flag that the engine sets when the worker may have to stop. A format that [may run
    /// long](BlockFormat::may_run_long) clears it and calls [`Columns::go_on`].
    #[must_use]
    pub const fn interrupt(&self) -> &Arc<AtomicBool> {
        &self.interrupt
    }

    /// Frees buffers of more than `bytes` bytes, so that one large block does not occupy memory for long.
    pub fn trim(&mut self, bytes: usize) {
        self.payload.trim(bytes);
        self.bounds.trim(bytes);
        if self.grown.capacity() > bytes {
            self.grown = Vec::new();
        }
    }

    /// Returns the format's own state that is kept between blocks, and the codecs.
    pub fn own<T: Any + Send + Default>(&mut self) -> (&mut T, &mut Decompressor) {
        if !self.own.as_ref().is_some_and(|own| own.is::<T>()) {
            self.own = Some(Box::new(T::default()));
        }
        let own = self.own.as_mut().and_then(|own| own.downcast_mut());
        #[expect(clippy::expect_used, reason = "it was just made of this type, unless it was one")]
        (own.expect("of this type"), &mut self.decompressor)
    }

    /// Returns a buffer for a payload of unknown length, and the codecs. The buffer keeps its contents and
    /// length from the previous block.
    pub fn growing(&mut self) -> (&mut Vec<u8>, &mut Decompressor) {
        (&mut self.grown, &mut self.decompressor)
    }

    /// Returns buffers of `payload` bytes for a payload and `bounds` bytes for entry bounds, and the codecs.
    /// The contents are unspecified.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory) if the buffers cannot be allocated.
    pub fn rooms(
        &mut self,
        payload: usize,
        bounds: usize,
    ) -> Result<(&mut [u8], &mut [u8], &mut Decompressor)> {
        Ok((self.payload.take(payload)?, self.bounds.take(bounds)?, &mut self.decompressor))
    }
}
