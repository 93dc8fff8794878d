//! The engine: options, warm scratch, compiled programs.

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

/// How to run plans.
#[derive(Clone, Debug)]
pub struct Options {
    /// Threads that work, the calling one included; at least 1.
    pub threads: usize,
    /// How memory for columns is had.
    pub policy: Policy,
    /// Bytes read ahead at most, where a source is worth reading ahead of (anything that is neither mapped
    /// nor in memory).
    pub read_ahead: u64,
}

impl Options {
    /// The default options with a number of threads. How many processors there are is not asked for then: the
    /// system answers from several files.
    #[must_use]
    pub fn with_threads(threads: usize) -> Self {
        let policy = Policy { shared: true, ..Policy::default() };
        Self { threads: threads.max(1), policy, read_ahead: 64 << 20 }
    }
}

impl Default for Options {
    /// As many threads as there are processors, memory by the default policy but shared with other engines of
    /// this process, 64 MiB of reading ahead.
    fn default() -> Self {
        Self::with_threads(forthwith_platform::parallelism())
    }
}

/// How far a call has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Blocks decoded.
    pub blocks: u64,
    /// Blocks in the plan.
    pub all_blocks: u64,
    /// Stored bytes of the blocks decoded.
    pub bytes: u64,
    /// Stored bytes of the plan.
    pub all_bytes: u64,
}

impl Progress {
    /// The blocks and bytes of some plans, of which none is decoded.
    pub(crate) fn of(parts: &[Part<'_>]) -> Self {
        let all_blocks = parts.iter().map(|part| part.plan.tasks.len() as u64).sum();
        let all_bytes = parts.iter().fold(0_u64, |sum, part| sum.saturating_add(part.plan.stored_bytes()));
        Self { all_blocks, all_bytes, ..Self::default() }
    }
}

/// Called from time to time on the calling thread; `false` stops the work with
/// [`Cancelled`](forthwith_plan::ErrorKind::Cancelled).
pub type ProgressCallback<'a> = dyn FnMut(Progress) -> bool + 'a;

/// Runs plans. Shared freely between threads; calls do not wait for each other.
#[derive(Debug)]
pub struct Engine {
    options: Options,
    memory: Memory,
    /// The process whose threads keep workers and programs here. After a fork, another thread of the parent
    /// may have held a lock, which stays locked in the child, or may have been making a program's machine
    /// code.
    process: u32,
    compiled: Mutex<HashMap<String, Arc<Compiled>>>,
    idle: Mutex<Vec<Worker>>,
}

/// Compiled programs kept; a reader of many unlike files starts anew rather than growing for ever.
const COMPILED_KEPT: usize = 4096;

impl Engine {
    /// An engine with its own memory pool.
    #[must_use]
    pub fn new(options: Options) -> Self {
        let memory = Memory::new(options.policy.clone());
        let process = process_id();
        Self { options, memory, process, compiled: Mutex::default(), idle: Mutex::default() }
    }

    /// The options it was made with.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The memory the columns come from.
    #[must_use]
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// One task's payload as it lies in the file, decompressed but not decoded.
    ///
    /// # Errors
    /// As [`read`](Self::read).
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

    /// The compiled form of a program, made once for each text.
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
        // Files of a kind have the same programs, and each file may have an engine of its own.
        Ok(Programs::of_process().get(source)?)
    }

    /// State that the engine keeps behind a lock; nothing in a process that was forked from the engine's.
    fn own<'a, T>(&self, kept: &'a Mutex<T>) -> Option<MutexGuard<'a, T>> {
        (process_id() == self.process).then(|| kept.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
