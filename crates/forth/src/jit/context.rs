//! The part of the machine that machine code sees.

use std::sync::atomic::AtomicBool;

use crate::interpret::fused::Plans;
use crate::output::Output;
use crate::state::State;

/// Handed to every piece of machine code; its fields are read and written at fixed offsets.
#[repr(C)]
pub(super) struct Context {
    /// The registers of the function entered, by number: those live at an entry, or at the point where it was
    /// left.
    pub(super) registers: *mut i64,
    pub(super) outputs: *mut Output,
    pub(super) variables: *mut i64,
    pub(super) positions: *mut usize,
    /// Set to interrupt the run; null if that cannot be requested.
    pub(super) interrupt: *const AtomicBool,
    /// Start and length of every input.
    pub(super) inputs: *const [usize; 2],
    /// Calls that may still be nested.
    pub(super) budget: u64,
    /// Write pointer for activation records. When code is left within calls, each activation appends its
    /// point and the registers live there.
    pub(super) records: *mut i64,
    /// Results of a call but the first.
    pub(super) results: [i64; MAX_RESULTS],
    /// A helper that is called through the stub, and its arguments.
    pub(super) helper: i64,
    pub(super) arguments: [i64; HELPER_ARGUMENTS],
    /// Whether a helper did what it was asked for, and what it found.
    pub(super) done: i64,
    pub(super) found: [i64; 2],
    /// For helpers: the state itself, and what of the program is looked up while it runs.
    pub(super) state: *mut State,
    pub(super) plans: *const Plans,
    pub(super) strings: *const [String],
    /// The inputs as they came, for helpers.
    pub(super) slices: *const &'static [u8],
    pub(super) slice_count: usize,
}

/// Results a call can have besides the first.
pub(super) const MAX_RESULTS: usize = 8;

/// Arguments of a helper besides the context.
pub(super) const HELPER_ARGUMENTS: usize = 3;
