//! A lock for writers, with checks for forks, reentrance and signals.

use crate::errors;
use pyo3::prelude::*;
use std::{
    sync::{
        Mutex, MutexGuard, PoisonError, TryLockError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

/// Interval at which a waiting thread checks for signals.
const PAUSE: Duration = Duration::from_millis(10);

/// A locked writer. A process forked from its creator must not use it: the file belongs to that
/// process, and a thread of it may hold the lock.
pub(crate) struct Held<T: Send> {
    process: u32,
    /// Number of the thread that holds the lock; 0 if it is free.
    user: AtomicU64,
    kept: Mutex<Option<T>>,
}

/// Guard of the lock.
pub(crate) struct Turn<'a, T> {
    user: &'a AtomicU64,
    kept: MutexGuard<'a, Option<T>>,
}

impl<T: Send> Held<T> {
    pub(crate) fn new(kept: T) -> Self {
        // The memory of Python objects is aligned to 16 bytes.
        const { assert!(align_of::<T>() <= 16) };
        Self {
            process: forthwith_platform::process_id(),
            user: AtomicU64::new(0),
            kept: Mutex::new(Some(kept)),
        }
    }

    /// Waits for the lock, and checks for signals meanwhile.
    ///
    /// # Errors
    /// Returns an error in a forked process, and if this thread holds the lock: a signal handler or an object
    /// that is written to called the writer. Returns the exception of a signal handler.
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
            // Dropping an unfinished writer removes its file, which belongs to the other process.
            std::mem::forget(self.kept.get_mut().unwrap_or_else(PoisonError::into_inner).take());
        }
    }
}

/// Returns a number of the thread, unique in this process.
pub(crate) fn thread_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    thread_local!(static MINE: u64 = NEXT.fetch_add(1, Ordering::Relaxed));
    MINE.with(|mine| *mine)
}
