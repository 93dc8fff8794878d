//! Concurrent reading of large steps by several threads, including the caller's.

use super::{RowSteps, StepReader};
use crate::{Progress, Selected};
use forthwith_plan::{Error, Result};
use std::{
    collections::BTreeMap,
    ops::Range,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
};

/// Maximum number of steps that are read concurrently, each by one thread. Further threads share the work of
/// a step.
const READERS: usize = 4;

/// Steps in order, read by threads. [`next`](Self::next) reads steps, too, until its own is ready, so that no
/// more threads work than requested. Besides the current step, one for each reader is in memory.
pub(super) struct Readers {
    shared: Arc<Shared>,
    spawned: Vec<JoinHandle<()>>,
    /// Number of threads for a step that the caller reads.
    own: usize,
}

struct Shared {
    state: Mutex<State>,
    /// Notified when a step was read or delivered, and when the readers are dropped.
    changed: Condvar,
    is_dropped: AtomicBool,
    reader: Arc<dyn StepReader>,
}

struct State {
    steps: Box<dyn RowSteps>,
    /// Maximum number of steps that are taken but not delivered.
    most: u64,
    taken: u64,
    delivered: u64,
    is_at_end: bool,
    /// Steps that were read, by number.
    read: BTreeMap<u64, Result<Selected>>,
}

impl Readers {
    /// Starts to read with at least two threads, including the caller's.
    pub(super) fn start(steps: Box<dyn RowSteps>, threads: usize) -> Self {
        let readers = threads.clamp(2, READERS);
        let reader = steps.reader();
        let most = readers as u64;
        let state = State { steps, most, taken: 0, delivered: 0, is_at_end: false, read: BTreeMap::new() };
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
            changed: Condvar::new(),
            is_dropped: AtomicBool::new(false),
            reader,
        });
        // If threads cannot be divided evenly, the first readers get one more.
        let own = |reader| threads / readers + usize::from(reader < threads % readers);
        let spawn = |reader| {
            let (shared, threads) = (Arc::clone(&shared), own(reader));
            let read = move || shared.read_all(threads);
            std::thread::Builder::new().name("forthwith rows".into()).spawn(read)
        };
        // Threads that cannot be spawned are left out.
        let spawned = (1..readers).map(spawn).filter_map(std::io::Result::ok).collect();
        Self { shared: Arc::clone(&shared), spawned, own: own(0) }
    }

    /// Returns the next step, or `None` after the last.
    ///
    /// # Errors
    /// The step cannot be determined or read, and is the last one.
    pub(super) fn next(&self) -> Result<Option<Selected>> {
        let shared = &*self.shared;
        let mut state = shared.lock();
        loop {
            let wanted = state.delivered;
            if let Some(step) = state.read.remove(&wanted) {
                state.delivered += 1;
                shared.changed.notify_all();
                return step.map(Some);
            }
            if let Some((number, step)) = state.take() {
                drop(state);
                shared.read(number, step, self.own);
                state = shared.lock();
            } else if state.is_at_end && state.taken == wanted {
                return Ok(None);
            } else {
                state = shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        // Threads check the flag before they wait.
        let state = self.shared.lock();
        self.shared.is_dropped.store(true, Ordering::Relaxed);
        drop(state);
        self.shared.changed.notify_all();
        self.spawned.drain(..).for_each(|thread| drop(thread.join()));
    }
}

impl Shared {
    /// Locks the state. A panicking thread leaves an error as its step.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads steps until none are left.
    fn read_all(&self, threads: usize) {
        let mut state = self.lock();
        while !self.is_dropped.load(Ordering::Relaxed) && !state.is_at_end {
            if let Some((number, step)) = state.take() {
                drop(state);
                self.read(number, step, threads);
                state = self.lock();
            } else if !state.is_at_end {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }

    fn read(&self, number: u64, step: Result<Range<u64>>, threads: usize) {
        let mut put = Put { shared: self, number, step: None };
        let read = |step| {
            let tick = &mut |_: Progress| !self.is_dropped.load(Ordering::Relaxed);
            self.reader.read_step(step, Some(threads), tick)
        };
        put.step = Some(step.and_then(read));
    }
}

impl State {
    /// Returns the next step to read with its number; `None` after the last, and while too many are not
    /// delivered.
    fn take(&mut self) -> Option<(u64, Result<Range<u64>>)> {
        if self.is_at_end || self.taken - self.delivered >= self.most {
            return None;
        }
        let step = self.steps.skip_step().transpose();
        self.is_at_end = step.is_none();
        let number = self.taken;
        self.taken += u64::from(step.is_some());
        step.map(|step| (number, step))
    }
}

/// Delivers a step when it is dropped: an error, if its reader panicked.
struct Put<'a> {
    shared: &'a Shared,
    number: u64,
    step: Option<Result<Selected>>,
}

impl Drop for Put<'_> {
    fn drop(&mut self) {
        let step =
            self.step.take().unwrap_or_else(|| Err(Error::fault("the thread that reads rows panicked")));
        self.shared.lock().read.insert(self.number, step);
        self.shared.changed.notify_all();
    }
}
