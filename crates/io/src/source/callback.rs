//! A source that reads from an object of the host language.

use std::fmt;
use std::ops::Range;
use std::sync::{Mutex, OnceLock};

use bytes::Bytes;

use super::Source;
use crate::error::{Error, ErrorKind, Result};

/// The methods of an object that a [`Callback`] source reads from. Errors are messages of the object.
pub trait ReadAt: Send {
    /// Returns the current size in bytes.
    fn size(&mut self) -> std::result::Result<u64, String>;

    /// Reads bytes from offset `at` on into `into`, and returns their number, which is 0 only at the end.
    fn read_at(&mut self, at: u64, into: &mut [u8]) -> std::result::Result<usize, String>;

    /// Called periodically by a thread that waits for a read of another thread. An error ends the wait.
    fn pause(&mut self) -> std::result::Result<(), String> {
        Ok(())
    }
}

/// An object behind a lock, or a function that creates handles of an object that synchronises itself.
enum Object {
    Locked(Mutex<Box<dyn ReadAt>>),
    Shared(Box<dyn Fn() -> Box<dyn ReadAt> + Send + Sync>),
}

/// A source that forwards requests to an object one at a time, such as a Python file or anything else that
/// can seek and read.
pub struct Callback {
    name: String,
    object: Object,
    /// The size in bytes that the object returned first.
    opened: OnceLock<u64>,
}

impl Callback {
    /// Creates a source that reads from `object`; errors call it `name`.
    pub fn new(name: impl Into<String>, object: Box<dyn ReadAt>) -> Self {
        Self { name: name.into(), object: Object::Locked(Mutex::new(object)), opened: OnceLock::new() }
    }

    /// Creates a source that calls `handle` for each request and reads from the returned object. Several
    /// threads may use handles at once, which have to synchronise by themselves.
    pub fn shared(
        name: impl Into<String>,
        handle: impl Fn() -> Box<dyn ReadAt> + Send + Sync + 'static,
    ) -> Self {
        Self { name: name.into(), object: Object::Shared(Box::new(handle)), opened: OnceLock::new() }
    }

    fn with<T>(&self, act: impl FnOnce(&mut dyn ReadAt) -> Result<T>) -> Result<T> {
        match &self.object {
            Object::Locked(object) => match object.lock() {
                Ok(mut object) => act(&mut **object),
                Err(_) => Err(Error::new(ErrorKind::CallbackPanicked, &*self.name)),
            },
            Object::Shared(handle) => act(&mut *handle()),
        }
    }

    fn size_of(&self, object: &mut dyn ReadAt) -> Result<u64> {
        let size =
            object.size().map_err(|message| Error::new(ErrorKind::Callback { message }, &*self.name))?;
        self.opened.get_or_init(|| size);
        Ok(size)
    }

    /// Returns the error of a range that exceeds the object's current size.
    fn beyond(&self, wanted: Range<u64>, present: u64) -> ErrorKind {
        match self.opened.get() {
            Some(&opened) if present < wanted.end && wanted.end <= opened => {
                ErrorKind::Shrunk { wanted, opened, present }
            }
            _ => ErrorKind::BeyondEnd { wanted, size: present },
        }
    }

    /// Reads until `into` is full. The size of the object is only queried if it ends too early.
    fn fill(&self, object: &mut dyn ReadAt, at: u64, into: &mut [u8]) -> Result<()> {
        let wanted = at..at.saturating_add(into.len() as u64);
        let mut done = 0;
        while done < into.len() {
            let here = at.saturating_add(done as u64);
            let fail = |kind| Err(Error::new(kind, &*self.name).at(here));
            let asked = into.len() - done;
            match object.read_at(here, &mut into[done..]) {
                Ok(0) => {
                    let kind = match self.size_of(object)? {
                        size if size < wanted.end => self.beyond(wanted, size),
                        // The object has more bytes by its own account, but does not return them.
                        _ => ErrorKind::BeyondEnd { wanted, size: here },
                    };
                    return Err(Error::new(kind, &*self.name).at(at));
                }
                Ok(claimed) if claimed > asked => return fail(ErrorKind::CallbackOverrun { asked, claimed }),
                Ok(read) => done += read,
                Err(message) => return fail(ErrorKind::Callback { message }),
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Callback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Callback").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Source for Callback {
    fn uri(&self) -> &str {
        &self.name
    }

    fn size(&self) -> Result<u64> {
        self.with(|object| self.size_of(object))
    }

    fn read(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.with(|object| {
            let size = self.size_of(object)?;
            let fail = |kind, range: &Range<u64>| Error::new(kind, &*self.name).at(range.start);
            // All ranges are checked before memory is allocated.
            for range in ranges {
                super::check(range, size).map_err(|kind| match kind {
                    ErrorKind::BeyondEnd { wanted, size } => fail(self.beyond(wanted, size), range),
                    kind => fail(kind, range),
                })?;
            }
            let answer = |range: &Range<u64>| {
                let mut buffer = super::zeroed(range.end - range.start).map_err(|kind| fail(kind, range))?;
                self.fill(object, range.start, &mut buffer)?;
                Ok(buffer.into())
            };
            ranges.iter().map(answer).collect()
        })
    }

    fn read_into(&self, at: u64, into: &mut [u8]) -> Result<()> {
        self.with(|object| self.fill(object, at, into))
    }

    fn pause(&self) -> Result<()> {
        match &self.object {
            // A thread waits for the holder of the lock, which is not interrupted.
            Object::Locked(_) => Ok(()),
            Object::Shared(handle) => {
                handle().pause().map_err(|message| Error::new(ErrorKind::Callback { message }, &*self.name))
            }
        }
    }

    fn zero_copy(&self) -> bool {
        false
    }

    fn concurrent(&self) -> bool {
        false
    }
}
