//! Extends existing trees.
//!
//! Columns and the storage of their entries are derived from the branches ([`derive`](super::derive)). The
//! record keeps its other members, and gets more baskets, entries and clusters.

use std::{cell::RefCell, collections::HashMap};

use super::{
    TreeIndex, TreeOptions, TreeWriter,
    branch::{Branch, Stored},
    derive, index,
    mapping::Branches,
    record::Summary,
    spelling::is_whole,
};
use crate::{
    copy::{Grown, More, TreeCopy},
    tree::Tree,
};
use forthwith_columns::{Array, Form};
use forthwith_plan::{Dataset, Error, Result};
use forthwith_root::{
    Found, RootFile,
    unroll::has_objects,
    write::{Buffer, FileWriter},
};

/// An existing tree to extend.
#[derive(Debug)]
pub(super) struct Old {
    copy: TreeCopy,
    /// Number of existing entries.
    entries: u64,
    pub(super) cycle: u16,
    /// Writers of added columns, each as a tree of these columns alone.
    pub(super) more: Vec<TreeWriter>,
}

impl TreeWriter {
    /// Opens an existing tree to extend it. `old` is the file as it was when the writer began, and `found` is
    /// the tree in it. Of the options, only those for baskets, clusters and missing values apply; the others
    /// follow from the tree.
    ///
    /// Nothing is overwritten: [`finish`](Self::finish) writes a new record of the tree, and removes the old
    /// one from its directory.
    ///
    /// `read` is called with the tree and the indexes of branches that are extended by the layout of a class,
    /// if there are any, before anything is written. It has to read their first entries: a file does not tell
    /// which classes have a custom streamer, but their entries cannot be read by the layout.
    ///
    /// # Errors
    /// Returns an error if the tree cannot be read or has branches that cannot be written, which it names,
    /// and errors of `read`.
    pub fn open(
        file: &mut FileWriter,
        old: &RootFile,
        found: &Found,
        options: TreeOptions,
        read: impl FnOnce(&Tree, &[u32]) -> Result<()>,
    ) -> Result<Self> {
        let opened = Self::opened(file, old, found, options, read);
        opened.map_err(|error| error.in_file(old.uri()).in_object(&found.path))
    }

    /// Returns the columns, with their Forms.
    pub fn columns(&self) -> impl Iterator<Item = (&str, &Form)> {
        let more = self.old.iter().flat_map(|old| &old.more).flat_map(|more| &more.columns);
        self.columns.iter().chain(more).map(|(name, form)| (name.as_str(), form))
    }

    /// Adds columns with a value for each existing entry. Later steps must have them after the other columns.
    ///
    /// # Errors
    /// Returns an error if the tree was begun by this writer or has branches with these names, and the errors
    /// of [`new`](Self::new) and [`extend`](Self::extend).
    pub fn add_columns(
        &mut self,
        file: &mut FileWriter,
        columns: &[(String, Form)],
        values: &[Array],
        options: TreeOptions,
    ) -> Result<()> {
        let path = self.path.clone();
        let added = self.add(file, columns, values, options);
        added.map_err(|error| super::within_tree(error, &path))
    }

    fn add(
        &mut self,
        file: &mut FileWriter,
        columns: &[(String, Form)],
        values: &[Array],
        options: TreeOptions,
    ) -> Result<()> {
        self.usable()?;
        let Some(old) = &mut self.old else {
            return Err(Error::invalid(
                "adding branches to a tree that is begun here: it begins with all of them",
            ));
        };
        if let Some(((name, _), array)) =
            columns.iter().zip(values).find(|(_, array)| array.length != self.entries)
        {
            let what = format!("{} values for a tree of {} entries", array.length, self.entries);
            return Err(Error::invalid(what).in_object(name));
        }
        // Most baskets end where those of the tree do. Short steps have clusters of their own.
        let size = usual(old.copy.base().info(), self.entries);
        let cluster_entries = options.cluster_entries.or(size);
        let options = TreeOptions { cluster_entries, ..options };
        let mut more = Self::begin(file, &self.path, columns, options, &old.leaf_names()?)?;
        let names = |branches: &Branches| -> Vec<String> {
            branches
                .branches
                .iter()
                .filter(|branch| branch.parent.is_none())
                .map(|branch| branch.name.clone())
                .collect()
        };
        let others: Vec<String> = old.more.iter().flat_map(|more| names(&more.branches)).collect();
        let there = |name: &String| old.copy.base().find(name).is_ok() || others.contains(name);
        if let Some(name) = names(&more.branches).iter().find(|name| there(name)) {
            return Err(Error::invalid(format!("there is a branch {name:?} already")));
        }
        more.append(file, values)?;
        old.more.push(more);
        Ok(())
    }

    /// Appends a step to the tree and to added columns.
    pub(super) fn extend_all(&mut self, file: &mut FileWriter, columns: &[Array]) -> Result<()> {
        let wanted = self.columns().count();
        let rows = columns.first().map_or(0, |array| array.length);
        if columns.len() != wanted || columns.iter().any(|array| array.length != rows) {
            let what = format!("{} columns where {wanted} of one length were announced", columns.len());
            return Err(Error::invalid(what).in_object(&self.path));
        }
        let done = self.put_all(file, columns);
        done.map_err(|error| super::within_tree(error, &self.path))
    }

    /// Appends a step after checking all arrays, so that an invalid step leaves the tree unchanged.
    fn put_all(&mut self, file: &mut FileWriter, columns: &[Array]) -> Result<()> {
        let (own, mut others) = columns.split_at(self.columns.len());
        let own = self.step(own)?;
        let mut steps = Vec::new();
        for more in self.old.iter().flat_map(|old| &old.more) {
            let (its, behind) = others.split_at(more.columns.len());
            others = behind;
            steps.push(more.step(its)?);
        }
        let values = self.bound(&own)?;
        let more = self.old.iter().flat_map(|old| &old.more);
        let bound = more.zip(&steps).map(|(more, arrays)| more.bound(arrays)).collect::<Result<Vec<_>>>()?;
        self.put(file, &own, &values)?;
        let more = self.old.iter_mut().flat_map(|old| &mut old.more);
        let done = more
            .zip(steps.iter().zip(&bound))
            .try_for_each(|(more, (arrays, values))| more.put(file, arrays, values));
        // After an error, only some columns may have the step.
        self.broken |= done.is_err();
        done
    }

    fn opened(
        file: &mut FileWriter,
        old: &RootFile,
        found: &Found,
        options: TreeOptions,
        read: impl FnOnce(&Tree, &[u32]) -> Result<()>,
    ) -> Result<Self> {
        // Errors must occur before the copy begins, as that writes the baskets that are in the tree's record.
        let tree = Tree::open_found(old, found)?;
        let (columns, branches) = derive::columns(&tree)?;
        let laid = laid(&branches);
        if !laid.is_empty() {
            read(&tree, &laid)?;
        }
        let (outer, name) = found.path.rsplit_once('/').unwrap_or(("", &found.path));
        let directory = file.directory(outer)?;
        let copy = TreeCopy::in_place(file, old, found, directory)?;
        let options = TreeOptions {
            columns: Vec::new(),
            index: index_of(copy.base(), &columns),
            titles: Vec::new(),
            aliases: Vec::new(),
            user_info: Vec::new(),
            ..options
        };
        let mut this = Self::of_branches(file, (directory, &found.path, name), &columns, options, branches)?;
        this.entries = copy.entries();
        this.cluster.begin = this.entries;
        for (field, filled) in this.filled.iter_mut().enumerate() {
            let source = this.branches.branches[field].source.as_ref();
            let maps = source.is_some_and(
                |source| matches!(&source.stored, Stored::Laid { laid, .. } if has_objects(&laid.layout)),
            );
            *filled = Grown { entries: this.entries, before: copy.baskets(field), maps, ..Grown::default() };
        }
        this.old = Some(Old { entries: this.entries, copy, cycle: found.key.cycle, more: Vec::new() });
        Ok(this)
    }
}

/// Returns the indexes of branches that are extended by the layout of a class.
fn laid(branches: &Branches) -> Vec<u32> {
    let is_laid = |branch: &Branch| {
        branch.source.as_ref().is_some_and(|source| matches!(source.stored, Stored::Laid { .. }))
    };
    let numbered = (0..).zip(&branches.branches);
    numbered.filter(|(_, branch)| is_laid(branch)).map(|(number, _)| number).collect()
}

impl Old {
    /// Returns the names of all leaves, each with that of its branch.
    fn leaf_names(&self) -> Result<HashMap<String, String>> {
        let added = self.more.iter().flat_map(|more| &more.branches.branches);
        let added =
            added.filter_map(|branch| Some((branch.leaf.as_ref()?.name.clone(), branch.name.clone())));
        Ok(leaf_names(self.copy.base())?.chain(added).collect())
    }

    /// Writes a new record of the tree with the additions, in place of the old one.
    ///
    /// # Errors
    /// Returns an error if the record has members that cannot be edited, or if writing fails.
    pub(super) fn finish(self, writer: TreeWriter, file: &mut FileWriter) -> Result<u64> {
        let Self { mut copy, entries, cycle, mut more } = self;
        if writer.entries == entries && more.is_empty() {
            return Ok(entries);
        }
        if writer.entries > entries {
            for (field, filled) in writer.filled.into_iter().enumerate() {
                copy.grow(field, filled)?;
            }
            let index = writer.index.map(index::Index::into_values);
            copy.end_growth(writer.entries, &writer.ranges, index);
        }
        let entries = match more.is_empty() {
            true => copy.finish(file)?,
            false => finish_with(copy, &mut more, file)?,
        };
        file.remove(writer.directory, &writer.name, cycle);
        Ok(entries)
    }
}

/// Writes the record with the branches of `more` after its own.
fn finish_with(copy: TreeCopy, more: &mut [TreeWriter], file: &mut FileWriter) -> Result<u64> {
    more.iter_mut().try_for_each(|tree| tree.close(file))?;
    let summaries: Vec<Summary<'_>> = more.iter().map(|tree| tree.summary(file.compression())).collect();
    more.iter().zip(&summaries).try_for_each(|(tree, summary)| tree.describe(summary, file))?;
    let all = || more.iter().flat_map(|tree| &tree.branches.branches);
    let filled = || more.iter().flat_map(|tree| &tree.filled);
    // The leaves are written after the branches.
    let leaves = RefCell::new(Vec::new());
    let written = |buffer: &mut Buffer| {
        *leaves.borrow_mut() = summaries.iter().flat_map(|summary| summary.write_branches(buffer)).collect();
    };
    let more = More {
        branches: (all().filter(|branch| branch.parent.is_none()).count(), Box::new(written)),
        leaves: (
            all().filter(|branch| branch.leaf.is_some()).count(),
            Box::new(|buffer| leaves.borrow().iter().for_each(|&leaf: &u32| buffer.reference(leaf))),
        ),
        total: filled().map(|filled| filled.total).sum(),
        stored: filled().map(|filled| filled.stored).sum(),
    };
    copy.finish_with(file, Some(&more))
}

/// Returns the names of a tree's leaves, each with that of its branch.
fn leaf_names(tree: &Tree) -> Result<impl Iterator<Item = (String, String)>> {
    let mut names = Vec::new();
    for (number, field) in (0..).zip(tree.fields()?) {
        let leaves = tree.branch(number)?.leaves()?;
        names.extend(leaves.into_iter().map(|leaf| (leaf.name, field.name.clone())));
    }
    Ok(names.into_iter())
}

/// Returns the index of the tree, if it is by columns. An index has the names of leaves.
fn index_of(tree: &Tree, columns: &[(String, Form)]) -> Option<TreeIndex> {
    let ([major, minor], _) = tree.index_values()?;
    let of_leaves: HashMap<String, String> = leaf_names(tree).ok()?.collect();
    let column = |name: String| {
        let is_column = |name: &&String| columns.iter().any(|(known, form)| known == *name && is_whole(form));
        Some(&name).filter(is_column).or_else(|| of_leaves.get(&name).filter(is_column)).cloned()
    };
    let minor = match minor.as_str() {
        "0" => None,
        _ => Some(column(minor)?),
    };
    Some(TreeIndex { major: column(major)?, minor })
}

/// Returns the cluster size of most entries, or `None` if that is unknown.
fn usual(info: &crate::TreeInfo, entries: u64) -> Option<u64> {
    let last = u64::try_from(info.auto_flush).unwrap_or(0);
    let ranges = info.cluster_ranges.iter().copied().chain([(entries, last)]);
    let mut covered: Vec<(u64, u64)> = Vec::new();
    let mut begin = 0;
    for (end, size) in ranges {
        let more = end.saturating_sub(begin);
        match covered.iter_mut().find(|(known, _)| *known == size) {
            Some((_, entries)) => *entries += more,
            None => covered.push((size, more)),
        }
        begin = begin.max(end);
    }
    covered.into_iter().max_by_key(|(_, entries)| *entries).map(|(size, _)| size).filter(|size| *size > 0)
}
