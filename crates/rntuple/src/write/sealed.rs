//! Pages before and after encoding.

use super::offset_columns::LentEnds;

/// Elements of a page before encoding.
#[derive(Debug)]
pub(crate) enum Raw<'a> {
    /// Elements in an array whose memory others may change.
    Lent(&'a [u8]),
    /// Elements in an array that does not share its memory.
    Unshared(&'a [u8]),
    Owned(Vec<u8>),
    /// Ends of lists, in native byte order.
    Ends(Vec<[u8; 8]>),
    /// Offsets of lists in an array.
    LentEnds(LentEnds<'a>),
}

/// A page as stored.
#[derive(Debug)]
pub(crate) struct Sealed {
    pub(crate) elements: u32,
    pub(crate) bytes: PageBytes,
}

/// Bytes of a page with their checksum.
#[derive(Debug)]
pub(crate) enum PageBytes {
    /// Bytes that are written with the other pages of the cluster.
    Kept(Vec<u8>),
    /// Position and size of bytes in the file.
    Written { position: u64, size: u64 },
}

impl PageBytes {
    /// Returns the size in bytes.
    pub(crate) fn size(&self) -> u64 {
        match self {
            Self::Kept(bytes) => bytes.len() as u64,
            Self::Written { size, .. } => *size,
        }
    }

    /// Returns the bytes, unless they are in the file.
    pub(crate) fn kept(&self) -> Option<&[u8]> {
        match self {
            Self::Kept(bytes) => Some(bytes),
            Self::Written { .. } => None,
        }
    }
}
