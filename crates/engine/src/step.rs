//! The units that are handed out to threads: a task, or a part of one.
//!
//! A long block that lies in memory as it is, and that says where its entries begin, need not be decoded by
//! one thread: its entries are shared out. Less is decoded ahead of its turn, too.

use forthwith_plan::{Decoder, Plan, Stored, Task};
use std::{borrow::Cow, ops::Range};

/// Stored bytes of a step, about: with fewer, threads wait for each other more often than decoding ahead is
/// worth.
const STEP: u64 = 1 << 20;

/// A part of the work.
pub(crate) struct Step {
    /// Position of the task in the plan.
    pub(crate) task: usize,
    /// Number among the steps of the group.
    pub(crate) number: usize,
    /// The entries wanted of it, if it is not all that the task wants.
    part: Option<Range<u64>>,
    /// Whether it is the last of the task.
    pub(crate) ends: bool,
}

impl Step {
    /// The task as far as it is part of the step.
    pub(crate) fn of<'t>(&self, task: &'t Task) -> Cow<'t, Task> {
        match &self.part {
            None => Cow::Borrowed(task),
            Some(part) => Cow::Owned(Task { wanted: part.clone(), ..task.clone() }),
        }
    }
}

/// The steps of all tasks, in this order, in which those of each group ascend; long blocks in several if they
/// lie there as they are.
pub(crate) fn steps(plan: &Plan, order: &[usize], is_plain: impl Fn(&Task) -> bool) -> Vec<Step> {
    let mut numbers = vec![0; plan.groups.len()];
    let mut steps = Vec::with_capacity(order.len());
    for &at in order {
        let task = &plan.tasks[at];
        let number = &mut numbers[task.group as usize];
        let Range { start, end } = task.wanted;
        let wanted = end - start;
        let parts = match parts(plan, task).min(wanted) {
            parts if parts > 1 && is_plain(task) => parts,
            _ => 1,
        };
        for part in 0..parts {
            // 128 bits: entry counts are the file's word.
            let border =
                |part: u64| start + (u128::from(wanted) * u128::from(part) / u128::from(parts)) as u64;
            let of = (parts > 1).then(|| border(part)..border(part + 1));
            steps.push(Step { task: at, number: *number, part: of, ends: part + 1 == parts });
            *number += 1;
        }
    }
    steps
}

/// How many steps a task is worth.
fn parts(plan: &Plan, task: &Task) -> u64 {
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
