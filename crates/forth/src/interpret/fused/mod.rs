//! Tier 1: loops recognised in the structured program run as native code.

use crate::compile::ir::Program;
use crate::machine::{Machine, Width};

/// What was recognised, by the segment of the loop body.
#[derive(Debug, Default)]
pub(crate) struct Plans {}

impl Plans {
    pub(crate) fn new(_program: &Program) -> Self {
        Self {}
    }

    pub(crate) fn explain(&self, _source: &str) -> String {
        "tier: checked\n".to_owned()
    }
}

impl<W: Width> Machine<W> {
    /// Runs as many passes of the innermost `do` loop as can be run natively and advances its index.
    pub(crate) fn run_plan(&mut self, _body: usize, _inputs: &[&[u8]]) {}
}
