//! The state of a machine, which every tier reads and writes, and the types of its limits. It does not depend
//! on a program or on the way one is run.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use crate::output::Outputs;

/// Width of stack items and variables.
pub trait Width: Send + 'static {
    /// Number of bits of an item.
    const BITS: u32;
    /// Wraps a number to the width, with sign extension.
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

/// The limits of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Maximum number of items on the stack.
    pub stack: usize,
    /// Maximum number of entries of the return stack, the main program and every structure body included;
    /// also of simultaneous `do` loops.
    pub recursion: usize,
    /// Maximum length of a decoded `quotedstr`, in bytes.
    pub string: usize,
    /// Maximum total size of all outputs, in bytes; `None` is as much as memory allows.
    pub output_bytes: Option<usize>,
}

impl Default for Limits {
    fn default() -> Self {
        Self { stack: 1024, recursion: 1024, string: 1024, output_bytes: None }
    }
}

/// Reason why a run returned without an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The end of the run was reached.
    Done,
    /// A `pause` was executed; `resume` continues after it.
    Paused,
}

/// The ways to execute a program, with equal results.
///
/// The machine chooses the tier, unless [`Machine::force_tier`](crate::Machine::force_tier) or the
/// environment does: `FORTHWITH_TIER=0`, `1` or `2`, read once per process. Other values are ignored by
/// machines and reported by [`Tier::of_environment`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Tier {
    /// 0: interprets the bytecode instruction by instruction, with every check and counter.
    Checked,
    /// 1: runs code with a static stack effect as flat code over registers, and recognised loops as native
    /// code; the remainder is checked.
    Fused,
    /// 2: runs the flat code of tier 1 compiled to machine code.
    Compiled,
}

impl Tier {
    /// Returns the tier that `FORTHWITH_TIER` requests; `None` if it is unset or empty.
    ///
    /// # Errors
    /// Returns the value of the variable if it is not a tier.
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

    pub(crate) fn chosen() -> Option<Self> {
        Self::of_environment().unwrap_or(None)
    }
}

/// Counts of executed words, over all runs of the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Number of executed instructions. Exact in [`Tier::Checked`]; native code is not counted.
    pub instructions: u64,
    /// Number of executed parser instructions, with the same restriction.
    pub reads: u64,
    /// Number of executed instructions that append to an output, with the same restriction.
    pub writes: u64,
}

/// Callback that receives printed text.
pub type Printer = Box<dyn FnMut(&str) + Send>;

/// The canonical state of a machine, common to all tiers; [`lower::ir`](crate::lower::ir) defines what
/// canonical means.
pub(crate) struct State {
    pub(crate) limits: Limits,
    pub(crate) stack: Vec<i64>,
    pub(crate) variables: Vec<i64>,
    pub(crate) positions: Vec<usize>,
    pub(crate) outputs: Outputs,
    pub(crate) frames: Vec<Frame>,
    pub(crate) loops: Vec<Loop>,
    /// Bytecode position of the next instruction; `end` is the end of its segment.
    pub(crate) pc: usize,
    pub(crate) end: usize,
    pub(crate) counters: Counters,
    /// The requested tier; None: the machine chooses.
    pub(crate) forced: Option<Tier>,
    /// Whether native code ran, which does not count.
    pub(crate) native: bool,
    /// Registers of all calls of flat code.
    pub(crate) registers: Vec<i64>,
    /// Calls of flat code that have not returned.
    pub(crate) activations: Vec<Activation>,
    /// Records of calls of machine code that were left before they returned.
    pub(crate) records: Vec<i64>,
    /// Decoded bytes that were not yet added to the program's count; `u64::MAX` once the decision about
    /// machine code is final.
    pub(crate) heat: u64,
    /// Position in flat code at which a `pause` left the machine.
    pub(crate) parked: Option<Parked>,
    pub(crate) printer: Option<Printer>,
    /// Flag that requests a stop at the next pass of a loop; None: the run cannot be interrupted.
    pub(crate) interrupt: Option<Arc<AtomicBool>>,
}

impl State {
    pub(crate) fn new(limits: Limits, variables: usize, inputs: usize) -> Self {
        Self {
            stack: Vec::with_capacity(limits.stack.min(1024)),
            variables: vec![0; variables],
            positions: vec![0; inputs],
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
            limits,
        }
    }

    /// Returns the maximum number of passes of a native loop between two polls of the interrupt flag.
    #[inline]
    pub(crate) fn most_passes(&self) -> usize {
        if self.interrupt.is_some() { 1 << 12 } else { usize::MAX }
    }

    /// Whether an interrupt is requested.
    #[inline]
    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupt.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed))
    }
}

/// An entry of the return stack: the position to return to, and the kind of body that runs now.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub(crate) kind: FrameKind,
    pub(crate) pc: usize,
    pub(crate) end: usize,
    /// Number of open `do` loops when the body was entered.
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

/// Heights of the three stacks: items, frames and `do` loops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Height {
    pub(crate) stack: u32,
    pub(crate) frames: u32,
    pub(crate) loops: u32,
}

/// A call of flat code that has not returned.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Activation {
    /// Index of the instruction after the call.
    pub(crate) back: u32,
    /// Index of the first register of the caller.
    pub(crate) window: u32,
    pub(crate) call: u32,
    /// Number of further nested calls that are known to fit the limits, as counted in the caller.
    pub(crate) spare: u32,
}

impl Activation {
    pub(crate) fn call(self) -> usize {
        self.call as usize
    }

    pub(crate) fn window(self) -> usize {
        self.window as usize
    }
}

/// A machine that is paused in flat code: frames, loops and position follow from the entry, and are written
/// only when its state is read. Stack, variables, positions and outputs are canonical; indices of loops are
/// in registers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parked {
    pub(crate) start: u32,
}
