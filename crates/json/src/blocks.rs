//! Lists of blocks: of a file, complete once it is open, and of a stream, extended as entries are requested.

use crate::{decode::Framing, place, scan::Scan};
use forthwith_io::Source;
use forthwith_plan::{BlockList, Error, ErrorKind, OneThread, Place, Result};
use forthwith_platform::ProcessLock;
use std::{
    fmt,
    sync::{Arc, LazyLock},
};

/// Blocks of a file or of a stream.
#[derive(Debug)]
pub(crate) enum Blocks {
    File(BlockList<place::Place>, Framing),
    Stream(Box<ProcessLock<Option<StreamScan>>>),
}

impl Blocks {
    /// Creates the block list of a stream without reading from it. `lines` is
    /// [`JsonOptions::lines`](crate::JsonOptions).
    pub(crate) fn of_stream(source: Arc<dyn Source>, lines: bool) -> Self {
        static RUNNER: LazyLock<OneThread> = LazyLock::new(OneThread::default);
        let scan = Box::new(Scan::of_stream(&*RUNNER));
        let stream = StreamScan { source, lines, scan, failed: None };
        Self::Stream(Box::new(ProcessLock::new(Some(stream))))
    }

    pub(crate) const fn is_stream(&self) -> bool {
        matches!(self, Self::Stream(_))
    }

    /// Calls `act` with the block list and the framing. The list covers at least the first `entries` entries,
    /// or all entries if there are fewer.
    ///
    /// # Errors
    /// Returns an error if the stream cannot be read, if it is not JSON before these entries, or if this
    /// process is a fork of the process that opened the stream.
    pub(crate) fn up_to<T>(
        &self,
        entries: u64,
        act: impl FnOnce(&BlockList<place::Place>, Framing) -> T,
    ) -> Result<T> {
        match self {
            Self::File(list, framing) => Ok(act(list, *framing)),
            Self::Stream(_) => self.stream(|stream| {
                stream.reach(entries)?;
                Ok(act(&stream.scan.list, stream.scan.framing))
            }),
        }
    }

    /// Drops the blocks of a stream that end before entry `before`, as far as the source releases their
    /// bytes. Does nothing for a file.
    pub(crate) fn release(&self, before: u64) -> Result<()> {
        if !self.is_stream() {
            return Ok(());
        }
        self.stream(|stream| {
            let list = &mut stream.scan.list;
            let byte = list.byte_of(before).unwrap_or(stream.scan.place.byte);
            let kept = stream.source.release(byte)?;
            list.release(kept);
            Ok(())
        })
    }

    fn stream<T>(&self, act: impl FnOnce(&mut StreamScan) -> Result<T>) -> Result<T> {
        let Self::Stream(stream) = self else { return Err(Error::invalid("not a stream")) };
        match &mut *stream.lock() {
            Some(stream) => act(stream),
            None => {
                let what = "the stream is read by the process that opened it, of which this one is a fork";
                Err(Error::invalid(what))
            }
        }
    }
}

/// State of the pass over a stream.
pub(crate) struct StreamScan {
    source: Arc<dyn Source>,
    /// Whether each line is a value. A list at the beginning is then an entry.
    lines: bool,
    scan: Box<Scan<'static>>,
    /// Error that ended the pass: its text and its place.
    failed: Option<(String, Box<Place>)>,
}

impl StreamScan {
    /// Extends the block list until it has `entries` entries or the stream ends.
    fn reach(&mut self, entries: u64) -> Result<()> {
        while self.scan.list.entries() < entries {
            if let Some((what, place)) = &self.failed {
                return Err(Error { place: place.clone(), ..Error::fault(what.clone()) });
            }
            if self.scan.is_end {
                return Ok(());
            }
            let advanced = self.scan.advance(&*self.source, self.lines);
            let checked =
                advanced.and_then(|()| if self.scan.is_end { self.scan.check_damage() } else { Ok(()) });
            if let Err(error) = checked {
                // Only faults are kept: a cancelled request can be repeated.
                if let ErrorKind::Fault { what } = &error.kind {
                    self.failed = Some((what.clone(), error.place.clone()));
                }
                return Err(error);
            }
            if self.scan.list.entries() + self.scan.count >= entries {
                self.scan.close();
            }
        }
        Ok(())
    }
}

impl fmt::Debug for StreamScan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamScan").field("list", &self.scan.list).finish_non_exhaustive()
    }
}
