//! Description of how a column is decoded, which is part of a plan.

use forthwith_columns::DType;
use serde::{Deserialize, Serialize};

/// A column: encoding of its values in pages, type of the decoded values, and the lists and options around
/// them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Leaf {
    pub(crate) physical: Physical,
    pub(crate) kept: Kept,
    /// Lists and options, outermost first; each has a column in the group.
    pub(crate) nodes: Vec<Node>,
    pub(crate) max_rep: u8,
    pub(crate) max_def: u8,
    /// Whether pages of version 2 are compressed regardless of their header.
    pub(crate) always_compressed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Physical {
    Bool,
    Int32,
    Int64,
    Int96,
    Float,
    Double,
    Bytes,
    Fixed(u32),
}

impl Physical {
    /// Returns the length in bytes of a value; `None` for byte arrays and booleans.
    pub(crate) const fn width(self) -> Option<usize> {
        match self {
            Self::Bool | Self::Bytes => None,
            Self::Int32 | Self::Float => Some(4),
            Self::Int64 | Self::Double => Some(8),
            Self::Int96 => Some(12),
            Self::Fixed(width) => Some(width as usize),
        }
    }
}

/// Type of the decoded values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Kept {
    /// Numbers of this type: the stored bytes, the lower bytes of an integer, or a bit.
    Numbers(DType),
    /// INT96 times, converted to nanoseconds.
    Nanoseconds,
    /// INT96 times, converted to microseconds.
    Microseconds,
    /// Byte strings, as offsets and bytes.
    Bytes,
    /// The column does not have values.
    Nothing,
}

impl Kept {
    /// Returns the size in bytes of a number; 0 for other types.
    pub(crate) const fn width(self) -> usize {
        match self {
            Self::Numbers(dtype) => dtype.size(),
            Self::Nanoseconds | Self::Microseconds => 8,
            Self::Bytes | Self::Nothing => 0,
        }
    }
}

/// A list or option around values. A level begins a slot of the node if its repetition level is at most `rep`
/// and its definition level at least `slot`. It begins an item if the repetition level is at most `rep`, or
/// one more for lists, and the definition level at least `item`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Node {
    pub(crate) is_list: bool,
    /// Number of lists around the node.
    pub(crate) rep: u8,
    pub(crate) slot: u8,
    pub(crate) item: u8,
}

impl Leaf {
    /// Returns the number of columns: one for each node, and those of the values.
    pub(crate) fn columns(&self) -> usize {
        self.nodes.len()
            + match self.kept {
                Kept::Numbers(_) | Kept::Nanoseconds | Kept::Microseconds => 1,
                Kept::Bytes => 2,
                Kept::Nothing => 0,
            }
    }
}

impl Leaf {
    /// Whether stored values may be out of range for the decoded type.
    pub(crate) const fn may_overflow(&self) -> bool {
        matches!(self.kept, Kept::Nanoseconds | Kept::Microseconds)
    }

    /// Whether the description is consistent, which a plan from elsewhere may not be.
    pub(crate) fn is_sound(&self) -> bool {
        let kept = match (self.kept, self.physical.width()) {
            (Kept::Nothing, _) => true,
            (Kept::Numbers(DType::Bool), _) => self.physical == Physical::Bool,
            (Kept::Numbers(dtype), Some(width)) => {
                // Only integers are narrowed.
                dtype.size() == width || (self.physical == Physical::Int32 && dtype.size() < width)
            }
            (Kept::Nanoseconds | Kept::Microseconds, _) => self.physical == Physical::Int96,
            (Kept::Bytes, _) => matches!(self.physical, Physical::Bytes | Physical::Fixed(_)),
            (Kept::Numbers(_), None) => false,
        };
        let nodes = self.nodes.iter().all(|node| {
            node.rep + u8::from(node.is_list) <= self.max_rep
                && node.slot < node.item
                && node.item <= self.max_def
        });
        kept && nodes && self.nodes.len() <= 2 * usize::from(u8::MAX)
    }
}
