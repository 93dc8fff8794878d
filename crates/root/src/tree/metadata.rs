//! The tree's own record: the tree, its branches and their leaves.

use forthwith_plan::{Error, ErrorKind, Result};

use super::layout::{Layouts, ObjArray, Slot, Value, Values};
use crate::{Cursor, Tag, streamer::Streamers, text};

/// What a tree says of itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TreeInfo {
    /// Its title.
    pub title: String,
    /// Number of entries.
    pub entries: u64,
    /// Bytes of all baskets when decompressed.
    pub total_bytes: u64,
    /// Bytes of all baskets as stored.
    pub zip_bytes: u64,
    /// The weight that `TTree::Draw` gives each entry.
    pub weight: f64,
    /// When baskets were flushed: after that many entries, or minus that many bytes.
    pub auto_flush: i64,
    /// Ranges of entries with clusters of one size: the entry behind the range, and the size. What follows the last one
    /// has clusters of `auto_flush` entries, if that is positive.
    pub cluster_ranges: Vec<(u64, u64)>,
    /// Names for expressions, and the expressions.
    pub aliases: Vec<(String, String)>,
}

impl TreeInfo {
    /// The entries at which clusters begin and end, as far as the tree says so: from 0 to the number of entries.
    ///
    /// Clusters are the runs of entries whose baskets were written together.
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

/// A branch.
#[derive(Clone, Debug)]
pub(super) struct Branch {
    pub(super) name: Box<str>,
    pub(super) title: Box<str>,
    pub(super) parent: Option<u32>,
    pub(super) has_children: bool,
    pub(super) class: Box<str>,
    pub(super) entries: u64,
    pub(super) first_entry: u64,
    /// One past the last entry.
    pub(super) entry_number: u64,
    pub(super) total_bytes: u64,
    pub(super) zip_bytes: u64,
    pub(super) entry_offset_len: i64,
    pub(super) write_basket: u64,
    /// Entry offsets may have been left out.
    pub(super) generates_offsets: bool,
    pub(super) file_name: Box<str>,
    pub(super) leaves: Value,
    pub(super) baskets: Value,
    pub(super) basket_bytes: Value,
    pub(super) basket_entry: Value,
    pub(super) basket_seek: Value,
    /// For a branch that holds an object or a member of one: which.
    pub(super) member: Option<Box<MemberOf>>,
}

/// Which part of which class a branch holds.
#[derive(Clone, Debug)]
pub(super) struct MemberOf {
    /// The class whose member it is, or of the whole object.
    pub(super) class: Box<str>,
    pub(super) version: i32,
    pub(super) checksum: u32,
    /// Position among the class's members; -1 for the whole object, -2 if that was split.
    pub(super) id: i64,
    /// Kind of branch: -1 and 0 plain, 1 base, 2 split member, 3 and 4 counts of collections, 31 and 41 members of their items.
    pub(super) kind: i64,
    /// The member's type code.
    pub(super) code: i64,
}

/// A leaf: a number, an array of numbers or a string in each entry.
#[derive(Clone, Debug)]
pub(super) struct Leaf {
    pub(super) class: Box<str>,
    pub(super) name: Box<str>,
    pub(super) title: Box<str>,
    /// Values in an entry, or in an item if there is a counter.
    pub(super) len: i64,
    pub(super) unsigned: bool,
    /// Where the leaf stands that counts this one's items.
    pub(super) counter: Option<usize>,
}

/// Everything that the tree's record says at once.
#[derive(Debug)]
pub(super) struct Metadata {
    pub(super) info: TreeInfo,
    pub(super) branches: Vec<Branch>,
}

/// Reads the tree's record.
pub(super) fn parse(payload: &[u8], origin: u32, class: &str, streamers: &Streamers) -> Result<Metadata> {
    let mut reader = Reader { layouts: Layouts::new(streamers), branches: Vec::new() };
    let mut cursor = Cursor::with_origin(payload, origin);
    let tree = reader.layouts.object(&mut cursor, class)?;
    let io_bits = io_bits(&tree.of(Slot::IOFeatures), &cursor)?;
    if let Value::Object { begin } = tree.of(Slot::Branches) {
        let mut cursor = Cursor::with_origin(payload, origin);
        cursor.seek(begin as usize)?;
        reader.branches(&mut cursor, None, 0)?;
    }
    for branch in &mut reader.branches {
        branch.generates_offsets |= io_bits & GENERATE_OFFSETS != 0;
    }
    let info = TreeInfo {
        title: text(tree.text(Slot::Title, payload)).into_owned(),
        entries: tree.count(Slot::Entries),
        total_bytes: tree.count(Slot::TotBytes),
        zip_bytes: tree.count(Slot::ZipBytes),
        weight: match tree.of(Slot::Weight) {
            Value::Real(weight) => weight,
            _ => 1.0,
        },
        auto_flush: tree.int(Slot::AutoFlush).unwrap_or(0),
        cluster_ranges: cluster_ranges(payload, &tree),
        aliases: aliases(payload, origin, tree.of(Slot::Aliases))?,
    };
    Ok(Metadata { info, branches: reader.branches })
}

struct Reader<'c> {
    layouts: Layouts<'c>,
    branches: Vec<Branch>,
}

impl Reader<'_> {
    fn branches(&mut self, cursor: &mut Cursor<'_>, parent: Option<u32>, depth: usize) -> Result<()> {
        if depth > MAX_DEPTH {
            let what = "depth of branches";
            return Err(ErrorKind::OutOfRange { what, found: depth as i64, limit: MAX_DEPTH as i64 }.into());
        }
        let mut array = ObjArray::enter(cursor)?;
        while let Some(tag) = array.next(cursor)? {
            if let Tag::Object { class, end, .. } = tag {
                self.branch(cursor, &text(class), parent, depth)?;
                if let Some(end) = end {
                    cursor.seek(end)?;
                }
            }
        }
        Ok(())
    }

    fn branch(
        &mut self,
        cursor: &mut Cursor<'_>,
        class: &str,
        parent: Option<u32>,
        depth: usize,
    ) -> Result<()> {
        let (data, origin) = (cursor.data(), cursor.origin());
        let index = self.branches.len() as u32;
        if class == "TBranchClones" {
            // It writes its members by hand. Nothing of it can be read, but it has a name.
            let frame = cursor.frame()?;
            let (name, title) = cursor.tnamed()?;
            self.branches.push(Branch::unreadable(&text(name), &text(title), class, parent));
            if frame.end.is_none() {
                return Err(
                    Error::unsupported("a TBranchClones without a length").at_byte(frame.begin as u64)
                );
            }
            cursor.leave(&frame);
            return Ok(());
        }
        let values = self.layouts.object(cursor, class)?;
        let string = |slot| -> Box<str> { text(values.text(slot, data)).into() };
        let entries = values.count(Slot::Entries);
        let first_entry = values.count(Slot::FirstEntry);
        let member = (class == "TBranchElement" || class == "TBranchObject").then(|| {
            Box::new(MemberOf {
                class: string(Slot::ClassName),
                version: values.int(Slot::ClassVersion).unwrap_or(0) as i32,
                checksum: values.int(Slot::CheckSum).unwrap_or(0) as u32,
                id: values.int(Slot::ID).unwrap_or(-1),
                kind: values.int(Slot::Type).unwrap_or(-1),
                code: values.int(Slot::StreamerType).unwrap_or(-1),
            })
        });
        self.branches.push(Branch {
            name: string(Slot::Name),
            title: string(Slot::Title),
            parent,
            has_children: false,
            class: class.into(),
            entries,
            first_entry,
            entry_number: values.count(Slot::EntryNumber),
            total_bytes: values.count(Slot::TotBytes),
            zip_bytes: values.count(Slot::ZipBytes),
            entry_offset_len: values.int(Slot::EntryOffsetLen).unwrap_or(0),
            write_basket: values.count(Slot::WriteBasket),
            generates_offsets: io_bits(&values.of(Slot::IOFeatures), cursor)? & GENERATE_OFFSETS != 0,
            file_name: string(Slot::FileName),
            leaves: values.of(Slot::Leaves),
            baskets: values.of(Slot::Baskets),
            basket_bytes: values.of(Slot::BasketBytes),
            basket_entry: values.of(Slot::BasketEntry),
            basket_seek: values.of(Slot::BasketSeek),
            member,
        });
        if let Value::Object { begin } = values.of(Slot::Branches) {
            let mut inner = Cursor::with_origin(data, origin);
            inner.seek(begin as usize)?;
            self.branches(&mut inner, Some(index), depth + 1)?;
            self.branches[index as usize].has_children = self.branches.len() as u32 > index + 1;
        }
        Ok(())
    }
}

impl Branch {
    /// A branch of which only the name is known.
    fn unreadable(name: &str, title: &str, class: &str, parent: Option<u32>) -> Self {
        Self {
            name: name.into(),
            title: title.into(),
            parent,
            has_children: false,
            class: class.into(),
            entries: 0,
            first_entry: 0,
            entry_number: 0,
            total_bytes: 0,
            zip_bytes: 0,
            entry_offset_len: 0,
            write_basket: 0,
            generates_offsets: false,
            file_name: "".into(),
            leaves: Value::Absent,
            baskets: Value::Absent,
            basket_bytes: Value::Absent,
            basket_entry: Value::Absent,
            basket_seek: Value::Absent,
            member: None,
        }
    }

    /// Whether the entries' bytes are in this branch rather than in those below it.
    pub(super) fn has_data(&self) -> bool {
        match &self.member {
            // Of branches with others below them, only the counts of collections have data.
            Some(member) => !self.has_children || matches!(member.kind, 3 | 4),
            None => !self.has_children || self.write_basket > 0,
        }
    }

    /// Where the branch's leaves stand.
    pub(super) fn leaf_positions(&self, data: &[u8], origin: u32) -> Result<Vec<usize>> {
        let Value::Object { begin } = self.leaves else { return Ok(Vec::new()) };
        let mut cursor = Cursor::with_origin(data, origin);
        cursor.seek(begin as usize)?;
        let mut array = ObjArray::enter(&mut cursor)?;
        let mut found = Vec::new();
        while let Some(tag) = array.next(&mut cursor)? {
            match tag {
                Tag::Object { begin, end: Some(end), .. } => {
                    found.push(begin);
                    cursor.seek(end)?;
                }
                Tag::Object { begin, end: None, .. } => {
                    return Err(Error::unsupported("a leaf without a length").at_byte(begin as u64));
                }
                // A leaf that counts others may have been written with the first of them.
                Tag::Reference(position) => found.push(position),
                _ => {}
            }
        }
        Ok(found)
    }
}

/// Reads the leaf that stands at a position.
pub(super) fn leaf_at(data: &[u8], origin: u32, position: usize, streamers: &Streamers) -> Result<Leaf> {
    let mut cursor = Cursor::with_origin(data, origin);
    cursor.seek(position)?;
    let Tag::Object { class, .. } = cursor.tag()? else {
        let found = "something else".into();
        return Err(Error::new(ErrorKind::NotA { what: "a leaf", found }).at_byte(position as u64));
    };
    let class = text(class);
    if !class.starts_with("TLeaf") {
        let error = ErrorKind::NotA { what: "a leaf", found: class.into_owned() };
        return Err(Error::new(error).at_byte(position as u64));
    }
    let values = Layouts::new(streamers).leaf(&mut cursor)?;
    let counter = match values.of(Slot::LeafCount) {
        Value::Pointer { begin } => {
            let mut there = Cursor::with_origin(data, origin);
            there.seek(begin as usize)?;
            match there.tag()? {
                Tag::Reference(position) => Some(position),
                Tag::Object { begin, .. } => Some(begin),
                _ => None,
            }
        }
        _ => None,
    };
    Ok(Leaf {
        class: (&*class).into(),
        name: text(values.text(Slot::Name, data)).into(),
        title: text(values.text(Slot::Title, data)).into(),
        // Zero means one.
        len: match values.int(Slot::Len).unwrap_or(1) {
            0 => 1,
            len => len,
        },
        unsigned: values.int(Slot::IsUnsigned).unwrap_or(0) != 0,
        counter,
    })
}

fn io_bits(value: &Value, cursor: &Cursor<'_>) -> Result<u8> {
    let Value::Object { begin } = *value else { return Ok(0) };
    let mut cursor = Cursor::with_origin(cursor.data(), cursor.origin());
    cursor.seek(begin as usize)?;
    cursor.frame()?;
    cursor.u8()
}

fn cluster_ranges(data: &[u8], tree: &Values) -> Vec<(u64, u64)> {
    let ends = integers(data, tree.of(Slot::ClusterRangeEnd));
    let sizes = integers(data, tree.of(Slot::ClusterSize));
    // The file gives the last entry of each range.
    let pairs = ends.zip(sizes).map(|(end, size)| {
        let end = u64::try_from(end).unwrap_or(0).saturating_add(1);
        (end, u64::try_from(size).unwrap_or(0))
    });
    pairs.collect()
}

/// The elements of an array of integers.
pub(super) fn integers(data: &[u8], array: Value) -> impl Iterator<Item = i64> + '_ {
    let (begin, count, width) = match array {
        Value::Array { begin, count, width } => (begin as usize, count as usize, usize::from(width)),
        _ => (0, 0, 1),
    };
    let bytes = data.get(begin..begin.saturating_add(count * width)).unwrap_or_default();
    bytes.chunks_exact(width).map(move |item| {
        // Sign-extended from whatever width there is.
        let first = if item[0] & 0x80 != 0 { -1i64 } else { 0 };
        item.iter().fold(first, |value, &byte| value << 8 | i64::from(byte))
    })
}

fn aliases(data: &[u8], origin: u32, value: Value) -> Result<Vec<(String, String)>> {
    let Value::Pointer { begin } = value else { return Ok(Vec::new()) };
    let mut cursor = Cursor::with_origin(data, origin);
    cursor.seek(begin as usize)?;
    let Tag::Object { class: b"TList", .. } = cursor.tag()? else { return Ok(Vec::new()) };
    let frame = cursor.frame()?;
    if frame.version > 3 {
        cursor.tobject()?;
        cursor.string()?;
    }
    let count = cursor.i32()?;
    let count = cursor.count("number of aliases", count, 4)?;
    let mut found = Vec::new();
    for _ in 0..count {
        if let Tag::Object { class, end, .. } = cursor.tag()? {
            if class == b"TNamed" {
                let (name, title) = cursor.tnamed()?;
                found.push((text(name).into_owned(), text(title).into_owned()));
            }
            let Some(end) = end else { break };
            cursor.seek(end)?;
        }
        cursor.string()?; // the item's option
    }
    Ok(found)
}

/// In the I/O features: entry offsets may be left out.
const GENERATE_OFFSETS: u8 = 1;
/// Branches are not nested deeper.
const MAX_DEPTH: usize = 100;
/// A range with more clusters than this is given as one.
const MAX_CLUSTERS: u64 = 1 << 24;
