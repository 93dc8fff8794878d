//! Elements of a column before they are encoded.

use super::record::ColumnRecord;
use crate::coding::Kind;
use forthwith_columns::DType;
use forthwith_plan::Error;
use forthwith_root::write::Compression;

/// Encoding of elements to a page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Elements {
    pub(crate) kind: Kind,
    pub(crate) compression: Compression,
    /// Type of floats that are stored with fewer bits.
    pub(crate) from: Option<DType>,
    pub(crate) bits: u16,
    pub(crate) range: Option<(f64, f64)>,
    /// Size of an element before it is encoded, in bytes.
    pub(crate) width: usize,
    /// Maximum number of elements in a page.
    pub(super) most: usize,
}

impl Elements {
    pub(crate) fn of(column: &ColumnRecord, page_bytes: usize) -> Self {
        let (width, in_memory) = match column.kind {
            _ if column.from.is_some() => column.from.map_or((4, 4), |dtype| (dtype.size(), dtype.size())),
            Kind::Bit | Kind::Byte => (1, 1),
            Kind::Plain(dtype) | Kind::Split(dtype) | Kind::Zigzag(dtype) => (dtype.size(), dtype.size()),
            Kind::Half => (2, DType::Float32.size()),
            // In memory, ROOT has an index and a tag of 16 bytes.
            Kind::Switch => (12, 16),
            _ => (8, 8),
        };
        let ColumnRecord { kind, compression, from, bits, range, .. } = *column;
        Self { kind, compression, from, bits, range, width, most: (page_bytes / in_memory).max(1) }
    }
}

/// Returns the error for an array that changed after it was validated.
#[cold]
pub(crate) fn changed() -> Error {
    Error::invalid("an array that changes while it is written")
}
