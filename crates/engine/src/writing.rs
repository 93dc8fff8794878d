//! Blocks made on several threads and taken in order.

use forthwith_io::ProcessLock;
use forthwith_plan::{Bench, BlockMaker, BlockRunner, BlockSink, Result, StoredBlock, in_turn};
use std::{
    collections::BTreeMap,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
};

/// Makes blocks on several threads. The calling thread takes finished blocks in order, and makes blocks
/// itself while the next one is not finished.
///
/// Blocks are begun in order. One is begun only while the blocks that are under way, from being begun to
/// being taken, weigh less than a limit together, or if none is under way. So one block that takes long holds
/// up what comes far behind it, and memory does not grow with the number of blocks. Threads live for one run.
#[derive(Debug)]
pub struct BlockThreads {
    threads: usize,
    most: u64,
    idle: ProcessLock<Vec<Bench>>,
    /// Memory of blocks that were taken, for the next run: fresh memory costs more than what is written to it.
    spare: ProcessLock<Vec<Vec<u8>>>,
}

/// Runs that weigh less in all are left to one thread: starting another takes longer.
const WORTH_THREADS: u64 = 256 << 10;

impl BlockThreads {
    /// This number of threads, the calling one included. Blocks under way weigh up to 16 MiB for each of
    /// them.
    #[must_use]
    pub fn new(threads: usize) -> Self {
        let threads = threads.max(1);
        let most = (16 << 20) * threads as u64;
        Self { threads, most, idle: ProcessLock::default(), spare: ProcessLock::default() }
    }

    /// The same, with what blocks under way may weigh together.
    #[must_use]
    pub fn limited(self, most: u64) -> Self {
        Self { most, ..self }
    }

    fn bench(&self) -> Bench {
        self.idle.lock().pop().unwrap_or_default()
    }

    fn rest(&self, mut bench: Bench) {
        bench.trim();
        self.idle.lock().push(bench);
    }

    /// Keeps memory for the next run, no more than blocks under way may weigh.
    fn keep(&self, spare: Vec<Vec<u8>>) {
        let mut left = self.most;
        let fits = |bytes: &Vec<u8>| {
            let rest = left.checked_sub(bytes.capacity() as u64);
            left = rest.unwrap_or(left);
            rest.is_some()
        };
        *self.spare.lock() = spare.into_iter().filter(fits).collect();
    }
}

impl Default for BlockThreads {
    /// As many threads as there are processors.
    fn default() -> Self {
        Self::new(std::thread::available_parallelism().map_or(1, usize::from))
    }
}

impl BlockRunner for BlockThreads {
    fn run(&self, blocks: &dyn BlockMaker, sink: &mut dyn BlockSink) -> Result<()> {
        let count = blocks.blocks();
        let all = (0..count).fold(0, |sum: u64, block| sum.saturating_add(blocks.weight(block)));
        let threads = if all < WORTH_THREADS { 1 } else { self.threads.min(count) };
        if threads < 2 {
            let mut bench = self.bench();
            let result = in_turn(blocks, sink, &mut bench);
            self.rest(bench);
            return result;
        }
        let state = State { spare: std::mem::take(&mut *self.spare.lock()), ..State::default() };
        let run = Run { blocks, count, most: self.most, state: Mutex::new(state), changed: Condvar::new() };
        let result = std::thread::scope(|scope| {
            for _ in 1..threads {
                // Where the system gives no more threads, those there are do all the work.
                let work = || {
                    let mut bench = self.bench();
                    run.work(&mut bench);
                    self.rest(bench);
                };
                if std::thread::Builder::new().spawn_scoped(scope, work).is_err() {
                    break;
                }
            }
            // However the calling thread ends, by a panic of the sink, too, the others must not wait for it.
            let _stop = Stop(&run);
            let mut bench = self.bench();
            let result = run.take(sink, &mut bench);
            self.rest(bench);
            result
        });
        self.keep(run.state.into_inner().unwrap_or_else(PoisonError::into_inner).spare);
        result
    }
}

/// One run, shared by its threads.
struct Run<'a> {
    blocks: &'a dyn BlockMaker,
    count: usize,
    most: u64,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// The block that is begun next.
    next: usize,
    /// Bytes of blocks under way.
    weight: u64,
    /// Blocks under way.
    under_way: usize,
    finished: BTreeMap<usize, Result<StoredBlock>>,
    /// Memory of blocks that were taken.
    spare: Vec<Vec<u8>>,
    /// Nothing more is to be begun.
    stopped: bool,
}

impl Run<'_> {
    /// Makes blocks until there are none.
    fn work(&self, bench: &mut Bench) {
        let _stop = Stop::on_panic(self);
        let mut state = self.lock();
        while !state.stopped && state.next < self.count {
            let Some(block) = self.begin(&mut state, bench) else {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            drop(state);
            let made = self.blocks.make(block, bench);
            state = self.lock();
            state.finished.insert(block, made);
            self.changed.notify_all();
        }
    }

    /// Hands finished blocks to the sink in order, and makes blocks while there is nothing to hand over.
    fn take(&self, sink: &mut dyn BlockSink, bench: &mut Bench) -> Result<()> {
        let mut taken = 0;
        let mut state = self.lock();
        while taken < self.count {
            if let Some(finished) = state.finished.remove(&taken) {
                drop(state);
                let mut stored = finished?;
                sink.take(taken, &mut stored)?;
                state = self.lock();
                state.weight -= self.weight(taken);
                state.under_way -= 1;
                state.spare.push(stored.bytes);
                taken += 1;
                self.changed.notify_all();
            } else if let Some(block) = self.begin(&mut state, bench) {
                drop(state);
                let made = self.blocks.make(block, bench);
                state = self.lock();
                state.finished.insert(block, made);
            } else if state.stopped {
                // Another thread panicked, which the end of the scope tells.
                return Ok(());
            } else {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
        Ok(())
    }

    /// The next block, if there is one and room for it.
    fn begin(&self, state: &mut State, bench: &mut Bench) -> Option<usize> {
        let block = state.next;
        if state.stopped || block >= self.count {
            return None;
        }
        let weight = state.weight.saturating_add(self.weight(block));
        if state.under_way > 0 && weight > self.most {
            return None;
        }
        state.next += 1;
        state.weight = weight;
        state.under_way += 1;
        if let Some(spare) = state.spare.pop() {
            bench.keep(spare);
        }
        Some(block)
    }

    /// What a block weighs; less than what sums of all could not hold.
    fn weight(&self, block: usize) -> u64 {
        self.blocks.weight(block).min(u64::MAX / (self.count as u64).max(1))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Stops a run when it is dropped.
struct Stop<'a, 'r>(&'a Run<'r>);

/// Stops a run when a thread panics.
struct StopOnPanic<'a, 'r>(&'a Run<'r>);

impl<'a, 'r> Stop<'a, 'r> {
    const fn on_panic(run: &'a Run<'r>) -> StopOnPanic<'a, 'r> {
        StopOnPanic(run)
    }
}

impl Drop for Stop<'_, '_> {
    fn drop(&mut self) {
        self.0.lock().stopped = true;
        self.0.changed.notify_all();
    }
}

impl Drop for StopOnPanic<'_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            drop(Stop(self.0));
        }
    }
}
