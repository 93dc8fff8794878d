//! Copies the baskets of one tree to another file.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use forthwith_plan::{BlockRunner, BlockSink, Error, ErrorKind, Result, Scratch, StoredBlock};
use forthwith_root::write::{Compression, FileWriter, KeyKind};

use super::basket::{Batch, Change, Job, Pending, Work, basket_text, write_basket};
use super::origin::Origin;
use super::record_runs::{Copies, Record, Window, Windows, check};
use super::references::Renumber;
use super::relocate::Relocation;
use super::{CopyProgress, Placed, TreeCopy};
use crate::baskets::{BasketRef, Bytes};
use crate::format::misplaced;
use crate::metadata::Branch;

/// A basket to copy.
pub(super) struct Task {
    pub(super) field: u32,
    pub(super) basket: BasketRef,
    /// Index of its source.
    pub(super) source: usize,
}

/// Sorts baskets by position in the file, if that keeps the order of entries in each branch, and otherwise by
/// entry.
pub(super) fn arrange(tasks: &mut [Task]) {
    let place = |task: &Task| match &task.basket.bytes {
        Bytes::File(range) => (task.source, range.start),
        _ => (usize::MAX, task.basket.entries.start),
    };
    // The keys are cached, so that large tasks are moved only once.
    tasks.sort_by_cached_key(place);
    let fields = tasks.iter().map(|task| task.field as usize + 1).max().unwrap_or(0);
    let mut ends = vec![0; fields];
    let ascends = tasks.iter().all(|task| {
        let before = std::mem::replace(&mut ends[task.field as usize], task.basket.entries.end);
        before <= task.basket.entries.start
    });
    if !ascends {
        tasks.sort_by_key(|task| (task.basket.entries.start, task.field));
    }
}

/// State of copying the baskets of one tree.
pub(super) struct Run<'a, 't> {
    pub(super) into: Into<'a>,
    pub(super) origins: &'a [Origin],
    pub(super) branches: BTreeMap<u32, Branch<'t>>,
    /// Whether views of each source were written.
    pub(super) viewed: Vec<bool>,
    pub(super) record: bytes::Bytes,
    /// Mapping of reference tables, whose baskets are divided into entries if there is one.
    pub(super) renumber: Option<Renumber>,
    /// Relocations of entries with pointers, by branch.
    pub(super) relocations: BTreeMap<u32, Relocation>,
    /// Path of the tree, for errors.
    pub(super) path: &'a str,
    /// Whether the file is from before ROOT 3.04, in which pointers within entries have another origin.
    pub(super) is_old: bool,
    pub(super) scratch: Scratch,
    pub(super) waiting: Waiting,
}

/// Pending records and entries, and scratch memory.
#[derive(Default)]
pub(super) struct Waiting {
    /// Windows, of which the last may grow.
    windows: Vec<Window>,
    window_bytes: u64,
    copies: Copies,
    spare: Mutex<Vec<Vec<u8>>>,
    jobs: Vec<Job>,
    job_bytes: usize,
    pending: BTreeMap<u32, (u64, Pending)>,
}

/// Destination of the baskets.
pub(super) struct Into<'a> {
    pub(super) writer: &'a mut FileWriter,
    pub(super) copy: &'a mut TreeCopy,
    pub(super) runner: &'a dyn BlockRunner,
    pub(super) progress: &'a mut CopyProgress<'a>,
    /// Number of process ids that the new file had before those of the tree's file.
    pub(super) processes: u16,
}

impl Run<'_, '_> {
    /// Copies the kept entries of a basket. `first` is the new index of the first of them.
    pub(super) fn task(&mut self, task: &Task, kept: &[Range<u64>], first: u64) -> Result<()> {
        let entries = &task.basket.entries;
        let is_changed = self.renumber.is_some() && task.field as usize == self.into.copy.references();
        let whole = matches!(kept, [range] if range == entries) && !is_changed;
        match &task.basket.bytes {
            _ if kept.is_empty() => self.tell(task.basket.len()),
            Bytes::File(range) if whole => {
                let length = u32::try_from(range.end - range.start)
                    .map_err(|_| Error::unsupported("a basket of more than 4 GB"))?;
                let copy = &mut *self.into.copy;
                if copy.stays {
                    let placed = Placed { entry: first, bytes: length, position: range.start };
                    copy.filled[task.field as usize].baskets.push(placed);
                    return Ok(());
                }
                let compression = copy.options.compression;
                self.end_pending(task.field)?;
                let entries = entries.end - entries.start;
                let record = Record { field: task.field, entries, first, length };
                let Some(compression) = compression else { return self.stored(task.source, range, record) };
                let bytes = self.read(task.source, range)?;
                check(&bytes, entries)?;
                self.job(record, compression, Work::Record(bytes))
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
            &Bytes::Nowhere(seek, length) => {
                Err(misplaced(seek, length, self.origins[task.source].source.size()?))
            }
        }
    }

    /// Copies a record unchanged, together with adjacent ones.
    fn stored(&mut self, source: usize, range: &Range<u64>, record: Record) -> Result<()> {
        self.end_jobs()?;
        match self.waiting.windows.last_mut().filter(|last| last.takes(source, range)) {
            Some(last) => {
                last.bytes.end = range.end;
                last.records.push(record);
            }
            None => {
                if self.waiting.window_bytes >= BATCH as u64 {
                    self.end_windows()?;
                }
                self.waiting.windows.push(Window { source, bytes: range.clone(), records: vec![record] });
            }
        }
        self.waiting.window_bytes += u64::from(record.length);
        Ok(())
    }

    fn take_apart(&mut self, task: &Task, record: &[u8], kept: &[Range<u64>], first: u64) -> Result<()> {
        let Some(branch) = self.branches.get(&task.field) else { return Ok(()) };
        let relocation = self.relocations.get(&task.field);
        if relocation.is_some() && self.is_old {
            let what =
                format!("copying entries of branch {} one by one from before ROOT 3.04", branch.field.path);
            return Err(Error::unsupported(what));
        }
        let text = basket_text(&branch.field.name, &self.into.copy.name);
        let key_len = self.into.writer.key_length(text, KeyKind::BASKET)?;
        let (begin, pending) = self.waiting.pending.entry(task.field).or_default();
        if pending.len() == 0 {
            *begin = first;
        }
        let tables = task.field as usize == self.into.copy.references();
        let change = match (&self.renumber, relocation) {
            (Some(renumber), _) if tables => Change::Tables(renumber),
            (_, Some(relocation)) => Change::Pointers(relocation),
            _ => Change::Nothing,
        };
        let change = (change, key_len.into());
        pending.add(record, &task.basket.entries, kept, change, &mut self.scratch)?;
        let size = branch.object.int("fBasketSize").unwrap_or(0);
        let full = pending.bytes() >= usize::try_from(size).unwrap_or(0).max(LEAST_BASKET);
        let bytes = task.basket.len();
        if full {
            self.end_pending(task.field)?;
        }
        self.tell(bytes)
    }

    /// Builds a basket of the pending entries of a branch.
    fn end_pending(&mut self, field: u32) -> Result<()> {
        let Some(branch) = self.branches.get(&field) else { return Ok(()) };
        let Some((first, pending)) =
            self.waiting.pending.get_mut(&field).filter(|(_, pending)| pending.len() > 0)
        else {
            return Ok(());
        };
        let first = *first;
        let text = basket_text(&branch.field.name, &self.into.copy.name);
        let key_len = self.into.writer.key_length(text, KeyKind::BASKET)?;
        let count = pending.len() as u64;
        let made = pending.take(branch.entry_offset_len != 0, key_len.into());
        let compression = self.into.copy.compression(branch, self.into.writer);
        let record = Record { field, entries: count, first, length: 0 };
        self.job(record, compression, Work::Made(made))
    }

    fn job(&mut self, record: Record, compression: Compression, work: Work) -> Result<()> {
        self.end_windows()?;
        self.waiting.job_bytes += work.bytes();
        self.waiting.jobs.push(Job { record, compression, work: Mutex::new(work) });
        if self.waiting.job_bytes >= BATCH || self.waiting.jobs.len() >= MOST_JOBS {
            self.end_jobs()
        } else {
            Ok(())
        }
    }

    fn end_windows(&mut self) -> Result<()> {
        let windows = std::mem::take(&mut self.waiting.windows);
        self.waiting.window_bytes = 0;
        if windows.is_empty() {
            return Ok(());
        }
        let origins = self.origins;
        // Requests to a server run concurrently. Local files are faster to read on one thread, which finds
        // the bytes in its own cache when it writes them.
        if origins.iter().any(|origin| origin.source.plans_requests()) {
            let (runner, spare) = (self.into.runner, std::mem::take(&mut self.waiting.spare));
            let windows = Windows { all: &windows, origins, spare: &spare };
            runner.run(&windows, &mut WindowSink { run: self, windows: &windows })?;
            self.waiting.spare = spare;
            return Ok(());
        }
        let mut block = Vec::new();
        for windows in windows.chunk_by(|one, next| one.source == next.source) {
            let (Some(first), Some(last)) = (windows.first(), windows.last()) else { continue };
            let origin = &origins[first.source];
            // The system copies the bytes of views from file to file, without a copy in this process.
            let views = origin.has_views(&(first.bytes.start..last.bytes.end.max(first.bytes.end)));
            self.viewed[first.source] |= views;
            for window in windows {
                if views {
                    // If the file was truncated, the system refuses the view: report the changed file
                    // instead.
                    let written = self.write(&window.records, &origin.view(&window.bytes)?);
                    written.or_else(|error| origin.unchanged().and(Err(error)))?;
                } else {
                    origin.read(&window.bytes, &mut block)?;
                    self.write(&window.records, &block)?;
                }
            }
        }
        Ok(())
    }

    /// Writes contiguous records.
    fn write(&mut self, all: &[Record], bytes: &[u8]) -> Result<()> {
        let mut totals = Vec::with_capacity(all.len());
        self.waiting.copies.clear();
        let mut at = 0;
        for record in all {
            let end = at + record.length as usize;
            let checked = self.waiting.copies.add(&bytes[at..end], record.entries);
            totals.push(checked.map_err(|error| {
                let path = self.branches.get(&record.field).map_or("", |branch| &branch.field.path);
                error.in_object(&format!("{}/{path}", self.path))
            })?);
            at = end;
        }
        let Copies { bytes: copies, records } = &mut self.waiting.copies;
        let places =
            self.into.writer.stored(self.into.copy.directory, copies, bytes, records, self.into.processes)?;
        let Some(places) = places else {
            let what = "copying baskets whose keys have no room for places behind 2 GB";
            return Err(Error::unsupported(what));
        };
        for ((record, total), position) in all.iter().zip(totals).zip(places) {
            let placed = Placed { entry: record.first, bytes: record.length, position };
            self.into.copy.filled[record.field as usize].add(placed, total);
        }
        self.tell(at as u64)
    }

    fn end_jobs(&mut self) -> Result<()> {
        let jobs = std::mem::take(&mut self.waiting.jobs);
        self.waiting.job_bytes = 0;
        if jobs.is_empty() {
            return Ok(());
        }
        let runner = self.into.runner;
        let mut sink = JobSink { run: self, jobs: &jobs };
        runner.run(&Batch(&jobs), &mut sink)
    }

    /// Decompresses the baskets of the smallest branch, and checks that they have at least a byte for each of
    /// `entries` entries.
    ///
    /// # Errors
    /// Returns an error if a basket is damaged, or if `entries` exceeds the number of bytes.
    pub(super) fn verify_one(&self, tasks: &[Task], entries: u64) -> Result<()> {
        let tables = self.into.copy.references();
        let mut stored: BTreeMap<u32, u64> = BTreeMap::new();
        for task in tasks.iter().filter(|task| task.field as usize != tables) {
            *stored.entry(task.field).or_default() += task.basket.len();
        }
        let mut bytes = 0;
        if let Some((&field, _)) = stored.iter().min_by_key(|(_, stored)| **stored) {
            for task in tasks.iter().filter(|task| task.field == field) {
                let count = task.basket.entries.end - task.basket.entries.start;
                bytes += match &task.basket.bytes {
                    Bytes::File(range) => {
                        let length = self.read(task.source, range).and_then(|record| check(&record, count));
                        length.map_err(|error| self.placed(error, task))?
                    }
                    // The entries of other baskets are counted when they are divided.
                    _ => count,
                };
            }
        }
        if bytes < entries {
            let what = format!("{entries} entries in {bytes} bytes, with tables of references to objects");
            return Err(Error::fault(what));
        }
        Ok(())
    }

    /// Adds the basket and branch of a task to the place of an error.
    pub(super) fn placed(&self, error: Error, task: &Task) -> Error {
        match self.branches.get(&task.field) {
            Some(branch) => {
                error.in_block(task.basket.number).in_object(&format!("{}/{}", self.path, branch.field.path))
            }
            None => error,
        }
    }

    pub(super) fn finish(mut self) -> Result<()> {
        let waiting: Vec<u32> = self.waiting.pending.keys().copied().collect();
        waiting.into_iter().try_for_each(|field| self.end_pending(field))?;
        self.end_windows()?;
        self.end_jobs()?;
        let mut viewed = self.origins.iter().zip(&self.viewed).filter(|(_, viewed)| **viewed);
        viewed.try_for_each(|(origin, _)| origin.unchanged())
    }

    fn read(&self, source: usize, range: &Range<u64>) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.origins[source].read(range, &mut bytes)?;
        Ok(bytes)
    }

    fn tell(&mut self, bytes: u64) -> Result<()> {
        if (self.into.progress)(bytes) { Ok(()) } else { Err(Error::new(ErrorKind::Cancelled)) }
    }
}

struct WindowSink<'s, 'a, 't> {
    run: &'s mut Run<'a, 't>,
    windows: &'s Windows<'s>,
}

impl BlockSink for WindowSink<'_, '_, '_> {
    fn take(&mut self, block: usize, stored: &mut StoredBlock) -> Result<()> {
        let bytes = std::mem::take(&mut stored.bytes);
        self.run.write(&self.windows.all[block].records, &bytes)?;
        self.windows.keep(bytes);
        Ok(())
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
        let Some(branch) = run.branches.get(&job.record.field) else { return Ok(()) };
        let work = job.work.lock().unwrap_or_else(PoisonError::into_inner);
        let Work::Made(made) = &*work else {
            let length = stored.bytes.len() as u32;
            return run.write(&[Record { length, ..job.record }], &stored.bytes);
        };
        let copy = &mut *run.into.copy;
        let filled = &mut copy.filled[job.record.field as usize];
        let (placed, total) = write_basket(
            run.into.writer,
            (copy.directory, basket_text(&branch.field.name, &copy.name)),
            (filled.baskets.len() as u32, job.record.first, run.into.processes),
            made.filling,
            (made.payload.len(), &stored.bytes),
        )?;
        filled.add(placed, total);
        Ok(())
    }
}

/// Size in bytes of the baskets that are compressed together, and their maximum number.
const BATCH: usize = 32 << 20;
const MOST_JOBS: usize = 1024;
/// Minimum size in bytes of a basket of collected entries.
const LEAST_BASKET: usize = 32_000;
