//! Requests for the ranges of a file, in the background of the threads that wait for them.

use crate::{
    StoreOptions,
    answer::{Fault, Mark, Part, Wanted, stale},
    clock::Clock,
    http::missing,
    link::{Backend, IN_FLIGHT, Link},
    requests,
    runtime::PerProcess,
};
use bytes::{Bytes, BytesMut};
use forthwith_io::{Error, ErrorKind, ProcessLock, Result};
use std::{
    ops::Range,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};
use tokio::{sync::Semaphore, task::JoinSet, time::Instant};

/// Bytes that may be fetched for nothing, to make fewer requests: once for a file, and a part of each request.
pub(crate) const SPARE: u64 = 384 << 10;
const SPARE_PART: u64 = 25;

/// What one range more in an answer of several costs at least, with its headers: a shorter gap is always fetched.
const ONE_MORE: u64 = 1 << 10;

/// Requests that follow the loss of a server by this much are not taken for those that were under way then.
const LOST: Duration = Duration::from_secs(1);

/// The state that requests under way have, too.
pub(crate) struct Shared {
    pub(crate) name: String,
    pub(crate) url: String,
    pub(crate) options: StoreOptions,
    pub(crate) backend: PerProcess<Link>,
    pub(crate) mark: OnceLock<Mark>,
    /// Whether an index has given the mark.
    pub(crate) of_index: bool,
    /// Whether an answer has shown that the file is the one that the index is of.
    pub(crate) confirmed: AtomicBool,
    /// Parts that were read, and are kept: the beginning, the end, and small reads.
    pub(crate) kept: ProcessLock<Vec<Part>>,
    pub(crate) spare: ProcessLock<u64>,
    pub(crate) lost: ProcessLock<Option<Lost>>,
}

/// The error that ended the requests of a file, and when.
pub(crate) struct Lost {
    at: Instant,
    kind: ErrorKind,
}

/// An answer, and whether it broke off.
pub(crate) struct Reply {
    pub(crate) parts: Vec<Part>,
    broke: bool,
}

/// The parts that came, and the ranges that did not.
#[derive(Default)]
struct Fetched {
    parts: Vec<Part>,
    missing: Vec<Range<u64>>,
    /// The time that a request of several ranges has left.
    left: Option<Duration>,
}

impl Shared {
    pub(crate) fn fail(&self, kind: ErrorKind) -> Error {
        Error::new(kind, &*self.name)
    }

    pub(crate) fn link(&self) -> Result<Arc<Link>> {
        self.backend.get(|| {
            let backend = Backend::new(&self.url, &self.options).map_err(|kind| self.fail(kind))?;
            Ok(Link { backend, slots: Semaphore::new(IN_FLIGHT) })
        })
    }

    pub(crate) fn size(&self) -> u64 {
        self.mark.get().map_or(0, |mark| mark.size)
    }

    pub(crate) fn compare(&self, mark: &Mark) -> std::result::Result<(), ErrorKind> {
        let known = self.mark.get_or_init(|| mark.clone());
        if !self.of_index {
            return known.compare(mark);
        }
        known.compare_with_index(mark)?;
        self.confirmed.store(true, Relaxed);
        Ok(())
    }

    /// The error that ended requests of this file after a time, if it is new to a request or a wait that began then.
    pub(crate) fn lost_since(&self, began: Instant) -> Option<ErrorKind> {
        self.lost.lock().as_ref().filter(|lost| began <= lost.at).map(|lost| lost.kind.clone())
    }

    /// Whether what began at a time was lost a while ago: another read may go well.
    pub(crate) fn was_lost(&self, began: Instant) -> bool {
        self.lost.lock().as_ref().is_some_and(|lost| began <= lost.at && lost.at.elapsed() > LOST)
    }

    /// The error of a request that is not repeated. If the server or the way to it failed, all other requests under way end with it: they
    /// would otherwise use up one time limit after another.
    fn failed(&self, fault: Fault, tries: usize, clock: &Clock) -> ErrorKind {
        let is_lost = fault.passing || clock.is_over();
        let kind = match (fault.kind, fault.unsatisfied) {
            (ErrorKind::Remote { .. }, Some(size)) => self.unsatisfied(size),
            (ErrorKind::Remote { text }, None) if tries > 0 => {
                ErrorKind::Remote { text: format!("{text} (tried {} times)", tries + 1) }
            }
            (ErrorKind::Changed { what }, _) if self.of_index => stale(&what),
            (kind, _) => kind,
        };
        if is_lost {
            *self.lost.lock() = Some(Lost { at: Instant::now(), kind: kind.clone() });
        }
        kind
    }

    /// The error of a range that the server says is outside of its file of some size.
    fn unsatisfied(&self, size: u64) -> ErrorKind {
        match self.mark.get().map(|mark| mark.size) {
            Some(known) if known != size => {
                let what = format!("{known} bytes then, and the server says that it has {size} bytes");
                if self.of_index { stale(&what) } else { ErrorKind::Changed { what } }
            }
            _ => ErrorKind::Remote {
                text: format!("the server has no such range, though it says that the file has {size} bytes"),
            },
        }
    }

    /// One request, repeated where it failed in passing. The answer may have fewer bytes than were wanted, and none where several ranges
    /// have to be asked for one by one.
    pub(crate) async fn ask(
        &self,
        link: &Link,
        wanted: &Wanted,
        clock: &mut Clock,
    ) -> std::result::Result<Reply, ErrorKind> {
        let retries = self.options.retries()?;
        let mut pause = Duration::from_millis(100);
        let mut tries = 0;
        loop {
            let queued = Instant::now();
            let Ok(slot) = link.slots.acquire().await else { return Err(ErrorKind::Cancelled) };
            clock.skip(queued.elapsed());
            if let Some(kind) = self.lost_since(clock.began) {
                return Err(kind);
            }
            let answer = link.backend.get(wanted, clock, tries >= retries && !wanted.is_several()).await;
            drop(slot);
            match answer {
                Ok(answer) => {
                    self.compare(&answer.mark)?;
                    return Ok(Reply { parts: answer.parts, broke: false });
                }
                // A file without bytes has no range.
                Err(Fault { unsatisfied: Some(0), .. })
                    if self.mark.get().is_none_or(|mark| mark.size == 0) =>
                {
                    self.compare(&Mark::new(0, None))?;
                    return Ok(Reply { parts: Vec::new(), broke: false });
                }
                Err(Fault { singly: true, unsatisfied, .. }) => {
                    let changed =
                        unsatisfied.filter(|size| self.mark.get().is_some() && *size != self.size());
                    return match changed {
                        Some(size) => Err(self.unsatisfied(size)),
                        None => Ok(Reply { parts: Vec::new(), broke: true }),
                    };
                }
                // The bytes that came before count as an answer, if they are of the same file: the rest is asked for.
                Err(Fault { passing: true, parts, mark: Some(mark), .. })
                    if self.mark.get().is_some() && parts.iter().any(|part| !part.bytes.is_empty()) =>
                {
                    self.compare(&mark)?;
                    return Ok(Reply { parts, broke: true });
                }
                Err(fault) if fault.passing && tries < retries && !clock.is_over() => {
                    tries += 1;
                    tokio::time::sleep(pause.min(clock.left())).await;
                    pause = (pause * 2).min(Duration::from_secs(5));
                }
                Err(fault) => return Err(self.failed(fault, tries, clock)),
            }
        }
    }

    /// One range, in as many requests as the server makes of it.
    async fn range(
        &self,
        link: &Link,
        range: Range<u64>,
        mut clock: Clock,
    ) -> std::result::Result<Part, ErrorKind> {
        let mut done: Vec<Bytes> = Vec::new();
        let mut at = range.start;
        // Each request has to bring the end nearer; a server that sends a byte at a time is not followed for ever, and less far one
        // that breaks off each time, as that may take long.
        let mut left = 64 + (range.end - range.start) / (64 << 10);
        while at < range.end {
            let Reply { parts, broke } = self.ask(link, &Wanted::one(at..range.end), &mut clock).await?;
            left = left.saturating_sub(if broke { 16 } else { 0 });
            let part = parts.into_iter().find(|part| part.start <= at && at < part.range().end);
            let Some(part) = part.filter(|_| left > 0) else {
                return Err(ErrorKind::Remote { text: format!("the server does not answer byte {at}") });
            };
            left = left.saturating_sub(1);
            let end = part.range().end.min(range.end);
            done.extend(part.slice(&(at..end)));
            at = end;
        }
        Ok(Part { start: range.start, bytes: joined(done) })
    }

    /// Ranges in one request, if they are several and the server takes that: the parts that came, and the ranges that did not.
    async fn group(
        &self,
        link: &Link,
        ranges: Vec<Range<u64>>,
        mut clock: Clock,
    ) -> std::result::Result<Fetched, ErrorKind> {
        if let [range] = &ranges[..] {
            let part = self.range(link, range.clone(), clock).await?;
            return Ok(Fetched { parts: vec![part], ..Fetched::default() });
        }
        if link.backend.ranges_at_once() == 1 {
            return Ok(Fetched { missing: ranges, ..Fetched::default() });
        }
        let Reply { parts, .. } = self.ask(link, &Wanted::Ranges(ranges.clone()), &mut clock).await?;
        Ok(Fetched { missing: missing(&ranges, &parts), parts, left: Some(clock.left()) })
    }

    /// The bytes of ranges, in their order. They are inside the file.
    pub(crate) async fn fetch(
        self: Arc<Self>,
        ranges: Vec<Range<u64>>,
    ) -> std::result::Result<Vec<Bytes>, ErrorKind> {
        let link = self.link().map_err(|error| error.kind)?;
        let union: Arc<[Range<u64>]> = requests::union(&ranges).into();
        let limit = self.options.stall()?;
        let at_once = link.backend.ranges_at_once();
        let planned = self.plan(&link, &union, at_once);
        let groups = requests::group(planned, IN_FLIGHT, at_once);
        let Fetched { mut parts, missing, left } = self.groups(&link, groups, &union, limit, limit).await?;
        if !missing.is_empty() {
            let planned = self.plan(&link, &missing, 1);
            let each = planned.into_iter().map(|range| vec![range]).collect();
            // The time that several ranges took in vain was a part of the limit.
            let left = left.unwrap_or(limit).max(limit / 2);
            parts.extend(self.groups(&link, each, &union, limit, left).await?.parts);
        }
        // Parts within others go: the ends ascend then as the beginnings do.
        parts.sort_unstable_by_key(|part| (part.start, u64::MAX - part.range().end));
        let mut end = 0;
        parts.retain(|part| {
            let is_new = part.range().end > end;
            end = end.max(part.range().end);
            is_new
        });
        Ok(ranges.iter().map(|range| cut(&parts, range)).collect())
    }

    /// The ranges to fetch for a union, by the cost of a request, or of one range more in a request of several.
    fn plan(&self, link: &Link, union: &[Range<u64>], at_once: usize) -> Vec<Range<u64>> {
        let cost = link.backend.server().request_cost() / at_once.max(1) as u64;
        let mut once = self.spare.lock();
        let mut spare = length(union) / SPARE_PART + *once;
        let planned = requests::plan(union, cost.max(ONE_MORE), &mut spare);
        *once = spare.min(*once);
        planned
    }

    /// Requests side by side. The first error ends all of them.
    async fn groups(
        self: &Arc<Self>,
        link: &Arc<Link>,
        groups: Vec<Vec<Range<u64>>>,
        union: &Arc<[Range<u64>]>,
        limit: Duration,
        left: Duration,
    ) -> std::result::Result<Fetched, ErrorKind> {
        let mut tasks: JoinSet<std::result::Result<Fetched, ErrorKind>> = JoinSet::new();
        for group in groups {
            let (shared, link, union) = (Arc::clone(self), Arc::clone(link), Arc::clone(union));
            let clock = Clock::with_left(limit, left);
            tasks.spawn(async move {
                let mut fetched = shared.group(&link, group, clock).await?;
                fetched.parts =
                    fetched.parts.into_iter().flat_map(|part| requests::compact(part, &union)).collect();
                Ok(fetched)
            });
        }
        let mut all = Fetched::default();
        while let Some(done) = tasks.join_next().await {
            let fetched = done.map_err(|_| ErrorKind::Cancelled)??;
            all.parts.extend(fetched.parts);
            all.missing.extend(fetched.missing);
            all.left = [all.left, fetched.left].into_iter().flatten().min();
        }
        all.missing.sort_unstable_by_key(|range| range.start);
        Ok(all)
    }

    /// The bytes of a range that were read before.
    pub(crate) fn known(&self, range: &Range<u64>) -> Option<Bytes> {
        self.kept.lock().iter().find_map(|part| part.slice(range))
    }
}

/// The bytes of all ranges, which may overlap.
pub(crate) fn length(ranges: &[Range<u64>]) -> u64 {
    ranges.iter().fold(0, |sum, range| sum.saturating_add(range.end - range.start))
}

/// A range of parts, which cover it.
fn cut(parts: &[Part], range: &Range<u64>) -> Bytes {
    let first = parts.partition_point(|part| part.range().end <= range.start);
    let mut at = range.start;
    let mut found = Vec::new();
    for part in &parts[first.min(parts.len())..] {
        if at >= range.end {
            break;
        }
        let end = part.range().end.min(range.end);
        if let Some(bytes) = part.slice(&(at..end)) {
            found.push(bytes);
            at = end;
        }
    }
    joined(found)
}

fn joined(mut pieces: Vec<Bytes>) -> Bytes {
    if pieces.len() == 1 {
        return pieces.pop().unwrap_or_default();
    }
    let mut all = BytesMut::with_capacity(pieces.iter().map(Bytes::len).sum());
    pieces.iter().for_each(|piece| all.extend_from_slice(piece));
    all.freeze()
}
