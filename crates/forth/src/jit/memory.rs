//! Executable memory: written once, then made executable and read-only.

use memmap2::{Mmap, MmapMut};

/// Machine code, unmapped when dropped.
#[derive(Debug)]
pub(super) struct Executable(Mmap);

impl Executable {
    /// Returns an executable copy of `code`; `None` if the system refuses.
    pub(super) fn new(code: &[u8]) -> Option<Self> {
        let mut map = MmapMut::map_anon(code.len().max(1)).ok()?;
        map[..code.len()].copy_from_slice(code);
        let map = map.make_exec().ok()?;
        synchronise(&map);
        Some(Self(map))
    }

    /// Returns the address of the instruction at an offset.
    pub(super) fn address(&self, offset: usize) -> *const u8 {
        self.0[offset..].as_ptr()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

#[cfg(target_arch = "x86_64")]
fn synchronise(_: &[u8]) {}

/// Writes back the data cache and invalidates the instruction cache, which does not see writes to memory, by
/// a call of the system.
#[cfg(all(target_arch = "aarch64", target_vendor = "apple"))]
fn synchronise(code: &[u8]) {
    unsafe extern "C" {
        fn sys_icache_invalidate(start: *const std::ffi::c_void, length: usize);
    }
    // SAFETY: the range is mapped.
    unsafe { sys_icache_invalidate(code.as_ptr().cast(), code.len()) };
}

/// Writes back the data cache and invalidates the instruction cache by a call of the system.
#[cfg(all(target_arch = "aarch64", windows))]
fn synchronise(code: &[u8]) {
    #[link(name = "kernel32")]
    unsafe extern "system" {
        fn GetCurrentProcess() -> *mut std::ffi::c_void;
        fn FlushInstructionCache(
            process: *mut std::ffi::c_void,
            start: *const std::ffi::c_void,
            length: usize,
        ) -> i32;
    }
    // SAFETY: the range is mapped in this process.
    unsafe { FlushInstructionCache(GetCurrentProcess(), code.as_ptr().cast(), code.len()) };
}

/// Writes back the data cache and invalidates the instruction cache by the instructions that these systems
/// allow in user code.
#[cfg(all(target_arch = "aarch64", not(target_vendor = "apple"), not(windows)))]
fn synchronise(code: &[u8]) {
    let range = code.as_ptr_range();
    let (start, end) = (range.start as usize, range.end as usize);
    let types: u64;
    // SAFETY: reads a register that user code may read on every system we build for.
    unsafe { std::arch::asm!("mrs {0}, ctr_el0", out(reg) types, options(nomem, nostack)) };
    let data = 4_usize << ((types >> 16) & 15);
    let instructions = 4_usize << (types & 15);
    for at in (start & !(data - 1)..end).step_by(data) {
        // SAFETY: the line lies in memory that is mapped and readable.
        unsafe { std::arch::asm!("dc cvau, {0}", in(reg) at, options(nostack)) };
    }
    // SAFETY: a barrier, which only orders earlier accesses.
    unsafe { std::arch::asm!("dsb ish", options(nostack)) };
    for at in (start & !(instructions - 1)..end).step_by(instructions) {
        // SAFETY: the line lies in memory that is mapped and readable.
        unsafe { std::arch::asm!("ic ivau, {0}", in(reg) at, options(nostack)) };
    }
    // Other threads get the address of this code through a synchronised pointer only; the kernel made the
    // pages executable for them, which synchronises their instruction fetch as well.
    // SAFETY: a barrier, which only orders earlier accesses.
    unsafe { std::arch::asm!("dsb ish", "isb", options(nostack)) };
}
