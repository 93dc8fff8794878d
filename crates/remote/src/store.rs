//! S3, Google Cloud Storage and Azure, through `object_store`.

use crate::{
    StoreOptions,
    answer::{Answer, Fault, Mark, Part, Wanted},
    clients::Shared,
    clock::Clock,
    options::refused,
    redact,
    server::{Server, server},
};
use bytes::{Bytes, BytesMut};
use forthwith_io::ErrorKind;
use futures_core::Stream;
use object_store::{
    ClientOptions, Error, GetOptions, GetRange, MultipartUpload, ObjectMeta, ObjectStore, ObjectStoreExt,
    RetryConfig, aws::AmazonS3Builder, azure::MicrosoftAzureBuilder, gcp::GoogleCloudStorageBuilder,
    path::Path,
};
use std::{future::poll_fn, io::Read, pin::Pin, sync::Arc, time::Duration};
use tokio::{
    runtime::Handle,
    task::JoinSet,
    time::{Instant, timeout_at},
};

/// An object of a store.
#[derive(Debug)]
pub(crate) struct Object {
    store: Box<dyn ObjectStore>,
    path: Path,
    /// Whether the store supports requests for the end of an object. Azure does not.
    ends: bool,
    server: Arc<Server>,
    /// Time after which an answer that does not arrive counts as a failure.
    stall: Duration,
}

/// State of the object at a path.
enum State {
    Absent,
    Present(Box<ObjectMeta>),
    /// The store does not answer, or does not permit the request.
    Unknown,
}

/// Purpose of opening an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    Read,
    Write,
}

/// Builds a store with the settings that all stores have and its own options.
macro_rules! built {
    ($builder:ty, $url:expr, $client:expr, $retry:expr, $options:expr) => {{
        let mut builder = <$builder>::from_env()
            .with_url($url)
            .with_http_connector(Shared)
            .with_client_options($client)
            .with_retry($retry);
        for (name, value) in $options.of_store() {
            let key =
                name.parse().map_err(|_| refused(format!("there is no option {name} for this store")))?;
            builder = builder.with_config(key, value);
        }
        builder.build().map(|store| Box::new(store) as Box<dyn ObjectStore>)
    }};
}

impl Object {
    pub(crate) fn new(url: &str, options: &StoreOptions, purpose: Use) -> Result<Self, ErrorKind> {
        let (scheme, rest) = url.split_once("://").unwrap_or_default();
        let (bucket, path) = rest.split_once('/').unwrap_or((rest, ""));
        let path = Path::parse(path).map_err(|error| refused(redact(&error.to_string())))?;
        let stall = options.stall()?;
        // A timeout of the whole request would depend on its length, so there is none.
        let endpoint = options.of_store().find(|(name, _)| name.ends_with("endpoint"));
        let server = server(&format!("{scheme}://{bucket} {endpoint:?}"));
        let insecure = options
            .of_store()
            .any(|(name, value)| name.ends_with("endpoint") && value.starts_with("http://"))
            || std::env::var("AWS_ENDPOINT_URL").is_ok_and(|url| url.starts_with("http://"));
        let retries = options.retries()?;
        // An attempt to read leaves half of the time to the next one. Writes may be repeated for longer.
        let (silence, all) = match purpose {
            Use::Read => (if retries > 0 { stall / 2 } else { stall }, stall),
            Use::Write => (stall, stall + Duration::from_secs(60)),
        };
        let client = ClientOptions::new()
            .with_timeout_disabled()
            .with_read_timeout(silence)
            .with_connect_timeout(options.connect()?)
            .with_allow_http(insecure);
        let retry = RetryConfig { max_retries: retries, retry_timeout: all, ..RetryConfig::default() };
        let scheme = scheme.to_lowercase();
        let store = match scheme.as_str() {
            "s3" | "s3a" => built!(AmazonS3Builder, url, client, retry, options),
            "gs" => built!(GoogleCloudStorageBuilder, url, client, retry, options),
            _ => built!(MicrosoftAzureBuilder, url, client, retry, options),
        };
        let ends = matches!(scheme.as_str(), "s3" | "s3a" | "gs");
        Ok(Self { store: store.map_err(|error| fault(&error).kind)?, path, ends, server, stall })
    }

    /// Returns the paths of the objects in the folder of this path, and of the folders in it.
    pub(crate) async fn folder(&self) -> Result<(Vec<String>, Vec<String>), Fault> {
        let found = self.store.list_with_delimiter(Some(&self.path)).await.map_err(|error| fault(&error))?;
        let files = found.objects.iter().map(|object| object.location.to_string()).collect();
        Ok((files, found.common_prefixes.iter().map(ToString::to_string).collect()))
    }

    /// Uploads an object, at once or in parts of which several are in flight together. The object appears
    /// only when all of it is uploaded.
    pub(crate) async fn put(&self, mut bytes: impl Read, length: u64) -> Result<(), Fault> {
        let part = PART.max(length.div_ceil(MOST_PARTS));
        if length <= part {
            let all = next(&mut bytes, length)?;
            self.store.put(&self.path, all.into()).await.map_err(|error| fault(&error))?;
            return Ok(());
        }
        let before = self.state().await;
        let upload = self.store.put_multipart(&self.path).await.map_err(|error| fault(&error))?;
        let mut writer = GivenUp(Some(upload), JoinSet::new());
        let sent = self.send(&mut writer, bytes, length, part).await;
        let (Some(mut upload), tasks) = (writer.0.take(), &mut writer.1) else { return sent };
        match sent {
            Ok(()) => self.complete(upload, length, &before).await,
            Err(error) => {
                tasks.abort_all();
                // The first fault is the one to report.
                drop(upload.abort().await);
                Err(error)
            }
        }
    }

    /// Completes an upload. If the answer is lost, or a repetition is told that the upload does not exist,
    /// the state of the object shows whether the store has completed it.
    async fn complete(
        &self,
        mut upload: Box<dyn MultipartUpload>,
        length: u64,
        before: &State,
    ) -> Result<(), Fault> {
        let Err(error) = upload.complete().await else { return Ok(()) };
        let mut failed = fault(&error);
        let is_written = |now: &State| match (before, now) {
            (State::Absent, State::Present(now)) => now.size == length,
            (State::Present(before), State::Present(now)) => {
                now.size == length
                    && (&now.e_tag, &now.version, now.last_modified)
                        != (&before.e_tag, &before.version, before.last_modified)
            }
            _ => false,
        };
        let mut now = self.state().await;
        if !is_written(&now) {
            // An aborted upload can no longer be completed by the store.
            let aborted = timeout_at(Instant::now() + self.stall, upload.abort()).await;
            if matches!(aborted, Ok(Ok(()))) || !matches!(now, State::Unknown) {
                now = self.state().await;
            }
        }
        if is_written(&now) {
            return Ok(());
        }
        if let (State::Unknown, ErrorKind::Remote { text }) = (&now, &mut failed.kind) {
            text.push_str("; the store does not tell whether the object was written");
        }
        Err(failed)
    }

    /// Returns the state of the object at this path.
    async fn state(&self) -> State {
        match timeout_at(Instant::now() + self.stall, self.store.head(&self.path)).await {
            Ok(Ok(meta)) => State::Present(Box::new(meta)),
            Ok(Err(Error::NotFound { .. })) => State::Absent,
            _ => State::Unknown,
        }
    }

    async fn send(
        &self,
        to: &mut GivenUp,
        mut bytes: impl Read,
        length: u64,
        part: u64,
    ) -> Result<(), Fault> {
        let GivenUp(Some(upload), tasks) = to else { return Ok(()) };
        let mut left = length;
        loop {
            while tasks.len() >= if left > 0 { TOGETHER } else { 1 } {
                match tasks.join_next().await {
                    Some(Ok(sent)) => sent.map_err(|error| fault(&error))?,
                    _ => return Err(Fault::lasting(ErrorKind::Cancelled)),
                }
            }
            if left == 0 {
                return Ok(());
            }
            let size = part.min(left);
            tasks.spawn(upload.put_part(next(&mut bytes, size)?.into()));
            left -= size;
        }
    }

    pub(crate) fn server(&self) -> Arc<Server> {
        Arc::clone(&self.server)
    }

    pub(crate) async fn get(&self, wanted: &Wanted, clock: &mut Clock) -> Result<Answer, Fault> {
        let range = match wanted {
            Wanted::Ranges(ranges) => {
                let first = ranges.first().cloned().unwrap_or_default();
                GetRange::Bounded(first)
            }
            Wanted::Ends { head, .. } => GetRange::Bounded(0..*head),
            Wanted::End(length) if self.ends => GetRange::Suffix(*length),
            Wanted::End(length) => {
                let size = self.meta(clock).await?.size;
                GetRange::Bounded(size.saturating_sub(*length)..size)
            }
        };
        let sent = Instant::now();
        let options = GetOptions { range: Some(range), ..GetOptions::default() };
        let answer = timeout_at(clock.attempt(true), self.store.get_opts(&self.path, options)).await;
        let answer = match answer.map_err(|_| clock.fault())? {
            Ok(answer) => answer,
            // Any range of an empty object is refused.
            Err(error @ Error::Generic { .. }) if self.meta(clock).await?.size == 0 => {
                return Err(Fault { unsatisfied: Some(0), ..fault(&error) });
            }
            Err(error) => return Err(fault(&error)),
        };
        self.server.measure_latency(sent.elapsed());
        let (range, size) = (answer.range.clone(), answer.meta.size);
        let tag = answer.meta.e_tag.clone().or_else(|| Some(answer.meta.last_modified.to_rfc3339()));
        let begun = Instant::now();
        let bytes = body(answer.into_stream(), range.end - range.start, clock).await?;
        self.server.measure_body(bytes.len() as u64, begun.elapsed());
        Ok(Answer { parts: vec![Part { start: range.start, bytes }], mark: Mark::new(size, tag) })
    }

    /// Returns the metadata of the object.
    async fn meta(&self, clock: &Clock) -> Result<ObjectMeta, Fault> {
        let found = timeout_at(clock.attempt(true), self.store.head(&self.path)).await;
        found.map_err(|_| clock.fault())?.map_err(|error| fault(&error))
    }
}

/// Reads a body of at most `most` bytes.
async fn body<S>(mut stream: Pin<Box<S>>, most: u64, clock: &mut Clock) -> Result<Bytes, Fault>
where
    S: Stream<Item = object_store::Result<Bytes>> + Send + ?Sized,
{
    let mut body = BytesMut::with_capacity(most.min(8 << 20) as usize);
    loop {
        let next =
            timeout_at(clock.attempt(true), poll_fn(|context| stream.as_mut().poll_next(context))).await;
        match next.map_err(|_| clock.fault())? {
            None => return Ok(body.freeze()),
            Some(chunk) => {
                let chunk = chunk.map_err(|error| fault(&error))?;
                if (body.len() + chunk.len()) as u64 > most {
                    let text = format!("the store sends more than the {most} bytes that were asked for");
                    return Err(Fault::answer(text));
                }
                clock.advance(chunk.len());
                body.extend_from_slice(&chunk);
            }
        }
    }
}

/// Minimum size of a part in bytes. S3 accepts none below 5 MiB except the last.
const PART: u64 = 16 << 20;
/// Maximum number of parts of an object; S3 accepts 10 000.
const MOST_PARTS: u64 = 9_000;
/// Maximum number of parts that are uploaded in parallel.
const TOGETHER: usize = 4;

/// An upload and its parts in flight, which is aborted if the wait for it ends early.
struct GivenUp(Option<Box<dyn MultipartUpload>>, JoinSet<Result<(), Error>>);

impl Drop for GivenUp {
    fn drop(&mut self) {
        self.1.abort_all();
        if let Some(mut upload) = self.0.take()
            && let Ok(runtime) = Handle::try_current()
        {
            runtime.spawn(async move { drop(upload.abort().await) });
        }
    }
}

/// Reads the next `size` bytes to upload.
fn next(bytes: &mut impl Read, size: u64) -> Result<Vec<u8>, Fault> {
    let failed = |error: std::io::Error| Fault::lasting(error.into());
    let mut part = Vec::new();
    part.try_reserve_exact(usize::try_from(size).unwrap_or(usize::MAX))
        .map_err(|_| Fault::lasting(ErrorKind::OutOfMemory { bytes: size }))?;
    bytes.take(size).read_to_end(&mut part).map_err(failed)?;
    if part.len() as u64 == size { Ok(part) } else { Err(failed(std::io::ErrorKind::UnexpectedEof.into())) }
}

/// Converts an error of a store to a fault. The store has repeated the request itself, so that no fault is
/// temporary.
fn fault(error: &Error) -> Fault {
    let kind = match error {
        Error::NotFound { .. } => ErrorKind::NotFound,
        Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => ErrorKind::PermissionDenied,
        error => refused(with_hint(redact(&error.to_string()))),
    };
    Fault::lasting(kind)
}

/// Parts of the URLs from which clients of stores request credentials of the machine if they have no others.
const OF_MACHINE: [&str; 4] =
    ["/latest/api/token", "/latest/meta-data/", "/computeMetadata/", "/metadata/identity/"];

/// Returns the text of a fault, with advice if credentials are missing.
fn with_hint(text: String) -> String {
    if OF_MACHINE.iter().any(|part| text.contains(part)) {
        return format!(
            "no credentials: give them as options or environment variables, or anon=true if everyone may read the object ({text})"
        );
    }
    text
}
