//! The fields of an ntuple that are copied, and what describes them in the copy.

use crate::Ntuple;
use crate::coding::Stored;
use crate::frame::Reader;
use crate::schema::flags::{DEFERRED, PROJECTED, REPEATS};
use crate::schema::{COLLECTION, Schema, VARIANT};
use crate::write::RawList;
use crate::write::frame::Frames;
use forthwith_plan::{Dataset, Error, Result};
use std::collections::HashSet;

/// The copied fields of one ntuple, parents before children.
#[derive(Debug)]
pub(super) struct Fields {
    pub(super) nodes: Vec<Node>,
    /// Columns of the copy.
    pub(super) columns: usize,
}

/// A field with columns of its own.
#[derive(Debug)]
pub(super) struct Node {
    /// The path of its names, for errors.
    pub(super) path: String,
    pub(super) role: u16,
    /// Values in each of the parent.
    pub(super) repeats: u64,
    /// Elements of its first column in an entry, where all entries have as many.
    pub(super) times: Option<u64>,
    /// The columns of each representation.
    pub(super) representations: Vec<Vec<Column>>,
    pub(super) children: Vec<usize>,
    pub(super) is_top: bool,
}

/// A column that is copied.
#[derive(Debug)]
pub(super) struct Column {
    /// Its number in the ntuple that is read.
    pub(super) source: u32,
    /// Its number in the copy.
    pub(super) target: usize,
    pub(super) bits: u16,
    /// How its elements are stored, or why that is not known.
    pub(super) stored: Result<Stored, String>,
}

/// What a header says, and what its extension adds: names of the ntuple and its writer, and four lists.
#[derive(Debug)]
pub(super) struct Described {
    pub(super) texts: [Vec<u8>; 3],
    pub(super) header: [RawList; 4],
    pub(super) added: [RawList; 4],
}

/// Which fields are wanted, by their paths.
pub(super) type IsKept<'k> = dyn Fn(&str) -> bool + 'k;

/// The new number of each field, and of each column, that is copied.
struct Numbers {
    fields: Vec<Option<u32>>,
    columns: Vec<Option<u32>>,
}

impl Fields {
    /// The selected fields of an ntuple and those that they project, with their descriptions.
    ///
    /// # Errors
    /// Only some parts of a field are selected; the header or the footer cannot be read any more.
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

    /// For each column of the copy, the column of the first representation, by which elements are counted.
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

    /// How each column of the copy is stored, as far as that is known.
    pub(super) fn stored(&self) -> Vec<Option<Stored>> {
        let mut found = vec![None; self.columns];
        for column in self.nodes.iter().flat_map(|node| node.representations.iter().flatten()) {
            if let (Some(found), Ok(stored)) = (found.get_mut(column.target), &column.stored) {
                *found = Some(*stored);
            }
        }
        found
    }

    /// Adds a field and all that is in it. `times` is how many values of the parent an entry has.
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
        // The schema has limited how deep fields are.
        for &child in schema.children(Some(id)) {
            if let Some(child) = self.node(schema, numbers, child, below, &path) {
                self.nodes[number].children.push(child);
            }
        }
        Some(number)
    }
}

impl Described {
    /// Whether another ntuple has the same fields and columns, wherever they are described, but for the types
    /// of the columns.
    pub(super) fn is_like(&self, other: &Self) -> Result<bool> {
        let joined = |one: &Self, at: usize| {
            let (header, added) = (&one.header[at], &one.added[at]);
            [&header.bytes[..], &added.bytes[..]].concat()
        };
        Ok([0, 2, 3].into_iter().all(|at| joined(self, at) == joined(other, at))
            && self.untyped_columns()? == other.untyped_columns()?)
    }

    /// The records of columns without their types, which are two numbers of 16 bits.
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

/// The field at the top that a field is in.
fn top(schema: &Schema, field: u32) -> u32 {
    let mut at = field;
    // Parents have smaller numbers.
    while let Some(parent) = schema.fields.get(at as usize).and_then(|of| of.parent) {
        at = parent;
    }
    at
}

/// The copied top-level fields: selected ones, and those that these project.
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
        // A member is wanted with all that is in it.
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

/// What describes the fields that are copied. No column is late in a copy: entries from before it was added
/// get elements of zero.
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

/// The four lists of records with their new ids. `counts` are the numbers of records before these lists.
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

/// Records of a list, each as `new` makes it, or left out.
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

/// The record of a field with its new number, that of its parent and of the field that it shows.
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

/// The record of a column with the new number of its field, and without a first element.
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
