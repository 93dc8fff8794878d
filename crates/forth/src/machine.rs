//! The machine: one canonical state that every tier reads and writes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use crate::compiled::Compiled;
use crate::error::{Location, RunError};
use crate::interpret::flat::{Activation, Parked};
use crate::lower::ir::Variant;
use crate::output::{Output, Outputs};

/// How wide stack items and variables are.
pub trait Width: Send + 'static {
    /// Bits of an item.
    const BITS: u32;
    /// Cuts a number to the width, keeping the sign.
    fn wrap(value: i64) -> i64;
}

/// Items of 64 bits.
#[derive(Clone, Copy, Debug)]
pub struct W64;
/// Items of 32 bits.
#[derive(Clone, Copy, Debug)]
pub struct W32;

impl Width for W64 {
    const BITS: u32 = 64;
    #[inline]
    fn wrap(value: i64) -> i64 {
        value
    }
}

impl Width for W32 {
    const BITS: u32 = 32;
    #[inline]
    fn wrap(value: i64) -> i64 {
        i64::from(value as i32)
    }
}

/// What a machine may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Items on the stack.
    pub stack: usize,
    /// Entries of the return stack, the main program and every structure body included; also simultaneous `do` loops.
    pub recursion: usize,
    /// Longest decoded `quotedstr`, in bytes.
    pub string: usize,
    /// Bytes in all outputs together; `None` is as much as memory allows.
    pub output_bytes: Option<usize>,
}

impl Default for Limits {
    fn default() -> Self {
        Self { stack: 1024, recursion: 1024, string: 1024, output_bytes: None }
    }
}

/// Why a run returned without an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The end was reached.
    Done,
    /// A `pause`; `resume` goes on.
    Paused,
}

/// The ways to execute a program. Results are the same in all of them.
///
/// A machine chooses for itself, unless [`Machine::force_tier`] does, or the environment: `FORTHWITH_TIER=0`, `1` or `2`, read
/// once in a process; anything else is no choice, which [`Tier::of_environment`] tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Tier {
    /// 0: instruction by instruction, every check and counter.
    Checked,
    /// 1: whatever has a static stack effect as flat code over registers, and recognised loops as native code; all else
    /// checked.
    Fused,
    /// 2: the same flat code compiled for the processor.
    Compiled,
}

impl Tier {
    /// The tier that `FORTHWITH_TIER` asks for. The error is what it says, if that is no tier.
    pub fn of_environment() -> Result<Option<Self>, &'static str> {
        static CHOSEN: OnceLock<Result<Option<Tier>, String>> = OnceLock::new();
        let chosen = CHOSEN.get_or_init(|| match std::env::var_os("FORTHWITH_TIER") {
            None => Ok(None),
            Some(text) => match text.to_str() {
                Some("") => Ok(None),
                Some("0") => Ok(Some(Self::Checked)),
                Some("1") => Ok(Some(Self::Fused)),
                Some("2") => Ok(Some(Self::Compiled)),
                _ => Err(text.to_string_lossy().into_owned()),
            },
        });
        chosen.as_ref().copied().map_err(String::as_str)
    }

    fn chosen() -> Option<Self> {
        Self::of_environment().unwrap_or(None)
    }
}

/// What was executed so far, over all runs of the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Instructions executed. Exact in [`Tier::Checked`]; what runs natively is not counted.
    pub instructions: u64,
    /// Parser instructions executed; the same holds.
    pub reads: u64,
    /// Instructions executed that append to an output; the same holds.
    pub writes: u64,
}

/// Receives what the printing words print.
pub type Printer = Box<dyn FnMut(&str) + Send>;

/// A machine that runs one program. See the crate documentation for how to drive it.
pub struct Machine<W: Width = W64> {
    pub(crate) compiled: Arc<Compiled>,
    pub(crate) limits: Limits,
    pub(crate) stack: Vec<i64>,
    pub(crate) variables: Vec<i64>,
    pub(crate) positions: Vec<usize>,
    pub(crate) outputs: Outputs,
    pub(crate) frames: Vec<Frame>,
    pub(crate) loops: Vec<Loop>,
    /// Next instruction and end of its segment.
    pub(crate) pc: usize,
    pub(crate) end: usize,
    pub(crate) counters: Counters,
    /// The tier asked for.
    pub(crate) forced: Option<Tier>,
    /// Whether anything ran that does not count.
    pub(crate) native: bool,
    /// Of flat code: all registers, calls that are not over, and where it waits.
    pub(crate) registers: Vec<i64>,
    pub(crate) activations: Vec<Activation>,
    /// Of machine code: calls that were left in the middle.
    pub(crate) records: Vec<i64>,
    /// Work done that [`Compiled`] was not told of yet; `u64::MAX` when it does not want to know.
    pub(crate) heat: u64,
    pub(crate) parked: Option<Parked>,
    pub(crate) printer: Option<Printer>,
    /// Whether to stop at the next pass of a loop; None: it cannot be requested.
    pub(crate) interrupt: Option<Arc<AtomicBool>>,
    ready: bool,
    error: Option<(RunError, usize)>,
    width: std::marker::PhantomData<W>,
}

/// An entry of the return stack: where to go on, and what ends with the body that runs now.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub(crate) kind: FrameKind,
    pub(crate) pc: usize,
    pub(crate) end: usize,
    /// `do` loops open when the body was entered.
    pub(crate) loops: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameKind {
    /// The main program, or a word called by the host: returning ends the run.
    Host,
    Word,
    Body,
    Loop,
    StepLoop,
}

/// An entry of the stack of `do` loops.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loop {
    pub(crate) index: i64,
    pub(crate) stop: i64,
    /// Segment of the body.
    pub(crate) body: usize,
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
            stack: Vec::with_capacity(limits.stack.min(1024)),
            variables: vec![0; compiled.variables().len()],
            positions: vec![0; compiled.inputs().len()],
            outputs: Outputs::default(),
            frames: Vec::new(),
            loops: Vec::new(),
            pc: 0,
            end: 0,
            counters: Counters::default(),
            forced: Tier::chosen(),
            native: false,
            registers: Vec::new(),
            activations: Vec::new(),
            records: Vec::new(),
            heat: 0,
            parked: None,
            printer: None,
            interrupt: None,
            ready: false,
            error: None,
            width: std::marker::PhantomData,
            compiled,
            limits,
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

    /// Goes on with new inputs (all positions 0), keeping stack, variables and outputs. With `restart`, the main program
    /// starts anew on top of whatever is pending.
    pub fn begin_again(&mut self, restart: bool) -> Result<(), RunError> {
        self.check_ready()?;
        if restart {
            self.unpark();
            // What is pending goes on in the same run.
            let kind = if self.is_done() { FrameKind::Host } else { FrameKind::Word };
            self.enter_anew(0, kind)?;
        }
        self.positions.fill(0);
        Ok(())
    }

    /// Drops everything but the counters; the machine is as new.
    pub fn reset(&mut self) {
        self.begin_unchecked(Vec::new());
        self.frames.clear();
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
        let forced = self.forced.replace(Tier::Checked);
        let result = self.execute(inputs, true);
        self.forced = forced;
        result
    }

    /// Ends the bodies whose end is reached, as the next `step` would first of all: [`Self::bytecode_position`] is then that
    /// of the next instruction, which is what a debugger shows.
    pub fn settle(&mut self, inputs: &[&[u8]]) -> Result<Status, RunError> {
        self.check_running(inputs)?;
        self.unpark();
        let forced = self.forced.replace(Tier::Checked);
        let result = self.leave_ended(inputs);
        self.forced = forced;
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
        if self.stack.len() >= self.limits.stack {
            return Err(RunError::StackOverflow);
        }
        self.stack.push(W::wrap(value));
        Ok(())
    }

    /// Pops from the stack.
    pub fn pop(&mut self) -> Result<i64, RunError> {
        self.stack.pop().ok_or(RunError::StackUnderflow)
    }

    /// Empties the stack.
    pub fn clear_stack(&mut self) {
        self.stack.clear();
    }

    /// Moves an input to a position; it is compared with the length at the next `resume`.
    pub fn set_position(&mut self, input: usize, position: usize) {
        if let Some(slot) = self.positions.get_mut(input) {
            *slot = position;
        }
    }

    /// Sets a variable; a number that does not fit the width is cut.
    pub fn set_variable(&mut self, variable: usize, value: i64) {
        if let Some(slot) = self.variables.get_mut(variable) {
            *slot = W::wrap(value);
        }
    }

    /// Fixes the tier, or (None) leaves it to the environment and then to the machine.
    pub fn force_tier(&mut self, tier: Option<Tier>) {
        self.forced = tier.or_else(Tier::chosen);
    }

    /// Sets all counters to zero.
    pub fn reset_counters(&mut self) {
        self.counters = Counters::default();
        self.native = false;
    }

    /// Where the printing words print to; nowhere at first.
    pub fn set_printer(&mut self, printer: Option<Printer>) {
        self.printer = printer;
    }

    /// A flag by which another thread ends a run: while it is set, [`Self::resume`], [`Self::run`] and [`Self::call`] end with
    /// [`RunError::Interrupted`] at the next pass of a loop or call of a word, and the next `resume` goes on from there.
    ///
    /// A single word that moves much is not interrupted. Without a flag, which is how machines are made, loops never look.
    pub fn set_interrupt(&mut self, flag: Option<Arc<AtomicBool>>) {
        if self.interrupt.is_some() != flag.is_some() {
            // Where it waits is a place in the code for the one or the other.
            self.unpark();
        }
        self.interrupt = flag;
    }

    /// Takes the outputs away, in the order of the declarations. The machine then has to `begin` again.
    pub fn take_outputs(&mut self) -> Vec<Output> {
        self.frames.clear();
        self.parked = None;
        self.ready = false;
        std::mem::take(&mut self.outputs.list)
    }

    /// The program.
    pub fn compiled(&self) -> &Arc<Compiled> {
        &self.compiled
    }

    /// The limits given.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// The stack, top last.
    pub fn stack(&self) -> &[i64] {
        &self.stack
    }

    /// The variables, in the order of their declarations.
    pub fn variables(&self) -> &[i64] {
        &self.variables
    }

    /// The position in an input, in bytes. Unknown inputs are at 0.
    pub fn position(&self, input: usize) -> usize {
        self.positions.get(input).copied().unwrap_or(0)
    }

    /// The outputs, in the order of their declarations; none before `begin`.
    pub fn outputs(&self) -> &[Output] {
        &self.outputs.list
    }

    /// The index of the outermost `do` loop that is (or was, at the error) running: the entry number.
    pub fn outer_index(&self) -> Option<i64> {
        self.outermost()
    }

    /// Index and limit of every `do` loop that is running, outermost first.
    pub fn loops(&self) -> impl DoubleEndedIterator<Item = (i64, i64)> + ExactSizeIterator + '_ {
        self.running().into_iter()
    }

    /// What was executed so far.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Whether the counters counted everything since they were zero: native code, once it ran, does not count. In
    /// [`Tier::Checked`] they always are exact.
    pub fn counters_exact(&self) -> bool {
        !self.native
    }

    /// Whether something was begun that did not end in `halt`.
    pub fn is_ready(&self) -> bool {
        self.ready
    }

    /// Whether there is nothing left to run.
    pub fn is_done(&self) -> bool {
        self.frames.is_empty()
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

    /// Who stops at the end of a body, other than by an error, is seen to have left it.
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
        self.stack.clear();
        self.variables.fill(0);
        self.positions.fill(0);
        self.outputs = Outputs::new(outputs, self.limits.output_bytes);
        self.frames.clear();
        self.loops.clear();
        self.parked = None;
        self.error = None;
        self.ready = true;
        (self.pc, self.end) = self.compiled.segment(0);
        self.frames.push(Frame { kind: FrameKind::Host, pc: self.end, end: self.end, loops: 0 });
    }

    /// Enters a segment on top of what is pending.
    fn enter_anew(&mut self, segment: usize, kind: FrameKind) -> Result<(), RunError> {
        if self.frames.len() >= self.limits.recursion {
            return Err(RunError::RecursionDepthExceeded);
        }
        let loops = if self.frames.is_empty() { 0 } else { self.loops.len() };
        self.loops.truncate(loops);
        self.frames.push(Frame { kind, pc: self.pc, end: self.end, loops });
        (self.pc, self.end) = self.compiled.segment(segment);
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
        let fits = inputs.len() == self.positions.len()
            && inputs.iter().zip(&self.positions).all(|(input, &position)| position <= input.len());
        if fits { Ok(()) } else { Err(RunError::InputMismatch) }
    }

    /// Which code it runs.
    #[inline]
    pub(crate) fn variant(&self) -> Variant {
        Variant { bits: W::BITS, polled: self.interrupt.is_some() }
    }

    /// Passes of a native loop between two looks at the flag.
    #[inline]
    pub(crate) fn most_passes(&self) -> usize {
        if self.interrupt.is_some() { 1 << 12 } else { usize::MAX }
    }

    /// Whether the run is to be interrupted.
    #[inline]
    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupt.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    /// Runs and keeps the error, if any.
    fn execute(&mut self, inputs: &[&[u8]], single: bool) -> Result<Status, RunError> {
        self.outputs.payload = inputs.iter().map(|input| input.len()).sum();
        let result = self.interpret(inputs, single);
        result.map_err(|(error, at)| {
            // Nothing is wrong: it may go on.
            if error == RunError::Interrupted {
                return error;
            }
            if matches!(error, RunError::UserHalt(_)) {
                self.ready = false;
                self.frames.clear();
            }
            self.error = Some((error, at));
            error
        })
    }
}

impl<W: Width> std::fmt::Debug for Machine<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Machine")
            .field("stack", &self.stack)
            .field("variables", &self.variables)
            .field("positions", &self.positions)
            .field("outputs", &self.outputs.list)
            .field("error", &self.error)
            .finish_non_exhaustive()
    }
}
