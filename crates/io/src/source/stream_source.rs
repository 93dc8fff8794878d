//! A source of a stream that is read on demand.

use std::collections::VecDeque;
use std::fmt;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::sync::OnceLock;

use bytes::Bytes;
use forthwith_platform::ProcessLock;

use super::file::LocalFile;
use super::stream::{PIECE, no_temporary_file, unlisted};
use super::{Source, zeroed};
use crate::error::{Error, ErrorKind, Result};

/// A source of a pipe, a socket or a decompressor. Bytes are read on first access and kept in memory or,
/// beyond a limit, in a temporary file without a name. A sequential reader calls [`release`](Source::release)
/// for bytes that it will not read again. From then on, nothing is written to the file, and memory holds the
/// bytes that are still needed, or as many as the limit allows.
///
/// [`size`](Source::size) reads the stream to its end, so a stream can be the source of any format.
pub struct StreamSource {
    uri: String,
    /// State of the process that opened the stream; `None` in a forked process.
    state: ProcessLock<Option<State>>,
    /// All bytes, set when the end was reached and no bytes were dropped.
    whole: OnceLock<StoredBytes>,
}

struct State {
    /// The stream; `None` after its end or an error.
    reader: Option<Box<dyn Read + Send>>,
    going_on: Box<dyn FnMut() -> bool + Send>,
    failed: Option<Error>,
    in_memory: u64,
    /// Whether [`release`](Source::release) was called: the reader is sequential.
    is_forward: bool,
    bytes: StoredBytes,
}

/// The bytes of a stream from some offset on: first those in the file, then those in memory.
#[derive(Default)]
struct StoredBytes {
    file: Option<(LocalFile, Range<u64>)>,
    /// Pieces of [`PIECE`] bytes, of which only the last one may be partly filled.
    pieces: VecDeque<Vec<u8>>,
    /// Byte offset of the first piece in the stream.
    first: u64,
    end: u64,
}

impl StreamSource {
    /// Creates a source of a stream that keeps `in_memory` bytes in memory. `going_on` is called before each
    /// read of the stream, and after an interrupted one; if it returns `false`, the request is cancelled.
    pub fn new(
        name: impl Into<String>,
        stream: impl Read + Send + 'static,
        in_memory: usize,
        going_on: impl FnMut() -> bool + Send + 'static,
    ) -> Self {
        let state = State {
            reader: Some(Box::new(stream)),
            going_on: Box::new(going_on),
            failed: None,
            in_memory: in_memory as u64,
            is_forward: false,
            bytes: StoredBytes::default(),
        };
        Self { uri: name.into(), state: ProcessLock::new(Some(state)), whole: OnceLock::new() }
    }

    fn error(&self, kind: ErrorKind, at: u64) -> Error {
        Error::new(kind, &*self.uri).at(at)
    }

    /// Calls `act` with the locked state. Returns `None` without a call if all bytes are in `whole`.
    fn growing<T>(&self, act: impl FnOnce(&mut State) -> Result<T>) -> Result<Option<T>> {
        if self.whole.get().is_some() {
            return Ok(None);
        }
        let mut state = self.state.lock();
        if self.whole.get().is_some() {
            return Ok(None);
        }
        match &mut *state {
            Some(state) => {
                let done = act(state)?;
                if state.reader.is_none() && state.failed.is_none() && state.bytes.start() == 0 {
                    // `set` cannot fail: the lock is held, and `whole` was empty.
                    let _ = self.whole.set(std::mem::take(&mut state.bytes));
                }
                Ok(Some(done))
            }
            None => {
                let what =
                    "the stream is read by the process that opened it, of which this one is a fork".into();
                Err(Error::new(ErrorKind::Stream { what }, &*self.uri))
            }
        }
    }

    fn whole_size(&self) -> u64 {
        self.whole.get().map_or(0, |whole| whole.end)
    }

    fn copy(&self, at: u64, into: &mut [u8]) -> Result<()> {
        let wanted = at..at.saturating_add(into.len() as u64);
        let copied = self.growing(|state| {
            self.fill_beyond(state, wanted.end.saturating_sub(1))?;
            self.copy_of(&state.bytes, &wanted, into)
        })?;
        match (copied, self.whole.get()) {
            (None, Some(whole)) => self.copy_of(whole, &wanted, into),
            _ => Ok(()),
        }
    }

    fn copy_of(&self, bytes: &StoredBytes, wanted: &Range<u64>, into: &mut [u8]) -> Result<()> {
        if wanted.end > bytes.end {
            let kind = ErrorKind::BeyondEnd { wanted: wanted.clone(), size: bytes.end };
            return Err(self.error(kind, wanted.start));
        }
        if wanted.start < bytes.start() && !wanted.is_empty() {
            let what = format!(
                "bytes {}..{} of the stream were dropped after they were read: a stream is read once, forwards",
                wanted.start, wanted.end
            );
            return Err(self.error(ErrorKind::Stream { what }, wanted.start));
        }
        bytes.copy(wanted.start, into)
    }

    /// Reads until more than `beyond` bytes are stored, or to the end.
    fn fill_beyond(&self, state: &mut State, beyond: u64) -> Result<()> {
        while state.bytes.end <= beyond && self.fill(state)? {}
        Ok(())
    }

    /// Reads from the stream once. Returns `false` at its end.
    fn fill(&self, state: &mut State) -> Result<bool> {
        if let Some(error) = &state.failed {
            return Err(error.clone());
        }
        let Some(reader) = &mut state.reader else { return Ok(false) };
        let bytes = &mut state.bytes;
        if bytes.is_full() {
            if !state.is_forward && (bytes.file.is_some() || bytes.end - bytes.first >= state.in_memory) {
                bytes.spool(&self.uri)?;
            }
            let refused = || ErrorKind::OutOfMemory { bytes: PIECE as u64 };
            let mut piece = Vec::new();
            piece.try_reserve_exact(PIECE).map_err(|_| self.error(refused(), bytes.end))?;
            piece.resize(PIECE, 0);
            bytes.pieces.push_back(piece);
        }
        let used = (bytes.end - bytes.first) as usize % PIECE;
        let Some(piece) = bytes.pieces.back_mut() else { return Ok(false) };
        loop {
            if !(state.going_on)() {
                return Err(self.error(ErrorKind::Cancelled, bytes.end));
            }
            match reader.read(&mut piece[used..]) {
                Ok(0) => {
                    state.reader = None;
                    return Ok(false);
                }
                Ok(read) => {
                    bytes.end += read.min(PIECE - used) as u64;
                    return Ok(true);
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => {
                    let error = match error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
                        Some(inner) => inner.clone(),
                        None => self.error(error.into(), bytes.end),
                    };
                    if error.kind != ErrorKind::Cancelled {
                        (state.reader, state.failed) = (None, Some(error.clone()));
                    }
                    return Err(error);
                }
            }
        }
    }
}

impl StoredBytes {
    fn start(&self) -> u64 {
        self.file.as_ref().map_or(self.first, |(_, range)| range.start)
    }

    fn is_full(&self) -> bool {
        self.end - self.first == (self.pieces.len() * PIECE) as u64
    }

    /// Copies stored bytes from offset `at` on to `into`. Panics if they are out of range.
    fn copy(&self, at: u64, into: &mut [u8]) -> Result<()> {
        let mut done = 0;
        if let Some((file, range)) = &self.file
            && at < range.end
        {
            done = into.len().min((range.end - at) as usize);
            file.read_exact_at(at - range.start, &mut into[..done])?;
        }
        while done < into.len() {
            let from = (at + done as u64 - self.first) as usize;
            let piece = &self.pieces[from / PIECE][from % PIECE..];
            let length = piece.len().min(into.len() - done);
            into[done..done + length].copy_from_slice(&piece[..length]);
            done += length;
        }
        Ok(())
    }

    /// Moves all pieces, which have to be full, to the temporary file.
    fn spool(&mut self, name: &str) -> Result<()> {
        let failed = |error| no_temporary_file(error, name);
        if self.file.is_none() {
            let file = LocalFile { file: unlisted().map_err(failed)?, uri: name.to_owned(), opened: 0 };
            self.file = Some((file, self.first..self.first));
        }
        let Some((local, range)) = &mut self.file else { return Ok(()) };
        let mut file: &File = &local.file;
        // A write that failed halfway is repeated from the same position.
        file.seek(SeekFrom::Start(range.end - range.start)).map_err(failed)?;
        while let Some(piece) = self.pieces.front() {
            file.write_all(piece).map_err(failed)?;
            self.pieces.pop_front();
            self.first += PIECE as u64;
            range.end = self.first;
            local.opened = range.end - range.start;
        }
        Ok(())
    }

    /// Drops pieces before offset `before` while more than `limit` bytes are in memory.
    fn release(&mut self, before: u64, limit: u64) {
        if self.file.as_ref().is_some_and(|(_, range)| range.end <= before) {
            self.file = None;
        }
        let before = before.min(self.end);
        while self.file.is_none()
            && self.end - self.first > limit
            && self.first + PIECE as u64 <= before
            && self.pieces.pop_front().is_some()
        {
            self.first += PIECE as u64;
        }
    }
}

impl Source for StreamSource {
    fn uri(&self) -> &str {
        &self.uri
    }

    fn size(&self) -> Result<u64> {
        self.grown(u64::MAX)
    }

    fn is_stream(&self) -> bool {
        true
    }

    fn grown(&self, beyond: u64) -> Result<u64> {
        let grown = self.growing(|state| {
            self.fill_beyond(state, beyond)?;
            Ok(state.bytes.end)
        })?;
        Ok(grown.unwrap_or_else(|| self.whole_size()))
    }

    fn size_so_far(&self) -> Result<u64> {
        let size = self.growing(|state| Ok(state.bytes.end))?;
        Ok(size.unwrap_or_else(|| self.whole_size()))
    }

    fn release(&self, before: u64) -> Result<u64> {
        let start = self.growing(|state| {
            state.is_forward = true;
            state.bytes.release(before, state.in_memory);
            Ok(state.bytes.start())
        })?;
        Ok(start.unwrap_or(0))
    }

    fn read(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let copy = |range: &Range<u64>| {
            if range.start > range.end {
                return Err(self.error(ErrorKind::Inverted { wanted: range.clone() }, range.start));
            }
            // The range is checked before memory is allocated.
            let size = self.grown(range.end.saturating_sub(1))?;
            super::check(range, size).map_err(|kind| self.error(kind, range.start))?;
            let mut copy = zeroed(range.end - range.start).map_err(|kind| self.error(kind, range.start))?;
            self.copy(range.start, &mut copy)?;
            Ok(copy.into())
        };
        ranges.iter().map(copy).collect()
    }

    fn read_into(&self, at: u64, into: &mut [u8]) -> Result<()> {
        self.copy(at, into)
    }

    fn zero_copy(&self) -> bool {
        false
    }

    fn concurrent(&self) -> bool {
        true
    }
}

impl fmt::Debug for StreamSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamSource").field("uri", &self.uri).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// Answers a few bytes at a time, as pipes do, of a stream whose bytes are counted.
    struct Dripping {
        at: u64,
        end: u64,
        read: Arc<AtomicU64>,
    }

    fn byte(at: u64) -> u8 {
        (at.wrapping_mul(at) >> 7) as u8
    }

    impl Read for Dripping {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            let most = (into.len().min(77_777) as u64).min(self.end - self.at);
            for slot in &mut into[..most as usize] {
                *slot = byte(self.at);
                self.at += 1;
            }
            self.read.store(self.at, Ordering::Relaxed);
            Ok(most as usize)
        }
    }

    fn stream(end: u64, in_memory: usize) -> (StreamSource, Arc<AtomicU64>) {
        let read = Arc::new(AtomicU64::new(0));
        let dripping = Dripping { at: 0, end, read: Arc::clone(&read) };
        (StreamSource::new("pipe", dripping, in_memory, || true), read)
    }

    fn is_right(source: &StreamSource, range: Range<u64>) {
        let bytes = source.read_one(range.clone()).expect("kept");
        assert!(bytes.iter().zip(range).all(|(found, at)| *found == byte(at)));
    }

    #[test]
    fn a_stream_is_read_as_far_as_it_is_asked_for() {
        let piece = PIECE as u64;
        for (end, in_memory) in
            [(0, 0), (1, 0), (5 * piece, 0), (5 * piece + 3, PIECE), (3 * piece, usize::MAX)]
        {
            let (source, read) = stream(end, in_memory);
            assert_eq!(source.size_so_far(), Ok(0));
            if end > piece {
                is_right(&source, 10..90);
                assert!(read.load(Ordering::Relaxed) <= 77_777);
                is_right(&source, piece - 5..2 * piece + 7);
            }
            assert_eq!(source.size(), Ok(end));
            is_right(&source, 0..end);
            is_right(&source, end / 3..end / 2);
            let error = source.read_one(end..end + 1).expect_err("behind the end");
            assert_eq!((error.uri.as_str(), error.at), ("pipe", Some(end)));
            // A complete stream stays.
            assert_eq!(source.release(end), Ok(0));
            is_right(&source, 0..end);
        }
    }

    #[test]
    fn released_bytes_are_dropped_beyond_the_limit() {
        let piece = PIECE as u64;
        let (source, _) = stream(u64::MAX, 4 * PIECE);
        assert_eq!(source.release(0), Ok(0));
        for at in (0..200 * piece).step_by(PIECE / 2) {
            is_right(&source, at..at + piece);
            let start = source.release(at).expect("this process");
            assert!(start <= at && at - start <= 5 * piece);
            source
                .growing(|state| {
                    assert!(state.bytes.pieces.len() <= 6 && state.bytes.file.is_none());
                    Ok(())
                })
                .expect("this process");
        }
        let error = source.read_one(0..9).expect_err("dropped").to_string();
        assert!(error.contains("a stream is read once, forwards"), "{error}");
        assert!(source.beside("other").is_err());
    }

    #[test]
    fn a_file_of_bytes_is_left_behind() {
        let piece = PIECE as u64;
        let (source, _) = stream(u64::MAX, PIECE);
        is_right(&source, 7 * piece..9 * piece);
        is_right(&source, 0..9 * piece);
        assert_eq!(source.release(piece), Ok(0));
        is_right(&source, piece..30 * piece);
        let start = source.release(20 * piece).expect("this process");
        assert!(start > 10 * piece && start <= 20 * piece);
        is_right(&source, 20 * piece..40 * piece);
    }

    #[test]
    fn errors_of_the_stream_stay_and_a_cancelled_request_does_not() {
        struct Failing(u8);
        impl Read for Failing {
            fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
                self.0 += 1;
                match self.0 {
                    1 => Err(std::io::ErrorKind::Interrupted.into()),
                    2 => {
                        into[0] = 7;
                        Ok(1)
                    }
                    _ => Err(std::io::Error::other("the line is cut")),
                }
            }
        }
        let mut asked = 0;
        let source = StreamSource::new("pipe", Failing(0), 10, move || {
            asked += 1;
            asked != 2
        });
        assert_eq!(source.read_one(0..1).expect_err("given up").kind, ErrorKind::Cancelled);
        assert_eq!(source.read_one(0..1).expect("a byte"), [7][..]);
        for _ in 0..2 {
            let error = source.read_one(0..2).expect_err("cut").to_string();
            assert!(error.contains("the line is cut") && error.contains("pipe"), "{error}");
        }
        assert_eq!(source.read_one(0..1).expect("a byte"), [7][..]);
    }
}
