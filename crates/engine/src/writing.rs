//! Blocks made on several threads and taken in order.

use forthwith_io::has_headroom;
use forthwith_plan::{Bench, BlockMaker, BlockRunner, BlockSink, Error, Result, StoredBlock, in_turn};
use forthwith_platform::{Instant, ProcessLock};
use std::{
    collections::BTreeMap,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// Makes blocks on several threads, the calling one included. A thread that may take blocks takes those that are
/// finished and come next, and makes blocks while there are none.
///
/// Where any thread may take them, most blocks are taken by the thread that made them, from memory which is in its
/// caches and in which it makes its next block.
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

/// Runs of a smaller total weight use one thread: starting another takes longer.
const WORTH_THREADS: u64 = 256 << 10;

/// Bytes allocated when a thread starts: its stack, and the allocator's thread cache.
const THREAD: usize = 4 << 20;

impl BlockThreads {
    /// Creates a runner with this number of threads, including the calling one. Unfinished blocks weigh at
    /// most 16 MiB per thread.
    #[must_use]
    pub fn new(threads: usize) -> Self {
        let threads = threads.max(1);
        let most = (16 << 20) * threads as u64;
        Self { threads, most, idle: ProcessLock::default(), spare: ProcessLock::default() }
    }

    /// Sets the upper bound on the total weight of unfinished blocks.
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

    /// Keeps buffers for the next run, up to the bound on unfinished blocks.
    fn keep(&self, spare: Vec<Vec<u8>>) {
        let mut left = self.most;
        let fits = |bytes: &Vec<u8>| {
            let rest = left.checked_sub(bytes.capacity() as u64);
            left = rest.unwrap_or(left);
            rest.is_some()
        };
        *self.spare.lock() = spare.into_iter().filter(fits).collect();
    }

    /// Returns the number of threads that pay for their start.
    fn threads_for(&self, blocks: &dyn BlockMaker) -> usize {
        let count = blocks.blocks();
        let all = (0..count).fold(0, |sum: u64, block| sum.saturating_add(blocks.weight(block)));
        let threads = if all < WORTH_THREADS { 1 } else { self.threads.min(count) };
        // A thread without memory for its stack, its blocks and their stored bytes ends the process.
        let held = usize::try_from(all.min(self.most)).unwrap_or(usize::MAX).saturating_mul(2);
        let needed = (threads * THREAD).saturating_add(held);
        if threads > 1 && !has_headroom(needed) { 1 } else { threads }
    }

    fn run_alone(&self, blocks: &dyn BlockMaker, sink: &mut dyn BlockSink) -> Result<()> {
        let mut bench = self.bench();
        let result = in_turn(blocks, sink, &mut bench);
        self.rest(bench);
        result
    }

    /// Runs the work of the calling thread, and of the others beside it.
    fn run_on(
        &self,
        threads: usize,
        blocks: &dyn BlockMaker,
        others: &(dyn Fn(&Run<'_>, &mut Bench) + Sync),
        own: impl FnOnce(&Run<'_>, &mut Bench),
    ) -> Result<()> {
        let state = State { spare: std::mem::take(&mut *self.spare.lock()), ..State::default() };
        let count = blocks.blocks();
        let run = Run { blocks, count, most: self.most, state: Mutex::new(state), changed: Condvar::new() };
        std::thread::scope(|scope| {
            for _ in 1..threads {
                // Where the system gives no more threads, those there are do all the work.
                let work = || {
                    let mut bench = self.bench();
                    others(&run, &mut bench);
                    self.rest(bench);
                };
                if std::thread::Builder::new().spawn_scoped(scope, work).is_err() {
                    break;
                }
            }
            let mut bench = self.bench();
            own(&run, &mut bench);
            self.rest(bench);
        });
        let state = run.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.keep(state.spare);
        state.error.map_or(Ok(()), Err)
    }
}

impl Default for BlockThreads {
    /// As many threads as there are processors.
    fn default() -> Self {
        Self::new(forthwith_platform::parallelism())
    }
}

impl BlockRunner for BlockThreads {
    fn threads(&self) -> usize {
        self.threads
    }

    fn run(&self, blocks: &dyn BlockMaker, sink: &mut dyn BlockSink) -> Result<()> {
        match self.threads_for(blocks) {
            1 => self.run_alone(blocks, sink),
            threads => {
                let making = |run: &Run<'_>, bench: &mut Bench| run.work(bench, None, None);
                self.run_on(threads, blocks, &making, |run, bench| run.work(bench, Some(sink), None))
            }
        }
    }

    fn run_anywhere(&self, blocks: &dyn BlockMaker, mut sink: &mut (dyn BlockSink + Send)) -> Result<()> {
        match self.threads_for(blocks) {
            1 => self.run_alone(blocks, &mut sink),
            threads => {
                let sink = Mutex::new(sink);
                let listen = || sink.lock().unwrap_or_else(PoisonError::into_inner).listen();
                let taking =
                    |run: &Run<'_>, bench: &mut Bench| run.work(bench, Some(&mut Shared(&sink)), None);
                self.run_on(threads, blocks, &taking, |run, bench| {
                    run.work(bench, Some(&mut Shared(&sink)), Some(&listen));
                })
            }
        }
    }
}

/// A sink of several threads, of which one at a time takes a block.
struct Shared<'m, 's>(&'m Mutex<&'s mut (dyn BlockSink + Send)>);

impl BlockSink for Shared<'_, '_> {
    fn take(&mut self, block: usize, stored: &mut StoredBlock) -> Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take(block, stored)
    }
}

/// How often the calling thread listens, which has to wait for the block that another one takes.
const LISTEN: Duration = Duration::from_millis(50);

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
    /// The block that is taken next, or is being taken.
    taken: usize,
    /// A thread is taking blocks.
    taking: bool,
    /// Why taking or making a block failed.
    error: Option<Error>,
    /// Memory of blocks that were taken.
    spare: Vec<Vec<u8>>,
    /// Nothing more is to be begun.
    stopped: bool,
}

impl State {
    /// The block that is taken next, if it is finished and no other thread takes one.
    fn next_finished(&mut self) -> Option<Result<StoredBlock>> {
        let block = if self.taking { None } else { self.finished.remove(&self.taken) };
        self.taking |= block.is_some();
        block
    }
}

impl Run<'_> {
    /// Takes and makes blocks until all are taken, or one fails. A thread without a sink makes blocks until all are
    /// begun. One that listens does so between blocks and while it waits.
    fn work(
        &self,
        bench: &mut Bench,
        mut sink: Option<&mut dyn BlockSink>,
        listen: Option<&dyn Fn() -> Result<()>>,
    ) {
        let mut heard = Instant::now();
        let mut listen = || match listen {
            Some(listen) if heard.elapsed() >= LISTEN => {
                heard = Instant::now();
                listen()
            }
            _ => Ok(()),
        };
        let _stop = StopOnPanic(self);
        let mut state = self.lock();
        while !state.stopped && state.taken < self.count {
            if let Some(sink) = &mut sink
                && let Some(finished) = state.next_finished()
            {
                let block = state.taken;
                drop(state);
                let taken = listen().and(finished).and_then(|mut stored| {
                    sink.take(block, &mut stored)?;
                    Ok(stored.bytes)
                });
                state = self.lock();
                self.took(&mut state, taken, bench);
            } else if let Some(block) = self.begin(&mut state, bench) {
                drop(state);
                let made = listen().and_then(|()| self.blocks.make(block, bench));
                state = self.lock();
                state.finished.insert(block, made);
                // Otherwise this thread takes it, or the one that is taking.
                if sink.is_none() {
                    self.changed.notify_all();
                }
            } else if sink.is_none() && state.next >= self.count {
                break;
            } else {
                let (waited, _) =
                    self.changed.wait_timeout(state, LISTEN).unwrap_or_else(PoisonError::into_inner);
                drop(waited);
                let heard = listen();
                state = self.lock();
                if let Err(error) = heard {
                    state.error.get_or_insert(error);
                    state.stopped = true;
                    self.changed.notify_all();
                }
            }
        }
    }

    /// Counts a block that was taken, whose memory is kept; stops if that failed.
    fn took(&self, state: &mut State, taken: Result<Vec<u8>>, bench: &mut Bench) {
        state.taking = false;
        match taken {
            Ok(bytes) if bench.has_spare() => state.spare.push(bytes),
            Ok(bytes) => bench.keep(bytes),
            Err(error) => {
                state.error.get_or_insert(error);
                state.stopped = true;
            }
        }
        state.weight -= self.weight(state.taken);
        state.under_way -= 1;
        state.taken += 1;
        self.changed.notify_all();
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
        if !bench.has_spare()
            && let Some(spare) = state.spare.pop()
        {
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

/// Stops a run when a thread panics: the others must not wait for it.
struct StopOnPanic<'r, 'a>(&'r Run<'a>);

impl Drop for StopOnPanic<'_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.lock().stopped = true;
            self.0.changed.notify_all();
        }
    }
}
