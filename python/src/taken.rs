//! A guard that returns a taken value.

use std::ops::{Deref, DerefMut};

/// Owner of a value that can be taken.
pub(crate) trait TakenFrom<T> {
    fn give_back(&self, inner: Option<Box<T>>);
}

/// A taken value, which is returned when the guard is dropped, also after a panic.
pub(crate) struct Taken<'a, T, F: TakenFrom<T>> {
    from: &'a F,
    inner: Option<Box<T>>,
}

impl<'a, T, F: TakenFrom<T>> Taken<'a, T, F> {
    pub(crate) fn new(from: &'a F, inner: Box<T>) -> Self {
        Self { from, inner: Some(inner) }
    }
}

impl<T, F: TakenFrom<T>> Drop for Taken<'_, T, F> {
    fn drop(&mut self) {
        self.from.give_back(self.inner.take());
    }
}

impl<T, F: TakenFrom<T>> Deref for Taken<'_, T, F> {
    type Target = T;

    fn deref(&self) -> &T {
        match &self.inner {
            Some(inner) => inner,
            None => unreachable!("only dropping takes it"),
        }
    }
}

impl<T, F: TakenFrom<T>> DerefMut for Taken<'_, T, F> {
    fn deref_mut(&mut self) -> &mut T {
        match &mut self.inner {
            Some(inner) => inner,
            None => unreachable!("only dropping takes it"),
        }
    }
}
