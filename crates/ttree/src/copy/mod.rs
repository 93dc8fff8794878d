//! Trees copied to another file: their baskets as they are stored, their record with what changes in it.
//!
//! A [`TreeCopy`] begins with a tree whose record is the pattern. Each tree that is [added](TreeCopy::add)
//! has to store the same branches in the same way. Baskets all of whose entries are wanted are copied byte by
//! byte; those that are cut, and those that were never flushed, are taken apart entry by entry, without a
//! look at what an entry holds: so branches of all classes can be copied. At the end the record of the first
//! tree is written with the new baskets, numbers and clusters ([`Edits`](forthwith_root::write::Edits)), so
//! that it keeps all that nothing here knows of.

mod basket;
mod grow;
mod layout;
mod record;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use forthwith_io::Source;
use forthwith_plan::{BlockRunner, BlockSink, Dataset, Error, ErrorKind, Result, Scratch, StoredBlock};
use forthwith_root::write::{Compression, DirectoryId, FileWriter, KeyKind, KeyText};
use forthwith_root::{Cursor, Found, RootFile, check_record};

use crate::baskets::{BasketRef, Bytes};
use crate::format::{Basket, misplaced};
use crate::metadata::Branch;
use crate::tree::Tree;
use basket::{Batch, Job, Pending, Work, header};
pub(crate) use grow::Grown;
pub(crate) use record::{IndexValues, values_of};

/// How trees are copied.
#[derive(Clone, Copy, Debug, Default)]
pub struct CopyOptions {
    /// Baskets are compressed in this way, and not as they are.
    pub compression: Option<Compression>,
    /// Branches that only a later tree has are left out there, instead of an error.
    pub leave_more: bool,
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
    /// What has become of each branch; that of references to objects comes last.
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

/// A basket of the new file.
#[derive(Clone, Copy, Debug)]
struct Placed {
    entry: u64,
    bytes: u32,
    position: u64,
}

/// The largest and smallest number that a leaf says it has, and its length.
#[derive(Clone, Copy, Debug, Default)]
struct Extremes {
    maximum: Option<i64>,
    minimum: Option<i64>,
    length: i64,
}

/// A basket that is to be copied.
struct Task {
    field: u32,
    basket: BasketRef,
    /// Which of the sources it is in.
    source: usize,
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
        let kept = base.needed(is_kept).map_err(place)?;
        let branches = base.fields()?.len();
        if branches > 0 && !kept.contains(&true) {
            let what = "a copy of a tree without any of its branches".into();
            return Err(place(Error::new(ErrorKind::Invalid { what })));
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
        })
    }

    /// Entries so far.
    #[must_use]
    pub const fn entries(&self) -> u64 {
        self.entries
    }

    /// Appends the entries of a tree, or those in some ranges of them, which ascend and do not touch each
    /// other. `processes` is the number of process ids that the new file had before those of this one.
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
        processes: u16,
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
        let place = |error: Error| error.in_file(self.base.uri()).in_object(self.base.object());
        let title = self.base.info().title.clone();
        let key = KeyText { class: &self.class, name: &self.name, title: &title };
        let edits = record::edits(&self).map_err(place)?;
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
        processes: u16,
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
        let mut sources = vec![Arc::clone(file.source())];
        let mut tasks = Vec::new();
        let mut branches = Vec::new();
        for (field, number) in (0..).zip(&numbers) {
            let Some(number) = number else { continue };
            let branch = match number {
                Number::Field(number) => tree.branch(*number)?,
                Number::References => match tree.references() {
                    Some(branch) => branch,
                    None => continue,
                },
            };
            let placed = |error: Error| error.in_object(&format!("{}/{}", found.path, branch.field.path));
            self.note(field, &branch);
            let baskets = tree.baskets(&branch).map_err(placed)?;
            let own = baskets.first().map_or(0, |basket| basket.entries.start)
                ..baskets.last().map_or(0, |basket| basket.entries.end);
            let lacks = branch.field.has_data && own != (0..entries) && branch.field.path != REFERENCES;
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
                    sources.push(file.source().beside(name)?);
                    sources.len() - 1
                }
            };
            tasks.extend(baskets.into_iter().map(|basket| Task { field, basket, source }));
            branches.push((field, branch));
        }
        arrange(&mut tasks);
        let mut run = Run {
            writer,
            copy: self,
            runner,
            progress,
            sources: &sources,
            branches: branches.into_iter().collect(),
            window: Window::default(),
            bytes: Vec::new(),
            jobs: Vec::new(),
            job_bytes: 0,
            pending: BTreeMap::new(),
            processes,
            scratch: Scratch::new(),
            record: tree.payload(),
            path: found.path.clone(),
        };
        let skipped = Skipped::of(ranges, run.copy.entries);
        for task in &tasks {
            let (kept, first) = skipped.within(&task.basket.entries);
            let done = run.task(task, &kept, first);
            done.map_err(|error| match run.branches.get(&task.field) {
                Some(branch) => error
                    .in_block(task.basket.number)
                    .in_object(&format!("{}/{}", found.path, branch.field.path)),
                None => error,
            })?;
        }
        run.finish()?;
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
        match (self.base.references().is_some(), tree.references().is_some()) {
            (true, _) | (_, true) if self.trees > 0 => {
                Err(Error::unsupported("merging trees with a table of references to objects (fBranchRef)"))
            }
            (references, _) => {
                numbers.push(references.then_some(Number::References));
                Ok(numbers)
            }
        }
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

impl std::fmt::Debug for TreeCopy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TreeCopy")
            .field("name", &self.name)
            .field("entries", &self.entries)
            .finish_non_exhaustive()
    }
}

/// Whether clusters of a size end where the last range does.
fn is_multiple(clusters: &[(u64, u64)], size: u64) -> bool {
    let begin = clusters.len().checked_sub(2).map_or(0, |at| clusters[at].0);
    let end = clusters.last().map_or(0, |last| last.0);
    size > 0 && (end - begin).is_multiple_of(size)
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
    Error::new(ErrorKind::Invalid { what })
}

fn check_ranges(ranges: &[Range<u64>], entries: u64) -> Result<()> {
    let mut behind = None;
    for range in ranges {
        if range.is_empty() || range.end > entries || behind.is_some_and(|behind| range.start <= behind) {
            let what =
                format!("entries {range:?} of a tree that has {entries}: ranges ascend and do not touch");
            return Err(Error::new(ErrorKind::Invalid { what }));
        }
        behind = Some(range.end);
    }
    Ok(())
}

/// Puts baskets in the order of the file, if that is also the order of the entries of each branch.
fn arrange(tasks: &mut [Task]) {
    let place = |task: &Task| match &task.basket.bytes {
        Bytes::File(range) => (task.source, range.start),
        _ => (usize::MAX, task.basket.entries.start),
    };
    tasks.sort_by_key(place);
    let mut ends: BTreeMap<u32, u64> = BTreeMap::new();
    let ascends = tasks.iter().all(|task| {
        let before = ends.insert(task.field, task.basket.entries.end);
        before.unwrap_or(0) <= task.basket.entries.start
    });
    if !ascends {
        tasks.sort_by_key(|task| (task.basket.entries.start, task.field));
    }
}

/// Which entries are kept, and what number each gets.
struct Skipped<'r> {
    ranges: &'r [Range<u64>],
    /// The number that the first entry of each range gets.
    firsts: Vec<u64>,
    end: u64,
}

impl<'r> Skipped<'r> {
    fn of(ranges: &'r [Range<u64>], base: u64) -> Self {
        let mut end = base;
        let mut first = |range: &Range<u64>| {
            let first = end;
            end += range.end - range.start;
            first
        };
        let firsts = ranges.iter().map(&mut first).collect();
        Self { ranges, firsts, end }
    }

    /// The parts of a range that are kept, and the number that the first of their entries gets.
    fn within(&self, entries: &Range<u64>) -> (Vec<Range<u64>>, u64) {
        let first = self.ranges.partition_point(|range| range.end <= entries.start);
        let kept = self.ranges[first..].iter().take_while(|range| range.start < entries.end);
        let kept = kept.map(|range| range.start.max(entries.start)..range.end.min(entries.end)).collect();
        (kept, self.before(entries.start))
    }

    /// The number that the first kept entry from here on gets.
    fn before(&self, entry: u64) -> u64 {
        let at = self.ranges.partition_point(|range| range.end <= entry);
        match (self.ranges.get(at), self.firsts.get(at)) {
            (Some(range), Some(first)) => first + entry.saturating_sub(range.start),
            _ => self.end,
        }
    }

    /// The number that an entry gets, if it is kept.
    fn place(&self, entry: u64) -> Option<u64> {
        let at = self.ranges.partition_point(|range| range.end <= entry);
        let range = self.ranges.get(at).filter(|range| range.start <= entry)?;
        Some(self.firsts.get(at)? + entry - range.start)
    }
}

/// Records that stand one behind the other in a file, and are read and written together.
#[derive(Default)]
struct Window {
    source: usize,
    bytes: Range<u64>,
    /// Field, entries of the basket, the number of its first entry in the new file.
    records: Vec<(u32, u64, u64)>,
    lengths: Vec<u32>,
}

/// The baskets of one tree on their way.
struct Run<'a, 't> {
    writer: &'a mut FileWriter,
    copy: &'a mut TreeCopy,
    runner: &'a dyn BlockRunner,
    progress: &'a mut CopyProgress<'a>,
    sources: &'a [Arc<dyn Source>],
    branches: BTreeMap<u32, Branch<'t>>,
    window: Window,
    /// The window's bytes; the memory is used again.
    bytes: Vec<u8>,
    jobs: Vec<Job>,
    job_bytes: usize,
    pending: BTreeMap<u32, (u64, Pending)>,
    processes: u16,
    scratch: Scratch,
    record: bytes::Bytes,
    /// Where the tree is, for errors.
    path: String,
}

impl Run<'_, '_> {
    /// Copies what is kept of a basket. `first` is the number that the first of its kept entries gets.
    fn task(&mut self, task: &Task, kept: &[Range<u64>], first: u64) -> Result<()> {
        let entries = &task.basket.entries;
        let whole = matches!(kept, [range] if range == entries);
        match &task.basket.bytes {
            _ if kept.is_empty() => self.tell(task.basket.len()),
            Bytes::File(range) if whole && self.copy.stays => {
                let bytes = u32::try_from(range.end - range.start)
                    .map_err(|_| Error::unsupported("a basket of more than 4 GB"))?;
                let placed = Placed { entry: first, bytes, position: range.start };
                self.copy.filled[task.field as usize].baskets.push(placed);
                Ok(())
            }
            Bytes::File(range) if whole => {
                if self.pending.get(&task.field).is_some_and(|(_, pending)| pending.len() > 0) {
                    self.end_pending(task.field)?;
                }
                let count = entries.end - entries.start;
                match self.copy.options.compression {
                    Some(compression) => self.again(task, range, count, first, compression),
                    None => self.stored(task, range, count, first),
                }
            }
            Bytes::File(range) => {
                let record = self.read(task.source, range)?;
                self.take_apart(task, &record, kept, first)
            }
            Bytes::Record(range) => {
                let payload = self.record.clone();
                let record = payload.get(range.clone()).unwrap_or_default();
                self.take_apart(task, record, kept, first)
            }
            &Bytes::Nowhere(seek, length) => Err(misplaced(seek, length, self.sources[task.source].size()?)),
        }
    }

    /// Copies a record as it is, together with those beside it.
    fn stored(&mut self, task: &Task, range: &Range<u64>, count: u64, first: u64) -> Result<()> {
        let window = &self.window;
        let goes_on = !window.records.is_empty()
            && window.source == task.source
            && window.bytes.end == range.start
            && range.end - window.bytes.start <= WINDOW;
        if !goes_on {
            self.end_window()?;
            self.end_jobs()?;
            self.window.source = task.source;
            self.window.bytes = range.start..range.start;
        }
        let length = u32::try_from(range.end - range.start)
            .map_err(|_| Error::unsupported("a basket of more than 4 GB"))?;
        self.window.bytes.end = range.end;
        self.window.records.push((task.field, count, first));
        self.window.lengths.push(length);
        Ok(())
    }

    /// Compresses a record in another way.
    fn again(
        &mut self,
        task: &Task,
        range: &Range<u64>,
        count: u64,
        first: u64,
        compression: Compression,
    ) -> Result<()> {
        let record = self.read(task.source, range)?;
        check(&record, count)?;
        self.job(task.field, count, first, compression, Work::Record(record))
    }

    fn take_apart(&mut self, task: &Task, record: &[u8], kept: &[Range<u64>], first: u64) -> Result<()> {
        let Some(branch) = self.branches.get(&task.field) else { return Ok(()) };
        let pointers = branch.member.as_ref().is_some_and(|member| !member.class.ends_with('>'));
        let (begin, pending) = self.pending.entry(task.field).or_default();
        if pending.len() == 0 {
            *begin = first;
        }
        pending.add(record, &task.basket.entries, kept, pointers, &mut self.scratch)?;
        let size = branch.object.int("fBasketSize").unwrap_or(0);
        let full = pending.bytes() >= usize::try_from(size).unwrap_or(0).max(LEAST_BASKET);
        let bytes = task.basket.len();
        if full {
            self.end_pending(task.field)?;
        }
        self.tell(bytes)
    }

    /// Makes a basket of the entries that wait.
    fn end_pending(&mut self, field: u32) -> Result<()> {
        let Some(branch) = self.branches.get(&field) else { return Ok(()) };
        let Some((first, pending)) = self.pending.get_mut(&field).filter(|(_, pending)| pending.len() > 0)
        else {
            return Ok(());
        };
        let first = *first;
        let key = KeyText { class: "TBasket", name: &branch.field.name, title: &self.copy.name };
        let kind = KeyKind::Basket { number: 0, header: [0; 19] };
        let key_len = self.writer.key_length(key, kind)?;
        let count = pending.len() as u64;
        let made = pending.take(branch.entry_offset_len != 0, key_len.into());
        let own = branch.object.int("fCompress").and_then(|setting| i32::try_from(setting).ok());
        let own = own.and_then(|setting| Compression::from_setting(setting).ok());
        let compression = self.copy.options.compression.or(own).unwrap_or(self.writer.compression());
        self.job(field, count, first, compression, Work::Made(made))
    }

    fn job(
        &mut self,
        field: u32,
        entries: u64,
        first: u64,
        compression: Compression,
        work: Work,
    ) -> Result<()> {
        self.end_window()?;
        self.job_bytes += match &work {
            Work::Record(record) => record.len(),
            Work::Made(made) => made.payload.len(),
            Work::Taken => 0,
        };
        self.jobs.push(Job { field, entries, first, compression, work: Mutex::new(work) });
        if self.job_bytes >= BATCH || self.jobs.len() >= MOST_JOBS { self.end_jobs() } else { Ok(()) }
    }

    fn end_window(&mut self) -> Result<()> {
        let window = std::mem::take(&mut self.window);
        if window.records.is_empty() {
            return Ok(());
        }
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.resize(within_file(&window.bytes), 0);
        self.sources[window.source].read_into(window.bytes.start, &mut bytes)?;
        let mut totals = Vec::with_capacity(window.records.len());
        let mut at = 0;
        for (&(field, count, _), &length) in window.records.iter().zip(&window.lengths) {
            let record = &bytes[at..at + length as usize];
            let path = self.branches.get(&field).map_or("", |branch| &branch.field.path);
            totals.push(
                check(record, count).map_err(|error| error.in_object(&format!("{}/{path}", self.path)))?,
            );
            at += length as usize;
        }
        let places = self.writer.stored(self.copy.directory, &mut bytes, &window.lengths, self.processes)?;
        let Some(places) = places else {
            let what = "copying baskets whose keys have no room for places behind 2 GB";
            return Err(Error::unsupported(what));
        };
        for (((&(field, _, first), &length), total), position) in
            window.records.iter().zip(&window.lengths).zip(totals).zip(places)
        {
            self.copy.filled[field as usize].add(Placed { entry: first, bytes: length, position }, total);
        }
        self.bytes = bytes;
        self.tell(at as u64)
    }

    fn end_jobs(&mut self) -> Result<()> {
        let jobs = std::mem::take(&mut self.jobs);
        self.job_bytes = 0;
        if jobs.is_empty() {
            return Ok(());
        }
        let runner = self.runner;
        let mut sink = JobSink { run: self, jobs: &jobs };
        runner.run(&Batch(&jobs), &mut sink)
    }

    fn finish(mut self) -> Result<()> {
        let waiting: Vec<u32> = self.pending.keys().copied().collect();
        waiting.into_iter().try_for_each(|field| self.end_pending(field))?;
        self.end_window()?;
        self.end_jobs()
    }

    fn read(&self, source: usize, range: &Range<u64>) -> Result<Vec<u8>> {
        let mut bytes = vec![0; within_file(range)];
        self.sources[source].read_into(range.start, &mut bytes)?;
        Ok(bytes)
    }

    fn tell(&mut self, bytes: u64) -> Result<()> {
        if (self.progress)(bytes) { Ok(()) } else { Err(Error::new(ErrorKind::Cancelled)) }
    }
}

struct JobSink<'s, 'a, 't> {
    run: &'s mut Run<'a, 't>,
    jobs: &'s [Job],
}

impl BlockSink for JobSink<'_, '_, '_> {
    fn take(&mut self, block: usize, stored: &mut StoredBlock) -> Result<()> {
        let job = &self.jobs[block];
        let run = &mut *self.run;
        let Some(branch) = run.branches.get(&job.field) else { return Ok(()) };
        let directory = run.copy.directory;
        let work = job.work.lock().unwrap_or_else(PoisonError::into_inner);
        let filled = &mut run.copy.filled[job.field as usize];
        let Work::Made(made) = &*work else {
            let length = stored.bytes.len() as u32;
            let places = run.writer.stored(directory, &mut stored.bytes, &[length], run.processes)?;
            let Some(&[position]) = places.as_deref() else {
                let what = "copying baskets whose keys have no room for places behind 2 GB";
                return Err(Error::unsupported(what));
            };
            let total = check(&stored.bytes, job.entries)?;
            filled.add(Placed { entry: job.first, bytes: length, position }, total);
            return (run.progress)(length.into())
                .then_some(())
                .ok_or_else(|| Error::new(ErrorKind::Cancelled));
        };
        let key = KeyText { class: "TBasket", name: &branch.field.name, title: &run.copy.name };
        let number = filled.baskets.len() as u32;
        let key_len = run.writer.key_length(key, KeyKind::Basket { number, header: [0; 19] })?;
        let kind = KeyKind::Basket { number, header: header(made, key_len.into()) };
        let length = made.payload.len();
        let place = run.writer.basket(key, directory, kind, length, &stored.bytes, run.processes)?;
        // The length of a record was compared with what keys have room for.
        let bytes = place.length() as u32;
        let total = u64::from(place.key_len) + length as u64;
        filled.add(Placed { entry: job.first, bytes, position: place.position }, total);
        Ok(())
    }
}

impl Filled {
    fn add(&mut self, placed: Placed, total: u64) {
        self.baskets.push(placed);
        self.total += total;
        self.stored += u64::from(placed.bytes);
    }
}

/// The length of a range of a file. It is that of memory as well: branches were compared with the file's size.
fn within_file(range: &Range<u64>) -> usize {
    (range.end - range.start) as usize
}

/// Whether a record is a basket of so many entries, and how long it is when it is not compressed.
fn check(record: &[u8], entries: u64) -> Result<u64> {
    let basket = Basket::parse(&mut Cursor::new(record))?;
    let mismatch = |what, expected, found| Error::new(ErrorKind::Mismatch { what, expected, found });
    if u64::from(basket.entries()) != entries {
        return Err(mismatch("number of entries in the basket", entries, basket.entries().into()));
    }
    let length = record.len() as u64;
    if u64::from(basket.nbytes) != length || u64::from(basket.key_len()) > length {
        return Err(mismatch("length of the basket", length, basket.nbytes.into()));
    }
    let (stored, object_len) = (&record[basket.key_len() as usize..], basket.object_len() as usize);
    if object_len > stored.len() {
        check_record(stored, object_len)?;
    }
    Ok(u64::from(basket.key_len()) + object_len as u64)
}

/// The bit of a branch in whose entries no objects are pointed to (`kDoNotUseBufferMap`). A branch that is
/// never filled has it.
const NO_MAP: i64 = 1 << 22;
/// What the branch is called that holds references to objects.
pub(crate) const REFERENCES: &str = "TRefBranch";
/// Records that stand beside each other are read and written in pieces of this length, which caches hold.
const WINDOW: u64 = 512 << 10;
/// Bytes of baskets that are compressed together, and how many they are at most.
const BATCH: usize = 32 << 20;
const MOST_JOBS: usize = 1024;
/// A basket of entries that were taken out of others has as many bytes at least.
const LEAST_BASKET: usize = 32_000;
