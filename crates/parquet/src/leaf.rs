//! The description of how a column is decoded: plain data, that travels in a plan.

use forthwith_columns::DType;
use serde::{Deserialize, Serialize};

/// A column: how its values lie in pages, what is made of them, and what stands around them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Leaf {
    pub(crate) physical: Physical,
    pub(crate) kept: Kept,
    /// From the outside in; a column of the group each.
    pub(crate) nodes: Vec<Node>,
    pub(crate) max_rep: u8,
    pub(crate) max_def: u8,
    /// Pages of the second version are compressed, whatever they say of it.
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
    /// Bytes of a value, where all have the same, and whole ones.
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

/// The type that values become.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Kept {
    /// Numbers of this type: the same bytes, or the lower ones of an integer, or a bit.
    Numbers(DType),
    /// 96 bits of day and time of day, as nanoseconds.
    Nanoseconds,
    /// 96 bits of day and time of day, as microseconds.
    Microseconds,
    /// Byte strings: offsets and bytes.
    Bytes,
    /// There are none.
    Nothing,
}

impl Kept {
    /// Bytes of an item, where it is a number.
    pub(crate) const fn width(self) -> usize {
        match self {
            Self::Numbers(dtype) => dtype.size(),
            Self::Nanoseconds | Self::Microseconds => 8,
            Self::Bytes | Self::Nothing => 0,
        }
    }
}

/// A list or option around values. A slot of it is where the definition level is at least `slot` and the
/// repetition level at most the number of lists around; something is in it where the definition level is at
/// least `item`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Node {
    pub(crate) is_list: bool,
    /// Lists around a slot.
    pub(crate) rep: u8,
    pub(crate) slot: u8,
    pub(crate) item: u8,
}

impl Leaf {
    /// Columns: one for each node, and those of the values.
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
    /// Whether values may be out of range of what they become.
    pub(crate) const fn may_overflow(&self) -> bool {
        matches!(self.kept, Kept::Nanoseconds | Kept::Microseconds)
    }

    /// Whether its parts go together; a plan may come from elsewhere.
    pub(crate) fn is_sound(&self) -> bool {
        let kept = match (self.kept, self.physical.width()) {
            (Kept::Nothing, _) => true,
            (Kept::Numbers(DType::Bool), _) => self.physical == Physical::Bool,
            (Kept::Numbers(dtype), Some(width)) => {
                // A part of a number is taken of integers.
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
