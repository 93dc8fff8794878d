//! Ctrl-C during work that would leave half a file behind: noted, so that the work can stop and clean up. A second one ends the process as usual.
#![allow(unsafe_code, reason = "what to do on a signal is told to the system in C")]

#[cfg(unix)]
mod signals {
    use std::sync::atomic::{AtomicBool, Ordering};

    static ASKED: AtomicBool = AtomicBool::new(false);
    const SIGNALS: [libc::c_int; 2] = [libc::SIGINT, libc::SIGTERM];

    extern "C" fn note(signal: libc::c_int) {
        ASKED.store(true, Ordering::Relaxed);
        // SAFETY: `signal` may be called in a handler.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }

    pub(crate) struct Watch([libc::sighandler_t; 2]);

    impl Watch {
        pub(crate) fn begin() -> Self {
            ASKED.store(false, Ordering::Relaxed);
            Self(SIGNALS.map(|signal| {
                let handler: extern "C" fn(libc::c_int) = note;
                // SAFETY: the handler does nothing but what handlers may do.
                let before = unsafe { libc::signal(signal, handler as libc::sighandler_t) };
                if before == libc::SIG_IGN {
                    // Whoever started this does not want it to be stopped.
                    // SAFETY: as before.
                    unsafe { libc::signal(signal, libc::SIG_IGN) };
                }
                before
            }))
        }

        pub(crate) fn asked(&self) -> bool {
            ASKED.load(Ordering::Relaxed)
        }
    }

    impl Drop for Watch {
        fn drop(&mut self) {
            for (signal, before) in SIGNALS.into_iter().zip(self.0) {
                // SAFETY: what was there before is there again.
                unsafe { libc::signal(signal, before) };
            }
        }
    }
}

#[cfg(not(unix))]
mod signals {
    pub(crate) struct Watch;

    impl Watch {
        pub(crate) fn begin() -> Self {
            Self
        }

        pub(crate) fn asked(&self) -> bool {
            false
        }
    }
}

pub(crate) use signals::Watch;
