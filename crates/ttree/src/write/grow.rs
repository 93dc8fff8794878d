//! Trees that are in the file already, to be extended.
//!
//! The columns follow from the branches ([`derive`](super::derive)). Whether more baskets may stand behind those
//! that are there is found out by an empty tree of these columns, written to memory: its branches have to be
//! stored as the old ones are, as those of trees that are merged. The record stays what it is, with more
//! baskets, entries and clusters in it.

use std::sync::Arc;

use super::{
    TreeIndex, TreeOptions, TreeWriter, derive,
    mapping::{Branches, LeafKind},
    record::Filled,
};
use crate::{
    copy::{Grown, TreeCopy},
    tree::Tree,
};
use forthwith_columns::{DType, Form};
use forthwith_io::{Memory, MemorySink};
use forthwith_plan::{Error, Result};
use forthwith_root::{
    Found, RootFile,
    write::{Compression, FileSettings, FileWriter},
};

/// The tree that is extended.
#[derive(Debug)]
pub(super) struct Old {
    copy: TreeCopy,
    /// For each branch, that of the old tree.
    fields: Vec<usize>,
    /// Entries that it had.
    entries: u64,
    cycle: u16,
}

impl TreeWriter {
    /// Opens a tree that is in the file already, to be extended. `old` is the file as it was when the writer
    /// began, and `found` the tree in it. Of the options those hold that say how baskets and clusters are made,
    /// and what missing values are; the rest follows from the tree.
    ///
    /// What is there is not written over: [`finish`](Self::finish) writes a new record of the tree, and takes
    /// the old one off its directory.
    ///
    /// # Errors
    /// The tree cannot be read, or has branches that a tree of ours is not written with; they are named.
    pub fn open(file: &mut FileWriter, old: &RootFile, found: &Found, options: TreeOptions) -> Result<Self> {
        let opened = Self::opened(file, old, found, options);
        opened.map_err(|error| error.in_file(old.uri()).in_object(&found.path))
    }

    /// The columns, with their Forms.
    pub fn columns(&self) -> impl Iterator<Item = (&str, &Form)> {
        self.columns.iter().map(|(name, form)| (name.as_str(), form))
    }

    fn opened(file: &mut FileWriter, old: &RootFile, found: &Found, options: TreeOptions) -> Result<Self> {
        let (outer, name) = found.path.rsplit_once('/').unwrap_or(("", &found.path));
        let directory = file.directory(outer)?;
        let copy = TreeCopy::in_place(file, old, found, directory)?;
        let columns = derive::columns(copy.base(), options.default_column.nulls)?;
        let index = index_of(copy.base(), &columns);
        let announced: Vec<(String, Form)> =
            columns.iter().map(|column| (column.name.clone(), column.form.clone())).collect();
        let chosen = columns.into_iter().map(|column| (column.name, column.options)).collect();
        let options = TreeOptions {
            columns: chosen,
            index,
            titles: Vec::new(),
            aliases: Vec::new(),
            user_info: Vec::new(),
            ..options
        };
        let others = copy.alike(&empty(copy.base(), name, &announced, options.clone())?)?;
        let mut this = Self::new(file, &found.path, &announced, options)?;
        let order = this.branches.in_order();
        let mut fields = vec![usize::MAX; order.len()];
        for (field, &other) in others.iter().enumerate() {
            if let Some(&branch) = order.get(other as usize) {
                fields[branch] = field;
            }
        }
        this.entries = copy.entries();
        this.cluster.begin = this.entries;
        for (filled, field) in this.filled.iter_mut().zip(&fields) {
            *filled = Filled { entries: this.entries, before: copy.baskets(*field), ..Filled::default() };
        }
        this.old = Some(Old { entries: this.entries, copy, fields, cycle: found.key.cycle });
        Ok(this)
    }
}

impl Old {
    /// Writes the tree's record with what was added, instead of the old one.
    ///
    /// # Errors
    /// Something in the record that cannot be changed; whatever the file says.
    pub(super) fn finish(self, writer: TreeWriter, file: &mut FileWriter) -> Result<u64> {
        let Self { mut copy, fields, entries, cycle } = self;
        if writer.entries == entries {
            return Ok(entries);
        }
        for (filled, field) in writer.filled.into_iter().zip(fields) {
            let baskets = filled.baskets.iter();
            let baskets = baskets.map(|basket| (basket.entry, basket.bytes, basket.position)).collect();
            let Filled { total, stored, largest, .. } = filled;
            copy.grow(field, Grown { baskets, total, stored, largest })?;
        }
        let index = writer.index.map(super::index::Index::into_values);
        copy.end_growth(writer.entries, &writer.ranges, index);
        let entries = copy.finish(file)?;
        file.remove(writer.directory, &writer.name, cycle);
        Ok(entries)
    }
}

/// A tree of these columns without entries.
fn empty(old: &Tree, name: &str, columns: &[(String, Form)], options: TreeOptions) -> Result<Tree> {
    let sink = MemorySink::new(old.uri());
    let settings = FileSettings { compression: Compression::NONE, ..FileSettings::default() };
    let mut file = FileWriter::create(Box::new(sink.clone()), settings)?;
    let mut tree = TreeWriter::new(&mut file, name, columns, options)?;
    tree.branches.spelled_as(old)?;
    tree.finish(&mut file)?;
    file.finish()?;
    let bytes = sink.bytes().unwrap_or_default();
    let file = RootFile::open(Arc::new(Memory::new(old.uri(), bytes)))?;
    Tree::open(&file, name)
}

impl Branches {
    /// Takes over what has no bearing on the bytes of entries: whether counters have a sign, and how ranges of
    /// packed numbers are spelled.
    fn spelled_as(&mut self, old: &Tree) -> Result<()> {
        for branch in self.branches.iter_mut().filter(|branch| branch.parent.is_none()) {
            let (Ok(field), Some(leaf)) = (old.find(&branch.name), &mut branch.leaf) else { continue };
            let leaves = old.branch(field)?.leaves()?;
            let [other] = &leaves[..] else { continue };
            match leaf.kind {
                LeafKind::Number(DType::Int32) if leaf.counts && other.unsigned => {
                    leaf.kind = LeafKind::Number(DType::UInt32);
                }
                LeafKind::Float16 | LeafKind::Double32 => leaf.title.clone_from(&other.title),
                _ => {}
            }
        }
        Ok(())
    }
}

/// The index that the tree has, if it counts by columns.
fn index_of(tree: &Tree, columns: &[derive::Column]) -> Option<TreeIndex> {
    let ([major, minor], _) = tree.index_values()?;
    let minor = Some(minor).filter(|minor| minor != "0");
    let is_column = |name: &String| {
        columns.iter().any(|column| {
            column.name == *name
                && matches!(&column.form, Form::Numpy { dtype, shape, .. }
                    if shape.is_empty() && !matches!(dtype, DType::Float32 | DType::Float64))
        })
    };
    let counts = is_column(&major) && minor.as_ref().is_none_or(is_column);
    counts.then_some(TreeIndex { major, minor })
}

/// The error of a tree that cannot be extended.
pub(super) fn refused(what: impl Into<String>) -> Error {
    Error::unsupported(format!("extending {}", what.into()))
}
