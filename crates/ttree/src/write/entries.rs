//! Encoded entries of a basket that is not complete.

/// Encoded entries, with their offsets if the branch has them.
#[derive(Debug, Default)]
pub(super) struct Entries {
    pub(super) data: Vec<u8>,
    pub(super) starts: Vec<u32>,
    pub(super) count: u64,
    /// Largest count, or length of the longest string.
    pub(super) largest: u64,
}
