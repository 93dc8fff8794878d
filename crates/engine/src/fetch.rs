//! How a task's stored bytes are had.
//!
//! Mapped files and memory answer views, so every worker asks for its own range. A local file that is not mapped, and the compressed
//! blocks of one that is, are read by every worker into its warm scratch. Any other source (a Python object, a network) is read in *windows*: neighbouring tasks'
//! ranges, coalesced into few requests, fetched by the first worker that needs one of them and dropped with the last.

use bytes::Bytes;
use forthwith_io::{Source, coalesce};
use forthwith_plan::{Plan, Result, Stored, Task};
use std::{
    ops::Range,
    sync::{Arc, Mutex, PoisonError},
};

/// Ranges closer than this are fetched in one piece.
const GAP: u64 = 32 << 10;
/// The longest single request.
const LONGEST: u64 = 16 << 20;

/// Bytes that are read and decoded at a time where a block needs not be whole: they stay in the cache between the two.
pub(crate) const PIECE: usize = 256 << 10;

/// The tasks' bytes, by task position.
pub(crate) struct Fetcher<'a> {
    plan: &'a Plan,
    source: &'a dyn Source,
    way: Way,
}

enum Way {
    /// Each task for itself.
    Own,
    /// In windows: for each task the number of its window.
    Windows(Vec<usize>, Vec<Mutex<Option<Arc<Window>>>>, Vec<Vec<usize>>),
}

/// The bytes of neighbouring tasks.
pub(crate) struct Window {
    number: usize,
    tasks: Vec<(usize, Bytes)>,
}

impl<'a> Fetcher<'a> {
    /// `order` is the order in which tasks are handed out.
    pub(crate) fn new(plan: &'a Plan, order: &[usize], source: &'a dyn Source, read_ahead: u64) -> Self {
        let way = if source.zero_copy() || source.concurrent() {
            Way::Own
        } else {
            let mut of_task = vec![0; plan.tasks.len()];
            let mut members: Vec<Vec<usize>> = Vec::new();
            let mut room = 0;
            for &at in order {
                let bytes = plan.tasks[at].stored.len();
                if members.is_empty() || bytes > room {
                    members.push(Vec::new());
                    room = read_ahead.max(1);
                }
                room = room.saturating_sub(bytes);
                of_task[at] = members.len() - 1;
                if let Some(last) = members.last_mut() {
                    last.push(at);
                }
            }
            let slots = members.iter().map(|_| Mutex::new(None)).collect();
            Way::Windows(of_task, slots, members)
        };
        Self { plan, source, way }
    }

    /// The stored bytes of a task. The worker lends the memory they may have to be copied to, and holds the window it is working on.
    pub(crate) fn stored<'b>(
        &self,
        at: usize,
        own: &'b mut Vec<u8>,
        window: &mut Option<Arc<Window>>,
        hold: &'b mut Bytes,
    ) -> Result<&'b [u8]> {
        let task = &self.plan.tasks[at];
        let range = match &task.stored {
            Stored::Inline(bytes) => {
                *hold = bytes.clone();
                return Ok(hold);
            }
            Stored::Range(range) => range.clone(),
        };
        match &self.way {
            Way::Own if self.source.zero_copy() && !self.better_copied(task) => {
                *hold = self.source.read_one(range)?;
                Ok(hold)
            }
            Way::Own => read_into(self.source, range, own),
            Way::Windows(of_task, slots, members) => {
                let number = of_task[at];
                let window = self.window(number, &slots[number], &members[number], window)?;
                let found = window.tasks.iter().find(|(task, _)| *task == at);
                // Every task is a member of the window its number names.
                *hold = found.map(|(_, bytes)| bytes.clone()).unwrap_or_default();
                Ok(hold)
            }
        }
    }

    /// Whether a block is compressed, by the metadata's account, and its view could vanish while it is decompressed.
    fn better_copied(&self, task: &Task) -> bool {
        let stored = task.stored.len();
        self.source.views_may_vanish() && task.payload_hint > stored.saturating_add(stored / 16)
    }

    /// A task's range, if the task is worth reading piece by piece: long, and otherwise copied as a whole.
    pub(crate) fn long_range(&self, at: usize) -> Option<Range<u64>> {
        match (&self.plan.tasks[at].stored, &self.way) {
            (Stored::Range(range), Way::Own)
                if !self.source.zero_copy() && range.end.saturating_sub(range.start) > 2 * PIECE as u64 =>
            {
                Some(range.clone())
            }
            _ => None,
        }
    }

    /// Reads bytes into warm memory.
    pub(crate) fn piece<'b>(&self, range: Range<u64>, own: &'b mut Vec<u8>) -> Result<&'b [u8]> {
        read_into(self.source, range, own)
    }

    fn window(
        &self,
        number: usize,
        slot: &Mutex<Option<Arc<Window>>>,
        members: &[usize],
        held: &mut Option<Arc<Window>>,
    ) -> Result<Arc<Window>> {
        if let Some(window) = held.as_ref().filter(|w| w.number == number) {
            return Ok(Arc::clone(window));
        }
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        let window = match &*slot {
            Some(window) => Arc::clone(window),
            None => {
                let window = Arc::new(self.load(number, members)?);
                *slot = Some(Arc::clone(&window));
                window
            }
        };
        *held = Some(Arc::clone(&window));
        Ok(window)
    }

    /// Forgets the window of a task that was the last of its window to be handed out.
    pub(crate) fn handed_out(&self, at: usize) {
        if let Way::Windows(of_task, slots, members) = &self.way {
            let number = of_task[at];
            // Windows before the one in use are not asked for again: workers that still decode from one hold it themselves.
            if members[number].first() == Some(&at) && number >= 2 {
                *slots[number - 2].lock().unwrap_or_else(PoisonError::into_inner) = None;
            }
        }
    }

    fn load(&self, number: usize, members: &[usize]) -> Result<Window> {
        let wanted: Vec<(usize, Range<u64>)> = members
            .iter()
            .filter_map(|&at| match &self.plan.tasks[at].stored {
                Stored::Range(range) => Some((at, range.clone())),
                Stored::Inline(_) => None,
            })
            .collect();
        let ranges: Vec<_> = wanted.iter().map(|(_, r)| r.clone()).collect();
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
        Ok(Window { number, tasks })
    }
}

/// Reads one task's bytes outside a run.
pub(crate) fn alone<'b>(
    source: &dyn Source,
    task: &Task,
    stored: &'b mut Vec<u8>,
    hold: &'b mut Bytes,
) -> Result<&'b [u8]> {
    match &task.stored {
        Stored::Inline(bytes) => {
            *hold = bytes.clone();
            Ok(hold)
        }
        Stored::Range(range) if source.zero_copy() => {
            *hold = source.read_one(range.clone())?;
            Ok(hold)
        }
        Stored::Range(range) => read_into(source, range.clone(), stored),
    }
}

fn read_into<'b>(source: &dyn Source, range: Range<u64>, into: &'b mut Vec<u8>) -> Result<&'b [u8]> {
    let length = range.end.saturating_sub(range.start);
    // The size is asked for first, lest a lie about a length become an allocation.
    let size = source.size()?;
    if range.end > size {
        let beyond = forthwith_io::ErrorKind::BeyondEnd { wanted: range.clone(), size };
        return Err(
            forthwith_io::Error { kind: beyond, uri: source.uri().into(), at: Some(range.start) }.into()
        );
    }
    let length = length as usize;
    if into.len() < length {
        *into = vec![0; length];
    }
    source.read_into(range.start, &mut into[..length])?;
    Ok(&into[..length])
}
