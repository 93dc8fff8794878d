//! A check for free memory, for code whose own allocations would abort the process on failure.

/// Whether `bytes` bytes and a reserve for small allocations can be allocated at this moment. The memory is
/// freed again, and no page is touched.
#[must_use]
pub fn has_headroom(bytes: usize) -> bool {
    let mut probe: Vec<u8> = Vec::new();
    let reserved = probe.try_reserve_exact(bytes.saturating_add(LEAST));
    // Without `black_box`, the unused allocation would be optimised away.
    std::hint::black_box(&mut probe);
    reserved.is_ok()
}

/// Reserve in bytes for small allocations. It exceeds the largest `mmap` threshold of glibc (32 MiB): freeing
/// a smaller allocation would raise that threshold, and with it the memory that the process retains.
const LEAST: usize = 33 << 20;

#[cfg(test)]
mod tests {
    use super::has_headroom;

    #[test]
    fn more_than_all_memory_is_refused() {
        assert!(has_headroom(1 << 20));
        assert!(!has_headroom(usize::MAX / 2));
        assert!(!has_headroom(usize::MAX));
    }
}
