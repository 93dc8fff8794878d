//! Connections to the server of a file.

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
use tokio::sync::Semaphore;

/// Requests in flight.
pub(crate) const IN_FLIGHT: usize = 16;

/// Connections, and how many of them are in use.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) backend: Backend,
    pub(crate) slots: Semaphore,
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
            // Its own client makes the repetitions.
            Self::Object(object) => object.get(wanted, clock).await,
        }
    }

    pub(crate) fn server(&self) -> Arc<Server> {
        match self {
            Self::Http(http) => http.server(),
            Self::Object(object) => object.server(),
        }
    }

    /// The number of ranges that a request may ask for.
    pub(crate) fn ranges_at_once(&self) -> usize {
        match self {
            Self::Http(http) => http.ranges_at_once(),
            Self::Object(_) => 1,
        }
    }
}
