//! Tier 2: the flat code of [`crate::lower`] as machine code.
//!
//! Every function of the IR becomes a machine-code function that tier 0 enters at one of its entries and, if
//! other functions call it, a second one for native calls. Reads compare the position with the end of the
//! input (once for a run of fields), writes move a pointer, short runs of items are copied 64 bytes at a
//! time, and long runs, as well as native loops with many passes, by the kernels of tier 1. Helpers in Rust
//! handle rare cases: growing an output, numbers of nine bytes, text. A helper has its whole effect or none.
//!
//! Machine code neither fails nor prints. It leaves at a point in all other cases, and tier 0 executes that
//! word. All points with the same live registers share one exit, so the code stays small: compiling takes
//! about a millisecond for ten fields and grows with their number. It is compiled once per program and width,
//! and shared.
//!
//! | file | |
//! | --- | --- |
//! | `enabled.rs`, `disabled.rs` | the tier itself, with and without a code generator |
//! | `choice.rs` | whether compiling pays |
//! | `host.rs`, `memory.rs` | process-wide state; executable memory |
//! | `translate.rs` | functions, blocks, entries |
//! | `leave.rs` | exits, and calls |
//! | `kept.rs` | inputs and variables that stay in registers |
//! | `values.rs`, `input.rs`, `item.rs` | instructions that compute, read, write |
//! | `runs.rs`, `spelled.rs`, `pass.rs` | reads of runs of items and of strings; skipped numbers |
//! | `context.rs`, `helpers.rs` | the machine's state and the Rust functions that machine code uses |

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

/// The way in which machine code was left, and the point.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Left {
    pub(crate) way: Way,
    pub(crate) point: u32,
    /// Whether it was left within calls; the innermost activation is then recorded with the others.
    pub(crate) nested: bool,
}

/// The way in which machine code was left: the high half of its status; the point is in the low half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i64)]
pub(crate) enum Way {
    GiveUp = 1,
    Leave = 2,
    Pause = 3,
    Return = 4,
}

/// Upper bounds on the stack that nested calls take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Maximum height that a call adds to its caller's base.
    above: Height,
    /// Maximum height of a function above its base.
    height: Height,
    /// Maximum number of words of a record.
    record: usize,
    /// Maximum number of bytes of the native stack for a call.
    frame: u64,
}

/// Bytes of the native stack for all calls together, since the free space of a thread's stack is not known.
const STACK: u64 = 512 << 10;

impl Bounds {
    /// Returns the number of calls that may be nested without exceeding a limit; beyond, tier 0 checks the
    /// limits exactly.
    fn budget(self, limits: Limits, stack: usize, frames: usize, loops: usize) -> u64 {
        let left = |limit: usize, base: usize, height: u32, above: u32| {
            // If the function itself does not fit, no call does, however little it adds to its caller's base.
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

/// Reason for the lack of machine code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The build has no code generator, or none for this processor.
    NotBuilt,
    /// The system refuses executable memory.
    NoExecutableMemory,
    /// The code generator does not support this processor or refused the program.
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
