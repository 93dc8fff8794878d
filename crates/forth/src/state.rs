//! The state that every tier reads and writes, and the words of its limits. Nothing of a program, and nothing
//! of how one is run.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use crate::output::Outputs;

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

/// The limits of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Items on the stack.
    pub stack: usize,
    /// Entries of the return stack, the main program and every structure body included; also simultaneous
    /// `do` loops.
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
/// A machine chooses for itself, unless [`Machine::force_tier`](crate::Machine::force_tier) does, or the
/// environment: `FORTHWITH_TIER=0`, `1` or `2`, read once in a process; anything else is no choice, which
/// [`Tier::of_environment`] tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Tier {
    /// 0: instruction by instruction, every check and counter.
    Checked,
    /// 1: whatever has a static stack effect as flat code over registers, and recognised loops as native
    /// code; all else checked.
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

    pub(crate) fn chosen() -> Option<Self> {
        Self::of_environment().unwrap_or(None)
    }
}

/// The counts of executed words, over all runs of the machine.
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

/// The state of a machine, which is canonical for all tiers ([`lower::ir`](crate::lower::ir) says what that
/// means).
pub(crate) struct State {
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
    /// Registers of all calls of flat code.
    pub(crate) registers: Vec<i64>,
    /// Calls of flat code that have not returned.
    pub(crate) activations: Vec<Activation>,
    /// Calls of machine code that were left before they returned.
    pub(crate) records: Vec<i64>,
    /// Work done that the program was not told of yet; `u64::MAX` when it does not want to know.
    pub(crate) heat: u64,
    /// Where in flat code the machine waits after a `pause`.
    pub(crate) parked: Option<Parked>,
    pub(crate) printer: Option<Printer>,
    /// Whether to stop at the next pass of a loop; None: it cannot be requested.
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

/// A measure of the three stacks: of items, of frames and of `do` loops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Height {
    pub(crate) stack: u32,
    pub(crate) frames: u32,
    pub(crate) loops: u32,
}

/// A call of flat code that has not returned.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Activation {
    /// The instruction behind it.
    pub(crate) back: u32,
    /// The caller's registers.
    pub(crate) window: u32,
    pub(crate) call: u32,
    /// Calls that certainly fit, of the caller.
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

/// A machine that waits in a `pause` of flat code: frames, loops and position follow from the entry, and are
/// written only when its state is read. Stack, variables, positions and outputs are canonical; indices of
/// loops are in registers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parked {
    pub(crate) start: u32,
}
