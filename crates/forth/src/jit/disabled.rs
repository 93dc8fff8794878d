//! Substitute for builds without a code generator: tier 2 refuses all programs.

use super::{Left, Refusal};
use crate::compile::ir::Ir;
use crate::interpret::fused::Plans;
use crate::lower::ir::{Code, PointId, Reg};
use crate::state::State;

/// Machine code, which cannot be constructed here.
#[derive(Debug)]
pub(crate) enum Jit {}

impl Jit {
    pub(crate) const BUILT: bool = false;

    pub(crate) fn new(_: &Ir, _: &Plans, _: &Code) -> Result<Self, Refusal> {
        Err(Refusal::NotBuilt)
    }

    pub(crate) fn has_entry(&self, _: usize) -> bool {
        match *self {}
    }

    pub(crate) fn size(&self) -> usize {
        match *self {}
    }

    pub(crate) fn entry_behind(&self, _: u32) -> u32 {
        match *self {}
    }

    /// # Safety
    ///
    /// It cannot be called.
    pub(crate) unsafe fn run(&self, _: &mut State, _: (&Plans, &[String]), _: &[&[u8]], _: usize) -> Left {
        match *self {}
    }

    pub(crate) fn activations(_: &Code, _: &[i64]) -> Vec<(PointId, Vec<(Reg, i64)>)> {
        Vec::new()
    }
}
