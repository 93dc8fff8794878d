//! Encoded entries of a basket that is not complete.

/// Entries being encoded: the bytes, and where each entry begins if entries have offsets.
#[derive(Debug, Default)]
pub(super) struct Entries {
    pub(super) data: Vec<u8>,
    pub(super) starts: Vec<u32>,
    pub(super) count: u64,
    /// The largest count, or the length of the longest text.
    pub(super) largest: u64,
}
