//! A source of bytes in memory.

use std::ops::Range;

use bytes::Bytes;

use super::Source;
use crate::error::{Error, Result};

/// A source of bytes in memory, of which all results are views.
#[derive(Clone, Debug)]
pub struct Memory {
    name: String,
    bytes: Bytes,
}

impl Memory {
    /// Creates a source of `bytes`; errors call it `name`.
    pub fn new(name: impl Into<String>, bytes: impl Into<Bytes>) -> Self {
        Self { name: name.into(), bytes: bytes.into() }
    }

    fn answer(&self, range: &Range<u64>) -> Result<Bytes> {
        super::check(range, self.bytes.len() as u64)
            .map_err(|kind| Error::new(kind, &*self.name).at(range.start))?;
        // The casts are lossless: both ends are at most `len`, a `usize`.
        Ok(self.bytes.slice(range.start as usize..range.end as usize))
    }
}

impl Source for Memory {
    fn uri(&self) -> &str {
        &self.name
    }

    fn size(&self) -> Result<u64> {
        Ok(self.bytes.len() as u64)
    }

    fn read(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        ranges.iter().map(|range| self.answer(range)).collect()
    }

    fn zero_copy(&self) -> bool {
        true
    }

    fn concurrent(&self) -> bool {
        true
    }
}
