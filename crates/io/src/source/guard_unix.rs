//! Handling of `SIGBUS` for memory maps of truncated files: the lost pages are replaced by zeros, and the map
//! is marked.
//!
//! Access to a page of a map after the current end of the file raises `SIGBUS`, which ends the process by
//! default. This handler replaces that page and all following pages of the map by zeros, if it is one of our
//! maps, and marks the map. Readers of views check the mark afterwards and discard results. All other
//! `SIGBUS` signals are passed to the previously installed handler.

#![allow(unsafe_code)] // what to do on a signal is told to the system in C

use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr::{self, null_mut};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering::SeqCst};

use forthwith_platform::ProcessLock;

/// Registration of one map with the signal handler; dropping it ends the registration.
#[derive(Debug)]
pub(super) struct Guard(&'static Region);

impl Guard {
    /// Installs the handler if needed, and registers the memory of a map.
    pub(super) fn over(map: &[u8]) -> std::io::Result<Self> {
        install()?;
        let region = Region::free();
        let start = map.as_ptr().addr();
        let end = (start + map.len()).next_multiple_of(PAGE.load(SeqCst));
        region.set(start, end);
        Ok(Self(region))
    }

    /// Installs the handler again if it was removed. The check is one system call.
    pub(super) fn renew(&self) -> std::io::Result<()> {
        install()
    }

    /// Whether a part of the map was replaced by zeros.
    pub(super) fn is_torn(&self) -> bool {
        self.0.torn.load(SeqCst)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.set(0, 0);
        self.0.taken.store(false, SeqCst);
    }
}

/// Address range of a map. Regions are never freed, so the handler can traverse their list at any time; those
/// of dropped maps are reused.
#[derive(Debug)]
struct Region {
    taken: AtomicBool,
    /// Version of `start` and `end`; odd while they are modified.
    changes: AtomicUsize,
    start: AtomicUsize,
    end: AtomicUsize,
    torn: AtomicBool,
    next: *const Self,
}

// SAFETY: `next` is set before the region is shared, and points to a region that is never freed; all other
// fields are atomic.
unsafe impl Sync for Region {}

/// Head of the list of regions, which is the last one created.
static REGIONS: AtomicPtr<Region> = AtomicPtr::new(null_mut());
/// Page size in bytes; 0 before the handler was installed.
static PAGE: AtomicUsize = AtomicUsize::new(0);
/// Previous action for `SIGBUS`. It is leaked, since the handler may access it at any time.
static BEFORE: AtomicPtr<libc::sigaction> = AtomicPtr::new(null_mut());
/// Whether the last `SIGBUS` was raised by software and no fault has followed. A handler that was installed
/// after ours (such as Python's `faulthandler`) may report the fault, reinstall ours, and raise the signal
/// again. Ours returns then, and the faulting instruction is repeated, which shows whether the page is ours.
/// A second raised signal without a fault in between is passed on.
static RAISED: AtomicBool = AtomicBool::new(false);
/// Signal code of a signal that a thread sent to itself.
#[cfg(target_os = "linux")]
const BY_RAISE: c_int = libc::SI_TKILL;
/// Value that no signal code has: this system does not distinguish raised signals.
#[cfg(not(target_os = "linux"))]
const BY_RAISE: c_int = c_int::MIN;
/// Serialises installation in each process. The lock is fork-safe: another thread may hold it during a fork.
static INSTALLING: ProcessLock<()> = ProcessLock::of_default();

impl Region {
    fn all() -> impl Iterator<Item = &'static Self> {
        // SAFETY: null, or a region that is never freed.
        let first = unsafe { REGIONS.load(SeqCst).as_ref() };
        // SAFETY: the same.
        std::iter::successors(first, |region| unsafe { region.next.as_ref() })
    }

    /// Returns a region that no map uses, and marks it as taken.
    fn free() -> &'static Self {
        let free = Self::all().find(|region| !region.taken.swap(true, SeqCst));
        if let Some(free) = free {
            free.torn.store(false, SeqCst);
            return free;
        }
        let made = Box::into_raw(Box::new(Self {
            taken: AtomicBool::new(true),
            changes: AtomicUsize::new(0),
            start: AtomicUsize::new(0),
            end: AtomicUsize::new(0),
            torn: AtomicBool::new(false),
            next: ptr::null(),
        }));
        let mut first = REGIONS.load(SeqCst);
        loop {
            // SAFETY: no other thread has access to the new region before the exchange below succeeds.
            unsafe { (*made).next = first };
            match REGIONS.compare_exchange(first, made, SeqCst, SeqCst) {
                // SAFETY: it was leaked above.
                Ok(_) => return unsafe { &*made },
                Err(other) => first = other,
            }
        }
    }

    fn set(&self, start: usize, end: usize) {
        self.changes.fetch_add(1, SeqCst);
        self.start.store(start, SeqCst);
        self.end.store(end, SeqCst);
        self.changes.fetch_add(1, SeqCst);
    }

    /// Returns the end of the region if it contains this address. A region that is modified meanwhile cannot
    /// be in use by the faulting thread.
    fn end_if_has(&self, at: usize) -> Option<usize> {
        let changes = self.changes.load(SeqCst);
        let (start, end) = (self.start.load(SeqCst), self.end.load(SeqCst));
        let stable = changes.is_multiple_of(2) && changes == self.changes.load(SeqCst);
        (stable && (start..end).contains(&at)).then_some(end)
    }
}

fn install() -> std::io::Result<()> {
    if is_there(&present()?) {
        return Ok(());
    }
    let _held = INSTALLING.lock();
    let now = present()?;
    if is_there(&now) {
        return Ok(());
    }
    BEFORE.store(Box::into_raw(Box::new(now)), SeqCst);
    // SAFETY: the call takes no pointers.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    PAGE.store(usize::try_from(page).ok().filter(|page| page.is_power_of_two()).unwrap_or(4096), SeqCst);
    // SAFETY: zero bytes are a valid value of this plain C structure, whose fields are set afterwards. The
    // handler is async-signal-safe: it uses atomic loads and stores and system calls only.
    let done = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = ours();
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigemptyset(&raw mut action.sa_mask);
        libc::sigaction(libc::SIGBUS, &raw const action, null_mut())
    };
    if done == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

/// Returns the current action for `SIGBUS`.
fn present() -> std::io::Result<libc::sigaction> {
    let mut now = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: the call initialises all of `now` if it succeeds.
    unsafe {
        match libc::sigaction(libc::SIGBUS, ptr::null(), now.as_mut_ptr()) {
            0 => Ok(now.assume_init()),
            _ => Err(std::io::Error::last_os_error()),
        }
    }
}

/// Whether our handler is called for a signal. A handler that was installed after ours has to call it; with
/// the default action in place, ours was removed.
fn is_there(now: &libc::sigaction) -> bool {
    let nothing = [libc::SIG_DFL, libc::SIG_IGN].contains(&now.sa_sigaction);
    now.sa_sigaction == ours() || (PAGE.load(SeqCst) != 0 && !nothing)
}

fn ours() -> usize {
    let ours: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) = on_bus_error;
    ours as usize
}

extern "C" fn on_bus_error(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the system passes a valid `siginfo_t`. Codes above 0 are those of faults, which have an
    // address.
    let (code, at) = unsafe { ((*info).si_code, (*info).si_addr().addr()) };
    if code > 0 && put_zeros(at) {
        RAISED.store(false, SeqCst);
        return;
    }
    if code == BY_RAISE && !RAISED.swap(true, SeqCst) {
        return;
    }
    let before = BEFORE.load(SeqCst);
    // SAFETY: null, or leaked by `install`.
    let before = unsafe { before.as_ref() };
    let (handler, flags) = before.map_or((libc::SIG_DFL, 0), |before| (before.sa_sigaction, before.sa_flags));
    match handler {
        // A signal sent by a process is ignored. Faults cannot be ignored.
        libc::SIG_IGN if code <= 0 => {}
        // SAFETY: the default action is restored, so the signal ends the process after this function has
        // returned, as it would without this handler.
        libc::SIG_DFL | libc::SIG_IGN => unsafe {
            libc::signal(signal, libc::SIG_DFL);
            if code <= 0 {
                libc::raise(signal);
            }
        },
        // SAFETY: the previous handler is called with the arguments of its type.
        handler if flags & libc::SA_SIGINFO != 0 => unsafe {
            type Full = extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);
            std::mem::transmute::<usize, Full>(handler)(signal, info, context);
        },
        // SAFETY: as above; without `SA_SIGINFO`, the handler takes the signal number only.
        handler => unsafe { std::mem::transmute::<usize, extern "C" fn(c_int)>(handler)(signal) },
    }
}

/// Replaces the page of this address and all following pages of the map by zeros. Returns whether the address
/// belongs to one of our maps and the replacement succeeded.
fn put_zeros(at: usize) -> bool {
    let Some((region, end)) = Region::all().find_map(|region| Some((region, region.end_if_has(at)?))) else {
        return false;
    };
    let page = at & !(PAGE.load(SeqCst) - 1);
    // The mark is set first: a thread that sees the zeros has to see the mark.
    region.torn.store(true, SeqCst);
    // SAFETY: the pages belong to a registered map, which the faulting thread is reading and which is
    // therefore alive. They are only accessed as bytes that may change.
    let put = unsafe {
        libc::mmap(
            ptr::with_exposed_provenance_mut(page),
            end - page,
            libc::PROT_READ,
            libc::MAP_PRIVATE | libc::MAP_ANON | libc::MAP_FIXED,
            -1,
            0,
        )
    };
    put != libc::MAP_FAILED
}
