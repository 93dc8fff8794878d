//! Sources of remote files.

use crate::{
    StoreOptions,
    answer::{Mark, Part, Wanted},
    clock::Clock,
    fetch::{ONCE, Reply, Shared, cut, length, sort, uncovered},
    link::Link,
    redact,
    runtime::{self, Abort, PerProcess},
};
use bytes::Bytes;
use forthwith_io::{ErrorKind, Result, Source};
use forthwith_platform::ProcessLock;
use std::{
    ops::Range,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
};
use tokio::{task::JoinHandle, time::Instant};

/// Number of bytes of the beginning and of the end that are read when a file is opened.
const HEAD: u64 = 32 << 10;
const END: u64 = 512 << 10;

/// Maximum number of lists of ranges that are prefetched, and of bytes that they have together: more than all
/// workers of a read expect at its beginning, when each has announced its ranges and none has read them.
const LISTS: usize = 32;
const EXPECTED: u64 = 96 << 20;

/// Minimum length in bytes of a request for one range, whose bytes are cached for later reads: metadata are
/// read in small steps.
const SMALL: u64 = 64 << 10;

/// Opens a URL of one of the [`SCHEMES`](crate::SCHEMES), and reads the beginning and the end of the file.
///
/// # Errors
/// Returns an error if the store cannot be reached, has no such object or does not permit reading it, or if
/// it does not support an option.
pub fn open(url: &str, options: &StoreOptions) -> Result<Arc<dyn Source>> {
    let source = Remote::new(url, options, None);
    source.begin()?;
    Ok(Arc::new(source))
}

/// Opens a file whose size and [mark](Source::mark) are in an index, without a request. If the first answer
/// of the store is not of this state, it is an error. `None` if the mark is not from a store.
///
/// # Errors
/// Returns an error if the store does not support an option.
pub fn open_marked(
    url: &str,
    options: &StoreOptions,
    size: u64,
    mark: &str,
) -> Result<Option<Arc<dyn Source>>> {
    let Some(tag) = mark.strip_prefix(MARK) else { return Ok(None) };
    let source = Remote::new(url, options, Some(Mark::new(size, Some(tag.to_owned()))));
    source.shared.link()?;
    Ok(Some(Arc::new(source)))
}

/// Prefix of the marks of remote files.
const MARK: &str = "remote ";

struct Remote {
    shared: Arc<Shared>,
    ahead: ProcessLock<Vec<Ahead>>,
    /// Number of times that all waits were ended.
    given_up: AtomicU64,
}

/// Ranges that are being prefetched.
struct Ahead {
    ranges: Vec<Range<u64>>,
    began: Instant,
    task: JoinHandle<std::result::Result<Vec<Bytes>, ErrorKind>>,
}

impl Remote {
    fn new(url: &str, options: &StoreOptions, mark: Option<Mark>) -> Self {
        let shared = Shared {
            name: redact(url),
            url: url.to_owned(),
            options: options.clone(),
            backend: PerProcess::new(),
            of_index: mark.is_some(),
            confirmed: AtomicBool::new(false),
            mark: mark.map_or_else(OnceLock::new, OnceLock::from),
            kept: ProcessLock::default(),
            budget: ProcessLock::new(ONCE),
            lost: ProcessLock::default(),
        };
        Self { shared: Arc::new(shared), ahead: ProcessLock::default(), given_up: AtomicU64::new(0) }
    }

    /// Reads the beginning and the end, by one request unless the server is known to refuse several ranges.
    fn begin(&self) -> Result<()> {
        let link = self.shared.link()?;
        let shared = Arc::clone(&self.shared);
        let mut parts = self.wait(async move {
            let limit = shared.options.stall()?;
            let mut left = limit;
            let mut parts = Vec::new();
            let is_several = link.backend.range_limit() > 1;
            if is_several {
                let mut clock = Clock::new(limit);
                let both = Wanted::Ends { head: HEAD, end: END };
                parts = shared.ask(&link, &both, &mut clock).await?.parts;
                left = clock.left().max(limit / 2);
            }
            let size = shared.mark.get().map(|mark| mark.size);
            let is_open = |range: Range<u64>| parts.iter().all(|part| part.slice(&range).is_none());
            let (no_head, no_end) = match size {
                Some(0) => (false, false),
                Some(size) => (is_open(0..HEAD.min(size)), is_open(size.saturating_sub(END)..size)),
                None => (true, true),
            };
            let clock = Clock::with_left(limit, left);
            let (head, end) = tokio::join!(
                ask_if(no_head, &shared, &link, Wanted::one(0..HEAD), clock.clone()),
                ask_if(no_end, &shared, &link, Wanted::End(END), clock)
            );
            if let Some(head) = head {
                let head = head?.parts;
                if is_several && parts.is_empty() && !head.is_empty() {
                    link.backend.server().refuses(2);
                }
                parts.extend(head);
            }
            parts.extend(end.and_then(std::result::Result::ok).map(|end| end.parts).unwrap_or_default());
            Ok(parts)
        })?;
        let empty = Mark::new(0, None);
        self.shared.mark.get_or_init(|| empty);
        // A server without support for ranges has answered the whole file, perhaps twice.
        sort(&mut parts);
        *self.shared.kept.lock() = parts;
        Ok(())
    }

    /// Waits for an answer, and checks meanwhile whether it should continue.
    fn wait<T: Send + 'static>(
        &self,
        answer: impl Future<Output = std::result::Result<T, ErrorKind>> + Send + 'static,
    ) -> Result<T> {
        let (ended, began) = (self.given_up.load(Relaxed), Instant::now());
        runtime::wait(&self.shared.name, answer, || {
            if let Some(kind) = self.shared.lost_since(began) {
                return Some(kind);
            }
            if !self.shared.options.goes_on() {
                self.give_up();
            }
            (self.given_up.load(Relaxed) != ended).then_some(ErrorKind::Cancelled)
        })
    }

    fn check(&self, range: &Range<u64>) -> Result<()> {
        let size = self.shared.size();
        let kind = if range.start > range.end {
            ErrorKind::Inverted { wanted: range.clone() }
        } else if range.end > size {
            ErrorKind::BeyondEnd { wanted: range.clone(), size }
        } else {
            return Ok(());
        };
        Err(self.shared.fail(kind).at(range.start))
    }

    /// Takes the prefetch of exactly these ranges, if there is one.
    fn take_ahead(&self, ranges: &[Range<u64>]) -> Option<Ahead> {
        let mut ahead = self.ahead.lock();
        let at = ahead.iter().position(|ahead| ahead.ranges == ranges)?;
        let found = ahead.swap_remove(at);
        if self.shared.was_lost(found.began) {
            found.task.abort();
            return None;
        }
        Some(found)
    }
}

/// Makes a request, if it is needed.
async fn ask_if(
    is_needed: bool,
    shared: &Shared,
    link: &Link,
    wanted: Wanted,
    mut clock: Clock,
) -> Option<std::result::Result<Reply, ErrorKind>> {
    if is_needed { Some(shared.ask(link, &wanted, &mut clock).await) } else { None }
}

impl Source for Remote {
    fn uri(&self) -> &str {
        &self.shared.name
    }

    fn size(&self) -> Result<u64> {
        Ok(self.shared.size())
    }

    fn read(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        ranges.iter().try_for_each(|range| self.check(range))?;
        if let Some(Ahead { task, .. }) = self.take_ahead(ranges) {
            let mut task = Abort(task);
            return self.wait(async move { (&mut task.0).await.map_err(|_| ErrorKind::Cancelled)? });
        }
        let mut parts = self.shared.kept.lock().clone();
        sort(&mut parts);
        let mut wanted: Vec<Range<u64>> = ranges.iter().flat_map(|range| uncovered(range, &parts)).collect();
        if !wanted.is_empty() {
            let small = wanted.len() == 1 && wanted[0].end - wanted[0].start < SMALL;
            if small {
                wanted[0].end = self.shared.size().min(wanted[0].start.saturating_add(SMALL));
            }
            let found = self.wait(Arc::clone(&self.shared).fetch(wanted.clone()))?;
            let found =
                wanted.into_iter().zip(found).map(|(range, bytes)| Part { start: range.start, bytes });
            parts.extend(found);
            if small && let Some(part) = parts.last() {
                let mut kept = self.shared.kept.lock();
                // The cache keeps the beginning, the end, and the last small reads.
                if kept.len() >= 34 {
                    kept.remove(2);
                }
                kept.push(part.clone());
            }
            sort(&mut parts);
        }
        let whole = |range: &Range<u64>| {
            let (bytes, wanted) = (cut(&parts, range), range.end - range.start);
            if bytes.len() as u64 == wanted {
                return Ok(bytes);
            }
            Err(self
                .shared
                .fail(ErrorKind::Remote { text: format!("{wanted} bytes were asked for, and not all came") }))
        };
        ranges.iter().map(whole).collect()
    }

    /// Reads one byte, unless an answer has confirmed the mark already.
    fn confirm(&self) -> Result<()> {
        if !self.shared.of_index || self.shared.confirmed.load(Relaxed) || self.shared.size() == 0 {
            return Ok(());
        }
        let shared = Arc::clone(&self.shared);
        self.wait(shared.fetch(std::iter::once(0..1).collect()))?;
        Ok(())
    }

    fn mark(&self) -> Option<String> {
        let mark = self.shared.mark.get().filter(|mark| !mark.fresh)?;
        mark.tag.as_ref().map(|tag| format!("{MARK}{tag}"))
    }

    fn zero_copy(&self) -> bool {
        false
    }

    /// One thread suffices: it requests all its ranges in parallel.
    fn concurrent(&self) -> bool {
        false
    }

    fn plans_requests(&self) -> bool {
        true
    }

    fn expect(&self, ranges: &[Range<u64>]) {
        let known = |ahead: &[Ahead]| ahead.iter().any(|ahead| ahead.ranges == ranges);
        let inside = ranges.iter().all(|range| self.check(range).is_ok());
        let Ok(runtime) = runtime::runtime(&self.shared.name) else { return };
        let mut ahead = self.ahead.lock();
        if !inside || ranges.is_empty() || known(&ahead) {
            return;
        }
        // The oldest prefetches are dropped: their reads have probably ended.
        let bytes = length(ranges);
        let too_many = |ahead: &[Ahead]| {
            let expected = ahead.iter().fold(bytes, |sum, ahead| sum.saturating_add(length(&ahead.ranges)));
            !ahead.is_empty() && (ahead.len() >= LISTS || expected > EXPECTED)
        };
        while too_many(&ahead) {
            ahead.remove(0).task.abort();
        }
        let began = Instant::now();
        let task = runtime.spawn(Arc::clone(&self.shared).fetch(ranges.to_vec()));
        ahead.push(Ahead { ranges: ranges.to_vec(), began, task });
    }

    fn give_up(&self) {
        self.given_up.fetch_add(1, Relaxed);
        self.ahead.lock().drain(..).for_each(|ahead| ahead.task.abort());
    }

    fn pause(&self) -> Result<()> {
        if self.shared.options.goes_on() { Ok(()) } else { Err(self.shared.fail(ErrorKind::Cancelled)) }
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        self.ahead.lock().drain(..).for_each(|ahead| ahead.task.abort());
    }
}

// The URL may contain secrets.
forthwith_io::impl_debug!(Remote, |it| "name": it.shared.name);
