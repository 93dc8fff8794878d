//! Bytes of a file that is being written go to the disk while more are made.
//!
//! Without this the system keeps hundreds of megabytes in memory, and `fsync` at the end waits for all of
//! them: a wait that no signal ends.

#![allow(unsafe_code)] // the system call has no safe name in the standard library

use std::{fs::File, ops::Range};

/// Bytes that are given to the disk at a time.
const PIECE: u64 = 8 << 20;

/// How far the file was given to the disk.
#[derive(Debug, Default)]
pub(super) struct Early {
    given: u64,
    written: u64,
}

impl Early {
    /// Notes bytes that were written behind those before, and has the disk begin with them once they are
    /// worth it. This does not wait for the disk, unless that has more to do than it takes.
    pub(super) fn wrote(&mut self, file: &File, count: usize) {
        self.written += count as u64;
        if self.written - self.given >= PIECE {
            begin(file, self.given..self.written);
            self.given = self.written;
        }
    }
}

/// Has the disk begin to take bytes of a file. A system that has no word for it decides by itself, and a
/// failure is seen by `fsync`.
#[cfg(target_os = "linux")]
fn begin(file: &File, bytes: Range<u64>) {
    use std::os::fd::AsRawFd;
    if let (Ok(from), Ok(count)) = (i64::try_from(bytes.start), i64::try_from(bytes.end - bytes.start)) {
        // SAFETY: the call gets numbers only, and the descriptor is open as long as the file is borrowed. No
        // memory is involved.
        unsafe { libc::sync_file_range(file.as_raw_fd(), from, count, libc::SYNC_FILE_RANGE_WRITE) };
    }
}

#[cfg(not(target_os = "linux"))]
fn begin(_: &File, _: Range<u64>) {}
