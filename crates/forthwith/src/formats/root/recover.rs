//! Recovery of damaged ROOT files into new files: the entries of tables that are readable in all columns, and
//! other objects as they are.

use super::merge::{Item, Run, is_directory, is_table, process_number, processes};
use crate::{
    DamagedPart, File, LostColumn, LostEntries, LostObject, Merge, OpenOptions, RecoverProgress,
    RecoverReport, RecoveredTable, SelectOptions, Step, Table,
};
use bytes::Bytes;
use forthwith_engine::BlockThreads;
use forthwith_io::{Appended, Patched, Sink, Source, WriterSink};
use forthwith_plan::{Error, ErrorKind, Field, Result};
use forthwith_rntuple::{LostAnchor, lost_anchors};
use forthwith_root::write::{FileSettings, FileWriter};
use forthwith_root::{Found, Recovered, RootFile};
use forthwith_ttree::Tree;
use forthwith_ttree::copy::Processes;
use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    ops::Range,
    sync::Arc,
};

/// Opens a file by scanning its records, and creates anchors for RNTuples that lack theirs.
///
/// # Errors
/// Returns the errors of [`RootFile::recover`].
pub(super) fn open(source: Arc<dyn Source>) -> Result<(RootFile, Vec<LostAnchor>, Recovered)> {
    let (file, found) = RootFile::recover(Arc::clone(&source))?;
    let (records, anchors) = lost_anchors(&file, found.is_closed)?;
    if anchors.is_empty() {
        return Ok((file, anchors, found));
    }
    let length = records.len() as u64;
    let appended = Arc::new(Appended::new(source, records)?);
    let (file, mut again) = RootFile::recover_with_records(appended, length)?;
    // The appended records do not belong to the file, so restore its end.
    (again.size, again.end, again.stopped, again.gaps) = (found.size, found.end, found.stopped, found.gaps);
    Ok((file, anchors, again))
}

/// Writes all readable objects of a file to a new one. Tables are read by `file`, which is the same file as
/// `input`; `found` is the result of its recovery.
///
/// # Errors
/// Returns an error if the source cannot be read or the sink cannot be written, or if `progress` cancels.
pub(super) fn recover(
    input: &RootFile,
    (found, anchors): (&Recovered, &[LostAnchor]),
    file: &File,
    sink: Box<dyn Sink>,
    progress: &mut RecoverProgress<'_>,
) -> Result<RecoverReport> {
    let inputs = [input.clone()];
    let settings = FileSettings::of_all(&inputs)?;
    let nowhere = Box::new(WriterSink::new(sink.uri().to_owned(), std::io::sink()));
    let mut trial = FileWriter::create(nowhere, settings.clone())?;
    let mut writer = FileWriter::create(sink, settings)?;
    let mut report = RecoverReport { gaps: gaps(found), ..RecoverReport::default() };
    report.lost_objects.extend(found.damaged_streamers.as_ref().map(|lost| LostObject {
        path: "StreamerInfo".into(),
        class: "TList".into(),
        begin_byte: lost.bytes.start,
        end_byte: lost.bytes.end,
        what: format!("descriptions of classes: {}", lost.error.kind),
    }));
    let streamers = input.streamers()?;
    for writer in [&mut trial, &mut writer] {
        writer.describe_from(&streamers).map_err(|error| error.in_file(input.uri()))?;
    }
    let processes = match processes(&inputs, &mut trial) {
        Ok(_) => processes(&inputs, &mut writer)?,
        Err(error) if ends(&error) => return Err(error),
        Err(error) => {
            let all = input.keys()?;
            let lost = all.iter().filter(|key| process_number(key).is_some());
            let lost = lost.map(|key| Found { path: key.name.to_string(), key: key.clone() });
            report.lost_objects.extend(lost.map(|found| lost_object(&found, &error)));
            vec![Processes::default()]
        }
    };
    let mut recovery = Recovery {
        inputs: &inputs,
        file,
        trial,
        writer,
        processes,
        runner: BlockThreads::default(),
        progress,
        done: 0,
        total: input.source().size()?,
        report,
        named: HashMap::new(),
        anchors,
    };
    for (path, cycles) in groups(input)? {
        recovery.path(&path, cycles)?;
    }
    recovery.finish(found)
}

/// Returns the parts of a file that its recovery skipped.
pub(super) fn gaps(found: &Recovered) -> Vec<DamagedPart> {
    let part = |bytes: &Range<u64>, error: &Error| DamagedPart {
        begin: bytes.start,
        end: bytes.end,
        block: None,
        entries: None,
        what: error.kind.to_string(),
    };
    let last = found.stopped.as_ref().map(|error| part(&(found.end..found.size), error));
    found.gaps.iter().map(|gap| part(&gap.bytes, &gap.error)).chain(last).collect()
}

/// Whether an error ends the recovery: a cancellation, lack of memory, or failed access to the source.
fn ends(error: &Error) -> bool {
    matches!(error.kind, ErrorKind::Cancelled | ErrorKind::OutOfMemory { .. })
        || (matches!(error.kind, ErrorKind::Source(_)) && !error.is_damage())
}

/// Returns the objects of each path, the newest cycle first, in the order of the file.
fn groups(input: &RootFile) -> Result<Vec<(String, Vec<Found>)>> {
    let mut groups: Vec<(String, Vec<Found>)> = Vec::new();
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    for found in input.keys_recursive()? {
        let is_process = process_number(&found.key).is_some() && !found.path.contains('/');
        // Parts of an RNTuple are copied with its anchor.
        if is_process || &*found.key.class_name == BLOB {
            continue;
        }
        match known.get(&found.path) {
            Some(&at) => groups[at].1.push(found),
            None => {
                known.insert(found.path.clone(), groups.len());
                groups.push((found.path.clone(), vec![found]));
            }
        }
    }
    groups.iter_mut().for_each(|(_, cycles)| cycles.sort_by_key(|found| std::cmp::Reverse(found.key.cycle)));
    Ok(groups)
}

/// State of a recovery.
struct Recovery<'a, 'p> {
    inputs: &'a [RootFile; 1],
    file: &'a File,
    /// Writer that discards its output: an object is copied to it first, which shows whether it can be
    /// copied.
    trial: FileWriter,
    writer: FileWriter,
    processes: Vec<Processes>,
    runner: BlockThreads,
    progress: &'a mut RecoverProgress<'p>,
    done: u64,
    total: u64,
    report: RecoverReport,
    /// Byte ranges of the baskets of the written trees, as a map from begin to end.
    named: HashMap<u64, u64>,
    /// Anchors that were created for RNTuples.
    anchors: &'a [LostAnchor],
}

/// The part of a table that is copied.
struct TablePart {
    recovered: RecoveredTable,
    /// Lost ranges of entries, in any order.
    lost: Vec<Range<u64>>,
    entries: u64,
    columns: usize,
    /// Field indexes and numbers of damaged blocks.
    blocks: BTreeSet<(u32, u64)>,
}

impl TablePart {
    fn lose_column(&mut self, path: &str, error: &Error) {
        let what = error.kind.to_string();
        self.recovered.lost_columns.push(LostColumn { path: path.to_owned(), what });
    }

    fn has_lost_column(&self, path: &str) -> bool {
        self.recovered.lost_columns.iter().any(|lost| lost.path == path)
    }

    /// Records the entries that one column lost. If it lost all of them, the column is lost instead.
    fn lose(&mut self, path: &str, all: &Range<u64>, losses: Vec<(LostEntries, Error)>) {
        let lost = losses.iter().map(|(loss, _)| loss.end - loss.begin).sum::<u64>();
        match losses.first() {
            Some((_, error)) if lost >= all.end - all.start => self.lose_column(path, error),
            _ => {
                for (loss, _) in losses {
                    self.lost.push(loss.begin..loss.end);
                    self.recovered.lose(loss);
                }
            }
        }
    }

    /// Returns the ranges of entries that are not lost.
    fn kept(&self) -> Vec<Range<u64>> {
        let mut lost = self.lost.clone();
        lost.sort_by_key(|range| range.start);
        let (mut kept, mut at) = (Vec::new(), 0);
        for range in lost {
            if at < range.start {
                kept.push(at..range.start);
            }
            at = at.max(range.end);
        }
        if at < self.entries {
            kept.push(at..self.entries);
        }
        kept
    }

    /// Returns the settings for copying this part.
    fn merge(&self) -> Merge {
        let lost: HashSet<String> =
            self.recovered.lost_columns.iter().map(|column| column.path.clone()).collect();
        let columns =
            (!lost.is_empty()).then(|| -> crate::PathFilter { Arc::new(move |path| !lost.contains(path)) });
        let entries = (!self.lost.is_empty()).then(|| self.kept());
        Merge { entries, columns, ..Merge::default() }
    }
}

impl Recovery<'_, '_> {
    /// Recovers the objects of one path.
    fn path(&mut self, path: &str, cycles: Vec<Found>) -> Result<()> {
        let (directories, objects): (Vec<_>, Vec<_>) =
            cycles.into_iter().partition(|found| is_directory(&found.key.class_name));
        let inputs = self.inputs;
        if let Some(directory) = directories.into_iter().next() {
            self.copy(inputs, directory, &Merge::default(), true)?;
        }
        let (tables, objects): (Vec<_>, Vec<_>) =
            objects.into_iter().partition(|found| is_table(&found.key.class_name));
        let mut is_recovered = false;
        for found in tables {
            // Older cycles have a subset of the entries of newer ones.
            if is_recovered {
                break;
            }
            match self.table(&found) {
                Ok(table) => {
                    self.report.tables.push(RecoveredTable { path: path.to_owned(), ..table });
                    is_recovered = true;
                }
                Err(error) if ends(&error) => return Err(error),
                Err(error) => self.report.lost_objects.push(lost_object(&found, &error)),
            }
        }
        // Write cycles in ascending order.
        for found in objects.into_iter().rev() {
            self.object(found)?;
        }
        Ok(())
    }

    /// Copies an object that is not a table.
    fn object(&mut self, found: Found) -> Result<()> {
        let inputs = self.inputs;
        let read = inputs[0].object_to_edit(&found.key).err().filter(Error::is_damage);
        // Bytes with a valid checksum are copied even if they cannot be decoded.
        let read = read.filter(|_| !inputs[0].is_verified(&found.key));
        let tried = read.map_or_else(|| self.copy(inputs, found.clone(), &Merge::default(), false), Err);
        match tried {
            Ok(()) => self.copy(inputs, found, &Merge::default(), true),
            Err(error) if ends(&error) => Err(error),
            Err(error) => {
                self.report.lost_objects.push(lost_object(&found, &error));
                Ok(())
            }
        }
    }

    /// Copies the entries of a table that can be read in all of its columns that are not lost.
    fn table(&mut self, found: &Found) -> Result<RecoveredTable> {
        let path = format!("{};{}", found.path, found.key.cycle);
        let (mut inputs, mut table) = (self.inputs.clone(), self.file.table(&path)?);
        let mut part = self.survey(&table)?;
        let patches = mended_keys(&table, &part);
        if !patches.is_empty() {
            let source = Arc::new(Patched::new(Arc::clone(inputs[0].source()), patches));
            let mut options = OpenOptions::new();
            options.set(super::RECOVER.name, true);
            let mended = File::from_source_with(source, Arc::clone(self.file.engine()), &options)?;
            if let Some(file) = mended.own::<RootFile>() {
                inputs = [file.clone()];
                table = mended.table(&path)?;
                part = self.survey(&table)?;
            }
        }
        part.recovered.cycle = Some(found.key.cycle);
        let is_its = |anchor: &&LostAnchor| anchor.name == found.path && anchor.cycle == found.key.cycle;
        part.recovered.made_anew = self.anchors.iter().find(is_its).map(|anchor| {
            let from = if anchor.has_new_footer { "page lists" } else { "footer" };
            format!("an anchor for its header and {from}")
        });
        let mut left_out = 0;
        loop {
            if part.columns > 0 && part.recovered.lost_columns.len() >= part.columns {
                let what =
                    part.recovered.lost_columns.first().map_or_else(String::new, |lost| lost.what.clone());
                return Err(Error::fault(format!("none of its columns can be read: {what}")));
            }
            match self.copy(&inputs, found.clone(), &part.merge(), false) {
                Ok(()) => break,
                Err(error) if ends(&error) || left_out == MOST_LEFT_OUT => return Err(error),
                Err(error) => leave_out(&table, &mut part, error, left_out >= MOST_BLOCKS)?,
            }
            left_out += 1;
        }
        let kept: u64 = part.kept().iter().map(|range| range.end - range.start).sum();
        (part.recovered.entries, part.recovered.lost_entries) = (kept, part.entries - kept);
        self.copy(&inputs, found.clone(), &part.merge(), true)?;
        if let Some(tree) = table.own::<Tree>() {
            let saved = part.entries - tree.unsaved_entries().min(part.entries);
            let unsaved =
                part.kept().into_iter().map(|range| range.end - range.start.max(saved).min(range.end));
            part.recovered.unsaved_entries = unsaved.sum();
            self.named.extend(tree.basket_ranges().map(|bytes| (bytes.start, bytes.end)));
        }
        Ok(part.recovered)
    }

    /// Reads all columns of a table, one at a time.
    fn survey(&mut self, table: &Table) -> Result<TablePart> {
        let mut part = TablePart {
            recovered: RecoveredTable::default(),
            lost: Vec::new(),
            entries: table.entries()?,
            columns: 0,
            blocks: BTreeSet::new(),
        };
        for (number, field) in (0..).zip(table.fields()?) {
            if field.is_part || !field.has_data {
                continue;
            }
            part.columns += 1;
            let all = table.entry_range(number).map(|range| range.start..range.end.min(part.entries));
            let read = all.and_then(|all| Ok((self.losses(table, number, field, all.clone())?, all)));
            match read {
                Ok((losses, all)) => {
                    let blocks = losses.iter().filter_map(|(_, error)| Some((number, error.place.block?)));
                    part.blocks.extend(blocks);
                    part.lose(&field.path, &all, losses);
                }
                Err(error) if ends(&error) => return Err(error),
                Err(error) => part.lose_column(&field.path, &error),
            }
        }
        Ok(part)
    }

    /// Returns the entries that a column lost, with the errors.
    fn losses(
        &mut self,
        table: &Table,
        number: u32,
        field: &Field,
        all: Range<u64>,
    ) -> Result<Vec<(LostEntries, Error)>> {
        let (done, total) = (self.done, self.total);
        if table.form(number).is_err() {
            return if (self.progress)(done, total) {
                undecoded(table, number, &field.path)
            } else {
                Err(Error::new(ErrorKind::Cancelled))
            };
        }
        let selection = table.select_fields(&[(&field.path, Some(number))], SelectOptions::default())?;
        let mut steps = selection.steps(all, Step::Bytes(STEP))?;
        let mut losses = Vec::new();
        while let Some(step) = steps.skip_step()? {
            let mut tick = |_: crate::Progress| (self.progress)(done, total);
            let (_, lost) = selection.read_around_damage(step, None, &mut tick)?;
            for loss in lost {
                if is_sound(table, number, &loss.error) {
                    continue;
                }
                let mut entries = LostEntries::of(&loss, Some(field.path.clone()));
                let block = loss.error.place.block;
                let tree = table.own::<Tree>().zip(block);
                if let Some(bytes) = tree.and_then(|(tree, block)| tree.basket_bytes(number, block)) {
                    (entries.begin_byte, entries.end_byte) = (Some(bytes.start), Some(bytes.end));
                }
                losses.push((entries, loss.error));
            }
        }
        Ok(losses)
    }

    /// Copies an object to the new file or, if `for_good` is unset, to the trial writer.
    fn copy(&mut self, inputs: &[RootFile; 1], found: Found, merge: &Merge, for_good: bool) -> Result<()> {
        let item = Item::of(found);
        let (done, total, progress) = (self.done, self.total, &mut *self.progress);
        // Trials do not count as progress.
        let mut report = |now: u64, total: u64| progress(if for_good { now } else { done }, total);
        let mut run = Run {
            inputs,
            merge,
            compression: None,
            writer: if for_good { &mut self.writer } else { &mut self.trial },
            processes: &self.processes,
            runner: &self.runner,
            progress: &mut report,
            done,
            total,
            merged: crate::Merged::default(),
        };
        run.item(&item)?;
        if for_good {
            (self.done, self.report.objects) = (run.done, self.report.objects + run.merged.objects);
        }
        Ok(())
    }

    fn finish(mut self, found: &Recovered) -> Result<RecoverReport> {
        // In files that were closed, unlisted baskets are those of deleted trees.
        if !found.is_closed {
            let unlisted = found.basket_places.iter().filter(|place| !self.named.contains_key(place));
            self.report.unlisted_blocks = unlisted.count() as u64;
        }
        // Baskets with damaged keys are reported with their trees, if they are lost.
        let named = self.named;
        self.report.lost_objects.retain(|lost| !named.contains_key(&lost.begin_byte));
        self.report.gaps.retain(|gap| named.get(&gap.begin).is_none_or(|end| *end < gap.end));
        self.report.bytes = self.writer.finish()?;
        Ok(self.report)
    }
}

/// Whether unreadable entries are undamaged: their type is unsupported, or the checksum of their basket is
/// valid.
fn is_sound(table: &Table, field: u32, error: &Error) -> bool {
    let is_verified = || {
        let tree = table.own::<Tree>().zip(error.place.block);
        tree.is_some_and(|(tree, block)| tree.is_verified(field, block))
    };
    matches!(error.kind, ErrorKind::Unsupported { .. }) || is_verified()
}

/// Returns the positions and the repaired keys of damaged baskets whose keys can be reconstructed.
fn mended_keys(table: &Table, part: &TablePart) -> Vec<(u64, Bytes)> {
    let Some(tree) = table.own::<Tree>() else { return Vec::new() };
    let mended = part.blocks.iter().filter_map(|(field, block)| tree.mended_key(*field, *block));
    mended.map(|(place, key)| (place, key.into())).collect()
}

/// Returns the entries of damaged baskets of a branch whose values cannot be decoded.
fn undecoded(table: &Table, number: u32, path: &str) -> Result<Vec<(LostEntries, Error)>> {
    let Some(tree) = table.own::<Tree>() else { return Ok(Vec::new()) };
    let damaged = tree.damaged_baskets(number)?;
    let lost = damaged.into_iter().map(|basket| {
        let lost = LostEntries {
            begin: basket.entries.start,
            end: basket.entries.end,
            column: Some(path.to_owned()),
            begin_byte: basket.bytes.as_ref().map(|bytes| bytes.start),
            end_byte: basket.bytes.as_ref().map(|bytes| bytes.end),
            what: basket.error.kind.to_string(),
        };
        (lost, basket.error)
    });
    Ok(lost.collect())
}

/// Removes the cause of a failed copy from a table: the entries of the basket that the error names or,
/// without such a basket or with `column_only`, the whole column.
///
/// # Errors
/// Returns `error` itself if it does not name a column that is still copied.
fn leave_out(table: &Table, part: &mut TablePart, error: Error, column_only: bool) -> Result<()> {
    let path = table.path();
    let named = error.place.object.as_deref().and_then(|object| object.strip_prefix(path)?.strip_prefix('/'));
    let mut fields = (0..).zip(table.fields()?);
    let field = fields.find(|(_, field)| field.has_data && Some(&*field.path) == named);
    let Some((number, field)) = field.filter(|(_, field)| !part.has_lost_column(&field.path)) else {
        return Err(error);
    };
    let block = table.own::<Tree>().zip(error.place.block);
    let entries = block.and_then(|(tree, block)| tree.basket_entries(number, block));
    match entries.filter(|entries| !column_only && !part.lost.contains(entries)) {
        Some(entries) => {
            let (column, what) = (Some(field.path.clone()), error.kind.to_string());
            let Range { start: begin, end } = entries;
            part.lost.push(entries);
            part.recovered.lose(LostEntries { begin, end, column, begin_byte: None, end_byte: None, what });
        }
        None => part.lose_column(&field.path, &error),
    }
    Ok(())
}

fn lost_object(found: &Found, error: &Error) -> LostObject {
    let key = &found.key;
    LostObject {
        path: format!("{};{}", found.path, key.cycle),
        class: key.class_name.to_string(),
        begin_byte: key.seek,
        end_byte: key.seek.saturating_add(u64::from(key.nbytes.unsigned_abs())),
        what: error.kind.to_string(),
    }
}

/// Class of the records of an RNTuple.
const BLOB: &str = "RBlob";
/// Upper bound on the baskets of a table that are left out one by one; after that, whole columns are left
/// out.
const MOST_BLOCKS: u32 = 32;
/// Upper bound on the baskets and columns that are left out. Each of them costs another trial.
const MOST_LEFT_OUT: u32 = 256;
/// Decompressed bytes of a column in one step.
const STEP: u64 = 32 << 20;
