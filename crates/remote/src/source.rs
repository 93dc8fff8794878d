//! A file behind a network.

use crate::{
    StoreOptions,
    answer::{Answer, Fault, Mark, Part, Wanted, stale},
    http::{Http, missing},
    redact, requests,
    runtime::{PerProcess, choose_cryptography, runtime},
    store::Object,
};
use bytes::{Bytes, BytesMut};
use forthwith_io::{Error, ErrorKind, ProcessLock, Result, Source};
use std::{
    ops::Range,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
        mpsc::{RecvTimeoutError, channel},
    },
    time::Duration,
};
use tokio::{sync::Semaphore, task::JoinHandle};

/// Bytes of the beginning and of the end that are read when a file is opened.
const HEAD: u64 = 32 << 10;
const END: u64 = 512 << 10;

/// Bytes that may be fetched for nothing, to make fewer requests: once for a file, and a part of each request.
const SPARE: u64 = 384 << 10;
const SPARE_PART: u64 = 25;

/// Requests in flight.
const IN_FLIGHT: usize = 16;

/// Lists of ranges that are fetched before they are asked for, and the bytes that they have together: more than all
/// workers of a read expect at its beginning, when each has told what it will read and none has read it.
const LISTS: usize = 32;
const EXPECTED: u64 = 96 << 20;

/// How often a waiting thread looks whether it still should.
const LOOK: Duration = Duration::from_millis(20);

/// A small read is answered with this much, of which later ones may be a part: metadata are read in small steps.
const SMALL: u64 = 64 << 10;

/// Opens a URL of one of the [`SCHEMES`](crate::SCHEMES). Its beginning and its end are read.
///
/// # Errors
/// The store cannot be reached, has no such object or does not permit to read it; an option that the store does not have.
pub fn open(url: &str, options: &StoreOptions) -> Result<Arc<dyn Source>> {
    let source = Remote::new(url, options, None);
    source.begin()?;
    Ok(Arc::new(source))
}

/// The same of a file whose size and [mark](Source::mark) an index has: nothing is read. The first answer of the store has to be of
/// this state, or is an error. `None` if the mark is none that stores give.
///
/// # Errors
/// An option that the store does not have.
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

/// The beginning of the marks of files of stores.
const MARK: &str = "remote ";

struct Remote {
    shared: Arc<Shared>,
    ahead: ProcessLock<Vec<Ahead>>,
    /// The number of times that all waits were ended.
    given_up: AtomicU64,
}

/// The state that requests under way have, too.
struct Shared {
    name: String,
    url: String,
    options: StoreOptions,
    backend: PerProcess<Link>,
    mark: OnceLock<Mark>,
    /// Whether an index has given the mark.
    of_index: bool,
    /// Whether an answer has shown that the file is the one that the index is of.
    confirmed: AtomicBool,
    /// Parts that were read, and are kept: the beginning, the end, and small reads.
    kept: ProcessLock<Vec<Part>>,
    spare: ProcessLock<u64>,
}

/// Connections, and how many of them are in use.
#[derive(Debug)]
struct Link {
    backend: Backend,
    slots: Semaphore,
}

#[derive(Debug)]
enum Backend {
    Http(Box<Http>),
    Object(Object),
}

/// Ranges that will be read soon, and are being fetched.
struct Ahead {
    ranges: Vec<Range<u64>>,
    task: JoinHandle<std::result::Result<Vec<Bytes>, ErrorKind>>,
}

impl Backend {
    fn new(url: &str, options: &StoreOptions) -> std::result::Result<Self, ErrorKind> {
        choose_cryptography();
        let is_http = url.get(..4).is_some_and(|scheme| scheme.eq_ignore_ascii_case("http"));
        Ok(if is_http {
            Self::Http(Box::new(Http::new(url, options)?))
        } else {
            Self::Object(Object::new(url, options)?)
        })
    }

    async fn get(&self, wanted: &Wanted) -> std::result::Result<Answer, Fault> {
        match self {
            Self::Http(http) => http.get(wanted).await,
            Self::Object(object) => object.get(wanted).await,
        }
    }

    fn ranges_at_once(&self) -> usize {
        match self {
            Self::Http(http) => http.ranges_at_once(),
            Self::Object(_) => 1,
        }
    }
}

impl Shared {
    fn fail(&self, kind: ErrorKind) -> Error {
        Error::new(kind, &*self.name)
    }

    fn link(&self) -> Result<Arc<Link>> {
        self.backend.get(|| {
            let backend = Backend::new(&self.url, &self.options).map_err(|kind| self.fail(kind))?;
            Ok(Link { backend, slots: Semaphore::new(IN_FLIGHT) })
        })
    }

    fn size(&self) -> u64 {
        self.mark.get().map_or(0, |mark| mark.size)
    }

    fn compare(&self, mark: &Mark) -> std::result::Result<(), ErrorKind> {
        let known = self.mark.get_or_init(|| mark.clone());
        if !self.of_index {
            return known.compare(mark);
        }
        known.compare_with_index(mark)?;
        self.confirmed.store(true, Relaxed);
        Ok(())
    }

    /// A fault as one of the index, if there is one and the file is not that which it is of.
    fn of_index(&self, kind: ErrorKind) -> ErrorKind {
        match kind {
            ErrorKind::Changed { what } if self.of_index => stale(&what),
            kind => kind,
        }
    }

    /// One request, repeated where it failed in passing. The answer may have fewer bytes than were wanted.
    async fn ask(&self, link: &Link, wanted: &Wanted) -> std::result::Result<Vec<Part>, ErrorKind> {
        self.ask_once(link, wanted).await.map(|(parts, _)| parts)
    }

    /// The same, with whether the answer broke off.
    async fn ask_once(
        &self,
        link: &Link,
        wanted: &Wanted,
    ) -> std::result::Result<(Vec<Part>, bool), ErrorKind> {
        let retries = self.options.retries()?;
        let mut pause = Duration::from_millis(100);
        let mut tries = 0;
        loop {
            let answer = match link.slots.acquire().await {
                Ok(_slot) => link.backend.get(wanted).await,
                Err(_) => return Err(ErrorKind::Cancelled),
            };
            match answer {
                Ok(answer) => {
                    self.compare(&answer.mark)?;
                    return Ok((answer.parts, false));
                }
                // The bytes that came before count as an answer, if they are of the same file: the rest is asked for.
                Err(Fault { passing: true, parts, mark: Some(mark), .. })
                    if self.mark.get().is_some() && parts.iter().any(|part| !part.bytes.is_empty()) =>
                {
                    self.compare(&mark)?;
                    return Ok((parts, true));
                }
                Err(fault) if fault.passing && tries < retries => {
                    tries += 1;
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(Duration::from_secs(5));
                }
                Err(Fault { kind: ErrorKind::Remote { text }, .. }) if tries > 0 => {
                    return Err(ErrorKind::Remote { text: format!("{text} (tried {} times)", tries + 1) });
                }
                Err(fault) => return Err(self.of_index(fault.kind)),
            }
        }
    }

    /// One range, in as many requests as the server makes of it.
    async fn range(&self, link: &Link, range: Range<u64>) -> std::result::Result<Part, ErrorKind> {
        let mut done: Vec<Bytes> = Vec::new();
        let mut at = range.start;
        // Each request has to bring the end nearer; a server that sends a byte at a time is not followed for ever, and less far one
        // that breaks off each time, as that may take long.
        let mut left = 64 + (range.end - range.start) / (64 << 10);
        while at < range.end {
            let (parts, broke) = self.ask_once(link, &Wanted::one(at..range.end)).await?;
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

    /// Several ranges in one request; those that do not come are asked for one by one.
    async fn group(&self, link: &Link, ranges: Vec<Range<u64>>) -> std::result::Result<Vec<Part>, ErrorKind> {
        if let [range] = &ranges[..] {
            return Ok(vec![self.range(link, range.clone()).await?]);
        }
        let mut parts = if link.backend.ranges_at_once() > 1 {
            self.ask(link, &Wanted::Ranges(ranges.clone())).await.or_else(|kind| match kind {
                // The server takes single ranges only.
                ErrorKind::Remote { .. } if link.backend.ranges_at_once() == 1 => Ok(Vec::new()),
                kind => Err(kind),
            })?
        } else {
            Vec::new()
        };
        for range in missing(&ranges, &parts) {
            parts.push(self.range(link, range).await?);
        }
        Ok(parts)
    }

    /// The bytes of ranges, in their order. They are inside the file.
    async fn fetch(self: Arc<Self>, ranges: Vec<Range<u64>>) -> std::result::Result<Vec<Bytes>, ErrorKind> {
        let link = self.link().map_err(|error| error.kind)?;
        let planned = {
            let mut once = self.spare.lock();
            let needed: u64 = ranges.iter().map(|range| range.end - range.start).sum();
            let of_these = needed / SPARE_PART;
            let mut spare = of_these + *once;
            let planned = requests::plan(&ranges, &mut spare);
            *once = spare.min(*once);
            planned
        };
        let at_once = link.backend.ranges_at_once();
        let groups = requests::group(planned, IN_FLIGHT, at_once);
        let tasks: Vec<_> = groups
            .into_iter()
            .map(|group| {
                let (shared, link) = (Arc::clone(&self), Arc::clone(&link));
                Abort(tokio::spawn(async move { shared.group(&link, group).await }))
            })
            .collect();
        let mut parts = Vec::new();
        for mut task in tasks {
            let done = (&mut task.0).await.map_err(|_| ErrorKind::Cancelled)?;
            parts.extend(done?);
        }
        parts.sort_unstable_by_key(|part: &Part| part.start);
        Ok(ranges.iter().map(|range| cut(&parts, range)).collect())
    }

    /// The bytes of a range that were read before.
    fn known(&self, range: &Range<u64>) -> Option<Bytes> {
        self.kept.lock().iter().find_map(|part| part.slice(range))
    }
}

/// The bytes of all ranges, which may overlap.
fn length(ranges: &[Range<u64>]) -> u64 {
    ranges.iter().fold(0, |sum, range| sum.saturating_add(range.end - range.start))
}

/// A task that ends with its last owner.
struct Abort<T>(JoinHandle<T>);

impl<T> Drop for Abort<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
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
            spare: ProcessLock::new(SPARE),
        };
        Self { shared: Arc::new(shared), ahead: ProcessLock::default(), given_up: AtomicU64::new(0) }
    }

    /// Reads the beginning and the end at once.
    fn begin(&self) -> Result<()> {
        let link = self.shared.link()?;
        let shared = Arc::clone(&self.shared);
        let parts = self.wait(async move {
            let (head, end) = (Wanted::one(0..HEAD), Wanted::End(END));
            let (head, end) = tokio::join!(shared.ask(&link, &head), shared.ask(&link, &end));
            let mut parts = match (head, end) {
                (Ok(head), Ok(end)) => [head, end].concat(),
                // A file without bytes has no range.
                (Err(ErrorKind::Changed { .. }), _) if shared.mark.get().is_none() => Vec::new(),
                (Ok(head), Err(_)) => head,
                (Err(kind), _) => return Err(kind),
            };
            // A server that knows no ranges has answered the whole file twice.
            parts.sort_unstable_by_key(|part: &Part| (part.start, u64::MAX - part.range().end));
            parts.dedup_by_key(|part| part.start);
            Ok(parts)
        })?;
        let empty = Mark::new(0, None);
        self.shared.mark.get_or_init(|| empty);
        *self.shared.kept.lock() = parts;
        Ok(())
    }

    /// Waits for an answer, and looks whether it still should.
    fn wait<T: Send + 'static>(
        &self,
        answer: impl Future<Output = std::result::Result<T, ErrorKind>> + Send + 'static,
    ) -> Result<T> {
        let runtime = runtime(&self.shared.name)?;
        let (sender, receiver) = channel();
        let _task = Abort(runtime.spawn(async move { drop(sender.send(answer.await)) }));
        let ended = self.given_up.load(Relaxed);
        loop {
            match receiver.recv_timeout(LOOK) {
                Ok(answer) => return answer.map_err(|kind| self.shared.fail(kind)),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(self.shared.fail(ErrorKind::Cancelled)),
            }
            if !self.shared.options.goes_on() {
                self.give_up();
            }
            if self.given_up.load(Relaxed) != ended {
                return Err(self.shared.fail(ErrorKind::Cancelled));
            }
        }
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

    /// The ranges that are being fetched already, as one list.
    fn take_ahead(&self, ranges: &[Range<u64>]) -> Option<Ahead> {
        let mut ahead = self.ahead.lock();
        let at = ahead.iter().position(|ahead| ahead.ranges == ranges)?;
        Some(ahead.swap_remove(at))
    }
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
        if let Some(Ahead { ranges: _, task }) = self.take_ahead(ranges) {
            let mut task = Abort(task);
            return self.wait(async move { (&mut task.0).await.map_err(|_| ErrorKind::Cancelled)? });
        }
        let mut answers: Vec<Option<Bytes>> = ranges.iter().map(|range| self.shared.known(range)).collect();
        let open: Vec<usize> = (0..ranges.len()).filter(|at| answers[*at].is_none()).collect();
        if !open.is_empty() {
            let shared = Arc::clone(&self.shared);
            let mut wanted: Vec<Range<u64>> = open.iter().map(|at| ranges[*at].clone()).collect();
            let small = wanted.len() == 1 && wanted[0].end - wanted[0].start < SMALL;
            if small {
                wanted[0].end = self.shared.size().min(wanted[0].start.saturating_add(SMALL));
            }
            let start = wanted[0].start;
            let found = self.wait(shared.fetch(wanted))?;
            if small && let Some(bytes) = found.first() {
                let mut kept = self.shared.kept.lock();
                // The beginning and the end, and some of the last small reads.
                if kept.len() >= 34 {
                    kept.remove(2);
                }
                kept.push(Part { start, bytes: bytes.clone() });
            }
            for (at, bytes) in open.into_iter().zip(found) {
                let length = (ranges[at].end - ranges[at].start) as usize;
                answers[at] = Some(bytes.slice(..length.min(bytes.len())));
            }
        }
        let whole = |(bytes, range): (Option<Bytes>, &Range<u64>)| {
            let wanted = range.end - range.start;
            bytes.filter(|bytes| bytes.len() as u64 == wanted).ok_or_else(|| {
                self.shared.fail(ErrorKind::Remote {
                    text: format!("{wanted} bytes were asked for, and not all came"),
                })
            })
        };
        answers.into_iter().zip(ranges).map(whole).collect()
    }

    /// Asks for one byte, unless an answer has shown it already.
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

    /// Ranges are asked for side by side, but by one thread: it knows all of them.
    fn concurrent(&self) -> bool {
        false
    }

    fn plans_requests(&self) -> bool {
        true
    }

    fn expect(&self, ranges: &[Range<u64>]) {
        let known = |ahead: &[Ahead]| ahead.iter().any(|ahead| ahead.ranges == ranges);
        let inside = ranges.iter().all(|range| self.check(range).is_ok());
        let Ok(runtime) = runtime(&self.shared.name) else { return };
        let mut ahead = self.ahead.lock();
        if !inside || ranges.is_empty() || known(&ahead) {
            return;
        }
        // What an ended read expected goes.
        let bytes = length(ranges);
        let too_many = |ahead: &[Ahead]| {
            let expected = ahead.iter().fold(bytes, |sum, ahead| sum.saturating_add(length(&ahead.ranges)));
            !ahead.is_empty() && (ahead.len() >= LISTS || expected > EXPECTED)
        };
        while too_many(&ahead) {
            ahead.remove(0).task.abort();
        }
        let task = runtime.spawn(Arc::clone(&self.shared).fetch(ranges.to_vec()));
        ahead.push(Ahead { ranges: ranges.to_vec(), task });
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

// The URL may hold secrets.
forthwith_io::impl_debug!(Remote, |it| "name": it.shared.name);
