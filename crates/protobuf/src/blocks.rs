//! Lists of blocks: of a file, complete once it is open, and of a stream, extended as entries are requested.

use crate::framing::{Bytes, Framing, Walk, too_long, truncated};
use forthwith_io::Source;
use forthwith_plan::{BlockList, Error, ErrorKind, FoundBlock, Result, Stored};
use forthwith_platform::ProcessLock;
use std::{fmt, ops::Range, sync::Arc};

/// Minimum size of a block in bytes, and maximum number of its messages, which may be empty.
const BLOCK: u64 = 1 << 20;
const MOST_IN_BLOCK: u64 = 1 << 18;
/// Number of bytes that are read at once to find messages.
const PIECE: u64 = 1 << 20;

/// State of the [`Walk`] at the beginning of a block.
pub(crate) type State = Vec<i64>;

/// Blocks of a file or of a stream.
#[derive(Debug)]
pub(crate) enum Blocks {
    File(BlockList<State>),
    Stream(Box<ProcessLock<Option<StreamFinder>>>),
}

impl Blocks {
    /// Finds the messages of a file. A stream is not read yet, unless its end is needed to find its message.
    pub(crate) fn of(source: &Arc<dyn Source>, framing: Framing, path: Vec<u32>) -> Result<Self> {
        let walk = Walk::new(framing, path.clone(), u64::MAX);
        if source.is_stream() && !walk.needs_end() {
            let finder = Finder::new(walk);
            let stream = StreamFinder { source: Arc::clone(source), piece: Piece::default(), finder };
            return Ok(Self::Stream(Box::new(ProcessLock::new(Some(stream)))));
        }
        let size = source.size()?;
        find(source.as_ref(), size, &Walk::new(framing, path, size)).map(Self::File)
    }

    pub(crate) const fn is_stream(&self) -> bool {
        matches!(self, Self::Stream(_))
    }

    /// Calls `act` with the block list, which covers at least the first `entries` messages, or all if there
    /// are fewer.
    ///
    /// # Errors
    /// Returns an error if the stream cannot be read, or if this process is a fork of the process that opened
    /// it.
    pub(crate) fn up_to<T>(&self, entries: u64, act: impl FnOnce(&BlockList<State>) -> T) -> Result<T> {
        match self {
            Self::File(list) => Ok(act(list)),
            Self::Stream(stream) => stream.lock().as_mut().ok_or_else(forked).and_then(|stream| {
                let StreamFinder { source, piece, finder } = stream;
                let mut bytes = Pieces { source: source.as_ref(), size: None, views: false, piece };
                finder.reach(&mut bytes, entries)?;
                Ok(act(&finder.list))
            }),
        }
    }

    /// Drops the blocks of a stream that end before entry `before`, as far as the source releases their
    /// bytes. Does nothing for a file.
    pub(crate) fn release(&self, before: u64) -> Result<()> {
        let Self::Stream(stream) = self else { return Ok(()) };
        stream.lock().as_mut().ok_or_else(forked).and_then(|stream| {
            let finder = &mut stream.finder;
            let byte = finder.list.byte_of(before).unwrap_or(finder.start);
            let kept = stream.source.release(byte)?;
            finder.list.release(kept);
            Ok(())
        })
    }
}

fn forked() -> Error {
    Error::invalid("the stream is read by the process that opened it, of which this one is a fork")
}

/// Finds the blocks of a file.
fn find(source: &dyn Source, size: u64, walk: &Walk) -> Result<BlockList<State>> {
    let find = |views| {
        let piece = &mut Piece::default();
        let mut finder = Finder::new(walk.clone());
        finder.reach(&mut Pieces { source, size: Some(size), views, piece }, u64::MAX)?;
        Ok(finder.list)
    };
    if source.zero_copy() {
        let before = source.version()?;
        let found = find(true);
        if source.version()? == before && before.is_none_or(|version| version.is_settled()) {
            return found;
        }
    }
    find(false)
}

/// Stream, and the search for its messages.
pub(crate) struct StreamFinder {
    source: Arc<dyn Source>,
    piece: Piece,
    finder: Finder,
}

impl fmt::Debug for StreamFinder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamFinder").field("list", &self.finder.list).finish_non_exhaustive()
    }
}

/// Bytes of a source, and the offset at which they begin.
#[derive(Default)]
struct Piece {
    from: u64,
    bytes: bytes::Bytes,
}

/// Source that is read in pieces.
struct Pieces<'s> {
    source: &'s dyn Source,
    /// Size in bytes; `None` for a stream.
    size: Option<u64>,
    /// Whether pieces are views of the source instead of copies.
    views: bool,
    piece: &'s mut Piece,
}

impl Pieces<'_> {
    /// Returns the size if it is at most `beyond`; otherwise a number greater than `beyond`.
    fn size(&self, beyond: u64) -> Result<u64> {
        self.size.map_or_else(|| Ok(self.source.grown(beyond)?), Ok)
    }

    fn within(&self, at: u64) -> Option<usize> {
        let within = at.checked_sub(self.piece.from).and_then(|at| usize::try_from(at).ok());
        within.filter(|at| *at < self.piece.bytes.len())
    }
}

impl Bytes for Pieces<'_> {
    fn from(&mut self, at: u64) -> Result<&[u8]> {
        let within = match self.within(at) {
            Some(within) => within,
            None => {
                let size = self.size(at)?;
                if size <= at {
                    return Err(truncated(size));
                }
                let range = at..at.saturating_add(PIECE).min(size);
                self.piece.bytes = match self.views {
                    true => self.source.view(range)?,
                    false => self.source.read_one(range)?,
                };
                self.piece.from = at;
                0
            }
        };
        self.piece.bytes.get(within..).filter(|bytes| !bytes.is_empty()).ok_or_else(|| truncated(at))
    }

    fn has_ended(&mut self, at: u64) -> Result<bool> {
        if self.within(at).is_some() {
            return Ok(false);
        }
        match self.size(at)? {
            size if size < at => Err(truncated(size)),
            size => Ok(size == at),
        }
    }
}

/// Groups messages into blocks.
struct Finder {
    walk: Walk,
    list: BlockList<State>,
    /// Offset of the beginning of the current block, and the state of the walk there.
    start: u64,
    state: State,
    /// Offset of the end of the last message. Bytes that are not part of any message may follow.
    end: u64,
    /// Number of the first message of the current block, and number of the next message.
    first: u64,
    next: u64,
    has_ended: bool,
}

impl Finder {
    fn new(walk: Walk) -> Self {
        let state = walk.state();
        let list = BlockList::default();
        Self { walk, list, start: 0, state, end: 0, first: 0, next: 0, has_ended: false }
    }

    /// Extends the block list until it has `entries` messages or the source ends. A truncated message counts
    /// as an entry, which cannot be read.
    fn reach(&mut self, bytes: &mut Pieces<'_>, entries: u64) -> Result<()> {
        while self.list.entries() < entries && !self.has_ended {
            if self.next >= entries {
                self.close();
                break;
            }
            let before = bytes.size.is_none().then(|| self.walk.position());
            let found = match self.walk.next(bytes, u64::MAX).and_then(|found| self.complete(bytes, found)) {
                Err(error) if matches!(error.kind, ErrorKind::Source(_)) => {
                    // The walk is restored because a cancelled request can be repeated.
                    if let Some(before) = before {
                        self.walk.go_back(before);
                    }
                    return Err(error);
                }
                found => found,
            };
            match found {
                Ok(Some(message)) => {
                    // The last entry of a block extends to its end: a block must not contain the gap.
                    if message.start > self.end && self.next > self.first && self.walk.has_gaps() {
                        self.close();
                        self.start = message.start;
                    }
                    (self.end, self.next) = (message.end, self.next + 1);
                    if self.end - self.start >= BLOCK || self.next - self.first >= MOST_IN_BLOCK {
                        self.close();
                    }
                }
                Ok(None) => {
                    self.close();
                    self.has_ended = true;
                }
                Err(error) => {
                    self.close();
                    let stored = Stored::Missing { reason: error.kind.to_string(), at: error.place.byte };
                    let entries = self.next..self.next + 1;
                    self.list.push(FoundBlock { entries, stored, start: Vec::new() });
                    self.has_ended = true;
                }
            }
        }
        Ok(())
    }

    /// Waits for all bytes of a message of a stream.
    fn complete(&self, bytes: &Pieces<'_>, found: Option<Range<u64>>) -> Result<Option<Range<u64>>> {
        if let Some(message) = &found
            && bytes.size.is_none()
            && bytes.within(message.end.saturating_sub(1)).is_none()
        {
            let size = bytes.size(message.end.saturating_sub(1))?;
            if size < message.end {
                let body = self.walk.body();
                return Err(too_long(message.end - body, size.saturating_sub(body), message.start));
            }
        }
        Ok(found)
    }

    /// Ends the current block.
    fn close(&mut self) {
        if self.next > self.first {
            let (entries, stored) = (self.first..self.next, Stored::Range(self.start..self.end));
            let start = std::mem::replace(&mut self.state, self.walk.state());
            self.list.push(FoundBlock { entries, stored, start });
            (self.start, self.first) = (self.end, self.next);
        }
    }
}
