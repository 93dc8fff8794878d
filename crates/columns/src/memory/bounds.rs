//! Sizes that all kinds of memory keep to.

/// Zero bytes readable before a buffer's first.
pub(crate) const PAD: usize = 64;
/// Bytes writable after a buffer's capacity.
pub(crate) const SLACK: usize = 64;
/// Bytes of a huge page on the systems that matter; elsewhere this decides no more than how far ahead pages
/// are made.
pub(crate) const HUGE: usize = 2 << 20;
/// From here on buffers are mappings of their own, as the ordinary allocator would have it: but ours keep
/// their pages.
pub(super) const MAP_FROM: usize = 128 << 10;
