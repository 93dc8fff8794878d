//! Units of work that threads take: a task or a part of one.
//!
//! The entries of a long uncompressed block in memory with entry bounds are divided among several threads,
//! which also reduces the amount that is decoded before its turn.

use crate::part::Part;
use forthwith_plan::{Decoder, Plan, Stored, Task};
use std::{borrow::Cow, ops::Range};

/// Approximate number of stored bytes of a step. With fewer, waiting costs more than decoding in parallel
/// gains.
const STEP: u64 = 1 << 20;

/// A unit of work.
pub(crate) struct Step {
    /// Index of the plan among those of the call.
    pub(crate) part: usize,
    /// Index of the task in the plan.
    pub(crate) task: usize,
    /// Number among the steps of the group in all plans.
    pub(crate) number: usize,
    /// Wanted entries of the step; `None` for all of the task.
    entries: Option<Range<u64>>,
    /// Whether this is the last step of the task.
    pub(crate) ends: bool,
}

impl Step {
    /// Returns the task restricted to the entries of the step.
    pub(crate) fn of<'t>(&self, task: &'t Task) -> Cow<'t, Task> {
        match &self.entries {
            None => Cow::Borrowed(task),
            Some(entries) => Cow::Owned(Task { wanted: entries.clone(), ..task.clone() }),
        }
    }
}

/// Returns the steps of all tasks. `order` has the indices of plans and tasks, in which those of each group
/// ascend. Long blocks are divided into several steps if `is_plain`.
pub(crate) fn steps(
    parts: &[Part<'_>],
    order: &[(usize, usize)],
    is_plain: impl Fn(&Part<'_>, &Task) -> bool,
) -> Vec<Step> {
    let mut numbers = vec![0; parts.first().map_or(0, |part| part.plan.groups.len())];
    let mut steps = Vec::with_capacity(order.len());
    for &(part, at) in order {
        let plan = parts[part].plan;
        let task = &plan.tasks[at];
        let number = &mut numbers[task.group as usize];
        let Range { start, end } = task.wanted;
        let wanted = end - start;
        let pieces = match pieces(plan, task).min(wanted) {
            pieces if pieces > 1 && is_plain(&parts[part], task) => pieces,
            _ => 1,
        };
        for piece in 0..pieces {
            // 128 bits: entry counts are untrusted, so the product may overflow 64 bits.
            let border =
                |piece: u64| start + (u128::from(wanted) * u128::from(piece) / u128::from(pieces)) as u64;
            let entries = (pieces > 1).then(|| border(piece)..border(piece + 1));
            steps.push(Step { part, task: at, number: *number, entries, ends: piece + 1 == pieces });
            *number += 1;
        }
    }
    steps
}

/// Returns the number of steps into which a task is divided; 0 or 1 if it is not.
fn pieces(plan: &Plan, task: &Task) -> u64 {
    let bounded =
        matches!(&plan.groups[task.group as usize].decoder, Decoder::Program(program) if program.bounded);
    match &task.stored {
        // A block that is compressed by the metadata may be copied before it is decoded.
        Stored::Range(_) if bounded && task.payload_hint <= task.stored.len() + task.stored.len() / 16 => {
            task.stored.len() / STEP
        }
        _ => 1,
    }
}
