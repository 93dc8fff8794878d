//! The distribution of tasks over threads.

use crate::{
    confirm::confirmed,
    consistent,
    engine::{Engine, Progress, ProgressCallback},
    fetch::Fetcher,
    kernel,
    place::{Load, Places, Turn},
    program::{self, Beside},
    step::{Step, steps},
    stop::{Failed, Stop},
    text,
    worker::Worker,
};
use bytes::Bytes;
use forthwith_columns::{Array, Builder, Invalid};
use forthwith_forth::Compiled;
use forthwith_io::{Source, Version};
use forthwith_plan::{
    BlockFormat, Decoder, Error, ErrorKind, Framing, Kernel, Pick, Plan, Result, Stored, Task,
};
use std::{
    ops::Range,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

/// Enough for a block's framing; far less than a block that is read in pieces.
const HEAD: u64 = 1024;

/// For how long the calling thread sleeps when it has no more work, before it looks whether others are done:
/// most soon are.
const SHORTEST: Duration = Duration::from_micros(20);
const LONGEST: Duration = Duration::from_millis(1);

/// How often the calling thread looks up from its work.
const TICK: Duration = Duration::from_millis(20);

/// Everything the threads of one call share.
struct Run<'a> {
    engine: &'a Engine,
    plan: &'a Plan,
    format: &'a dyn BlockFormat,
    fetcher: Fetcher<'a>,
    places: Vec<Places<'a>>,
    /// The program of each group, when its first task is at hand: to find it by its text takes as long as
    /// many a small block.
    programs: Vec<OnceLock<Arc<Compiled>>>,
    /// The steps that are handed out, in this order.
    steps: Vec<Step>,
    /// That work, at most.
    threads: usize,
    next: AtomicUsize,
    failed: Failed,
    failure: Mutex<Option<(usize, Error)>>,
    /// Flags of the workers that run programs of which nothing says that they end.
    interrupts: Mutex<Vec<Arc<AtomicBool>>>,
    /// Threads that are done.
    ended: AtomicUsize,
    blocks: AtomicU64,
    bytes: AtomicU64,
}

/// The data, the decoder, and how many threads may read.
#[derive(Clone, Copy)]
pub(crate) struct Call<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) plan: &'a Plan,
    pub(crate) source: &'a Arc<dyn Source>,
    pub(crate) format: &'a dyn BlockFormat,
    pub(crate) threads: usize,
}

impl Engine {
    /// Reads a plan. `threads` overrides the engine's own number, of which no more are started than pay where all bytes are at
    /// hand.
    ///
    /// # Errors
    /// The error of the earliest failing block, with file, object, basket, entry and byte as far as known.
    pub fn read(
        &self,
        plan: &Plan,
        source: &Arc<dyn Source>,
        format: &dyn BlockFormat,
        threads: Option<usize>,
        tick: Option<&mut ProgressCallback<'_>>,
    ) -> Result<Vec<Array>> {
        let threads = threads.unwrap_or_else(|| self.worthwhile(plan, source, format)).max(1);
        let call = Call { engine: self, plan, source, format, threads };
        confirmed(read(call, tick), source.as_ref()).map_err(|e| e.in_file(&plan.uri))
    }

    /// The threads that a plan pays for: to start one takes as long as to decode some tens of kilobytes. Where bytes have to be
    /// waited for, threads wait side by side, and how long a program of a user runs is not known.
    fn worthwhile(&self, plan: &Plan, source: &Arc<dyn Source>, format: &dyn BlockFormat) -> usize {
        let all = self.options().threads;
        if all == 1 || !source.zero_copy() || format.may_run_long() {
            return all;
        }
        // Bytes that compress well become many values.
        let values = plan.rows().saturating_mul(plan.groups.len() as u64);
        let more = plan.stored_bytes().saturating_add(values) / WORTH_A_THREAD;
        all.min(usize::try_from(more).unwrap_or(usize::MAX).saturating_add(1))
    }
}

/// Stored bytes, or values, for which another thread is started.
const WORTH_A_THREAD: u64 = 32 << 10;

/// Reads a plan. What was decoded from views of a file that changed meanwhile is read again from copies,
/// whose result or error counts.
pub(crate) fn read(call: Call<'_>, mut tick: Option<&mut ProgressCallback<'_>>) -> Result<Vec<Array>> {
    let Call { plan, source, format, threads, .. } = call;
    consistent::check(plan, format)?;
    let order = order(plan, source.as_ref());
    let version = source.version()?;
    let views = version.as_ref().is_none_or(Version::is_settled);
    let viewed = AtomicBool::new(false);
    let changed = || -> Result<bool> { Ok(viewed.load(Ordering::Relaxed) && source.version()? != version) };
    if threads > 1 && views && source.zero_copy() && plan.chosen.is_none() {
        let steps = steps(plan, &order, |task| is_plain(plan, task, source.as_ref(), format));
        if steps.len() > order.len() {
            match read_steps(call, tick.as_deref_mut(), &order, steps, Some(&viewed)) {
                // Blocks are looked at as wholes where they are not divided: what is said of them then
                // counts.
                Err(error) if !matches!(error.kind, ErrorKind::Cancelled) => {}
                Ok(_) if changed()? => {}
                done => return done,
            }
        }
    }
    let whole = || steps(plan, &order, |_| false);
    if views && !changed()? {
        match read_steps(call, tick.as_deref_mut(), &order, whole(), Some(&viewed)) {
            cancelled @ Err(Error { kind: ErrorKind::Cancelled, .. }) => return cancelled,
            done if !changed()? => return done,
            _ => {}
        }
    }
    read_steps(call, tick, &order, whole(), None)
}

/// Reads a plan once. `viewed` is where views are noted; without it, all is copied.
fn read_steps(
    call: Call<'_>,
    mut tick: Option<&mut ProgressCallback<'_>>,
    order: &[usize],
    steps: Vec<Step>,
    viewed: Option<&AtomicBool>,
) -> Result<Vec<Array>> {
    let Call { engine, plan, source, format, threads } = call;
    let threads = threads.min(steps.len());
    let loads = Load::of(plan, &steps).into_iter().enumerate();
    let mut places =
        loads.map(|(g, load)| Places::new(plan, g, &load, engine.memory())).collect::<Result<Vec<_>>>()?;
    if threads > 1 {
        places.iter_mut().flat_map(|place| &mut place.builders).for_each(Builder::make_pages_ahead);
    }
    let fetcher = Fetcher::new(plan, order, source.as_ref(), viewed, engine.options().read_ahead);
    let run = Run {
        engine,
        plan,
        format,
        fetcher,
        programs: places.iter().map(|_| OnceLock::new()).collect(),
        places,
        steps,
        threads,
        next: AtomicUsize::new(0),
        failed: Failed::none(),
        failure: Mutex::new(None),
        interrupts: Mutex::default(),
        ended: AtomicUsize::new(0),
        blocks: AtomicU64::new(0),
        bytes: AtomicU64::new(0),
    };
    if tick.as_mut().is_some_and(|tick| !tick(run.progress())) {
        return Err(Error::new(ErrorKind::Cancelled));
    }
    let listens = tick.is_some() && format.may_run_long();
    std::thread::scope(|scope| {
        let mut others = 0;
        for _ in usize::from(!listens)..threads {
            // Where the system gives no more threads, those there are do all the work.
            if std::thread::Builder::new().spawn_scoped(scope, || run.work(None)).is_err() {
                break;
            }
            others += 1;
        }
        match tick {
            Some(tick) if listens && others > 0 => run.listen(tick, others),
            tick => run.work(tick),
        }
    });
    let Run { places, failure, .. } = run;
    if let Some((_, error)) = failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error);
    }
    let entries = plan.rows();
    let mut arrays = Vec::new();
    let doubtful = places.iter().any(|place| place.texts.is_doubtful());
    for (number, place) in places.into_iter().take(plan.delivered as usize).enumerate() {
        let object = object(plan, number);
        let joins = place.group.joins;
        let finished = place.finish(entries, engine.memory(), threads).map_err(|e| e.in_object(&object))?;
        if !joins {
            arrays.extend(finished);
            continue;
        }
        for more in finished {
            // The first group joins nothing; plans are checked for that.
            let Some(first) = arrays.pop() else { continue };
            let joined = Array::join(first, more);
            arrays.push(joined.map_err(|e| Error::fault(e.to_string()).in_object(&object))?);
        }
    }
    let arrays = if plan.picks.is_empty() { arrays } else { picked(plan, &arrays)? };
    if doubtful {
        text::check(plan, &arrays, threads)?;
    }
    Ok(arrays)
}

/// Whether a task's entries lie in its block as they are.
fn is_plain(plan: &Plan, task: &Task, source: &dyn Source, format: &dyn BlockFormat) -> bool {
    let Stored::Range(range) = &task.stored else { return false };
    if !source.at_hand(range) {
        return false;
    }
    let head = source.read_one(range.start..range.end.min(range.start + HEAD));
    let group = &plan.groups[task.group as usize];
    head.is_ok_and(|head| matches!(format.locate(group, task, &head), Framing::Plain(_)))
}

/// The arrays that are delivered instead of the groups' own.
fn picked(plan: &Plan, arrays: &[Array]) -> Result<Vec<Array>> {
    let pick = |pick: &Pick| {
        let Some(array) = arrays.get(pick.array as usize) else {
            return Err(Error::invalid("a plan that delivers more than it has"));
        };
        let fault = |e: Invalid| Error::fault(e.to_string());
        let picked = if pick.path.is_empty() { Ok(array.clone()) } else { array.pick(&pick.path) };
        picked.and_then(|array| array.regular(&pick.lists)).map_err(fault)
    };
    plan.picks.iter().map(pick).collect()
}

/// The order of tasks. Groups that others need come first; a source that is read in windows is read in file
/// order, but never so that a group's blocks overtake each other.
fn order(plan: &Plan, source: &dyn Source) -> Vec<usize> {
    let mut count = vec![0; plan.groups.len()];
    let mut needed = vec![false; plan.groups.len()];
    for need in plan.tasks.iter().flat_map(|t| &t.needs) {
        needed[*need as usize] = true;
    }
    let mut number = Vec::with_capacity(plan.tasks.len());
    let mut latest = vec![0; plan.groups.len()];
    let mut keys = Vec::with_capacity(plan.tasks.len());
    let by_position = !source.zero_copy() && !source.concurrent();
    for (at, task) in plan.tasks.iter().enumerate() {
        let group = task.group as usize;
        number.push(count[group]);
        count[group] += 1;
        if let (true, Stored::Range(range)) = (by_position, &task.stored) {
            latest[group] = latest[group].max(range.start);
        }
        keys.push((!needed[group], latest[group], group, number[at]));
    }
    let mut order: Vec<usize> = (0..plan.tasks.len()).collect();
    order.sort_by_key(|&at| keys[at]);
    order
}

/// The name of a group in errors.
fn object(plan: &Plan, group: usize) -> String {
    let path = &plan.groups[group].path;
    match (plan.object.as_str(), path.as_str()) {
        ("", path) => path.to_owned(),
        (object, "") => object.to_owned(),
        (object, path) => format!("{object}/{path}"),
    }
}

/// A thread that panics passes no turn on: no other may wait for it.
struct Working<'a>(&'a Run<'a>);

impl Drop for Working<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop_all();
        }
        self.0.ended.fetch_add(1, Ordering::Release);
    }
}

impl Run<'_> {
    fn work(&self, mut tick: Option<&mut ProgressCallback<'_>>) {
        let _guard = Working(self);
        let mut worker = self.engine.worker();
        if self.format.may_run_long() {
            let flag = Arc::clone(worker.scratch.interrupt());
            self.interrupts.lock().unwrap_or_else(PoisonError::into_inner).push(flag);
        }
        let mut ticked = Instant::now();
        while !self.failed.is_any() {
            if let Some(tick) = &mut tick
                && !self.goes_on(tick, &mut ticked)
            {
                break;
            }
            let place = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(step) = self.steps.get(place) else { break };
            let at = step.task;
            let task = &self.plan.tasks[at];
            if let Err(error) = self.step(step, self.failed.seen_from(place), &mut worker) {
                let error = error
                    .in_object(&object(self.plan, task.group as usize))
                    .in_block(task.block)
                    .in_unit(self.format.unit());
                self.fail(place, error);
                break;
            }
            self.places[task.group as usize].done();
            if step.ends {
                self.blocks.fetch_add(1, Ordering::Relaxed);
                self.bytes.fetch_add(task.stored.len(), Ordering::Relaxed);
            }
        }
        self.engine.rest(worker);
        if let Some(tick) = &mut tick {
            // Others may still be at work: keep listening for a cancellation, and report the end.
            let is_at_work =
                || !self.failed.is_any() && self.progress().blocks < self.plan.tasks.len() as u64;
            self.wait(tick, ticked, is_at_work);
        }
    }

    /// Listens for a cancellation while `others` other threads do the work.
    fn listen(&self, tick: &mut ProgressCallback<'_>, others: usize) {
        self.wait(tick, Instant::now(), || self.ended.load(Ordering::Acquire) < others);
    }

    /// Listens for a cancellation while others are at work, and reports the end.
    fn wait(&self, tick: &mut ProgressCallback<'_>, mut ticked: Instant, is_at_work: impl Fn() -> bool) {
        let mut pause = SHORTEST;
        while is_at_work() {
            std::thread::sleep(pause);
            pause = LONGEST.min(2 * pause);
            self.goes_on(tick, &mut ticked);
        }
        if !self.failed.is_any() {
            tick(self.progress());
        }
    }

    /// Reports progress if it is time for that. `false`, and the work is cancelled, if it is not to go on.
    fn goes_on(&self, tick: &mut ProgressCallback<'_>, ticked: &mut Instant) -> bool {
        if ticked.elapsed() < TICK {
            return true;
        }
        let goes_on = tick(self.progress());
        if !goes_on {
            self.cancel();
        }
        *ticked = Instant::now();
        goes_on
    }

    fn compiled(&self, group: usize, source: &str) -> Result<Arc<Compiled>> {
        let known = &self.programs[group];
        if let Some(known) = known.get() {
            return Ok(Arc::clone(known));
        }
        let made = self.engine.compile(source)?;
        Ok(Arc::clone(known.get_or_init(|| made)))
    }

    fn progress(&self) -> Progress {
        Progress {
            blocks: self.blocks.load(Ordering::Relaxed),
            all_blocks: self.plan.tasks.len() as u64,
            bytes: self.bytes.load(Ordering::Relaxed),
            all_bytes: self.plan.stored_bytes(),
        }
    }

    /// Keeps the error of the earliest step and stops what comes after it.
    fn fail(&self, place: usize, error: Error) {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        // A thread that was waiting when another failed reports only that it was stopped.
        let stopped = self.failed.is_any() && matches!(error.kind, ErrorKind::Cancelled);
        if !stopped && failure.as_ref().is_none_or(|(earlier, _)| place < *earlier) {
            *failure = Some((place, error));
        }
        drop(failure);
        self.failed.at(place);
        self.wake();
    }

    fn cancel(&self) {
        self.fail(usize::MAX, Error::new(ErrorKind::Cancelled));
        self.stop_all();
    }

    fn stop_all(&self) {
        self.failed.everywhere();
        self.wake();
    }

    fn wake(&self) {
        self.places.iter().for_each(Places::wake);
        let interrupts = self.interrupts.lock().unwrap_or_else(PoisonError::into_inner);
        interrupts.iter().for_each(|flag| flag.store(true, Ordering::Release));
    }

    fn step(&self, step: &Step, stop: Stop<'_>, worker: &mut Worker) -> Result<()> {
        let Step { task: at, number, .. } = *step;
        let task = step.of(&self.plan.tasks[at]);
        let task = &*task;
        let places = &self.places[task.group as usize];
        let turn = Turn { places, order: number, stop };
        for need in &task.needs {
            self.places[*need as usize].wait_complete(stop)?;
        }
        let mut hold = Bytes::new();
        let Worker { scratch, stored, decoders, window, chosen } = worker;
        // Where all are, nothing has to be left out.
        let is_part = |chosen: &&[u64]| (chosen.len() as u64) < task.wanted.end - task.wanted.start;
        let entries = self.plan.chosen_of(task).filter(is_part);
        if let (Decoder::Kernel(Kernel::Flat { wire, per_entry }), Some(range)) =
            (&places.group.decoder, self.fetcher.long_range(at))
        {
            let head = self.fetcher.piece(range.start..range.start + HEAD, stored)?;
            if let Framing::Plain(all) = self.format.locate(places.group, task, head) {
                let all = range.start + all.start..range.start + all.end;
                let mut read = |piece: Range<u64>, into: &mut dyn FnMut(&[u8]) -> Result<()>| {
                    into(self.fetcher.piece(piece, stored)?)
                };
                return match entries {
                    None => kernel::flat_in_pieces(*wire, *per_entry, task, all, &mut read, turn),
                    Some(chosen) => {
                        kernel::chosen_in_pieces(*wire, *per_entry, task, all, chosen, &mut read, turn)
                    }
                };
            }
        }
        let begun = Instant::now();
        let stored = self.fetcher.stored(at, stored, window, &mut hold)?;
        if let Decoder::Format(_) = &places.group.decoder {
            let mut columns = turn.columns();
            self.format.decode(places.group, task, stored, scratch, &mut columns)?;
            columns.finish();
            return Ok(());
        }
        let parts = match self.format.locate(places.group, task, &[]) {
            Framing::Pieces => {
                let pieces = self.format.pieces(places.group, task, stored)?;
                kernel::Wanted::of_pieces(task, stored, &pieces)?
            }
            Framing::Whole | Framing::Plain(_) => {
                let block = self.format.unframe(places.group, task, stored, scratch)?;
                vec![(kernel::Wanted::new(task, block)?, task.block)]
            }
        };
        if let (Decoder::Kernel(kernel), Some(entries)) = (&places.group.decoder, entries) {
            let first = task.wanted.start;
            let alone = chosen.of(kernel, &parts, first, entries)?;
            let done = kernel::run(kernel, task, alone, None, turn);
            let number = |entry| entries.get((entry - first) as usize).copied();
            return done.map_err(|error| error.renumbered(number));
        }
        let counter = places.group.counter.map(|counter| &self.places[counter as usize]);
        match (&places.group.decoder, &parts[..]) {
            (Decoder::Kernel(kernel), [(block, _)]) => kernel::run(kernel, task, *block, counter, turn),
            (Decoder::Kernel(kernel), parts) => kernel::run_pieces(kernel, parts, turn),
            (Decoder::Program(program), parts) => {
                let compiled = self.compiled(task.group as usize, &program.source)?;
                let beside = match self.threads {
                    1 => Beside::Nobody,
                    threads if places.pays_to_wait(begun.elapsed(), threads) => Beside::Quicker,
                    _ => Beside::Others,
                };
                let format = self.format;
                program::run(decoders, program, &compiled, format, task, parts, counter, beside, turn)
            }
            (other, _) => Err(Error::unsupported(format!("decoder {}", other.kind()))),
        }
    }
}
