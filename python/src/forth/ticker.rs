//! Ctrl-C while a machine runs without the interpreter: a flag that is set now and then, so that the run comes back to ask.
//!
//! Python handles signals in the main thread only, so runs of that thread only have to come back. All there is are atomic
//! numbers: a process that is forked at any moment finds none of them locked.

use pyo3::prelude::*;
use std::{
    cell::Cell,
    sync::{
        Arc, LazyLock,
        atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering},
    },
    time::Duration,
};

/// How often a run comes back; it is to react within 100 ms.
const OFTEN: Duration = Duration::from_millis(40);
/// How many times without a run end the thread.
const IDLE: u32 = 50;

/// The flag of runs in the main thread, and that of all others, which is never set.
static LOOK: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);
static NEVER: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Runs in the main thread.
static RUNS: AtomicUsize = AtomicUsize::new(0);
/// The process whose thread sets the flag: a forked one has no such thread.
static TICKING: AtomicU32 = AtomicU32::new(0);

/// A run, which in the main thread is made to come back from time to time.
pub(crate) struct Watched {
    in_main: bool,
}

impl Watched {
    pub(crate) fn new(py: Python<'_>) -> PyResult<Self> {
        let in_main = in_main_thread(py)?;
        if in_main {
            RUNS.fetch_add(1, Ordering::SeqCst);
            start();
        }
        Ok(Self { in_main })
    }

    /// What the machine looks at.
    pub(crate) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(if self.in_main { &LOOK } else { &NEVER })
    }

    /// Lets Python handle signals; the exception is what a handler raised.
    pub(crate) fn look(&self, py: Python<'_>) -> PyResult<()> {
        LOOK.store(false, Ordering::Relaxed);
        py.check_signals()
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        if self.in_main {
            RUNS.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

thread_local! {
    /// The process in which it was found out, and what: the thread that forks is the main one of the new process.
    static MAIN: Cell<(u32, bool)> = const { Cell::new((0, false)) };
}

/// Whether this is the thread in which Python handles signals, if that was found out before.
pub(crate) fn known_as_main() -> Option<bool> {
    let (process, main) = MAIN.get();
    (process == forthwith_platform::process_id()).then_some(main)
}

/// Whether this is the thread in which Python handles signals.
pub(crate) fn in_main_thread(py: Python<'_>) -> PyResult<bool> {
    if let Some(main) = known_as_main() {
        return Ok(main);
    }
    let threading = py.import("threading")?;
    let main = threading.call_method0("main_thread")?.getattr("ident")?;
    let main = main.eq(threading.call_method0("get_ident")?)?;
    MAIN.set((forthwith_platform::process_id(), main));
    Ok(main)
}

/// Starts the thread, if this process has none.
fn start() {
    let process = forthwith_platform::process_id();
    let found = TICKING.load(Ordering::SeqCst);
    if found == process
        || TICKING.compare_exchange(found, process, Ordering::SeqCst, Ordering::SeqCst).is_err()
    {
        return;
    }
    let spawned =
        std::thread::Builder::new().name("forthwith-ticker".to_owned()).spawn(move || tick(process));
    if spawned.is_err() {
        // Nothing interrupts the run then, which is right all the same.
        TICKING.store(0, Ordering::SeqCst);
    }
}

fn tick(process: u32) {
    let mut idle = 0;
    loop {
        std::thread::sleep(OFTEN);
        if RUNS.load(Ordering::SeqCst) > 0 {
            LOOK.store(true, Ordering::Relaxed);
            idle = 0;
            continue;
        }
        idle += 1;
        if idle < IDLE {
            continue;
        }
        TICKING.store(0, Ordering::SeqCst);
        // A run that began before this was seen started no thread.
        let resumed = RUNS.load(Ordering::SeqCst) > 0
            && TICKING.compare_exchange(0, process, Ordering::SeqCst, Ordering::SeqCst).is_ok();
        if !resumed {
            return;
        }
        idle = 0;
    }
}
