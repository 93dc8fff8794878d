//! Pages before and after they are encoded.

use super::offset_columns::LentEnds;

/// Elements of a page, not yet encoded.
#[derive(Debug)]
pub(crate) enum Raw<'a> {
    /// They are in an array whose memory others may write to.
    Lent(&'a [u8]),
    /// Elements in an array whose memory the array has for itself.
    Unshared(&'a [u8]),
    Owned(Vec<u8>),
    /// Ends of lists, in native order.
    Ends(Vec<[u8; 8]>),
    /// Offsets of lists in an array.
    LentEnds(LentEnds<'a>),
}

/// A page as it is stored.
#[derive(Debug)]
pub(crate) struct Sealed {
    pub(crate) elements: u32,
    pub(crate) bytes: PageBytes,
}

/// The bytes of a page, with their checksum.
#[derive(Debug)]
pub(crate) enum PageBytes {
    /// They wait for those of the other pages of the cluster.
    Kept(Vec<u8>),
    /// They are in the file: this many, from this position on.
    Written { position: u64, size: u64 },
}

impl PageBytes {
    /// The number of bytes.
    pub(crate) fn size(&self) -> u64 {
        match self {
            Self::Kept(bytes) => bytes.len() as u64,
            Self::Written { size, .. } => *size,
        }
    }

    /// The bytes, unless they are in the file.
    pub(crate) fn kept(&self) -> Option<&[u8]> {
        match self {
            Self::Kept(bytes) => Some(bytes),
            Self::Written { .. } => None,
        }
    }
}
