//! Where bytes go: the opposite of a source.

mod early;
mod file;
mod memory;
#[cfg(test)]
mod tests;
mod update;
mod writer;

pub use file::FileSink;
pub use memory::MemorySink;
pub use update::UpdateSink;
pub use writer::{Counted, WriterSink};

use crate::Result;
use std::{
    io::{self, IoSlice, Write},
    path::Path,
};

/// Something that takes a file's bytes from the first to the last. Nothing counts before
/// [`finish`](Self::finish): a sink that is dropped instead, by an error or a panic, leaves nothing behind
/// where it can.
///
/// Bytes are written through [`std::io::Write`], in pieces that are worth a call to the system: a caller with
/// small ones has to buffer them.
pub trait Sink: Write + Send {
    /// Where the bytes go, for errors.
    fn uri(&self) -> &str;

    /// The file that the bytes are in until then, if it is one that would be left behind if the process were
    /// killed.
    fn temporary(&self) -> Option<&Path> {
        None
    }

    /// Writes pieces one behind the other. A local file takes them with one call to the system, from wherever
    /// they are; for others they are put together to larger ones first, since each call of theirs may cost more
    /// than a copy.
    ///
    /// # Errors
    /// As [`write_all`](Write::write_all).
    fn write_pieces(&mut self, pieces: &mut [IoSlice<'_>]) -> io::Result<()> {
        let mut held = Vec::new();
        for piece in pieces {
            if held.len() + piece.len() > WORTH_A_CALL {
                self.write_all(&held)?;
                held.clear();
            }
            if piece.len() < WORTH_A_CALL {
                held.extend_from_slice(piece);
            } else {
                self.write_all(piece)?;
            }
        }
        self.write_all(&held)
    }

    /// Replaces bytes that were written before, from byte `at` of the file on. A format that says at its
    /// beginning what stands at its end needs this for a few bytes.
    ///
    /// # Errors
    /// The sink cannot go back, or the bytes were not written yet.
    fn patch(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        let _ = (at, bytes);
        let what = "this format has to change bytes that were written before, which is not possible here: write to a file";
        Err(io::Error::new(io::ErrorKind::Unsupported, what))
    }

    /// Returns whether the thread that began the write has to continue it: signals interrupt only that
    /// thread.
    fn needs_caller(&self) -> bool {
        false
    }

    /// Checks for reasons to stop, such as signals. Called regularly by the thread that began the write,
    /// while others write.
    ///
    /// # Errors
    /// If the write is to stop.
    fn listen(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Flushes all bytes written so far to the disk, if there is one, before those written afterwards.
    ///
    /// # Errors
    /// If the operating system fails.
    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Completes the write; a file is renamed to its final name.
    ///
    /// # Errors
    /// If the operating system fails; the temporary file is removed where possible.
    fn finish(self: Box<Self>) -> Result<()>;
}

/// Bytes that pieces are put together to at most.
const WORTH_A_CALL: usize = 1 << 20;

/// Writes all pieces to what takes several of them at a time.
fn gather(file: &mut impl Write, mut pieces: &mut [IoSlice<'_>]) -> io::Result<()> {
    // Empty ones at the front are skipped, which would look like a file that takes nothing.
    IoSlice::advance_slices(&mut pieces, 0);
    while !pieces.is_empty() {
        match file.write_vectored(pieces) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => IoSlice::advance_slices(&mut pieces, count),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// The sink for a uri: a local path, or `file://`. A path that names something other than a file or nothing
/// (`/dev/stdout`, a named pipe) is written as it is.
///
/// # Errors
/// The folder does not exist or may not be written; the path is a folder; a scheme that nothing is known of.
pub fn create(uri: &str) -> Result<Box<dyn Sink>> {
    let path = crate::source::local_path(uri).map_err(|kind| crate::Error::new(kind, uri))?;
    match std::fs::metadata(&path) {
        Ok(there) if !there.is_file() && !there.is_dir() => {
            let file = std::fs::OpenOptions::new().write(true).open(&path);
            let file = file.map_err(|e| crate::Error::new(e.into(), uri))?;
            Ok(Box::new(WriterSink::new(uri, file)))
        }
        _ => Ok(Box::new(FileSink::create(&path)?)),
    }
}
