//! Concurrent opening of files in advance.

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

/// Number of local files that are open at once, each of which takes a descriptor and a mapping.
const LOCAL: usize = 32;
/// Number of remote files that are open at once, all of which are opened concurrently because each waits for
/// its server.
const REMOTE: usize = 4;

/// Returns the number of files that are opened together.
pub(super) fn together(chain: &Chain) -> usize {
    if is_remote(chain) { REMOTE } else { LOCAL }
}

pub(super) fn is_remote(chain: &Chain) -> bool {
    let is_url = |path: &std::path::Path| {
        path.to_str().is_some_and(|path| path.contains("://") && !path.starts_with("file://"))
    };
    chain.files().iter().any(|file| is_url(&file.path))
}

/// Calls `open` for some files concurrently, and returns the results in order.
pub(super) fn side_by_side<T: Send>(
    chain: &Chain,
    files: Range<usize>,
    open: &(dyn Fn(usize) -> T + Sync),
) -> Vec<T> {
    side_by_side_of(files, workers(chain, REMOTE), open)
}

/// Returns the number of threads that open files: that of the engine, or `remote` if any file is on a server.
pub(super) fn workers(chain: &Chain, remote: usize) -> usize {
    if is_remote(chain) { remote } else { chain.engine().options().threads }
}

/// Calls `open` for some files on a number of threads, and returns the results in order.
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
            // If no thread can be spawned, this one does all the work.
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

/// Opens files in batches, each while the caller works on the previous one.
pub(super) struct Batches<'scope, 'env, T> {
    scope: &'scope Scope<'scope, 'env>,
    chain: &'env Chain,
    open: &'env (dyn Fn(usize) -> Result<T> + Sync),
    /// Files that are still to be opened.
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

    /// Returns the next batch, or `None` after the last.
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
                // If no thread can be spawned, the batch is opened on demand.
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
