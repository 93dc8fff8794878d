//! Requests for the ranges of a file, in the background of the threads that wait for them.

use crate::{
    StoreOptions,
    answer::{Answer, Fault, Mark, Part, Wanted, stale},
    http::{Http, missing},
    requests,
    runtime::{PerProcess, choose_cryptography},
    store::Object,
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
use tokio::{sync::Semaphore, task::JoinHandle};

/// Bytes that may be fetched for nothing, to make fewer requests: once for a file, and a part of each request.
pub(crate) const SPARE: u64 = 384 << 10;
const SPARE_PART: u64 = 25;

/// Requests in flight.
const IN_FLIGHT: usize = 16;

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
}

/// Connections, and how many of them are in use.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) backend: Backend,
    pub(crate) slots: Semaphore,
}

#[derive(Debug)]
pub(crate) enum Backend {
    Http(Box<Http>),
    Object(Object),
}

impl Backend {
    pub(crate) fn new(url: &str, options: &StoreOptions) -> std::result::Result<Self, ErrorKind> {
        choose_cryptography();
        let is_http = url.get(..4).is_some_and(|scheme| scheme.eq_ignore_ascii_case("http"));
        Ok(if is_http {
            Self::Http(Box::new(Http::new(url, options)?))
        } else {
            Self::Object(Object::new(url, options)?)
        })
    }

    pub(crate) async fn get(&self, wanted: &Wanted) -> std::result::Result<Answer, Fault> {
        match self {
            Self::Http(http) => http.get(wanted).await,
            Self::Object(object) => object.get(wanted).await,
        }
    }

    pub(crate) fn ranges_at_once(&self) -> usize {
        match self {
            Self::Http(http) => http.ranges_at_once(),
            Self::Object(_) => 1,
        }
    }
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

    /// A fault as one of the index, if there is one and the file is not that which it is of.
    pub(crate) fn of_index(&self, kind: ErrorKind) -> ErrorKind {
        match kind {
            ErrorKind::Changed { what } if self.of_index => stale(&what),
            kind => kind,
        }
    }

    /// One request, repeated where it failed in passing. The answer may have fewer bytes than were wanted.
    pub(crate) async fn ask(
        &self,
        link: &Link,
        wanted: &Wanted,
    ) -> std::result::Result<Vec<Part>, ErrorKind> {
        self.ask_once(link, wanted).await.map(|(parts, _)| parts)
    }

    /// The same, with whether the answer broke off.
    pub(crate) async fn ask_once(
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
    pub(crate) async fn range(&self, link: &Link, range: Range<u64>) -> std::result::Result<Part, ErrorKind> {
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
    pub(crate) async fn group(
        &self,
        link: &Link,
        ranges: Vec<Range<u64>>,
    ) -> std::result::Result<Vec<Part>, ErrorKind> {
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
    pub(crate) async fn fetch(
        self: Arc<Self>,
        ranges: Vec<Range<u64>>,
    ) -> std::result::Result<Vec<Bytes>, ErrorKind> {
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
    pub(crate) fn known(&self, range: &Range<u64>) -> Option<Bytes> {
        self.kept.lock().iter().find_map(|part| part.slice(range))
    }
}

/// A task that ends with its last owner.
pub(crate) struct Abort<T>(pub(crate) JoinHandle<T>);

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
