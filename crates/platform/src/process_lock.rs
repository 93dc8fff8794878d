//! Locks that a forked process can take.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::ForkLocal;

/// A mutex for each process that has this memory, which a process can lock even if it was forked while a
/// thread of its parent held the lock. Its value begins as [`Default`], so it must be state that can be
/// computed again, such as metadata of a file.
///
/// Values that are initialised once are kept in a [`ProcessOnce`](crate::ProcessOnce).
#[derive(Debug, Default)]
pub struct ProcessLock<T>(ForkLocal<Mutex<T>>);

impl<T> ProcessLock<T> {
    /// Creates a lock with the default value in every process, for statics.
    #[must_use]
    pub const fn of_default() -> Self {
        Self(ForkLocal::new())
    }
}

impl<T: Default> ProcessLock<T> {
    /// Creates a lock with a value in this process; other processes begin with the default.
    pub fn new(value: T) -> Self {
        Self(ForkLocal::with(Mutex::new(value)))
    }

    /// Locks the mutex; blocks while another thread of this process holds it. Poisoning is ignored: a value
    /// that a panic left half changed is returned as it is.
    pub fn lock(&self) -> ProcessGuard<'_, T> {
        ProcessGuard(self.0.get().lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Guard of a [`ProcessLock`], which is unlocked when the guard is dropped.
#[derive(Debug)]
pub struct ProcessGuard<'a, T>(MutexGuard<'a, T>);

impl<T> Deref for ProcessGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for ProcessGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process_id;

    #[test]
    fn a_lock_that_another_process_holds_is_not_waited_for() {
        let lock = ProcessLock::new(vec![1]);
        let held = lock.lock();
        let other = process_id() + 1;
        lock.0.get_of(other).try_lock().expect("a lock of its own").push(2);
        assert_eq!(*lock.0.get_of(other).lock().expect("nobody panics"), [2]);
        assert_eq!(*held, [1]);
        drop(held);
        assert_eq!(*lock.lock(), [1]);
    }
}
