//! A source that records the ranges that are read from it.

use super::{Index, Part};
use crate::{
    error::{Error, ErrorKind, Result},
    source::Source,
};
use bytes::{Bytes, BytesMut};
use forthwith_platform::ProcessLock;
use std::{ops::Range, sync::Arc};

/// Forwards requests to another source and keeps copies of the results, from which an [`Index`] is built:
/// those of opening and planning a file are its metadata.
#[derive(Debug)]
pub struct Recorder {
    inner: Arc<dyn Source>,
    /// Size in bytes and mark of the inner source before the first read.
    size: u64,
    mark: Option<String>,
    noted: ProcessLock<Vec<Part>>,
}

impl Recorder {
    /// Creates a recorder of a source.
    ///
    /// # Errors
    /// The size of the source cannot be determined.
    pub fn new(inner: Arc<dyn Source>) -> Result<Self> {
        let (size, mark) = (inner.size()?, inner.mark());
        Ok(Self { inner, size, mark, noted: ProcessLock::default() })
    }

    /// Builds an index of all ranges that were read so far.
    ///
    /// # Errors
    /// [`ErrorKind::Changed`] if the source changed after the recorder was created; [`ErrorKind::Index`] if
    /// more bytes were read than an index may contain.
    pub fn index(&self) -> Result<Index> {
        let fail = |kind| Err(Error::new(kind, self.inner.uri()));
        let changed = |what: &str| fail(ErrorKind::Changed { what: what.to_owned() });
        let mut noted = self.noted.lock().clone();
        // Of parts with the same start, the longest comes first and covers the others.
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

/// Number of recent ranges that are searched for a range that was read before: metadata are often read twice.
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
