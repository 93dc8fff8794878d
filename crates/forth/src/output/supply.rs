//! The memory that outputs write to.

use std::any::Any;
use std::sync::Arc;

/// Bytes behind the capacity of every output that may be overwritten: short runs are copied in whole blocks.
pub const SLACK: usize = 64;
/// Bytes before the first item that may be read: `+<-` on an empty output adds to what stands there.
pub const LEAD: usize = 16;

/// The memory could not be grown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfMemory;

impl std::fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("out of memory")
    }
}

impl std::error::Error for OutOfMemory {}

/// Memory an [`Output`](super::Output) writes to.
///
/// # Safety
///
/// As long as nothing but `grow` is called, `as_ptr` and `capacity` do not change, and `as_ptr` points at
/// `capacity` writable bytes, aligned for the output's dtype, which nothing else reads or writes. [`SLACK`]
/// more writable bytes follow, and [`LEAD`] readable bytes precede them; the pointer is valid for all of
/// these. The last item before `as_ptr` is what the first `+<-` adds to: zero for a new column, the last
/// offset when an earlier block of the same column stands there.
///
/// After a successful `grow(used, needed)`, the capacity is at least `needed`, and the first `used` bytes as
/// well as the leading ones are as before. After a failure nothing has changed.
pub unsafe trait Memory: Send {
    /// The first item.
    fn as_ptr(&self) -> *mut u8;
    /// Writable bytes, without the slack.
    fn capacity(&self) -> usize;
    /// Makes room for `needed` bytes, keeping the first `used`.
    fn grow(&mut self, used: usize, needed: usize) -> Result<(), OutOfMemory>;
    /// As `grow`, where `expected` bytes will be used in the end, as far as one can tell: they may be had at
    /// once, if that costs nothing before they are written to.
    fn grow_towards(&mut self, used: usize, needed: usize, expected: usize) -> Result<(), OutOfMemory> {
        let _ = expected;
        self.grow(used, needed)
    }
    /// Something that, as long as it lives, keeps the bytes where they are: `grow` then moves on to other
    /// memory, and dropping this value does not free them. None: this memory cannot be kept.
    fn keeper(&self) -> Option<Keeper> {
        None
    }
}

/// Keeps memory alive and in its place.
pub type Keeper = Arc<dyn Any + Send + Sync>;
