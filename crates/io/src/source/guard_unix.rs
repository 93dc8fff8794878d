//! Maps of files that are cut: the system's `SIGBUS` becomes pages of zeros and a mark on the map.
//!
//! A page of a map that lies behind the present end of the file cannot be read: the system sends `SIGBUS`,
//! which ends the process. The handler here puts zeros in place of that page and of all behind it, if the
//! page belongs to one of our maps, and marks the map. A reader of views of a map looks at its mark
//! afterwards and throws away what was made of them. Every other `SIGBUS` goes to the handler that was there
//! before.

#![allow(unsafe_code)] // what to do on a signal is told to the system in C

use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr::{self, null_mut};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering::SeqCst};

use forthwith_platform::ProcessLock;

/// Watches one map for as long as it lives.
#[derive(Debug)]
pub(super) struct Guard(&'static Region);

impl Guard {
    /// Installs the handler, if it is not there, and registers the memory of a map.
    pub(super) fn over(map: &[u8]) -> std::io::Result<Self> {
        install()?;
        let region = Region::free();
        let start = map.as_ptr().addr();
        let end = (start + map.len()).next_multiple_of(PAGE.load(SeqCst));
        region.set(start, end);
        Ok(Self(region))
    }

    /// Installs the handler again, if it was taken away: a question to the system where it was not.
    pub(super) fn renew(&self) -> std::io::Result<()> {
        install()
    }

    /// Whether any of the map was replaced by zeros.
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

/// The memory of a map. Regions are never freed, so that the handler can go through them at any time; those
/// of maps that are gone are used again.
#[derive(Debug)]
struct Region {
    taken: AtomicBool,
    /// Odd while the two below change.
    changes: AtomicUsize,
    start: AtomicUsize,
    end: AtomicUsize,
    torn: AtomicBool,
    next: *const Self,
}

// SAFETY: `next` is set before the region is shared and leads to a region that is never freed; all else is
// atomic.
unsafe impl Sync for Region {}

/// The region that was made last.
static REGIONS: AtomicPtr<Region> = AtomicPtr::new(null_mut());
/// Bytes of a page; 0 before the handler was installed.
static PAGE: AtomicUsize = AtomicUsize::new(0);
/// The action for `SIGBUS` before ours. Leaked, since the handler may look at it at any time.
static BEFORE: AtomicPtr<libc::sigaction> = AtomicPtr::new(null_mut());
/// Whether the signal was raised, and no fault followed. A handler that was installed over ours (Python's
/// `faulthandler` is such a one) may say what happened, put back ours, and raise the signal again; the
/// instruction that failed is repeated when ours returns, and then it shows whether the page is ours. A
/// second one without a fault in between is meant.
static RAISED: AtomicBool = AtomicBool::new(false);
/// The code of a signal that a thread sent to itself.
#[cfg(target_os = "linux")]
const BY_RAISE: c_int = libc::SI_TKILL;
/// Not told apart here: no code is.
#[cfg(not(target_os = "linux"))]
const BY_RAISE: c_int = c_int::MIN;
/// Installing happens once at a time, in each process: one may be forked while another thread is at it.
static INSTALLING: ProcessLock<()> = ProcessLock::of_default();

impl Region {
    fn all() -> impl Iterator<Item = &'static Self> {
        // SAFETY: null, or a region that is never freed.
        let first = unsafe { REGIONS.load(SeqCst).as_ref() };
        // SAFETY: the same.
        std::iter::successors(first, |region| unsafe { region.next.as_ref() })
    }

    /// A region that no map has.
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
            // SAFETY: nothing else knows the new region before the exchange below succeeds.
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

    /// Where the region ends, if it has this byte. A region that changes meanwhile is not the one that a
    /// thread is reading.
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
    // SAFETY: a question without arguments in memory.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    PAGE.store(usize::try_from(page).ok().filter(|page| page.is_power_of_two()).unwrap_or(4096), SeqCst);
    // SAFETY: all bytes zero is a valid value of this plain C structure, whose fields are then set. The
    // handler keeps to what may be done in one: atomic loads and stores, and system calls.
    let done = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = ours();
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigemptyset(&raw mut action.sa_mask);
        libc::sigaction(libc::SIGBUS, &raw const action, null_mut())
    };
    if done == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

/// The present action for the signal.
fn present() -> std::io::Result<libc::sigaction> {
    let mut now = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: a question, which fills all of `now` where it succeeds.
    unsafe {
        match libc::sigaction(libc::SIGBUS, ptr::null(), now.as_mut_ptr()) {
            0 => Ok(now.assume_init()),
            _ => Err(std::io::Error::last_os_error()),
        }
    }
}

/// Whether the handler would be called. One that was installed over ours has ours to pass on to; one that was
/// there before and took itself away has left nothing.
fn is_there(now: &libc::sigaction) -> bool {
    let nothing = [libc::SIG_DFL, libc::SIG_IGN].contains(&now.sa_sigaction);
    now.sa_sigaction == ours() || (PAGE.load(SeqCst) != 0 && !nothing)
}

fn ours() -> usize {
    let ours: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) = on_bus_error;
    ours as usize
}

extern "C" fn on_bus_error(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the system hands over the account of the signal. Codes above 0 are of the system itself, and
    // have an address.
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
        // A process sent it, and it is ignored. What the system sends cannot be ignored.
        libc::SIG_IGN if code <= 0 => {}
        // SAFETY: the process is to end as it would have without this handler: by the signal, when this
        // function has returned.
        libc::SIG_DFL | libc::SIG_IGN => unsafe {
            libc::signal(signal, libc::SIG_DFL);
            if code <= 0 {
                libc::raise(signal);
            }
        },
        // SAFETY: the handler that was there before, called with what it would have been called with.
        handler if flags & libc::SA_SIGINFO != 0 => unsafe {
            type Full = extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);
            std::mem::transmute::<usize, Full>(handler)(signal, info, context);
        },
        // SAFETY: as above; without that flag it takes the signal alone.
        handler => unsafe { std::mem::transmute::<usize, extern "C" fn(c_int)>(handler)(signal) },
    }
}

/// Puts zeros in place of the page with this address and all behind it, if it is of one of our maps.
fn put_zeros(at: usize) -> bool {
    let Some((region, end)) = Region::all().find_map(|region| Some((region, region.end_if_has(at)?))) else {
        return false;
    };
    let page = at & !(PAGE.load(SeqCst) - 1);
    // The mark comes first: a thread that sees the zeros can see the mark.
    region.torn.store(true, SeqCst);
    // SAFETY: the pages are those of a map that is registered, and so alive while a thread reads it, as this
    // one does. They are only ever seen as bytes that may change.
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
