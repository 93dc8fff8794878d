//! Locks that a forked process can take.
//!
//! `fork` copies one thread and all memory. A mutex that another thread held at that moment is held for ever
//! in the new process, and what it guards may be changed by half. So state that lives as long as a file, and
//! that threads share, is behind a [`ProcessLock`]: each process has a mutex and a value of its own, found by
//! the process' number without waiting for anybody. A forked process begins with the value that [`Default`]
//! makes, which is why only what can be found out again belongs here: what was read of a file already.
//!
//! Values that are made once are kept in a [`ProcessOnce`](crate::ProcessOnce).
//!
//! Numbers of processes are used again. A process can only meet a slot of an ancestor with its own number:
//! one that has ended, all of whose numbers since were given away once around, while a thread of it held the
//! lock at the fork. Then it would wait; a number and the time when the process began would tell the two
//! apart, for a question to the system at every use.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A mutex for each process that has this memory: a process that was forked while a thread of its parent held
/// the lock can take it.
#[derive(Debug)]
pub struct ProcessLock<T>([Slot<T>; GENERATIONS]);

/// Processes that were forked from one another and all use a lock. In later ones nothing is remembered from
/// one use to the next.
pub(crate) const GENERATIONS: usize = 4;

/// Whether a slot is of this process, which takes it if it is free. That is one step: no fork can fall in
/// between.
pub(crate) fn is_of(slot: &AtomicU32, process: u32) -> bool {
    slot.load(SeqCst) == process
        || slot.compare_exchange(0, process, SeqCst, SeqCst).map_or_else(|at| at == process, |_| true)
}

#[derive(Debug, Default)]
struct Slot<T> {
    /// The process that has it; 0 if none has.
    process: AtomicU32,
    value: Mutex<T>,
}

impl ProcessLock<()> {
    /// A lock of a static, which guards what is elsewhere.
    pub(crate) const fn of_nothing() -> Self {
        Self([const { Slot { process: AtomicU32::new(0), value: Mutex::new(()) } }; GENERATIONS])
    }
}

impl<T: Default> ProcessLock<T> {
    /// A lock with what it guards in this process.
    pub fn new(value: T) -> Self {
        let mut slots: [Slot<T>; GENERATIONS] = Default::default();
        slots[0] = Slot { process: AtomicU32::new(std::process::id()), value: Mutex::new(value) };
        Self(slots)
    }

    /// Waits for other threads of this process. A value that a thread left in the middle of a change by a
    /// panic is taken as it is.
    pub fn lock(&self) -> ProcessGuard<'_, T> {
        self.lock_of(std::process::id())
    }

    fn lock_of(&self, process: u32) -> ProcessGuard<'_, T> {
        // Slots of the processes before are passed.
        let mine = self.0.iter().find(|slot| is_of(&slot.process, process));
        ProcessGuard(match mine {
            Some(slot) => Held::Shared(slot.value.lock().unwrap_or_else(PoisonError::into_inner)),
            None => Held::Own(T::default()),
        })
    }
}

impl<T: Default> Default for ProcessLock<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

/// The value that a [`ProcessLock`] guards, for as long as this lives.
#[derive(Debug)]
pub struct ProcessGuard<'a, T>(Held<'a, T>);

#[derive(Debug)]
enum Held<'a, T> {
    Shared(MutexGuard<'a, T>),
    Own(T),
}

impl<T> Deref for ProcessGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        match &self.0 {
            Held::Shared(guard) => guard,
            Held::Own(value) => value,
        }
    }
}

impl<T> DerefMut for ProcessGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        match &mut self.0 {
            Held::Shared(guard) => guard,
            Held::Own(value) => value,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_that_another_process_holds_is_not_waited_for() {
        let lock = ProcessLock::new(vec![1]);
        let held = lock.lock();
        let other = std::process::id() + 1;
        {
            let mut child = lock.lock_of(other);
            assert!(child.is_empty());
            child.push(2);
        }
        assert_eq!(*lock.lock_of(other), [2]);
        assert_eq!(*held, [1]);
        drop(held);
        assert_eq!(*lock.lock(), [1]);
    }

    #[test]
    fn after_many_generations_nothing_is_remembered_and_nothing_waits() {
        let lock = ProcessLock::new(0);
        let own = std::process::id();
        for process in (own..).take(GENERATIONS) {
            *lock.lock_of(process) = process;
        }
        let late = own + GENERATIONS as u32;
        *lock.lock_of(late) = late;
        assert_eq!(*lock.lock_of(late), 0);
        assert_eq!(*lock.lock_of(own + 1), own + 1);
    }
}
