//! A value that one caller at a time has, while all others wait for their turn.

use pyo3::{exceptions::PyRuntimeError, prelude::*};
use std::{
    ops::{Deref, DerefMut},
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    thread::ThreadId,
};

/// Keeps something that threads use in turn.
pub(super) struct Turns<T> {
    kept: Mutex<Kept<T>>,
    back: Condvar,
}

struct Kept<T> {
    /// Absent while a thread has it and calls Python.
    inner: Option<Box<T>>,
    holder: Option<ThreadId>,
}

impl<T: Send> Turns<T> {
    pub(super) fn new(inner: T) -> Self {
        Self { kept: Mutex::new(Kept { inner: Some(Box::new(inner)), holder: None }), back: Condvar::new() }
    }

    /// Does something short, which never calls Python: the lock is held.
    pub(super) fn with<R>(&self, py: Python<'_>, f: impl FnOnce(&mut T) -> R) -> PyResult<R> {
        let mut kept = self.there(py)?;
        match kept.inner.as_mut() {
            Some(inner) => Ok(f(inner)),
            None => unreachable!("it is there, and the lock is held"),
        }
    }

    /// Takes it until the guard is dropped; Python may be called meanwhile, as no lock is held.
    pub(super) fn take(&self, py: Python<'_>) -> PyResult<Taken<'_, T>> {
        let mut kept = self.there(py)?;
        kept.holder = Some(std::thread::current().id());
        Ok(Taken { turns: self, inner: kept.inner.take() })
    }

    /// Waits until it is there.
    ///
    /// # Errors
    /// It is this thread that has it: what it called calls back.
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
            // The holder may need the interpreter to go on.
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

/// What was taken, which goes back when this is dropped, whatever happened.
pub(super) struct Taken<'a, T> {
    turns: &'a Turns<T>,
    inner: Option<Box<T>>,
}

impl<T> Drop for Taken<'_, T> {
    fn drop(&mut self) {
        let mut kept = self.turns.kept.lock().unwrap_or_else(PoisonError::into_inner);
        (kept.inner, kept.holder) = (self.inner.take(), None);
        drop(kept);
        // All: a short command needs it only once.
        self.turns.back.notify_all();
    }
}

impl<T> Deref for Taken<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        match &self.inner {
            Some(inner) => inner,
            None => unreachable!("only dropping takes it"),
        }
    }
}

impl<T> DerefMut for Taken<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        match &mut self.inner {
            Some(inner) => inner,
            None => unreachable!("only dropping takes it"),
        }
    }
}
