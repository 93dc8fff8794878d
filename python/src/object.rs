//! A Python file object as a source.

use crate::desk::{Answer, Reader, Refusal, Request};
use forthwith::io::ReadAt;
use pyo3::prelude::*;
use std::sync::{Arc, Mutex, PoisonError};

/// The last exception of a file object. Errors of a source only have text.
pub(crate) type Cause = Arc<Mutex<Option<PyErr>>>;

/// Replaces the stored exception.
pub(crate) fn keep(cause: &Cause, error: PyErr) {
    let last = cause.lock().unwrap_or_else(PoisonError::into_inner).replace(error);
    drop(last); // after the lock is free: what it refers to may run Python code when it goes
}

/// An object with `seek` and `read`. Clones share the object.
#[derive(Clone)]
pub(crate) struct FileObject {
    pub(crate) reader: Arc<Reader>,
    pub(crate) cause: Cause,
}

impl FileObject {
    pub(crate) fn new(object: Py<PyAny>) -> Self {
        Self { reader: Arc::new(Reader::new(object)), cause: Cause::default() }
    }

    fn text(&self, refusal: Refusal) -> String {
        match refusal {
            Refusal::Raised(error) => {
                let text = error.to_string();
                keep(&self.cause, error);
                text
            }
            Refusal::GivenUp => "given up, since another read of the file object was interrupted".into(),
            Refusal::Inside => INSIDE.into(),
        }
    }
}

/// Message of the error if the code of a file object uses the file that is read from it.
pub(crate) const INSIDE: &str = "the read method of the file object reads from the same forthwith file";

impl ReadAt for FileObject {
    fn size(&mut self) -> Result<u64, String> {
        match self.reader.ask(Request::Size) {
            Ok(Answer::Size(size)) => Ok(size),
            Ok(Answer::Bytes(_)) => Err("seek returned bytes instead of a position".into()),
            Err(refusal) => Err(self.text(refusal)),
        }
    }

    fn read_at(&mut self, at: u64, into: &mut [u8]) -> Result<usize, String> {
        match self.reader.ask(Request::Read { at, count: into.len() }) {
            Ok(Answer::Bytes(data)) => {
                if let Some(place) = into.get_mut(..data.len()) {
                    place.copy_from_slice(&data);
                }
                // A length above the requested one is an error of the source.
                Ok(data.len())
            }
            Ok(Answer::Size(_)) => Err("read returned a number instead of bytes".into()),
            Err(refusal) => Err(self.text(refusal)),
        }
    }

    fn pause(&mut self) -> Result<(), String> {
        self.reader.pause().map_err(|refusal| self.text(refusal))
    }
}
