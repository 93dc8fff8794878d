//! Output that is written to standard output.

use forthwith::io::{Result, Sink};
use std::{
    io::{self, Write},
    sync::{Arc, Mutex, PoisonError},
};

/// Bytes to be written to the console after each step. A writer must be `Send`, which the console is not.
#[derive(Clone, Default)]
pub(super) struct Pipe(Arc<Mutex<Vec<u8>>>);

impl Pipe {
    /// Returns the bytes written since the last call.
    pub(super) fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.try_reserve(bytes.len()).map_err(|_| io::ErrorKind::OutOfMemory)?;
        held.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Sink for Pipe {
    fn uri(&self) -> &str {
        "standard output"
    }

    fn finish(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}
