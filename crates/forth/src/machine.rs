//! The machine: a program and its state, as a host drives them.

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
    /// A machine with 64-bit items.
    pub fn new(compiled: Arc<Compiled>, limits: Limits) -> Self {
        Self::with_width(compiled, limits)
    }
}

impl Machine<W32> {
    /// A machine with 32-bit items.
    pub fn new32(compiled: Arc<Compiled>, limits: Limits) -> Self {
        Self::with_width(compiled, limits)
    }
}

impl<W: Width> Machine<W> {
    /// A machine of any width.
    pub fn with_width(compiled: Arc<Compiled>, limits: Limits) -> Self {
        Self {
            state: State::new(limits, compiled.variables().len(), compiled.inputs().len()),
            compiled,
            ready: false,
            error: None,
            width: std::marker::PhantomData,
        }
    }

    /// Clears the state, makes new outputs and stands before the first instruction.
    pub fn begin(&mut self) {
        let outputs = self.compiled.outputs().iter().map(|output| Output::owned(output.dtype)).collect();
        self.begin_unchecked(outputs);
    }

    /// As [`Self::begin`], with outputs of the caller in the order of the declarations.
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

    /// Goes on with new inputs (all positions 0), keeping stack, variables and outputs. With `restart`, the
    /// main program starts anew on top of whatever is pending.
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

    /// Drops everything but the counters; the machine is as new.
    pub fn reset(&mut self) {
        self.begin_unchecked(Vec::new());
        self.state.frames.clear();
        self.ready = false;
    }

    /// Forgets an error, so that a ready machine can go on after the failing instruction.
    pub fn clear_error(&mut self) {
        self.error = None;
    }

    /// `begin` and `resume`.
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

    /// Ends the bodies whose end is reached, as the next `step` would first of all:
    /// [`Self::bytecode_position`] is then that of the next instruction, which is what a debugger shows.
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

    /// Runs a user word on top of what is pending, until its end, a `pause` or an error.
    pub fn call(&mut self, word: &str, inputs: &[&[u8]]) -> Result<Status, RunError> {
        let segment = self.compiled.word_segment(word).ok_or(RunError::UnknownWord)?;
        self.check_ready()?;
        self.check_inputs(inputs)?;
        self.unpark();
        self.enter_anew(segment, FrameKind::Host)?;
        self.execute(inputs, false)
    }

    /// Pushes onto the stack; a number that does not fit the width is cut.
    pub fn push(&mut self, value: i64) -> Result<(), RunError> {
        if self.state.stack.len() >= self.state.limits.stack {
            return Err(RunError::StackOverflow);
        }
        self.state.stack.push(W::wrap(value));
        Ok(())
    }

    /// Pops from the stack.
    pub fn pop(&mut self) -> Result<i64, RunError> {
        self.state.stack.pop().ok_or(RunError::StackUnderflow)
    }

    /// Empties the stack.
    pub fn clear_stack(&mut self) {
        self.state.stack.clear();
    }

    /// Moves an input to a position; it is compared with the length at the next `resume`.
    pub fn set_position(&mut self, input: usize, position: usize) {
        if let Some(slot) = self.state.positions.get_mut(input) {
            *slot = position;
        }
    }

    /// Sets a variable; a number that does not fit the width is cut.
    pub fn set_variable(&mut self, variable: usize, value: i64) {
        if let Some(slot) = self.state.variables.get_mut(variable) {
            *slot = W::wrap(value);
        }
    }

    /// Fixes the tier, or (None) leaves it to the environment and then to the machine.
    pub fn force_tier(&mut self, tier: Option<Tier>) {
        self.state.forced = tier.or_else(Tier::chosen);
    }

    /// Sets all counters to zero.
    pub fn reset_counters(&mut self) {
        self.state.counters = Counters::default();
        self.state.native = false;
    }

    /// Where the printing words print to; nowhere at first.
    pub fn set_printer(&mut self, printer: Option<Printer>) {
        self.state.printer = printer;
    }

    /// A flag by which another thread ends a run: while it is set, [`Self::resume`], [`Self::run`] and
    /// [`Self::call`] end with [`RunError::Interrupted`] at the next pass of a loop or call of a word, and
    /// the next `resume` goes on from there.
    ///
    /// A single word that moves much is not interrupted. Without a flag, which is how machines are made,
    /// loops never look.
    pub fn set_interrupt(&mut self, flag: Option<Arc<AtomicBool>>) {
        if self.state.interrupt.is_some() != flag.is_some() {
            // Where it waits is a place in the code for the one or the other.
            self.unpark();
        }
        self.state.interrupt = flag;
    }

    /// Takes the outputs away, in the order of the declarations. The machine then has to `begin` again.
    pub fn take_outputs(&mut self) -> Vec<Output> {
        self.state.frames.clear();
        self.state.parked = None;
        self.ready = false;
        std::mem::take(&mut self.state.outputs.list)
    }

    /// The program.
    pub fn compiled(&self) -> &Arc<Compiled> {
        &self.compiled
    }

    /// The limits given.
    pub fn limits(&self) -> Limits {
        self.state.limits
    }

    /// The stack, top last.
    pub fn stack(&self) -> &[i64] {
        &self.state.stack
    }

    /// The variables, in the order of their declarations.
    pub fn variables(&self) -> &[i64] {
        &self.state.variables
    }

    /// The position in an input, in bytes. Unknown inputs are at 0.
    pub fn position(&self, input: usize) -> usize {
        self.state.positions.get(input).copied().unwrap_or(0)
    }

    /// The outputs, in the order of their declarations; none before `begin`.
    pub fn outputs(&self) -> &[Output] {
        &self.state.outputs.list
    }

    /// The index of the outermost `do` loop that is (or was, at the error) running: the entry number.
    pub fn outer_index(&self) -> Option<i64> {
        self.outermost()
    }

    /// Index and limit of every `do` loop that is running, outermost first.
    pub fn loops(&self) -> impl DoubleEndedIterator<Item = (i64, i64)> + ExactSizeIterator + '_ {
        self.running().into_iter()
    }

    /// The counts of executed words.
    pub fn counters(&self) -> Counters {
        self.state.counters
    }

    /// Whether the counters counted everything since they were zero: native code, once it ran, does not
    /// count. In [`Tier::Checked`] they always are exact.
    pub fn counters_exact(&self) -> bool {
        !self.state.native
    }

    /// Whether something was begun that did not end in `halt`.
    pub fn is_ready(&self) -> bool {
        self.ready
    }

    /// Whether there is nothing left to run.
    pub fn is_done(&self) -> bool {
        self.state.frames.is_empty()
    }

    /// Whether the segment being run is at its end.
    pub fn is_segment_done(&self) -> bool {
        self.bytecode_position().is_none()
    }

    /// Position of the next instruction; None at the end of a segment or when done.
    pub fn bytecode_position(&self) -> Option<usize> {
        let (pc, end) = match self.body_at_end() {
            // A loop stands at its own operand, from where it takes the next turn.
            Some(frame) if matches!(frame.kind, FrameKind::Loop | FrameKind::StepLoop) => {
                (frame.pc - 1, frame.end)
            }
            Some(frame) => (frame.pc, frame.end),
            None => self.place(),
        };
        (!self.is_done() && pc < end).then_some(pc)
    }

    /// Entries of the return stack above the call of the host (1 in the main program); None when done.
    pub fn recursion_depth(&self) -> Option<usize> {
        Some(self.depth()? - usize::from(self.body_at_end().is_some()))
    }

    /// A run that stops at the end of a body, other than by an error, counts as having left it.
    fn body_at_end(&self) -> Option<Frame> {
        let (pc, end) = self.place();
        let at_end = pc >= end && self.error.is_none();
        self.innermost().filter(|frame| at_end && frame.kind != FrameKind::Host)
    }

    /// The error that stopped the machine, until `begin` or `clear_error`.
    pub fn error(&self) -> Option<RunError> {
        self.error.map(|(error, _)| error)
    }

    /// Where that error happened.
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

    /// Enters a segment on top of what is pending.
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
        // After `halt` the machine is not ready, and that is what it says.
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

    /// Which code it runs.
    #[inline]
    pub(crate) fn variant(&self) -> Variant {
        Variant { bits: W::BITS, polled: self.state.interrupt.is_some() }
    }

    /// Runs and keeps the error, if any.
    fn execute(&mut self, inputs: &[&[u8]], single: bool) -> Result<Status, RunError> {
        self.state.outputs.payload = inputs.iter().map(|input| input.len()).sum();
        let result = self.interpret(inputs, single);
        result.map_err(|(error, at)| {
            // Nothing is wrong: it may go on.
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
