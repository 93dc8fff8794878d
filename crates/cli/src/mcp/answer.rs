//! Execution of command lines for a client, with limits of time and of the size of answers.

use crate::{Keyboard, Terminal, cancellation::Cancellation, run_until};
use std::{
    ffi::OsString,
    io::{self, Write},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

/// Work of a call.
pub(super) enum Task {
    /// A known answer.
    Text(String),
    /// Arguments of a command line.
    Line(Vec<OsString>),
}

/// Threads that execute command lines.
pub(super) struct Workers {
    limit: Duration,
    /// Options of all command lines.
    common: Vec<OsString>,
    /// Number of running calls, including calls past the time limit.
    late: Arc<AtomicUsize>,
}

impl Workers {
    pub(super) fn new(limit: Duration, common: Vec<OsString>) -> Self {
        Self { limit, common, late: Arc::default() }
    }

    /// Executes a command line.
    ///
    /// # Errors
    /// Returns the error message of the command, or an error if the time limit has passed.
    pub(super) fn run(&self, task: Task) -> Result<String, String> {
        let line = match task {
            Task::Text(text) => return Ok(cut(text.into_bytes(), false)),
            Task::Line(mut line) => {
                // After the name of the program.
                line.splice(1..1, self.common.iter().cloned());
                line
            }
        };
        if self.late.load(Ordering::Relaxed) >= MOST_LATE {
            return Err("busy with calls that took too long: try again later".into());
        }
        let (send, receive) = mpsc::channel();
        let running = Running::new(&self.late);
        let cancellation = Cancellation::default();
        let shared = cancellation.clone();
        let spawned = thread::Builder::new().spawn(move || {
            let answer = answer(line, shared);
            drop(running);
            // After a timeout, there is not a receiver.
            let _ = send.send(answer);
        });
        if let Err(error) = spawned {
            return Err(format!("cannot start a thread: {error}"));
        }
        match receive.recv_timeout(self.limit) {
            Ok(answer) => answer,
            Err(mpsc::RecvTimeoutError::Timeout) => {
                cancellation.cancel();
                Err(format!("no answer within {} s: ask for fewer entries or columns", self.limit.as_secs()))
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => Err("the call ended without an answer".into()),
        }
    }
}

/// Guard that counts a call until it ends, also by a panic.
struct Running(Arc<AtomicUsize>);

impl Running {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(count))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn answer(line: Vec<OsString>, cancellation: Cancellation) -> Result<String, String> {
    let (mut out, mut err) = (Bounded::default(), Bounded::default());
    // Standard input is used by the protocol.
    let mut keyboard = Keyboard::new(io::empty(), false);
    out.cancellation = Some(cancellation.clone());
    let code = run_until(line, &mut keyboard, &mut out, &mut err, Terminal::default(), Some(cancellation));
    if code == 0 {
        return Ok(cut(out.bytes, out.is_full));
    }
    let text = cut(err.bytes, err.is_full);
    Err(text.strip_prefix("forthwith: ").unwrap_or(&text).to_owned())
}

/// Returns the text of an answer, with a note if it was truncated.
fn cut(mut bytes: Vec<u8>, is_full: bool) -> String {
    let is_cut = is_full || bytes.len() > LARGEST;
    bytes.truncate(LARGEST);
    if is_cut {
        // The last line is incomplete.
        let end = bytes.iter().rposition(|byte| *byte == b'\n').unwrap_or(bytes.len());
        bytes.truncate(end);
    }
    let text = String::from_utf8_lossy(&bytes).trim_end().to_owned();
    if is_cut { format!("{text}\n… cut after {LARGEST} bytes: ask for less") } else { text }
}

/// Writer that keeps the first [`LARGEST`] bytes. Further writes, and writes after a cancellation, fail like
/// those to a closed pipe.
#[derive(Default)]
struct Bounded {
    bytes: Vec<u8>,
    is_full: bool,
    cancellation: Option<Cancellation>,
}

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let left = LARGEST.saturating_sub(self.bytes.len());
        if self.cancellation.as_ref().is_some_and(Cancellation::is_cancelled) {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        if left == 0 && !bytes.is_empty() {
            self.is_full = true;
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let taken = bytes.len().min(left);
        self.bytes.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Maximum size of an answer in bytes.
const LARGEST: usize = 50_000;
/// Maximum number of calls that still run when another one is made.
const MOST_LATE: usize = 2;
