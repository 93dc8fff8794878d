//! Sizes that are common to all kinds of memory.

/// Number of readable zero bytes before the first byte of a buffer.
pub(crate) const PAD: usize = 64;
/// Number of writable bytes after the capacity of a buffer.
pub(crate) const SLACK: usize = 64;
/// Size of a huge page in bytes on common systems; on others, it only decides how many pages are made in
/// advance.
pub(crate) const HUGE: usize = 2 << 20;
/// Size in bytes from which buffers are mappings, as in the system allocator; but these keep their pages.
pub(super) const MAP_FROM: usize = 128 << 10;
