//! Background jobs: on threads, or step by step on systems without threads.

use crate::answers::Answer;
use forthwith_platform::Instant;
use std::{
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, Sender, channel},
    },
    thread,
    time::Duration,
};

/// Job with one or more answers.
pub(crate) trait Job: Send {
    /// Computes the next answer; also returns whether more follow. `stop` is set when the job is cancelled.
    fn step(&mut self, stop: &AtomicBool) -> (Answer, bool);
}

/// Thread on which a job runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lane {
    /// Cells of a table and types of columns on the screen.
    Screen,
    /// Details of a node.
    Details,
    /// Scans of a table.
    Scan,
    /// Requests of keys.
    Request,
}

/// Number of lanes.
const LANES: usize = 4;
/// Time for which a cancelled job may block its lane before another thread takes over.
const PATIENCE: Duration = Duration::from_millis(50);
/// Maximum number of threads of a lane that are blocked by cancelled jobs.
const ABANDONED: usize = 8;

/// Identifier of a job. It is never reused, so that a late answer is not taken for that of a newer job.
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

/// Queue of a lane, and its worker.
struct LaneQueue {
    state: Mutex<LaneState>,
    wake: Condvar,
}

#[derive(Default)]
struct LaneState {
    jobs: VecDeque<Queued>,
    /// Job that the worker is running.
    current: Option<Ticket>,
    /// Time at which that job was cancelled.
    cancelled: Option<Instant>,
    /// Number of the worker that takes the next job; others end after their present one.
    worker: u64,
    abandoned: usize,
    is_closed: bool,
}

type Answers = Sender<(Ticket, Answer, bool)>;

/// All jobs of a browser.
pub(crate) struct Jobs {
    lanes: Option<[Arc<LaneQueue>; LANES]>,
    inline: VecDeque<Queued>,
    to: Answers,
    answers: Receiver<(Ticket, Answer, bool)>,
    /// Answers that were received while another one was awaited.
    early: Vec<(Ticket, Answer)>,
    running: Vec<Running>,
    next: Ticket,
}

impl Jobs {
    /// Creates a job system with a thread for each lane.
    pub(crate) fn on_threads() -> Self {
        let mut jobs = Self::inline();
        let lanes = [(); LANES].map(|()| {
            let lane = Arc::new(LaneQueue { state: Mutex::default(), wake: Condvar::new() });
            spawn(&lane, 0, &jobs.to);
            lane
        });
        jobs.lanes = Some(lanes);
        jobs
    }

    /// Creates a job system without threads: each call of [`poll`](Self::poll) runs one step.
    pub(crate) fn inline() -> Self {
        let (to, answers) = channel();
        let (inline, early, running) = (VecDeque::new(), Vec::new(), Vec::new());
        Self { lanes: None, inline, to, answers, early, running, next: 0 }
    }

    /// Queues a job and returns its identifier.
    pub(crate) fn start(&mut self, lane: Lane, job: impl Job + 'static) -> Ticket {
        self.next += 1;
        let (ticket, stop) = (self.next, Arc::new(AtomicBool::new(false)));
        self.running.push(Running { ticket, stop: Arc::clone(&stop) });
        let queued = Queued { ticket, stop, job: Box::new(job) };
        match &self.lanes {
            Some(lanes) => {
                let lane = &lanes[lane as usize];
                lane.lock().jobs.push_back(queued);
                lane.wake.notify_all();
            }
            None => self.inline.push_back(queued),
        }
        ticket
    }

    /// Cancels a job; no more answers of it are returned.
    pub(crate) fn cancel(&mut self, ticket: Ticket) {
        self.running.retain(|running| {
            let is_other = running.ticket != ticket;
            if !is_other {
                running.stop.store(true, Ordering::Relaxed);
            }
            is_other
        });
        self.early.retain(|(other, _)| *other != ticket);
        self.inline.retain(|queued| queued.ticket != ticket);
        for lane in self.lanes.iter().flatten() {
            let mut state = lane.lock();
            state.jobs.retain(|queued| queued.ticket != ticket);
            if state.current == Some(ticket) {
                state.cancelled.get_or_insert_with(Instant::now);
            }
        }
    }

    /// Whether answers are expected.
    pub(crate) fn is_busy(&self) -> bool {
        !self.running.is_empty() || !self.early.is_empty()
    }

    /// Returns the answers since the last call.
    pub(crate) fn poll(&mut self) -> Vec<(Ticket, Answer)> {
        let mut found = std::mem::take(&mut self.early);
        if self.lanes.is_none() {
            if let Some(queued) = self.inline.pop_front() {
                found.push(self.run_inline(queued));
            }
            return found;
        }
        self.replace_workers();
        while let Ok((ticket, answer, more)) = self.answers.try_recv() {
            if self.expects(ticket, more) {
                found.push((ticket, answer));
            }
        }
        found
    }

    /// Waits for the next answer of a job, at most for the time `most`. It does not wait if the lane is
    /// blocked by a cancelled job.
    pub(crate) fn wait(&mut self, lane: Lane, ticket: Ticket, most: Duration) -> Option<Answer> {
        let Some(lanes) = &self.lanes else {
            let at = self.inline.iter().position(|queued| queued.ticket == ticket)?;
            let queued = self.inline.remove(at)?;
            return Some(self.run_inline(queued).1);
        };
        if lanes[lane as usize].lock().cancelled.is_some() {
            return None;
        }
        let begin = Instant::now();
        while let Some(left) = most.checked_sub(begin.elapsed()) {
            let (of, answer, more) = self.answers.recv_timeout(left).ok()?;
            if !self.expects(of, more) {
                continue;
            }
            if of == ticket {
                return Some(answer);
            }
            self.early.push((of, answer));
        }
        None
    }

    /// Whether an answer belongs to a job that was not cancelled. Unless `more` answers follow, the job is
    /// removed.
    fn expects(&mut self, ticket: Ticket, more: bool) -> bool {
        let Some(at) = self.running.iter().position(|running| running.ticket == ticket) else { return false };
        if !more {
            self.running.remove(at);
        }
        true
    }

    fn run_inline(&mut self, mut queued: Queued) -> (Ticket, Answer) {
        let (ticket, (answer, more)) = (queued.ticket, queued.job.step(&queued.stop));
        if more {
            self.inline.push_back(queued);
        } else {
            self.running.retain(|running| running.ticket != ticket);
        }
        (ticket, answer)
    }

    /// Starts a new worker for each lane whose queue is blocked by a cancelled job.
    fn replace_workers(&self) {
        for lane in self.lanes.iter().flatten() {
            let mut state = lane.lock();
            let is_stuck = state.cancelled.is_some_and(|since| since.elapsed() > PATIENCE);
            if is_stuck && !state.jobs.is_empty() && state.abandoned < ABANDONED {
                state.abandoned += 1;
                state.worker += 1;
                (state.current, state.cancelled) = (None, None);
                let worker = state.worker;
                drop(state);
                spawn(lane, worker, &self.to);
            }
        }
    }
}

impl Drop for Jobs {
    fn drop(&mut self) {
        self.running.iter().for_each(|running| running.stop.store(true, Ordering::Relaxed));
        for lane in self.lanes.iter().flatten() {
            lane.lock().is_closed = true;
            lane.wake.notify_all();
        }
    }
}

impl LaneQueue {
    /// Locks the state, which is consistent even after a panic.
    fn lock(&self) -> MutexGuard<'_, LaneState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the next job; returns `None` if the worker must end.
    fn next(&self, worker: u64) -> Option<Queued> {
        let mut state = self.lock();
        if state.worker != worker {
            state.abandoned -= 1;
            return None;
        }
        (state.current, state.cancelled) = (None, None);
        loop {
            if state.is_closed {
                return None;
            }
            if let Some(queued) = state.jobs.pop_front() {
                state.current = Some(queued.ticket);
                return Some(queued);
            }
            state = self.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

fn spawn(lane: &Arc<LaneQueue>, worker: u64, to: &Answers) {
    let (lane, to) = (Arc::clone(lane), to.clone());
    thread::spawn(move || work(&lane, worker, &to));
}

fn work(lane: &LaneQueue, worker: u64, to: &Answers) {
    while let Some(mut queued) = lane.next(worker) {
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

    /// Job that blocks on a channel, as a read from a slow server does.
    struct Blocked(Receiver<u64>);

    impl Job for Blocked {
        fn step(&mut self, _: &AtomicBool) -> (Answer, bool) {
            (Answer::Count(self.0.recv().unwrap_or(0), true), false)
        }
    }

    #[test]
    fn jobs_behind_a_cancelled_one_that_waits_are_done() {
        let mut jobs = Jobs::on_threads();
        let mut gates = Vec::new();
        for round in 1..=ABANDONED as u64 {
            let (gate, receiver) = channel();
            let ticket = jobs.start(Lane::Details, Blocked(receiver));
            gates.push(gate);
            assert!(jobs.wait(Lane::Details, ticket, Duration::from_millis(5)).is_none());
            jobs.cancel(ticket);
            jobs.start(Lane::Details, Countdown(2));
            assert_eq!(counts(&mut jobs), [1, 0], "{round}");
        }
        // Answers of cancelled jobs are not taken for those of others.
        // A job that was cancelled before it started is removed.
        for gate in &gates {
            let _ = gate.send(7);
        }
        jobs.start(Lane::Details, Countdown(1));
        assert_eq!(counts(&mut jobs), [0]);
    }

    #[test]
    fn an_answer_that_is_waited_for_does_not_overtake_those_of_its_job() {
        let mut jobs = Jobs::on_threads();
        jobs.start(Lane::Scan, Countdown(2));
        let (gate, receiver) = channel();
        let ticket = jobs.start(Lane::Request, Blocked(receiver));
        while jobs.running.len() > 1 {
            assert!(jobs.wait(Lane::Request, ticket, Duration::from_millis(5)).is_none());
        }
        gate.send(5).expect("a job");
        let answer = jobs.wait(Lane::Request, ticket, Duration::from_secs(60));
        assert!(matches!(answer, Some(Answer::Count(5, true))));
        assert!(jobs.is_busy());
        assert_eq!(counts(&mut jobs), [1, 0]);
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
