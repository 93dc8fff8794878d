//! Columns while a cluster is filled.

use super::elements::Elements;
use super::record::ColumnRecord;
use super::sealed::{Raw, Sealed};

/// A column while a cluster is filled.
#[derive(Debug)]
pub(crate) struct Filling {
    /// The field, for errors.
    pub(crate) path: String,
    pub(crate) elements: Elements,
    /// Elements of a page that is not full yet: the ends of lists in native order, or the bytes of anything else.
    pub(super) ends: Vec<[u8; 8]>,
    pub(super) bytes: Vec<u8>,
    /// The end of the last list of the cluster.
    pub(super) end: u64,
    /// The number of values of each alternative of a variant in the cluster.
    pub(super) values: Vec<u64>,
    /// Elements in this cluster, and in those before.
    pub(super) here: u64,
    pub(crate) before: u64,
    /// Full pages of the cluster.
    pub(crate) pages: Vec<Sealed>,
    /// Memory of elements that have been sealed.
    pub(super) spare_ends: Vec<Vec<[u8; 8]>>,
    pub(super) spare_bytes: Vec<Vec<u8>>,
}

/// Pages of a column whose memory is kept for later ones.
const SPARES_KEPT: usize = 16;

impl Filling {
    /// A column whose first element in the file is number `first`.
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

    /// Begins the next cluster, and answers the pages of the last one.
    pub(crate) fn next_cluster(&mut self) -> Vec<Sealed> {
        self.before += std::mem::take(&mut self.here);
        self.end = 0;
        self.values.clear();
        std::mem::take(&mut self.pages)
    }

    /// The page that is not full, if it has elements.
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

    /// Keeps the memory of elements that were sealed.
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
