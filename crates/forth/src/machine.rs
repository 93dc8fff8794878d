//! The machine: a program and its state, driven by a host.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::compiled::Compiled;
use crate::error::{Location, RunError};
use crate::lower::ir::Variant;
use crate::output::{Output, Outputs};
use crate::state::{Counters, Frame, FrameKind, Limits, Printer, State, Status, Tier, W32, W64, Width};

/// A machine that runs one program. See the crate documentation for how to drive it.
pub struct Machine<W: Width = W64> {
    pub(crate) compiled: Arc<Compiled>,
    pub(crate) state: State,
    ready: bool,
    error: Option<(RunError, usize)>,
    width: std::marker::PhantomData<W>,
}

impl Machine {
    /// Creates a machine with 64-bit items.
    pub fn new(compiled: Arc<Compiled>, limits: Limits) -> Self {
        Self::with_width(compiled, limits)
    }
}

impl Machine<W32> {
    /// Creates a machine with 32-bit items.
    pub fn new32(compiled: Arc<Compiled>, limits: Limits) -> Self {
        Self::with_width(compiled, limits)
    }
}

impl<W: Width> Machine<W> {
    /// Creates a machine whose items have the width `W`.
    pub fn with_width(compiled: Arc<Compiled>, limits: Limits) -> Self {
        Self {
            state: State::new(limits, compiled.variables().len(), compiled.inputs().len()),
            compiled,
            ready: false,
            error: None,
            width: std::marker::PhantomData,
        }
    }

    /// Clears the state, creates new outputs and moves to the first instruction of the main program.
    pub fn begin(&mut self) {
        let outputs = self.compiled.outputs().iter().map(|output| Output::owned(output.dtype)).collect();
        self.begin_unchecked(outputs);
    }

    /// Clears the state as [`Self::begin`] does, and writes to outputs of the caller, in the order of the
    /// declarations.
    ///
    /// # Errors
    /// Returns [`RunError::OutputMismatch`] if their number or their dtypes differ from the declarations.
    pub fn begin_with(&mut self, outputs: Vec<Output>) -> Result<(), RunError> {
        let declared = self.compiled.outputs();
        let fits = outputs.len() == declared.len()
            && outputs.iter().zip(declared).all(|(output, declared)| output.dtype() == declared.dtype);
        if !fits {
            return Err(RunError::OutputMismatch);
        }
        self.begin_unchecked(outputs);
        Ok(())
    }

    /// Continues with new inputs, whose positions are 0, and keeps stack, variables and outputs. With
    /// `restart`, the main program starts again on top of any pending run.
    ///
    /// # Errors
    /// Returns the error that stopped the machine, [`RunError::NotReady`], or
    /// [`RunError::RecursionDepthExceeded`].
    pub fn begin_again(&mut self, restart: bool) -> Result<(), RunError> {
        self.check_ready()?;
        if restart {
            self.unpark();
            // A pending run goes on as the same run.
            let kind = if self.is_done() { FrameKind::Host } else { FrameKind::Word };
            self.enter_anew(0, kind)?;
        }
        self.state.positions.fill(0);
        Ok(())
    }

    /// Discards the state except for limits, counters and the settings of the host; `begin` has to be called
    /// next.
    pub fn reset(&mut self) {
        self.begin_unchecked(Vec::new());
        self.state.frames.clear();
        self.ready = false;
    }

    /// Clears an error, so that a ready machine can continue after the failing instruction.
    pub fn clear_error(&mut self) {
        self.error = None;
    }

    /// Calls [`Self::begin`], then [`Self::resume`].
    pub fn run(&mut self, inputs: &[&[u8]]) -> Result<Status, RunError> {
        self.begin();
        self.resume(inputs)
    }

    /// Runs until the end, a `pause` or an error. Inputs are in the order of their declarations.
    pub fn resume(&mut self, inputs: &[&[u8]]) -> Result<Status, RunError> {
        self.check_running(inputs)?;
        self.execute(inputs, false)
    }

    /// Runs one instruction, in the checked tier.
    pub fn step(&mut self, inputs: &[&[u8]]) -> Result<Status, RunError> {
        self.check_running(inputs)?;
        let forced = self.state.forced.replace(Tier::Checked);
        let result = self.execute(inputs, true);
        self.state.forced = forced;
        result
    }

    /// Leaves the bodies that are at their end, which is the first thing that the next `step` would do.
    /// [`Self::bytecode_position`] then is the position of the next instruction, as a debugger shows it.
    pub fn settle(&mut self, inputs: &[&[u8]]) -> Result<Status, RunError> {
        self.check_running(inputs)?;
        self.unpark();
        let forced = self.state.forced.replace(Tier::Checked);
        let result = self.leave_ended(inputs);
        self.state.forced = forced;
        match result {
            Ok(over) => Ok(if over { Status::Done } else { Status::Paused }),
            Err((error, at)) => {
                self.error = Some((error, at));
                Err(error)
            }
        }
    }

    /// Runs a user word on top of any pending run, until its end, a `pause` or an error.
    pub fn call(&mut self, word: &str, inputs: &[&[u8]]) -> Result<Status, RunError> {
        let segment = self.compiled.word_segment(word).ok_or(RunError::UnknownWord)?;
        self.check_ready()?;
        self.check_inputs(inputs)?;
        self.unpark();
        self.enter_anew(segment, FrameKind::Host)?;
        self.execute(inputs, false)
    }

    /// Pushes a number onto the stack, wrapped to the width.
    ///
    /// # Errors
    /// Returns [`RunError::StackOverflow`] if the stack is full.
    pub fn push(&mut self, value: i64) -> Result<(), RunError> {
        if self.state.stack.len() >= self.state.limits.stack {
            return Err(RunError::StackOverflow);
        }
        self.state.stack.push(W::wrap(value));
        Ok(())
    }

    /// Pops a number from the stack.
    ///
    /// # Errors
    /// Returns [`RunError::StackUnderflow`] if the stack is empty.
    pub fn pop(&mut self) -> Result<i64, RunError> {
        self.state.stack.pop().ok_or(RunError::StackUnderflow)
    }

    /// Empties the stack.
    pub fn clear_stack(&mut self) {
        self.state.stack.clear();
    }

    /// Sets the position in an input, in bytes. It is compared with the length of the input at the next
    /// `resume`. An unknown input is ignored.
    pub fn set_position(&mut self, input: usize, position: usize) {
        if let Some(slot) = self.state.positions.get_mut(input) {
            *slot = position;
        }
    }

    /// Sets a variable to a number, wrapped to the width. An unknown variable is ignored.
    pub fn set_variable(&mut self, variable: usize, value: i64) {
        if let Some(slot) = self.state.variables.get_mut(variable) {
            *slot = W::wrap(value);
        }
    }

    /// Sets the tier; `None` leaves the choice to the environment and then to the machine.
    pub fn force_tier(&mut self, tier: Option<Tier>) {
        self.state.forced = tier.or_else(Tier::chosen);
    }

    /// Sets all counters to zero.
    pub fn reset_counters(&mut self) {
        self.state.counters = Counters::default();
        self.state.native = false;
    }

    /// Sets the callback for printed text; without one, which is the default, the text is discarded.
    pub fn set_printer(&mut self, printer: Option<Printer>) {
        self.state.printer = printer;
    }

    /// Sets the flag with which another thread interrupts a run. While it is set, [`Self::resume`],
    /// [`Self::run`] and [`Self::call`] return [`RunError::Interrupted`] at the next pass of a loop or call
    /// of a word, and the next `resume` continues from that instruction.
    ///
    /// A single word is not interrupted, however many items it moves. Without a flag, which is the default,
    /// loops do not poll.
    pub fn set_interrupt(&mut self, flag: Option<Arc<AtomicBool>>) {
        if self.state.interrupt.is_some() != flag.is_some() {
            // The parked position refers to the code of the other variant.
            self.unpark();
        }
        self.state.interrupt = flag;
    }

    /// Takes the outputs, in the order of the declarations. The machine then has to `begin` again.
    pub fn take_outputs(&mut self) -> Vec<Output> {
        self.state.frames.clear();
        self.state.parked = None;
        self.ready = false;
        std::mem::take(&mut self.state.outputs.list)
    }

    /// Returns the program.
    pub fn compiled(&self) -> &Arc<Compiled> {
        &self.compiled
    }

    /// Returns the limits that the machine was created with.
    pub fn limits(&self) -> Limits {
        self.state.limits
    }

    /// Returns the stack, top last.
    pub fn stack(&self) -> &[i64] {
        &self.state.stack
    }

    /// Returns the values of the variables, in the order of their declarations.
    pub fn variables(&self) -> &[i64] {
        &self.state.variables
    }

    /// Returns the position in an input, in bytes; 0 for an unknown input.
    pub fn position(&self, input: usize) -> usize {
        self.state.positions.get(input).copied().unwrap_or(0)
    }

    /// Returns the outputs, in the order of their declarations; the slice is empty before `begin`.
    pub fn outputs(&self) -> &[Output] {
        &self.state.outputs.list
    }

    /// Returns the index of the outermost `do` loop that is running (or was, when an error occurred): the
    /// entry number.
    pub fn outer_index(&self) -> Option<i64> {
        self.outermost()
    }

    /// Returns index and limit of every running `do` loop, outermost first.
    pub fn loops(&self) -> impl DoubleEndedIterator<Item = (i64, i64)> + ExactSizeIterator + '_ {
        self.running().into_iter()
    }

    /// Returns the counts of executed words.
    pub fn counters(&self) -> Counters {
        self.state.counters
    }

    /// Whether the counters include everything since they were reset: native code does not count. In
    /// [`Tier::Checked`] they always are exact.
    pub fn counters_exact(&self) -> bool {
        !self.state.native
    }

    /// Whether a run was begun and did not end in `halt`.
    pub fn is_ready(&self) -> bool {
        self.ready
    }

    /// Whether no run is pending.
    pub fn is_done(&self) -> bool {
        self.state.frames.is_empty()
    }

    /// Whether the running segment is at its end.
    pub fn is_segment_done(&self) -> bool {
        self.bytecode_position().is_none()
    }

    /// Returns the bytecode position of the next instruction; `None` at the end of a segment or when done.
    pub fn bytecode_position(&self) -> Option<usize> {
        let (pc, end) = match self.body_at_end() {
            // The position of a loop is its own operand, from which it starts the next pass.
            Some(frame) if matches!(frame.kind, FrameKind::Loop | FrameKind::StepLoop) => {
                (frame.pc - 1, frame.end)
            }
            Some(frame) => (frame.pc, frame.end),
            None => self.place(),
        };
        (!self.is_done() && pc < end).then_some(pc)
    }

    /// Returns the number of entries of the return stack above the call by the host (1 in the main program);
    /// `None` when done.
    pub fn recursion_depth(&self) -> Option<usize> {
        Some(self.depth()? - usize::from(self.body_at_end().is_some()))
    }

    /// Returns the frame of the body whose end the run has reached, other than by an error: such a body
    /// counts as left.
    fn body_at_end(&self) -> Option<Frame> {
        let (pc, end) = self.place();
        let at_end = pc >= end && self.error.is_none();
        self.innermost().filter(|frame| at_end && frame.kind != FrameKind::Host)
    }

    /// Returns the error that stopped the machine, until `begin` or `clear_error`.
    pub fn error(&self) -> Option<RunError> {
        self.error.map(|(error, _)| error)
    }

    /// Returns the location of the error that stopped the machine.
    pub fn error_location(&self) -> Option<Location> {
        self.error.map(|(_, at)| self.compiled.location(at))
    }

    fn begin_unchecked(&mut self, outputs: Vec<Output>) {
        self.state.stack.clear();
        self.state.variables.fill(0);
        self.state.positions.fill(0);
        self.state.outputs = Outputs::new(outputs, self.state.limits.output_bytes);
        self.state.frames.clear();
        self.state.loops.clear();
        self.state.parked = None;
        self.error = None;
        self.ready = true;
        (self.state.pc, self.state.end) = self.compiled.segment(0);
        self.state.frames.push(Frame {
            kind: FrameKind::Host,
            pc: self.state.end,
            end: self.state.end,
            loops: 0,
        });
    }

    /// Enters a segment on top of any pending run.
    fn enter_anew(&mut self, segment: usize, kind: FrameKind) -> Result<(), RunError> {
        if self.state.frames.len() >= self.state.limits.recursion {
            return Err(RunError::RecursionDepthExceeded);
        }
        let loops = if self.state.frames.is_empty() { 0 } else { self.state.loops.len() };
        self.state.loops.truncate(loops);
        self.state.frames.push(Frame { kind, pc: self.state.pc, end: self.state.end, loops });
        (self.state.pc, self.state.end) = self.compiled.segment(segment);
        Ok(())
    }

    fn check_ready(&self) -> Result<(), RunError> {
        match self.error {
            Some((error, _)) => Err(error),
            None if !self.ready => Err(RunError::NotReady),
            None => Ok(()),
        }
    }

    fn check_running(&self, inputs: &[&[u8]]) -> Result<(), RunError> {
        // After `halt` the machine is not ready, which takes precedence over the error of the halt.
        if !self.ready {
            return Err(RunError::NotReady);
        }
        self.check_ready()?;
        if self.is_done() {
            return Err(RunError::IsDone);
        }
        self.check_inputs(inputs)
    }

    fn check_inputs(&self, inputs: &[&[u8]]) -> Result<(), RunError> {
        let fits = inputs.len() == self.state.positions.len()
            && inputs.iter().zip(&self.state.positions).all(|(input, &position)| position <= input.len());
        if fits { Ok(()) } else { Err(RunError::InputMismatch) }
    }

    /// Returns the variant of the code that this machine runs.
    #[inline]
    pub(crate) fn variant(&self) -> Variant {
        Variant { bits: W::BITS, polled: self.state.interrupt.is_some() }
    }

    /// Runs, and stores the error that stops the run, if any.
    fn execute(&mut self, inputs: &[&[u8]], single: bool) -> Result<Status, RunError> {
        self.state.outputs.payload = inputs.iter().map(|input| input.len()).sum();
        let result = self.interpret(inputs, single);
        result.map_err(|(error, at)| {
            // An interrupt is not a failure: the run can be resumed.
            if error == RunError::Interrupted {
                return error;
            }
            if matches!(error, RunError::UserHalt(_)) {
                self.ready = false;
                self.state.frames.clear();
            }
            self.error = Some((error, at));
            error
        })
    }
}

impl<W: Width> std::fmt::Debug for Machine<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Machine")
            .field("stack", &self.state.stack)
            .field("variables", &self.state.variables)
            .field("positions", &self.state.positions)
            .field("outputs", &self.state.outputs.list)
            .field("error", &self.error)
            .finish_non_exhaustive()
    }
}
