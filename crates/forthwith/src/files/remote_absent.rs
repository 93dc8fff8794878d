//! Stub for builds without remote files.

use forthwith_io::{Result, Source};
use std::sync::Arc;

/// Returns the text unchanged.
#[must_use]
pub fn redact(text: &str) -> String {
    text.to_owned()
}

/// Options of stores, of which this build supports only cancellation.
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
    /// Makes options with all defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a function that returns whether threads should continue to wait for a stream.
    #[must_use]
    pub fn going_on(mut self, going_on: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        self.going_on = Arc::new(going_on);
        self
    }

    /// Whether threads should continue to wait for a stream.
    #[must_use]
    pub fn goes_on(&self) -> bool {
        (self.going_on)()
    }

    /// Returns the options for another store.
    #[must_use]
    pub fn for_another_store(&self) -> Self {
        self.clone()
    }
}

/// Returns `false`: a URL is opened as a local file, and rejected by its scheme.
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

/// Directory of a store, which does not exist in this build.
pub(super) struct Folder {
    pub(super) files: Vec<String>,
    pub(super) folders: Vec<String>,
}

pub(super) fn folder(url: &str, _: &StoreOptions) -> Result<Folder> {
    let text = "files behind a network, which the cargo feature `remote` reads".into();
    Err(forthwith_io::Error::new(forthwith_io::ErrorKind::Remote { text }, url))
}
