//! The blocks of a file, found when it is opened, and those of a stream, found as far as entries are asked for.

use crate::{decode::Framing, place, scan::Scan};
use forthwith_io::Source;
use forthwith_plan::{BlockList, Error, ErrorKind, OneThread, Place, Result};
use forthwith_platform::ProcessLock;
use std::{
    fmt,
    sync::{Arc, LazyLock},
};

/// The blocks of a file or of a stream.
#[derive(Debug)]
pub(crate) enum Blocks {
    File(BlockList<place::Place>, Framing),
    Stream(Box<ProcessLock<Option<StreamScan>>>),
}

impl Blocks {
    /// The blocks of a stream, before its first byte is read.
    pub(crate) fn of_stream(source: Arc<dyn Source>, lines: bool) -> Self {
        static RUNNER: LazyLock<OneThread> = LazyLock::new(OneThread::default);
        let scan = Box::new(Scan::of_stream(&*RUNNER));
        let stream = StreamScan { source, lines, scan, failed: None };
        Self::Stream(Box::new(ProcessLock::new(Some(stream))))
    }

    pub(crate) const fn is_stream(&self) -> bool {
        matches!(self, Self::Stream(_))
    }

    /// Acts on the blocks, each with the place at which it begins, when those of the first `entries` entries were found, or all.
    ///
    /// # Errors
    /// The stream cannot be read, or is not JSON before these entries.
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

    /// Drops blocks of entries that will not be read again, if the stream drops their bytes.
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

/// The pass over a stream.
pub(crate) struct StreamScan {
    source: Arc<dyn Source>,
    /// Whether values are on lines, so that a list is one of them.
    lines: bool,
    scan: Box<Scan<'static>>,
    /// The fault that ended the pass.
    failed: Option<(String, Box<Place>)>,
}

impl StreamScan {
    /// Finds blocks until they have a number of entries, or to the end.
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
                // A request that was given up can be repeated.
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
