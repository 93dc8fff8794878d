//! Substitute for systems without page allocation: all memory comes from the global allocator.

use std::convert::Infallible;
use std::ptr::NonNull;

/// Pages, which cannot be allocated here.
pub(in crate::output) struct Pages(Infallible);

impl Pages {
    pub(in crate::output) const BUILT: bool = false;

    pub(in crate::output) fn new(_bytes: usize) -> Option<Self> {
        None
    }

    pub(in crate::output) fn base(&mut self) -> NonNull<u8> {
        match self.0 {}
    }

    pub(in crate::output) fn resize(&mut self, _bytes: usize) -> Option<()> {
        match self.0 {}
    }
}
