//! A lock for the state of a machine, which is used by one caller at a time.

use crate::{
    forth::inputs::Inputs,
    taken::{Taken, TakenFrom},
};
use forthwith::forth::{Location, Machine, RunError, Status, W32, W64};
use pyo3::{exceptions::PyRuntimeError, prelude::*};
use std::sync::{Arc, Mutex, PoisonError, atomic::AtomicBool};

/// A machine of either width.
pub(crate) enum Either {
    Narrow(Machine<W32>),
    Wide(Machine<W64>),
}

/// Evaluates an expression with a machine of either width.
macro_rules! each {
    ($either:expr, $machine:ident => $body:expr) => {
        match $either {
            $crate::forth::slot::Either::Narrow($machine) => $body,
            $crate::forth::slot::Either::Wide($machine) => $body,
        }
    };
}
pub(crate) use each;

/// A machine and its inputs.
pub(crate) struct State {
    pub(crate) machine: Either,
    pub(crate) inputs: Inputs,
    /// Total time of the runs.
    pub(crate) nanoseconds: u64,
}

/// How to continue a program.
#[derive(Clone, Copy)]
pub(crate) enum Way<'a> {
    Resume,
    Step,
    Call(&'a str),
}

/// Result of a run; an error has the location in the source, if known.
pub(crate) type Ran = Result<Status, (RunError, Option<Location>)>;

impl State {
    /// Sets the flag that interrupts runs of the machine.
    pub(crate) fn watch(&mut self, flag: Arc<AtomicBool>) {
        each!(&mut self.machine, machine => machine.set_interrupt(Some(flag)));
    }

    pub(crate) fn go(&mut self, way: Way<'_>) -> Ran {
        let began = forthwith_platform::Instant::now();
        let inputs = self.inputs.slices();
        let result = each!(&mut self.machine, machine => match way {
            Way::Resume => machine.resume(&inputs),
            Way::Step => machine.step(&inputs),
            Way::Call(word) => machine.call(word, &inputs),
        });
        self.nanoseconds += u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        // `NotReady` and `IsDone` are not errors of an instruction, though an earlier error may have a
        // location.
        let of_program = |error| !matches!(error, RunError::NotReady | RunError::IsDone);
        result.map_err(|error| {
            let location = each!(&self.machine, machine => machine.error_location());
            (error, location.filter(|_| of_program(error)))
        })
    }
}

/// Holds the state. A run takes it out, so that no lock is held while Python may be called; calls meanwhile
/// return an error.
pub(crate) struct Slot(Mutex<Option<Box<State>>>);

impl Slot {
    pub(crate) fn new(state: State) -> Self {
        Self(Mutex::new(Some(Box::new(state))))
    }

    /// Calls `f` with the lock held; `f` must not call Python. Returns an error during a run.
    pub(crate) fn with<T>(&self, f: impl FnOnce(&mut State) -> T) -> PyResult<T> {
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        slot.as_mut().map(|state| f(state)).ok_or_else(busy)
    }

    /// Takes the state until the guard is dropped. Returns an error during a run.
    pub(crate) fn take(&self) -> PyResult<Taken<'_, State, Self>> {
        let state = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        Ok(Taken::new(self, state.ok_or_else(busy)?))
    }
}

impl TakenFrom<State> for Slot {
    fn give_back(&self, state: Option<Box<State>>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = state;
    }
}

fn busy() -> PyErr {
    PyRuntimeError::new_err(
        "the machine is running, in another thread or around what it prints; a machine does one thing at a time",
    )
}
