//! A Python file object as a source.

use crate::desk::{Answer, Reader, Refusal, Request};
use forthwith::io::ReadAt;
use pyo3::prelude::*;
use std::sync::{Arc, Mutex, PoisonError};

/// The exception a file object raised last: errors of a source carry text only, and Python wants the cause.
pub(crate) type Cause = Arc<Mutex<Option<PyErr>>>;

/// Keeps an exception as the last one.
pub(crate) fn keep(cause: &Cause, error: PyErr) {
    let last = cause.lock().unwrap_or_else(PoisonError::into_inner).replace(error);
    drop(last); // after the lock is free: what it refers to may run Python code when it goes
}

/// An object with `seek` and `read`. Clones ask the same object.
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

/// What is said where the code of a file object uses the file that is read from it.
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
                // More than was asked for: the source refuses it.
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
