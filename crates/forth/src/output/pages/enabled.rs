//! Memory of whole pages, huge ones if the system has them.

use std::ptr::NonNull;

use memmap2::{Advice, MmapMut, RemapOptions};

/// Zeroed pages, unmapped when dropped.
pub(in crate::output) struct Pages(MmapMut);

impl Pages {
    pub(in crate::output) const BUILT: bool = true;

    /// Allocates `bytes` zeroed bytes; None if the system refuses.
    pub(in crate::output) fn new(bytes: usize) -> Option<Self> {
        let pages = MmapMut::map_anon(bytes).ok()?;
        // The advice may be refused: small pages work as well.
        let _ = pages.advise(Advice::HugePage);
        Some(Self(pages))
    }

    pub(in crate::output) fn base(&mut self) -> NonNull<u8> {
        NonNull::from(&mut *self.0).cast()
    }

    /// Changes the length and keeps the bytes within it; the pages may move. Returns None, with the pages
    /// unchanged, if the system refuses.
    pub(in crate::output) fn resize(&mut self, bytes: usize) -> Option<()> {
        // SAFETY: the pages are anonymous, and the block that is resized is their only owner.
        unsafe { self.0.remap(bytes, RemapOptions::new().may_move(true)) }.ok()
    }
}
