//! Requests for the ranges of a file, which run in the background while threads wait.

use crate::{
    StoreOptions,
    answer::{Fault, Mark, Part, Wanted, stale},
    clock::Clock,
    http::missing,
    link::{Backend, IN_FLIGHT, Link},
    requests::{self, Budget, Worth},
    runtime::PerProcess,
};
use bytes::{Bytes, BytesMut};
use forthwith_io::{Error, ErrorKind, Result};
use forthwith_platform::ProcessLock;
use std::{
    ops::Range,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};
use tokio::{task::JoinSet, time::Instant};

/// Bytes of gaps that may be fetched once per file, besides a part of the wanted bytes, to make fewer
/// requests.
pub(crate) const ONCE: Budget = Budget { worthwhile: 8 << 20, spare: 384 << 10 };
const SPARE_PART: u64 = 25;

/// Gaps up to this length are always fetched rather than skipped by another request, or by another range of a
/// request of several: both have headers, and cost the server work.
const FREE_BEFORE_REQUEST: u64 = 8 << 10;
const FREE_BEFORE_RANGE: u64 = 1 << 10;
/// The cost of a range in a request of several, as a part of the cost of a request.
const RANGES_OF_REQUEST: u64 = 100;

/// Number of requests of several ranges for one list, beyond which gaps are fetched to make fewer.
const FEW_REQUESTS: usize = 4;

/// Requests that begin this long after the loss of a server are independent of it.
const LOST: Duration = Duration::from_secs(1);

/// State of a file that is shared with its requests in flight.
pub(crate) struct Shared {
    pub(crate) name: String,
    pub(crate) url: String,
    pub(crate) options: StoreOptions,
    pub(crate) backend: PerProcess<Link>,
    pub(crate) mark: OnceLock<Mark>,
    /// Whether the mark is from an index.
    pub(crate) of_index: bool,
    /// Whether an answer has confirmed the mark of the index.
    pub(crate) confirmed: AtomicBool,
    /// Cached parts: the beginning, the end, and small reads.
    pub(crate) kept: ProcessLock<Vec<Part>>,
    pub(crate) budget: ProcessLock<Budget>,
    pub(crate) lost: ProcessLock<Option<Lost>>,
}

/// The error that ended the requests of a file, and its time.
pub(crate) struct Lost {
    at: Instant,
    kind: ErrorKind,
}

/// The parts of an answer, and whether it was truncated.
pub(crate) struct Reply {
    pub(crate) parts: Vec<Part>,
    broke: bool,
}

/// Parts that were received, and ranges that were not.
#[derive(Default)]
struct Fetched {
    parts: Vec<Part>,
    missing: Vec<Range<u64>>,
    /// Time left after a request of several ranges.
    left: Option<Duration>,
}

impl Shared {
    pub(crate) fn fail(&self, kind: ErrorKind) -> Error {
        Error::new(kind, &*self.name)
    }

    pub(crate) fn link(&self) -> Result<Arc<Link>> {
        self.backend.get(|| {
            let backend = Backend::new(&self.url, &self.options).map_err(|kind| self.fail(kind))?;
            Ok(Link::new(backend))
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

    /// Returns the error that ended requests of this file, if that was after `began`.
    pub(crate) fn lost_since(&self, began: Instant) -> Option<ErrorKind> {
        self.lost.lock().as_ref().filter(|lost| began <= lost.at).map(|lost| lost.kind.clone())
    }

    /// Whether a request that began at a time was lost more than [`LOST`] ago, so that a new one may succeed.
    pub(crate) fn was_lost(&self, began: Instant) -> bool {
        self.lost.lock().as_ref().is_some_and(|lost| began <= lost.at && lost.at.elapsed() > LOST)
    }

    /// Returns the error of a request that is not repeated. If the server or the connection failed, all other
    /// requests in flight end with it, since they would use up one time limit after another.
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

    /// Returns the error of a range that the server reports as outside of its file of some size.
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

    /// Makes one request, and repeats it after temporary failures. The answer may have fewer bytes than
    /// wanted, and none if several ranges have to be requested one by one.
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
            let slot = link.slot(wanted.bytes()).await?;
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
                // An empty file has no range.
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
                // Bytes received before the failure count as an answer if they are of the same file; the
                // others are requested again.
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

    /// Reads one range, in as many requests as the server needs.
    async fn range(
        &self,
        link: &Link,
        range: Range<u64>,
        mut clock: Clock,
    ) -> std::result::Result<Part, ErrorKind> {
        let mut done: Vec<Bytes> = Vec::new();
        let mut at = range.start;
        // Bound on the number of requests: a server that sends a byte at a time is not followed indefinitely,
        // and a server that truncates each answer, which may take long, even less.
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

    /// Reads ranges in one request, if the server supports that. Returns the parts received and the missing
    /// ranges.
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
        let waited = Instant::now();
        let _probe = link.probe(ranges.len()).await;
        clock.skip(waited.elapsed());
        if link.backend.range_limit() < ranges.len() {
            return Ok(Fetched { missing: ranges, ..Fetched::default() });
        }
        let Reply { parts, .. } = self.ask(link, &Wanted::Ranges(ranges.clone()), &mut clock).await?;
        Ok(Fetched { missing: missing(&ranges, &parts), parts, left: Some(clock.left()) })
    }

    /// Returns the bytes of ranges, in their order. The ranges must be inside the file.
    pub(crate) async fn fetch(
        self: Arc<Self>,
        ranges: Vec<Range<u64>>,
    ) -> std::result::Result<Vec<Bytes>, ErrorKind> {
        let link = self.link().map_err(|error| error.kind)?;
        let union: Arc<[Range<u64>]> = requests::union(&ranges).into();
        let limit = self.options.stall()?;
        let (mut parts, mut missing, mut left) = (Vec::new(), union.to_vec(), limit);
        let mut at_once = self.ranges_at_once(&link);
        while !missing.is_empty() {
            let planned = self.plan(&link, &missing, at_once);
            let groups = requests::group(planned, IN_FLIGHT, at_once);
            let fetched = self.groups(&link, groups, &union, limit, left).await?;
            parts.extend(fetched.parts);
            missing = fetched.missing;
            // Time spent in vain on several ranges counts towards the limit.
            left = fetched.left.unwrap_or(left).max(limit / 2);
            // A server that refused many ranges may answer fewer; ranges that it left out are requested one
            // by one.
            let fewer = self.ranges_at_once(&link);
            at_once = if fewer < at_once { fewer } else { 1 };
        }
        sort(&mut parts);
        Ok(ranges.iter().map(|range| cut(&parts, range)).collect())
    }

    /// Returns the maximum number of ranges of a request.
    fn ranges_at_once(&self, link: &Link) -> usize {
        link.backend.range_limit().min(requests::ranges_in_header(self.size()))
    }

    /// Plans the ranges to fetch for a union, by the cost of a request, or of a range in a request of
    /// several.
    fn plan(&self, link: &Link, union: &[Range<u64>], at_once: usize) -> Vec<Range<u64>> {
        let server = link.backend.server();
        let cost = server.request_cost();
        let worth = match at_once {
            1 => Worth { free: FREE_BEFORE_REQUEST, cost, few: 0 },
            _ => {
                let free = (cost / RANGES_OF_REQUEST).max(FREE_BEFORE_RANGE);
                Worth { free, cost, few: FEW_REQUESTS * at_once }
            }
        };
        let wanted = length(union);
        let mut once = self.budget.lock();
        let mut budget = Budget {
            worthwhile: once.worthwhile.saturating_add(wanted.saturating_mul(server.waste_factor())),
            spare: once.spare + wanted / SPARE_PART,
        };
        let planned = requests::plan(union, worth, &mut budget);
        once.worthwhile = once.worthwhile.min(budget.worthwhile);
        once.spare = once.spare.min(budget.spare);
        planned
    }

    /// Makes requests in parallel. The first error ends all of them.
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
}

/// Returns the total length of ranges, which may overlap.
pub(crate) fn length(ranges: &[Range<u64>]) -> u64 {
    ranges.iter().fold(0, |sum, range| sum.saturating_add(range.end - range.start))
}

/// Sorts parts by their offsets, and removes parts that are contained in others, so that the ends ascend,
/// too.
pub(crate) fn sort(parts: &mut Vec<Part>) {
    parts.sort_unstable_by_key(|part| (part.start, u64::MAX - part.range().end));
    let mut end = 0;
    parts.retain(|part| {
        let is_new = part.range().end > end;
        end = end.max(part.range().end);
        is_new
    });
}

/// Returns the ranges within a range that [sorted](sort) parts do not cover.
pub(crate) fn uncovered(range: &Range<u64>, parts: &[Part]) -> Vec<Range<u64>> {
    let (mut at, mut open) = (range.start, Vec::new());
    for part in parts.iter().map(Part::range).filter(|part| part.end > range.start) {
        if part.start >= range.end {
            break;
        }
        if part.start > at {
            open.push(at..part.start);
        }
        at = at.max(part.end);
    }
    if at < range.end {
        open.push(at..range.end);
    }
    open
}

/// Returns the bytes of a range from [sorted](sort) parts, which must cover it.
pub(crate) fn cut(parts: &[Part], range: &Range<u64>) -> Bytes {
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

#[cfg(test)]
mod tests {
    use super::{Part, cut, sort, uncovered};
    use bytes::Bytes;

    #[test]
    fn parts_and_the_ranges_between_them_make_a_range() {
        let bytes = Bytes::from_iter(0..100);
        let part = |start: u64, end: u64| Part { start, bytes: bytes.slice(start as usize..end as usize) };
        let mut parts =
            vec![part(90, 100), part(0, 10), part(20, 30), part(22, 28), part(25, 40), part(20, 25)];
        sort(&mut parts);
        let ranges: Vec<_> = parts.iter().map(Part::range).collect();
        assert_eq!(ranges, [0..10, 20..30, 25..40, 90..100]);
        // Starts and ends of the open ranges, in order.
        let cases: [(_, &[u64]); 7] = [
            (0..100, &[10, 20, 40, 90]),
            (5..15, &[10, 15]),
            (15..26, &[15, 20]),
            (39..41, &[40, 41]),
            (50..60, &[50, 60]),
            (22..38, &[]),
            (7..7, &[]),
        ];
        for (range, ends) in cases {
            let open: Vec<_> = ends.as_chunks().0.iter().map(|[start, end]| *start..*end).collect();
            assert_eq!(uncovered(&range, &parts), open, "{range:?}");
            let mut all = parts.clone();
            all.extend(open.iter().map(|open| part(open.start, open.end)));
            sort(&mut all);
            assert_eq!(cut(&all, &range), bytes.slice(range.start as usize..range.end as usize));
        }
    }
}
