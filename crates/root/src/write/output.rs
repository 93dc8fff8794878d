//! Buffered output to the sink.

use std::io::IoSlice;

use forthwith_io::Sink;
use forthwith_plan::{Error, ErrorKind, Result};

/// A sink, with a buffer for writes that are too short for a call each.
pub(super) struct Output {
    sink: Box<dyn Sink>,
    /// Size of the file with all bytes appended so far.
    pub(super) position: u64,
    held: Vec<u8>,
    /// Whether an operation failed, so that the written bytes are not a valid file.
    broken: bool,
}

impl Output {
    /// Wraps a sink that already has `position` bytes of the file.
    pub(super) fn new(sink: Box<dyn Sink>, position: u64) -> Self {
        Self { sink, position, held: Vec::new(), broken: false }
    }

    pub(super) fn uri(&self) -> &str {
        self.sink.uri()
    }

    pub(super) fn append(&mut self, bytes: &[u8]) -> Result<()> {
        if self.held.len() + bytes.len() > HELD {
            self.flush()?;
        }
        if bytes.len() >= HELD {
            self.attempt(|sink| sink.write_all(bytes))?;
        } else {
            self.held.extend(bytes);
        }
        self.position += bytes.len() as u64;
        Ok(())
    }

    /// Appends a copy of bytes that may change meanwhile. `seen` is called with exactly the appended bytes,
    /// in pieces that fit the L1 cache.
    pub(super) fn append_copy(&mut self, mut bytes: &[u8], mut seen: impl FnMut(&[u8])) -> Result<()> {
        while !bytes.is_empty() {
            // A call ends at a page boundary: a page that two calls share would be written twice.
            let first = self.position - self.held.len() as u64;
            let full = COPIED - (first % PAGE) as usize;
            if self.held.len() >= full {
                self.flush()?;
                continue;
            }
            let more = full - self.held.len();
            if self.held.try_reserve(more).is_err() {
                let kind = ErrorKind::OutOfMemory { what: "the output", bytes: more as u64 };
                return Err(Error::new(kind).in_file(self.uri()));
            }
            let begin = self.held.len();
            let (piece, rest) = bytes.split_at(bytes.len().min(full - begin).min(NEAR));
            self.held.extend_from_slice(piece);
            seen(&self.held[begin..]);
            self.position += piece.len() as u64;
            bytes = rest;
        }
        Ok(())
    }

    /// Appends pieces one after another. They are buffered if they are few bytes or short, else written
    /// without a copy.
    pub(super) fn append_pieces(&mut self, pieces: &[IoSlice<'_>]) -> Result<()> {
        let length: usize = pieces.iter().map(|piece| piece.len()).sum();
        if length < HELD.max(WORTH_A_PIECE * pieces.len()) {
            return pieces.iter().try_for_each(|piece| self.append(piece));
        }
        let mut held = std::mem::take(&mut self.held);
        let mut all: Vec<IoSlice<'_>> = Vec::with_capacity(pieces.len() + 1);
        all.push(IoSlice::new(&held));
        all.extend(pieces);
        self.attempt(|sink| sink.write_pieces(&mut all))?;
        held.clear();
        self.held = held;
        self.position += length as u64;
        Ok(())
    }

    /// Overwrites bytes that were appended.
    pub(super) fn patch(&mut self, at: u64, bytes: &[u8]) -> Result<()> {
        self.flush()?;
        self.attempt(|sink| sink.patch(at, bytes))
    }

    pub(super) fn flush(&mut self) -> Result<()> {
        let mut held = std::mem::take(&mut self.held);
        if held.is_empty() {
            return Ok(());
        }
        self.attempt(|sink| sink.write_all(&held))?;
        held.clear();
        self.held = held;
        Ok(())
    }

    pub(super) fn sync(&mut self) -> Result<()> {
        self.attempt(Sink::sync)
    }

    fn attempt(&mut self, work: impl FnOnce(&mut (dyn Sink + 'static)) -> std::io::Result<()>) -> Result<()> {
        self.attempted()?;
        work(&mut *self.sink).map_err(|error| {
            self.broken = true;
            Error::new(forthwith_io::Error::new(error.into(), self.sink.uri()))
        })
    }

    /// Whether the thread that began to write has to continue: see [`Sink::needs_caller`].
    pub(super) fn needs_caller(&self) -> bool {
        self.sink.needs_caller()
    }

    /// Checks for reasons to stop, as [`Sink::listen`] does.
    pub(super) fn listen(&mut self) -> Result<()> {
        self.attempt(|sink| sink.listen())
    }

    /// Drops the sink without finishing it, if nothing was written; returns the size of the file.
    pub(super) fn leave(self) -> Result<u64> {
        self.attempted()?;
        Ok(self.position)
    }

    fn attempted(&self) -> Result<()> {
        if self.broken {
            let what = "an earlier error left the file incomplete, so nothing more is written to it";
            return Err(Error::invalid(what).in_file(self.sink.uri()));
        }
        Ok(())
    }

    pub(super) fn into_sink(mut self) -> Result<(u64, Box<dyn Sink>)> {
        self.flush()?;
        Ok((self.position, self.sink))
    }
}

/// Capacity of the buffer: writes of this size or more are not buffered.
const HELD: usize = 64 << 10;
/// Number of copied bytes for each write: they fit the L2 cache.
const COPIED: usize = 256 << 10;
/// Size of a memory page.
const PAGE: u64 = 4 << 10;
/// Number of bytes that fit the L1 cache while they are copied and passed to `seen`.
const NEAR: usize = 16 << 10;
/// Average length of pieces from which on a call with many pieces is faster than a copy.
const WORTH_A_PIECE: usize = 1024;

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a test fails by panicking

    use super::*;
    use forthwith_io::MemorySink;

    #[test]
    fn copies_and_pieces_follow_each_other() {
        let bytes: Vec<u8> = (0..900_000u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 15) as u8).collect();
        for first in [0, 5, 4096, 70_000] {
            let memory = MemorySink::new("copies.root");
            let mut out = Output::new(Box::new(memory.clone()), 0);
            let mut expected = Vec::new();
            out.append(&bytes[..first]).unwrap();
            expected.extend(&bytes[..first]);
            for length in [0, 1, NEAR, NEAR + 1, HELD, COPIED - 1, COPIED, COPIED + PAGE as usize, 900_000] {
                let mut seen = Vec::new();
                out.append_copy(&bytes[..length], |piece| seen.extend_from_slice(piece)).unwrap();
                assert!(seen == bytes[..length]);
                out.append(&bytes[..9]).unwrap();
                out.append_pieces(&[&bytes[..length], &bytes[..8]].map(IoSlice::new)).unwrap();
                expected.extend([&bytes[..length], &bytes[..9], &bytes[..length], &bytes[..8]].concat());
                assert_eq!(out.position, expected.len() as u64);
            }
            let (end, sink) = out.into_sink().unwrap();
            sink.finish().unwrap();
            assert_eq!(end, expected.len() as u64);
            assert!(*memory.bytes().unwrap() == expected);
        }
    }
}
