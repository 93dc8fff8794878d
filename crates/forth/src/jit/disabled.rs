//! Tier 2 where there is none.

use super::Refusal;
use crate::compile::ir::Program;
use crate::lower::ir::Code;

/// Never made.
#[derive(Debug)]
pub(crate) enum Jit {}

impl Jit {
    pub(crate) fn new(_: &Program, _: &Code) -> Result<Self, Refusal> {
        Err(Refusal::NotBuilt)
    }
}
