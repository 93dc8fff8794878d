//! A program for tier 1: its instructions and the tables that they refer to.

use super::code::{Fast, R, Slot, To};
use super::skip::Skip;
use crate::interpret::fused::Leaf;
use crate::isa::Read;
use crate::state::Height;

/// A program for tier 1.
#[derive(Debug, Default)]
pub(crate) struct FlatCode {
    pub(super) code: Vec<Fast>,
    pub(super) targets: Vec<To>,
    /// Input of the fast path.
    pub(super) input: Slot,
    pub(super) reads: Vec<Read>,
    pub(super) leaves: Vec<Leaf>,
    pub(super) skips: Vec<Skip>,
    pub(super) enumerations: Vec<Enumeration>,
    pub(super) calls: Vec<Call>,
    /// `step` is the most that a call adds to the heights, `peak` the most that a callee needs above that.
    pub(super) step: Height,
    pub(super) peak: Height,
    /// Starts, indexed as the entries of the IR.
    pub(super) starts: Vec<Start>,
    /// Index of the first start for each position of the bytecode, with one element more than positions.
    pub(super) at: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Enumeration {
    pub(super) to: R,
    pub(super) input: Slot,
    pub(super) first: u32,
    pub(super) end: u32,
    pub(super) only: bool,
}

#[derive(Debug)]
pub(super) struct Call {
    pub(super) to: To,
    /// Number of registers of the caller and of the callee.
    pub(super) caller: u32,
    pub(super) registers: u32,
    pub(super) height: Height,
    pub(super) args: Vec<Source>,
    pub(super) results: Vec<R>,
    pub(super) point: u32,
    pub(super) during: u32,
    /// Heights that `during` adds to the base.
    pub(super) above: Height,
}

/// An argument of a call.
#[derive(Clone, Copy, Debug)]
pub(super) enum Source {
    Reg(R),
    Const(i64),
}

/// A position at which flat code can be entered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start {
    pub(super) to: To,
    pub(super) point: u32,
    pub(super) registers: u32,
    pub(super) height: Height,
    /// Number of stack slots to load into the first registers.
    pub(super) slots: u32,
}
