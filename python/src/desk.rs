//! Serialises the calls of threads to a Python file object.
//!
//! The main thread calls the object itself, so that a signal ends its wait in Python code. Other threads
//! queue their request here, and a Python thread (`forthwith._file_objects`) carries it out, so that they can
//! stop waiting.

use forthwith_platform::ForkLocal;
use pyo3::{
    exceptions::{PyRuntimeError, PyTypeError},
    prelude::*,
    types::{PyBytes, PyTuple},
};
use std::{
    cell::{Cell, RefCell},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use crate::{forth::in_main_thread, held::thread_number};

/// Interval at which a waiting thread checks whether to continue.
const PAUSE: Duration = Duration::from_millis(20);
/// Timeout after which an idle Python thread ends.
const IDLE: Duration = Duration::from_millis(500);

/// A request to an object: its size, or bytes from a position on.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Request {
    Size,
    Read { at: u64, count: usize },
}

/// Answer to a [`Request`].
pub(crate) enum Answer {
    Size(u64),
    Bytes(Vec<u8>),
}

type Outcome = Result<Answer, PyErr>;

#[derive(Default)]
struct State {
    /// Whether a thread has its turn.
    taken: bool,
    /// The thread that runs the object's code; 0 if none does.
    inside: u64,
    /// The request for the Python thread, until that has answered it.
    asked: Option<Request>,
    /// Whether the requesting thread still waits. If not, the answer is dropped.
    waiting: bool,
    answered: Option<Outcome>,
    /// Whether a Python thread serves requests.
    served: bool,
    /// Threads whose reads were stopped, until their calls end. Requests of all threads are refused
    /// meanwhile.
    stopping: Vec<u64>,
    closed: bool,
}

/// Queue of one file object in one process.
#[derive(Default)]
struct Place {
    state: Mutex<State>,
    changed: Condvar,
}

/// Reasons why a request has no answer.
pub(crate) enum Refusal {
    /// The object raised an exception, or a handler of a signal did.
    Raised(PyErr),
    /// The wait was cancelled, because a read was stopped.
    GivenUp,
    /// The code of the object reads from the file that is read from the object.
    Inside,
}

impl From<PyErr> for Refusal {
    fn from(error: PyErr) -> Self {
        Self::Raised(error)
    }
}

/// A file object with its queue.
pub(crate) struct Reader {
    object: Py<PyAny>,
    places: ForkLocal<Arc<Place>>,
}

thread_local! {
    /// Whether this is Python's main thread, and in a call from Python.
    static IS_MAIN: Cell<bool> = const { Cell::new(false) };
    /// An exception of a signal handler or of the object that is to end the program. It is raised by this
    /// thread only.
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Takes the exception that ended the call of this thread.
pub(crate) fn raised() -> Option<PyErr> {
    RAISED.take()
}

/// Runs pending signal handlers if this is the main thread. Returns `false` after an exception, which ends
/// the call of this thread.
pub(crate) fn heard() -> bool {
    match Python::try_attach(|py| py.check_signals()) {
        Some(Err(error)) => {
            RAISED.set(Some(error));
            false
        }
        _ => true,
    }
}

/// Guard of a call from Python that may use the object.
pub(crate) struct Entered {
    reader: Arc<Reader>,
    was_main: bool,
}

impl Entered {
    pub(crate) fn new(py: Python<'_>, reader: &Arc<Reader>) -> PyResult<Self> {
        let was_main = IS_MAIN.replace(in_main_thread(py)?);
        Ok(Self { reader: Arc::clone(reader), was_main })
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        IS_MAIN.set(self.was_main);
        let me = thread_number();
        self.reader.places.get().lock().stopping.retain(|of| *of != me);
    }
}

impl Reader {
    pub(crate) fn new(object: Py<PyAny>) -> Self {
        Self { object, places: ForkLocal::new() }
    }

    /// Sends a request to the object and waits for the answer, after the requests of other threads.
    pub(crate) fn ask(&self, request: Request) -> Result<Answer, Refusal> {
        let place = self.places.get();
        let mut state = place.lock();
        if state.inside == thread_number() {
            return Err(Refusal::Inside);
        }
        while state.taken {
            state = place.wait(state)?;
        }
        if !state.stopping.is_empty() {
            return Err(Refusal::GivenUp);
        }
        state.taken = true;
        if IS_MAIN.get() {
            state.inside = thread_number();
            drop(state);
            let answer = Python::try_attach(|py| answer(py, self.object.bind(py), request));
            let mut state = place.lock();
            (state.taken, state.inside) = (false, 0);
            drop(state);
            place.changed.notify_all();
            return match answer.unwrap_or_else(shutting_down) {
                Err(error) if is_end(&error) => Err(place.ended(error)),
                answer => answer.map_err(Refusal::Raised),
            };
        }
        (state.asked, state.waiting) = (Some(request), true);
        let start = !std::mem::replace(&mut state.served, true);
        drop(state);
        place.changed.notify_all();
        if start && let Err(error) = self.start(place) {
            let mut state = place.lock();
            (state.served, state.taken, state.waiting, state.asked) = (false, false, false, None);
            drop(state);
            place.changed.notify_all();
            return Err(Refusal::Raised(error));
        }
        let mut state = place.lock();
        loop {
            if let Some(outcome) = state.answered.take() {
                (state.taken, state.waiting) = (false, false);
                drop(state);
                place.changed.notify_all();
                return outcome.map_err(Refusal::Raised);
            }
            state = place.wait(state).inspect_err(|_| place.leave())?;
        }
    }

    /// Checks for signals and cancellation while this thread waits for the read of another one.
    pub(crate) fn pause(&self) -> Result<(), Refusal> {
        self.places.get().pause()
    }

    /// Cancels the waits of all threads, until the call of this thread ends.
    pub(crate) fn give_up(&self) {
        self.places.get().give_up();
    }

    /// Whether this thread runs the object's code.
    pub(crate) fn is_inside(&self) -> bool {
        self.places.get().lock().inside == thread_number()
    }

    fn start(&self, place: &Arc<Place>) -> PyResult<()> {
        let started = Python::try_attach(|py| {
            let serve = py.import("forthwith._file_objects")?.getattr("serve")?;
            let desk = Desk(Arc::clone(place));
            let arguments = (self.object.bind(py), desk).into_pyobject(py)?;
            // A `threading.Thread` would wait in `start` until it runs; if the interpreter shuts down during
            // that wait, it would end this thread.
            py.import("_thread")?.call_method1("start_new_thread", (serve, arguments)).map(drop)
        });
        started.unwrap_or_else(shutting_down)
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let place = self.places.get();
        place.lock().closed = true;
        place.changed.notify_all();
    }
}

impl Place {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn give_up(&self) {
        self.lock().stopping.push(thread_number());
        self.changed.notify_all();
    }

    /// Stops waiting for an answer. The turn ends when the object has answered.
    fn leave(&self) {
        let mut state = self.lock();
        state.waiting = false;
        let answered = state.answered.take();
        state.taken &= answered.is_none();
        drop(state);
        drop(answered);
        self.changed.notify_all();
    }

    /// Waits for a change, at most [`PAUSE`], and checks whether to continue.
    fn wait<'a>(&'a self, state: MutexGuard<'a, State>) -> Result<MutexGuard<'a, State>, Refusal> {
        drop(self.changed.wait_timeout(state, PAUSE).unwrap_or_else(PoisonError::into_inner));
        self.pause()?;
        Ok(self.lock())
    }

    /// Stores an exception that ends the call of this thread, and cancels the waits of others.
    fn ended(&self, error: PyErr) -> Refusal {
        self.give_up();
        RAISED.set(Some(error));
        Refusal::GivenUp
    }

    fn pause(&self) -> Result<(), Refusal> {
        if IS_MAIN.get()
            && let Some(Err(error)) = Python::try_attach(|py| py.check_signals())
        {
            return Err(self.ended(error));
        }
        if self.lock().stopping.is_empty() { Ok(()) } else { Err(Refusal::GivenUp) }
    }
}

/// Whether an exception is to end the program, such as `KeyboardInterrupt`.
fn is_end(error: &PyErr) -> bool {
    Python::try_attach(|py| !error.is_instance_of::<pyo3::exceptions::PyException>(py)).unwrap_or(true)
}

fn shutting_down<T>() -> PyResult<T> {
    Err(PyRuntimeError::new_err("the interpreter is shutting down"))
}

fn answer(py: Python<'_>, object: &Bound<'_, PyAny>, request: Request) -> Outcome {
    let module = py.import("forthwith._file_objects")?;
    let said = match request {
        Request::Size => module.call_method1("size", (object,)),
        Request::Read { at, count } => module.call_method1("read_at", (object, at, count)),
    };
    taken(&said?)
}

/// Converts a return value of Python code to an answer.
fn taken(said: &Bound<'_, PyAny>) -> Outcome {
    match said.cast::<PyBytes>() {
        Ok(data) => Ok(Answer::Bytes(data.as_bytes().to_vec())),
        Err(_) => said.extract().map(Answer::Size),
    }
}

/// The queue, for the Python thread that serves it.
#[pyclass(frozen, module = "forthwith._forthwith")]
pub(crate) struct Desk(Arc<Place>);

#[pymethods]
impl Desk {
    /// Waits for the next request: position and number of bytes, or `None` for the number if the size is
    /// requested. Returns `None` when the thread is to end.
    fn next<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let request = py.detach(|| {
            let mut state = self.0.lock();
            loop {
                if let Some(request) = state.asked {
                    state.inside = thread_number();
                    return Some(request);
                }
                if !state.closed {
                    let (after, waited) =
                        self.0.changed.wait_timeout(state, IDLE).unwrap_or_else(PoisonError::into_inner);
                    state = after;
                    if state.asked.is_some() || !(waited.timed_out() || state.closed) {
                        continue;
                    }
                }
                state.served = false;
                return None;
            }
        });
        match request {
            None => Ok(None),
            Some(Request::Size) => Ok(Some((0, py.None()).into_pyobject(py)?)),
            Some(Request::Read { at, count }) => Ok(Some((at, count).into_pyobject(py)?)),
        }
    }

    fn answered(&self, py: Python<'_>, said: &Bound<'_, PyAny>) {
        let outcome = taken(said);
        py.detach(|| self.done(outcome));
    }

    fn failed(&self, py: Python<'_>, error: &Bound<'_, PyAny>) {
        let error = match error.is_instance_of::<pyo3::exceptions::PyBaseException>() {
            true => PyErr::from_value(error.clone()),
            false => PyTypeError::new_err("no exception"),
        };
        py.detach(|| self.done(Err(error)));
    }
}

impl Desk {
    fn done(&self, outcome: Outcome) {
        let mut state = self.0.lock();
        (state.asked, state.inside) = (None, 0);
        let last = if state.waiting { state.answered.replace(outcome) } else { Some(outcome) };
        state.taken &= state.waiting;
        drop(state);
        drop(last);
        self.0.changed.notify_all();
    }
}
