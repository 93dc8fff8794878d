//! Steps in order, with prefetch.

use super::{RowSteps, readers::Readers};
use crate::Selected;
use forthwith_plan::{Error, Result};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread::JoinHandle,
};

/// Steps in order: read by several threads, by one in advance, or on demand, with one thread and for views.
pub(super) enum StepStream {
    Here { steps: Box<dyn RowSteps>, threads: Option<usize> },
    Ahead(Reader),
    SideBySide(Readers),
    Ended,
}

impl StepStream {
    pub(super) fn start(steps: Box<dyn RowSteps>, threads: Option<usize>) -> Result<Self> {
        if threads == Some(1) || steps.are_views() {
            return Ok(Self::Here { steps, threads });
        }
        let all = threads.unwrap_or_else(forthwith_platform::parallelism);
        if all > 1 && steps.are_large() {
            return Ok(Self::SideBySide(Readers::start(steps, all)));
        }
        Reader::start(steps, threads).map(Self::Ahead)
    }

    pub(super) fn next(&mut self) -> Result<Option<Selected>> {
        let step = match self {
            Self::Ended => return Ok(None),
            Self::Here { steps, threads } => steps.read_next(*threads, &mut |_| true),
            Self::Ahead(reader) => reader.next(),
            Self::SideBySide(readers) => readers.next(),
        };
        if !matches!(step, Ok(Some(_))) {
            *self = Self::Ended;
        }
        step
    }
}

/// A thread that reads the next step while the current one is in use.
pub(super) struct Reader {
    /// `None` once the reader is being dropped.
    steps: Option<Receiver<Result<Selected>>>,
    thread: Option<JoinHandle<()>>,
    is_dropped: Arc<AtomicBool>,
}

impl Reader {
    fn start(steps: Box<dyn RowSteps>, threads: Option<usize>) -> Result<Self> {
        let is_dropped = Arc::new(AtomicBool::new(false));
        // Without capacity, there is only one further step that is ready or being read.
        let (sender, receiver) = sync_channel(0);
        let dropped = Arc::clone(&is_dropped);
        let read = move || read_all(steps, threads, &dropped, &sender);
        let thread = std::thread::Builder::new().name("forthwith rows".into()).spawn(read);
        let refused = |error| Error::fault(format!("no thread to read rows ahead: {error}; use one thread"));
        Ok(Self { steps: Some(receiver), thread: Some(thread.map_err(refused)?), is_dropped })
    }

    fn next(&mut self) -> Result<Option<Selected>> {
        match self.steps.as_ref().map(Receiver::recv) {
            Some(Ok(step)) => step.map(Some),
            _ => self.join().map(|()| None),
        }
    }

    /// Waits for the thread.
    fn join(&mut self) -> Result<()> {
        match self.thread.take().map(JoinHandle::join) {
            Some(Err(_)) => Err(Error::fault("the thread that reads rows panicked")),
            _ => Ok(()),
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.is_dropped.store(true, Ordering::Relaxed);
        self.steps = None;
        drop(self.join());
    }
}

/// Reads all steps.
fn read_all(
    mut steps: Box<dyn RowSteps>,
    threads: Option<usize>,
    is_dropped: &AtomicBool,
    sender: &SyncSender<Result<Selected>>,
) {
    loop {
        let step = steps.read_next(threads, &mut |_| !is_dropped.load(Ordering::Relaxed));
        let Some(step) = step.transpose() else { return };
        let failed = step.is_err();
        if sender.send(step).is_err() || failed {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a test fails by panicking

    use super::*;
    use crate::{ProgressCallback, rows::StepReader};
    use std::ops::Range;

    /// Steps of ten entries, of which one cannot be read and another not be cut.
    struct Tens {
        next: u64,
        end: u64,
        uncut: Option<u64>,
        unread: Option<u64>,
    }

    impl RowSteps for Tens {
        fn read_next(
            &mut self,
            threads: Option<usize>,
            tick: &mut ProgressCallback<'_>,
        ) -> Result<Option<Selected>> {
            let step = self.skip_step()?;
            step.map(|step| self.reader().read_step(step, threads, tick)).transpose()
        }

        fn skip_step(&mut self) -> Result<Option<Range<u64>>> {
            let start = self.next;
            self.next += 10;
            if self.uncut == Some(start) {
                return Err(Error::invalid("uncut"));
            }
            Ok((start < self.end).then_some(start..start + 10))
        }

        fn reader(&self) -> Arc<dyn StepReader> {
            Arc::new(Unread(self.unread))
        }

        fn are_large(&self) -> bool {
            true
        }
    }

    struct Unread(Option<u64>);

    impl StepReader for Unread {
        fn read_step(
            &self,
            step: Range<u64>,
            _: Option<usize>,
            _: &mut ProgressCallback<'_>,
        ) -> Result<Selected> {
            // Later steps are often ready before earlier ones.
            std::thread::sleep(std::time::Duration::from_millis(3 - step.start / 10 % 3));
            if self.0 == Some(step.start) {
                return Err(Error::invalid("unread"));
            }
            Ok(Selected { entries: step, kept: None, arrays: Vec::new() })
        }
    }

    fn read(steps: Tens, threads: usize) -> (u64, Option<Error>) {
        let mut stream = StepStream::start(Box::new(steps), Some(threads)).unwrap();
        let mut end = 0;
        loop {
            match stream.next() {
                Ok(Some(step)) => {
                    assert_eq!(step.entries.start, end);
                    end = step.entries.end;
                }
                Ok(None) => return (end, None),
                Err(error) => {
                    assert!(stream.next().unwrap().is_none());
                    return (end, Some(error));
                }
            }
        }
    }

    #[test]
    fn steps_come_in_their_order_and_errors_behind_what_is_before_them() {
        for threads in [1, 2, 3, 9] {
            for end in [0, 10, 20, 130] {
                let (read, error) = read(Tens { next: 0, end, uncut: None, unread: None }, threads);
                assert!(read == end && error.is_none(), "{threads} threads, {end} entries");
            }
            for at in [0, 10, 60] {
                for (uncut, unread) in [(Some(at), None), (None, Some(at)), (Some(at + 20), Some(at))] {
                    let (read, error) = read(Tens { next: 0, end: 130, uncut, unread }, threads);
                    assert!(read == at && error.is_some(), "{threads} threads, {uncut:?}, {unread:?}");
                }
            }
        }
    }

    #[test]
    fn readers_end_with_their_stream() {
        let mut stream =
            StepStream::start(Box::new(Tens { next: 0, end: 1000, uncut: None, unread: None }), Some(3))
                .unwrap();
        assert_eq!(stream.next().unwrap().unwrap().entries, 0..10);
        drop(stream);
    }
}
