//! A source that can be closed.

use crate::desk::heard;
use bytes::Bytes;
use forthwith::io::{Error, ErrorKind, Result, Source, Version};
use std::{
    ops::Range,
    sync::{Arc, PoisonError, RwLock},
};

/// A source that can be closed. The file and its tables share it, so closing it closes them all, even while
/// Python refers to tables.
#[derive(Debug)]
pub(crate) struct Gate {
    uri: String,
    zero_copy: bool,
    views_may_change: bool,
    lends_views: bool,
    concurrent: bool,
    plans_requests: bool,
    is_stream: bool,
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
            is_stream: source.is_stream(),
            source: RwLock::new(Some(source)),
        }
    }

    /// Closes the source. Views of it keep the memory or file that they need.
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

/// Methods that fail when the source is closed.
macro_rules! refused_when_closed {
    ($($name:ident($($argument:ident: $type:ty),*) -> $answer:ty;)*) => {
        $(fn $name(&self $(, $argument: $type)*) -> Result<$answer> {
            self.open()?.$name($($argument),*)
        })*
    };
}

/// Properties of the source, which are stored when the gate is created.
macro_rules! known {
    ($($name:ident)*) => {
        $(fn $name(&self) -> bool {
            self.$name
        })*
    };
}

impl Source for Gate {
    refused_when_closed! {
        size() -> u64;
        grown(beyond: u64) -> u64;
        size_so_far() -> u64;
        release(before: u64) -> u64;
        read(ranges: &[Range<u64>]) -> Vec<Bytes>;
        read_one(range: Range<u64>) -> Bytes;
        read_into(at: u64, into: &mut [u8]) -> ();
        read_part(at: u64, into: &mut [u8]) -> ();
        view(range: Range<u64>) -> Bytes;
        version() -> Option<Version>;
        confirm() -> ();
        beside(name: &str) -> Arc<dyn Source>;
    }

    known!(zero_copy views_may_change lends_views concurrent plans_requests is_stream);

    fn uri(&self) -> &str {
        &self.uri
    }

    fn mark(&self) -> Option<String> {
        self.open().ok()?.mark()
    }

    fn at_hand(&self, range: &Range<u64>) -> bool {
        self.open().is_ok_and(|source| source.at_hand(range))
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
        // A program may run without bound, so signals are checked here.
        if heard() {
            return Ok(());
        }
        Err(Error::new(ErrorKind::Cancelled, &*self.uri))
    }
}
