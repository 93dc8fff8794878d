//! Where decoded values go: final places, assigned in order.
//!
//! Every group has one builder a column and a *turn*: the number of its tasks whose places are assigned. A
//! task that knows how much it will write (kernels) waits for its turn, takes its places, passes the turn on,
//! and only then decodes, so that blocks of one column are decoded by several threads straight into their
//! final place. A program does not know before it has run: beside other threads it runs into scratch that is
//! copied when the turn comes, so that no thread keeps the turn while it decodes. Alone, or with more than
//! scratch is good for, it appends in place on its turn; where most of the work comes before the program
//! (compressed blocks), it waits for the turn then: threads that have waited once are out of step, and do not
//! have to wait again.

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

/// One group's columns while they are being filled.
pub(crate) struct Places<'p> {
    pub(crate) group: &'p Group,
    pub(crate) builders: Vec<Builder>,
    pub(crate) texts: Texts,
    /// Whether rows of options are kept as bits, where the format knows them.
    bits: bool,
    /// The column of texts that are views, and the bytes of all of them so far.
    views: Option<usize>,
    text_bytes: AtomicU64,
    steps: usize,
    entries: u64,
    /// Bytes to be reserved for each column, and at most, where they have room for nothing before the first
    /// task has shown what they need.
    rooms: Vec<[usize; 2]>,
    /// Bytes that are expected at most for the columns to lie together in huge pages, all of which they begin
    /// to fill at once.
    together: u64,
    /// The last offset assigned to each column of offsets, written or not.
    ends: Mutex<Vec<i64>>,
    /// The file whose tasks have their turn, and the ends that it found.
    origin: Mutex<(usize, Vec<i64>)>,
    turn: Mutex<Turns>,
    moved: Condvar,
    /// Nanoseconds for which a program kept the turn lately; 0 if none has.
    kept: AtomicU64,
}

#[derive(Default)]
struct Turns {
    /// Tasks whose places are assigned.
    placed: usize,
    /// Tasks whose values are written.
    done: usize,
    /// Threads that sleep until the turn changes. To wake none is a system call, too.
    sleeping: usize,
}

type Columns = Vec<(String, Column)>;

/// Finishers change columns. Each has one column of its own, so that several threads can each take the next;
/// the order of the results does not depend on how many threads there are.
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

/// For so long a thread waits for its turn awake.
const AWAKE: Duration = Duration::from_micros(40);
/// Pauses between two looks.
const PAUSES: u32 = 30;

/// Bytes for which a column has room beyond those that are likely.
const LIKELY: usize = 4096;

/// Fewer rows are finished before a thread has begun.
const WORTH_A_THREAD: usize = 1 << 17;

/// The error for columns that do not fit together, in the file's terms.
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

/// Address space that the columns of one plan reserve together at most. There are 128 TiB of it in a process,
/// and a file can claim more entries, and list a block more often, than that has room for. What needs more
/// grows.
const LARGEST_RESERVATION: u64 = 8 << 40;

/// The sums over the tasks of one group.
#[derive(Clone, Default)]
pub(crate) struct Load {
    /// In which they are taken.
    pub(crate) steps: usize,
    /// Entries wanted.
    pub(crate) entries: u64,
    /// Bytes when decompressed, as far as the file can be believed.
    payload: u64,
    /// Bytes in the file.
    stored: u64,
    /// The first entry wanted.
    pub(crate) first: Option<u64>,
    /// The most address space that each column reserves.
    most: u64,
}

impl Load {
    /// Of every group: in one pass, because wide tables have many groups and many tasks.
    pub(crate) fn of(plan: &Plan) -> Vec<Self> {
        let columns: usize = plan.groups.iter().map(|group| group.columns.len()).sum();
        let most = LARGEST_RESERVATION / (columns.max(1) as u64);
        let mut loads = vec![Self { most, ..Self::default() }; plan.groups.len()];
        for task in &plan.tasks {
            let load = &mut loads[task.group as usize];
            let most = task.stored.len().saturating_mul(LARGEST_EXPANSION).saturating_add(4096);
            let (entries, payload) = match plan.chosen_of(task) {
                None => (task.wanted.end - task.wanted.start, task.payload_hint),
                // The share of the block's bytes is twice that of its entries: those with many items may be chosen.
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

    /// The sums over several plans, which have the same groups.
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

/// Memory for columns, of each the bytes to reserve and those that are expected. They lie together if no more
/// than `together` are: a file's claim may be wrong.
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
    /// Builders for one group, with room for everything its tasks can deliver.
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
        // A byte of the payload is an item of one column only, so columns share the payload.
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
            // Entry counts are the file's word: fixed-size values cannot need more than the blocks can hold.
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

    /// The same columns for `steps` more tasks of other files. Room for what they deliver is made as it is needed.
    pub(crate) fn go_on(&mut self, steps: usize) {
        self.steps = steps;
        self.rooms.clear();
        *self.turn.get_mut().unwrap_or_else(PoisonError::into_inner) = Turns::default();
    }

    fn wait_until(&self, stop: Stop<'_>, ready: impl Fn(&Turns) -> bool) -> Result<()> {
        let mut turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        // Most waits are shorter than it takes to sleep and be woken.
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

    /// The last offsets assigned; to be touched on one's turn only.
    pub(crate) fn ends(&self) -> MutexGuard<'_, Vec<i64>> {
        self.ends.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The ends that the first task of a file found; on the turn of one of its tasks, before it leaves others.
    fn origin(&self, file: usize) -> Vec<i64> {
        let mut origin = self.origin.lock().unwrap_or_else(PoisonError::into_inner);
        if origin.0 != file {
            *origin = (file, self.ends().clone());
        }
        origin.1.clone()
    }

    /// Places for a number of items of each column; on one's turn.
    pub(crate) fn append(&self, items: impl IntoIterator<Item = u64>) -> Result<Vec<Slot<'_>>> {
        let append = |(builder, items): (_, u64)| Builder::append(builder, items as usize);
        let slots: Result<Vec<_>, _> = self.builders.iter().zip(items).map(append).collect();
        slots.map_err(|e| out_of_memory(&e))
    }

    /// Whether it is the turn of the group's task number `order` now.
    pub(crate) fn is_turn(&self, order: usize) -> bool {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner).placed == order
    }

    /// Whether a program should rather wait for its turn than run ahead of it: if all the others can have
    /// theirs in the time it takes to prepare a block.
    pub(crate) fn pays_to_wait(&self, prepared: Duration, threads: usize) -> bool {
        let kept = self.kept.load(Ordering::Relaxed);
        let others = Duration::from_nanos(kept).saturating_mul(threads.saturating_sub(1) as u32);
        kept > 0 && others <= prepared
    }

    /// Notes for how long a program kept the turn.
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

    /// The bytes to decode: the payload that the file states, limited by a credible compression ratio.
    pub(crate) const fn expected_bytes(&self) -> u64 {
        self.together / 2
    }

    /// Whether the columns get their room from the group's task number `order`.
    pub(crate) fn makes_room(&self, order: usize) -> bool {
        order == 0 && !self.rooms.is_empty()
    }

    /// Memory for all columns, on the turn of the task that [makes it](Self::makes_room): of `entries`, which
    /// made `bytes` of each column, or of which it is not known.
    ///
    /// A column could need far more than most do: the address space for it costs nothing, but huge pages at
    /// its beginning do.
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

    /// Counts a task as written.
    pub(crate) fn done(&self) {
        self.change(|turn| turn.done += 1);
    }

    /// Waits until every task of the group is written.
    pub(crate) fn wait_complete(&self, stop: Stop<'_>) -> Result<()> {
        self.wait_until(stop, |turn| turn.done == self.steps)
    }

    /// Wakes waiting threads, after `stop` was set.
    pub(crate) fn wake(&self) {
        self.change(|_| ());
    }

    /// Changes the turn, and wakes the threads that sleep meanwhile. A thread counts itself under the same
    /// lock under which it looks at the turn and at `stop`, so that none is missed.
    fn change(&self, change: impl FnOnce(&mut Turns)) {
        let mut turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut turn);
        let sleeping = turn.sleeping;
        drop(turn);
        if sleeping > 0 {
            self.moved.notify_all();
        }
    }

    /// The finished columns: one array, or one for each field of the record.
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

/// The turn of one task, and why not to wait for it any more.
#[derive(Clone, Copy)]
pub(crate) struct Turn<'a> {
    pub(crate) places: &'a Places<'a>,
    /// The number of the task in its group.
    pub(crate) order: usize,
    /// The number of the file among all that fill the columns.
    pub(crate) file: usize,
    pub(crate) stop: Stop<'a>,
}

impl<'a> Turn<'a> {
    /// Waits for it.
    pub(crate) fn wait(self) -> Result<&'a Places<'a>> {
        self.places.wait_turn(self.order, self.stop).map(|()| self.places)
    }

    /// Waits for it, takes places for a number of items of every column, passes the turn on.
    pub(crate) fn take(self, items: impl IntoIterator<Item = u64>) -> Result<Vec<Slot<'a>>> {
        let slots = self.wait()?.append(items);
        self.places.placed();
        slots
    }

    /// The columns as a format sees them that decodes the task itself.
    pub(crate) const fn columns(self) -> Taking<'a> {
        Taking { turn: self, passed: false, has_valid_text: false }
    }
}

/// One task taking places.
pub(crate) struct Taking<'a> {
    turn: Turn<'a>,
    passed: bool,
    has_valid_text: bool,
}

impl<'a> Taking<'a> {
    /// Passes the turn on, unless that was done.
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

    /// Nothing is taken by whom it is not the turn of: places would change their order.
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
        // A sum of more than 64 bits is refused in the end.
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
