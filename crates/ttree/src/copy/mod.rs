//! Trees copied to another file: baskets as they are stored, and the tree's record with edits.
//!
//! A [`TreeCopy`] begins with a tree whose record is the pattern. Each tree that is [added](TreeCopy::add)
//! must store the same branches in the same way. Baskets whose entries are all selected are copied byte by
//! byte; partly selected ones, and those in the tree's record, are divided entry by entry. Only pointers to
//! objects are parsed within an entry (`relocate.rs`), so branches of any class can be copied, described or
//! not. At the end the record of the first tree is written with the new baskets, numbers
//! and clusters ([`Edits`](forthwith_root::write::Edits)), so that members unknown here are kept.

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

/// How trees are copied.
#[derive(Clone, Copy, Debug, Default)]
pub struct CopyOptions {
    /// Baskets are compressed in this way, and not as they are.
    pub compression: Option<Compression>,
    /// Branches that only a later tree has are left out there, instead of an error.
    pub leave_more: bool,
}

/// The processes that made the objects of a file, by their names: references to objects count them.
#[derive(Clone, Debug, Default)]
pub struct Processes {
    /// How many the new file had before those of this one.
    pub before: u16,
    /// Those of the file, in the order of their numbers.
    pub own: Vec<String>,
    /// Those of the new file.
    pub all: Arc<[String]>,
}

/// Called with the bytes of baskets that were copied since the last call; an answer of `false` ends the copy.
pub type CopyProgress<'p> = dyn FnMut(u64) -> bool + 'p;

/// A tree being copied, or several being merged. See the [module](self).
pub struct TreeCopy {
    base: Tree,
    options: CopyOptions,
    class: String,
    name: String,
    directory: DirectoryId,
    /// Whether a branch is copied, by its number.
    kept: Vec<bool>,
    /// Baskets and sums of each branch; the branch of references to objects is last.
    filled: Vec<Filled>,
    entries: u64,
    trees: u64,
    /// Entries behind each range of clusters, and the entries of each of them: 0 where that is not known.
    clusters: Vec<(u64, u64)>,
    flushed: bool,
    /// Whether entries were left out.
    cut: bool,
    /// Whether baskets stay where they are, in the same file.
    stays: bool,
    index: Index,
    /// What the new tree has to say of the tables of references, and how many entries have one.
    table: Option<Table>,
    tabled: u64,
    /// Entries that a branch has baskets for, apart from those tables.
    held: u64,
}

/// The index of all trees, as far as they all have one.
#[derive(Debug)]
enum Index {
    /// What major and minor number are, where a tree has said so, and both of them with the entry.
    Of(Option<[String; 2]>, Vec<(i64, i64, i64)>),
    Lost,
}

/// What a branch has come to.
#[derive(Clone, Debug, Default)]
struct Filled {
    baskets: Vec<Placed>,
    total: u64,
    stored: u64,
    maximum: i64,
    /// Whether objects in an entry may point to each other, so that ROOT has to remember where they are.
    maps: bool,
    /// The first and the end of the entries of a branch that has not those of its tree: it can only be copied,
    /// and nothing put behind it.
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
    /// The entry that it begins with.
    pub(crate) entry: u64,
    /// Bytes of the record.
    pub(crate) bytes: u32,
    pub(crate) position: u64,
}

/// The largest and smallest number that a leaf says it has, and its length.
#[derive(Clone, Copy, Debug, Default)]
struct Extremes {
    maximum: Option<i64>,
    minimum: Option<i64>,
    length: i64,
}

impl TreeCopy {
    /// Begins a copy of a tree into a directory of a new file, under a name. `is_kept` says of the path of
    /// each branch whether it is copied; branches that one of them needs, as arrays need their counters, are
    /// copied as well. No baskets are copied before the tree is [added](Self::add).
    ///
    /// # Errors
    /// The tree cannot be read; no branch of it is kept.
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

    /// Entries so far.
    #[must_use]
    pub const fn entries(&self) -> u64 {
        self.entries
    }

    /// Appends the entries of a tree, or those in some ranges of them, which ascend and do not touch each
    /// other. `processes` says what references in it count.
    ///
    /// # Errors
    /// A tree whose branches are not stored as those of the first one; a damaged tree or basket, one with
    /// entries that cannot be told from each other where some of them are left out; what the new file's sink
    /// says.
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

    /// Writes the tree's record.
    ///
    /// # Errors
    /// A record with something in it that cannot be changed; what the file's sink says.
    pub fn finish(self, writer: &mut FileWriter) -> Result<u64> {
        self.finish_with(writer, None)
    }

    /// Likewise, with more branches.
    pub(crate) fn finish_with(mut self, writer: &mut FileWriter, more: Option<&More<'_>>) -> Result<u64> {
        // Without a basket of tables nothing in the record counts them.
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
            // A basket that was written after the tree was saved may have more.
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
        // That baskets have as many entries as the record says was found when they were copied, or just now.
        self.held = self.held.max(skipped.before(held));
        if let Some(tables) = tables {
            self.fill_tables_before(writer, skipped.before(tables.start), progress)?;
            self.tabled = skipped.before(tables.end.min(entries));
        }
        self.end(&tree, ranges, chosen);
        Ok(())
    }

    /// Which branch of a tree each kept branch of the first is.
    fn matched(&self, tree: &Tree) -> Result<Vec<Option<Number>>> {
        let mut numbers = Vec::with_capacity(self.kept.len() + 1);
        let mut others = vec![false; tree.fields()?.len()];
        // Paths can be repeated: the first is then the first, the second the second.
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

    /// How entries of a branch are compressed that are not copied as they are.
    fn compression(&self, branch: &Branch<'_>, writer: &FileWriter) -> Compression {
        self.options.compression.or(compression_of(branch)).unwrap_or(writer.compression())
    }

    /// Notes what the new branch has to say of the one of a tree.
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

    /// Notes clusters of one size, 0 if it is not known, up to an entry.
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

    /// Notes what the tree as a whole says, when its baskets were copied.
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
            // Where entries are left out, clusters are of no one size.
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
            // ROOT makes no index of a tree without entries.
            (Index::Of(..), None) if info.entries == 0 => {}
            (index, _) => *index = Index::Lost,
        }
        self.entries += chosen;
        self.trees += 1;
    }
}

forthwith_io::impl_debug!(TreeCopy, |it| "name": it.name, "entries": it.entries);

/// Whether clusters of a size end where the last range does.
fn is_multiple(clusters: &[(u64, u64)], size: u64) -> bool {
    let begin = clusters.len().checked_sub(2).map_or(0, |at| clusters[at].0);
    let end = clusters.last().map_or(0, |last| last.0);
    size > 0 && (end - begin).is_multiple_of(size)
}

/// How a branch says that it is compressed.
pub(crate) fn compression_of(branch: &Branch<'_>) -> Option<Compression> {
    let setting = branch.object.int("fCompress")?;
    Compression::from_setting(i32::try_from(setting).ok()?).ok()
}

/// The branch of a tree that a branch of the first one is.
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

/// The bit of a branch in whose entries no objects are pointed to (`kDoNotUseBufferMap`). A branch that is
/// never filled has it.
const NO_MAP: i64 = 1 << 22;
/// What the branch is called that holds references to objects.
pub(crate) const REFERENCES: &str = "TRefTable";
