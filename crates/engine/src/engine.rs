//! The engine: its options, its allocator, and the workers and programs that are reused between calls.

use crate::{bulk, file_version::confirmed, part::Part, worker::Worker};
use forthwith_columns::{Memory, Policy};
use forthwith_forth::{Compiled, Programs};
use forthwith_io::Source;
use forthwith_plan::{BlockFormat, Plan, Result};
use forthwith_platform::process_id;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Options of an [`Engine`].
#[derive(Clone, Debug)]
pub struct Options {
    /// Number of threads including the calling one; at least 1.
    pub threads: usize,
    /// Allocation policy of columns.
    pub policy: Policy,
    /// Upper bound on the bytes that are prefetched, for sources that are neither mapped nor in memory.
    pub read_ahead: u64,
}

impl Options {
    /// Returns the default options with this number of threads. The number of processors is not queried,
    /// which would read several system files.
    #[must_use]
    pub fn with_threads(threads: usize) -> Self {
        let policy = Policy { shared: true, ..Policy::default() };
        Self { threads: threads.max(1), policy, read_ahead: 64 << 20 }
    }
}

impl Default for Options {
    /// Returns options with one thread for each processor, the default memory policy but with memory shared
    /// by the engines of this process, and 64 MiB of prefetching.
    fn default() -> Self {
        Self::with_threads(forthwith_platform::parallelism())
    }
}

/// Progress of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Number of blocks that were decoded.
    pub blocks: u64,
    /// Number of blocks of all plans of the call.
    pub all_blocks: u64,
    /// Number of stored bytes of the decoded blocks.
    pub bytes: u64,
    /// Number of stored bytes of all plans of the call.
    pub all_bytes: u64,
}

impl Progress {
    /// Returns the totals of some plans without decoding any block.
    pub(crate) fn of(parts: &[Part<'_>]) -> Self {
        let all_blocks = parts.iter().map(|part| part.plan.tasks.len() as u64).sum();
        let all_bytes = parts.iter().fold(0_u64, |sum, part| sum.saturating_add(part.plan.stored_bytes()));
        Self { all_blocks, all_bytes, ..Self::default() }
    }
}

/// Callback that is called regularly on the calling thread. If it returns `false`, the call ends with
/// [`Cancelled`](forthwith_plan::ErrorKind::Cancelled).
pub type ProgressCallback<'a> = dyn FnMut(Progress) -> bool + 'a;

/// Runs plans. Threads can share an engine; their calls do not wait for each other.
#[derive(Debug)]
pub struct Engine {
    options: Options,
    memory: Memory,
    /// Id of the process that created the engine. A forked child does not use the workers and programs:
    /// another thread of the parent may have held a lock or have been generating machine code during the
    /// fork.
    process: u32,
    compiled: Mutex<HashMap<String, Arc<Compiled>>>,
    idle: Mutex<Vec<Worker>>,
}

/// Upper bound on the number of cached programs. The cache is cleared when it is reached.
const COMPILED_KEPT: usize = 4096;

impl Engine {
    /// Creates an engine with its own allocator.
    #[must_use]
    pub fn new(options: Options) -> Self {
        let memory = Memory::new(options.policy.clone());
        let process = process_id();
        Self { options, memory, process, compiled: Mutex::default(), idle: Mutex::default() }
    }

    /// Returns the options of the engine.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Returns the allocator of columns.
    #[must_use]
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Returns the payload of one task, decompressed but not decoded.
    ///
    /// # Errors
    /// See [`read`](Self::read).
    pub fn raw(
        &self,
        plan: &Plan,
        task: usize,
        source: &Arc<dyn Source>,
        format: &dyn BlockFormat,
    ) -> Result<bulk::RawBlock> {
        let mut worker = self.worker();
        let raw = bulk::raw(&mut worker, plan, task, source, format);
        self.rest(worker);
        confirmed(raw, source.as_ref()).map_err(|e| e.in_file(&plan.uri))
    }

    pub(crate) fn worker(&self) -> Worker {
        let idle = self.own(&self.idle).and_then(|mut idle| idle.pop());
        idle.unwrap_or_else(|| Worker::new(&self.options.policy))
    }

    pub(crate) fn rest(&self, mut worker: Worker) {
        worker.trim();
        if let Some(mut idle) = self.own(&self.idle) {
            idle.push(worker);
        }
    }

    /// Returns the compiled program of a source text, which is compiled once.
    pub(crate) fn compile(&self, source: &str) -> Result<Arc<Compiled>> {
        let Some(mut known) = self.own(&self.compiled) else {
            return Self::compile_new(source);
        };
        if let Some(found) = known.get(source) {
            return Ok(Arc::clone(found));
        }
        let made = Self::compile_new(source)?;
        if known.len() >= COMPILED_KEPT {
            known.clear();
        }
        known.insert(source.to_owned(), Arc::clone(&made));
        Ok(made)
    }

    fn compile_new(source: &str) -> Result<Arc<Compiled>> {
        // Programs are also cached for the process, since files of the same structure share them across
        // engines.
        Ok(Programs::of_process().get(source)?)
    }

    /// Locks a state of the engine; `None` in a forked process.
    fn own<'a, T>(&self, kept: &'a Mutex<T>) -> Option<MutexGuard<'a, T>> {
        (process_id() == self.process).then(|| kept.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
