//! A value for each process.
//!
//! `fork` copies one thread and all memory. A mutex that another thread held at that moment stays locked in
//! the new process, and the value it guards may be half changed. So state that threads share belongs to one
//! process: a forked process begins with the default value, which it finds by its process id without waiting
//! for another thread.
//!
//! Process ids are reused. A process finds a slot of an ancestor with its own id only if that ancestor has
//! ended and all ids have been assigned since; then it shares that ancestor's value.

use std::sync::OnceLock;
use std::sync::atomic::AtomicU32;

use crate::process::{GENERATIONS, is_of, process_id};

/// A value for each process that has this memory, initialised with [`Default`] on first use.
#[derive(Debug)]
pub struct ForkLocal<T> {
    slots: [Slot<T>; GENERATIONS],
    /// Values of processes that find no free slot.
    later: OnceLock<Box<Self>>,
}

#[derive(Debug)]
struct Slot<T> {
    /// The process that owns the slot; 0 if it is free.
    process: AtomicU32,
    value: OnceLock<T>,
}

impl<T> ForkLocal<T> {
    /// Creates a `ForkLocal` without a value in any process.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            slots: [const { Slot { process: AtomicU32::new(0), value: OnceLock::new() } }; GENERATIONS],
            later: OnceLock::new(),
        }
    }
}

impl<T: Default> ForkLocal<T> {
    /// Creates a `ForkLocal` with a value in this process.
    pub fn with(value: T) -> Self {
        let mut made = Self::new();
        made.slots[0] = Slot { process: AtomicU32::new(process_id()), value: OnceLock::from(value) };
        made
    }

    /// Returns the value of this process, which is initialised on first use.
    pub fn get(&self) -> &T {
        self.get_of(process_id())
    }

    pub(crate) fn get_of(&self, process: u32) -> &T {
        match self.slots.iter().find(|slot| is_of(&slot.process, process)) {
            Some(slot) => slot.value.get_or_init(T::default),
            None => self.later.get_or_init(Box::default).get_of(process),
        }
    }
}

impl<T> Default for ForkLocal<T> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn each_process_has_a_value() {
        let local = ForkLocal::with(Mutex::new(7));
        let own = process_id();
        let held = local.get().lock().expect("nobody panics");
        // A process that is forked now does not block, in any generation.
        for process in (own + 1..).take(3 * GENERATIONS) {
            let mut value = local.get_of(process).try_lock().expect("a lock of its own");
            assert_eq!(*value, 0);
            *value = process;
        }
        drop(held);
        for process in (own + 1..).take(3 * GENERATIONS) {
            assert_eq!(*local.get_of(process).lock().expect("nobody panics"), process);
        }
        assert_eq!(*local.get().lock().expect("nobody panics"), 7);
    }
}
