//! An ntuple that is in a file already.

use super::frame::RawList;

/// An ntuple that is continued, as the file has it.
#[derive(Debug)]
pub(super) struct Prior {
    /// Its cycle in the directory.
    pub(super) cycle: u16,
    pub(super) version: [u16; 4],
    pub(super) longest: u64,
    pub(super) entries: u64,
    /// The lists of the footer's extension of the header, and its attribute sets.
    pub(super) lists: [RawList; 4],
    pub(super) attributes: RawList,
}
