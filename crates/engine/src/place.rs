//! Assignment of decoded values to their final positions in the columns, in order.
//!
//! Every group has one builder for each column and a *turn*: the number of its tasks whose slots are
//! allocated. A task that knows how much it will write (kernels) waits for its turn, allocates its slots,
//! passes the turn on, and only then decodes, so that several threads decode blocks of one column directly to
//! their final position. A program does not know this before it has run. If other threads work, it writes to
//! scratch memory that is copied when its turn comes, so that no thread keeps the turn while it decodes. If
//! it runs alone, or its output is too large for scratch memory, it appends to the columns during its turn.
//! If most of the work precedes the program (compressed blocks), it waits for the turn at that point: threads
//! that have waited once are staggered, and do not have to wait again.

use crate::{stop::Stop, text::Texts};
use forthwith_columns::{
    Array, Builder, Column, FinishError, Finisher, Memory, OutOfMemory, Presence, Slot, TextViews, VIEW,
};
use forthwith_io::LARGEST_EXPANSION;
use forthwith_plan::{Columns as FormatColumns, Decoder, Error, ErrorKind, Group, Plan, Result};
use forthwith_platform::Instant;
use std::{
    collections::HashMap,
    sync::{
        Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

/// The columns of a group while they are filled.
pub(crate) struct Places<'p> {
    pub(crate) group: &'p Group,
    pub(crate) builders: Vec<Builder>,
    pub(crate) texts: Texts,
    /// Whether the validity of option types is kept as a bitmap, if the format has one.
    bits: bool,
    /// Index of the column of text views, if there is one.
    views: Option<usize>,
    /// Total length in bytes of the texts that were appended as views.
    text_bytes: AtomicU64,
    steps: usize,
    entries: u64,
    /// Estimated and largest number of bytes to reserve for each column, if memory is reserved only after the
    /// first task has shown the actual need.
    rooms: Vec<[usize; 2]>,
    /// Upper bound on the expected bytes for which the columns are reserved together in huge pages, of which
    /// each column starts to fill one at once.
    together: u64,
    /// The last offset that was assigned in each offset column, whether it is written yet or not.
    ends: Mutex<Vec<i64>>,
    /// The file whose tasks have the turn, and the ends before its first task.
    origin: Mutex<(usize, Vec<i64>)>,
    turn: Mutex<Turns>,
    moved: Condvar,
    /// Time in nanoseconds for which a program recently kept the turn; 0 if none did.
    kept: AtomicU64,
}

#[derive(Default)]
struct Turns {
    /// Number of tasks whose slots are allocated.
    placed: usize,
    /// Number of tasks whose values are written.
    done: usize,
    /// Number of threads that sleep until the turn changes. If it is 0, the system call that wakes them is
    /// saved.
    sleeping: usize,
}

type Columns = Vec<(String, Column)>;

/// Applies finishers to columns. Each changes one column of its own, so several threads can take one at a
/// time; the order of the results does not depend on the number of threads.
fn finished(
    columns: Columns,
    finishers: &[Finisher],
    memory: &Memory,
    threads: usize,
) -> std::result::Result<Columns, FinishError> {
    let rows: usize = columns.iter().map(|(_, column)| column.len()).sum();
    let places: HashMap<String, usize> =
        columns.iter().enumerate().rev().map(|(at, (name, _))| (name.clone(), at)).collect();
    let mut all: Vec<Option<(String, Column)>> = columns.into_iter().map(Some).collect();
    let threads = if rows < WORTH_A_THREAD { 1 } else { threads.min(finishers.len()) };
    let own = finishers.iter().map(|finisher| {
        let at = places.get(&finisher.takes());
        Mutex::new(Ok(at.and_then(|at| all[*at].take()).into_iter().collect::<Columns>()))
    });
    let own: Vec<_> = own.collect();
    let mut columns: Columns = all.into_iter().flatten().collect();
    let next = AtomicUsize::new(0);
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let (Some(finisher), Some(own)) = (finishers.get(number), own.get(number)) else { break };
            let mut own = own.lock().unwrap_or_else(PoisonError::into_inner);
            if let Ok(columns) = &mut *own
                && let Err(error) = finisher.apply(columns, memory)
            {
                *own = Err(error);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            if std::thread::Builder::new().spawn_scoped(scope, work).is_err() {
                break;
            }
        }
        work();
    });
    for own in own {
        columns.extend(own.into_inner().unwrap_or_else(PoisonError::into_inner)?);
    }
    share_missing(&mut columns);
    Ok(columns)
}

/// Makes all index columns without a valid row share one buffer for each length.
fn share_missing(columns: &mut Columns) {
    let mut known: HashMap<usize, Column> = HashMap::new();
    for (_, column) in columns {
        if let Some(rows) = column.presence().filter(|presence| presence.there() == 0).map(Presence::rows) {
            column.clone_from(known.entry(rows).or_insert_with(|| column.clone()));
        }
    }
}

/// Time for which a thread spins while it waits for its turn, before it sleeps.
const AWAKE: Duration = Duration::from_micros(40);
/// Number of spin-loop hints between two checks of the turn.
const PAUSES: u32 = 30;

/// Number of bytes that are reserved for a column beyond the expected ones.
const LIKELY: usize = 4096;

/// Number of rows from which on finishers run on several threads.
const WORTH_A_THREAD: usize = 1 << 17;

/// Returns the error of inconsistent columns, in terms of the file.
#[cold]
fn unfinished(error: FinishError, group: &Group) -> Error {
    match error {
        FinishError::OutOfMemory(refused) => out_of_memory(&refused),
        FinishError::Symbol { ref key, .. } | FinishError::Truth { ref key } => {
            let columns = [format!("{key}-index"), format!("{key}-packed")];
            let member = group.columns.iter().find(|c| columns.contains(&c.key)).map(|c| c.member.as_str());
            let error = Error::fault(error.to_string());
            match member {
                Some(member) => error.in_member(member),
                None => error,
            }
        }
        other => Error::invalid(other.to_string()),
    }
}

pub(crate) fn out_of_memory(error: &OutOfMemory) -> Error {
    Error::new(ErrorKind::OutOfMemory { what: "a column", bytes: error.bytes as u64 })
}

/// Upper bound on the address space in bytes that the columns of one plan reserve together. A process has 128
/// TiB, and a corrupt file can declare more entries or repeat a block more often than that allows. Columns
/// that need more grow.
const LARGEST_RESERVATION: u64 = 8 << 40;

/// Totals of the tasks of one group.
#[derive(Clone, Default)]
pub(crate) struct Load {
    /// Number of steps of the tasks.
    pub(crate) steps: usize,
    /// Number of wanted entries.
    pub(crate) entries: u64,
    /// Number of decompressed bytes, limited by a plausible compression ratio.
    payload: u64,
    /// Number of stored bytes.
    stored: u64,
    /// The first wanted entry.
    pub(crate) first: Option<u64>,
    /// Upper bound on the address space in bytes that each column reserves.
    most: u64,
}

impl Load {
    /// Returns the totals of every group, in one pass, because wide tables have many groups and tasks.
    pub(crate) fn of(plan: &Plan) -> Vec<Self> {
        let columns: usize = plan.groups.iter().map(|group| group.columns.len()).sum();
        let most = LARGEST_RESERVATION / (columns.max(1) as u64);
        let mut loads = vec![Self { most, ..Self::default() }; plan.groups.len()];
        for task in &plan.tasks {
            let load = &mut loads[task.group as usize];
            let most = task.stored.len().saturating_mul(LARGEST_EXPANSION).saturating_add(4096);
            let (entries, payload) = match plan.chosen_of(task) {
                None => (task.wanted.end - task.wanted.start, task.payload_hint),
                // The share of bytes is estimated as twice that of entries: the selected ones may have many
                // items.
                Some(chosen) => {
                    let (rows, all) = (chosen.len() as u64, task.entries.end - task.entries.start);
                    let payload =
                        u128::from(task.payload_hint) * u128::from(rows) * 2 / u128::from(all.max(1));
                    (rows, u64::try_from(payload).unwrap_or(u64::MAX))
                }
            };
            load.entries += entries;
            load.payload = load.payload.saturating_add(payload.min(most));
            load.stored = load.stored.saturating_add(task.stored.len());
            load.first.get_or_insert(task.wanted.start);
        }
        loads
    }

    /// Returns the totals over several plans with the same groups.
    pub(crate) fn total(parts: &[Vec<Self>]) -> Vec<Self> {
        let Some((first, others)) = parts.split_first() else { return Vec::new() };
        let mut all = first.clone();
        for loads in others {
            for (all, one) in all.iter_mut().zip(loads) {
                all.entries = all.entries.saturating_add(one.entries);
                all.payload = all.payload.saturating_add(one.payload);
                all.stored = all.stored.saturating_add(one.stored);
            }
        }
        all
    }
}

/// Reserves memory for columns. `rooms` has the bytes to reserve and the expected bytes of each. They are
/// reserved together if no more than `together` bytes are expected: the file may declare wrong numbers.
fn reserve(builders: &[Builder], rooms: &[(usize, usize)], together: u64) -> Result<()> {
    let expected = rooms.iter().fold(0_u64, |sum, (_, expected)| sum.saturating_add(*expected as u64));
    let mut each = builders.iter().zip(rooms);
    let reserved = match expected <= together {
        true => Builder::reserve_together(builders, rooms),
        false => each.try_for_each(|(builder, (bytes, expected))| builder.reserve(*bytes, *expected)),
    };
    reserved.map_err(|e| out_of_memory(&e))
}

impl<'p> Places<'p> {
    /// Creates the builders of one group, with capacity for everything that its tasks can deliver.
    pub(crate) fn new(plan: &'p Plan, number: usize, load: &Load, memory: &Memory) -> Result<Self> {
        let group = &plan.groups[number];
        let &Load { steps, entries, payload, stored, most, .. } = load;
        let mut builders = Vec::with_capacity(group.columns.len());
        let later = steps > 1 && matches!(group.decoder, Decoder::Program(_));
        let side_by_side = group.columns.len() > 1 && matches!(group.decoder, Decoder::Kernel(_));
        let together = payload.min(stored.saturating_mul(16)).saturating_mul(2);
        let mut rooms = Vec::new();
        let at = group.views.and_then(|at| usize::try_from(at).ok());
        let views = at.filter(|at| plan.views && plan.utf8 && at + 1 < group.columns.len());
        // A byte of the payload belongs to an item of one column, so the columns share the payload.
        let sharing = group.columns.iter().filter(|column| column.bytes_per_payload_byte > 0).count() as u64;
        let each = payload.saturating_mul(2) / sharing.max(1);
        for (at, column) in group.columns.iter().enumerate() {
            let size = column.dtype.size() as u64;
            let room = match &group.decoder {
                _ if views == Some(at) => entries.saturating_mul(VIEW as u64),
                Decoder::Kernel(kernel) if let Some((_, slots)) = kernel.fixed() => {
                    let count = slots.get(at).map_or(0, |slot| slot.count);
                    entries.saturating_mul(count).saturating_mul(size)
                }
                _ if column.bytes_per_payload_byte == 0 => entries.saturating_add(1).saturating_mul(size),
                _ => payload.saturating_mul(u64::from(column.bytes_per_payload_byte)).saturating_add(8),
            };
            // Entry counts are untrusted: values of fixed size need at most as many bytes as the blocks can
            // contain.
            let bound = payload.max(entries).saturating_mul(16).saturating_add(4096).min(most);
            let bytes = |bytes: u64| usize::try_from(bytes).unwrap_or(0);
            let mut room = bytes(room.min(bound));
            let mut expected = room;
            if later || side_by_side {
                rooms.push([std::mem::take(&mut room), bytes(bound)]);
            } else if column.bytes_per_payload_byte > 0 && matches!(group.decoder, Decoder::Program(_)) {
                expected = room.min(bytes(each));
            }
            let has_zero = column.offsets && views != Some(at);
            let builder = Builder::expecting(memory, column.dtype, has_zero, (room, expected));
            builders.push(builder.map_err(|e| out_of_memory(&e))?);
        }
        if side_by_side {
            let known: Vec<_> =
                std::mem::take(&mut rooms).into_iter().map(|[room, _]| (room, room)).collect();
            reserve(&builders, &known, together)?;
        }
        Ok(Self {
            group,
            builders,
            texts: Texts::of(plan, group),
            bits: plan.bits,
            views,
            text_bytes: AtomicU64::new(0),
            steps,
            entries,
            rooms,
            together,
            ends: Mutex::new(vec![0; group.columns.len()]),
            origin: Mutex::new((0, vec![0; group.columns.len()])),
            turn: Mutex::default(),
            moved: Condvar::new(),
            kept: AtomicU64::new(0),
        })
    }

    /// Prepares the columns for `steps` more tasks of other files. Their memory grows as needed.
    pub(crate) fn go_on(&mut self, steps: usize) {
        self.steps = steps;
        self.rooms.clear();
        *self.turn.get_mut().unwrap_or_else(PoisonError::into_inner) = Turns::default();
    }

    fn wait_until(&self, stop: Stop<'_>, ready: impl Fn(&Turns) -> bool) -> Result<()> {
        let mut turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        // Most waits are shorter than sleeping and waking takes.
        let begun = (!ready(&turn)).then(Instant::now);
        while !ready(&turn) && begun.is_some_and(|begun| begun.elapsed() < AWAKE) {
            drop(turn);
            (0..PAUSES).for_each(|_| std::hint::spin_loop());
            turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        }
        while !ready(&turn) {
            if stop.is_set() {
                return Err(Error::new(ErrorKind::Cancelled));
            }
            turn.sleeping += 1;
            turn = self.moved.wait(turn).unwrap_or_else(PoisonError::into_inner);
            turn.sleeping -= 1;
        }
        Ok(())
    }

    /// Returns the last assigned offsets. Only the task that has the turn may access them.
    pub(crate) fn ends(&self) -> MutexGuard<'_, Vec<i64>> {
        self.ends.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the ends before the first task of a file. Called during the turn of a task of this file,
    /// before it sets new ends.
    fn origin(&self, file: usize) -> Vec<i64> {
        let mut origin = self.origin.lock().unwrap_or_else(PoisonError::into_inner);
        if origin.0 != file {
            *origin = (file, self.ends().clone());
        }
        origin.1.clone()
    }

    /// Allocates slots for a number of items of each column. Called during the turn.
    pub(crate) fn append(&self, items: impl IntoIterator<Item = u64>) -> Result<Vec<Slot<'_>>> {
        let append = |(builder, items): (_, u64)| Builder::append(builder, items as usize);
        let slots: Result<Vec<_>, _> = self.builders.iter().zip(items).map(append).collect();
        slots.map_err(|e| out_of_memory(&e))
    }

    /// Whether the group's task number `order` has the turn.
    pub(crate) fn is_turn(&self, order: usize) -> bool {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner).placed == order
    }

    /// Whether a program should wait for its turn rather than run ahead of it: true if all other threads can
    /// have theirs in the time it takes to prepare a block.
    pub(crate) fn pays_to_wait(&self, prepared: Duration, threads: usize) -> bool {
        let kept = self.kept.load(Ordering::Relaxed);
        let others = Duration::from_nanos(kept).saturating_mul(threads.saturating_sub(1) as u32);
        kept > 0 && others <= prepared
    }

    /// Records the time for which a program kept the turn.
    pub(crate) fn keeps(&self, time: Duration) {
        self.kept.store(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Waits for the turn of the group's task number `order`.
    pub(crate) fn wait_turn(&self, order: usize, stop: Stop<'_>) -> Result<()> {
        self.wait_until(stop, |turn| turn.placed == order)
    }

    /// Passes the turn on.
    pub(crate) fn placed(&self) {
        self.change(|turn| turn.placed += 1);
    }

    /// Returns the expected number of bytes to decode: the payload that the file declares, limited by a
    /// plausible compression ratio.
    pub(crate) const fn expected_bytes(&self) -> u64 {
        self.together / 2
    }

    /// Whether the group's task number `order` reserves the memory of the columns.
    pub(crate) fn makes_room(&self, order: usize) -> bool {
        order == 0 && !self.rooms.is_empty()
    }

    /// Reserves memory for all columns, during the turn of the task that [does so](Self::makes_room). `bytes`
    /// are the bytes of each column that `entries` entries took; `None` if unknown.
    ///
    /// A column may need far more memory than expected. Address space for it is free of cost, but huge pages
    /// at its beginning are not.
    pub(crate) fn make_room(&self, entries: u64, bytes: Option<&[usize]>) -> Result<()> {
        let rooms = self.rooms.iter().enumerate().map(|(at, [room, bound])| {
            let expected = bytes.and_then(|bytes| bytes.get(at)).map_or(*room, |bytes| {
                let all = u128::from(self.entries) * *bytes as u128 / u128::from(entries.max(1));
                usize::try_from(all).unwrap_or(usize::MAX)
            });
            let likely = expected.saturating_add(expected / 4).saturating_add(LIKELY).min(*bound);
            (likely.max(*room), expected)
        });
        reserve(&self.builders, &rooms.collect::<Vec<_>>(), self.together)
    }

    /// Marks a task as written.
    pub(crate) fn done(&self) {
        self.change(|turn| turn.done += 1);
    }

    /// Waits until all tasks of the group are written.
    pub(crate) fn wait_complete(&self, stop: Stop<'_>) -> Result<()> {
        self.wait_until(stop, |turn| turn.done == self.steps)
    }

    /// Wakes waiting threads after `stop` was set.
    pub(crate) fn wake(&self) {
        self.change(|_| ());
    }

    /// Changes the turn and wakes sleeping threads. Threads count themselves under the same lock under which
    /// they check the turn and `stop`, so no wake-up is lost.
    fn change(&self, change: impl FnOnce(&mut Turns)) {
        let mut turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut turn);
        let sleeping = turn.sleeping;
        drop(turn);
        if sleeping > 0 {
            self.moved.notify_all();
        }
    }

    /// Returns the finished arrays: one, or one for each field of the record if the group is split.
    pub(crate) fn finish(self, entries: u64, memory: &Memory, threads: usize) -> Result<Vec<Array>> {
        let keys = self.group.columns.iter().map(|c| c.key.clone());
        let mut columns: Vec<_> = keys.zip(self.builders.into_iter().map(Builder::finish)).collect();
        if let Some([(_, offsets), (_, bytes)]) = self.views.and_then(|at| columns.get_mut(at..at + 2)) {
            let length = self.text_bytes.into_inner();
            if usize::try_from(length).is_err() {
                return Err(Error::new(ErrorKind::OutOfMemory { what: "a column", bytes: length }));
            }
            [*offsets, *bytes] =
                Column::of_texts(TextViews::new(offsets.to_bytes(), bytes.to_bytes(), length));
        }
        if let Decoder::Program(program) = &self.group.decoder {
            columns =
                finished(columns, &program.finish, memory, threads).map_err(|e| unfinished(e, self.group))?;
        }
        let all = Array { form: self.group.form.clone(), length: entries, columns };
        Ok(if self.group.split { all.into_fields() } else { vec![all] })
    }
}

/// Turn of one task, and the signal that ends waiting for it.
#[derive(Clone, Copy)]
pub(crate) struct Turn<'a> {
    pub(crate) places: &'a Places<'a>,
    /// Number of the task in its group.
    pub(crate) order: usize,
    /// Index of the file among all that fill the columns.
    pub(crate) file: usize,
    pub(crate) stop: Stop<'a>,
}

impl<'a> Turn<'a> {
    /// Waits for the turn.
    pub(crate) fn wait(self) -> Result<&'a Places<'a>> {
        self.places.wait_turn(self.order, self.stop).map(|()| self.places)
    }

    /// Waits for the turn, allocates slots for a number of items of each column, and passes the turn on.
    pub(crate) fn take(self, items: impl IntoIterator<Item = u64>) -> Result<Vec<Slot<'a>>> {
        let slots = self.wait()?.append(items);
        self.places.placed();
        slots
    }

    /// Returns the columns for a format that decodes the task itself.
    pub(crate) const fn columns(self) -> Taking<'a> {
        Taking { turn: self, passed: false, has_valid_text: false }
    }
}

/// [`FormatColumns`] of one task.
pub(crate) struct Taking<'a> {
    turn: Turn<'a>,
    passed: bool,
    has_valid_text: bool,
}

impl<'a> Taking<'a> {
    /// Ends the task: passes the turn on unless that was done, and records whether text was validated.
    pub(crate) fn finish(mut self) {
        if !self.has_valid_text {
            self.turn.places.texts.doubt();
        }
        self.pass();
    }

    fn pass(&mut self) {
        if !self.passed {
            self.passed = true;
            self.turn.places.placed();
        }
    }

    /// Allocates slots; an error unless it is the task's turn, since the order of blocks would change.
    fn append(&self, items: &[usize]) -> Result<Vec<Slot<'a>>> {
        if !self.is_turn() {
            return Err(Error::invalid("places taken out of turn"));
        }
        self.turn.places.append(items.iter().map(|items| *items as u64))
    }
}

impl FormatColumns for Taking<'_> {
    fn is_turn(&self) -> bool {
        !self.passed && self.turn.places.is_turn(self.turn.order)
    }

    fn wait(&mut self) -> Result<()> {
        self.turn.wait().map(drop)
    }

    fn go_on(&self) -> Result<()> {
        if self.turn.stop.is_set() { Err(Error::new(ErrorKind::Cancelled)) } else { Ok(()) }
    }

    fn ends(&self) -> Vec<i64> {
        self.turn.places.ends().clone()
    }

    fn origin(&self) -> Vec<i64> {
        self.turn.places.origin(self.turn.file)
    }

    fn set_ends(&mut self, ends: &[i64]) {
        let columns = self.turn.places.builders.len();
        let mut kept = self.turn.places.ends();
        kept.truncate(columns);
        for (to, end) in kept.iter_mut().zip(ends) {
            *to = *end;
        }
        kept.extend(ends.iter().skip(columns));
    }

    fn take(&mut self, items: &[usize]) -> Result<Vec<Slot<'_>>> {
        self.append(items)
    }

    fn append_rows(&mut self, column: usize, first: i64, rows: &Presence) -> bool {
        let places = self.turn.places;
        let wanted = self.is_turn() && (places.bits || rows.is_complete());
        let builder = places.builders.get(column).filter(|_| wanted);
        builder.is_some_and(|builder| builder.append_rows(first, rows))
    }

    fn views(&self) -> Option<usize> {
        self.turn.places.views
    }

    fn count_text(&self, bytes: u64) {
        // A total that saturates is an error when the columns are finished.
        let add = |sum: u64| Some(sum.saturating_add(bytes));
        let _ = self.turn.places.text_bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
    }

    fn take_last(&mut self, items: &[usize]) -> Result<Vec<Slot<'_>>> {
        let slots = self.append(items)?;
        self.pass();
        Ok(slots)
    }

    fn text_is_valid(&mut self) {
        self.has_valid_text = true;
    }
}
