//! Work that takes long, beside the browser: on threads, or step by step where there are none.

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

/// A job: it is asked for one answer after the other.
pub(crate) trait Job: Send {
    /// The next answer, and whether more follow. `stop` becomes true when no answer is expected any more.
    fn step(&mut self, stop: &AtomicBool) -> (Answer, bool);
}

/// The thread that a job runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lane {
    /// Cells of a table and types of columns on the screen.
    Screen,
    /// Details of a node.
    Details,
    /// Scans of a table.
    Scan,
    /// Reads that a key asked for.
    Request,
}

/// The number of lanes.
const LANES: usize = 4;
/// Time that a cancelled job has to end before another thread takes the jobs behind it.
const PATIENCE: Duration = Duration::from_millis(50);
/// Threads of a lane that wait for reads of cancelled jobs.
const ABANDONED: usize = 8;

/// Names a job. Numbers grow, and are never used again: an answer of an earlier job for the same thing has another one.
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

/// Jobs of a lane that were not begun, and the worker that takes them.
struct LaneQueue {
    state: Mutex<LaneState>,
    wake: Condvar,
}

#[derive(Default)]
struct LaneState {
    jobs: VecDeque<Queued>,
    /// The job that the worker is at.
    current: Option<Ticket>,
    /// When it was cancelled.
    cancelled: Option<Instant>,
    /// The worker that takes the next job; others end after theirs.
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
    /// Answers that came while another one was waited for.
    early: Vec<(Ticket, Answer)>,
    running: Vec<Running>,
    next: Ticket,
}

impl Jobs {
    /// Jobs on threads of their own.
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

    /// Jobs that run while [`poll`](Self::poll) is called, one step each time.
    pub(crate) fn inline() -> Self {
        let (to, answers) = channel();
        let (inline, early, running) = (VecDeque::new(), Vec::new(), Vec::new());
        Self { lanes: None, inline, to, answers, early, running, next: 0 }
    }

    /// Adds a job.
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

    /// Stops a job, which gives no more answers.
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

    /// Answers since the last call.
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

    /// The next answer of a job, if it comes within a time. A lane whose worker waits for the read of a cancelled job is
    /// not waited for.
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

    /// Whether an answer is that of a job that was not cancelled; notes the end of the job unless `more` answers follow.
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

    /// Starts another worker for jobs that are queued behind a cancelled job whose read has not returned.
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
    /// The state, which no panic leaves half changed.
    fn lock(&self) -> MutexGuard<'_, LaneState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next job for a worker, after its last one; `None` if it is to end.
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

    /// A job that waits for its channel, as one does that reads from a slow server.
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
        // The answers of cancelled jobs are not taken for others.
        // A job that was cancelled before it began is gone.
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
