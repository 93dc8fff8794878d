//! The one trait a format registers.

use crate::{Error, ErrorKind, Group, Result, Room, Task};
use forthwith_columns::{Memory, Slot};
use forthwith_io::Decompressor;
use std::{any::Any, ops::Range};

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

    /// Whether nothing of a block is compressed, told from its first bytes: several threads can each [unframe](Self::unframe) it and decode some of its entries.
    /// `false` is the default, and the answer to anything odd.
    fn is_plain(&self, task: &Task, head: &[u8]) -> bool {
        let _ = (task, head);
        false
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

/// Where a format that [decodes](BlockFormat::decode) itself puts what it decodes: the places of a group's columns, had in the order of
/// the blocks. On its turn a block takes places as often as it likes; ahead of its turn it can find out how many it needs, wait, take
/// all of them, pass the turn on, and write next to the others.
pub trait Columns {
    /// Whether it is the block's turn.
    fn is_turn(&self) -> bool;

    /// Waits for the turn.
    ///
    /// # Errors
    /// [`Cancelled`](ErrorKind::Cancelled), if the work was given up meanwhile.
    fn wait(&mut self) -> Result<()>;

    /// A number for each column that goes on from block to block, 0 at first: what the next offset or row begins with. On one's turn.
    fn ends(&self) -> Vec<i64>;

    /// Leaves these numbers to the next block. On one's turn.
    fn set_ends(&mut self, ends: &[i64]);

    /// Places for so many items of each column. On one's turn, and when the places taken before were dropped.
    ///
    /// # Errors
    /// [`OutOfMemory`](ErrorKind::OutOfMemory).
    fn take(&mut self, items: &[usize]) -> Result<Vec<Slot<'_>>>;

    /// As the last [`take`](Self::take), which passes the turn on.
    ///
    /// # Errors
    /// As there.
    fn take_last(&mut self, items: &[usize]) -> Result<Vec<Slot<'_>>>;
}

/// A block without its framing.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    /// The entries' bytes, one after the other.
    pub payload: &'a [u8],
    /// Number of entries.
    pub entries: u64,
    /// Where each entry begins and ends, if the block says so: `entries + 1` little-endian `u32`, ascending and none
    /// above the payload's length; or only those of the entries that the task [wants](Task::wanted), one more than they are.
    /// Empty if it does not.
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
        let room = || Room::new(memory.clone());
        Self { payload: room(), bounds: room(), ..Self::default() }
    }

    /// The same, of which one block may take so many bytes when it is decompressed.
    #[must_use]
    pub fn limited(mut self, bytes: Option<usize>) -> Self {
        self.decompressor.set_limit(bytes);
        self
    }

    /// Gives back what is larger than `bytes`: one large block must not be paid for as long as there are small ones.
    pub fn trim(&mut self, bytes: usize) {
        self.payload.trim(bytes);
        self.bounds.trim(bytes);
        if self.grown.capacity() > bytes {
            self.grown = Vec::new();
        }
    }

    /// What a format keeps warm besides, and the codecs.
    pub fn own<T: Any + Send + Default>(&mut self) -> (&mut T, &mut Decompressor) {
        if !self.own.as_ref().is_some_and(|own| own.is::<T>()) {
            self.own = Some(Box::new(T::default()));
        }
        let own = self.own.as_mut().and_then(|own| own.downcast_mut());
        #[expect(clippy::expect_used, reason = "it was just made of this type, unless it was one")]
        (own.expect("of this type"), &mut self.decompressor)
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
