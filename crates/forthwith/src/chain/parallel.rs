//! Concurrent work on several files.

use super::{Chain, Portion, opening::is_remote};
use crate::{Progress, ProgressCallback};
use forthwith_plan::{Error, ErrorKind, Result};
use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

/// Minimum number of concurrent remote files.
const REMOTE: usize = 4;
/// Poll interval of the calling thread, which waits for the workers.
const PAUSE: Duration = Duration::from_millis(2);

/// Work on one file. The callback returns whether to continue.
pub(super) type Work<'a, T> =
    dyn Fn(&Portion, Option<usize>, &mut ProgressCallback<'_>) -> Result<T> + Sync + 'a;

impl Chain {
    /// Calls `work` for each file, and returns the results in order.
    ///
    /// # Errors
    /// The error of the first file that fails. Later files are no longer started.
    pub(super) fn for_files<T: Send>(
        &self,
        portions: &[Portion],
        threads: Option<usize>,
        mut tick: Option<&mut ProgressCallback<'_>>,
        work: &Work<'_, T>,
    ) -> Result<Vec<T>> {
        let threads = threads.unwrap_or_else(|| self.engine().options().threads).max(1);
        let most = if is_remote(self) { threads.max(REMOTE) } else { threads };
        let workers = most.min(portions.len());
        if workers <= 1 {
            let mut go_on = |now: Progress| tick.as_mut().is_none_or(|tick| tick(now));
            return portions.iter().map(|portion| work(portion, Some(threads), &mut go_on)).collect();
        }
        let (next, failed) = (AtomicUsize::new(0), AtomicUsize::new(usize::MAX));
        let (stopped, ended) = (AtomicBool::new(false), AtomicUsize::new(0));
        let done: Mutex<Vec<(usize, Result<T>)>> = Mutex::new(Vec::with_capacity(portions.len()));
        let own = Some((threads / workers).max(1));
        let run = || {
            let _ended = Ended(&ended);
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                if at >= portions.len()
                    || at > failed.load(Ordering::Relaxed)
                    || stopped.load(Ordering::Relaxed)
                {
                    break;
                }
                let mut go_on = |_: Progress| !stopped.load(Ordering::Relaxed);
                let result = work(&portions[at], own, &mut go_on);
                if result.is_err() {
                    failed.fetch_min(at, Ordering::Relaxed);
                }
                done.lock().unwrap_or_else(PoisonError::into_inner).push((at, result));
            }
        };
        std::thread::scope(|scope| {
            let mut others = 0;
            for _ in 0..workers {
                others += usize::from(std::thread::Builder::new().spawn_scoped(scope, run).is_ok());
            }
            if others == 0 {
                run();
            }
            while ended.load(Ordering::Acquire) < others {
                std::thread::sleep(PAUSE);
                let finished = done.lock().unwrap_or_else(PoisonError::into_inner).len() as u64;
                let now =
                    Progress { blocks: finished, all_blocks: portions.len() as u64, ..Progress::default() };
                if tick.as_mut().is_some_and(|tick| !tick(now)) {
                    stopped.store(true, Ordering::Relaxed);
                }
            }
        });
        if stopped.load(Ordering::Relaxed) {
            return Err(Error::new(ErrorKind::Cancelled));
        }
        let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        done.sort_by_key(|(at, _)| *at);
        done.into_iter().map(|(_, result)| result).collect()
    }
}

/// Counts a thread as ended when dropped, even if it panics.
struct Ended<'a>(&'a AtomicUsize);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Release);
    }
}
