//! Opening files side by side, and ahead of their use.

use super::Chain;
use forthwith_plan::Result;
use std::{
    ops::Range,
    panic::resume_unwind,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread::{Scope, ScopedJoinHandle},
};

/// Local files that are open at once, of which each takes a descriptor and a map.
const LOCAL: usize = 32;
/// Remote files that are open at once. Each waits for its server, so all are opened side by side.
const REMOTE: usize = 4;

/// Files that are opened together.
pub(super) fn together(chain: &Chain) -> usize {
    if is_remote(chain) { REMOTE } else { LOCAL }
}

pub(super) fn is_remote(chain: &Chain) -> bool {
    let is_url = |path: &std::path::Path| {
        path.to_str().is_some_and(|path| path.contains("://") && !path.starts_with("file://"))
    };
    chain.files().iter().any(|file| is_url(&file.path))
}

/// The answers for some files, in their order, of calls that run side by side.
pub(super) fn side_by_side<T: Send>(
    chain: &Chain,
    files: Range<usize>,
    open: &(dyn Fn(usize) -> T + Sync),
) -> Vec<T> {
    side_by_side_of(files, workers(chain, REMOTE), open)
}

/// Threads that open files: those of the engine, or this many if servers have to be waited for.
pub(super) fn workers(chain: &Chain, remote: usize) -> usize {
    if is_remote(chain) { remote } else { chain.engine().options().threads }
}

/// The answers for some files, in their order, of calls by a number of threads.
pub(super) fn side_by_side_of<T: Send>(
    files: Range<usize>,
    workers: usize,
    open: &(dyn Fn(usize) -> T + Sync),
) -> Vec<T> {
    let (begin, count) = (files.start, files.len());
    let workers = workers.min(count);
    if workers <= 1 {
        return files.map(open).collect();
    }
    let next = AtomicUsize::new(0);
    let found: Mutex<Vec<(usize, T)>> = Mutex::new(Vec::with_capacity(count));
    let work = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= count {
                break;
            }
            let opened = open(begin + at);
            found.lock().unwrap_or_else(PoisonError::into_inner).push((at, opened));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..workers {
            // Without more threads this one does all the work.
            if std::thread::Builder::new().spawn_scoped(scope, work).is_err() {
                break;
            }
        }
        work();
    });
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.sort_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, opened)| opened).collect()
}

/// Opens files in batches, each while the caller works on the one before.
pub(super) struct Batches<'scope, 'env, T> {
    scope: &'scope Scope<'scope, 'env>,
    chain: &'env Chain,
    open: &'env (dyn Fn(usize) -> Result<T> + Sync),
    /// Files that are not opened yet.
    left: Range<usize>,
    pending: Option<ScopedJoinHandle<'scope, Vec<Result<T>>>>,
}

impl<'scope, 'env, T: Send + 'env> Batches<'scope, 'env, T>
where
    'env: 'scope,
{
    pub(super) fn new(
        scope: &'scope Scope<'scope, 'env>,
        chain: &'env Chain,
        files: Range<usize>,
        open: &'env (dyn Fn(usize) -> Result<T> + Sync),
    ) -> Self {
        Self { scope, chain, open, left: files, pending: None }
    }

    /// The next batch; `None` after the last.
    pub(super) fn next(&mut self) -> Option<Vec<Result<T>>> {
        let opened = match self.pending.take() {
            Some(pending) => pending.join().unwrap_or_else(|panic| resume_unwind(panic)),
            None if self.left.is_empty() => return None,
            None => side_by_side(self.chain, self.take(), self.open),
        };
        if !self.left.is_empty() {
            let (chain, files, open) = (self.chain, self.take(), self.open);
            let begin = files.start;
            let begun = std::thread::Builder::new()
                .spawn_scoped(self.scope, move || side_by_side(chain, files, open));
            match begun {
                Ok(pending) => self.pending = Some(pending),
                // Without another thread they are opened when they are asked for.
                Err(_) => self.left.start = begin,
            }
        }
        Some(opened)
    }

    fn take(&mut self) -> Range<usize> {
        let end = (self.left.start + together(self.chain)).min(self.left.end);
        let files = self.left.start..end;
        self.left.start = end;
        files
    }
}
