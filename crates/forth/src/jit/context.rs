//! The part of the machine that machine code accesses.

use std::sync::atomic::AtomicBool;

use crate::interpret::fused::Plans;
use crate::output::Output;
use crate::state::State;

/// Passed to all machine code; its fields are read and written at fixed offsets.
#[repr(C)]
pub(super) struct Context {
    /// Registers of the function entered, by index: the live ones at an entry, or at the point where it was
    /// left.
    pub(super) registers: *mut i64,
    pub(super) outputs: *mut Output,
    pub(super) variables: *mut i64,
    pub(super) positions: *mut usize,
    /// Flag that interrupts the run; null if it cannot be interrupted.
    pub(super) interrupt: *const AtomicBool,
    /// Start and length of every input.
    pub(super) inputs: *const [usize; 2],
    /// Number of further calls that may be nested.
    pub(super) budget: u64,
    /// Write pointer for activation records. When code is left within calls, each activation appends its
    /// point and the registers live there.
    pub(super) records: *mut i64,
    /// Results of a call except the first.
    pub(super) results: [i64; MAX_RESULTS],
    /// The helper that is called through the stub, and its arguments.
    pub(super) helper: i64,
    pub(super) arguments: [i64; HELPER_ARGUMENTS],
    /// Whether a helper succeeded, and its results.
    pub(super) done: i64,
    pub(super) found: [i64; 2],
    /// For helpers: the state, and the parts of the program that are used at run time.
    pub(super) state: *mut State,
    pub(super) plans: *const Plans,
    pub(super) strings: *const [String],
    /// The inputs as slices, for helpers.
    pub(super) slices: *const &'static [u8],
    pub(super) slice_count: usize,
}

/// Maximum number of results of a call besides the first.
pub(super) const MAX_RESULTS: usize = 8;

/// Number of arguments of a helper besides the context.
pub(super) const HELPER_ARGUMENTS: usize = 3;
