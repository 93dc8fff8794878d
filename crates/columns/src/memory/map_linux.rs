//! Large buffers: private anonymous mappings.

use super::HUGE;
use std::{ptr::NonNull, sync::OnceLock};

/// Owned range of pages: readable, writable, and zero until written.
pub(super) struct Map {
    base: NonNull<u8>,
    len: usize,
    /// Number of bytes from the start that have pages from earlier use.
    warm: usize,
    /// Whether huge pages were requested.
    huge: bool,
    /// Whether it is in huge pages that other mappings share.
    shares: bool,
}

// SAFETY: the pages are owned by this value alone.
unsafe impl Send for Map {}
// SAFETY: a shared reference gives the address and the size only.
unsafe impl Sync for Map {}

impl Map {
    /// Reserves at least `bytes` bytes; with `huge`, aligned to huge pages, which are requested.
    pub(super) fn new(bytes: usize, huge: bool) -> Option<Self> {
        let mut map = Self::reserve(bytes, huge)?;
        if huge {
            map.ask_for_huge_pages();
        }
        Some(map)
    }

    /// Reserves at least the given numbers of bytes, next to each other in huge pages, which is cheaper than
    /// many small mappings.
    pub(super) fn side_by_side(sizes: &[usize]) -> Option<Vec<Self>> {
        let all = sizes.iter().try_fold(0_usize, |sum, size| sum.checked_add(round_up(*size, page())?))?;
        let mut rest = Self::new(all, true)?;
        // The end after the last whole huge page has small pages.
        let ends = rest.base.as_ptr().wrapping_add(rest.len / HUGE * HUGE);
        let mut maps = Vec::with_capacity(sizes.len());
        for (number, size) in sizes.iter().enumerate() {
            // Rounding up to pages keeps the last page of each mapping whole.
            let behind = if number + 1 < sizes.len() { Some(rest.cut(*size)?) } else { None };
            rest.huge = false;
            rest.shares = rest.base.as_ptr() < ends;
            maps.push(rest);
            let Some(behind) = behind else { break };
            rest = behind;
        }
        Some(maps)
    }

    /// Whether huge pages were requested for this mapping alone.
    pub(super) fn is_huge(&self) -> bool {
        self.huge
    }

    /// Whether it is in huge pages that other mappings share.
    pub(super) fn shares(&self) -> bool {
        self.shares
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn base(&self) -> NonNull<u8> {
        self.base
    }

    pub(super) fn warm(&self) -> usize {
        self.warm
    }

    /// Sets the number of bytes from the start that have pages.
    pub(super) fn set_warm(&mut self, bytes: usize) {
        self.warm = bytes.min(self.len);
    }

    /// Allows the system to reclaim the pages when it needs memory, until they are written again. Their
    /// content is lost.
    pub(super) fn free_lazily(&mut self) {
        // SAFETY: the range is an owned mapping, and nothing refers to it. A hint: if the system call does not
        // exist, the pages stay.
        unsafe { libc::madvise(self.base.as_ptr().cast(), self.warm, libc::MADV_FREE) };
    }

    /// Grows to at least `bytes` bytes, perhaps at another address. Pages are moved, not copied. Returns the
    /// unchanged mapping on failure.
    pub(super) fn resize(self, bytes: usize, huge: bool) -> Result<Self, Self> {
        // The kernel ignores alignment when it moves pages: reserve an aligned range first, then move there.
        let Some(place) = Self::reserve(bytes, huge) else { return self.stretch(bytes) };
        // SAFETY: both ranges are owned mappings and do not overlap; the call replaces `place` by the pages
        // of `self`.
        let moved = unsafe {
            libc::mremap(
                self.base.as_ptr().cast(),
                self.len,
                place.len,
                libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED,
                place.base.as_ptr(),
            )
        };
        if moved == libc::MAP_FAILED {
            // The kernel may have unmapped `place` before it failed, and another thread may have mapped
            // memory at that address since, which a second unmapping could hit. At worst, untouched address
            // space is leaked.
            std::mem::forget(place);
            return Err(self);
        }
        let (warm, was_huge) = (self.warm, self.huge);
        std::mem::forget(self); // its range is gone; `place` stands for the moved one
        let mut map = place;
        map.warm = warm;
        if huge || was_huge {
            map.ask_for_huge_pages();
        }
        Ok(map)
    }

    /// Grows to at least `bytes` bytes at an address of the kernel's choice: where address space is limited,
    /// it may not suffice for the old and the new range together. Returns the unchanged mapping on failure.
    pub(super) fn stretch(self, bytes: usize) -> Result<Self, Self> {
        let Some(len) = round_up(bytes, page()) else { return Err(self) };
        // SAFETY: the range is an owned mapping; on success it is replaced by the one returned, on failure
        // nothing changes.
        let moved = unsafe { libc::mremap(self.base.as_ptr().cast(), self.len, len, libc::MREMAP_MAYMOVE) };
        if moved == libc::MAP_FAILED {
            return Err(self);
        }
        let Some(base) = NonNull::new(moved.cast()) else { return Err(self) }; // never: that address is not handed out
        let (warm, huge) = (self.warm, self.huge);
        std::mem::forget(self); // its range is gone; `base` stands for the moved one
        Ok(Self { base, len, warm, huge, shares: false })
    }

    /// Splits off the bytes after the first `keep` (rounded up to pages) as a mapping; `None` if either part
    /// would be empty.
    pub(super) fn cut(&mut self, keep: usize) -> Option<Self> {
        let keep = round_up(keep, page())?;
        let rest = self.len.checked_sub(keep).filter(|rest| *rest > 0)?;
        if keep == 0 {
            return None;
        }
        let warm = self.warm.saturating_sub(keep);
        self.warm = self.warm.min(keep);
        self.len = keep;
        // SAFETY: `keep` is inside the mapping, so the sum is too.
        let base = unsafe { self.base.add(keep) };
        Some(Self { base, len: rest, warm, huge: self.huge, shares: self.shares })
    }

    fn reserve(bytes: usize, huge: bool) -> Option<Self> {
        let align = if huge { HUGE } else { page() };
        let len = round_up(bytes.max(1), page())?;
        // An end that would leave most of a huge page empty gets small pages, since clearing pages costs as
        // much as using them.
        let len = if huge && len % HUGE >= HUGE / 2 { round_up(len, HUGE)? } else { len };
        let extra = if huge { HUGE } else { 0 };
        let asked = len.checked_add(extra)?;
        // SAFETY: a new mapping at an address of the kernel's choice touches nothing that exists.
        let address = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                asked,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        if address == libc::MAP_FAILED {
            return None;
        }
        let mut map =
            Self { base: NonNull::new(address.cast())?, len: asked, warm: 0, huge: false, shares: false };
        let skip = map.base.as_ptr().align_offset(align);
        if huge && skip > 0 && skip < asked {
            let aligned = map.cut(skip)?;
            map = aligned; // drops, and so unmaps, what lies before
        }
        drop(map.cut(len));
        Some(map)
    }

    fn ask_for_huge_pages(&mut self) {
        self.huge = true;
        // SAFETY: the range is an owned mapping. A hint: refusal (no huge pages in this kernel) affects only
        // speed.
        unsafe { libc::madvise(self.base.as_ptr().cast(), self.len, libc::MADV_HUGEPAGE) };
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        // SAFETY: the range is an owned mapping and nothing refers to it any more.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.len) };
    }
}

/// Returns the number of bytes of address space that the process may still map; `usize::MAX` without a limit.
pub(super) fn address_space_left() -> usize {
    let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: the call writes into `limit` and nowhere else.
    let known = unsafe { libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) } == 0;
    if !known || limit.rlim_cur == libc::RLIM_INFINITY {
        return usize::MAX;
    }
    let pages = std::fs::read_to_string("/proc/self/statm").ok();
    let pages = pages.and_then(|text| text.split(' ').next()?.parse::<usize>().ok());
    let taken = pages.unwrap_or(0).saturating_mul(page());
    usize::try_from(limit.rlim_cur).unwrap_or(usize::MAX).saturating_sub(taken)
}

fn round_up(bytes: usize, to: usize) -> Option<usize> {
    bytes.checked_next_multiple_of(to)
}

fn page() -> usize {
    // SAFETY: a query without side effects.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(size).ok().filter(|size| size.is_power_of_two()).unwrap_or(4096)
}

/// Whether the system provides huge pages on request.
pub(super) fn there_are_huge_pages() -> bool {
    static THERE: OnceLock<bool> = OnceLock::new();
    *THERE.get_or_init(|| {
        let enabled = std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled");
        enabled.is_ok_and(|text| !text.contains("[never]"))
    })
}

/// Makes the system map the pages of a range now; the content of existing pages does not change.
///
/// # Safety
/// The range must be in one mapping, which is not moved or unmapped during the call.
pub(super) unsafe fn populate(start: *mut u8, len: usize) {
    let before = start.addr() % page();
    // SAFETY: the pages belong to one mapping, as the caller guarantees, and the call does not change their
    // bytes. A hint: if the system call does not exist, the first write makes a page.
    unsafe { libc::madvise(start.wrapping_sub(before).cast(), len + before, libc::MADV_POPULATE_WRITE) };
}
