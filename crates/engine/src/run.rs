//! The distribution of tasks over threads.

use crate::{
    engine::{Engine, Progress, ProgressCallback},
    fetch::Fetcher,
    kernel,
    part::{Counter, Origin, Part},
    place::{Places, Turn},
    program::{self, Beside},
    step::Step,
    stop::{Failed, Stop},
    worker::Worker,
};
use bytes::Bytes;
use forthwith_forth::Compiled;
use forthwith_plan::{BlockFormat, Decoder, Error, ErrorKind, Framing, Kernel, Plan, Result, Stored};
use forthwith_platform::Instant;
use std::{
    ops::Range,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

/// Number of bytes that contain the framing of a block. It is far less than the length of a block that is
/// read in pieces.
pub(crate) const HEAD: u64 = 1024;

/// Initial back-off of the calling thread while it waits for other workers, most of which soon end.
const SHORTEST: Duration = Duration::from_micros(20);
/// Upper bound on this back-off.
const LONGEST: Duration = Duration::from_millis(1);

/// Interval at which the calling thread reports progress.
const TICK: Duration = Duration::from_millis(20);

/// State that is shared by the threads of one call.
struct Run<'a, 'p> {
    engine: &'a Engine,
    files: Vec<FileRun<'a>>,
    places: &'a [Places<'p>],
    /// Whether a format runs programs that may run without bound.
    may_run_long: bool,
    /// Total blocks and bytes of all plans.
    all: Progress,
    /// The steps, in the order in which threads take them.
    steps: Vec<Step>,
    /// Upper bound on the number of threads that work.
    threads: usize,
    next: AtomicUsize,
    failed: Failed,
    failure: Mutex<Option<(usize, Error)>>,
    /// Interrupt flags of the workers, if a format runs programs that may run without bound.
    interrupts: Mutex<Vec<Arc<AtomicBool>>>,
    /// Number of threads that have ended.
    ended: AtomicUsize,
    blocks: AtomicU64,
    bytes: AtomicU64,
}

/// One of the files of a call.
struct FileRun<'a> {
    plan: &'a Plan,
    format: &'a dyn BlockFormat,
    fetcher: Fetcher<'a>,
    /// Compiled program of each group, set by its first task: a lookup by source text takes as long as
    /// decoding a small block.
    programs: Vec<OnceLock<Arc<Compiled>>>,
    /// The first row of each group.
    origins: Vec<Origin>,
    /// Index of the file among all that fill the columns.
    number: usize,
}

/// Parameters of a call: the engine, the plans and the number of threads.
#[derive(Clone, Copy)]
pub(crate) struct Call<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) parts: &'a [Part<'a>],
    pub(crate) threads: usize,
}

/// The columns that are filled.
pub(crate) struct Target<'a, 'p> {
    pub(crate) places: &'a [Places<'p>],
    /// First row of each group, for each plan.
    pub(crate) origins: Vec<Vec<Origin>>,
    /// Number of files that filled the columns before.
    pub(crate) files: usize,
}

/// Fills columns with the blocks of some plans. `viewed` has, for each file, the flag that is set when a view
/// was used; `None` means that all bytes are copied.
pub(crate) fn run(
    call: Call<'_>,
    target: Target<'_, '_>,
    mut tick: Option<&mut ProgressCallback<'_>>,
    order: &[(usize, usize)],
    steps: Vec<Step>,
    viewed: &[Option<&AtomicBool>],
) -> Result<()> {
    let Call { engine, parts, threads } = call;
    let Target { places, origins, files: first } = target;
    let mut tasks: Vec<Vec<usize>> = vec![Vec::new(); parts.len()];
    order.iter().for_each(|(part, task)| tasks[*part].push(*task));
    let files = parts.iter().zip(viewed).zip(origins).zip(&tasks).enumerate();
    let files = files.map(|(at, (((part, viewed), origins), tasks))| {
        let Part { plan, source, format } = *part;
        let read_ahead = engine.options().read_ahead;
        let fetcher = Fetcher::new(plan, at, tasks, source.as_ref(), *viewed, read_ahead);
        let programs = plan.groups.iter().map(|_| OnceLock::new()).collect();
        FileRun { plan, format, fetcher, programs, origins, number: first + at }
    });
    let may_run_long = parts.iter().any(|part| part.format.may_run_long());
    let run = Run {
        engine,
        files: files.collect(),
        places,
        may_run_long,
        all: Progress::of(parts),
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
    let listens = tick.is_some() && may_run_long;
    std::thread::scope(|scope| {
        let mut others = 0;
        for _ in usize::from(!listens)..threads {
            // If the system refuses more threads, the existing ones do all the work.
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
    match run.failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some((_, error)) => Err(error),
        None => Ok(()),
    }
}

/// Returns the order of tasks, as indices of plans and tasks. Groups that others need come first, then the
/// files in their order. A source that is read in windows is read in file order, but the blocks of a group
/// keep their order.
pub(crate) fn order(parts: &[Part<'_>]) -> Vec<(usize, usize)> {
    // All plans have the same groups. A group that a task of any plan needs is waited for until all of its
    // tasks are done.
    let mut needed = vec![false; parts.first().map_or(0, |part| part.plan.groups.len())];
    for need in parts.iter().flat_map(|part| &part.plan.tasks).flat_map(|task| &task.needs) {
        needed[*need as usize] = true;
    }
    let mut keys = Vec::with_capacity(parts.iter().map(|part| part.plan.tasks.len()).sum());
    for (number_of_part, part) in parts.iter().enumerate() {
        let plan = part.plan;
        let mut count = vec![0; plan.groups.len()];
        let mut latest = vec![0; plan.groups.len()];
        let by_position = !part.source.zero_copy() && !part.source.concurrent();
        for (at, task) in plan.tasks.iter().enumerate() {
            let group = task.group as usize;
            if let (true, Stored::Range(range)) = (by_position, &task.stored) {
                latest[group] = latest[group].max(range.start);
            }
            keys.push((!needed[group], number_of_part, latest[group], group, count[group], at));
            count[group] += 1;
        }
    }
    keys.sort_unstable();
    keys.into_iter().map(|(_, part, .., at)| (part, at)).collect()
}

/// Returns the name of a group for errors.
pub(crate) fn object(plan: &Plan, group: usize) -> String {
    let path = &plan.groups[group].path;
    match (plan.object.as_str(), path.as_str()) {
        ("", path) => path.to_owned(),
        (object, "") => object.to_owned(),
        (object, path) => format!("{object}/{path}"),
    }
}

/// Guard of a working thread. If it panics, it stops all other threads, which would wait for its turn.
struct Working<'a, 'p>(&'a Run<'a, 'p>);

impl Drop for Working<'_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop_all();
        }
        self.0.ended.fetch_add(1, Ordering::Release);
    }
}

impl Run<'_, '_> {
    fn work(&self, mut tick: Option<&mut ProgressCallback<'_>>) {
        let _guard = Working(self);
        let mut worker = self.engine.worker();
        if self.may_run_long {
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
            let file = &self.files[step.part];
            let task = &file.plan.tasks[step.task];
            if let Err(error) = self.step(file, step, self.failed.seen_from(place), &mut worker) {
                let error = error
                    .in_object(&object(file.plan, task.group as usize))
                    .in_block(task.block)
                    .in_unit(file.format.unit())
                    .in_file(&file.plan.uri);
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
            // Other threads may still work: check for cancellation, and report the end.
            let is_at_work = || !self.failed.is_any() && self.progress().blocks < self.all.all_blocks;
            self.wait(tick, ticked, is_at_work);
        }
    }

    /// Checks for cancellation while `others` other threads do the work.
    fn listen(&self, tick: &mut ProgressCallback<'_>, others: usize) {
        self.wait(tick, Instant::now(), || self.ended.load(Ordering::Acquire) < others);
    }

    /// Checks for cancellation while `is_at_work` returns `true`, and then reports the end.
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

    /// Reports progress if the interval has passed. Returns `false` if the callback has cancelled the call.
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

    fn compiled(&self, file: &FileRun<'_>, group: usize, source: &str) -> Result<Arc<Compiled>> {
        let known = &file.programs[group];
        if let Some(known) = known.get() {
            return Ok(Arc::clone(known));
        }
        let made = self.engine.compile(source)?;
        Ok(Arc::clone(known.get_or_init(|| {
            made.announce(self.places[group].expected_bytes());
            made
        })))
    }

    fn progress(&self) -> Progress {
        let (blocks, bytes) = (self.blocks.load(Ordering::Relaxed), self.bytes.load(Ordering::Relaxed));
        Progress { blocks, bytes, ..self.all }
    }

    /// Records the error of the earliest step, and stops all later steps.
    fn fail(&self, place: usize, error: Error) {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        // A thread that waited when another one failed only reports its cancellation.
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

    fn step(&self, file: &FileRun<'_>, step: &Step, stop: Stop<'_>, worker: &mut Worker) -> Result<()> {
        let Step { task: at, number, .. } = *step;
        let task = step.of(&file.plan.tasks[at]);
        let task = &*task;
        let group = &file.plan.groups[task.group as usize];
        let places = &self.places[task.group as usize];
        let turn = Turn { places, order: number, file: file.number, stop };
        for need in &task.needs {
            self.places[*need as usize].wait_complete(stop)?;
        }
        let mut hold = Bytes::new();
        let Worker { scratch, stored, decoders, window, chosen } = worker;
        // If all entries are selected, they are decoded without a copy.
        let is_part = |chosen: &&[u64]| (chosen.len() as u64) < task.wanted.end - task.wanted.start;
        let entries = file.plan.chosen_of(task).filter(is_part);
        if let (Decoder::Kernel(Kernel::Flat { wire, per_entry }), Some(range)) =
            (&group.decoder, file.fetcher.long_range(at))
        {
            let head = file.fetcher.piece(range.start..range.start + HEAD, stored)?;
            if let Framing::Plain(all) = file.format.locate(group, task, head) {
                let all = range.start + all.start..range.start + all.end;
                let mut read = |piece: Range<u64>, into: &mut dyn FnMut(&[u8]) -> Result<()>| {
                    into(file.fetcher.piece(piece, stored)?)
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
        let stored = file.fetcher.stored(at, stored, window, &mut hold)?;
        if let Decoder::Format(_) = &group.decoder {
            let mut columns = turn.columns();
            file.format.decode(group, task, stored, scratch, &mut columns)?;
            columns.finish();
            return Ok(());
        }
        let parts = match file.format.locate(group, task, &[]) {
            Framing::Pieces => {
                let pieces = file.format.pieces(group, task, stored)?;
                kernel::Wanted::of_pieces(task, stored, &pieces)?
            }
            Framing::Whole | Framing::Plain(_) => {
                let block = file.format.unframe(group, task, stored, scratch)?;
                vec![(kernel::Wanted::new(task, block)?, task.block)]
            }
        };
        if let (Decoder::Kernel(kernel), Some(entries)) = (&group.decoder, entries) {
            let first = task.wanted.start;
            let alone = chosen.of(kernel, &parts, first, entries)?;
            let done = kernel::run(kernel, task, alone, None, turn);
            let number = |entry| entries.get((entry - first) as usize).copied();
            return done.map_err(|error| error.renumbered(number));
        }
        let counter = group
            .counter
            .map(|counter| Counter::new(&self.places[counter as usize], file.origins[counter as usize]));
        match (&group.decoder, &parts[..]) {
            (Decoder::Kernel(kernel), [(block, _)]) => kernel::run(kernel, task, *block, counter, turn),
            (Decoder::Kernel(kernel), parts) => kernel::run_pieces(kernel, parts, turn),
            (Decoder::Program(program), parts) => {
                let compiled = self.compiled(file, task.group as usize, &program.source)?;
                let beside = match self.threads {
                    1 => Beside::Nobody,
                    threads if places.pays_to_wait(begun.elapsed(), threads) => Beside::Quicker,
                    _ => Beside::Others,
                };
                let format = file.format;
                program::run(decoders, program, &compiled, format, task, parts, counter, beside, turn)
            }
            (other, _) => Err(Error::unsupported(format!("decoder {}", other.kind()))),
        }
    }
}
