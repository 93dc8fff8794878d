//! A build without files behind a network.

use forthwith_io::{Result, Source};
use std::sync::Arc;

/// The text itself: of URLs nothing is known.
#[must_use]
pub fn redact(text: &str) -> String {
    text.to_owned()
}

/// Options of stores, which this build does not know.
#[derive(Clone, Debug, Default)]
pub struct StoreOptions(());

impl StoreOptions {
    /// None.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether threads that wait for an answer are to go on waiting.
    #[must_use]
    pub fn goes_on(&self) -> bool {
        true
    }

    /// The same for another store.
    #[must_use]
    pub fn for_another_store(&self) -> Self {
        Self::default()
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
