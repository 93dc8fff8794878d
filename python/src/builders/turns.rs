//! A lock whose value can be taken, so that the lock is not held while Python is called.

use crate::taken::{Taken, TakenFrom};
use pyo3::{exceptions::PyRuntimeError, prelude::*};
use std::{
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    thread::ThreadId,
};

/// Holds a value that threads use one at a time.
pub(super) struct Turns<T> {
    kept: Mutex<Kept<T>>,
    back: Condvar,
}

struct Kept<T> {
    /// `None` while a thread has taken it and may call Python.
    inner: Option<Box<T>>,
    holder: Option<ThreadId>,
}

impl<T: Send> Turns<T> {
    pub(super) fn new(inner: T) -> Self {
        Self { kept: Mutex::new(Kept { inner: Some(Box::new(inner)), holder: None }), back: Condvar::new() }
    }

    /// Calls `f` with the lock held; `f` must not call Python.
    pub(super) fn with<R>(&self, py: Python<'_>, f: impl FnOnce(&mut T) -> R) -> PyResult<R> {
        let mut kept = self.there(py)?;
        match kept.inner.as_mut() {
            Some(inner) => Ok(f(inner)),
            None => unreachable!("it is there, and the lock is held"),
        }
    }

    /// Takes the value until the guard is dropped. The lock is released, so that Python may be called
    /// meanwhile.
    pub(super) fn take(&self, py: Python<'_>) -> PyResult<Taken<'_, T, Self>> {
        let mut kept = self.there(py)?;
        let Some(inner) = kept.inner.take() else { unreachable!("it is there, and the lock is held") };
        kept.holder = Some(std::thread::current().id());
        Ok(Taken::new(self, inner))
    }

    /// Waits until the value is present.
    ///
    /// # Errors
    /// Returns an error if this thread has taken the value: code that it called uses the builder again.
    fn there(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, Kept<T>>> {
        loop {
            let kept = self.lock();
            if kept.inner.is_some() {
                return Ok(kept);
            }
            if kept.holder == Some(std::thread::current().id()) {
                return Err(PyRuntimeError::new_err(
                    "the builder is looking at a value, and what it calls uses it",
                ));
            }
            drop(kept);
            // The thread that holds the value may need the interpreter to continue.
            py.detach(|| {
                let mut kept = self.lock();
                while kept.inner.is_none() {
                    kept = self.back.wait(kept).unwrap_or_else(PoisonError::into_inner);
                }
            });
        }
    }

    fn lock(&self) -> MutexGuard<'_, Kept<T>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Send> TakenFrom<T> for Turns<T> {
    fn give_back(&self, inner: Option<Box<T>>) {
        let mut kept = self.lock();
        (kept.inner, kept.holder) = (inner, None);
        drop(kept);
        // All waiting threads are notified, as short calls return without taking the value.
        self.back.notify_all();
    }
}
