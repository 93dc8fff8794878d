//! Extending a tree within its file: existing baskets stay in place, and new ones are added.

use forthwith_plan::{Dataset, Error, OneThread, Result};
use forthwith_root::write::{Buffer, DirectoryId, FileWriter};
use forthwith_root::{Found, RootFile};

use super::{CopyOptions, Index, Placed, Processes, TreeCopy};
use crate::tree::Tree;

/// Baskets and statistics of the entries that were written for a branch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Grown {
    pub(crate) baskets: Vec<Placed>,
    pub(crate) entries: u64,
    /// Size of all baskets with their keys, uncompressed.
    pub(crate) total: u64,
    /// Size of all baskets as stored.
    pub(crate) stored: u64,
    /// Largest count, or length of the longest string.
    pub(crate) largest: u64,
    /// Statistics of each leaf, if the branch has several.
    pub(crate) leaves: Vec<u64>,
    /// Whether entries may have pointers, so that ROOT has to map objects (`kDoNotUseBufferMap` is clear).
    pub(crate) maps: bool,
    /// Number of baskets that the branch had before.
    pub(crate) before: u32,
}

impl Grown {
    /// Raises the largest count or string length of a leaf to at least `value`.
    pub(crate) fn raise(&mut self, leaf: usize, value: u64) {
        if self.leaves.len() <= leaf {
            self.leaves.resize(leaf + 1, 0);
        }
        self.leaves[leaf] = self.leaves[leaf].max(value);
    }
}

/// Function that writes the items of a list.
type Write<'m> = Box<dyn Fn(&mut Buffer) + 'm>;

/// Branches that are added after those of the tree.
pub(crate) struct More<'m> {
    /// Number of branches, and the function that writes them.
    pub(crate) branches: (usize, Write<'m>),
    /// Number of leaves, and the function that writes pointers to them, which runs after that of the
    /// branches.
    pub(crate) leaves: (usize, Write<'m>),
    pub(crate) total: u64,
    pub(crate) stored: u64,
}

impl TreeCopy {
    /// Begins a copy of a tree within its own file, whose baskets stay in place. Baskets in the tree's record
    /// are written to the file, so that others can follow.
    ///
    /// # Errors
    /// Returns an error if the tree cannot be read, has baskets in another file, or has a branch with fewer
    /// entries than the tree.
    pub(crate) fn in_place(
        writer: &mut FileWriter,
        file: &RootFile,
        found: &Found,
        directory: DirectoryId,
    ) -> Result<Self> {
        let name = &found.key.name;
        let mut this = Self::new(file, found, directory, name, &|_| true, CopyOptions::default())?;
        this.stays = true;
        let (processes, runner) = (Processes::default(), OneThread::default());
        this.add(writer, (file, found), None, &processes, &runner, &mut |_| true)?;
        // A tree without entries was never flushed, and has no cluster of unknown size.
        this.flushed |= this.entries == 0;
        for (field, filled) in this.base.fields()?.iter().zip(&this.filled) {
            if let Some(entries) = &filled.short {
                let what =
                    format!("extending a branch with entries {entries:?} in a tree of {}", this.entries);
                return Err(Error::unsupported(what).in_object(&format!("{}/{}", found.path, field.path)));
            }
        }
        Ok(this)
    }

    /// Returns the tree as it is in the file.
    pub(crate) const fn base(&self) -> &Tree {
        &self.base
    }

    /// Returns the number of baskets of a branch so far.
    pub(crate) fn baskets(&self, field: usize) -> u32 {
        self.filled.get(field).map_or(0, |filled| filled.baskets.len() as u32)
    }

    /// Adds baskets to a branch.
    ///
    /// # Errors
    /// Returns an error if the branch does not exist.
    pub(crate) fn grow(&mut self, field: usize, more: Grown) -> Result<()> {
        let branch = self.base.branch(field as u32)?;
        let filled = &mut self.filled[field];
        filled.baskets.extend(more.baskets);
        filled.total += more.total;
        filled.stored += more.stored;
        filled.maps |= more.maps;
        let bounded = |largest: u64| i64::try_from(largest).unwrap_or(i64::MAX).min(i64::from(i32::MAX) - 1);
        let largest = bounded(more.largest);
        if let Some(member) = &branch.member {
            // The member counts the items of a collection or array.
            let counted = more.leaves.first().map_or(0, |own| bounded(*own));
            let largest = if matches!(member.kind, 3 | 4) { largest } else { counted };
            filled.maximum = filled.maximum.max(largest);
        }
        for (at, (leaf, extremes)) in
            branch.object.list("fLeaves").flatten().zip(&mut filled.leaves).enumerate()
        {
            let largest = more.leaves.get(at).map_or(largest, |own| bounded(*own).max(largest));
            let raise = |value: i64| extremes.maximum.map(|known| known.max(value));
            if leaf.class() == "TLeafC" {
                // The length includes the terminating NUL.
                extremes.maximum = raise(largest + 1);
                extremes.length = extremes.length.max(largest + 1);
            } else if leaf.int("fIsRange") == Some(1) {
                extremes.maximum = raise(largest);
            }
        }
        Ok(())
    }

    /// Ends the extension. `entries` is the new number of entries; `clusters` has the last entry and the
    /// cluster size of each added run of clusters; `index` has the major and minor number of each entry, if
    /// known.
    pub(crate) fn end_growth(
        &mut self,
        entries: u64,
        clusters: &[(u64, u64)],
        index: Option<Vec<(i64, i64)>>,
    ) {
        for &(last, size) in clusters {
            self.cluster(last + 1, size);
        }
        match (&mut self.index, index) {
            (Index::Of(Some(_), all), Some(values)) => {
                let numbered = values.into_iter().zip(self.entries.cast_signed()..);
                all.extend(numbered.map(|((major, minor), entry)| (major, minor, entry)));
            }
            (Index::Of(None, _), _) => {}
            (index, _) => *index = Index::Lost,
        }
        self.entries = entries;
        self.trees += 1;
    }
}
