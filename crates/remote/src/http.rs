//! HTTP: requests for one or several ranges, redirections, and servers without support for ranges.

use crate::{
    StoreOptions,
    answer::{Answer, Fault, Mark, Part, Wanted},
    clients::client,
    clock::Clock,
    multipart,
    options::refused,
    redact::told,
    server::{Server, server},
};
use bytes::{Bytes, BytesMut};
use forthwith_io::ErrorKind;
use percent_encoding::percent_decode_str;
use reqwest::{
    Client, Response, StatusCode, Url,
    header::{self, HeaderMap, HeaderName, HeaderValue},
};
use std::{
    ops::Range,
    sync::{Arc, Mutex, PoisonError},
};
use tokio::time::{Instant, timeout_at};

/// Maximum number of redirections of a request.
const REDIRECTIONS: usize = 10;

/// Maximum size of a file on a server without support for ranges, which sends the whole file.
const WHOLE: u64 = 256 << 20;

/// A file on a web server.
#[derive(Debug)]
pub(crate) struct Http {
    client: Client,
    named: Url,
    /// Target of the last redirection.
    place: Mutex<Option<Url>>,
    headers: HeaderMap,
}

/// A request in flight.
struct Request<'a> {
    wanted: &'a Wanted,
    clock: &'a mut Clock,
    /// Whether this is the last attempt.
    is_last: bool,
}

impl Request<'_> {
    /// Returns the value of the header `Range`.
    fn range(&self) -> String {
        match self.wanted {
            Wanted::End(length) => format!("bytes=-{length}"),
            Wanted::Ends { head, end } => format!("bytes=0-{},-{end}", head.saturating_sub(1)),
            Wanted::Ranges(ranges) => {
                let each: Vec<String> = ranges
                    .iter()
                    .map(|range| format!("{}-{}", range.start, range.end.saturating_sub(1)))
                    .collect();
                format!("bytes={}", each.join(","))
            }
        }
    }

    /// Calls `note` with the number of ranges if the server may have refused several. Not for the request
    /// that opens a file, where only the next ones show whether single ranges are answered.
    fn may_be_refused(&self, note: impl FnOnce(usize)) {
        if let Wanted::Ranges(ranges) = self.wanted
            && ranges.len() > 1
        {
            note(ranges.len());
        }
    }

    /// Returns the fault of an attempt that timed out. Ranges may succeed one by one.
    fn stalled(&self) -> Fault {
        Fault { singly: self.wanted.is_several(), ..self.clock.fault() }
    }
}

/// A response whose body was not read yet.
struct Arrival {
    response: Response,
    server: Arc<Server>,
    /// Whether the request was sent to the target of an earlier redirection.
    by_redirection: bool,
}

impl Http {
    pub(crate) fn new(url: &str, options: &StoreOptions) -> Result<Self, ErrorKind> {
        let url = Url::parse(url).map_err(|error| refused(format!("invalid URL: {error}")))?;
        let mut headers = HeaderMap::new();
        for (name, value) in options.headers() {
            let name: HeaderName =
                name.parse().map_err(|_| refused(format!("{name:?} is not a valid name of a header")))?;
            let mut value: HeaderValue = value.parse().map_err(|_| {
                refused(format!("the value of the header {name} has characters that none may have"))
            })?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        let client = client(options.connect()?)?;
        if let Some((name, _)) = options.of_store().next() {
            return Err(refused(format!("there is no option {name} for HTTP")));
        }
        Ok(Self { client, named: url, place: Mutex::new(None), headers })
    }

    /// Whether the URL probably means a folder, or is a pattern.
    fn names_several(&self) -> bool {
        let path = self.named.path();
        path.ends_with('/') || path.contains('*')
    }

    /// Returns the server that answered last.
    pub(crate) fn server(&self) -> Arc<Server> {
        let place = self.place.lock().unwrap_or_else(PoisonError::into_inner);
        server_of(place.as_ref().unwrap_or(&self.named))
    }

    pub(crate) async fn get(
        &self,
        wanted: &Wanted,
        clock: &mut Clock,
        is_last: bool,
    ) -> Result<Answer, Fault> {
        let mut request = Request { wanted, clock, is_last };
        let Arrival { response, server, by_redirection } = self.ask(&mut request).await?;
        let headers = response.headers();
        let (tag, fresh) = (tag_of(headers), is_fresh(headers));
        if let Some(coding) = text(headers, &header::CONTENT_ENCODING).filter(|coding| *coding != "identity")
        {
            return Err(Fault::answer(format!(
                "the server compresses its answers ({coding}), so it cannot send ranges of the file"
            )));
        }
        match response.status() {
            StatusCode::PARTIAL_CONTENT => {}
            StatusCode::OK if request.wanted.is_several() && !is_short(&response, request.wanted) => {
                server.refuses(request.wanted.count());
                let fault = Fault::answer("the server does not answer several ranges at once");
                return Err(Fault { singly: true, ..fault });
            }
            StatusCode::OK => return whole(response, &mut request, tag).await,
            status => {
                let mut fault = refusal(status, headers);
                if fault.kind == ErrorKind::NotFound && self.names_several() {
                    fault.kind = ErrorKind::NotListed;
                }
                let is_empty = fault.unsatisfied == Some(0);
                if request.wanted.is_several() && refuses_several(status) && !is_empty {
                    request.may_be_refused(|ranges| server.refuses(ranges));
                    return Err(Fault { singly: true, ..fault });
                }
                if by_redirection {
                    self.forget();
                    return Err(Fault { passing: true, ..fault });
                }
                return Err(fault);
            }
        }
        let mark = |size| Mark { size, tag, fresh };
        let content_type = text(headers, &header::CONTENT_TYPE).unwrap_or_default().to_owned();
        if let Some(boundary) = multipart::boundary(&content_type) {
            let (parts, size) = several(response, &mut request, boundary).await?;
            server.answers(request.wanted.count().min(parts.len()));
            return Ok(Answer { parts, mark: mark(size) });
        }
        let (part, size, cut) = single(response, &mut request, &server).await?;
        // The server answered the first range alone, or one range around all. A short file is answered whole.
        if request.wanted.is_several() && (part.start > 0 || part.range().end < size) {
            server.refuses(request.wanted.count());
        }
        match cut {
            Some(fault) => Err(fault.with(vec![part], mark(size))),
            None => Ok(Answer { parts: vec![part], mark: mark(size) }),
        }
    }

    /// Sends a request, and follows redirections.
    async fn ask(&self, request: &mut Request<'_>) -> Result<Arrival, Fault> {
        let known = self.place.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let by_redirection = known.is_some();
        let mut url = known.unwrap_or_else(|| self.named.clone());
        let until = request.clock.attempt(request.is_last);
        let range = request.range();
        for _ in 0..=REDIRECTIONS {
            let server = server_of(&url);
            let sent = Instant::now();
            let response = match timeout_at(until, self.request(&url, &range).send()).await {
                Ok(Ok(response)) => response,
                Ok(Err(error)) => {
                    self.forget();
                    let fault = Fault::passing(told(&error));
                    if request.wanted.is_several() && !error.is_connect() {
                        request.may_be_refused(|ranges| server.breaks(ranges));
                        return Err(Fault { singly: true, ..fault });
                    }
                    return Err(fault);
                }
                Err(_) => {
                    self.forget();
                    request.may_be_refused(|ranges| server.breaks(ranges));
                    return Err(request.stalled());
                }
            };
            if !response.status().is_redirection() {
                server.measure_latency(sent.elapsed());
                if url != self.named {
                    *self.place.lock().unwrap_or_else(PoisonError::into_inner) = Some(url);
                }
                return Ok(Arrival { response, server, by_redirection });
            }
            url = self.next(&url, &response)?;
        }
        Err(Fault::answer(format!("more than {REDIRECTIONS} redirections")))
    }

    fn request(&self, url: &Url, range: &str) -> reqwest::RequestBuilder {
        let mut bare = url.clone();
        // Fails only for URLs that cannot have a user or a password.
        let _ = (bare.set_username(""), bare.set_password(None));
        let mut request = self.client.get(bare).header(header::RANGE, range);
        request = request.header(header::ACCEPT_ENCODING, "identity");
        // Headers and passwords are sent only to the server that the user named.
        if same_origin(url, &self.named) {
            request = request.headers(self.headers.clone());
            if !self.named.username().is_empty() && !self.headers.contains_key(header::AUTHORIZATION) {
                request =
                    request.basic_auth(decoded(self.named.username()), self.named.password().map(decoded));
            }
        }
        request
    }

    fn forget(&self) {
        *self.place.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Returns the target of a redirection.
    fn next(&self, url: &Url, response: &Response) -> Result<Url, Fault> {
        let Some(place) = text(response.headers(), &header::LOCATION) else {
            return Err(Fault::answer(format!(
                "the server redirects with status {} but does not say where",
                response.status().as_u16()
            )));
        };
        let next =
            url.join(place).map_err(|error| Fault::answer(format!("redirected to no URL: {error}")))?;
        let kept = next.scheme() == "https" || next.scheme() == "http" && self.named.scheme() == "http";
        if kept {
            Ok(next)
        } else {
            Err(Fault::answer(format!("redirected from {} to {}", self.named.scheme(), next.scheme())))
        }
    }
}

/// Reads an answer of several ranges. Returns the parts and the size of the file.
async fn several(
    response: Response,
    request: &mut Request<'_>,
    boundary: Result<&str, String>,
) -> Result<(Vec<Part>, u64), Fault> {
    let damaged =
        |said: String| Fault::answer(format!("the server's answer of several ranges is damaged: {said}"));
    let count = request.wanted.count();
    if count == 1 {
        return Err(Fault::answer("several ranges where one was asked for"));
    }
    let boundary = boundary.map_err(damaged)?;
    let most = request.wanted.bytes().saturating_add(1024 * (count as u64 + 1));
    let (body, cut) = body(response, most, request).await;
    match (multipart::parts(&body, boundary, count), cut) {
        (_, Some(fault)) if body.is_empty() => Err(fault),
        (Ok(parsed), _) => Ok(parsed),
        (Err(_), Some(fault)) => Err(fault),
        (Err(said), None) => Err(damaged(said)),
    }
}

/// Reads an answer of one range. Returns the part, the size of the file, and the fault that truncated the
/// part.
async fn single(
    response: Response,
    request: &mut Request<'_>,
    server: &Server,
) -> Result<(Part, u64, Option<Fault>), Fault> {
    let told = text(response.headers(), &header::CONTENT_RANGE).and_then(multipart::content_range);
    let Some((range, Some(size))) = told else {
        return Err(Fault::answer("the server answers a part of the file without saying which"));
    };
    let most = request.wanted.bytes();
    let asked = match request.wanted {
        Wanted::Ranges(ranges) if ranges.len() == 1 => ranges[0].start,
        Wanted::End(length) => size.saturating_sub(*length),
        _ => range.start,
    };
    if range.start != asked {
        return Err(Fault::answer(format!(
            "the server answers the bytes from {} on where those from byte {asked} on were asked for",
            range.start
        )));
    }
    let length = range.end - range.start;
    if length > most {
        return Err(Fault::answer(format!("the server answers {length} bytes where {most} were asked for")));
    }
    let begun = Instant::now();
    let (bytes, cut) = body(response, length, request).await;
    server.measure_body(bytes.len() as u64, begun.elapsed());
    Ok((Part { start: range.start, bytes }, size, cut))
}

/// Reads the whole file from a server without support for ranges.
async fn whole(response: Response, request: &mut Request<'_>, tag: Option<String>) -> Result<Answer, Fault> {
    let fresh = is_fresh(response.headers());
    let size = response.content_length();
    if size.is_some_and(|size| size > WHOLE) {
        return Err(Fault::answer(format!(
            "the server does not answer ranges, and the file has {} bytes: more than {WHOLE} are not loaded whole",
            size.unwrap_or_default()
        )));
    }
    match body(response, size.unwrap_or(WHOLE), request).await {
        (_, Some(fault)) => Err(fault),
        (bytes, None) => {
            let mark = Mark { size: bytes.len() as u64, tag, fresh };
            Ok(Answer { parts: vec![Part { start: 0, bytes }], mark })
        }
    }
}

/// Reads a body of at most `most` bytes. Returns the fault that truncated it, if any.
async fn body(mut response: Response, most: u64, request: &mut Request<'_>) -> (Bytes, Option<Fault>) {
    let expected = response.content_length().unwrap_or(0).min(most).min(8 << 20);
    let mut body = BytesMut::with_capacity(expected as usize);
    let fault = loop {
        match timeout_at(request.clock.attempt(request.is_last), response.chunk()).await {
            Ok(Ok(Some(chunk))) if body.len() as u64 + chunk.len() as u64 > most => {
                break Some(Fault::answer(format!(
                    "the server sends more than the {most} bytes that it announced"
                )));
            }
            Ok(Ok(Some(chunk))) => {
                request.clock.advance(chunk.len());
                body.extend_from_slice(&chunk);
            }
            Ok(Ok(None)) => break None,
            Ok(Err(error)) => {
                let fault = Fault::passing(format!("the connection broke: {}", told(&error)));
                break Some(Fault { singly: request.wanted.is_several(), ..fault });
            }
            Err(_) => break Some(request.stalled()),
        }
    };
    (body.freeze(), fault)
}

fn server_of(url: &Url) -> Arc<Server> {
    server(&url.origin().ascii_serialization())
}

fn same_origin(a: &Url, b: &Url) -> bool {
    (a.scheme(), a.host_str(), a.port_or_known_default())
        == (b.scheme(), b.host_str(), b.port_or_known_default())
}

/// Whether an answer of a whole file has no more bytes than requested.
fn is_short(response: &Response, wanted: &Wanted) -> bool {
    response.content_length().is_some_and(|size| size <= wanted.bytes())
}

/// Returns the entity tag of the file, or the time of its last change.
fn tag_of(headers: &HeaderMap) -> Option<String> {
    text(headers, &header::ETAG).or_else(|| text(headers, &header::LAST_MODIFIED)).map(str::to_owned)
}

/// Whether the last change was within the second of the answer.
fn is_fresh(headers: &HeaderMap) -> bool {
    text(headers, &header::LAST_MODIFIED).is_some_and(|changed| text(headers, &header::DATE) == Some(changed))
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// Whether a status is temporary, so that the server may answer the request later.
fn is_busy(status: StatusCode) -> bool {
    matches!(status.as_u16(), 408 | 429 | 502..=504)
}

/// Whether a status refuses the number of ranges, rather than reporting the state of the file or the load of
/// the server.
fn refuses_several(status: StatusCode) -> bool {
    !is_busy(status) && !matches!(status.as_u16(), 401 | 403 | 404 | 410)
}

fn refusal(status: StatusCode, headers: &HeaderMap) -> Fault {
    let kind = match status.as_u16() {
        404 | 410 => ErrorKind::NotFound,
        401 | 403 => ErrorKind::PermissionDenied,
        416 => ErrorKind::Remote { text: "the server has no such range".into() },
        number => ErrorKind::Remote {
            text: format!("the server answers {number} {}", status.canonical_reason().unwrap_or_default()),
        },
    };
    let unsatisfied = (status == StatusCode::RANGE_NOT_SATISFIABLE)
        .then(|| text(headers, &header::CONTENT_RANGE)?.strip_prefix("bytes */")?.trim().parse().ok())
        .flatten();
    let passing = is_busy(status) || status == StatusCode::INTERNAL_SERVER_ERROR;
    Fault { passing, unsatisfied, ..Fault::lasting(kind) }
}

/// Decodes the escapes of a user or a password of a URL.
fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// Returns the ranges of a request of several that no part contains.
pub(crate) fn missing(wanted: &[Range<u64>], parts: &[Part]) -> Vec<Range<u64>> {
    wanted.iter().filter(|range| parts.iter().all(|part| part.slice(range).is_none())).cloned().collect()
}
