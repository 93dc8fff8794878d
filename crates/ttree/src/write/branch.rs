//! Description of branches and leaves to write.

use crate::{columns::Laid, leaf_classes::leaf_class};
use forthwith_columns::{DType, Encoding};
use forthwith_program::Layout;
use forthwith_root::{CppType, write::Compression};
use std::sync::Arc;

/// A branch, as in the tree's record.
#[derive(Clone, Debug, Default)]
pub(super) struct Branch {
    pub(super) name: String,
    pub(super) title: String,
    /// Parent branch.
    pub(super) parent: Option<usize>,
    pub(super) class: Option<Element>,
    pub(super) leaf: Option<Leaf>,
    /// Source of the entries, if the branch has baskets.
    pub(super) source: Option<Source>,
    pub(super) compression: Option<Compression>,
    pub(super) basket_bytes: Option<u64>,
}

/// Members of a `TBranchElement`.
#[derive(Clone, Debug)]
pub(super) struct Element {
    pub(super) class: String,
    pub(super) parent: String,
    pub(super) clones: String,
    pub(super) checksum: u32,
    pub(super) version: i16,
    /// Index of the member, or a negative number for whole objects.
    pub(super) id: i32,
    /// Kind of branch.
    pub(super) kind: i32,
    pub(super) streamer_type: i32,
    /// Branch that counts the items.
    pub(super) count: Option<usize>,
}

/// Leaf of a branch.
#[derive(Clone, Debug)]
pub(super) struct Leaf {
    pub(super) name: String,
    pub(super) title: String,
    pub(super) kind: LeafKind,
    /// Number of values in each item.
    pub(super) len: u32,
    /// Branch whose leaf counts the items.
    pub(super) counter: Option<usize>,
    /// Whether the leaf counts the items of others.
    pub(super) counts: bool,
}

/// Class of a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LeafKind {
    Number(DType),
    Float16,
    Double32,
    Characters,
    /// A leaf of a `TBranchElement`: index of the member, kind, and size of a number in bytes.
    Element {
        id: i32,
        kind: i32,
        size: u32,
    },
}

/// Source of a branch's values, and how its entries are stored.
#[derive(Clone, Debug)]
pub(super) struct Source {
    pub(super) column: usize,
    pub(super) path: Vec<Step>,
    pub(super) stored: Stored,
    /// Encoding of numbers, if not that of their type.
    pub(super) wire: Option<Encoding>,
}

/// Step from a Form to a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Field of a record.
    Field(usize),
    /// Items of a list.
    Items,
}

/// How the entries of a branch are stored.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Stored {
    /// A fixed number of values in each entry.
    Fixed,
    /// A string. If it ends at a NUL, it must not contain one.
    Text { ends_at_nul: bool },
    /// The number of items.
    Counts,
    /// The number of items, in entries that have offsets.
    Counted,
    /// Numeric items, with their number in another branch.
    Items,
    /// A frame, the number of items, and the items.
    Framed,
    /// A frame and the items, with their number in another branch.
    FramedItems,
    /// A frame and a string.
    FramedText,
    /// The same bytes for each entry, or for each of its items.
    Constant { bytes: [u8; 4], items: bool, offsets: bool },
    /// Values of a layout. `laid` is the layout with which entries are read.
    Laid {
        laid: Arc<Laid>,
        /// Layout for encoding; that of a container is within its frame.
        layout: Arc<Layout>,
        offsets: bool,
        rule: Rule,
    },
    /// A byte before the items, which is 0 if there are none, else 1.
    Flagged(Box<Self>),
}

/// Condition on the values of a C++ container beyond its layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    Nothing,
    /// The values of a set, or the keys of a map, must be distinct.
    Distinct,
    /// A bitset has this number of bits.
    Length(u64),
}

impl Rule {
    /// Returns the rule of a type, as the file spells it.
    pub(super) fn of(type_name: &str) -> Self {
        let kind = type_name.split('<').next().unwrap_or_default();
        match CppType::parse(type_name) {
            CppType::Bitset(size) => Self::Length(size),
            _ if ["set", "map", "unordered_set", "unordered_map"]
                .iter()
                .any(|one| kind.strip_prefix("std::").unwrap_or(kind) == *one) =>
            {
                Self::Distinct
            }
            _ => Self::Nothing,
        }
    }
}

impl Stored {
    /// Returns whether a byte count and a version precede each entry.
    pub(super) fn is_framed(&self) -> bool {
        matches!(self, Self::Framed | Self::FramedItems | Self::FramedText)
    }

    /// Returns whether each entry has the number of its items.
    pub(super) fn is_counted(&self) -> bool {
        matches!(self, Self::Counts | Self::Counted | Self::Framed)
    }

    /// Returns whether baskets have the offsets of their entries.
    pub(super) fn has_offsets(&self) -> bool {
        match self {
            Self::Fixed | Self::Counts => false,
            Self::Constant { offsets, .. } | Self::Laid { offsets, .. } => *offsets,
            _ => true,
        }
    }
}

impl Element {
    /// Returns the element of a branch of whole objects of a class. The checksum is that of a collection, a
    /// hash of its name.
    pub(super) fn whole(class: &str) -> Self {
        Self {
            class: class.into(),
            parent: String::new(),
            clones: String::new(),
            checksum: class.bytes().fold(0u32, |sum, byte| sum.wrapping_mul(3).wrapping_add(byte.into())),
            version: VECTOR_VERSION,
            id: WHOLE_ID,
            kind: 0,
            streamer_type: -1,
            count: None,
        }
    }
}

impl Element {
    /// Returns the element of a branch of `std::string`. With another kind, C++ ROOT copies it as a parent
    /// without entries.
    pub(super) fn text() -> Self {
        Self { checksum: 0x6e6f_1604, version: 2, kind: -1, ..Self::whole(TEXT) }
    }

    /// Returns whether this is a branch of `std::string`.
    pub(super) fn is_text(&self) -> bool {
        self.class == TEXT
    }
}

/// Kind of the branch of a split collection.
pub(super) const COLLECTION: i32 = 4;
/// Member index of a branch of whole objects or collections.
pub(super) const WHOLE_ID: i32 = -1;
/// ROOT's spelling of `std::string`.
const TEXT: &str = "string";

/// Version of collections in ROOT.
const VECTOR_VERSION: i16 = 6;

impl Leaf {
    /// Returns a leaf with one value in each entry, which does not count others.
    pub(super) fn new(name: &str, title: &str, kind: LeafKind) -> Self {
        Self { name: name.into(), title: title.into(), kind, len: 1, counter: None, counts: false }
    }

    /// Returns the leaf of a branch of whole objects.
    pub(super) fn element(name: &str) -> Self {
        Self::new(name, name, LeafKind::Element { id: WHOLE_ID, kind: -1, size: 0 })
    }
}

impl Branch {
    /// Returns an empty branch.
    pub(super) fn new(name: &str, title: &str) -> Self {
        Self { name: name.into(), title: title.into(), ..Self::default() }
    }

    /// Returns a branch of objects of a class, with its leaf.
    pub(super) fn of_class(name: &str, class: Element) -> Self {
        Self { class: Some(class), leaf: Some(Leaf::element(name)), ..Self::new(name, name) }
    }
}

/// Properties of a class of leaves.
#[derive(Clone, Copy, Debug)]
pub(super) struct LeafFacts {
    pub(super) class: &'static str,
    /// Letter of the type in the title of a branch.
    pub(super) letter: char,
    pub(super) version: i16,
    /// Size of a number in memory, in bytes.
    pub(super) size: u32,
    /// Size of a number in the file, in bytes.
    pub(super) stored: u32,
}

impl LeafKind {
    pub(super) fn facts(self) -> LeafFacts {
        match self {
            Self::Number(dtype) => {
                let ((class, letter), size) = (leaf_class(dtype), dtype.size() as u32);
                LeafFacts { class, letter, version: 1, size, stored: size }
            }
            Self::Float16 => LeafFacts { class: "TLeafF16", letter: 'f', version: 2, size: 4, stored: 3 },
            Self::Double32 => LeafFacts { class: "TLeafD32", letter: 'd', version: 2, size: 8, stored: 4 },
            Self::Characters => LeafFacts { class: "TLeafC", letter: 'C', version: 1, size: 1, stored: 1 },
            Self::Element { size, .. } => {
                LeafFacts { class: "TLeafElement", letter: ' ', version: 1, size, stored: size }
            }
        }
    }
}
