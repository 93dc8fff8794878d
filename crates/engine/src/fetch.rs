//! How a task's stored bytes are had.
//!
//! Mapped files and memory answer views, so every worker asks for its own range; the reader checks afterwards
//! whether they have changed. A local file that is not mapped, and of one that is, blocks that are compressed
//! and long ones still to come from the disk, are read by every worker into its warm scratch. Any other
//! source (a Python object, a network) is read in *windows*: neighbouring tasks' ranges, coalesced into few
//! requests, fetched by the first worker that needs one of them and dropped with the last.

use bytes::Bytes;
use forthwith_io::{Source, coalesce};
use forthwith_plan::{Error, ErrorKind, Plan, Result, ScratchBuffer, Stored, Task};
use std::{
    ops::Range,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, TryLockError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

/// Ranges closer than this are fetched in one piece.
const GAP: u64 = 32 << 10;
/// The longest window of a source that plans its requests.
const FAR_WINDOW: u64 = 8 << 20;
/// The first window of such a source, and the last ones: decoding begins soon after the first byte has come,
/// and ends soon after the last. Each window between is up to twice as long as the one before.
const NEAR_WINDOW: u64 = 4 << 20;
/// Gaps between blocks count as this part of a window of such a source, which fetches the bytes of some of them, and
/// drops those at once.
const GAP_PART: u64 = 8;
/// Windows that such a source fetches while one is decoded, and how many bytes they have at most together if
/// they are more than one: what is on its way fills the line until the next answer comes.
const AHEAD: usize = 8;
const AHEAD_BYTES: u64 = 32 << 20;
/// The longest single request.
const LONGEST: u64 = 16 << 20;

/// How long a worker sleeps at most while another one reads the window that both need.
const LONGEST_PAUSE: Duration = Duration::from_millis(5);

/// Bytes that are read and decoded at a time where a block needs not be whole: they stay in the cache between
/// the two.
pub(crate) const PIECE: usize = 256 << 10;

/// The tasks' bytes, by task position.
pub(crate) struct Fetcher<'a> {
    plan: &'a Plan,
    source: &'a dyn Source,
    /// The position of the file among those of the call.
    file: usize,
    /// The source's size when the read began.
    size: u64,
    /// Where it is noted that a view of the source was decoded from. None if all is to be copied.
    viewed: Option<&'a AtomicBool>,
    way: Way,
    /// How many windows the source was told of.
    told: Mutex<usize>,
}

enum Way {
    /// Each task for itself.
    Own,
    /// In windows: for each task the number of its window.
    Windows(Vec<usize>, Vec<Planned>),
}

/// A window from before it is read until its last use.
#[derive(Default)]
struct Planned {
    /// The tasks whose bytes are read with it.
    members: Vec<usize>,
    /// How many of them have not had their bytes.
    left: AtomicUsize,
    read: Mutex<Option<Arc<Window>>>,
}

/// The bytes of neighbouring tasks.
pub(crate) struct Window {
    /// The position of the file among those of the call.
    file: usize,
    number: usize,
    tasks: Vec<(usize, Bytes)>,
}

impl<'a> Fetcher<'a> {
    /// `file` is the position of the file among those of the call, `order` the order in which tasks are handed out. Without
    /// `viewed`, all is copied.
    pub(crate) fn new(
        plan: &'a Plan,
        file: usize,
        order: &[usize],
        source: &'a dyn Source,
        viewed: Option<&'a AtomicBool>,
        read_ahead: u64,
    ) -> Self {
        let way = if source.zero_copy() || source.concurrent() {
            Way::Own
        } else {
            let mut of_task = vec![0; plan.tasks.len()];
            let mut windows: Vec<Planned> = Vec::new();
            let mut room = 0;
            let mut end = 0;
            let mut rest = plan.tasks.iter().fold(0_u64, |sum, task| sum.saturating_add(task.stored.len()));
            for &at in order {
                let Stored::Range(range) = &plan.tasks[at].stored else { continue };
                // The bytes between are read too, if they are few.
                let mut gap = range.start.checked_sub(end).filter(|gap| *gap <= GAP).unwrap_or(0);
                if source.plans_requests() {
                    gap /= GAP_PART;
                }
                let bytes = length(range).saturating_add(gap);
                if windows.is_empty() || bytes > room {
                    windows.push(Planned::default());
                    room = if source.plans_requests() {
                        far_window(windows.len(), rest).min(read_ahead.max(1))
                    } else {
                        read_ahead.max(1)
                    };
                }
                rest = rest.saturating_sub(length(range));
                room = room.saturating_sub(bytes);
                end = range.end;
                of_task[at] = windows.len() - 1;
                if let Some(last) = windows.last_mut() {
                    last.members.push(at);
                    *last.left.get_mut() += 1;
                }
            }
            Way::Windows(of_task, windows)
        };
        // Where it cannot be told, it is asked for again with each block, and the error is that block's.
        let size = source.size_so_far().unwrap_or(0);
        Self {
            plan,
            source,
            file,
            size,
            viewed: viewed.filter(|_| source.zero_copy()),
            way,
            told: Mutex::default(),
        }
    }

    /// The stored bytes of a task. The worker lends the memory they may have to be copied to, and holds the
    /// window it is working on.
    pub(crate) fn stored<'b>(
        &self,
        at: usize,
        own: &'b mut ScratchBuffer,
        window: &mut Option<Arc<Window>>,
        hold: &'b mut Bytes,
    ) -> Result<&'b [u8]> {
        let task = &self.plan.tasks[at];
        let range = match &task.stored {
            Stored::Inline(bytes) => {
                *hold = bytes.clone();
                return Ok(hold);
            }
            Stored::Missing { reason, at } => return Err(missing(reason, *at)),
            Stored::Range(range) => range.clone(),
        };
        match (&self.way, self.viewed) {
            (Way::Own, Some(viewed)) if !self.better_copied(task) && self.source.at_hand(&range) => {
                viewed.store(true, Ordering::Relaxed);
                *hold = self.source.view(range)?;
                Ok(hold)
            }
            (Way::Own, _) => read_into(self.source, self.size, range, own),
            (Way::Windows(of_task, windows), _) => {
                let number = of_task[at];
                let window = self.window(number, windows, window)?;
                let found = window.tasks.iter().find(|(task, _)| *task == at);
                // Every task is a member of the window its number names.
                *hold = found.map(|(_, bytes)| bytes.clone()).unwrap_or_default();
                Ok(hold)
            }
        }
    }

    /// Whether a block is compressed, by the metadata's account, and its view could change while it is
    /// decompressed.
    fn better_copied(&self, task: &Task) -> bool {
        let stored = task.stored.len();
        self.source.views_may_change() && task.payload_hint > stored.saturating_add(stored / 16)
    }

    /// A task's range, if the task is worth reading piece by piece: long, and otherwise copied as a whole.
    pub(crate) fn long_range(&self, at: usize) -> Option<Range<u64>> {
        match (&self.plan.tasks[at].stored, &self.way) {
            (Stored::Range(range), Way::Own)
                if range.end.saturating_sub(range.start) > 2 * PIECE as u64
                    && !(self.viewed.is_some() && self.source.at_hand(range)) =>
            {
                Some(range.clone())
            }
            _ => None,
        }
    }

    /// Reads bytes into warm memory.
    pub(crate) fn piece<'b>(&self, range: Range<u64>, own: &'b mut ScratchBuffer) -> Result<&'b [u8]> {
        read_into(self.source, self.size, range, own)
    }

    /// The window of a task that is about to be decoded. It is forgotten when all its tasks have come for it:
    /// workers that still decode from it hold it themselves.
    fn window(
        &self,
        number: usize,
        windows: &[Planned],
        held: &mut Option<Arc<Window>>,
    ) -> Result<Arc<Window>> {
        let planned = &windows[number];
        let window = match held.take().filter(|w| (w.file, w.number) == (self.file, number)) {
            Some(window) => window,
            None => {
                let mut read = self.turn_at(&planned.read)?;
                match &*read {
                    Some(window) => Arc::clone(window),
                    None => {
                        let window = Arc::new(self.load(number, windows)?);
                        *read = Some(Arc::clone(&window));
                        window
                    }
                }
            }
        };
        if planned.left.fetch_sub(1, Ordering::Relaxed) == 1 {
            *planned.read.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
        *held = Some(Arc::clone(&window));
        Ok(window)
    }

    /// Waits until no other worker reads the window. The source is told meanwhile, and may end the wait.
    fn turn_at<'b, T>(&self, read: &'b Mutex<T>) -> Result<MutexGuard<'b, T>> {
        let mut pause = Duration::from_micros(50);
        loop {
            match read.try_lock() {
                Ok(read) => return Ok(read),
                Err(TryLockError::Poisoned(read)) => return Ok(read.into_inner()),
                Err(TryLockError::WouldBlock) => {
                    std::thread::sleep(pause);
                    if pause >= LONGEST_PAUSE {
                        self.source.pause()?;
                    }
                    pause = (2 * pause).min(LONGEST_PAUSE);
                }
            }
        }
    }

    /// The ranges of a window's tasks, with their positions.
    fn wanted(&self, members: &[usize]) -> Vec<(usize, Range<u64>)> {
        let range = |at: usize| match &self.plan.tasks[at].stored {
            Stored::Range(range) => Some((at, range.clone())),
            Stored::Inline(_) | Stored::Missing { .. } => None,
        };
        members.iter().filter_map(|&at| range(at)).collect()
    }

    /// Tells the source of a window that is read now and of those behind it, of each once: another worker may have
    /// read a later one meanwhile.
    fn expect(&self, number: usize, windows: &[Planned]) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let mut ahead = 0_u64;
        for (at, window) in
            windows.iter().enumerate().skip((*told).min(number)).take_while(|(at, _)| *at <= number + AHEAD)
        {
            let ranges: Vec<_> = self.wanted(&window.members).into_iter().map(|(_, range)| range).collect();
            if at > number {
                let with_this = ranges.iter().fold(ahead, |sum, range| sum.saturating_add(length(range)));
                if ahead > 0 && with_this > AHEAD_BYTES {
                    break;
                }
                ahead = with_this;
            }
            if at >= *told {
                self.source.expect(&ranges);
                *told = at + 1;
            }
        }
    }

    fn load(&self, number: usize, windows: &[Planned]) -> Result<Window> {
        let wanted = self.wanted(&windows[number].members);
        let ranges: Vec<_> = wanted.iter().map(|(_, r)| r.clone()).collect();
        if self.source.plans_requests() {
            self.expect(number, windows);
            let pieces = self.source.read(&ranges)?;
            // Before this one is decoded: the line would be idle otherwise when that takes long.
            self.expect(number + 1, windows);
            let tasks = wanted.into_iter().map(|(at, _)| at).zip(pieces).collect();
            return Ok(Window { file: self.file, number, tasks });
        }
        let merged = coalesce(&ranges, GAP, LONGEST);
        let pieces = self.source.read(&merged.iter().map(|m| m.range.clone()).collect::<Vec<_>>())?;
        let mut tasks = Vec::with_capacity(wanted.len());
        for (piece, merged) in pieces.iter().zip(&merged) {
            for &member in &merged.members {
                let (at, range) = &wanted[member];
                let start = (range.start - merged.range.start) as usize;
                let end = (range.end - merged.range.start) as usize;
                tasks.push((*at, piece.slice(start..end)));
            }
        }
        Ok(Window { file: self.file, number, tasks })
    }
}

/// The length of a range, which may lie.
fn length(range: &Range<u64>) -> u64 {
    range.end.saturating_sub(range.start)
}

/// Bytes of the next window of a source that plans its requests, of which `rest` are left to be fetched.
fn far_window(number: usize, rest: u64) -> u64 {
    if rest <= NEAR_WINDOW / 2 * 3 {
        return NEAR_WINDOW / 2 * 3;
    }
    let doubled = NEAR_WINDOW << number.saturating_sub(1).min(3);
    doubled.min(FAR_WINDOW).min((rest / 3).max(NEAR_WINDOW))
}

/// Reads one task's bytes outside a run.
pub(crate) fn alone<'b>(
    source: &dyn Source,
    task: &Task,
    stored: &'b mut ScratchBuffer,
    hold: &'b mut Bytes,
) -> Result<&'b [u8]> {
    match &task.stored {
        Stored::Inline(bytes) => {
            *hold = bytes.clone();
            Ok(hold)
        }
        Stored::Missing { reason, at } => Err(missing(reason, *at)),
        Stored::Range(range) if source.lends_views() => {
            *hold = source.view(range.clone())?;
            Ok(hold)
        }
        Stored::Range(range) => read_into(source, 0, range.clone(), stored),
    }
}

#[cold]
fn missing(reason: &str, at: Option<u64>) -> Error {
    let mut error = Error::new(ErrorKind::Missing { reason: reason.to_owned() });
    error.place.byte = at;
    error
}

/// Reads a range into warm memory. `known` is a size that the source had.
fn read_into<'b>(
    source: &dyn Source,
    known: u64,
    range: Range<u64>,
    into: &'b mut ScratchBuffer,
) -> Result<&'b [u8]> {
    // The size is looked at first, lest a lie about a length become an allocation. Whether the source still
    // has it, reading shows.
    if range.end > known && range.end > source.grown(range.end.saturating_sub(1))? {
        // The source says in its own words whether it ends there or was cut, before it takes memory. Unless
        // it has grown meanwhile.
        source.read_one(range.clone())?;
    }
    let into = into.take(range.end.saturating_sub(range.start) as usize)?;
    source.read_into(range.start, into)?;
    Ok(into)
}

#[cfg(test)]
mod tests {
    use super::{FAR_WINDOW, NEAR_WINDOW, far_window};

    #[test]
    fn windows_of_networks_grow_from_the_first_and_shrink_to_the_last() {
        let size = 200 << 20;
        let mut rest = size;
        let mut windows = Vec::new();
        while rest > 0 {
            let next = far_window(windows.len() + 1, rest).min(rest);
            windows.push(next);
            rest -= next;
        }
        assert_eq!(windows[..3], [NEAR_WINDOW, 2 * NEAR_WINDOW, FAR_WINDOW]);
        assert!(windows.iter().all(|window| *window <= FAR_WINDOW), "{windows:?}");
        assert!(
            windows[windows.len() - 2..].iter().all(|window| *window <= NEAR_WINDOW / 2 * 3),
            "{windows:?}"
        );
        assert_eq!(far_window(1, NEAR_WINDOW / 2 * 3), NEAR_WINDOW / 2 * 3);
        // As many as it takes, and some at both ends.
        assert!(windows.len() as u64 <= size / FAR_WINDOW + 10, "{windows:?}");
    }
}
