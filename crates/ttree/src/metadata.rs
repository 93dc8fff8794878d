//! The tree's own record: the members of trees, branches and leaves that reading needs.

use std::ops::Range;

use forthwith_plan::{Error, Field, FriendName, Result};

use crate::baskets::BasketRef;
use crate::copy::REFERENCES;
use forthwith_root::{Items, Object, Objects, Value, text};

/// Metadata of a tree.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TreeInfo {
    /// Title of the tree.
    pub title: String,
    /// Number of entries.
    pub entries: u64,
    /// Size of all baskets in bytes, decompressed.
    pub total_bytes: u64,
    /// Size of all baskets in bytes, as stored.
    pub zip_bytes: u64,
    /// Weight of each entry in `TTree::Draw`.
    pub weight: f64,
    /// Interval of flushes: a number of entries, or if negative, a number of bytes.
    pub auto_flush: i64,
    /// Ranges of entries with clusters of one size: the entry after the range, and the size. Clusters after
    /// the last range have `auto_flush` entries, if that is positive.
    pub cluster_ranges: Vec<(u64, u64)>,
    /// Names for expressions, with the expressions.
    pub aliases: Vec<(String, String)>,
    /// Friend trees, whose entries are joined with those of this tree.
    pub friends: Vec<FriendName>,
}

impl TreeInfo {
    /// Returns the boundaries of clusters, from 0 to the number of entries, as far as the record has them.
    ///
    /// A cluster is a range of entries whose baskets were written together.
    #[must_use]
    pub fn clusters(&self) -> Vec<u64> {
        let mut borders = vec![0];
        let mut begin = 0;
        let last = (self.entries, u64::try_from(self.auto_flush).unwrap_or(0));
        for &(end, size) in self.cluster_ranges.iter().chain([&last]) {
            let end = end.min(self.entries);
            if end <= begin {
                continue;
            }
            if size > 0 && (end - begin).div_ceil(size) <= MAX_CLUSTERS {
                borders.extend((begin..end).step_by(size.try_into().unwrap_or(usize::MAX)).skip(1));
            }
            borders.push(end);
            begin = end;
        }
        borders
    }
}

/// The tree's record, and the fields of its branches.
#[derive(Debug)]
pub(super) struct Metadata {
    pub(super) info: TreeInfo,
    pub(super) fields: Vec<Field>,
    pub(super) objects: Objects,
    /// For each field its branch, as an index of `objects`.
    branches: Vec<u32>,
    /// Whether entry offsets may have been left out in all branches.
    generates_offsets: bool,
    /// Field of the branch of references to objects.
    references: Field,
}

/// A branch.
#[derive(Clone, Debug)]
pub(super) struct Branch<'t> {
    pub(super) field: &'t Field,
    pub(super) class: &'t str,
    pub(super) entries: u64,
    pub(super) first_entry: u64,
    /// One past the last entry.
    pub(super) entry_number: u64,
    pub(super) total_bytes: u64,
    pub(super) zip_bytes: u64,
    pub(super) entry_offset_len: i64,
    pub(super) write_basket: u64,
    /// Whether entry offsets may have been left out.
    pub(super) generates_offsets: bool,
    pub(super) file_name: String,
    /// Class or member of the values, if the branch has objects or members of them.
    pub(super) member: Option<MemberOf>,
    pub(super) object: Object<'t>,
    /// End of the entries and the baskets that were written after the tree was saved.
    pub(super) unsaved: Option<(u64, &'t [BasketRef])>,
}

/// Class member of a branch.
#[derive(Clone, Debug)]
pub(super) struct MemberOf {
    /// Class that has the member, or class of the whole object.
    pub(super) class: String,
    pub(super) version: i32,
    pub(super) checksum: u32,
    /// Index of the member in the class; -1 for the whole object, -2 if that was split.
    pub(super) id: i64,
    /// Kind of branch: -1 and 0 plain, 1 base, 2 split member, 3 and 4 counts of collections, 31 and 41
    /// members of their items.
    pub(super) kind: i64,
    /// Type code of the member.
    pub(super) code: i64,
    /// Class of the items of a `TClonesArray`.
    pub(super) items: String,
}

/// A leaf: a number, an array of numbers or a string in each entry.
#[derive(Clone, Debug)]
pub(super) struct Leaf<'t> {
    pub(super) class: &'t str,
    pub(super) name: String,
    pub(super) title: String,
    /// Number of values in an entry, or in an item if the leaf has a counter.
    pub(super) len: i64,
    pub(super) unsigned: bool,
    /// Offset of the leaf in the payload.
    pub(super) place: usize,
    /// Offset of the leaf that counts the items.
    pub(super) counter: Option<usize>,
}

impl Metadata {
    /// Parses the tree's record.
    pub(super) fn of(objects: Objects) -> Result<Self> {
        let tree = objects.top().readable()?;
        let info = TreeInfo {
            title: tree.text("fTitle").unwrap_or_default(),
            entries: count(tree, "fEntries"),
            total_bytes: count(tree, "fTotBytes"),
            zip_bytes: count(tree, "fZipBytes"),
            weight: tree.float("fWeight").unwrap_or(1.0),
            auto_flush: tree.int("fAutoFlush").unwrap_or(0),
            cluster_ranges: cluster_ranges(tree),
            aliases: aliases(tree)?,
            friends: friends(tree)?,
        };
        let mut branches =
            Branches { fields: Vec::new(), numbers: Vec::new(), seen: vec![false; objects.len()] };
        branches.add(tree.list("fBranches"), None, 0)?;
        let Branches { fields, numbers, .. } = branches;
        let generates_offsets = generates_offsets(tree);
        let references = Field::named(REFERENCES, "");
        Ok(Self { info, fields, branches: numbers, generates_offsets, references, objects })
    }

    /// Returns the branch of a field as an object of the record.
    pub(super) fn branch_object(&self, field: u32) -> Option<Object<'_>> {
        self.objects.object(*self.branches.get(field as usize)?)
    }

    /// Returns the branch of references to objects, which is not among the fields.
    pub(super) fn references(&self) -> Option<Branch<'_>> {
        let object = self.objects.top().object("fBranchRef")?;
        Some(Branch::new(object, &self.references))
    }

    /// Returns which fields are needed for the wanted ones: these, their parents, and the counters of their
    /// items. A wanted field without wanted children includes all of its children.
    pub(super) fn needed(&self, is_wanted: &dyn Fn(&str) -> bool) -> Result<Vec<bool>> {
        let mut needed: Vec<bool> = self.fields.iter().map(|field| is_wanted(&field.path)).collect();
        let parent =
            |at: usize| self.fields[at].parent.map(|parent| parent as usize).filter(|&parent| parent < at);
        let mut divided = vec![false; needed.len()];
        for at in (0..needed.len()).rev() {
            if let Some(parent) = parent(at) {
                divided[parent] |= needed[at] || divided[at];
            }
        }
        let mut whole: Vec<bool> =
            needed.iter().zip(&divided).map(|(needed, divided)| *needed && !divided).collect();
        for at in 0..needed.len() {
            whole[at] |= parent(at).is_some_and(|parent| whole[parent]);
            needed[at] |= whole[at];
        }
        let owners: std::collections::HashMap<usize, u32> = self.leaf_places().collect();
        let mut waiting: Vec<u32> = (0..).zip(&needed).filter(|(_, on)| **on).map(|(at, _)| at).collect();
        while let Some(field) = waiting.pop() {
            let Some(branch) = self.branch(field) else { continue };
            let counters = branch.leaves()?.into_iter().filter_map(|leaf| leaf.counter);
            let named = [self.named_by(&branch, "fBranchCount"), self.named_by(&branch, "fBranchCount2")];
            let counters = counters.filter_map(|place| owners.get(&place).copied());
            for more in counters.chain(named.into_iter().flatten()).chain(branch.field.parent) {
                if let Some(known) = needed.get_mut(more as usize).filter(|known| !**known) {
                    *known = true;
                    waiting.push(more);
                }
            }
        }
        Ok(needed)
    }

    /// Returns the branch to which a member of a branch's record points.
    fn named_by(&self, branch: &Branch<'_>, member: &str) -> Option<u32> {
        let at = match branch.object.member(member)? {
            Value::Object(counter) => self.branches.iter().position(|&of| of == counter.number()),
            Value::Elsewhere(place) => self.branch_places().position(|(begin, _)| begin == place),
            _ => None,
        };
        at.map(|at| at as u32)
    }

    /// Returns the branch with the number of items of the collection of which a branch is a member.
    pub(super) fn items_of(&self, branch: &Branch<'_>) -> Option<u32> {
        self.named_by(branch, "fBranchCount")
    }

    /// Returns the branch that counts the items of another, by the pointer in its record or by the name of
    /// the counter.
    pub(super) fn counts_of(&self, branch: &Branch<'_>, member: &str) -> Option<u32> {
        let beside = || {
            // The counter is in the same collection, and its name has the same prefix.
            let name = branch.field.name.split('[').next().unwrap_or_default();
            let (before, _) = name.rsplit_once('.').unwrap_or_default();
            let is_counter = |field: &Field| {
                let name = field.name.split('[').next().unwrap_or_default();
                field.parent == branch.field.parent
                    && name.rsplit_once('.').map_or(name == member, |(b, name)| b == before && name == member)
            };
            self.fields.iter().position(is_counter).map(|at| at as u32)
        };
        self.named_by(branch, "fBranchCount2").or_else(beside)
    }

    /// Returns the branch of a field.
    pub(super) fn branch(&self, field: u32) -> Option<Branch<'_>> {
        let mut branch = Branch::new(self.branch_object(field)?, self.fields.get(field as usize)?);
        branch.generates_offsets |= self.generates_offsets;
        Some(branch)
    }

    /// Returns the offset of each branch in the record, with its field.
    pub(super) fn branch_places(&self) -> impl Iterator<Item = (usize, u32)> {
        let branches = self.branches.iter().filter_map(|&number| self.objects.object(number));
        branches.map(|branch| branch.range().start).zip(0..)
    }

    /// Returns the offset of each leaf in the record, with the field of its branch.
    pub(super) fn leaf_places(&self) -> impl Iterator<Item = (usize, u32)> {
        let branches = self.branches.iter().filter_map(|&number| self.objects.object(number));
        (0..).zip(branches).flat_map(|(field, branch)| {
            branch.list("fLeaves").flatten().map(move |leaf| (leaf.range().start, field))
        })
    }
}

/// Branches found so far.
struct Branches {
    fields: Vec<Field>,
    numbers: Vec<u32>,
    /// Whether each object is a branch already. In valid files, no list repeats one.
    seen: Vec<bool>,
}

impl Branches {
    fn add(&mut self, list: Items<'_>, parent: Option<u32>, depth: usize) -> Result<()> {
        if depth > MAX_DEPTH {
            return Err(Error::out_of_range("depth of branches", depth, MAX_DEPTH));
        }
        for branch in list.flatten() {
            match self.seen.get_mut(branch.number() as usize) {
                Some(seen) if !*seen => *seen = true,
                _ => continue,
            }
            let class = branch.class();
            let (name, title) = match class {
                "TBranchClones" => hand_written(branch)?,
                _ if class.starts_with("TBranch") => {
                    let member = |name| branch.text(name).unwrap_or_default();
                    branch.readable()?;
                    (member("fName"), member("fTitle"))
                }
                _ => return Err(Error::not_a("a branch", class)),
            };
            let path = match parent.and_then(|parent| self.fields.get(parent as usize)) {
                Some(parent) => format!("{}/{name}", parent.path),
                None => name.to_string(),
            };
            let index = self.fields.len();
            self.fields.push(Field {
                path,
                name,
                title,
                parent,
                has_children: false,
                has_data: false,
                is_part: false,
            });
            self.numbers.push(branch.number());
            self.add(branch.list("fBranches"), Some(index as u32), depth + 1)?;
            let has_children = self.fields.len() > index + 1;
            self.fields[index].has_children = has_children;
            self.fields[index].has_data = !has_children || has_data_beside_children(branch);
        }
        Ok(())
    }
}

/// Returns the name and title of a `TBranchClones`. The class has a custom streamer, and no other member can
/// be read.
fn hand_written(branch: Object<'_>) -> Result<(String, String)> {
    let mut cursor = branch.cursor()?;
    cursor.frame()?;
    let (name, title) = cursor.tnamed()?;
    Ok((text(name), text(title)))
}

/// Returns whether a branch with children has baskets of its own.
fn has_data_beside_children(branch: Object<'_>) -> bool {
    match branch.class() {
        // Only the counts of collections.
        "TBranchElement" | "TBranchObject" => matches!(branch.int("fType"), Some(3 | 4)),
        _ => count(branch, "fWriteBasket") > 0,
    }
}

impl<'t> Branch<'t> {
    fn new(object: Object<'t>, field: &'t Field) -> Self {
        let class = object.class();
        let member = matches!(class, "TBranchElement" | "TBranchObject").then(|| MemberOf {
            class: object.text("fClassName").unwrap_or_default(),
            version: object.int("fClassVersion").unwrap_or(0) as i32,
            checksum: object.int("fCheckSum").unwrap_or(0) as u32,
            id: object.int("fID").unwrap_or(-1),
            kind: object.int("fType").unwrap_or(-1),
            code: object.int("fStreamerType").unwrap_or(-1),
            items: object.text("fClonesName").unwrap_or_default(),
        });
        Self {
            field,
            class,
            entries: count(object, "fEntries"),
            first_entry: count(object, "fFirstEntry"),
            entry_number: count(object, "fEntryNumber"),
            total_bytes: count(object, "fTotBytes"),
            zip_bytes: count(object, "fZipBytes"),
            entry_offset_len: object.int("fEntryOffsetLen").unwrap_or(0),
            write_basket: count(object, "fWriteBasket"),
            generates_offsets: generates_offsets(object),
            file_name: object.text("fFileName").unwrap_or_default(),
            member,
            object,
            unsaved: None,
        }
    }

    /// Returns one past the branch's last entry.
    pub(super) fn end(&self) -> u64 {
        self.unsaved.map_or_else(|| self.saved_end(), |(end, _)| end)
    }

    /// Returns the number of entries.
    pub(super) fn entry_count(&self) -> u64 {
        self.unsaved.map_or(self.entries, |(end, _)| end.saturating_sub(self.first_entry))
    }

    /// Returns one past the last entry in the branch's record.
    pub(super) fn saved_end(&self) -> u64 {
        match self.entry_number {
            // A branch that only groups others does not set it.
            0 => self.first_entry.saturating_add(self.entries),
            end => end,
        }
    }

    /// Returns the branch's leaves.
    pub(super) fn leaves(&self) -> Result<Vec<Leaf<'t>>> {
        self.object.list("fLeaves").flatten().map(Leaf::new).collect()
    }

    /// Returns the elements of an array of integers, such as `fBasketEntry`, the first entry of each basket,
    /// which has one element more than there are flushed baskets except in old files; `fBasketSeek`, their
    /// offsets in the file; or `fBasketBytes`, their lengths.
    pub(super) fn integers(&self, name: &str) -> impl Iterator<Item = i64> + use<'t> {
        integers(self.object, name)
    }

    /// Returns the baskets in the tree's own record, by index.
    pub(super) fn embedded_baskets(&self) -> Vec<Option<Range<usize>>> {
        let body = |basket: Option<Object<'_>>| Some(basket.filter(|b| b.class() == "TBasket")?.body());
        self.object.list("fBaskets").map(body).collect()
    }
}

impl<'t> Leaf<'t> {
    fn new(leaf: Object<'t>) -> Result<Self> {
        let class = leaf.class();
        if !class.starts_with("TLeaf") {
            return Err(Error::not_a("a leaf", class));
        }
        leaf.readable()?;
        Ok(Self {
            class,
            place: leaf.range().start,
            name: leaf.text("fName").unwrap_or_default(),
            title: leaf.text("fTitle").unwrap_or_default(),
            // 0 is written for 1.
            len: match leaf.int("fLen").unwrap_or(1) {
                0 => 1,
                len => len,
            },
            unsigned: leaf.int("fIsUnsigned").unwrap_or(0) != 0,
            counter: match leaf.member("fLeafCount") {
                Some(Value::Object(counter)) => Some(counter.range().start),
                Some(Value::Elsewhere(position)) => Some(position),
                _ => None,
            },
        })
    }
}

/// Returns a count or length, and 0 if it is negative or the version lacks it.
fn count(object: Object<'_>, name: &str) -> u64 {
    object.int(name).and_then(|value| u64::try_from(value).ok()).unwrap_or(0)
}

/// Returns the elements of an array of integers.
fn integers<'t>(object: Object<'t>, name: &str) -> impl Iterator<Item = i64> + use<'t> {
    object.array(name).into_iter().flat_map(|array| array.ints())
}

fn generates_offsets(object: Object<'_>) -> bool {
    let bits = object.object("fIOFeatures").and_then(|features| features.int("fIOBits"));
    bits.unwrap_or(0) & GENERATE_OFFSETS != 0
}

fn cluster_ranges(tree: Object<'_>) -> Vec<(u64, u64)> {
    // The file has the last entry of each range.
    let ends =
        integers(tree, "fClusterRangeEnd").map(|end| u64::try_from(end).unwrap_or(0).saturating_add(1));
    let sizes = integers(tree, "fClusterSize").map(|size| u64::try_from(size).unwrap_or(0));
    ends.zip(sizes).collect()
}

/// Returns the objects of one class in a list of the tree.
fn listed<'t>(tree: Object<'t>, list: &str, class: &str) -> Result<Vec<Object<'t>>> {
    let list = tree.object(list).filter(|list| list.class() == "TList");
    let Some(list) = list else { return Ok(Vec::new()) };
    let items = list.readable()?.items().flatten().filter(|item| item.class() == class);
    items.map(Object::readable).collect()
}

fn aliases(tree: Object<'_>) -> Result<Vec<(String, String)>> {
    let pair = |item: Object<'_>| {
        let text = |name| item.text(name).unwrap_or_default();
        (text("fName"), text("fTitle"))
    };
    Ok(listed(tree, "fAliases", "TNamed")?.into_iter().map(pair).collect())
}

fn friends(tree: Object<'_>) -> Result<Vec<FriendName>> {
    let friend = |item: Object<'_>| {
        let name = item.text("fName").unwrap_or_default();
        let path = item.text("fTreeName").filter(|path| !path.is_empty()).unwrap_or_else(|| name.clone());
        FriendName { name, file: item.text("fTitle").unwrap_or_default(), path }
    };
    Ok(listed(tree, "fFriends", "TFriendElement")?.into_iter().map(friend).collect())
}

/// I/O feature bit: entry offsets may be left out.
const GENERATE_OFFSETS: i64 = 1;
/// Maximum depth of nested branches.
const MAX_DEPTH: usize = 100;
/// Maximum number of clusters in a range; a range with more is treated as one cluster.
const MAX_CLUSTERS: u64 = 1 << 24;
