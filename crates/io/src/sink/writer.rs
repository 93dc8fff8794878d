//! A sink of any [`Write`].

use super::Sink;
use crate::{Error, Result};
use std::io::{self, Write};

/// Writes to a pipe, a device or an object of the host language. Bytes that were written before an error
/// remain.
#[derive(Debug)]
pub struct WriterSink<W> {
    uri: String,
    writer: W,
}

impl<W: Write + Send> WriterSink<W> {
    /// Creates a sink of `writer`, which errors call `uri`.
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

/// A writer, and the number of bytes that were written to it.
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
