//! The clients of the process: files behind one server share its connections.

use crate::{options::refused, redact};
use forthwith_io::ErrorKind;
use forthwith_platform::ProcessLock;
use object_store::{
    ClientOptions,
    client::{HttpClient, HttpConnector, ReqwestConnector},
};
use reqwest::{Client, redirect::Policy};
use std::{collections::HashMap, hash::Hash, sync::LazyLock, time::Duration};

/// Clients that are kept, each for other settings.
const MOST: usize = 32;
/// Connections to one server that are kept while nothing is asked for.
const IDLE: usize = 16;

type Clients<K, C> = LazyLock<ProcessLock<HashMap<K, C>>>;

/// By the time that a connection may take.
static OF_SERVERS: Clients<Duration, Client> = LazyLock::new(ProcessLock::default);

/// By the settings in words.
static OF_STORES: Clients<String, HttpClient> = LazyLock::new(ProcessLock::default);

/// The client for web servers.
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

/// Gives a store's builder the process' client.
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
