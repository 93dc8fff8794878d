//! What is taken from where threads find it, and goes back.

use std::ops::{Deref, DerefMut};

/// Where something is taken from.
pub(crate) trait TakenFrom<T> {
    fn give_back(&self, inner: Option<Box<T>>);
}

/// What was taken, which goes back when this is dropped, whatever happened.
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
