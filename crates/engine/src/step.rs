//! The units that are handed out to threads: a task, or a part of one.
//!
//! A long block that lies in memory as it is, and that says where its entries begin, need not be decoded by
//! one thread: its entries are shared out. Less is decoded ahead of its turn, too.

use crate::part::Part;
use forthwith_plan::{Decoder, Plan, Stored, Task};
use std::{borrow::Cow, ops::Range};

/// Stored bytes of a step, about: with fewer, threads wait for each other more often than decoding ahead is
/// worth.
const STEP: u64 = 1 << 20;

/// A unit of work.
pub(crate) struct Step {
    /// Position of the plan among those of the call.
    pub(crate) part: usize,
    /// Position of the task in the plan.
    pub(crate) task: usize,
    /// Number among the steps of the group, of all plans.
    pub(crate) number: usize,
    /// The entries wanted of it, if it is not all that the task wants.
    entries: Option<Range<u64>>,
    /// Whether it is the last of the task.
    pub(crate) ends: bool,
}

impl Step {
    /// The task as far as it is part of the step.
    pub(crate) fn of<'t>(&self, task: &'t Task) -> Cow<'t, Task> {
        match &self.entries {
            None => Cow::Borrowed(task),
            Some(entries) => Cow::Owned(Task { wanted: entries.clone(), ..task.clone() }),
        }
    }
}

/// The steps of all tasks, in this order, in which those of each group ascend; long blocks in several if they
/// lie there as they are. `order` has positions of plans and of tasks.
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
            // 128 bits: entry counts are the file's word.
            let border =
                |piece: u64| start + (u128::from(wanted) * u128::from(piece) / u128::from(pieces)) as u64;
            let entries = (pieces > 1).then(|| border(piece)..border(piece + 1));
            steps.push(Step { part, task: at, number: *number, entries, ends: piece + 1 == pieces });
            *number += 1;
        }
    }
    steps
}

/// How many steps a task is worth.
fn pieces(plan: &Plan, task: &Task) -> u64 {
    let bounded =
        matches!(&plan.groups[task.group as usize].decoder, Decoder::Program(program) if program.bounded);
    match &task.stored {
        // A block that the metadata call compressed may be copied before it is looked at.
        Stored::Range(_) if bounded && task.payload_hint <= task.stored.len() + task.stored.len() / 16 => {
            task.stored.len() / STEP
        }
        _ => 1,
    }
}
