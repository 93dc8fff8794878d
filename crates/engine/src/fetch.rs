//! Reading of the stored bytes of tasks.
//!
//! From mapped files and memory, each worker takes views of its own ranges, and the reader checks afterwards
//! whether they have changed. Each worker reads into its scratch memory from local files that are not mapped
//! and, if they are mapped, for compressed blocks and for long blocks that are not in the page cache. Any
//! other source (a Python object, a network) is read in *windows*: the ranges of adjacent tasks are coalesced
//! into few requests, which are read by the first worker that needs one of them and dropped after the last
//! use.

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

/// Upper bound on the bytes between two ranges that are read by one request.
const GAP: u64 = 32 << 10;
/// Upper bound in bytes on a window of a source that plans its requests.
const FAR_WINDOW: u64 = 8 << 20;
/// Size in bytes of the first and the last windows of such a source: decoding starts soon after the first
/// byte arrives, and ends soon after the last one. The windows in between double in size up to the bound.
const NEAR_WINDOW: u64 = 4 << 20;
/// Divisor of the gaps between blocks, when they are counted in a window of such a source: it reads only some
/// of them, and drops their bytes at once.
const GAP_PART: u64 = 8;
/// Number of windows that such a source prefetches while one is decoded, so that the connection is busy until
/// the next response.
const AHEAD: usize = 8;
/// Upper bound on the total bytes of these windows, if there are several.
const AHEAD_BYTES: u64 = 32 << 20;
/// Upper bound in bytes on a single request.
const LONGEST: u64 = 16 << 20;

/// Upper bound on the back-off of a worker that waits for another one to read the same window.
const LONGEST_PAUSE: Duration = Duration::from_millis(5);

/// Number of bytes that are read and decoded at a time if the block need not be complete. They stay in the
/// cache in between.
pub(crate) const PIECE: usize = 256 << 10;

/// Reads the stored bytes of the tasks of a plan.
pub(crate) struct Fetcher<'a> {
    plan: &'a Plan,
    source: &'a dyn Source,
    /// Index of the file among those of the call.
    file: usize,
    /// Size in bytes of the source when the call started; 0 if unknown.
    size: u64,
    /// Flag that is set when a view of the source is used; `None` if all bytes have to be copied.
    viewed: Option<&'a AtomicBool>,
    way: Way,
    /// Number of windows that were announced to the source.
    told: Mutex<usize>,
}

enum Way {
    /// Each task is read separately.
    Own,
    /// Tasks are read in windows: the window number of each task, and the windows.
    Windows(Vec<usize>, Vec<Planned>),
}

/// State of a window from its planning to its last use.
#[derive(Default)]
struct Planned {
    /// The tasks of the window.
    members: Vec<usize>,
    /// Number of tasks that have not requested their bytes yet.
    left: AtomicUsize,
    read: Mutex<Option<Arc<Window>>>,
}

/// The stored bytes of the tasks of a window.
pub(crate) struct Window {
    /// Index of the file among those of the call.
    file: usize,
    number: usize,
    tasks: Vec<(usize, Bytes)>,
}

impl<'a> Fetcher<'a> {
    /// Plans the windows of a source. `file` is the index of the file among those of the call, and `order`
    /// the order of the tasks. Without `viewed`, all bytes are copied.
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
                // A small gap is read together with the ranges.
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
        // An error is not reported here: the size is queried again for each block, whose error it then is.
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

    /// Returns the stored bytes of a task. They are borrowed from `own` if they are copied, otherwise from
    /// `hold`; `window` is the last window of the worker.
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
                // Each task is a member of its window.
                *hold = found.map(|(_, bytes)| bytes.clone()).unwrap_or_default();
                Ok(hold)
            }
        }
    }

    /// Whether a block is compressed, by the metadata, and its view may change during decompression.
    fn better_copied(&self, task: &Task) -> bool {
        let stored = task.stored.len();
        self.source.views_may_change() && task.payload_hint > stored.saturating_add(stored / 16)
    }

    /// Returns the range of a task that is long and would be copied, so that it should be read in pieces.
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

    /// Reads a range into `own`.
    pub(crate) fn piece<'b>(&self, range: Range<u64>, own: &'b mut ScratchBuffer) -> Result<&'b [u8]> {
        read_into(self.source, self.size, range, own)
    }

    /// Returns a window, which is read on first use. It is released when all of its tasks have requested it;
    /// workers that still decode from it share its ownership.
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

    /// Locks a window, with back-off while another worker reads it. The source is polled meanwhile and may
    /// end the wait.
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

    /// Returns the task indices and ranges of a window.
    fn wanted(&self, members: &[usize]) -> Vec<(usize, Range<u64>)> {
        let range = |at: usize| match &self.plan.tasks[at].stored {
            Stored::Range(range) => Some((at, range.clone())),
            Stored::Inline(_) | Stored::Missing { .. } => None,
        };
        members.iter().filter_map(|&at| range(at)).collect()
    }

    /// Announces a window and the following ones to the source, each of them once. Another worker may have
    /// read a later window already.
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
            // Announced before this window is decoded, to keep the connection busy meanwhile.
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

/// Returns the length of a range; 0 if it is inverted.
fn length(range: &Range<u64>) -> u64 {
    range.end.saturating_sub(range.start)
}

/// Returns the size in bytes of the next window of a source that plans its requests. `rest` is the number of
/// bytes that are left to read.
fn far_window(number: usize, rest: u64) -> u64 {
    if rest <= NEAR_WINDOW / 2 * 3 {
        return NEAR_WINDOW / 2 * 3;
    }
    let doubled = NEAR_WINDOW << number.saturating_sub(1).min(3);
    doubled.min(FAR_WINDOW).min((rest / 3).max(NEAR_WINDOW))
}

/// Reads the stored bytes of a single task.
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

/// Reads a range into a scratch buffer. `known` is an earlier size of the source.
fn read_into<'b>(
    source: &dyn Source,
    known: u64,
    range: Range<u64>,
    into: &'b mut ScratchBuffer,
) -> Result<&'b [u8]> {
    // The size is checked before memory is allocated for an untrusted length. If the source has shrunk,
    // reading fails.
    if range.end > known && range.end > source.grown(range.end.saturating_sub(1))? {
        // The read returns the source's own error (end or truncation) before memory is allocated, unless the
        // source has grown meanwhile.
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
