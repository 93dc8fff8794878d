//! A source that can be closed.

use crate::desk::heard;
use bytes::Bytes;
use forthwith::io::{Error, ErrorKind, Result, Source, Version};
use std::{
    ops::Range,
    sync::{Arc, PoisonError, RwLock},
};

/// Passes requests on until it is closed. The façade shares the source between a file and its tables; Python wants the
/// file gone when it is closed, whatever tables are still around.
#[derive(Debug)]
pub(crate) struct Gate {
    uri: String,
    zero_copy: bool,
    views_may_change: bool,
    lends_views: bool,
    concurrent: bool,
    plans_requests: bool,
    source: RwLock<Option<Arc<dyn Source>>>,
}

impl Gate {
    pub(crate) fn new(source: Arc<dyn Source>) -> Self {
        Self {
            uri: source.uri().to_owned(),
            zero_copy: source.zero_copy(),
            views_may_change: source.views_may_change(),
            lends_views: source.lends_views(),
            concurrent: source.concurrent(),
            plans_requests: source.plans_requests(),
            source: RwLock::new(Some(source)),
        }
    }

    /// Lets the source go. Views of it that were handed out keep what they need.
    pub(crate) fn close(&self) {
        let source = self.source.write().unwrap_or_else(PoisonError::into_inner).take();
        drop(source); // after the lock is free
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.source.read().unwrap_or_else(PoisonError::into_inner).is_none()
    }

    fn open(&self) -> Result<Arc<dyn Source>> {
        let source = self.source.read().unwrap_or_else(PoisonError::into_inner).clone();
        source.ok_or_else(|| {
            Error::new(ErrorKind::Callback { message: "the file has been closed".into() }, &*self.uri)
        })
    }
}

impl Source for Gate {
    fn uri(&self) -> &str {
        &self.uri
    }

    fn size(&self) -> Result<u64> {
        self.open()?.size()
    }

    fn read(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.open()?.read(ranges)
    }

    fn read_one(&self, range: Range<u64>) -> Result<Bytes> {
        self.open()?.read_one(range)
    }

    fn read_into(&self, at: u64, into: &mut [u8]) -> Result<()> {
        self.open()?.read_into(at, into)
    }

    fn read_part(&self, at: u64, into: &mut [u8]) -> Result<()> {
        self.open()?.read_part(at, into)
    }

    fn view(&self, range: Range<u64>) -> Result<Bytes> {
        self.open()?.view(range)
    }

    fn version(&self) -> Result<Option<Version>> {
        self.open()?.version()
    }

    fn confirm(&self) -> Result<()> {
        self.open()?.confirm()
    }

    fn mark(&self) -> Option<String> {
        self.open().ok()?.mark()
    }

    fn at_hand(&self, range: &Range<u64>) -> bool {
        self.open().is_ok_and(|source| source.at_hand(range))
    }

    fn lends_views(&self) -> bool {
        self.lends_views
    }

    fn zero_copy(&self) -> bool {
        self.zero_copy
    }

    fn beside(&self, name: &str) -> Result<Arc<dyn Source>> {
        self.open()?.beside(name)
    }

    fn views_may_change(&self) -> bool {
        self.views_may_change
    }

    fn concurrent(&self) -> bool {
        self.concurrent
    }

    fn plans_requests(&self) -> bool {
        self.plans_requests
    }

    fn expect(&self, ranges: &[Range<u64>]) {
        if let Ok(source) = self.open() {
            source.expect(ranges);
        }
    }

    fn give_up(&self) {
        if let Ok(source) = self.open() {
            source.give_up();
        }
    }

    fn pause(&self) -> Result<()> {
        self.open()?.pause()?;
        // While a program runs that may never end.
        if heard() {
            return Ok(());
        }
        Err(Error::new(ErrorKind::Cancelled, &*self.uri))
    }
}
