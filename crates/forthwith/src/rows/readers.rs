//! Large steps, read by several threads, of which one is that which asks for them.

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

/// Steps that are read at a time, by a thread each. More threads than these share the work of a step.
const READERS: usize = 4;

/// Steps in their order, which threads read. [`next`](Self::next) reads steps, too, until its own is ready, so that no more
/// threads work than were asked for. Besides the present step, one for each of them is in memory.
pub(super) struct Readers {
    shared: Arc<Shared>,
    spawned: Vec<JoinHandle<()>>,
    /// Threads for a step that the caller reads.
    own: usize,
}

struct Shared {
    state: Mutex<State>,
    /// A step was read or delivered, or the readers are dropped.
    changed: Condvar,
    is_dropped: AtomicBool,
    reader: Arc<dyn StepReader>,
}

struct State {
    steps: Box<dyn RowSteps>,
    /// Limit of the steps that are taken and not delivered.
    most: u64,
    taken: u64,
    delivered: u64,
    is_at_end: bool,
    /// Steps by their numbers.
    read: BTreeMap<u64, Result<Selected>>,
}

impl Readers {
    /// Starts to read with some threads, two at least, the caller's among them.
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
        // Of threads that cannot be divided evenly, the first readers have one more.
        let own = |reader| threads / readers + usize::from(reader < threads % readers);
        let spawn = |reader| {
            let (shared, threads) = (Arc::clone(&shared), own(reader));
            let read = move || shared.read_all(threads);
            std::thread::Builder::new().name("forthwith rows".into()).spawn(read)
        };
        // Threads that cannot be had are done without.
        let spawned = (1..readers).map(spawn).filter_map(std::io::Result::ok).collect();
        Self { shared: Arc::clone(&shared), spawned, own: own(0) }
    }

    /// The next step; none after the last.
    ///
    /// # Errors
    /// The step cannot be cut or read. It is the last one then.
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
        // Threads look at it before they wait.
        let state = self.shared.lock();
        self.shared.is_dropped.store(true, Ordering::Relaxed);
        drop(state);
        self.shared.changed.notify_all();
        self.spawned.drain(..).for_each(|thread| drop(thread.join()));
    }
}

impl Shared {
    /// A thread that panicked has put an error in the place of its step.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads steps until there are none.
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
    /// The next step to read with its number; none after the last, and as long as too many are not delivered.
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

/// Puts a step to the others when it is dropped: if its reader panicked, an error.
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
