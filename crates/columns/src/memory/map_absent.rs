//! Stub for systems without mappings, where every buffer comes from the global allocator.

use std::ptr::NonNull;

/// Uninhabited.
pub(super) enum Map {}

impl Map {
    pub(super) fn new(_bytes: usize, _huge: bool) -> Option<Self> {
        None
    }

    pub(super) fn side_by_side(_sizes: &[usize]) -> Option<Vec<Self>> {
        None
    }

    pub(super) fn len(&self) -> usize {
        match *self {}
    }

    pub(super) fn base(&self) -> NonNull<u8> {
        match *self {}
    }

    pub(super) fn warm(&self) -> usize {
        match *self {}
    }

    pub(super) fn is_huge(&self) -> bool {
        match *self {}
    }

    pub(super) fn shares(&self) -> bool {
        match *self {}
    }

    pub(super) fn set_warm(&mut self, _bytes: usize) {
        match *self {}
    }

    pub(super) fn free_lazily(&mut self) {
        match *self {}
    }

    pub(super) fn resize(self, _bytes: usize, _huge: bool) -> Result<Self, Self> {
        match self {}
    }

    pub(super) fn cut(&mut self, _keep: usize) -> Option<Self> {
        match *self {}
    }
}

pub(super) fn there_are_huge_pages() -> bool {
    false
}

#[expect(clippy::missing_safety_doc, reason = "nothing is done")]
pub(super) unsafe fn populate(_start: *mut u8, _len: usize) {}

pub(super) fn address_space_left() -> usize {
    usize::MAX
}
