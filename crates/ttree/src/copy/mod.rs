//! Copies trees to another file: baskets as they are stored, and the tree's record with edits.
//!
//! A [`TreeCopy`] begins with a tree whose record is the template. Each tree that is [added](TreeCopy::add)
//! must store the same branches in the same way. Baskets whose entries are all selected are copied byte by
//! byte; partly selected ones, and those in the tree's record, are divided into entries. Within an entry,
//! only pointers to objects are parsed (`relocate.rs`), so that branches of any class can be copied, with or
//! without streamer info. At the end, the record of the first tree is written with the new baskets, numbers
//! and clusters ([`Edits`](forthwith_root::write::Edits)), which preserves all other members.

mod basket;
mod entries;
mod grow;
mod layout;
mod origin;
mod record;
mod record_runs;
mod references;
mod relocate;
mod run;

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::Arc;

use forthwith_plan::{BlockRunner, Dataset, Error, Result, Scratch};
use forthwith_root::write::{Compression, DirectoryId, FileWriter, KeyText};
use forthwith_root::{Found, RootFile};

use crate::metadata::Branch;
use crate::tree::Tree;
pub(crate) use basket::{Filling, array, basket_text, write_basket};
use entries::{Skipped, check_ranges};
pub(crate) use grow::{Grown, More};
use origin::Origin;
pub(crate) use record::{IndexValues, values_of, write_index};
use references::Table;
use relocate::Relocation;
use run::{Into, Run, Task, Waiting, arrange};

/// Options for copying trees.
#[derive(Clone, Copy, Debug, Default)]
pub struct CopyOptions {
    /// Codec for baskets; by default they are copied without recompression.
    pub compression: Option<Compression>,
    /// Whether branches that the first tree lacks are left out, rather than an error.
    pub leave_more: bool,
}

/// Processes (`TProcessID`) that created the objects of a file, by name. References to objects contain their
/// indexes.
#[derive(Clone, Debug, Default)]
pub struct Processes {
    /// Number of processes that the new file had before it got those of this file.
    pub before: u16,
    /// Processes of the file, by index.
    pub own: Vec<String>,
    /// Processes of the new file, by index.
    pub all: Arc<[String]>,
}

/// Called with the number of bytes of baskets that were copied since the last call. Returning `false` cancels
/// the copy.
pub type CopyProgress<'p> = dyn FnMut(u64) -> bool + 'p;

/// A copy of a tree, or a merge of several. See the [module](self).
pub struct TreeCopy {
    base: Tree,
    options: CopyOptions,
    class: String,
    name: String,
    directory: DirectoryId,
    /// Whether each branch is copied.
    kept: Vec<bool>,
    /// Baskets and statistics of each branch; the branch of references to objects is last.
    filled: Vec<Filled>,
    entries: u64,
    trees: u64,
    /// For each range of clusters, the entry after it and the number of entries in a cluster, or 0 if that is
    /// unknown.
    clusters: Vec<(u64, u64)>,
    flushed: bool,
    /// Whether entries were left out.
    cut: bool,
    /// Whether baskets stay in place, in the same file.
    stays: bool,
    index: Index,
    /// Reference table of the new tree, and the number of entries that have one.
    table: Option<Table>,
    tabled: u64,
    /// Largest number of entries for which a branch has baskets, without the branch of references.
    held: u64,
}

/// Index (`TTreeIndex`) of the copied trees.
#[derive(Debug)]
enum Index {
    /// Expressions of the major and minor number, once known, and for each entry both numbers with its index.
    Of(Option<[String; 2]>, Vec<(i64, i64, i64)>),
    Lost,
}

/// Baskets and statistics of a copied branch.
#[derive(Clone, Debug, Default)]
struct Filled {
    baskets: Vec<Placed>,
    total: u64,
    stored: u64,
    maximum: i64,
    /// Whether entries may have pointers to objects, so that ROOT has to map them.
    maps: bool,
    /// Range of entries, if it is not that of the tree. Such a branch can be copied, but not extended.
    short: Option<Range<u64>>,
    leaves: Vec<Extremes>,
}

impl Filled {
    fn add(&mut self, placed: Placed, total: u64) {
        self.baskets.push(placed);
        self.total += total;
        self.stored += u64::from(placed.bytes);
    }
}

/// A basket of the new file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placed {
    /// First entry of the basket.
    pub(crate) entry: u64,
    /// Length of the record in bytes.
    pub(crate) bytes: u32,
    pub(crate) position: u64,
}

/// Largest and smallest value in a leaf's record, and its length (`fLen`).
#[derive(Clone, Copy, Debug, Default)]
struct Extremes {
    maximum: Option<i64>,
    minimum: Option<i64>,
    length: i64,
}

impl TreeCopy {
    /// Begins a copy of a tree under `name` in a directory of the new file. `is_kept` selects branches by
    /// their paths; branches that a selected one needs, such as the counters of arrays, are copied, too. No
    /// baskets are copied before the tree is [added](Self::add).
    ///
    /// # Errors
    /// Returns an error if the tree cannot be read, or if no branch is selected.
    pub fn new(
        file: &RootFile,
        found: &Found,
        directory: DirectoryId,
        name: &str,
        is_kept: &dyn Fn(&str) -> bool,
        options: CopyOptions,
    ) -> Result<Self> {
        let place = |error: Error| error.in_file(file.uri()).in_object(&found.path);
        let objects = file.object_to_edit(&found.key)?;
        let base = Tree::of(file, &found.path, objects).map_err(place)?;
        let kept = base.metadata.needed(is_kept).map_err(place)?;
        let branches = base.fields()?.len();
        if branches > 0 && !kept.contains(&true) {
            let what = "no branch of the tree was chosen";
            return Err(place(Error::invalid(what)));
        }
        Ok(Self {
            options,
            class: found.key.class_name.to_string(),
            name: name.to_owned(),
            directory,
            kept,
            filled: vec![Filled::default(); branches + 1],
            base,
            entries: 0,
            trees: 0,
            clusters: Vec::new(),
            flushed: true,
            cut: false,
            stays: false,
            index: Index::Of(None, Vec::new()),
            table: None,
            tabled: 0,
            held: 0,
        })
    }

    /// Returns the number of entries so far.
    #[must_use]
    pub const fn entries(&self) -> u64 {
        self.entries
    }

    /// Appends the entries of a tree, or only those in `ranges`, which must be ascending and not adjacent.
    /// `processes` names the processes to which its references refer.
    ///
    /// # Errors
    /// Returns an error if the branches of the tree are not stored as those of the first one, if the tree or
    /// a basket is damaged, if entries to be left out cannot be separated from others, or if writing fails.
    pub fn add(
        &mut self,
        writer: &mut FileWriter,
        (file, found): (&RootFile, &Found),
        ranges: Option<&[Range<u64>]>,
        processes: &Processes,
        runner: &dyn BlockRunner,
        progress: &mut CopyProgress<'_>,
    ) -> Result<()> {
        let added = self.add_tree(writer, (file, found), ranges, processes, runner, progress);
        added.map_err(|error| error.in_file(file.uri()).in_object(&found.path))
    }

    /// Writes the tree's record. Returns the number of entries.
    ///
    /// # Errors
    /// Returns an error if the record has members that cannot be edited, or if writing fails.
    pub fn finish(self, writer: &mut FileWriter) -> Result<u64> {
        self.finish_with(writer, None)
    }

    /// Writes the tree's record as [`finish`](Self::finish) does, with additional branches.
    pub(crate) fn finish_with(mut self, writer: &mut FileWriter, more: Option<&More<'_>>) -> Result<u64> {
        // Without baskets of reference tables, no member of the record counts them.
        if self.tabled > 0 {
            let end = if self.stays { self.entries } else { self.entries.min(self.held) };
            self.fill_tables(writer, end, &mut |_| true)
                .map_err(|error| error.in_file(&self.base.uri).in_object(self.base.object()))?;
        }
        let place = |error: Error| error.in_file(&self.base.uri).in_object(self.base.object());
        let title = self.base.info().title.clone();
        let key = KeyText { class: &self.class, name: &self.name, title: &title };
        let edits = record::edits(&self, more).map_err(place)?;
        let mut done = Ok(());
        let written = writer.object(self.directory, key, |buffer| done = edits.write(buffer));
        done.map_err(place)?;
        written?;
        Ok(self.entries)
    }

    fn add_tree(
        &mut self,
        writer: &mut FileWriter,
        (file, found): (&RootFile, &Found),
        ranges: Option<&[Range<u64>]>,
        processes: &Processes,
        runner: &dyn BlockRunner,
        progress: &mut CopyProgress<'_>,
    ) -> Result<()> {
        let tree = Tree::open_found(file, found)?;
        let numbers = self.matched(&tree)?;
        let entries = tree.info().entries;
        let whole = std::iter::once(0..entries);
        let whole: Vec<Range<u64>> = whole.filter(|range| !range.is_empty()).collect();
        let ranges = ranges.unwrap_or(&whole);
        check_ranges(ranges, entries)?;
        writer.describe_from(&*file.streamers()?)?;
        let chosen: u64 = ranges.iter().map(|range| range.end - range.start).sum();
        let fields = self.kept.len();
        let ours: HashMap<u32, u32> = (0..)
            .zip(&numbers[..fields])
            .filter_map(|(ours, number)| match number {
                Some(Number::Field(theirs)) => Some((*theirs, ours)),
                _ => None,
            })
            .collect();
        let renumber = self.renumbered(&tree, processes, |field| ours.get(&field).copied())?;
        let skipped = Skipped::of(ranges, self.entries);
        let (mut tables, mut held) = (None, 0);
        let mut origins = vec![Origin::new(Arc::clone(file.source()))?];
        let mut tasks = Vec::new();
        let mut branches = Vec::new();
        let (walker, mut relocations) = (file.walker()?, BTreeMap::new());
        for (field, number) in (0..).zip(&numbers) {
            let Some(number) = number else { continue };
            let branch = match number {
                Number::Field(number) => tree.branch(*number)?,
                Number::References => match tree.metadata.references() {
                    Some(branch) => branch,
                    None => continue,
                },
            };
            let placed = |error: Error| error.in_object(&format!("{}/{}", found.path, branch.field.path));
            self.note(field, &branch);
            let baskets = tree.baskets(&branch).map_err(placed)?;
            let own = baskets.first().map_or(0, |basket| basket.entries.start)
                ..baskets.last().map_or(0, |basket| basket.entries.end);
            let is_table = matches!(number, Number::References);
            match is_table {
                true if baskets.is_empty() => {}
                true => tables = Some(own.clone()),
                false => held = own.end.min(entries).max(held),
            }
            // Baskets that were written after the tree was saved may have more entries.
            let own = own.start..if branch.unsaved.is_some() { own.end.min(entries) } else { own.end };
            let lacks = branch.field.has_data && own != (0..entries) && !is_table;
            if self.trees > 0 && (lacks || self.filled[field as usize].short.is_some()) {
                let which = if lacks { "entries" } else { "entries in the first tree" };
                let what = format!("a branch that has not all {which} of its tree, beside those of others");
                return Err(placed(Error::unsupported(what)));
            }
            if lacks {
                self.filled[field as usize].short = Some(own);
            }
            let source = match &*branch.file_name {
                "" => 0,
                name if self.stays => {
                    let what = format!("extending a branch whose baskets are in another file, {name:?}");
                    return Err(placed(Error::unsupported(what)));
                }
                name => {
                    origins.push(Origin::new(file.source().beside(name)?)?);
                    origins.len() - 1
                }
            };
            tasks.extend(baskets.into_iter().map(|basket| Task { field, basket, source }));
            if let Some(relocation) = Relocation::of(&tree, &branch, &walker).filter(|_| !is_table) {
                relocations.insert(field, relocation);
            }
            branches.push((field, branch));
        }
        arrange(&mut tasks);
        let is_unread = self.stays && tables.is_some();
        let into = Into { writer, copy: self, runner, progress, processes: processes.before };
        let mut run = Run {
            into,
            origins: &origins,
            branches: branches.into_iter().collect(),
            viewed: vec![false; origins.len()],
            record: tree.metadata.objects.payload().clone(),
            renumber,
            relocations,
            path: &found.path,
            is_old: file.header().version % 1_000_000 < 30_400,
            scratch: Scratch::new(),
            waiting: Waiting::default(),
        };
        for task in &tasks {
            let (kept, first) = skipped.within(&task.basket.entries);
            let done = run.task(task, &kept, first);
            done.map_err(|error| run.placed(error, task))?;
        }
        if is_unread {
            run.verify_one(&tasks, entries)?;
        }
        run.finish()?;
        // The entry counts of baskets were compared with the record when they were copied.
        self.held = self.held.max(skipped.before(held));
        if let Some(tables) = tables {
            self.fill_tables_before(writer, skipped.before(tables.start), progress)?;
            self.tabled = skipped.before(tables.end.min(entries));
        }
        self.end(&tree, ranges, chosen);
        Ok(())
    }

    /// Returns the branch of `tree` for each branch of the first tree, or `None` if it is not copied or is
    /// missing.
    fn matched(&self, tree: &Tree) -> Result<Vec<Option<Number>>> {
        let mut numbers = Vec::with_capacity(self.kept.len() + 1);
        let mut others = vec![false; tree.fields()?.len()];
        // Branches with equal paths are matched in their order.
        let mut theirs = tree.paths()?;
        let mut missing: Vec<&str> = Vec::new();
        for (number, (field, &kept)) in (0..).zip(self.base.fields()?.iter().zip(&self.kept)) {
            let found = theirs.get_mut(&*field.path).and_then(std::collections::VecDeque::pop_front);
            if let Some(found) = found {
                others[found as usize] = true;
            }
            match found {
                _ if !kept => numbers.push(None),
                Some(found) => {
                    if self.trees > 0 {
                        let compared = layout::compare(&self.base.branch(number)?, &tree.branch(found)?);
                        compared
                            .map_err(|error| error.in_object(&format!("{}/{}", tree.object(), field.path)))?;
                    }
                    numbers.push(Some(Number::Field(found)));
                }
                None => {
                    missing.push(&field.path);
                    numbers.push(None);
                }
            }
        }
        if !missing.is_empty() {
            return Err(unequal("lacks", &missing));
        }
        if !self.options.leave_more {
            let more = tree.fields()?.iter().zip(&others).filter(|(_, known)| !**known);
            let more: Vec<&str> = more.map(|(field, _)| &*field.path).collect();
            if !more.is_empty() {
                return Err(unequal("has", &more));
            }
        }
        match (self.base.metadata.references().is_some(), tree.metadata.references().is_some()) {
            (false, true) => {
                let what = "merging trees of which a later one alone has a table of references to objects (fBranchRef)";
                Err(Error::unsupported(what))
            }
            (_, references) => {
                numbers.push(references.then_some(Number::References));
                Ok(numbers)
            }
        }
    }

    /// Returns the compression of the baskets of a branch that are not copied unchanged.
    fn compression(&self, branch: &Branch<'_>, writer: &FileWriter) -> Compression {
        self.options.compression.or(compression_of(branch)).unwrap_or(writer.compression())
    }

    /// Merges the statistics of a tree's branch into those of the new one.
    fn note(&mut self, field: u32, branch: &Branch<'_>) {
        let filled = &mut self.filled[field as usize];
        if self.stays {
            (filled.total, filled.stored) = (branch.total_bytes, branch.zip_bytes);
        }
        filled.maximum = filled.maximum.max(branch.object.int("fMaximum").unwrap_or(0));
        filled.maps |= branch.object.int("fBits").is_some_and(|bits| bits & NO_MAP == 0);
        let leaves = branch.object.list("fLeaves").flatten();
        for (at, leaf) in leaves.enumerate() {
            if filled.leaves.len() <= at {
                filled.leaves.push(Extremes::default());
            }
            let extremes = &mut filled.leaves[at];
            let of = |name: &str| match leaf.member(name) {
                Some(forthwith_root::Value::Int(_) | forthwith_root::Value::UInt(_)) => leaf.int(name),
                _ => None,
            };
            extremes.maximum = extremes.maximum.max(of("fMaximum"));
            extremes.minimum = match (extremes.minimum, of("fMinimum")) {
                (Some(one), Some(other)) => Some(one.min(other)),
                (one, other) => one.or(other),
            };
            extremes.length = extremes.length.max(of("fLen").unwrap_or(0));
        }
    }

    /// Adds clusters of `size` entries, or of unknown size if it is 0, up to entry `end`.
    fn cluster(&mut self, end: u64, size: u64) {
        if end <= self.clusters.last().map_or(0, |&(end, _)| end) {
            return;
        }
        let goes_on = self.clusters.last().is_some_and(|&(_, before)| before == size)
            && is_multiple(&self.clusters, size);
        match self.clusters.last_mut().filter(|_| goes_on) {
            Some(last) => last.0 = end,
            None => self.clusters.push((end, size)),
        }
    }

    /// Merges the metadata of a tree after its baskets were copied.
    fn end(&mut self, tree: &Tree, ranges: &[Range<u64>], chosen: u64) {
        let info = tree.info();
        let base = self.entries;
        self.cut |= chosen != info.entries;
        self.flushed &= tree.is_flushed();
        let skipped = Skipped::of(ranges, base);
        let size = u64::try_from(info.auto_flush).unwrap_or(0);
        let last = (info.entries, if tree.is_flushed() { size } else { 0 });
        for &(end, size) in info.cluster_ranges.iter().chain([&last]) {
            let end = skipped.before(end.min(info.entries));
            // If entries are left out, the clusters differ in size.
            self.cluster(end, if chosen == info.entries { size } else { 0 });
        }
        match (&mut self.index, tree.index_values()) {
            (Index::Of(names, all), Some((theirs, values)))
                if names.as_ref().is_none_or(|own| *own == theirs) =>
            {
                *names = Some(theirs);
                let moved = values.into_iter().filter_map(|(major, minor, entry)| {
                    let entry = skipped.place(u64::try_from(entry).ok()?)?;
                    Some((major, minor, i64::try_from(entry).ok()?))
                });
                all.extend(moved);
            }
            // ROOT makes no index for a tree without entries.
            (Index::Of(..), None) if info.entries == 0 => {}
            (index, _) => *index = Index::Lost,
        }
        self.entries += chosen;
        self.trees += 1;
    }
}

forthwith_io::impl_debug!(TreeCopy, |it| "name": it.name, "entries": it.entries);

/// Returns whether the last range is a multiple of the cluster size.
fn is_multiple(clusters: &[(u64, u64)], size: u64) -> bool {
    let begin = clusters.len().checked_sub(2).map_or(0, |at| clusters[at].0);
    let end = clusters.last().map_or(0, |last| last.0);
    size > 0 && (end - begin).is_multiple_of(size)
}

/// Returns the compression setting of a branch.
pub(crate) fn compression_of(branch: &Branch<'_>) -> Option<Compression> {
    let setting = branch.object.int("fCompress")?;
    Compression::from_setting(i32::try_from(setting).ok()?).ok()
}

/// Branch of a tree that corresponds to one of the first tree.
#[derive(Clone, Copy, Debug)]
enum Number {
    Field(u32),
    References,
}

fn unequal(verb: &str, branches: &[&str]) -> Error {
    let named: Vec<&str> = branches.iter().copied().take(5).collect();
    let more = if branches.len() > 5 { format!(" and {} more", branches.len() - 5) } else { String::new() };
    let what =
        format!("trees of unequal branches: this one {verb} {}{more}, unlike the first", named.join(", "));
    Error::invalid(what)
}

/// Status bit of a branch without pointers in its entries (`kDoNotUseBufferMap`). A branch that was never
/// filled has it.
const NO_MAP: i64 = 1 << 22;
/// Name of the branch of references to objects in errors.
pub(crate) const REFERENCES: &str = "TRefTable";
