//! Work that takes long, beside the browser: on threads, or step by step where there are none.

use crate::answers::Answer;
use std::{
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, Sender, TryRecvError, channel},
    },
    thread,
};

/// A job: it is asked for one answer after the other.
pub(crate) trait Job: Send {
    /// The next answer, and whether more follow. `stop` becomes true when no answer is expected any more.
    fn step(&mut self, stop: &AtomicBool) -> (Answer, bool);
}

/// The thread that a job runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lane {
    /// Short reads for the screen.
    Screen,
    /// Scans of a table.
    Scan,
}

/// Names a job.
pub(crate) type Ticket = u64;

struct Queued {
    ticket: Ticket,
    stop: Arc<AtomicBool>,
    job: Box<dyn Job>,
}

struct Running {
    ticket: Ticket,
    stop: Arc<AtomicBool>,
}

/// All jobs of a browser.
pub(crate) struct Jobs {
    lanes: Option<[Sender<Queued>; 2]>,
    inline: VecDeque<Queued>,
    answers: Receiver<(Ticket, Answer, bool)>,
    running: Vec<Running>,
    next: Ticket,
}

impl Jobs {
    /// Jobs on threads of their own.
    pub(crate) fn on_threads() -> Self {
        let (to, answers) = channel();
        let lanes = [(); 2].map(|()| {
            let (queue, jobs) = channel();
            let to = to.clone();
            thread::spawn(move || work(&jobs, &to));
            queue
        });
        Self { lanes: Some(lanes), inline: VecDeque::new(), answers, running: Vec::new(), next: 0 }
    }

    /// Jobs that run while [`poll`](Self::poll) is called, one step each time.
    pub(crate) fn inline() -> Self {
        let (_, answers) = channel();
        Self { lanes: None, inline: VecDeque::new(), answers, running: Vec::new(), next: 0 }
    }

    /// Adds a job.
    pub(crate) fn start(&mut self, lane: Lane, job: impl Job + 'static) -> Ticket {
        self.next += 1;
        let (ticket, stop) = (self.next, Arc::new(AtomicBool::new(false)));
        self.running.push(Running { ticket, stop: Arc::clone(&stop) });
        let queued = Queued { ticket, stop, job: Box::new(job) };
        match &self.lanes {
            // A thread that ended is reported by `poll`.
            Some(lanes) => drop(lanes[lane as usize].send(queued)),
            None => self.inline.push_back(queued),
        }
        ticket
    }

    /// Stops a job, which gives no more answers.
    pub(crate) fn cancel(&mut self, ticket: Ticket) {
        self.running.retain(|running| {
            let is_other = running.ticket != ticket;
            if !is_other {
                running.stop.store(true, Ordering::Relaxed);
            }
            is_other
        });
        self.inline.retain(|queued| queued.ticket != ticket);
    }

    /// Whether answers are expected.
    pub(crate) fn is_busy(&self) -> bool {
        !self.running.is_empty()
    }

    /// Answers since the last call.
    pub(crate) fn poll(&mut self) -> Vec<(Ticket, Answer)> {
        let mut found = Vec::new();
        if self.lanes.is_none() {
            if let Some(mut queued) = self.inline.pop_front() {
                let (answer, more) = queued.job.step(&queued.stop);
                found.push((queued.ticket, answer));
                if more {
                    self.inline.push_back(queued);
                } else {
                    self.running.retain(|running| running.ticket != queued.ticket);
                }
            }
            return found;
        }
        loop {
            match self.answers.try_recv() {
                Ok((ticket, answer, more)) => {
                    if self.running.iter().any(|running| running.ticket == ticket) {
                        found.push((ticket, answer));
                    }
                    if !more {
                        self.running.retain(|running| running.ticket != ticket);
                    }
                }
                Err(TryRecvError::Empty) => return found,
                Err(TryRecvError::Disconnected) => {
                    let failed = || Answer::Failed("the reading thread ended".into());
                    found.extend(self.running.drain(..).map(|running| (running.ticket, failed())));
                    return found;
                }
            }
        }
    }
}

impl Drop for Jobs {
    fn drop(&mut self) {
        self.running.iter().for_each(|running| running.stop.store(true, Ordering::Relaxed));
    }
}

fn work(jobs: &Receiver<Queued>, to: &Sender<(Ticket, Answer, bool)>) {
    for mut queued in jobs {
        while !queued.stop.load(Ordering::Relaxed) {
            let step = catch_unwind(AssertUnwindSafe(|| queued.job.step(&queued.stop)));
            let (answer, more) = step.unwrap_or_else(|_| (Answer::Failed("internal error".into()), false));
            if to.send((queued.ticket, answer, more)).is_err() {
                return;
            }
            if !more {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Countdown(u64);

    impl Job for Countdown {
        fn step(&mut self, _: &AtomicBool) -> (Answer, bool) {
            assert!(self.0 != 13, "unlucky");
            self.0 -= 1;
            (Answer::Count(self.0, self.0 == 0), self.0 > 0)
        }
    }

    fn counts(jobs: &mut Jobs) -> Vec<u64> {
        let mut counts = Vec::new();
        while jobs.is_busy() {
            for (_, answer) in jobs.poll() {
                counts.push(match answer {
                    Answer::Count(count, _) => count,
                    _ => 99,
                });
            }
        }
        counts
    }

    #[test]
    fn all_answers_arrive_in_order() {
        for mut jobs in [Jobs::inline(), Jobs::on_threads()] {
            jobs.start(Lane::Scan, Countdown(3));
            assert_eq!(counts(&mut jobs), [2, 1, 0]);
        }
    }

    #[test]
    fn a_cancelled_job_gives_no_answer() {
        for mut jobs in [Jobs::inline(), Jobs::on_threads()] {
            let ticket = jobs.start(Lane::Screen, Countdown(3));
            jobs.cancel(ticket);
            assert!(!jobs.is_busy() && jobs.poll().is_empty());
        }
    }

    #[test]
    fn a_panic_is_an_answer() {
        let mut jobs = Jobs::on_threads();
        jobs.start(Lane::Scan, Countdown(13));
        assert_eq!(counts(&mut jobs), [99]);
        jobs.start(Lane::Scan, Countdown(1));
        assert_eq!(counts(&mut jobs), [0]);
    }
}
