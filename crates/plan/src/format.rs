//! The one trait a format registers.

use crate::{Decoder, Error, Group, Kernel, Result, ScratchBuffer, Task};
use forthwith_columns::{Encoding, Memory, Presence, Slot};
use forthwith_io::Decompressor;
use std::{
    any::Any,
    ops::Range,
    sync::{Arc, atomic::AtomicBool},
};

/// A format's knowledge of its blocks. Registered under its id by the façade, looked up by the engine.
pub trait BlockFormat: Send + Sync {
    /// The id plans carry.
    fn id(&self) -> &'static str;

    /// The format's word for a block, for errors.
    fn unit(&self) -> &'static str {
        "basket"
    }

    /// Strips a stored block's framing: verifies it, finds the codec in the block itself, decompresses,
    /// splits off entry bounds. The result may borrow the stored bytes (nothing was compressed) or the
    /// scratch. By default, the block as it is stored.
    ///
    /// # Errors
    /// Whatever is wrong with the framing or the codec's stream, with the byte.
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

    /// How the values of an unframed block are stored, if it is values of one type and nothing else.
    fn values(&self, group: &Group, task: &Task) -> Option<Encoding> {
        let _ = task;
        match &group.decoder {
            Decoder::Kernel(Kernel::Flat { wire, .. } | Kernel::Jagged { header: 0, wire, .. }) => {
                Some(*wire)
            }
            _ => None,
        }
    }

    /// How the entries' bytes lie in a stored block: asked before the block is read, so that a long one can
    /// be read piece by piece and shared by threads. `head` is the block's beginning as far as it was read,
    /// which may be nothing. [`Framing::Whole`] is the default, and the answer to anything odd.
    fn locate(&self, group: &Group, task: &Task, head: &[u8]) -> Framing {
        let _ = (group, task, head);
        Framing::Whole
    }

    /// The range of the entries' bytes within a task's stored bytes, for blocks that are [`Framing::Pieces`].
    ///
    /// # Errors
    /// Whatever is wrong with the framing, with the byte. By default, that the format has no such blocks.
    fn pieces(&self, group: &Group, task: &Task, stored: &[u8]) -> Result<Vec<Piece>> {
        let _ = (task, stored);
        Err(Error::unsupported(format!("a block of {} in pieces", self.id())).in_object(&group.path))
    }

    /// Whether `next` goes on where `task` ends, in the file and in its entries, so that the bytes which
    /// [`unframe`](Self::unframe) gives of both are those of one task with the ranges of both: neither is
    /// compressed, and nothing lies between them.
    fn continues(&self, group: &Group, task: &Task, next: &Task) -> bool {
        let _ = (group, task, next);
        false
    }

    /// Whether [`decode`](Self::decode) runs a program of which nothing says that it ends. Its blocks are
    /// decoded by other threads than the calling one, which listens for a cancellation, and it looks at the
    /// [flag](Scratch::interrupt) of its scratch.
    fn may_run_long(&self) -> bool {
        false
    }

    /// Whether blocks of both groups, which the format decodes itself and which are of two files, can fill the same columns one
    /// after the other. [`Columns::ends`] and [`Columns::origin`] are all that the blocks of the second file know of the first.
    fn fills_same_columns(&self, first: &Group, other: &Group) -> bool {
        first.decoder == other.decoder
    }

    /// Decodes a stored block, for groups whose decoder is [`Format`](crate::Decoder::Format).
    ///
    /// # Errors
    /// Whatever is wrong with the block. By default, that the format decodes nothing itself.
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

/// How the entries' bytes lie in a stored block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Framing {
    /// Only the whole block tells: it is read and [unframed](BlockFormat::unframe).
    Whole,
    /// They lie there as they are, in this range of the stored bytes. Threads can each unframe the block and
    /// decode some of its entries; where no entry bounds are needed, the range can be read and decoded piece
    /// by piece.
    Plain(Range<u64>),
    /// They lie there as they are, with framing between: [`pieces`](BlockFormat::pieces) says where, when the
    /// block is there.
    Pieces,
}

/// A part of a task's stored bytes that is entries and nothing else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Its range.
    pub bytes: Range<usize>,
    /// Its entries.
    pub entries: u64,
    /// The number of the block it belongs to, for errors.
    pub block: u64,
}

/// Where a format that [decodes](BlockFormat::decode) itself puts what it decodes: the places of a group's
/// columns, had in the order of the blocks. On its turn a block takes places as often as it likes; ahead of
/// its turn it can find out how many it needs, wait, take all of them, pass the turn on, and write next to
/// the others.
pub trait Columns {
    /// Whether it is the block's turn.
    fn is_turn(&self) -> bool;

    /// Waits for the turn.
    ///
    /// # Errors
    /// [`Cancelled`](crate::ErrorKind::Cancelled), if the work was given up meanwhile.
    fn wait(&mut self) -> Result<()>;

    /// Whether to go on, after the [flag](Scratch::interrupt) of the scratch was set.
    ///
    /// # Errors
    /// [`Cancelled`](crate::ErrorKind::Cancelled), if the work was given up meanwhile.
    fn go_on(&self) -> Result<()>;

    /// A number for each column that goes on from block to block, 0 at first: what the next offset or row
    /// begins with; and behind them what else the block before left. On one's turn.
    fn ends(&self) -> Vec<i64>;

    /// The [`ends`](Self::ends) that the first block of this plan found: 0, unless blocks of other plans fill the columns before.
    /// Numbers that count from the beginning of a plan are counted from there. On one's turn.
    fn origin(&self) -> Vec<i64>;

    /// Leaves these numbers to the next block: one for each column, and any number of others. On one's turn.
    fn set_ends(&mut self, ends: &[i64]);

    /// Places for a number of items of each column. On one's turn, and when the places taken before were
    /// dropped.
    ///
    /// # Errors
    /// [`OutOfMemory`](crate::ErrorKind::OutOfMemory).
    fn take(&mut self, items: &[usize]) -> Result<Vec<Slot<'_>>>;

    /// Appends the index of rows, some of which are missing and the first of which is row `first` of the content,
    /// to a column of 64-bit integers, if that goes on with all that it has and such an index is wanted. Answers
    /// whether it was done, without memory and a place. On one's turn.
    fn append_rows(&mut self, column: usize, first: i64, rows: &Presence) -> bool;

    /// The number of the column that takes views of text, as [`Group::views`](crate::Group::views), if the plan asks for views. A
    /// view is two 64-bit integers; the next column takes the bytes that the views point into.
    fn views(&self) -> Option<usize> {
        None
    }

    /// Counts bytes of texts that were given as views.
    fn count_text(&self, _bytes: u64) {}

    /// As the last [`take`](Self::take), which passes the turn on.
    ///
    /// # Errors
    /// As there.
    fn take_last(&mut self, items: &[usize]) -> Result<Vec<Slot<'_>>>;

    /// Says that each text that the block has appended is UTF-8. If a block does not, the engine looks at all text of the columns.
    fn text_is_valid(&mut self) {}
}

/// A block without its framing.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    /// The entries' bytes, one after the other.
    pub payload: &'a [u8],
    /// Number of entries.
    pub entries: u64,
    /// Where each entry begins and ends, if the block says so: `entries + 1` little-endian `u32`, ascending
    /// and none above the payload's length; or only those of the entries that the task [wants](Task::wanted),
    /// one more than they are. Empty if it does not.
    pub bounds: &'a [u8],
    /// Bytes before the payload from which positions in the data are counted.
    pub origin: u64,
}

/// Memory a worker keeps warm from block to block.
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
    /// Empty scratch.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Empty scratch, to be had from `memory`.
    #[must_use]
    pub fn of(memory: &Memory) -> Self {
        let room = || ScratchBuffer::new(memory.clone());
        Self { payload: room(), bounds: room(), ..Self::default() }
    }

    /// The same, with the most bytes that one block may take when it is decompressed.
    #[must_use]
    pub fn limited(mut self, bytes: Option<usize>) -> Self {
        self.decompressor.set_limit(bytes);
        self.limit = bytes;
        self
    }

    /// The bytes that one block may take, if there is a limit.
    #[must_use]
    pub const fn limit(&self) -> Option<usize> {
        self.limit
    }

    /// Set by the engine when the worker may have to stop. A format that [may run
    /// long](BlockFormat::may_run_long) clears it and asks [`Columns::go_on`].
    #[must_use]
    pub const fn interrupt(&self) -> &Arc<AtomicBool> {
        &self.interrupt
    }

    /// Gives back what is larger than `bytes`: one large block must not be paid for as long as there are
    /// small ones.
    pub fn trim(&mut self, bytes: usize) {
        self.payload.trim(bytes);
        self.bounds.trim(bytes);
        if self.grown.capacity() > bytes {
            self.grown = Vec::new();
        }
    }

    /// The format's own warm state, and the codecs.
    pub fn own<T: Any + Send + Default>(&mut self) -> (&mut T, &mut Decompressor) {
        if !self.own.as_ref().is_some_and(|own| own.is::<T>()) {
            self.own = Some(Box::new(T::default()));
        }
        let own = self.own.as_mut().and_then(|own| own.downcast_mut());
        #[expect(clippy::expect_used, reason = "it was just made of this type, unless it was one")]
        (own.expect("of this type"), &mut self.decompressor)
    }

    /// Memory for a payload whose length shows only when it is there, and the codecs. Contents are whatever
    /// the last block left; the length is what was needed so far.
    pub fn growing(&mut self) -> (&mut Vec<u8>, &mut Decompressor) {
        (&mut self.grown, &mut self.decompressor)
    }

    /// Memory for a payload of `payload` bytes, for `bounds` bytes of entry bounds, and the codecs. Contents
    /// are whatever the last block left.
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
