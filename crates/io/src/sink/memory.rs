//! A sink in memory.

use super::Sink;
use crate::Result;
use bytes::Bytes;
use std::{
    io::{self, IoSlice, Write},
    sync::{Arc, Mutex, PoisonError},
};

/// Collects the bytes of a file in memory. Clones share them: one is passed to the writer, and another
/// returns the [`bytes`](Self::bytes) afterwards.
///
/// ```
/// use forthwith_io::{MemorySink, Sink};
/// use std::io::Write;
///
/// let sink = MemorySink::new("example");
/// let mut writer = Box::new(sink.clone());
/// writer.write_all(b"all")?;
/// assert_eq!(sink.bytes(), None);
/// writer.finish()?;
/// assert_eq!(sink.bytes().as_deref(), Some(&b"all"[..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct MemorySink {
    uri: String,
    held: Arc<Mutex<Held>>,
}

#[derive(Debug, Default)]
struct Held {
    growing: Vec<u8>,
    complete: Option<Bytes>,
}

impl MemorySink {
    /// Creates an empty file named `uri`.
    #[must_use]
    pub fn new(uri: impl Into<String>) -> Self {
        Self { uri: uri.into(), held: Arc::default() }
    }

    /// Returns the bytes of the file; `None` before the sink was [finished](Sink::finish).
    #[must_use]
    pub fn bytes(&self) -> Option<Bytes> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).complete.clone()
    }
}

impl Write for MemorySink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.growing.try_reserve(bytes.len()).map_err(|_| io::ErrorKind::OutOfMemory)?;
        held.growing.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Sink for MemorySink {
    fn uri(&self) -> &str {
        &self.uri
    }

    fn write_pieces(&mut self, pieces: &mut [IoSlice<'_>]) -> io::Result<()> {
        pieces.iter().try_for_each(|piece| self.write_all(piece))
    }

    fn patch(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let at = usize::try_from(at).ok();
        let there = at.and_then(|at| held.growing.get_mut(at..at.checked_add(bytes.len())?));
        there.ok_or(io::ErrorKind::InvalidInput)?.copy_from_slice(bytes);
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<()> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.complete = Some(std::mem::take(&mut held.growing).into());
        Ok(())
    }
}
