//! The values in a branch of several leaves.

use forthwith_columns::Encoding;

/// A leaf of several in a branch.
#[derive(Clone, Debug)]
pub(crate) enum LeafMember {
    /// Numbers: as many as the shape says, once or several times.
    Numbers { wire: Encoding, shape: Vec<u64>, many: Many },
    /// A string.
    Text,
}

/// The number of items of a leaf of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Many {
    /// One, which is no list.
    One,
    /// As many as there is room for up to the entry's end.
    ToEnd,
    /// As many as the leaf at this position, which stands before, says.
    As(usize),
    /// As many as a leaf of another branch says.
    Unknown,
}
