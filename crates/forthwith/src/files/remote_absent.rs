//! A build without files behind a network.

use forthwith_io::{Result, Source};
use std::sync::Arc;

/// The text itself: of URLs nothing is known.
#[must_use]
pub fn redact(text: &str) -> String {
    text.to_owned()
}

/// Options of stores, which this build does not know, but one.
#[derive(Clone)]
pub struct StoreOptions {
    going_on: Arc<dyn Fn() -> bool + Send + Sync>,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self { going_on: Arc::new(|| true) }
    }
}

impl std::fmt::Debug for StoreOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StoreOptions").finish_non_exhaustive()
    }
}

impl StoreOptions {
    /// None.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks a function whether threads that wait for a stream are to go on waiting.
    #[must_use]
    pub fn going_on(mut self, going_on: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        self.going_on = Arc::new(going_on);
        self
    }

    /// Whether threads that wait for a stream are to go on waiting.
    #[must_use]
    pub fn goes_on(&self) -> bool {
        (self.going_on)()
    }

    /// The same for another store.
    #[must_use]
    pub fn for_another_store(&self) -> Self {
        self.clone()
    }
}

/// No name is one: a URL is opened as a local file, and refused by its scheme.
pub(super) fn is_remote(_: &str) -> bool {
    false
}

pub(super) fn open(url: &str, _: &StoreOptions) -> Result<Arc<dyn Source>> {
    forthwith_io::open(url)
}

pub(super) fn open_marked(_: &str, _: &StoreOptions, _: u64, _: &str) -> Result<Option<Arc<dyn Source>>> {
    Ok(None)
}

pub(super) fn create(url: &str, _: &StoreOptions) -> Result<Box<dyn forthwith_io::Sink>> {
    forthwith_io::create(url)
}

/// A folder of a store, of which there is none.
pub(super) struct Folder {
    pub(super) files: Vec<String>,
    pub(super) folders: Vec<String>,
}

pub(super) fn folder(url: &str, _: &StoreOptions) -> Result<Folder> {
    let text = "files behind a network, which the cargo feature `remote` reads".into();
    Err(forthwith_io::Error::new(forthwith_io::ErrorKind::Remote { text }, url))
}
