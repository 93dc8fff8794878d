//! Handling of signals that end a process (SIGINT by Ctrl-C, SIGTERM, SIGHUP of a closed terminal) during
//! work that would leave a partial file. The first signal sets a flag, so that the work can stop and clean
//! up; a second one removes the partial file and ends the process.
#![allow(unsafe_code, reason = "what to do on a signal is told to the system in C")]

#[cfg(unix)]
mod signals {
    use std::{
        ffi::{CString, c_char},
        os::unix::ffi::OsStrExt,
        path::Path,
        ptr,
        sync::atomic::{AtomicBool, AtomicPtr, Ordering},
    };

    static ASKED: AtomicBool = AtomicBool::new(false);
    /// Name of the partial file. It is never freed, since a handler may be using it.
    static PART: AtomicPtr<c_char> = AtomicPtr::new(ptr::null_mut());
    const SIGNALS: [libc::c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

    extern "C" fn note(signal: libc::c_int) {
        if !ASKED.swap(true, Ordering::Relaxed) {
            return;
        }
        let part = PART.load(Ordering::Acquire);
        if !part.is_null() {
            // SAFETY: `unlink` may be called in a handler; the name is a C string that is never freed.
            unsafe { libc::unlink(part) };
        }
        // SAFETY: both may be called in a handler. The signal is delivered when the handler has returned.
        unsafe {
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
        }
    }

    pub(crate) struct Watch([libc::sigaction; SIGNALS.len()]);

    impl Watch {
        /// Installs the handlers. This must precede the creation of the file, so that no signal is missed.
        pub(crate) fn begin() -> Self {
            ASKED.store(false, Ordering::Relaxed);
            Self(SIGNALS.map(|signal| {
                let handler: extern "C" fn(libc::c_int) = note;
                // SAFETY: a structure of numbers, of which zero is one; a set that is empty then.
                let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
                // Without SA_RESTART, so that a blocking read of a pipe returns and its caller checks the
                // flag.
                action.sa_sigaction = handler as libc::sighandler_t;
                let mut before = action;
                // SAFETY: the handler does nothing but what handlers may do, and both structures live.
                unsafe { libc::sigaction(signal, &raw const action, &raw mut before) };
                if before.sa_sigaction == libc::SIG_IGN {
                    // The parent process ignores the signal, and so do we.
                    // SAFETY: as before.
                    unsafe { libc::sigaction(signal, &raw const before, ptr::null_mut()) };
                }
                before
            }))
        }

        /// Sets the file that a second signal removes.
        pub(crate) fn removes(&self, part: Option<&Path>) {
            let part = part.and_then(|path| CString::new(path.as_os_str().as_bytes()).ok());
            PART.store(part.map_or(ptr::null_mut(), CString::into_raw), Ordering::Release);
        }

        #[allow(clippy::unused_self, reason = "signals are noted as long as there is one")]
        pub(crate) fn asked(&self) -> bool {
            is_asked()
        }
    }

    /// Whether a signal has arrived since the last [`Watch`] was begun.
    pub(crate) fn is_asked() -> bool {
        ASKED.load(Ordering::Relaxed)
    }

    impl Drop for Watch {
        fn drop(&mut self) {
            for (signal, before) in SIGNALS.into_iter().zip(&self.0) {
                // SAFETY: what was there before is there again.
                unsafe { libc::sigaction(signal, before, ptr::null_mut()) };
            }
            ASKED.store(false, Ordering::Relaxed);
            PART.store(ptr::null_mut(), Ordering::Release);
        }
    }
}

#[cfg(not(unix))]
mod signals {
    use std::path::Path;

    pub(crate) struct Watch;

    impl Watch {
        pub(crate) fn begin() -> Self {
            Self
        }

        #[allow(clippy::unused_self, reason = "as where there are signals")]
        pub(crate) fn removes(&self, _: Option<&Path>) {}

        pub(crate) fn asked(&self) -> bool {
            false
        }
    }

    pub(crate) fn is_asked() -> bool {
        false
    }
}

pub(crate) use signals::{Watch, is_asked};
