//! Connection of a file to its server.

use crate::{
    StoreOptions,
    answer::{Answer, Fault, Wanted},
    clock::Clock,
    http::Http,
    runtime::choose_cryptography,
    server::Server,
    store::{Object, Use},
};
use forthwith_io::ErrorKind;
use std::sync::Arc;
use tokio::sync::{Mutex, MutexGuard, Semaphore, SemaphorePermit};

/// Maximum number of requests in flight.
pub(crate) const IN_FLIGHT: usize = 16;

/// Unit of [`Link::slots`] in bytes: a request takes one unit per `UNIT` bytes, at least [`LEAST_UNITS`] and
/// at most [`UNITS`].
const UNIT: u64 = 1 << 20;
const LEAST_UNITS: u64 = 4;
const UNITS: u64 = IN_FLIGHT as u64 * LEAST_UNITS;

/// A backend, and the limits on its use.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) backend: Backend,
    /// Limits the number of requests in flight and their bytes.
    slots: Semaphore,
    /// Held by a request of more ranges than the server has answered yet, while other such requests wait for
    /// its outcome.
    probing: Mutex<()>,
}

impl Link {
    pub(crate) fn new(backend: Backend) -> Self {
        Self { backend, slots: Semaphore::new(UNITS as usize), probing: Mutex::new(()) }
    }

    /// Waits until a request for a number of bytes may be made.
    pub(crate) async fn slot(&self, bytes: u64) -> Result<SemaphorePermit<'_>, ErrorKind> {
        let units = (bytes / UNIT).clamp(LEAST_UNITS, UNITS) as u32;
        self.slots.acquire_many(units).await.map_err(|_| ErrorKind::Cancelled)
    }

    /// Waits for a request that shows whether the server answers a number of ranges; returns a guard if the
    /// caller has to make that request.
    pub(crate) async fn probe(&self, ranges: usize) -> Option<MutexGuard<'_, ()>> {
        if self.backend.server().has_answered(ranges) {
            return None;
        }
        let guard = self.probing.lock().await;
        (!self.backend.server().has_answered(ranges)).then_some(guard)
    }
}

#[derive(Debug)]
pub(crate) enum Backend {
    Http(Box<Http>),
    Object(Box<Object>),
}

impl Backend {
    pub(crate) fn new(url: &str, options: &StoreOptions) -> Result<Self, ErrorKind> {
        choose_cryptography();
        let is_http = url.get(..4).is_some_and(|scheme| scheme.eq_ignore_ascii_case("http"));
        Ok(if is_http {
            Self::Http(Box::new(Http::new(url, options)?))
        } else {
            Self::Object(Box::new(Object::new(url, options, Use::Read)?))
        })
    }

    pub(crate) async fn get(
        &self,
        wanted: &Wanted,
        clock: &mut Clock,
        is_last: bool,
    ) -> Result<Answer, Fault> {
        match self {
            Self::Http(http) => http.get(wanted, clock, is_last).await,
            // The client of the store repeats requests itself.
            Self::Object(object) => object.get(wanted, clock).await,
        }
    }

    pub(crate) fn server(&self) -> Arc<Server> {
        match self {
            Self::Http(http) => http.server(),
            Self::Object(object) => object.server(),
        }
    }

    /// Returns the maximum number of ranges of a request.
    pub(crate) fn range_limit(&self) -> usize {
        match self {
            Self::Http(http) => http.server().range_limit(),
            Self::Object(_) => 1,
        }
    }
}
