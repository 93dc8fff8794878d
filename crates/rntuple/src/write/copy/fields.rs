//! Fields of an ntuple to copy, and their description in the copy.

use crate::Ntuple;
use crate::coding::Stored;
use crate::frame::Reader;
use crate::schema::flags::{DEFERRED, PROJECTED, REPEATS};
use crate::schema::{COLLECTION, Schema, VARIANT};
use crate::write::RawList;
use crate::write::frame::Frames;
use forthwith_plan::{Dataset, Error, Result};
use std::collections::HashSet;

/// Copied fields of one ntuple, parents before children.
#[derive(Debug)]
pub(super) struct Fields {
    pub(super) nodes: Vec<Node>,
    /// Number of columns in the copy.
    pub(super) columns: usize,
}

/// A field with its columns.
#[derive(Debug)]
pub(super) struct Node {
    /// Path of the field, for errors.
    pub(super) path: String,
    pub(super) role: u16,
    /// Number of values in each value of the parent.
    pub(super) repeats: u64,
    /// Number of elements of the first column in an entry, if that is fixed.
    pub(super) times: Option<u64>,
    /// Columns of each representation.
    pub(super) representations: Vec<Vec<Column>>,
    pub(super) children: Vec<usize>,
    pub(super) is_top: bool,
}

/// A column to copy.
#[derive(Debug)]
pub(super) struct Column {
    /// Index in the source.
    pub(super) source: u32,
    /// Index in the copy.
    pub(super) target: usize,
    pub(super) bits: u16,
    /// Encoding of its elements, or the reason why it is not supported.
    pub(super) stored: Result<Stored, String>,
}

/// Contents of a header and its extension: the name, the description, the writer, and four lists each.
#[derive(Debug)]
pub(super) struct Described {
    pub(super) texts: [Vec<u8>; 3],
    pub(super) header: [RawList; 4],
    pub(super) added: [RawList; 4],
}

/// Selects fields by path.
pub(super) type IsKept<'k> = dyn Fn(&str) -> bool + 'k;

/// New index of each field and column that is copied.
struct Numbers {
    fields: Vec<Option<u32>>,
    columns: Vec<Option<u32>>,
}

impl Fields {
    /// Returns the selected fields of an ntuple and those that they project, with their descriptions.
    ///
    /// # Errors
    /// Returns an error if only some parts of a field are selected, or if the header or footer cannot be
    /// read.
    pub(super) fn of(ntuple: &Ntuple, is_kept: &IsKept<'_>) -> Result<(Self, Described)> {
        let schema = ntuple.schema();
        let kept = kept(ntuple, is_kept)?;
        let numbers = Numbers::of(schema, &kept);
        let described = described(ntuple, &numbers)?;
        let columns = numbers.columns.iter().flatten().count();
        let mut fields = Self { nodes: Vec::new(), columns };
        for &top in schema.children(None) {
            if kept.contains(&top) {
                fields.node(schema, &numbers, top, Some(1), "");
            }
        }
        Ok((fields, described))
    }

    /// Returns for each column of the copy the column of the first representation, by which elements are
    /// counted.
    pub(super) fn counted(&self) -> Vec<usize> {
        let mut counted: Vec<usize> = (0..self.columns).collect();
        for node in &self.nodes {
            let first = node.representations.iter().find(|columns| !columns.is_empty());
            for columns in &node.representations {
                for (column, first) in columns.iter().zip(first.into_iter().flatten()) {
                    if let Some(counted) = counted.get_mut(column.target) {
                        *counted = first.target;
                    }
                }
            }
        }
        counted
    }

    /// Returns the encoding of each column of the copy, as far as it is known.
    pub(super) fn stored(&self) -> Vec<Option<Stored>> {
        let mut found = vec![None; self.columns];
        for column in self.nodes.iter().flat_map(|node| node.representations.iter().flatten()) {
            if let (Some(found), Ok(stored)) = (found.get_mut(column.target), &column.stored) {
                *found = Some(*stored);
            }
        }
        found
    }

    /// Adds a field and its children. `times` is the number of values of the parent in an entry, if fixed.
    fn node(
        &mut self,
        schema: &Schema,
        numbers: &Numbers,
        id: u32,
        times: Option<u64>,
        around: &str,
    ) -> Option<usize> {
        let of = schema.fields.get(id as usize).filter(|of| !of.is_projected())?;
        let repeats = of.repeats.unwrap_or(1);
        let times = times.and_then(|times| times.checked_mul(repeats));
        let mut representations: Vec<Vec<Column>> = Vec::new();
        for &source in schema.columns_of(id) {
            let Some(column) = schema.columns.get(source as usize) else { continue };
            let target = numbers.columns.get(source as usize).copied().flatten()? as usize;
            let found = Column { source, target, bits: column.bits, stored: Stored::of(column) };
            let number = usize::from(column.representation);
            if representations.len() <= number {
                representations.resize_with(number + 1, Vec::new);
            }
            representations[number].push(found);
        }
        let path = if around.is_empty() { of.name.clone() } else { format!("{around}.{}", of.name) };
        let number = self.nodes.len();
        let is_top = of.parent.is_none();
        let role = of.role;
        let node = Node { path, role, repeats, times, representations, children: Vec::new(), is_top };
        self.nodes.push(node);
        let below = if matches!(role, COLLECTION | VARIANT) { None } else { times };
        let path = self.nodes[number].path.clone();
        // The depth of fields was checked by the schema.
        for &child in schema.children(Some(id)) {
            if let Some(child) = self.node(schema, numbers, child, below, &path) {
                self.nodes[number].children.push(child);
            }
        }
        Some(number)
    }
}

impl Described {
    /// Returns whether another ntuple has the same fields and columns, in header or extension, apart from the
    /// types of columns.
    pub(super) fn is_like(&self, other: &Self) -> Result<bool> {
        let joined = |one: &Self, at: usize| {
            let (header, added) = (&one.header[at], &one.added[at]);
            [&header.bytes[..], &added.bytes[..]].concat()
        };
        Ok([0, 2, 3].into_iter().all(|at| joined(self, at) == joined(other, at))
            && self.untyped_columns()? == other.untyped_columns()?)
    }

    /// Returns the records of columns without their types, which are two 16-bit numbers.
    fn untyped_columns(&self) -> Result<Vec<Vec<u8>>> {
        let what = "a column";
        let mut found = Vec::new();
        for list in [&self.header[1], &self.added[1]] {
            let mut reader = Reader::new(&list.bytes, 0);
            for _ in 0..list.items {
                let mut record = reader.record(what)?;
                record.bytes(what, 4)?;
                found.push(record.bytes(what, record.left())?.to_vec());
            }
        }
        Ok(found)
    }
}

impl Numbers {
    fn of(schema: &Schema, kept: &HashSet<u32>) -> Self {
        let mut next = 0..;
        let fields: Vec<Option<u32>> = (0..schema.fields.len() as u32)
            .map(|field| if kept.contains(&top(schema, field)) { next.next() } else { None })
            .collect();
        let mut next = 0..;
        let of = |field: u32| fields.get(field as usize).copied().flatten();
        let columns = schema.columns.iter();
        let columns = columns.map(|column| of(column.field).and_then(|_| next.next())).collect();
        Self { fields, columns }
    }

    fn field(&self, id: u32) -> Option<u32> {
        self.fields.get(id as usize).copied().flatten()
    }
}

/// Returns the top-level field that contains a field.
fn top(schema: &Schema, field: u32) -> u32 {
    let mut at = field;
    // Parents have smaller indexes.
    while let Some(parent) = schema.fields.get(at as usize).and_then(|of| of.parent) {
        at = parent;
    }
    at
}

/// Returns the copied top-level fields: selected ones, and those that these project.
fn kept(ntuple: &Ntuple, is_kept: &IsKept<'_>) -> Result<HashSet<u32>> {
    let (schema, fields) = (ntuple.schema(), ntuple.fields()?);
    let mut kept = HashSet::new();
    for (number, top) in ntuple.top_fields() {
        let Some((first, rest)) = fields.get(number as usize..).and_then(<[_]>::split_first) else {
            continue;
        };
        if is_kept(&first.path) {
            kept.insert(top);
            continue;
        }
        // A selected member includes its children.
        let mut wanted = vec![false];
        let (mut leaves, mut wanted_leaves) = (0_u64, 0_u64);
        for member in rest.iter().take_while(|member| member.parent.is_some()) {
            let parent = member.parent.and_then(|parent| parent.checked_sub(number));
            let around = parent.and_then(|parent| wanted.get(parent as usize)).copied().unwrap_or(false);
            let is_wanted = around || is_kept(&member.path);
            wanted.push(is_wanted);
            if !member.has_children {
                leaves += 1;
                wanted_leaves += u64::from(is_wanted);
            }
        }
        if wanted_leaves == leaves && leaves > 0 {
            kept.insert(top);
        } else if wanted.contains(&true) {
            let what =
                format!("copying {wanted_leaves} of the {leaves} members of a field without the others");
            return Err(Error::unsupported(what).in_object(&first.path));
        }
    }
    let shown = |&(field, column): &(u32, u32)| {
        let source = schema.columns.get(column as usize)?;
        kept.contains(&top(schema, field)).then(|| top(schema, source.field))
    };
    let shown: Vec<u32> = schema.aliases.iter().filter_map(shown).collect();
    kept.extend(shown);
    Ok(kept)
}

/// Returns the descriptions of the copied fields. Columns of a copy are not deferred: entries from before a
/// column was added get elements of zero.
fn described(ntuple: &Ntuple, numbers: &Numbers) -> Result<Described> {
    let header = ntuple.header()?;
    let mut body = crate::blob::body(&header);
    body.features()?;
    let mut texts = <[Vec<u8>; 3]>::default();
    for (text, what) in texts.iter_mut().zip(["the name", "the description", "the writer"]) {
        *text = body.blob(what)?.to_vec();
    }
    let mut lists = <[RawList; 4]>::default();
    for list in &mut lists {
        *list = RawList::read(&mut body)?;
    }
    let (added, attributes) = ntuple.added()?;
    if attributes.items > 0 {
        return Err(Error::unsupported("copying an RNTuple with attribute sets"));
    }
    let [mut fields, mut columns] = [0_usize; 2];
    let header = renumbered(lists, numbers, [&mut fields, &mut columns])?;
    let added = renumbered(added, numbers, [&mut fields, &mut columns])?;
    Ok(Described { texts, header, added })
}

/// Returns the four lists of records with new indexes. `first_field` and `first_column` count the records
/// before these lists.
fn renumbered(
    [fields, columns, aliases, classes]: [RawList; 4],
    numbers: &Numbers,
    [first_field, first_column]: [&mut usize; 2],
) -> Result<[RawList; 4]> {
    let fields = records(&fields, "a field", |body| {
        let id = *first_field as u32;
        *first_field += 1;
        let Some(new) = numbers.field(id) else { return Ok(None) };
        field(body, id, new, numbers).map(Some)
    })?;
    let columns = records(&columns, "a column", |body| {
        let id = *first_column;
        *first_column += 1;
        if numbers.columns.get(id).copied().flatten().is_none() {
            return Ok(None);
        }
        column(body, numbers).map(Some)
    })?;
    let aliases = records(&aliases, "an alias column", |body| {
        let mut record = Reader::new(body, 0);
        let (column, field) = (record.u32("an alias column")?, record.u32("an alias column")?);
        let column = numbers.columns.get(column as usize).copied().flatten();
        let (Some(column), Some(field)) = (column, numbers.field(field)) else { return Ok(None) };
        let rest = record.bytes("an alias column", record.left())?;
        Ok(Some([&column.to_le_bytes()[..], &field.to_le_bytes(), rest].concat()))
    })?;
    Ok([fields, columns, aliases, classes])
}

/// Returns a list of the records that `new` returns, without those for which it returns `None`.
fn records(
    list: &RawList,
    what: &'static str,
    mut new: impl FnMut(&[u8]) -> Result<Option<Vec<u8>>>,
) -> Result<RawList> {
    let mut reader = Reader::new(&list.bytes, 0);
    let (mut frames, mut items) = (Frames::default(), 0);
    for _ in 0..list.items {
        let mut record = reader.record(what)?;
        if let Some(new) = new(record.bytes(what, record.left())?)? {
            frames.record(|frames| frames.raw(&new));
            items += 1;
        }
    }
    Ok(RawList { items, bytes: frames.into_bytes() })
}

/// Returns the record of a field with the new indexes of itself, its parent and the field that it projects.
fn field(body: &[u8], id: u32, new: u32, numbers: &Numbers) -> Result<Vec<u8>> {
    let what = "a field";
    let mut made = body.to_vec();
    let mut record = Reader::new(body, 0);
    record.bytes(what, 8)?;
    let parent = record.u32(what)?;
    let gone = || Error::fault("a field without the field that it belongs to");
    let parent = if parent == id { new } else { numbers.field(parent).ok_or_else(gone)? };
    made[8..12].copy_from_slice(&parent.to_le_bytes());
    record.u16(what)?;
    let flags = record.u16(what)?;
    for _ in 0..4 {
        record.blob(what)?;
    }
    if flags & REPEATS != 0 {
        record.u64(what)?;
    }
    if flags & PROJECTED != 0 {
        let at = record.position() as usize;
        let source = numbers.field(record.u32(what)?).ok_or_else(gone)?;
        made[at..at + 4].copy_from_slice(&source.to_le_bytes());
    }
    Ok(made)
}

/// Returns the record of a column with the new index of its field, and without a first element.
fn column(body: &[u8], numbers: &Numbers) -> Result<Vec<u8>> {
    let what = "a column";
    let mut record = Reader::new(body, 0);
    let kind = record.bytes(what, 4)?;
    let gone = || Error::fault("a column without the field that it belongs to");
    let field = numbers.field(record.u32(what)?).ok_or_else(gone)?;
    let flags = record.u16(what)?;
    let representation = record.bytes(what, 2)?;
    if flags & DEFERRED != 0 {
        record.u64(what)?;
    }
    let rest = record.bytes(what, record.left())?;
    let flags = (flags & !DEFERRED).to_le_bytes();
    Ok([kind, &field.to_le_bytes()[..], &flags, representation, rest].concat())
}
