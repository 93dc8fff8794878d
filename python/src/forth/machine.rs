//! A machine as a Python class. Flags, defaults and NumPy conversions are in `forthwith.forth`.

use crate::{
    errors,
    forth::{
        inputs::Inputs,
        items::Items,
        slot::{Either, Ran, Slot, State, Way, each},
        ticker::Watched,
    },
};
use forthwith::forth::{self, Compiled, Limits, LiteralWidth, Options, Output, Programs, RunError, Tier};
use forthwith_builders::{Arrangement, Form, Written};
use pyo3::{
    exceptions::{PyRuntimeError, PyTypeError, PyValueError},
    prelude::*,
    types::PyDict,
};
use std::sync::{Arc, Mutex, PoisonError};

/// The first exception of `sys.stdout` during a run.
type Spilled = Arc<Mutex<Option<PyErr>>>;
/// A Form as JSON, the number of rows, and for each buffer of the Form the name of its output.
type ArrayParts<'a> = (String, u64, Vec<(String, &'a str)>);

/// A machine of 32 or 64 bits. Several threads may hold it; one at a time may run it.
#[pyclass(frozen, module = "forthwith._forthwith")]
pub(crate) struct Machine {
    compiled: Arc<Compiled>,
    bits: u32,
    initial_items: usize,
    resize_factor: f64,
    slot: Slot,
    spilled: Spilled,
}

impl Machine {
    fn new_outputs(&self) -> Vec<Output> {
        let declared = self.compiled.outputs();
        declared
            .iter()
            .map(|output| Output::growing(output.dtype, self.initial_items, self.resize_factor))
            .collect()
    }

    /// Moves to the first instruction, and exchanges the inputs for others. The caller drops the old ones
    /// without the lock, because releasing them may call Python.
    fn start(&self, state: &mut State, inputs: &mut Inputs) -> Result<(), RunError> {
        let outputs = self.new_outputs();
        each!(&mut state.machine, machine => machine.begin_with(outputs))?;
        std::mem::swap(&mut state.inputs, inputs);
        Ok(())
    }

    /// Runs without the interpreter. Returns the exception for an error of the program that callers may have
    /// returned by name; other errors are raised.
    fn go<'py>(
        &self,
        py: Python<'py>,
        mut inputs: Option<Inputs>,
        way: Way<'_>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let mut state = self.slot.take()?;
        if let Some(inputs) = &mut inputs {
            self.start(&mut state, inputs).map_err(|error| errors::run(py, error, None))?;
        }
        let result = self.run_watched(py, &mut state, way);
        drop(state);
        drop(inputs);
        if let Some(exception) = self.spilled.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Err(exception);
        }
        match result? {
            Ok(_) => Ok(None),
            Err((error, location)) => {
                let exception = errors::run(py, error, location.as_ref());
                if errors::can_be_silenced(error) {
                    Ok(Some(exception.into_value(py).into_bound(py).into_any()))
                } else {
                    Err(exception)
                }
            }
        }
    }

    /// Runs without the interpreter, with interruptions in which Python handles signals. An exception of a
    /// handler ends the run; the machine keeps its position, so that `resume` continues.
    fn run_watched(&self, py: Python<'_>, state: &mut State, mut way: Way<'_>) -> PyResult<Ran> {
        if matches!(way, Way::Step) {
            return Ok(state.go(way));
        }
        let watched = Watched::new(py)?;
        state.watch(watched.flag());
        loop {
            let taken: &mut State = state;
            let result = py.detach(move || taken.go(way));
            if !matches!(result, Err((RunError::Interrupted, _))) {
                return Ok(result);
            }
            watched.look(py)?;
            way = Way::Resume;
        }
    }

    fn position_of(&self, name: &str) -> Option<usize> {
        self.compiled.inputs().iter().position(|known| known == name)
    }
}

#[pymethods]
impl Machine {
    #[new]
    #[pyo3(signature = (source, bits, stack_size, recursion_depth, string_buffer_size, output_initial_size,
        output_resize_factor, tier=None, output_limit=None, literal_width=32))]
    // One argument for each keyword of the Python constructor.
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        source: &str,
        bits: u32,
        stack_size: i64,
        recursion_depth: i64,
        string_buffer_size: i64,
        output_initial_size: i64,
        output_resize_factor: f64,
        tier: Option<u8>,
        output_limit: Option<usize>,
        literal_width: u32,
    ) -> PyResult<Self> {
        let mut limits = Limits::default();
        limits.stack = size(py, "stack_size", stack_size, 0)?;
        limits.recursion = size(py, "recursion_depth", recursion_depth, 1)?;
        limits.string = size(py, "string_buffer_size", string_buffer_size, 0)?;
        limits.output_bytes = output_limit;
        let initial_items = size(py, "output_initial_size", output_initial_size, 0)?;
        if !(output_resize_factor.is_finite() && output_resize_factor > 0.0) {
            return Err(errors::request(py, "output_resize_factor is a positive number".to_owned()));
        }
        let forced = match tier {
            None => Tier::of_environment().map_err(|text| {
                errors::request(py, format!("FORTHWITH_TIER is {text}; it may be 0, 1 or 2"))
            })?,
            Some(0) => Some(Tier::Checked),
            Some(1) => Some(Tier::Fused),
            Some(2) => Some(Tier::Compiled),
            Some(tier) => return Err(errors::request(py, format!("there is no tier {tier}"))),
        };
        let literals = match literal_width {
            32 => LiteralWidth::Bits32,
            64 => LiteralWidth::Bits64,
            _ => return Err(errors::request(py, "literal_width is 32 or 64".to_owned())),
        };
        let options = Options::default().literal_width(literals);
        // Programs are cached for the process, as code often creates a machine for each thread or file.
        let compiled = py
            .detach(|| Programs::of_process().get_with(source, options))
            .map_err(|error| errors::compile(py, &error))?;
        let spilled = Spilled::default();
        let mut machine = if bits == 32 {
            Either::Narrow(forth::Machine::new32(Arc::clone(&compiled), limits))
        } else {
            Either::Wide(forth::Machine::new(Arc::clone(&compiled), limits))
        };
        each!(&mut machine, machine => {
            machine.force_tier(forced);
            machine.set_printer(Some(printer(Arc::clone(&spilled))));
        });
        let slot = Slot::new(State { machine, inputs: Inputs::default(), nanoseconds: 0 });
        Ok(Self { compiled, bits, initial_items, resize_factor: output_resize_factor, slot, spilled })
    }

    // ---- the program

    #[getter]
    fn source(&self) -> &str {
        self.compiled.source()
    }

    #[getter]
    fn bytecodes(&self) -> Vec<i32> {
        self.compiled.bytecodes().to_vec()
    }

    #[getter]
    fn bytecodes_offsets(&self) -> Vec<i64> {
        self.compiled.bytecodes_offsets().to_vec()
    }

    #[getter]
    fn decompiled(&self) -> String {
        self.compiled.decompiled()
    }

    #[getter]
    fn dictionary(&self) -> Vec<&str> {
        self.compiled.dictionary()
    }

    #[getter]
    fn cut_literals(&self) -> Vec<(usize, usize)> {
        self.compiled.cut_literals()
    }

    fn explain(&self) -> String {
        self.compiled.explain()
    }

    fn word(&self, name: &str) -> Option<Vec<i32>> {
        self.compiled.word_bytecodes(name).map(<[i32]>::to_vec)
    }

    fn string_at(&self, number: i64) -> Option<&str> {
        let number = usize::try_from(number).ok()?;
        self.compiled.strings().get(number).map(String::as_str)
    }

    fn is_variable(&self, name: &str) -> bool {
        self.compiled.variables().iter().any(|known| known == name)
    }

    fn is_input(&self, name: &str) -> bool {
        self.position_of(name).is_some()
    }

    fn is_output(&self, name: &str) -> bool {
        self.compiled.outputs().iter().any(|known| known.name == name)
    }

    fn is_defined(&self, name: &str) -> bool {
        self.compiled.word_bytecodes(name).is_some()
    }

    // ---- driving it

    #[pyo3(signature = (inputs=None))]
    fn begin(&self, py: Python<'_>, inputs: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let mut inputs = Inputs::gather(&self.compiled, inputs)?;
        let begun = self.slot.with(|state| self.start(state, &mut inputs))?;
        drop(inputs);
        begun.map_err(|error| errors::run(py, error, None))
    }

    #[pyo3(signature = (inputs, reset_instruction=true, clear_error=false))]
    fn begin_again(
        &self,
        py: Python<'_>,
        inputs: Option<&Bound<'_, PyAny>>,
        reset_instruction: bool,
        clear_error: bool,
    ) -> PyResult<()> {
        let mut inputs = Inputs::gather(&self.compiled, inputs)?;
        let begun = self.slot.with(|state| {
            each!(&mut state.machine, machine => {
                if clear_error {
                    machine.clear_error();
                }
                machine.begin_again(reset_instruction)
            })?;
            std::mem::swap(&mut state.inputs, &mut inputs);
            Ok(())
        })?;
        // May call Python, so the lock must not be held.
        drop(inputs);
        begun.map_err(|error| match error {
            RunError::NotReady => errors::request(
                py,
                "'begin' not called on the AwkwardForth machine, 'begin_again' invalid".to_owned(),
            ),
            _ => errors::run(py, error, None),
        })
    }

    fn reset(&self) -> PyResult<()> {
        let released = self.slot.with(|state| {
            each!(&mut state.machine, machine => machine.reset());
            std::mem::take(&mut state.inputs)
        })?;
        drop(released);
        Ok(())
    }

    #[pyo3(signature = (inputs=None))]
    fn run<'py>(
        &self,
        py: Python<'py>,
        inputs: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.go(py, Some(Inputs::gather(&self.compiled, inputs)?), Way::Resume)
    }

    fn resume<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.go(py, None, Way::Resume)
    }

    fn step<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.go(py, None, Way::Step)
    }

    fn call<'py>(&self, py: Python<'py>, word: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        if !self.is_defined(word) {
            return Err(PyRuntimeError::new_err(format!("AwkwardForth unrecognized word: {word}")));
        }
        self.go(py, None, Way::Call(word))
    }

    fn stack_push(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let fits = |value: i64| self.bits == 64 || i32::try_from(value).is_ok();
        let value = value.extract::<i64>().ok().filter(|&value| fits(value));
        let Some(value) = value else {
            return Err(PyTypeError::new_err(format!("a stack item is an integer of {} bits", self.bits)));
        };
        let pushed = self.slot.with(|state| each!(&mut state.machine, machine => machine.push(value)))?;
        pushed.map_err(|_| errors::request(py, "AwkwardForth stack overflow".to_owned()))
    }

    fn stack_pop(&self, py: Python<'_>) -> PyResult<i64> {
        let popped = self.slot.with(|state| each!(&mut state.machine, machine => machine.pop()))?;
        popped.map_err(|_| errors::request(py, "AwkwardForth stack underflow".to_owned()))
    }

    fn stack_clear(&self) -> PyResult<()> {
        self.slot.with(|state| each!(&mut state.machine, machine => machine.clear_stack()))
    }

    // ---- looking at it

    #[getter]
    fn stack(&self) -> PyResult<Vec<i64>> {
        self.slot.with(|state| each!(&state.machine, machine => machine.stack().to_vec()))
    }

    #[getter]
    fn variables<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let values =
            self.slot.with(|state| each!(&state.machine, machine => machine.variables().to_vec()))?;
        let variables = PyDict::new(py);
        for (name, value) in self.compiled.variables().iter().zip(values) {
            variables.set_item(name, value)?;
        }
        Ok(variables)
    }

    fn variable(&self, name: &str) -> PyResult<Option<i64>> {
        let at = self.compiled.variables().iter().position(|known| known == name);
        self.slot.with(|state| each!(&state.machine, machine => at.map(|at| machine.variables()[at])))
    }

    /// Returns all outputs; `None` before `begin`.
    fn outputs(&self) -> PyResult<Option<Vec<(&str, Items)>>> {
        let leases = self.slot.with(|state| {
            each!(&state.machine, machine => machine.outputs().iter().map(Output::lease).collect::<Option<Vec<_>>>())
        })?;
        let declared = self.compiled.outputs();
        let leases = leases.filter(|leases| leases.len() == declared.len());
        Ok(leases.map(|leases| {
            declared.iter().zip(leases).map(|(output, lease)| (output.name.as_str(), Items(lease))).collect()
        }))
    }

    fn output(&self, name: &str) -> PyResult<Option<Items>> {
        let Some(at) = self.compiled.outputs().iter().position(|known| known.name == name) else {
            return Ok(None);
        };
        let lease = self.slot.with(
            |state| each!(&state.machine, machine => machine.outputs().get(at).and_then(Output::lease)),
        )?;
        Ok(lease.map(Items))
    }

    /// Returns the outputs as the buffers of a type: the Form as JSON, the number of rows, and the output of
    /// each buffer.
    fn bind(&self, py: Python<'_>, description: &str) -> PyResult<ArrayParts<'_>> {
        let form = Form::parse(description).map_err(|error| errors::request(py, error.to_string()))?;
        let declared = self.compiled.outputs();
        let bound = self.slot.with(|state| {
            let outputs = each!(&state.machine, machine => machine.outputs());
            if outputs.len() != declared.len() {
                return None;
            }
            let named: Vec<_> =
                declared.iter().zip(outputs).map(|(known, output)| (known.name.as_str(), output)).collect();
            let written: Vec<_> = named.iter().map(|(name, output)| Written::of(name, output)).collect();
            let bound = Arrangement::new(&form, &written);
            Some(bound.and_then(|bound| bound.check(&named).map(|()| bound)))
        })?;
        let nothing = || errors::request(py, "there are no outputs: nothing was begun".to_owned());
        let bound = bound.ok_or_else(nothing)?.map_err(|error| errors::request(py, error.to_string()))?;
        let name = |at: usize| declared[at].name.as_str();
        let buffers = bound.buffers.into_iter().map(|(key, at)| (key, name(at))).collect();
        Ok((bound.form.to_json(), bound.length, buffers))
    }

    /// Describes inputs, outputs and position in one line.
    fn describe(&self) -> PyResult<String> {
        let mut parts = Vec::new();
        if !self.compiled.inputs().is_empty() {
            parts.push(format!("input {}", self.compiled.inputs().join(", ")));
        }
        if !self.compiled.outputs().is_empty() {
            let outputs = self.compiled.outputs().iter();
            let outputs: Vec<String> =
                outputs.map(|output| format!("{} {}", output.name, output.dtype)).collect();
            parts.push(format!("output {}", outputs.join(", ")));
        }
        let place = self.slot.with(|state| {
            each!(&state.machine, machine => {
                let location = |at| self.compiled.location(at);
                match (machine.error(), machine.error_location(), machine.bytecode_position()) {
                    (Some(error), Some(at), _) => format!("{} at line {} col {}", error.name(), at.line, at.column),
                    (Some(error), None, _) => error.name().to_owned(),
                    _ if !machine.is_ready() => "not begun".to_owned(),
                    _ if machine.is_done() => "done".to_owned(),
                    (None, _, Some(at)) => {
                        let at = location(at);
                        format!("at {}, line {} col {}", at.instruction, at.line, at.column)
                    }
                    (None, _, None) => "at the end of a body".to_owned(),
                }
            })
        });
        parts.push(place.unwrap_or_else(|_| "running".to_owned()));
        Ok(parts.join("; "))
    }

    fn input_position(&self, name: &str) -> PyResult<Option<usize>> {
        let Some(at) = self.position_of(name) else { return Ok(None) };
        self.slot.with(|state| {
            (!state.inputs.is_empty()).then(|| each!(&state.machine, machine => machine.position(at)))
        })
    }

    #[getter]
    fn is_ready(&self) -> PyResult<bool> {
        self.slot.with(|state| each!(&state.machine, machine => machine.is_ready()))
    }

    #[getter]
    fn is_done(&self) -> PyResult<bool> {
        self.slot.with(|state| each!(&state.machine, machine => machine.is_done()))
    }

    #[getter]
    fn is_segment_done(&self) -> PyResult<bool> {
        self.slot
            .with(|state| each!(&state.machine, machine => machine.is_done() || machine.is_segment_done()))
    }

    #[getter]
    fn current_bytecode_position(&self) -> PyResult<Option<usize>> {
        self.slot.with(|state| each!(&state.machine, machine => machine.bytecode_position()))
    }

    #[getter]
    fn current_recursion_depth(&self) -> PyResult<Option<usize>> {
        self.slot.with(|state| each!(&state.machine, machine => machine.recursion_depth()))
    }

    #[getter]
    fn current_instruction(&self) -> PyResult<String> {
        let at = self.current_bytecode_position()?;
        at.and_then(|at| self.compiled.instruction(at))
            .ok_or_else(|| PyValueError::new_err(RunError::IsDone.to_string()))
    }

    /// Returns counts of instructions, reads and writes, nanoseconds, and whether the first three are exact.
    #[getter]
    fn counters(&self) -> PyResult<(u64, u64, u64, u64, bool)> {
        self.slot.with(|state| {
            let (counters, exact) =
                each!(&state.machine, machine => (machine.counters(), machine.counters_exact()));
            (counters.instructions, counters.reads, counters.writes, state.nanoseconds, exact)
        })
    }

    fn count_reset(&self) -> PyResult<()> {
        self.slot.with(|state| {
            each!(&mut state.machine, machine => machine.reset_counters());
            state.nanoseconds = 0;
        })
    }
}

fn size(py: Python<'_>, name: &str, value: i64, least: usize) -> PyResult<usize> {
    usize::try_from(value)
        .ok()
        .filter(|&value| value >= least)
        .ok_or_else(|| errors::request(py, format!("{name} is at least {least}, not {value}")))
}

/// Returns a printer to the current `sys.stdout`.
fn printer(spilled: Spilled) -> forth::Printer {
    Box::new(move |text| {
        Python::attach(|py| {
            let failed = spilled.lock().unwrap_or_else(PoisonError::into_inner).is_some();
            if !failed && let Err(exception) = print(py, text) {
                spilled.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(exception);
            }
        });
    })
}

fn print(py: Python<'_>, text: &str) -> PyResult<()> {
    let stdout = py.import("sys")?.getattr("stdout")?;
    if !stdout.is_none() {
        stdout.call_method1("write", (text,))?;
    }
    Ok(())
}
