//! Memory of whole pages, large ones if the system has them.

use std::ptr::NonNull;

use memmap2::{Advice, MmapMut, RemapOptions};

/// Zeroed pages, given back when dropped.
pub(in crate::output) struct Pages(MmapMut);

impl Pages {
    pub(in crate::output) const BUILT: bool = true;

    /// So many bytes, zero. None if they cannot be had.
    pub(in crate::output) fn new(bytes: usize) -> Option<Self> {
        let pages = MmapMut::map_anon(bytes).ok()?;
        // Advice only; small pages do as well.
        let _ = pages.advise(Advice::HugePage);
        Some(Self(pages))
    }

    pub(in crate::output) fn base(&mut self) -> NonNull<u8> {
        NonNull::from(&mut *self.0).cast()
    }

    /// Another length, keeping what fits; the pages may move. None if that cannot be, with everything as it
    /// was.
    pub(in crate::output) fn resize(&mut self, bytes: usize) -> Option<()> {
        // SAFETY: the pages are anonymous and no other owner has them, as a resize has the block alone.
        unsafe { self.0.remap(bytes, RemapOptions::new().may_move(true)) }.ok()
    }
}
