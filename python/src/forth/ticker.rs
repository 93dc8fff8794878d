//! Interruption of machines by signals: a thread sets a flag at intervals, so that the run stops for Python
//! to handle signals.
//!
//! Python handles signals only in the main thread, so only its runs are interrupted. The state is atomic
//! numbers: a fork at any moment leaves no lock held.

use pyo3::prelude::*;
use std::{
    cell::Cell,
    sync::{
        Arc, LazyLock,
        atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering},
    },
    time::Duration,
};

/// Interval at which a run is interrupted. Signals are to be handled within 100 ms.
const OFTEN: Duration = Duration::from_millis(40);
/// Number of intervals without a run after which the thread ends.
const IDLE: u32 = 50;

/// The flag of runs in the main thread; that of other runs is never set.
static LOOK: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);
static NEVER: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Number of runs in the main thread.
static RUNS: AtomicUsize = AtomicUsize::new(0);
/// Id of the process whose thread sets the flag. A forked process has no such thread.
static TICKING: AtomicU32 = AtomicU32::new(0);

/// Guard of a run, which is interrupted at intervals if it is in the main thread.
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

    /// Returns the flag that interrupts the machine.
    pub(crate) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(if self.in_main { &LOOK } else { &NEVER })
    }

    /// Clears the flag and runs pending signal handlers. Returns the exception of a handler.
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
    /// Id of the process for which this was determined, and whether this is its main thread. The thread that
    /// forks is the main thread of the new process.
    static MAIN: Cell<(u32, bool)> = const { Cell::new((0, false)) };
}

/// Whether this is the thread in which Python handles signals; `None` if that was not determined yet.
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

/// Starts the thread, unless this process has one.
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
        // The run is correct, but signals do not interrupt it.
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
        // A run that began before the store did not start a thread.
        let resumed = RUNS.load(Ordering::SeqCst) > 0
            && TICKING.compare_exchange(0, process, Ordering::SeqCst, Ordering::SeqCst).is_ok();
        if !resumed {
            return;
        }
        idle = 0;
    }
}
