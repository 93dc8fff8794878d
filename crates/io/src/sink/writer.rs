//! Anything that can be written to.

use super::Sink;
use crate::{Error, Result};
use std::io::{self, Write};

/// A sink of whatever takes bytes: a pipe, a device, an object of the host. What was written before an error
/// cannot be taken back.
#[derive(Debug)]
pub struct WriterSink<W> {
    uri: String,
    writer: W,
}

impl<W: Write + Send> WriterSink<W> {
    /// Writes to `writer`, which is called `uri` in errors.
    pub fn new(uri: impl Into<String>, writer: W) -> Self {
        Self { uri: uri.into(), writer }
    }
}

impl<W: Write + Send> Write for WriterSink<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

impl<W: Write + Send> Sink for WriterSink<W> {
    fn uri(&self) -> &str {
        &self.uri
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.writer.flush().map_err(|error| Error::new(error.into(), self.uri.clone()))
    }
}

/// A writer, and how many bytes it was given.
#[derive(Debug)]
pub struct Counted<W>(pub W, pub u64);

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.0.write(bytes)?;
        self.1 += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
