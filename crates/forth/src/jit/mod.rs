//! Tier 2: the flat code of [`crate::lower`] as machine code.
//!
//! Every function of the IR becomes one that tier 0 enters at one of its entries and, if other functions call
//! it, one that is called natively. Inputs are read with a comparison each (runs of fields with one for all),
//! outputs are appended to by moving a pointer, short runs of items are moved 64 bytes at a time, long ones
//! by the kernels of tier 1, and so are loops that are native there if they have many passes. Helpers in Rust
//! do what is rare: room in an output, numbers of nine bytes, text. They do all of it or nothing.
//!
//! Nothing fails or prints in machine code. Whatever is not as expected leaves at its point, and tier 0 does
//! that word. There is one way out for all points at which the same registers are live, so the code stays
//! small: compiling takes about a millisecond for ten fields and grows with their number. It is done once for
//! each program and width, and shared.
//!
//! | file | |
//! | --- | --- |
//! | `enabled.rs`, `disabled.rs` | the tier itself, with and without a code generator |
//! | `choice.rs` | when compiling pays |
//! | `host.rs`, `memory.rs` | what the process needs once; executable memory |
//! | `translate.rs` | functions, blocks, entries |
//! | `leave.rs` | ways out, and calls |
//! | `kept.rs` | inputs and variables that stay in registers |
//! | `values.rs`, `input.rs`, `item.rs` | instructions that compute, read, write |
//! | `runs.rs`, `spelled.rs` | of those that read: runs of items, and strings |
//! | `context.rs`, `helpers.rs` | what machine code sees of the machine, and what it asks Rust to do |

#![cfg_attr(
    not(all(feature = "jit", any(target_arch = "x86_64", target_arch = "aarch64"))),
    allow(dead_code, reason = "nothing is compiled, so nothing is left or refused")
)]

#[cfg(all(
    feature = "jit",
    any(target_arch = "x86_64", target_arch = "aarch64"),
    target_pointer_width = "64",
    target_endian = "little",
    not(miri)
))]
#[path = "enabled.rs"]
mod tier;
#[cfg(not(all(
    feature = "jit",
    any(target_arch = "x86_64", target_arch = "aarch64"),
    target_pointer_width = "64",
    target_endian = "little",
    not(miri)
)))]
#[path = "disabled.rs"]
mod tier;

mod choice;

pub(crate) use choice::{pays, threshold};
pub(crate) use tier::Jit;

use crate::state::{Height, Limits};

/// How machine code was left, and at which point.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Left {
    pub(crate) way: Way,
    pub(crate) point: u32,
    /// Whether calls were under way; the innermost activation is then recorded with the others.
    pub(crate) nested: bool,
}

/// In the high half of what machine code returns; the point is in the low one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i64)]
pub(crate) enum Way {
    GiveUp = 1,
    Leave = 2,
    Pause = 3,
    Return = 4,
}

/// The stack that nested calls take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// The most that a call adds to its caller's base.
    above: Height,
    /// The greatest height of a function above its base.
    height: Height,
    /// Words of a record at most.
    record: usize,
    /// Bytes of the processor's stack for a call at most.
    frame: u64,
}

/// Bytes of the processor's stack for all calls together: what is free of a thread's is not known.
const STACK: u64 = 512 << 10;

impl Bounds {
    /// Calls that may be nested so that no limit is reached; tier 0 knows how to reach it.
    fn budget(self, limits: Limits, stack: usize, frames: usize, loops: usize) -> u64 {
        let left = |limit: usize, base: usize, height: u32, above: u32| {
            // Where the function itself does not fit, no call does, however little it adds to its caller's
            // base.
            let free =
                (limit as u64).checked_sub(base as u64).and_then(|free| free.checked_sub(u64::from(height)));
            free.map_or(0, |free| free.checked_div(u64::from(above)).unwrap_or(u64::MAX))
        };
        left(limits.stack, stack, self.height.stack, self.above.stack)
            .min(left(limits.recursion, frames, self.height.frames, self.above.frames))
            .min(left(limits.recursion, loops, self.height.loops, self.above.loops))
            .min(STACK / self.frame)
    }
}

/// Why there is no machine code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// Built without the code generator, or for a processor it does not know.
    NotBuilt,
    /// The system does not give out executable memory.
    NoExecutableMemory,
    /// The code generator does not know this processor or refused the program.
    NotSupported,
    /// Compiling would take too long.
    TooLarge,
}

impl Refusal {
    pub(crate) const fn text(self) -> &'static str {
        match self {
            Self::NotBuilt => "no code generator for this build",
            Self::NoExecutableMemory => "the system refuses executable memory",
            Self::NotSupported => "the code generator refuses it",
            Self::TooLarge => "too large to compile",
        }
    }
}

#[cfg(all(test, feature = "jit", any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
mod tests;
