//! Merging ROOT files and copying parts of them: objects by path, tables basket by basket.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Range;
use std::sync::Arc;

use super::rewrite::{Rewriting, rewrite};
use super::{DEFAULT_TREE, NTUPLE};
use crate::{EntryBounds, Merge, MergeProgress, Merged};
use forthwith_engine::BlockThreads;
use forthwith_io::Sink;
use forthwith_plan::{BlockRunner, Dataset, Error, ErrorKind, OneThread, Result, check_headroom};
use forthwith_rntuple::{Ntuple, NtupleCopy, Options};
use forthwith_root::write::{
    Buffer, Compression, DirectoryId, Edits, FileSettings, FileWriter, KeyKind, KeyText, Sum,
    counts_processes,
};
use forthwith_root::{Found, Key, Objects, RootFile};
use forthwith_ttree::Tree;
use forthwith_ttree::copy::{CopyOptions, Processes, TreeCopy};

/// The objects of one path in all files.
pub(super) struct Item {
    path: String,
    class: String,
    /// Indexes of the files, with the objects in them: the newest cycle of each file, or all cycles of
    /// classes whose objects are not combined.
    found: Vec<(usize, Found)>,
}

impl Item {
    /// Creates the item of one object of the first file.
    pub(super) fn of(found: Found) -> Self {
        let (path, class) = (found.path.clone(), found.key.class_name.to_string());
        Self { path, class, found: vec![(0, found)] }
    }
}

/// Merges the objects of all files into one file.
///
/// Trees of one path are concatenated: their baskets are copied as they are stored. Histograms, graphs,
/// collections and other classes for which ROOT defines merging are combined by a [`Sum`]. Other objects of
/// one path become its cycles in the order of the files, as in the output of `hadd`, except for duplicates of
/// the first or the previous one.
///
/// # Errors
/// Returns the errors of [`merge`](crate::merge), and an error if the objects of one path have several
/// classes, or if the bins of histograms differ.
pub(super) fn merge(
    inputs: &[RootFile],
    sink: Box<dyn Sink>,
    compression: Option<Compression>,
    merge: &Merge,
    progress: &mut MergeProgress<'_>,
) -> Result<Merged> {
    let mut settings = FileSettings::of_all(inputs)?;
    if let Some(compression) = compression {
        settings.compression = compression;
    }
    let (mut items, total) = items(inputs, merge)?;
    let mut merged = Merged::default();
    if merge.common {
        merged.branchless = leave_branchless(inputs, &mut items)?;
    }
    check_entries(inputs, &items, merge)?;
    let mut writer = FileWriter::create(sink, settings)?;
    for file in inputs {
        writer.describe_from(&*file.streamers()?).map_err(|error| error.in_file(file.uri()))?;
    }
    let processes = processes(inputs, &mut writer)?;
    let threads = merge.threads.unwrap_or_else(forthwith_platform::parallelism);
    let runner: Box<dyn BlockRunner> =
        if threads > 1 { Box::new(BlockThreads::new(threads)) } else { Box::new(OneThread::default()) };
    let mut run = Run {
        inputs,
        merge,
        compression,
        writer: &mut writer,
        processes: &processes,
        runner: &*runner,
        progress,
        done: 0,
        total,
        merged,
    };
    for item in &items {
        run.item(item)?;
    }
    let mut merged = run.merged;
    merged.bytes = writer.finish()?;
    Ok(merged)
}

/// Returns the objects to copy, by path in the order of the files, and the total size of the files in bytes.
fn items(inputs: &[RootFile], merge: &Merge) -> Result<(Vec<Item>, u64)> {
    let mut items: Vec<Item> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut total = 0_u64;
    for (number, file) in inputs.iter().enumerate() {
        total = total.saturating_add(file.source().size()?);
        let mut cycles: BTreeMap<String, Vec<Found>> = BTreeMap::new();
        let mut order = Vec::new();
        for found in file.keys_recursive()? {
            let known = cycles.entry(found.path.clone()).or_default();
            if known.is_empty() {
                order.push(found.path.clone());
            }
            known.push(found);
        }
        for path in order {
            let Some(mut cycles) = cycles.remove(&path) else { continue };
            cycles.sort_by_key(|found| found.key.cycle);
            let Some(found) = cycles.last() else { continue };
            if process_number(&found.key).is_some() && !path.contains('/') {
                continue;
            }
            let is_wanted = merge.objects.as_ref().is_none_or(|wanted| wanted(&path));
            if !is_wanted {
                continue;
            }
            let class = found.key.class_name.to_string();
            // Only the newest cycle counts for classes whose objects are combined, and if the cycles differ
            // in class.
            let is_one = is_directory(&class)
                || Tree::is_tree(&class)
                || Ntuple::is_ntuple(&class)
                || Sum::adds(&class)
                || Sum::is_unknown_to_us(&class)
                || cycles.iter().any(|found| *found.key.class_name != *class);
            let from = if is_one { cycles.len() - 1 } else { 0 };
            let found = cycles.drain(from..).map(|found| (number, found));
            match places.get(&path) {
                Some(&at) => {
                    let item = &mut items[at];
                    if item.class != class && !(is_directory(&item.class) && is_directory(&class)) {
                        let what = format!("{class}, which is a {} in the files before", item.class);
                        let error = Error::invalid(what);
                        return Err(error.in_file(file.uri()).in_object(&path));
                    }
                    item.found.extend(found);
                }
                None => {
                    places.insert(path.clone(), items.len());
                    items.push(Item { path, class, found: found.collect() });
                }
            }
        }
    }
    Ok((items, total))
}

/// Checks the requested entries against the numbers of entries of the tables.
fn check_entries(inputs: &[RootFile], items: &[Item], merge: &Merge) -> Result<()> {
    let Some(ranges) = merge.entries.as_ref().filter(|_| merge.bounds != EntryBounds::Clamped) else {
        return Ok(());
    };
    let mut tables = Vec::new();
    for item in items.iter().filter(|item| is_table(&item.class)) {
        let mut all = 0_u64;
        for (number, found) in &item.found {
            let file = &inputs[*number];
            all = all.saturating_add(match Tree::is_tree(&item.class) {
                true => Tree::open_found(file, found)?.entries()?,
                false => Ntuple::open(file, found, Options::default())?.entries()?,
            });
        }
        tables.push((&*item.path, all));
    }
    merge.bounds.check(ranges, &tables)
}

/// Removes tables without columns from items that also have tables with columns, because no other entries can
/// be appended to them. Returns the number of removed tables.
fn leave_branchless(inputs: &[RootFile], items: &mut [Item]) -> Result<u64> {
    let mut left = 0;
    for item in items.iter_mut().filter(|item| is_table(&item.class) && item.found.len() > 1) {
        let mut filled = Vec::with_capacity(item.found.len());
        for (number, found) in &item.found {
            let file = &inputs[*number];
            filled.push(match Tree::is_tree(&item.class) {
                true => !Tree::open_found(file, found)?.fields()?.is_empty(),
                false => !Ntuple::open(file, found, Options::default())?.fields()?.is_empty(),
            });
        }
        if !filled.contains(&true) {
            continue;
        }
        left += filled.iter().filter(|filled| !**filled).count() as u64;
        let mut filled = filled.into_iter();
        item.found.retain(|_| filled.next().unwrap_or(true));
    }
    Ok(left)
}

pub(super) fn is_table(class: &str) -> bool {
    Tree::is_tree(class) || Ntuple::is_ntuple(class)
}

/// Copies the `TProcessID` objects, to which references in the files refer, each of them once. Returns their
/// numbers for each file.
pub(super) fn processes(inputs: &[RootFile], writer: &mut FileWriter) -> Result<Vec<Processes>> {
    // Titles of the written process ids, which identify them.
    let mut written: Vec<Box<str>> = Vec::new();
    let mut of_files = Vec::with_capacity(inputs.len());
    for file in inputs {
        let keys = file.keys()?;
        let mut own: Vec<(usize, &Key)> =
            keys.iter().filter_map(|key| Some((process_number(key)?, key))).collect();
        own.sort_by_key(|&(number, key)| (number, std::cmp::Reverse(key.cycle)));
        own.dedup_by_key(|(number, _)| *number);
        // The process ids of a file stay adjacent, so that all of its numbers are shifted by the same amount.
        let fits = |&first: &usize| {
            let same = |(number, key): &(usize, &Key)| {
                written.get(first + number).is_none_or(|title| *title == key.title)
            };
            own.iter().all(same)
        };
        let first = (0..written.len()).find(fits).unwrap_or(written.len());
        let before = u16::try_from(first)
            .map_err(|_| Error::unsupported("merging files with more than 65535 process ids"))?;
        let mut names = vec![String::new(); own.last().map_or(0, |(number, _)| number + 1)];
        for (number, key) in &own {
            names[*number] = key.title.to_string();
        }
        of_files.push(Processes { before, own: names, all: Arc::default() });
        for (number, key) in own {
            let number = first + number;
            if number > usize::from(u16::MAX) {
                let what = "merging files with more than 65535 process ids";
                return Err(Error::unsupported(what).in_file(file.uri()).in_object(&key.name));
            }
            if number < written.len() {
                continue;
            }
            written.resize(number, "".into());
            written.push(key.title.clone());
            let objects = file.object_to_edit(key)?;
            let mut edits = Edits::new(&objects)?;
            let name = format!("{PROCESS_NAME}{number}");
            if objects.top().place("fName").is_some() {
                edits.text(objects.top(), "fName", &name)?;
            }
            write_edited(writer, DirectoryId::TOP, (&name, &key.title), &objects, edits)?;
        }
    }
    let all: Arc<[String]> = written.iter().map(|title| title.to_string()).collect();
    of_files.iter_mut().for_each(|file| file.all = Arc::clone(&all));
    Ok(of_files)
}

/// Returns the number of a process id; `None` for other objects.
pub(super) fn process_number(key: &Key) -> Option<usize> {
    let digits = key.name.strip_prefix(PROCESS_NAME).filter(|_| key.class_name.as_ref() == PROCESS)?;
    digits.parse::<u16>().ok().filter(|number| number.to_string() == digits).map(usize::from)
}

/// Writes an edited object under a name.
fn write_edited(
    writer: &mut FileWriter,
    directory: DirectoryId,
    (name, title): (&str, &str),
    objects: &Objects,
    edits: Edits<'_>,
) -> Result<()> {
    let key = KeyText { class: objects.top().class(), name, title };
    let mut done = Ok(());
    let written = writer.object(directory, key, |buffer: &mut Buffer| done = edits.write(buffer));
    done?;
    written?;
    Ok(())
}

pub(super) fn is_directory(class: &str) -> bool {
    matches!(class, "TDirectory" | "TDirectoryFile")
}

/// State of copying objects to a file.
pub(super) struct Run<'a, 'p> {
    pub(super) inputs: &'a [RootFile],
    pub(super) merge: &'a Merge,
    pub(super) compression: Option<Compression>,
    pub(super) writer: &'a mut FileWriter,
    pub(super) processes: &'a [Processes],
    pub(super) runner: &'a dyn BlockRunner,
    pub(super) progress: &'a mut MergeProgress<'p>,
    pub(super) done: u64,
    pub(super) total: u64,
    pub(super) merged: Merged,
}

impl Run<'_, '_> {
    /// Copies the objects of one path.
    pub(super) fn item(&mut self, item: &Item) -> Result<()> {
        let (outer, name) = item.path.rsplit_once('/').unwrap_or(("", &item.path));
        check_headroom("an object of the files", 0).map_err(|error| error.in_object(&item.path))?;
        let Some((first, found)) = item.found.first() else { return Ok(()) };
        let directory = self.directory(outer, *first)?;
        if is_directory(&item.class) {
            self.writer.inner_directory(directory, name, &found.key.title)?;
            return Ok(());
        }
        if let (Some(kind), true) = (&self.merge.tables, is_table(&item.class)) {
            return self.rewrite(item, kind);
        }
        if Tree::is_tree(&item.class) {
            return self.tree(item, directory, name);
        }
        if Ntuple::is_ntuple(&item.class) {
            return self.ntuple(item, directory, name);
        }
        if Sum::adds(&item.class)
            && item.found.len() > 1
            && let Ok(objects) = self.inputs[*first].object_to_edit(&found.key)
        {
            return self.sum(item, directory, name, &objects);
        }
        self.each(item, directory, name)
    }

    /// Rewrites a table entry by entry.
    fn rewrite(&mut self, item: &Item, kind: &str) -> Result<()> {
        let [(number, found)] = &item.found[..] else {
            let what = "converting the tables of several files: merge the files first";
            return Err(Error::unsupported(what).in_object(&item.path));
        };
        if kind != NTUPLE && kind != DEFAULT_TREE {
            return Err(Error::invalid(format!("no kind of table {kind:?}: {DEFAULT_TREE} or {NTUPLE}")));
        }
        if self.merge.entries.is_some() {
            return Err(Error::unsupported(
                "selecting entries while tables are converted: copy the entries to a file first",
            )
            .in_object(&item.path));
        }
        let how = Rewriting {
            kind,
            columns: self.merge.columns.as_ref(),
            compression: self.compression,
            threads: self
                .merge
                .threads
                .map_or_else(forthwith_platform::parallelism, |threads| threads.max(1)),
        };
        let (done, total, progress) = (self.done, self.total, &mut *self.progress);
        let mut goes_on = || match progress(done, total) {
            true => Ok(()),
            false => Err(Error::new(ErrorKind::Cancelled)),
        };
        let entries = rewrite(&self.inputs[*number], found, self.writer, &how, &mut goes_on)?;
        self.merged.tables.push((item.path.clone(), entries));
        self.tell(u64::from(found.key.nbytes.unsigned_abs()))
    }

    /// Combines several objects of one path into one.
    fn sum(&mut self, item: &Item, directory: DirectoryId, name: &str, first: &Objects) -> Result<()> {
        let mut sum: Option<Sum> = None;
        for (number, found) in &item.found {
            let file = &self.inputs[*number];
            let place = |error: Error| error.in_file(file.uri()).in_object(&item.path);
            let objects = Arc::new(file.object_to_edit(&found.key)?);
            if sum.is_some()
                && Sum::appends(&item.class)
                && self.processes[*number].before > 0
                && counts_processes(&objects)
            {
                return Err(place(Error::unsupported(OTHER_PROCESSES)));
            }
            match &mut sum {
                None => sum = Some(Sum::of(objects.top()).map_err(place)?),
                Some(sum) => sum.add(&objects).map_err(place)?,
            }
        }
        let mut edits = Edits::new(first)?;
        let Some((number, found)) = item.found.first() else { return Ok(()) };
        let uri = self.inputs[*number].uri();
        let place = |error: Error| error.in_file(uri).in_object(&item.path);
        edits.renumber_processes(first, self.processes[*number].before).map_err(place)?;
        if let Some(sum) = sum {
            sum.write(&mut edits, first.top()).map_err(place)?;
        }
        let title = &found.key.title;
        write_edited(self.writer, directory, (name, title), first, edits).map_err(place)?;
        self.merged.objects += 1;
        self.tell(item.found.iter().map(|(_, found)| u64::from(found.key.nbytes.unsigned_abs())).sum())
    }

    /// Writes the objects of one path as its cycles, without duplicates of the first or the previous one.
    fn each(&mut self, item: &Item, directory: DirectoryId, name: &str) -> Result<()> {
        // The bytes that were written, and the number that was added to those of process ids.
        let mut first: Option<(Vec<u8>, u16)> = None;
        let mut before: Option<(Vec<u8>, u16)> = None;
        for (number, found) in &item.found {
            let file = &self.inputs[*number];
            let place = |error: Error| error.in_file(file.uri()).in_object(&item.path);
            let objects = file.object_to_edit(&found.key);
            let payload = match &objects {
                Ok(objects) => objects.payload().to_vec(),
                Err(_) => file.payload(&found.key)?.to_vec(),
            };
            let processes = match &objects {
                Ok(objects) if counts_processes(objects) => self.processes[*number].before,
                _ => 0,
            };
            let payload = (payload, processes);
            let bytes = u64::from(found.key.nbytes.unsigned_abs());
            if [&first, &before].into_iter().flatten().any(|written| *written == payload) {
                self.tell(bytes)?;
                continue;
            }
            if first.is_some() && Sum::is_unknown_to_us(&item.class) {
                let what = format!("merging objects of class {} that differ", item.class);
                return Err(place(Error::unsupported(what)));
            }
            let title = &*found.key.title;
            match objects {
                Ok(objects) => {
                    let mut edits = Edits::new(&objects)?;
                    edits.renumber_processes(&objects, processes).map_err(place)?;
                    write_edited(self.writer, directory, (name, title), &objects, edits).map_err(place)?;
                }
                // The class is not described or the bytes are damaged: the object is copied as it is, if the
                // length of its key, by which its references are displaced, stays the same.
                Err(error) => {
                    let key = KeyText { class: &item.class, name, title };
                    if self.writer.key_length(key, KeyKind::Object)? != found.key.keylen {
                        return Err(error);
                    }
                    self.writer.object(directory, key, |buffer| buffer.extend(&payload.0))?;
                }
            }
            if first.is_some() && self.merged.several.last() != Some(&item.path) {
                self.merged.several.push(item.path.clone());
            }
            *(if first.is_none() { &mut first } else { &mut before }) = Some(payload);
            self.merged.objects += 1;
            self.tell(bytes)?;
        }
        Ok(())
    }

    /// Creates the directories of a path, with their titles in an input file.
    fn directory(&mut self, path: &str, input: usize) -> Result<DirectoryId> {
        let mut at = DirectoryId::TOP;
        let mut done = String::new();
        for name in path.split('/').filter(|name| !name.is_empty()) {
            if !done.is_empty() {
                done.push('/');
            }
            done.push_str(name);
            let title = self.inputs[input].find(&done).map(|found| found.key.title.to_string());
            at = self.writer.inner_directory(at, name, &title.unwrap_or_default())?;
        }
        Ok(at)
    }

    fn tree(&mut self, item: &Item, directory: DirectoryId, name: &str) -> Result<()> {
        let merge = self.merge;
        let options = CopyOptions { compression: self.compression, leave_more: merge.common };
        let open = |(number, found): &(usize, Found)| Tree::open_found(&self.inputs[*number], found);
        let common = if merge.common { Some(common(item.found.iter().map(open))?) } else { None };
        let is_kept = |path: &str| {
            common.as_ref().is_none_or(|common| common.contains(path))
                && merge.columns.as_ref().is_none_or(|wanted| wanted(path))
        };
        let Some((first, found)) = item.found.first() else { return Ok(()) };
        let mut copy = TreeCopy::new(&self.inputs[*first], found, directory, name, &is_kept, options)?;
        let mut before = 0_u64;
        for (number, found) in &item.found {
            let file = &self.inputs[*number];
            let ranges = match &merge.entries {
                None => None,
                Some(ranges) => {
                    let count = Tree::open_found(file, found)?.entries()?;
                    let own = within(ranges, before..before.saturating_add(count));
                    before = before.saturating_add(count);
                    Some(own)
                }
            };
            let (mut done, total) = (self.done, self.total);
            let report = &mut *self.progress;
            let mut progress = |bytes: u64| {
                done += bytes;
                report(done.min(total), total)
            };
            copy.add(
                self.writer,
                (file, found),
                ranges.as_deref(),
                &self.processes[*number],
                self.runner,
                &mut progress,
            )?;
            self.done = done;
        }
        let entries = copy.finish(self.writer)?;
        self.merged.tables.push((item.path.clone(), entries));
        Ok(())
    }

    fn ntuple(&mut self, item: &Item, directory: DirectoryId, name: &str) -> Result<()> {
        let merge = self.merge;
        let open =
            |(number, found): &(usize, Found)| Ntuple::open(&self.inputs[*number], found, Options::default());
        let common = if merge.common { Some(common(item.found.iter().map(open))?) } else { None };
        let is_kept = |path: &str| {
            common.as_ref().is_none_or(|common| common.contains(path))
                && merge.columns.as_ref().is_none_or(|wanted| wanted(path))
        };
        let mut copy: Option<NtupleCopy> = None;
        let mut before = 0_u64;
        for (number, found) in &item.found {
            let place = |error: Error| error.in_file(self.inputs[*number].uri()).in_object(&item.path);
            let ntuple = Ntuple::open(&self.inputs[*number], found, Options::default())?;
            let copy = match &mut copy {
                Some(copy) => copy,
                None => {
                    let writer = &mut *self.writer;
                    let begun = NtupleCopy::new(writer, directory, name, &ntuple, &is_kept, self.compression);
                    copy.insert(begun.map_err(place)?)
                }
            };
            let count = ntuple.entries()?;
            let part = before..before.saturating_add(count);
            before = part.end;
            let ranges = merge.entries.as_ref().map(|ranges| within(ranges, part));
            let (done, total, report) = (&mut self.done, self.total, &mut *self.progress);
            let mut progress = |bytes: u64| {
                *done += bytes;
                report((*done).min(total), total)
            };
            let added = copy.add(self.writer, &ntuple, &is_kept, ranges.as_deref(), &mut progress);
            added.map_err(place)?;
        }
        let entries = copy.map_or(Ok(0), |copy| copy.finish(self.writer))?;
        self.merged.tables.push((item.path.clone(), entries));
        Ok(())
    }

    fn tell(&mut self, bytes: u64) -> Result<()> {
        self.done = self.done.saturating_add(bytes);
        if (self.progress)(self.done.min(self.total), self.total) {
            Ok(())
        } else {
            Err(Error::new(ErrorKind::Cancelled))
        }
    }
}

/// Returns the paths of the columns that all tables have.
fn common<D: Dataset>(tables: impl Iterator<Item = Result<D>>) -> Result<HashSet<String>> {
    let mut common: Option<BTreeSet<String>> = None;
    for table in tables {
        let table = table?;
        let paths: BTreeSet<String> = table.fields()?.iter().map(|field| field.path.clone()).collect();
        common = Some(match common {
            None => paths,
            Some(common) => common.intersection(&paths).cloned().collect(),
        });
    }
    Ok(common.unwrap_or_default().into_iter().collect())
}

/// Returns the parts of ranges that are within `part`, counted from its first entry.
fn within(ranges: &[Range<u64>], part: Range<u64>) -> Vec<Range<u64>> {
    let cut = |range: &Range<u64>| {
        let (begin, end) = (range.start.max(part.start), range.end.min(part.end));
        (begin < end).then(|| begin - part.start..end - part.start)
    };
    ranges.iter().filter_map(cut).collect()
}

/// Class of process ids, and the prefix of their names.
const PROCESS: &str = "TProcessID";
const PROCESS_NAME: &str = "ProcessID";
const OTHER_PROCESSES: &str =
    "putting references to objects of other processes than those of the first file in one collection";
