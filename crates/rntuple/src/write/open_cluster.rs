//! Columns of the open cluster.

use super::elements::Elements;
use super::record::ColumnRecord;
use super::sealed::{Raw, Sealed};

/// A column of the open cluster.
#[derive(Debug)]
pub(crate) struct Filling {
    /// Path of the field, for errors.
    pub(crate) path: String,
    pub(crate) elements: Elements,
    /// Elements of an incomplete page: ends of lists in native byte order, or the bytes of other elements.
    pub(super) ends: Vec<[u8; 8]>,
    pub(super) bytes: Vec<u8>,
    /// End of the last list in the cluster.
    pub(super) end: u64,
    /// Number of values of each alternative of a variant in the cluster.
    pub(super) values: Vec<u64>,
    /// Number of elements in this cluster, and in earlier ones.
    pub(super) here: u64,
    pub(crate) before: u64,
    /// Complete pages of the cluster.
    pub(crate) pages: Vec<Sealed>,
    /// Buffers of sealed elements, for reuse.
    pub(super) spare_ends: Vec<Vec<[u8; 8]>>,
    pub(super) spare_bytes: Vec<Vec<u8>>,
}

/// Maximum number of buffers for reuse.
const SPARES_KEPT: usize = 16;

impl Filling {
    /// Returns a column whose next element in the file has the index of the record's `first`, by default 0.
    pub(crate) fn new(path: String, column: &ColumnRecord, page_bytes: usize) -> Self {
        Self {
            path,
            elements: Elements::of(column, page_bytes),
            ends: Vec::new(),
            bytes: Vec::new(),
            end: 0,
            values: Vec::new(),
            here: 0,
            before: column.first.unwrap_or(0),
            pages: Vec::new(),
            spare_ends: Vec::new(),
            spare_bytes: Vec::new(),
        }
    }

    /// Begins the next cluster. Returns the pages of the last one.
    pub(crate) fn next_cluster(&mut self) -> Vec<Sealed> {
        self.before += std::mem::take(&mut self.here);
        self.end = 0;
        self.values.clear();
        std::mem::take(&mut self.pages)
    }

    /// Returns the incomplete page, if it has elements.
    pub(super) fn rest(&mut self) -> Option<Raw<'static>> {
        if !self.ends.is_empty() {
            return Some(self.full_ends());
        }
        (!self.bytes.is_empty()).then(|| self.full_bytes())
    }

    pub(super) fn full_ends(&mut self) -> Raw<'static> {
        let next = self.spare_ends.pop().unwrap_or_default();
        Raw::Ends(std::mem::replace(&mut self.ends, next))
    }

    pub(super) fn full_bytes(&mut self) -> Raw<'static> {
        let next = self.spare_bytes.pop().unwrap_or_default();
        Raw::Owned(std::mem::replace(&mut self.bytes, next))
    }

    /// Returns the buffer of sealed elements for reuse.
    pub(super) fn keep(&mut self, raw: Raw<'_>) {
        match raw {
            Raw::Owned(mut bytes) if self.spare_bytes.len() < SPARES_KEPT => {
                bytes.clear();
                self.spare_bytes.push(bytes);
            }
            Raw::Ends(mut ends) if self.spare_ends.len() < SPARES_KEPT => {
                ends.clear();
                self.spare_ends.push(ends);
            }
            _ => {}
        }
    }
}
