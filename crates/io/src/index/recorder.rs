//! A source that notes what is read of it.

use super::{Index, Part};
use crate::{
    error::{Error, ErrorKind, Result},
    source::Source,
};
use bytes::{Bytes, BytesMut};
use forthwith_platform::ProcessLock;
use std::{ops::Range, sync::Arc};

/// Passes requests on, and keeps the answers: what is read while a file is opened and planned is what an
/// [`Index`] has.
#[derive(Debug)]
pub struct Recorder {
    inner: Arc<dyn Source>,
    /// The state before anything was read.
    size: u64,
    mark: Option<String>,
    noted: ProcessLock<Vec<Part>>,
}

impl Recorder {
    /// A recorder of what is read of a source from now on.
    ///
    /// # Errors
    /// Its size cannot be had.
    pub fn new(inner: Arc<dyn Source>) -> Result<Self> {
        let (size, mark) = (inner.size()?, inner.mark());
        Ok(Self { inner, size, mark, noted: ProcessLock::default() })
    }

    /// The index of what was read so far.
    ///
    /// # Errors
    /// [`ErrorKind::Changed`]: the file is not what it was when the recorder was made. More was read than an
    /// index may have.
    pub fn index(&self) -> Result<Index> {
        let fail = |kind| Err(Error::new(kind, self.inner.uri()));
        let changed = |what: &str| fail(ErrorKind::Changed { what: what.to_owned() });
        let mut noted = self.noted.lock().clone();
        // Of parts that begin alike the longest comes first, and covers the others.
        noted.sort_unstable_by_key(|part| (part.start, u64::MAX - part.range().end));
        let mut parts: Vec<(u64, BytesMut)> = Vec::new();
        for part in noted.iter().filter(|part| !part.bytes.is_empty()) {
            match parts.last_mut() {
                Some((start, bytes)) if part.start <= *start + bytes.len() as u64 => {
                    let again = &bytes[(part.start - *start) as usize..];
                    let both = again.len().min(part.bytes.len());
                    if again[..both] != part.bytes[..both] {
                        return changed("it answered the same range in two ways");
                    }
                    bytes.extend_from_slice(&part.bytes[both..]);
                }
                _ => parts.push((part.start, BytesMut::from(&part.bytes[..]))),
            }
        }
        if self.inner.size()? != self.size || self.inner.mark() != self.mark {
            return changed("its size or its mark is another one than at the beginning");
        }
        let length = parts.iter().fold(0, |sum, (_, bytes)| sum + bytes.len() as u64);
        if length > Index::MOST / 2 || u32::try_from(parts.len()).is_err() {
            let what = format!("{length} bytes were read to plan it: more than an index may have");
            return fail(ErrorKind::Index { what });
        }
        let parts = parts.into_iter().map(|(start, bytes)| Part { start, bytes: bytes.freeze() }).collect();
        let name = format!("{}{}", self.inner.uri(), Index::ENDING);
        Ok(Index { name, size: self.size, mark: self.mark.clone(), parts })
    }

    fn note(&self, start: u64, bytes: &[u8]) {
        let mut noted = self.noted.lock();
        let known =
            noted.iter().rev().take(RECENT).any(|part| {
                part.start <= start && start.saturating_add(bytes.len() as u64) <= part.range().end
            });
        if !known {
            noted.push(Part { start, bytes: Bytes::copy_from_slice(bytes) });
        }
    }
}

/// How many of the last answers are looked at, to keep nothing twice: metadata are read in steps, some of
/// them again.
const RECENT: usize = 16;

impl Source for Recorder {
    fn uri(&self) -> &str {
        self.inner.uri()
    }

    fn size(&self) -> Result<u64> {
        self.inner.size()
    }

    fn inner(&self) -> Option<&dyn Source> {
        Some(&*self.inner)
    }

    fn read(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let answers = self.inner.read(ranges)?;
        ranges.iter().zip(&answers).for_each(|(range, bytes)| self.note(range.start, bytes));
        Ok(answers)
    }

    fn read_into(&self, at: u64, into: &mut [u8]) -> Result<()> {
        self.inner.read_into(at, into)?;
        self.note(at, into);
        Ok(())
    }

    fn read_part(&self, at: u64, into: &mut [u8]) -> Result<()> {
        self.inner.read_part(at, into)?;
        self.note(at, into);
        Ok(())
    }

    fn zero_copy(&self) -> bool {
        false
    }

    fn concurrent(&self) -> bool {
        self.inner.concurrent()
    }
}
