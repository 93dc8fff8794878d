//! Values that are initialised once, and lists that only grow, for processes that may be forked at any time.
//!
//! A [`OnceLock`] that a thread was initialising when its process was forked stays in that state in the new
//! process, which would wait for it forever. Here each process initialises a cell of its own, and reads the
//! cells of all: at worst, a value is computed again.

use std::sync::OnceLock;
use std::sync::atomic::AtomicU32;

use crate::process::{GENERATIONS, is_of, process_id};

/// A value that is initialised once, by a thread of this process or of an ancestor. Values that are computed
/// twice must be equal.
#[derive(Debug)]
pub struct ProcessOnce<T>([Cell<T>; GENERATIONS]);

#[derive(Debug)]
struct Cell<T> {
    /// The process that initialises the cell; 0 if it is free.
    process: AtomicU32,
    value: OnceLock<T>,
}

impl<T> ProcessOnce<T> {
    /// Creates a `ProcessOnce` without a value.
    #[must_use]
    pub const fn new() -> Self {
        Self([const { Cell { process: AtomicU32::new(0), value: OnceLock::new() } }; GENERATIONS])
    }

    /// Returns the value, if there is one. Does not block.
    pub fn get(&self) -> Option<&T> {
        self.0.iter().find_map(|cell| cell.value.get())
    }

    /// Stores a value unless there is one already, and returns the stored one.
    pub fn keep(&self, value: T) -> &T {
        self.keep_of(process_id(), value)
    }

    /// Returns the value, and computes it with `make` if there is none. No lock is held during `make`, which
    /// several threads may call at once.
    pub fn get_or_make(&self, make: impl FnOnce() -> T) -> &T {
        match self.get() {
            Some(there) => there,
            None => self.keep(make()),
        }
    }

    /// Returns the value, and computes it with `make` if there is none, as [`get_or_make`](Self::get_or_make)
    /// does.
    ///
    /// # Errors
    /// Returns the error of `make`; no value is stored then.
    pub fn get_or_try<E>(&self, make: impl FnOnce() -> Result<T, E>) -> Result<&T, E> {
        match self.get() {
            Some(there) => Ok(there),
            None => Ok(self.keep(make()?)),
        }
    }

    fn keep_of(&self, process: u32, value: T) -> &T {
        if let Some(there) = self.get() {
            return there;
        }
        let [before @ .., last] = &self.0;
        // A cell stays claimed without a value only if its process was forked within the few instructions of
        // initialising it. If that happened to all cells, the last one is shared.
        let mine = before.iter().find(|cell| is_of(&cell.process, process)).unwrap_or(last);
        mine.value.get_or_init(|| value)
    }
}

impl<T> Default for ProcessOnce<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// An append-only list that is read without a lock. Its items are never freed.
#[derive(Debug)]
pub struct ProcessList<T: 'static>(ProcessOnce<&'static Link<T>>);

#[derive(Debug)]
struct Link<T: 'static> {
    value: T,
    next: ProcessOnce<&'static Self>,
}

impl<T> ProcessList<T> {
    /// Creates an empty list.
    #[must_use]
    pub const fn new() -> Self {
        Self(ProcessOnce::new())
    }

    /// Returns the items in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = &'static T> {
        self.links().map(|link| &link.value)
    }

    /// Appends the value of `make`, which is called again if another thread appended first. Returns false,
    /// without appending, once `make` returns `None`.
    pub fn add(&self, make: impl Fn() -> Option<T>) -> bool {
        loop {
            let end = self.links().last().map_or(&self.0, |link| &link.next);
            // Called after the end was found: an item appended in between moves the end.
            let Some(value) = make() else { return false };
            let link: &'static Link<T> = Box::leak(Box::new(Link { value, next: ProcessOnce::new() }));
            if std::ptr::eq(*end.keep(link), link) {
                return true;
            }
        }
    }

    fn links(&self) -> impl Iterator<Item = &'static Link<T>> {
        std::iter::successors(self.0.get().copied(), |link| link.next.get().copied())
    }
}

impl<T> Default for ProcessList<T> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    /// A cell that another thread is initialising stands for one whose thread the forked process does not
    /// have.
    #[test]
    fn a_cell_that_another_process_was_filling_is_not_waited_for() {
        let once = ProcessOnce::new();
        let (began, begins) = channel();
        let (release, released) = channel::<()>();
        std::thread::scope(|scope| {
            let once = &once;
            scope.spawn(move || {
                assert!(is_of(&once.0[0].process, 1));
                once.0[0].value.get_or_init(|| {
                    began.send(()).expect("the test listens");
                    released.recv().expect("the test releases");
                    5
                });
            });
            begins.recv().expect("the thread begins");
            assert_eq!(once.get(), None);
            assert_eq!(*once.keep_of(2, 5), 5);
            assert_eq!(once.get(), Some(&5));
            // A child process finds the value, and claims no cell.
            assert_eq!(*once.keep_of(3, 5), 5);
            assert!(is_of(&once.0[2].process, 9));
            release.send(()).expect("the thread waits");
        });
        assert_eq!(once.get(), Some(&5));
    }

    #[test]
    fn lists_have_what_all_threads_added() {
        static LIST: ProcessList<(usize, usize)> = ProcessList::new();
        std::thread::scope(|scope| {
            for thread in 0..4 {
                scope.spawn(move || (0..100).for_each(|number| assert!(LIST.add(|| Some((thread, number))))));
            }
        });
        let mut found: Vec<_> = LIST.iter().copied().collect();
        assert_eq!(found.len(), 400);
        for thread in 0..4 {
            let own: Vec<usize> =
                found.iter().filter(|(of, _)| *of == thread).map(|(_, number)| *number).collect();
            assert!(own.is_sorted());
        }
        found.sort_unstable();
        found.dedup();
        assert_eq!(found.len(), 400);
        assert!(!LIST.add(|| None));
    }
}
