//! One program in every tier.

use crate::runnable;
use forthwith::forth::{Compiled, Limits, Machine, RunError, Status, Tier};
use std::sync::Arc;

/// Runs a program in every tier, if it ends within reason, and compares everything that can be seen.
pub fn check(compiled: Compiled, inputs: &[&[u8]]) {
    // The printers of bytecode see everything that compiles.
    let _ = (compiled.decompiled(), compiled.explain());
    let compiled = Arc::new(compiled);
    let mut limits = Limits::default();
    limits.stack = 64;
    limits.recursion = 48;
    limits.output_bytes = Some(1 << 16);
    if !runnable(&compiled, inputs, limits, 20_000) {
        return;
    }
    let checked = run(&compiled, inputs, limits, Tier::Checked);
    for tier in [Tier::Fused, Tier::Compiled] {
        let fast = run(&compiled, inputs, limits, tier);
        assert_eq!(checked, fast, "{tier:?}\n{}\n{}", compiled.source(), compiled.explain());
    }
}

/// Everything that can be seen of a machine.
#[derive(Debug, PartialEq)]
struct Seen {
    results: Vec<Result<Status, RunError>>,
    stack: Vec<i64>,
    variables: Vec<i64>,
    positions: Vec<usize>,
    outputs: Vec<Vec<u8>>,
    entry: Option<i64>,
    place: Option<String>,
    done: bool,
    at: Option<usize>,
}

fn run(compiled: &Arc<Compiled>, inputs: &[&[u8]], limits: Limits, tier: Tier) -> Seen {
    let mut machine = Machine::new(Arc::clone(compiled), limits);
    machine.force_tier(Some(tier));
    let mut results = vec![machine.run(inputs)];
    while results.len() < 100 && results.last() == Some(&Ok(Status::Paused)) && !machine.is_done() {
        results.push(machine.resume(inputs));
    }
    Seen {
        results,
        stack: machine.stack().to_vec(),
        variables: machine.variables().to_vec(),
        positions: (0..inputs.len()).map(|input| machine.position(input)).collect(),
        outputs: machine.outputs().iter().map(|output| output.as_bytes().to_vec()).collect(),
        entry: machine.error().and_then(|_| machine.outer_index()),
        place: machine.error_location().map(|place| format!("{place:?}")),
        done: machine.is_done(),
        at: machine.bytecode_position(),
    }
}
