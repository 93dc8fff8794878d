//! Record of a tree, which describes all but its baskets.

use super::{
    TreeOptions, UserInfo,
    branch::{COLLECTION, Element, Leaf, LeafKind, WHOLE_ID},
    index::Index,
    mapping::Branches,
};
use crate::copy::Grown;
use forthwith_columns::DType;
use forthwith_root::{
    code,
    write::{Buffer, Compression},
};
use std::{collections::HashMap, iter};

/// ROOT's classes in the record of a tree.
pub(super) const CLASSES: [&str; 16] = [
    "TTree",
    "TBranch",
    "TBranchElement",
    "TLeafElement",
    "TLeafO",
    "TLeafB",
    "TLeafS",
    "TLeafI",
    "TLeafL",
    "TLeafF",
    "TLeafD",
    "TLeafF16",
    "TLeafD32",
    "TLeafC",
    "TNamed",
    "TList",
];

/// Contents of the record.
#[derive(Debug)]
pub(super) struct Summary<'a> {
    pub(super) name: &'a str,
    pub(super) options: &'a TreeOptions,
    pub(super) branches: &'a Branches,
    pub(super) children: Children,
    pub(super) filled: &'a [Grown],
    pub(super) entries: u64,
    /// Last entry and cluster size of each run of clusters of one size, except the last run.
    pub(super) ranges: &'a [(u64, u64)],
    pub(super) cluster: u64,
    /// Compression of branches without a setting of their own.
    pub(super) compression: Compression,
    pub(super) index: Option<&'a Index>,
}

/// Status bit of a named object: `kMustCleanup`.
const MUST_CLEANUP: u32 = 8;
/// `kDoNotUseBufferMap`: entries hold no pointers.
const NO_POINTERS: u32 = 0x40_0000;
/// `kBranchAny`: a split object or collection of a class that need not be a `TObject`.
const ANY_CLASS: u32 = 0x2_0000;
/// `kIsOwner` of a list.
const OWNER: u32 = 0x4000;
/// Minimum capacity of a branch's basket arrays.
const FEWEST_BASKETS: usize = 10;
/// Split level of split objects and collections.
const SPLIT_LEVEL: i32 = 99;
/// Minimum `fEntryOffsetLen`: ROOT's default.
const OFFSETS: u64 = 1000;
/// Minimum `fBasketSize` of branches: ROOT's default.
const BASKET_SIZE: u64 = 32_000;

/// Offset of each branch's leaf, for references to it.
type Places = Vec<Option<u32>>;

/// Children of each branch, and of the tree itself.
#[derive(Debug)]
pub(super) struct Children(HashMap<Option<usize>, Vec<usize>>);

impl Children {
    pub(super) fn new(branches: &Branches) -> Self {
        let mut children: HashMap<Option<usize>, Vec<usize>> = HashMap::new();
        for (number, branch) in branches.branches.iter().enumerate() {
            children.entry(branch.parent).or_default().push(number);
        }
        Self(children)
    }

    /// Returns the children of a branch, or of the tree itself.
    pub(super) fn of(&self, parent: Option<usize>) -> &[usize] {
        self.0.get(&parent).map_or(&[], Vec::as_slice)
    }

    /// Returns all branches in the order of the record: each before its children.
    pub(super) fn in_order(&self) -> Vec<usize> {
        let mut order = Vec::new();
        let mut waiting: Vec<usize> = self.of(None).iter().rev().copied().collect();
        while let Some(branch) = waiting.pop() {
            order.push(branch);
            waiting.extend(self.of(Some(branch)).iter().rev());
        }
        order
    }
}

impl Summary<'_> {
    /// Returns the classes of optional parts of the record.
    pub(super) fn more_classes(&self) -> impl Iterator<Item = &'static str> {
        let index = self.index.map(|_| "TVirtualIndex");
        let info = self.options.user_info.iter().filter_map(|(_, value)| match value {
            UserInfo::Text(_) => None,
            UserInfo::Whole(_) => Some(WHOLE),
            UserInfo::Real(_) => Some(REAL),
        });
        index.into_iter().chain(info)
    }

    /// Writes a `TTree` with its byte count.
    pub(super) fn write(&self, b: &mut Buffer) {
        let mut leaves: Places = vec![None; self.branches.branches.len()];
        let mut places: Places = vec![None; self.branches.branches.len()];
        let (total, stored) = self
            .filled
            .iter()
            .fold((0, 0), |(total, stored), branch| (total + branch.total, stored + branch.stored));
        b.frame(20, |b| {
            b.tnamed(MUST_CLEANUP, self.name, &self.options.title);
            b.frame(2, |b| [602, 1, 1].into_iter().for_each(|value| b.i16(value)));
            fill(b);
            b.frame(3, |b| {
                [1, 1].into_iter().for_each(|value| b.i16(value));
                b.f32(1.0);
            });
            for value in [self.entries, total, stored, 0, stored] {
                b.i64(value as i64);
            }
            b.f64(1.0);
            [0, 25, 0, 1000].into_iter().for_each(|value| b.i32(value));
            b.i32(self.ranges.len() as i32);
            let most = 1_000_000_000_000;
            let cluster = if self.entries == 0 { -30_000_000 } else { self.cluster as i64 };
            for value in [most, most, 0, -300_000_000, cluster, 1_000_000] {
                b.i64(value);
            }
            b.u8(u8::from(!self.ranges.is_empty()));
            self.ranges.iter().for_each(|(last, _)| b.i64(*last as i64));
            b.u8(u8::from(!self.ranges.is_empty()));
            self.ranges.iter().for_each(|(_, size)| b.i64(*size as i64));
            io_features(b);
            let top = self.children.of(None);
            b.tobjarray(OWNER, top.len(), |b, at| self.branch(b, top[at], &mut places, &mut leaves));
            let held: Vec<u32> =
                self.children.in_order().into_iter().filter_map(|branch| leaves[branch]).collect();
            b.tobjarray(0, held.len(), |b, at| b.reference(held[at]));
            self.aliases(b);
            b.i32(0); // fIndexValues
            b.i32(0); // fIndex
            match self.index {
                Some(index) => index.write(b, self.branches),
                None => b.null(),
            }
            b.null(); // fFriends
            self.user_info(b);
            b.null(); // fBranchRef
        });
    }

    /// Writes the branches as items of a list, and returns the offsets of their leaves.
    pub(super) fn write_branches(&self, b: &mut Buffer) -> Vec<u32> {
        let mut leaves: Places = vec![None; self.branches.branches.len()];
        let mut places = leaves.clone();
        for &branch in self.children.of(None) {
            self.branch(b, branch, &mut places, &mut leaves);
        }
        self.children.in_order().into_iter().filter_map(|branch| leaves[branch]).collect()
    }

    fn aliases(&self, b: &mut Buffer) {
        list(b, "", &self.options.aliases, |b, (name, formula)| {
            b.object("TNamed", |b| b.tnamed(0, name, formula));
        });
    }

    fn user_info(&self, b: &mut Buffer) {
        list(b, "UserInfo", &self.options.user_info, |b, (name, value)| match value {
            UserInfo::Text(text) => drop(b.object("TNamed", |b| b.tnamed(0, name, text))),
            UserInfo::Whole(value) => parameter(b, WHOLE, name, |b| b.i64(*value)),
            UserInfo::Real(value) => parameter(b, REAL, name, |b| b.f64(*value)),
        });
    }

    fn branch(&self, b: &mut Buffer, number: usize, places: &mut Places, leaves: &mut Places) {
        let branch = &self.branches.branches[number];
        let class = if branch.class.is_some() { "TBranchElement" } else { "TBranch" };
        // Child branches refer to this one while it is written.
        places[number] = Some(b.origin() + b.bytes().len() as u32 + 2);
        b.object(class, |b| match &branch.class {
            None => self.plain(b, number, places, leaves),
            Some(element) => b.frame(10, |b| {
                self.plain(b, number, places, leaves);
                self.element(b, element, number, places);
            }),
        });
    }

    /// Writes the members of a `TBranchElement` beyond those of `TBranch`.
    fn element(&self, b: &mut Buffer, element: &Element, number: usize, places: &Places) {
        // Branches of collections have the largest count.
        let largest = if element.kind == COLLECTION { self.filled[number].largest } else { 0 };
        b.string(&element.class);
        b.string(&element.parent);
        b.string(&element.clones);
        b.u32(element.checksum);
        b.i16(element.version);
        b.i32(element.id);
        b.i32(element.kind);
        b.i32(element.streamer_type);
        b.i32(largest.min(i32::MAX as u64) as i32);
        match element.count.and_then(|count| places[count]) {
            Some(place) => b.reference(place),
            None => b.null(),
        }
        b.null();
    }

    fn plain(&self, b: &mut Buffer, number: usize, places: &mut Places, leaves: &mut Places) {
        let (branch, filled) = (&self.branches.branches[number], &self.filled[number]);
        let baskets = filled.baskets.len();
        // A branch that only groups others has the default.
        let has_offsets =
            branch.source.as_ref().map_or(branch.class.is_some(), |source| source.stored.has_offsets());
        let children = self.children.of(Some(number));
        let is_divided = branch.parent.is_none() && !children.is_empty();
        let largest = filled.baskets.iter().map(|basket| u64::from(basket.bytes)).max().unwrap_or(0);
        b.frame(13, |b| {
            b.tnamed(NO_POINTERS | if is_divided { ANY_CLASS } else { 0 }, &branch.name, &branch.title);
            fill(b);
            b.i32(branch.compression.unwrap_or(self.compression).setting());
            b.i32(largest.max(BASKET_SIZE).min(i32::MAX as u64) as i32);
            b.i32(if has_offsets { OFFSETS.max(2 * self.cluster).min(1 << 28) as i32 } else { 0 });
            b.i32(baskets as i32);
            // Branches with baskets have the number of entries.
            let own_entries = if branch.source.is_some() { filled.entries } else { 0 };
            b.i64(own_entries as i64);
            io_features(b);
            b.i32(0);
            let room = (baskets + 1).max(FEWEST_BASKETS);
            b.i32(room as i32);
            b.i32(self.split_level(number));
            for value in [filled.entries, 0, filled.total, filled.stored] {
                b.i64(value as i64);
            }
            b.tobjarray(OWNER, children.len(), |b, at| self.branch(b, children[at], places, leaves));
            match &branch.leaf {
                None => b.tobjarray(OWNER, 0, |_, _| {}),
                Some(leaf) => b.tobjarray(OWNER, 1, |b, _| match leaves[number] {
                    Some(known) => b.reference(known),
                    None => self.leaf(b, number, leaf, leaves),
                }),
            }
            let slots = if branch.source.is_some() { baskets + 1 } else { 0 };
            b.tobjarray(OWNER, slots, |b, _| b.null());
            let padding = room - baskets;
            b.u8(1);
            filled.baskets.iter().for_each(|basket| b.u32(basket.bytes));
            (0..padding).for_each(|_| b.i32(0));
            b.u8(1);
            filled.baskets.iter().for_each(|basket| b.i64(basket.entry as i64));
            b.i64(own_entries as i64);
            (1..padding).for_each(|_| b.i64(0));
            b.u8(1);
            filled.baskets.iter().for_each(|basket| b.i64(basket.position as i64));
            (0..padding).for_each(|_| b.i64(0));
            b.string("");
        });
    }

    /// Returns `fSplitLevel` of a branch, which ROOT decrements with depth.
    fn split_level(&self, number: usize) -> i32 {
        let branch = &self.branches.branches[number];
        let Some(element) = &branch.class else { return 0 };
        let depth =
            iter::successors(branch.parent, |&parent| self.branches.branches[parent].parent).count() as i32;
        let is_divided = !self.children.of(Some(number)).is_empty();
        let parent = branch.parent.and_then(|parent| self.branches.branches[parent].class.as_ref());
        match parent {
            None if element.is_text() => 0,
            None => SPLIT_LEVEL,
            Some(_) if is_divided => SPLIT_LEVEL - depth,
            Some(parent)
                if depth == 1 && parent.kind != COLLECTION && element.streamer_type < code::OBJECT =>
            {
                SPLIT_LEVEL - depth
            }
            Some(_) => 0,
        }
    }

    /// Writes a leaf, and within it the leaf of its counter unless that was written before.
    fn leaf(&self, b: &mut Buffer, number: usize, leaf: &Leaf, leaves: &mut Places) {
        let largest = self.filled[number].largest;
        let facts = leaf.kind.facts();
        let is_unsigned = matches!(leaf.kind, LeafKind::Number(_)) && facts.letter.is_ascii_lowercase();
        let place = b.object(facts.class, |b| {
            b.frame(facts.version, |b| {
                b.frame(2, |b| {
                    b.tnamed(0, &leaf.name, &leaf.title);
                    let len =
                        if leaf.kind == LeafKind::Characters { longest(largest) } else { leaf.len as i32 };
                    b.i32(len);
                    b.u32(facts.size);
                    b.i32(0);
                    // ROOT sets this for counters of members, but not for those of whole collections.
                    b.bool(leaf.counts && !matches!(leaf.kind, LeafKind::Element { id: WHOLE_ID, .. }));
                    b.bool(is_unsigned);
                    match leaf.counter {
                        None => b.null(),
                        Some(counter) => match (leaves[counter], &self.branches.branches[counter].leaf) {
                            (Some(known), _) => b.reference(known),
                            (None, Some(leaf)) => self.leaf(b, counter, leaf, leaves),
                            (None, None) => b.null(),
                        },
                    }
                });
                leaf.extremes(b, largest);
            });
        });
        leaves[number] = Some(place);
    }
}

impl Leaf {
    /// Writes the smallest and largest value, which only counters and strings have, as in ROOT.
    fn extremes(&self, b: &mut Buffer, largest: u64) {
        match self.kind {
            LeafKind::Element { id, kind, .. } => {
                b.i32(id);
                b.i32(kind);
            }
            LeafKind::Characters => {
                b.i32(0);
                b.i32(longest(largest));
            }
            LeafKind::Number(DType::Int32) if self.counts => {
                b.i32(0);
                b.i32(largest.min(i32::MAX as u64) as i32);
            }
            kind => (0..2 * kind.facts().stored).for_each(|_| b.u8(0)),
        }
    }
}

/// Returns the capacity for the longest string and its terminating NUL.
fn longest(largest: u64) -> i32 {
    largest.saturating_add(1).min(i32::MAX as u64) as i32
}

/// Writes a list of the tree, or null if it is empty.
fn list<T>(b: &mut Buffer, name: &str, items: &[T], each: impl Fn(&mut Buffer, &T)) {
    match items {
        [] => b.null(),
        _ => drop(b.object("TList", |b| b.tlist(name, items.len(), |b, at| each(b, &items[at])))),
    }
}

fn fill(b: &mut Buffer) {
    b.frame(2, |b| {
        b.i16(0);
        b.i16(1001);
    });
}

/// Writes an empty `ROOT::TIOFeatures`, a class without a version.
fn io_features(b: &mut Buffer) {
    b.unversioned(0x1aa1_2f10, |b| b.u8(0));
}

const WHOLE: &str = "TParameter<Long64_t>";
const REAL: &str = "TParameter<double>";

/// Writes a `TParameter` with its value.
fn parameter(b: &mut Buffer, class: &str, name: &str, value: impl FnOnce(&mut Buffer)) {
    b.object(class, |b| {
        b.frame(2, |b| {
            b.tobject(0, 0);
            b.string(name);
            value(b);
        });
    });
}
