//! The memory that outputs write to.

use std::any::Any;
use std::sync::Arc;

/// Number of bytes after the capacity of every output that may be overwritten: short runs are copied in whole
/// blocks.
pub const SLACK: usize = 64;
/// Number of readable bytes before the first item: `+<-` on an empty output adds to the item there.
pub const LEAD: usize = 16;

/// Error of an allocation that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfMemory;

impl std::fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("out of memory")
    }
}

impl std::error::Error for OutOfMemory {}

/// Memory that an [`Output`](super::Output) writes to.
///
/// # Safety
///
/// `as_ptr` and `capacity` change only in `grow`, and `as_ptr` points at `capacity` writable bytes, aligned
/// for the output's dtype, which nothing else reads or writes. [`SLACK`] more writable bytes follow, and
/// [`LEAD`] readable bytes precede them; the pointer is valid for all of these. The first `+<-` adds to the
/// item before `as_ptr`: zero for a new column, or the last offset if an earlier block of the same column
/// precedes.
///
/// After a successful `grow(used, needed)`, the capacity is at least `needed`, and the first `used` bytes as
/// well as the leading ones are unchanged. A failure changes nothing.
pub unsafe trait Memory: Send {
    /// Returns the address of the first item.
    fn as_ptr(&self) -> *mut u8;
    /// Returns the number of writable bytes, without the slack.
    fn capacity(&self) -> usize;
    /// Increases the capacity to at least `needed` bytes, and keeps the first `used` bytes.
    ///
    /// # Errors
    /// Returns an error if the memory cannot be allocated.
    fn grow(&mut self, used: usize, needed: usize) -> Result<(), OutOfMemory>;
    /// Increases the capacity as [`Self::grow`] does. `expected` is an estimate of the final length in bytes:
    /// that many may be allocated at once, if untouched memory costs nothing.
    fn grow_towards(&mut self, used: usize, needed: usize, expected: usize) -> Result<(), OutOfMemory> {
        let _ = expected;
        self.grow(used, needed)
    }
    /// Returns a value that pins the bytes for its lifetime: `grow` then moves to other memory, and dropping
    /// `self` does not free them. `None` if this memory cannot be kept.
    fn keeper(&self) -> Option<Keeper> {
        None
    }
}

/// Owner that keeps memory alive and in place.
pub type Keeper = Arc<dyn Any + Send + Sync>;
