//! A writer that threads use in turn, in the process that made it.

use crate::errors;
use pyo3::prelude::*;
use std::{
    sync::{
        Mutex, MutexGuard, PoisonError, TryLockError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

/// How long a thread waits for its turn before it looks at signals.
const PAUSE: Duration = Duration::from_millis(10);

/// The state of a writer. A process forked from the one that made it must not touch it: the file belongs to the other, and so may the lock.
pub(crate) struct Held<T: Send> {
    process: u32,
    /// Which thread uses it; 0 if none does.
    user: AtomicU64,
    kept: Mutex<Option<T>>,
}

/// The turn of one thread.
pub(crate) struct Turn<'a, T> {
    user: &'a AtomicU64,
    kept: MutexGuard<'a, Option<T>>,
}

impl<T: Send> Held<T> {
    pub(crate) fn new(kept: T) -> Self {
        // Memory of Python's objects is not aligned to more.
        const { assert!(align_of::<T>() <= 16) };
        Self {
            process: forthwith_platform::process_id(),
            user: AtomicU64::new(0),
            kept: Mutex::new(Some(kept)),
        }
    }

    /// Waits until no other thread uses it. Signals are looked at meanwhile.
    ///
    /// # Errors
    /// The process is another one; this thread uses it already: a handler of a signal, or an object that is written to, calls back.
    pub(crate) fn take(&self, py: Python<'_>) -> PyResult<Turn<'_, T>> {
        if forthwith_platform::process_id() != self.process {
            let made = self.process;
            return Err(errors::request(
                py,
                format!(
                    "the writer belongs to process {made}; this one was forked from it and cannot use it"
                ),
            ));
        }
        let me = thread_number();
        loop {
            let kept = match self.kept.try_lock() {
                Ok(kept) => kept,
                Err(TryLockError::Poisoned(kept)) => kept.into_inner(),
                Err(TryLockError::WouldBlock) if self.user.load(Ordering::Relaxed) == me => {
                    return Err(errors::request(
                        py,
                        "the writer is in use by code that it has called".into(),
                    ));
                }
                Err(TryLockError::WouldBlock) => {
                    py.detach(|| std::thread::sleep(PAUSE));
                    py.check_signals()?;
                    continue;
                }
            };
            self.user.store(me, Ordering::Relaxed);
            return Ok(Turn { user: &self.user, kept });
        }
    }
}

impl<T> Turn<'_, T> {
    pub(crate) fn kept(&mut self) -> Option<&mut T> {
        self.kept.as_mut()
    }
}

impl<T> Drop for Turn<'_, T> {
    fn drop(&mut self) {
        self.user.store(0, Ordering::Relaxed);
    }
}

impl<T: Send> Drop for Held<T> {
    fn drop(&mut self) {
        if forthwith_platform::process_id() != self.process {
            // A file that is dropped unfinished is removed, and this one is the other process's.
            std::mem::forget(self.kept.get_mut().unwrap_or_else(PoisonError::into_inner).take());
        }
    }
}

/// A number for the thread, which no other has had.
pub(crate) fn thread_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    thread_local!(static MINE: u64 = NEXT.fetch_add(1, Ordering::Relaxed));
    MINE.with(|mine| *mine)
}
