//! HTTP clients of the process: files on one server share its connections.

use crate::{options::refused, redact};
use forthwith_io::ErrorKind;
use forthwith_platform::ProcessLock;
use object_store::{
    ClientOptions,
    client::{HttpClient, HttpConnector, ReqwestConnector},
};
use reqwest::{Client, redirect::Policy};
use std::{collections::HashMap, hash::Hash, sync::LazyLock, time::Duration};

/// Maximum number of cached clients, one for each combination of settings.
const MOST: usize = 32;
/// Maximum number of idle connections to one server.
const IDLE: usize = 16;

type Clients<K, C> = LazyLock<ProcessLock<HashMap<K, C>>>;

/// Clients for web servers, by their connection timeout.
static OF_SERVERS: Clients<Duration, Client> = LazyLock::new(ProcessLock::default);

/// Clients of stores, by the text of their settings.
static OF_STORES: Clients<String, HttpClient> = LazyLock::new(ProcessLock::default);

/// Returns the client for web servers with a connection timeout.
pub(crate) fn client(connect: Duration) -> Result<Client, ErrorKind> {
    kept(&OF_SERVERS, connect, || {
        let client = Client::builder()
            .redirect(Policy::none())
            .connect_timeout(connect)
            .pool_max_idle_per_host(IDLE)
            .user_agent(concat!("forthwith/", env!("CARGO_PKG_VERSION")))
            .build();
        client.map_err(|error| refused(redact(&crate::redact::told(&error))))
    })
}

/// Connector that gives the builder of a store a shared client of the process.
#[derive(Debug)]
pub(crate) struct Shared;

impl HttpConnector for Shared {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        kept(&OF_STORES, format!("{options:?}"), || ReqwestConnector::default().connect(options))
    }
}

fn kept<K: Eq + Hash, C: Clone, E>(
    clients: &Clients<K, C>,
    settings: K,
    make: impl FnOnce() -> Result<C, E>,
) -> Result<C, E> {
    let mut clients = clients.lock();
    if let Some(client) = clients.get(&settings) {
        return Ok(client.clone());
    }
    if clients.len() >= MOST {
        clients.clear();
    }
    let client = make()?;
    clients.insert(settings, client.clone());
    Ok(client)
}
