//! The decision whether machine code pays.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::compile::ir::{Body, Ir, Kind};
use crate::interpret::fused::Plans;
use crate::lower::ir::Code;

/// Whether a program spends its time in loops, or in recursion, that are not native loops already.
pub(crate) fn pays(program: &Ir, plans: &Plans) -> bool {
    is_hot(program, &|body| !plans.is_native(body.segment as usize))
}

/// Whether a program has loops that do not consist of idioms.
fn is_plain(program: &Ir, plans: &Plans) -> bool {
    is_hot(program, &|body| !plans.is_recognised(body.segment as usize))
}

/// Whether a program has a loop or recursion; `do` loops count if `wanted` holds for their bodies.
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
                // The word is called twice, or by itself.
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

/// Moving average of the time to compile an instruction, in nanoseconds; initially that of a slow processor.
static COST: AtomicU64 = AtomicU64::new(12_000);

fn size(code: &Code) -> u64 {
    let blocks = code.functions.iter().flat_map(|function| &function.blocks);
    // A function and a block have a cost of their own.
    blocks.map(|block| block.code.len() as u64 + 2).sum::<u64>() + 16
}

/// Whether a program has a choice within a loop with a condition, as programs for fields that are preceded by
/// keys have.
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

/// Returns the number of bytes to decode, or the equivalent work, from which compiling a program pays.
/// Machine code saves half a nanosecond per byte of idioms, which flat code has instructions for, four per
/// byte of fields that are preceded by keys, two per byte of other programs, and has to save twice its cost.
pub(crate) fn threshold(program: &Ir, plans: &Plans, code: &Code) -> u64 {
    if program.inputs.is_empty() {
        // Without inputs, work cannot be measured.
        return 0;
    }
    let half_bytes = match (is_plain(program, plans), chooses(program)) {
        (true, true) => 1,
        (true, false) => 2,
        (false, _) => 8,
    };
    size(code).saturating_mul(COST.load(Ordering::Relaxed)).saturating_mul(half_bytes) / 2
}

/// Updates the moving average of the time to compile an instruction.
pub(super) fn learn(code: &Code, took: Duration) {
    let new = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX) / size(code);
    let old = COST.load(Ordering::Relaxed);
    // Clamped, so that a compilation that was interrupted counts little.
    COST.store((old * 3 + new.clamp(1_000, 100_000)) / 4, Ordering::Relaxed);
}
