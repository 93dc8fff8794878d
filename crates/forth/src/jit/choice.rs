//! When machine code pays.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::compile::ir::{Body, Ir, Kind};
use crate::interpret::fused::Plans;
use crate::lower::ir::Code;

/// Whether a program spends its time in loops, or in recursion, that are not native loops already.
pub(crate) fn pays(program: &Ir, plans: &Plans) -> bool {
    is_hot(program, &|body| !plans.is_native(body.segment as usize))
}

/// Whether it has loops of other things than idioms.
fn is_plain(program: &Ir, plans: &Plans) -> bool {
    is_hot(program, &|body| !plans.is_recognised(body.segment as usize))
}

/// Whether some loop, of which `do` loops are asked for, runs otherwise than once.
fn is_hot(program: &Ir, wanted: &dyn Fn(&Body) -> bool) -> bool {
    let mut seen = vec![false; program.words.len()];
    has_hot(program, wanted, &program.main, &mut seen)
}

fn has_hot(program: &Ir, wanted: &dyn Fn(&Body) -> bool, body: &Body, seen: &mut [bool]) -> bool {
    body.nodes.iter().any(|node| match &node.kind {
        Kind::Do { body, .. } => wanted(body),
        Kind::Again(_) | Kind::Until(_) | Kind::While(..) => true,
        Kind::Call(word) => {
            let inside = &program.words[*word as usize].body;
            if std::mem::replace(&mut seen[*word as usize], true) {
                // Called twice, or by itself.
                contains(inside, *word)
            } else {
                has_hot(program, wanted, inside, seen)
            }
        }
        _ => node.bodies().into_iter().any(|inner| has_hot(program, wanted, inner, seen)),
    })
}

/// Whether a word is called in a body.
fn contains(body: &Body, word: u32) -> bool {
    body.nodes.iter().any(|node| {
        matches!(node.kind, Kind::Call(called) if called == word)
            || node.bodies().into_iter().any(|inner| contains(inner, word))
    })
}

/// The time that an instruction took to compile, in nanoseconds, on the whole so far; at first as on a slow
/// processor.
static COST: AtomicU64 = AtomicU64::new(12_000);

fn size(code: &Code) -> u64 {
    let blocks = code.functions.iter().flat_map(|function| &function.blocks);
    // A function and a block cost something by themselves.
    blocks.map(|block| block.code.len() as u64 + 2).sum::<u64>() + 16
}

/// Whether it has a choice within a loop with a condition, as programs of fields behind keys have.
fn chooses(program: &Ir) -> bool {
    fn has_choice(body: &Body) -> bool {
        body.nodes.iter().any(|node| {
            matches!(node.kind, Kind::Nest(_) | Kind::CaseTable { .. })
                || node.bodies().into_iter().any(has_choice)
        })
    }
    fn looks(body: &Body) -> bool {
        body.nodes.iter().any(|node| {
            let is_loop = matches!(node.kind, Kind::While(..));
            let inner = node.bodies();
            inner.iter().any(|inner| is_loop && has_choice(inner) || looks(inner))
        })
    }
    looks(&program.main) || program.words.iter().any(|word| looks(&word.body))
}

/// Bytes to decode, or work equal to as many, from which a program had better be compiled: machine code saves
/// half a nanosecond for a byte of idioms, which flat code has instructions for, four for a byte of fields behind keys,
/// two for a byte of anything else, and it should save twice what it costs.
pub(crate) fn threshold(program: &Ir, plans: &Plans, code: &Code) -> u64 {
    if program.inputs.is_empty() {
        // Nothing to be measured by.
        return 0;
    }
    let half_bytes = match (is_plain(program, plans), chooses(program)) {
        (true, true) => 1,
        (true, false) => 2,
        (false, _) => 8,
    };
    size(code).saturating_mul(COST.load(Ordering::Relaxed)).saturating_mul(half_bytes) / 2
}

/// Learns from a compilation.
pub(super) fn learn(code: &Code, took: Duration) {
    let new = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX) / size(code);
    let old = COST.load(Ordering::Relaxed);
    // One that was interrupted counts little.
    COST.store((old * 3 + new.clamp(1_000, 100_000)) / 4, Ordering::Relaxed);
}
