//! HTTP: ranges, several at once where the server honours that, redirections, and servers that answer something else.

use crate::{
    StoreOptions,
    answer::{Answer, Fault, Mark, Part, Wanted},
    clients::client,
    multipart,
    options::refused,
    redact::told,
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
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};
use tokio::time::timeout;

/// The most redirections of a request.
const REDIRECTIONS: usize = 10;

/// A server that does not answer ranges sends the whole file; one that is longer than this is refused.
const WHOLE: u64 = 256 << 20;

/// A file on a web server.
#[derive(Debug)]
pub(crate) struct Http {
    client: Client,
    named: Url,
    /// The place that the last redirection led to.
    place: Mutex<Option<Url>>,
    headers: HeaderMap,
    stall: Duration,
    /// The server has answered several ranges with something else.
    single: AtomicBool,
}

impl Http {
    pub(crate) fn new(url: &str, options: &StoreOptions) -> Result<Self, ErrorKind> {
        let url = Url::parse(url).map_err(|error| refused(format!("no URL: {error}")))?;
        let mut headers = HeaderMap::new();
        for (name, value) in options.headers() {
            let name: HeaderName =
                name.parse().map_err(|_| refused(format!("{name:?} is no name of a header")))?;
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
        let stall = options.stall()?;
        Ok(Self {
            client,
            named: url,
            place: Mutex::new(None),
            headers,
            stall,
            single: AtomicBool::new(false),
        })
    }

    /// The number of ranges that a request may ask for.
    pub(crate) fn ranges_at_once(&self) -> usize {
        if self.single.load(Relaxed) { 1 } else { 64 }
    }

    pub(crate) async fn get(&self, wanted: &Wanted) -> Result<Answer, Fault> {
        let asked = match wanted {
            Wanted::End(length) => format!("bytes=-{length}"),
            Wanted::Ranges(ranges) => {
                let each: Vec<String> = ranges
                    .iter()
                    .map(|range| format!("{}-{}", range.start, range.end.saturating_sub(1)))
                    .collect();
                format!("bytes={}", each.join(","))
            }
        };
        let several = matches!(wanted, Wanted::Ranges(ranges) if ranges.len() > 1);
        let response = self.ask(&asked).await?;
        let tag = tag_of(response.headers());
        let fresh = is_fresh(response.headers());
        let mark = |size| Mark { size, tag: tag.clone(), fresh };
        if let Some(coding) =
            text(response.headers(), &header::CONTENT_ENCODING).filter(|coding| *coding != "identity")
        {
            return Err(Fault::answer(format!(
                "the server compresses its answers ({coding}), so it cannot send ranges of the file"
            )));
        }
        match response.status() {
            StatusCode::PARTIAL_CONTENT => {}
            StatusCode::OK if several => {
                // The same request again would be answered alike: the ranges are asked for one by one.
                self.single.store(true, Relaxed);
                return Err(Fault::answer("the server does not answer several ranges at once"));
            }
            StatusCode::OK => return self.whole(response, tag.clone()).await,
            status => return Err(refusal(status, response.headers())),
        }
        let content_type = text(response.headers(), &header::CONTENT_TYPE).unwrap_or_default().to_owned();
        if let Some(boundary) = multipart::boundary(&content_type) {
            let Wanted::Ranges(ranges) = wanted else {
                return Err(Fault::answer("several ranges where one was asked for"));
            };
            let damaged = |said: String| {
                Fault::answer(format!("the server's answer of several ranges is damaged: {said}"))
            };
            let boundary = boundary.map_err(damaged)?;
            let most: u64 = ranges.iter().map(|range| range.end - range.start + 1024).sum();
            let (body, cut) = self.body(response, most + 1024).await;
            let parsed = multipart::parts(&body, boundary, ranges.len());
            let (parts, size) = match (parsed, cut) {
                (_, Some(fault)) if fault.parts.is_empty() && body.is_empty() => return Err(fault),
                (Ok(parsed), _) => parsed,
                (Err(_), Some(fault)) => return Err(fault),
                (Err(said), None) => return Err(damaged(said)),
            };
            return Ok(Answer { parts, mark: mark(size) });
        }
        let told = text(response.headers(), &header::CONTENT_RANGE).and_then(multipart::content_range);
        let Some((range, Some(size))) = told else {
            return Err(Fault::answer("the server answers a part of the file without saying which"));
        };
        if several {
            // The first range alone, or one around all of them.
            self.single.store(true, Relaxed);
        }
        let most = match wanted {
            Wanted::End(length) => *length,
            Wanted::Ranges(ranges) => ranges.iter().map(|range| range.end - range.start).sum(),
        };
        if range.end - range.start > most {
            let length = range.end - range.start;
            return Err(Fault::answer(format!(
                "the server answers {length} bytes where {most} were asked for"
            )));
        }
        let (body, cut) = self.body(response, range.end - range.start).await;
        let parts = vec![Part { start: range.start, bytes: body }];
        match cut {
            Some(fault) => Err(fault.with(parts, mark(size))),
            None => Ok(Answer { parts, mark: mark(size) }),
        }
    }

    /// The whole file, from a server that knows no ranges.
    async fn whole(&self, response: Response, tag: Option<String>) -> Result<Answer, Fault> {
        let fresh = is_fresh(response.headers());
        let size = response.content_length();
        if size.is_some_and(|size| size > WHOLE) {
            return Err(Fault::answer(format!(
                "the server does not answer ranges, and the file has {} bytes: more than {WHOLE} are not loaded whole",
                size.unwrap_or_default()
            )));
        }
        match self.body(response, size.unwrap_or(WHOLE)).await {
            (_, Some(fault)) => Err(fault),
            (body, None) => {
                let mark = Mark { size: body.len() as u64, tag, fresh };
                Ok(Answer { parts: vec![Part { start: 0, bytes: body }], mark })
            }
        }
    }

    /// A body of at most some bytes, and the fault that cut it.
    async fn body(&self, mut response: Response, most: u64) -> (Bytes, Option<Fault>) {
        let expected = response.content_length().unwrap_or(0).min(most).min(8 << 20);
        let mut body = BytesMut::with_capacity(expected as usize);
        let fault = loop {
            match timeout(self.stall, response.chunk()).await {
                Ok(Ok(Some(chunk))) if body.len() as u64 + chunk.len() as u64 > most => {
                    break Some(Fault::answer(format!(
                        "the server sends more than the {most} bytes that it announced"
                    )));
                }
                Ok(Ok(Some(chunk))) => body.extend_from_slice(&chunk),
                Ok(Ok(None)) => break None,
                Ok(Err(error)) => {
                    break Some(Fault::passing(format!("the connection broke: {}", told(&error))));
                }
                Err(_) => break Some(self.stalled()),
            }
        };
        (body.freeze(), fault)
    }

    fn stalled(&self) -> Fault {
        Fault::passing(format!("no byte came for {} s", self.stall.as_secs_f64()))
    }

    /// A response that is no redirection.
    async fn ask(&self, range: &str) -> Result<Response, Fault> {
        let known = self.place.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut url = known.clone().unwrap_or_else(|| self.named.clone());
        for _ in 0..=REDIRECTIONS {
            let mut bare = url.clone();
            // A URL that can have them can be without them.
            let _ = (bare.set_username(""), bare.set_password(None));
            let mut request = self.client.get(bare).header(header::RANGE, range);
            request = request.header(header::ACCEPT_ENCODING, "identity");
            // Headers and passwords of the user are for the server that the user named.
            if same_origin(&url, &self.named) {
                request = request.headers(self.headers.clone());
                if !self.named.username().is_empty() && !self.headers.contains_key(header::AUTHORIZATION) {
                    request = request
                        .basic_auth(decoded(self.named.username()), self.named.password().map(decoded));
                }
            }
            let response = match timeout(self.stall, request.send()).await {
                Ok(Ok(response)) => response,
                Ok(Err(error)) => {
                    self.forget();
                    return Err(Fault::passing(told(&error)));
                }
                Err(_) => {
                    self.forget();
                    return Err(self.stalled());
                }
            };
            if !response.status().is_redirection() {
                if known.is_some() && !response.status().is_success() {
                    self.forget();
                    return Err(Fault { passing: true, ..refusal(response.status(), response.headers()) });
                }
                if url != self.named {
                    *self.place.lock().unwrap_or_else(PoisonError::into_inner) = Some(url);
                }
                return Ok(response);
            }
            url = self.next(&url, &response)?;
        }
        Err(Fault::answer(format!("more than {REDIRECTIONS} redirections")))
    }

    fn forget(&self) {
        *self.place.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// The target of a redirection.
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

fn same_origin(a: &Url, b: &Url) -> bool {
    (a.scheme(), a.host_str(), a.port_or_known_default())
        == (b.scheme(), b.host_str(), b.port_or_known_default())
}

/// The state of the file by its entity tag, or the time of its last change.
fn tag_of(headers: &HeaderMap) -> Option<String> {
    text(headers, &header::ETAG).or_else(|| text(headers, &header::LAST_MODIFIED)).map(str::to_owned)
}

/// Whether the last change was in the second of the answer.
fn is_fresh(headers: &HeaderMap) -> bool {
    text(headers, &header::LAST_MODIFIED).is_some_and(|changed| text(headers, &header::DATE) == Some(changed))
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

fn refusal(status: StatusCode, headers: &HeaderMap) -> Fault {
    let kind = match status.as_u16() {
        404 | 410 => ErrorKind::NotFound,
        401 | 403 => ErrorKind::PermissionDenied,
        416 => {
            let size = text(headers, &header::CONTENT_RANGE).and_then(|value| value.strip_prefix("bytes */"));
            match size {
                Some(size) => {
                    ErrorKind::Changed { what: format!("the server says that it has {size} bytes") }
                }
                None => ErrorKind::Remote { text: "the server has no such range".into() },
            }
        }
        number => ErrorKind::Remote {
            text: format!("the server answers {number} {}", status.canonical_reason().unwrap_or_default()),
        },
    };
    let passing = matches!(status.as_u16(), 408 | 429 | 500 | 502..=504);
    Fault { passing, ..Fault::lasting(kind) }
}

/// A user or a password of a URL, without its escapes.
fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// Ranges that are not among some parts, from a request of several.
pub(crate) fn missing(wanted: &[Range<u64>], parts: &[Part]) -> Vec<Range<u64>> {
    wanted.iter().filter(|range| parts.iter().all(|part| part.slice(range).is_none())).cloned().collect()
}
