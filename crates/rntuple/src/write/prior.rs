//! Existing ntuples.

use super::frame::RawList;

/// An existing ntuple that is extended.
#[derive(Debug)]
pub(super) struct Prior {
    /// Cycle in the directory.
    pub(super) cycle: u16,
    pub(super) version: [u16; 4],
    pub(super) longest: u64,
    pub(super) entries: u64,
    /// Lists of the schema extension in the footer, and its attribute sets.
    pub(super) lists: [RawList; 4],
    pub(super) attributes: RawList,
}
