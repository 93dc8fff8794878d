//! Whether memory can be had, asked before work whose own allocations would end the process if they failed.

/// Whether this number of bytes, and what small allocations beside them take, can be allocated at this moment. Nothing is kept,
/// and no page is touched.
#[must_use]
pub fn has_headroom(bytes: usize) -> bool {
    let mut probe: Vec<u8> = Vec::new();
    let reserved = probe.try_reserve_exact(bytes.saturating_add(LEAST));
    // An allocation that nothing uses would be optimised away.
    std::hint::black_box(&mut probe);
    reserved.is_ok()
}

/// Bytes for small allocations. More than glibc ever takes from its heap: freeing fewer would move its threshold for `mmap`,
/// and with it the memory that the process keeps.
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
