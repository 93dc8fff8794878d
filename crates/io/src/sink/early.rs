//! Early write-back of a file that is being written.
//!
//! Without it, the system buffers hundreds of megabytes, and the final `fsync` waits for all of them without
//! a chance to interrupt it.

#![allow(unsafe_code)] // the system call has no safe name in the standard library

use std::{fs::File, ops::Range};

/// Number of bytes from which on write-back is started.
const PIECE: u64 = 8 << 20;

/// Progress of the write-back of a file, as byte offsets.
#[derive(Debug, Default)]
pub(super) struct Early {
    given: u64,
    written: u64,
}

impl Early {
    /// Counts `count` written bytes, and starts write-back when [`PIECE`] bytes have accumulated. The call
    /// does not wait for the disk unless its queue is full.
    pub(super) fn wrote(&mut self, file: &File, count: usize) {
        self.written += count as u64;
        if self.written - self.given >= PIECE {
            begin(file, self.given..self.written);
            self.given = self.written;
        }
    }
}

/// Starts write-back of a byte range. Errors are ignored, since `fsync` reports them; systems other than
/// Linux write back by themselves.
#[cfg(target_os = "linux")]
fn begin(file: &File, bytes: Range<u64>) {
    use std::os::fd::AsRawFd;
    if let (Ok(from), Ok(count)) = (i64::try_from(bytes.start), i64::try_from(bytes.end - bytes.start)) {
        // SAFETY: the call takes integers only, and the descriptor is open while the file is borrowed. No
        // memory is accessed.
        unsafe { libc::sync_file_range(file.as_raw_fd(), from, count, libc::SYNC_FILE_RANGE_WRITE) };
    }
}

#[cfg(not(target_os = "linux"))]
fn begin(_: &File, _: Range<u64>) {}
