//! Large buffers: private anonymous mappings.

use super::HUGE;
use std::{ptr::NonNull, sync::OnceLock};

/// A range of pages owned by this value: readable, writable, zero until written.
pub(super) struct Map {
    base: NonNull<u8>,
    len: usize,
    /// So many bytes from the start were written in an earlier life: their pages are there.
    warm: usize,
    /// Whether huge pages were asked for.
    huge: bool,
    /// Whether it lies in huge pages that others have parts of, too.
    shares: bool,
}

// SAFETY: the pages are owned by this value alone.
unsafe impl Send for Map {}
// SAFETY: a shared reference gives the address and the size only.
unsafe impl Sync for Map {}

impl Map {
    /// Reserves at least `bytes`; with `huge`, at an address where huge pages can lie, and asking for them.
    pub(super) fn new(bytes: usize, huge: bool) -> Option<Self> {
        let mut map = Self::reserve(bytes, huge)?;
        if huge {
            map.ask_for_huge_pages();
        }
        Some(map)
    }

    /// Reserves at least the given bytes for each column, next to each other in huge pages: many small
    /// mappings cost more.
    pub(super) fn side_by_side(sizes: &[usize]) -> Option<Vec<Self>> {
        let all = sizes.iter().try_fold(0_usize, |sum, size| sum.checked_add(round_up(*size, page())?))?;
        let mut rest = Self::new(all, true)?;
        // The rest behind the last whole huge page has small pages.
        let ends = rest.base.as_ptr().wrapping_add(rest.len / HUGE * HUGE);
        let mut maps = Vec::with_capacity(sizes.len());
        for (number, size) in sizes.iter().enumerate() {
            // A page that was rounded up to stays whole.
            let behind = if number + 1 < sizes.len() { Some(rest.cut(*size)?) } else { None };
            rest.huge = false;
            rest.shares = rest.base.as_ptr() < ends;
            maps.push(rest);
            let Some(behind) = behind else { break };
            rest = behind;
        }
        Some(maps)
    }

    /// Whether huge pages were asked for, all of its own.
    pub(super) fn is_huge(&self) -> bool {
        self.huge
    }

    /// Whether it lies in huge pages that others have parts of, too.
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

    /// Notes that the first `bytes` have pages now.
    pub(super) fn set_warm(&mut self, bytes: usize) {
        self.warm = bytes.min(self.len);
    }

    /// Allows the system to take the pages before they are written again, when it needs some. Their contents are lost.
    pub(super) fn free_lazily(&mut self) {
        // A hint: where the call does not exist, the pages stay.
        // SAFETY: the range is an owned mapping, and nothing refers to it.
        unsafe { libc::madvise(self.base.as_ptr().cast(), self.warm, libc::MADV_FREE) };
    }

    /// Grows to at least `bytes`, perhaps elsewhere. Page tables move, bytes do not.
    pub(super) fn resize(self, bytes: usize, huge: bool) -> Result<Self, Self> {
        // The kernel would not mind alignment when it moves pages: take a suitable place first, then move
        // there.
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
            // something there since: unmapping it again could hit that. Untouched address space is lost at
            // worst.
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

    /// Grows to at least `bytes` at an address of the kernel's choice: where address space is short, old and
    /// new place together may be more than there is.
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

    /// Cuts everything after the first `keep` bytes (rounded up to pages) off, as a mapping of its own.
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
        // A huge page that does not fit is none: an end that would leave most of it empty gets small ones,
        // since clearing pages costs as much as using them.
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
        // A hint: refusal (no such pages in this kernel) changes nothing but speed.
        // SAFETY: the range is an owned mapping.
        unsafe { libc::madvise(self.base.as_ptr().cast(), self.len, libc::MADV_HUGEPAGE) };
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        // SAFETY: the range is an owned mapping and nothing refers to it any more.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.len) };
    }
}

/// Bytes of address space the process may still take: `usize::MAX` unless it was given a limit.
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

/// Whether the system gives huge pages to those who ask.
pub(super) fn there_are_huge_pages() -> bool {
    static THERE: OnceLock<bool> = OnceLock::new();
    *THERE.get_or_init(|| {
        let enabled = std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled");
        enabled.is_ok_and(|text| !text.contains("[never]"))
    })
}

/// Has the system make the pages of some memory now; what is in pages that are there does not change.
///
/// # Safety
/// It lies in one mapping that stays where it is meanwhile.
pub(super) unsafe fn populate(start: *mut u8, len: usize) {
    let before = start.addr() % page();
    // A hint: where the call does not exist, the first write makes a page.
    // SAFETY: by the caller's word the pages belong to one mapping; the call writes nothing that could be
    // read.
    unsafe { libc::madvise(start.wrapping_sub(before).cast(), len + before, libc::MADV_POPULATE_WRITE) };
}
