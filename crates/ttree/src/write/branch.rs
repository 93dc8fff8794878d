//! Branches and leaves to be written.

use crate::{columns::Laid, leaf_classes::leaf_class};
use forthwith_columns::{DType, Encoding};
use forthwith_program::Layout;
use forthwith_root::{CppType, write::Compression};
use std::sync::Arc;

/// A branch, as the tree's record describes it.
#[derive(Clone, Debug, Default)]
pub(super) struct Branch {
    pub(super) name: String,
    pub(super) title: String,
    /// The branch that it belongs to.
    pub(super) parent: Option<usize>,
    pub(super) class: Option<Element>,
    pub(super) leaf: Option<Leaf>,
    /// The entries, if the branch has any itself.
    pub(super) source: Option<Source>,
    pub(super) compression: Option<Compression>,
    pub(super) basket_bytes: Option<u64>,
}

/// What a branch of a class, `TBranchElement`, says of it.
#[derive(Clone, Debug)]
pub(super) struct Element {
    pub(super) class: String,
    pub(super) parent: String,
    pub(super) clones: String,
    pub(super) checksum: u32,
    pub(super) version: i16,
    /// The member's number, or one below zero.
    pub(super) id: i32,
    /// The kind of branch.
    pub(super) kind: i32,
    pub(super) streamer_type: i32,
    /// The branch that counts the items.
    pub(super) count: Option<usize>,
}

/// A leaf of a branch.
#[derive(Clone, Debug)]
pub(super) struct Leaf {
    pub(super) name: String,
    pub(super) title: String,
    pub(super) kind: LeafKind,
    /// Numbers in each item.
    pub(super) len: u32,
    /// The branch whose leaf counts the items.
    pub(super) counter: Option<usize>,
    /// Whether others are counted by it.
    pub(super) counts: bool,
}

/// The class of a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LeafKind {
    Number(DType),
    Float16,
    Double32,
    Characters,
    /// A leaf of a `TBranchElement`: the member's number, the kind and the bytes of a number.
    Element {
        id: i32,
        kind: i32,
        size: u32,
    },
}

/// Where the values of a branch are, and how its entries are stored.
#[derive(Clone, Debug)]
pub(super) struct Source {
    pub(super) column: usize,
    pub(super) path: Vec<Step>,
    pub(super) stored: Stored,
    /// How numbers are stored, if not as they are.
    pub(super) wire: Option<Encoding>,
}

/// A step from a Form to one below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// A field of a record.
    Field(usize),
    /// The items of a list.
    Items,
}

/// How the entries of a branch are stored.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Stored {
    /// As many numbers in each entry.
    Fixed,
    /// A text: without NUL in it if it ends there.
    Text { ends_at_nul: bool },
    /// The number of items.
    Counts,
    /// The number of items, in entries that have offsets.
    Counted,
    /// The items' numbers, counted elsewhere.
    Items,
    /// A frame, the number of items, the items.
    Framed,
    /// A frame and the items, counted elsewhere.
    FramedItems,
    /// A frame and a text.
    FramedText,
    /// These bytes for each entry, or each of its items.
    Constant { bytes: [u8; 4], items: bool, offsets: bool },
    /// As a layout says: `laid` is that by which such entries are read.
    Laid {
        laid: Arc<Laid>,
        /// In which values are written; of a container within its frame.
        layout: Arc<Layout>,
        offsets: bool,
        rule: Rule,
    },
    /// A byte before the items: 0 if there are none, else 1.
    Flagged(Box<Self>),
}

/// What C++ asks of a container beyond its layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    Nothing,
    /// A set has no value twice, and a map no key.
    Distinct,
    /// A bitset has this number of bits.
    Length(u64),
}

impl Rule {
    /// That of a type, as the file spells it.
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
    /// Whether a byte count and a version stand before each entry.
    pub(super) fn is_framed(&self) -> bool {
        matches!(self, Self::Framed | Self::FramedItems | Self::FramedText)
    }

    /// Whether each entry has the number of items.
    pub(super) fn is_counted(&self) -> bool {
        matches!(self, Self::Counts | Self::Counted | Self::Framed)
    }

    /// Whether the baskets say where each entry begins.
    pub(super) fn has_offsets(&self) -> bool {
        match self {
            Self::Fixed | Self::Counts => false,
            Self::Constant { offsets, .. } | Self::Laid { offsets, .. } => *offsets,
            _ => true,
        }
    }
}

impl Element {
    /// A branch of whole objects of a class. The checksum is that of a collection, which follows from its name alone.
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
    /// A branch of `std::string`. Without this kind, C++ ROOT copies the branch as a parent without entries of its own.
    pub(super) fn text() -> Self {
        Self { checksum: 0x6e6f_1604, version: 2, kind: -1, ..Self::whole(TEXT) }
    }

    /// Whether it is a branch of `std::string`.
    pub(super) fn is_text(&self) -> bool {
        self.class == TEXT
    }
}

/// The kind of a branch of a divided collection.
pub(super) const COLLECTION: i32 = 4;
/// The number in the place of a member's, of a branch of whole objects or collections.
pub(super) const WHOLE_ID: i32 = -1;
/// How ROOT spells `std::string`.
const TEXT: &str = "string";

/// The version that ROOT gives to collections.
const VECTOR_VERSION: i16 = 6;

impl Leaf {
    /// A leaf of one number or value in each entry, which no other counts.
    pub(super) fn new(name: &str, title: &str, kind: LeafKind) -> Self {
        Self { name: name.into(), title: title.into(), kind, len: 1, counter: None, counts: false }
    }

    /// The leaf of a branch of whole objects.
    pub(super) fn element(name: &str) -> Self {
        Self::new(name, name, LeafKind::Element { id: WHOLE_ID, kind: -1, size: 0 })
    }
}

impl Branch {
    /// A branch without anything in it.
    pub(super) fn new(name: &str, title: &str) -> Self {
        Self { name: name.into(), title: title.into(), ..Self::default() }
    }

    /// A branch of objects of a class, with the leaf that such branches have.
    pub(super) fn of_class(name: &str, class: Element) -> Self {
        Self { class: Some(class), leaf: Some(Leaf::element(name)), ..Self::new(name, name) }
    }
}

/// What a class of leaves is.
#[derive(Clone, Copy, Debug)]
pub(super) struct LeafFacts {
    pub(super) class: &'static str,
    /// The letter in the title of a branch.
    pub(super) letter: char,
    pub(super) version: i16,
    /// Bytes of a number in memory.
    pub(super) size: u32,
    /// Bytes of a number in the file.
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
