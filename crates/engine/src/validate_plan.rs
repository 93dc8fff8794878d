//! Validation of plans before they are read: plans are untrusted, as they may come from another machine.

use forthwith_columns::{DType, Form};
use forthwith_plan::{BlockFormat, Decoder, Error, Group, Kernel, Plan, Result, Stored};
use std::ops::Range;

/// Checks that a plan is consistent and belongs to the format.
pub(crate) fn check(plan: &Plan, format: &dyn BlockFormat) -> Result<()> {
    let invalid = |what: String| Err(Error::invalid(what));
    if plan.format != format.id() {
        return invalid(format!("a plan for {}, not for {}", plan.format, format.id()));
    }
    if plan.delivered as usize > plan.groups.len() || plan.entries.start > plan.entries.end {
        return invalid("a plan that delivers more than it has".into());
    }
    let groups = plan.groups.len();
    for group in &plan.groups {
        if !consistent(plan, group) {
            return invalid(format!("a plan with an impossible group ({})", group.path));
        }
    }
    if let Some(chosen) = &plan.chosen {
        let ascend = chosen.windows(2).all(|pair| pair[0] < pair[1]);
        let inside =
            [chosen.first(), chosen.last()].into_iter().flatten().all(|entry| plan.entries.contains(entry));
        if !ascend || !inside || !plan.can_choose() {
            return invalid("a plan for some entries that cannot be read by themselves".into());
        }
    }
    // A group that others need must not need others: the order of tasks has only these two levels.
    let mut needing = vec![false; groups];
    for task in plan.tasks.iter().filter(|t| !t.needs.is_empty()) {
        if let Some(needing) = needing.get_mut(task.group as usize) {
            *needing = true;
        }
    }
    // Range of entries so far, for each group.
    let mut at: Vec<Option<Range<u64>>> = vec![None; groups];
    let mut rows = vec![0; groups];
    for task in &plan.tasks {
        let inside = task.entries.start <= task.wanted.start
            && task.wanted.start < task.wanted.end
            && task.wanted.end <= task.entries.end;
        let known = (task.group as usize) < groups
            && task.needs.iter().all(|n| needing.get(*n as usize).is_some_and(|needing| !needing))
            && plan.groups[task.group as usize].counter.is_none_or(|c| task.needs.contains(&c));
        let stored = match &task.stored {
            Stored::Range(range) => range.start <= range.end,
            Stored::Inline(_) | Stored::Missing { .. } => true,
        };
        if !inside || !known || !stored {
            return invalid(format!("a plan with an impossible task (block {})", task.block));
        }
        let so_far = at[task.group as usize].get_or_insert(task.wanted.start..task.wanted.start);
        if let Some(chosen) = plan.chosen_of(task) {
            // Gaps between blocks are allowed, so the entries are counted instead.
            if so_far.end > task.wanted.start {
                return invalid(format!("a plan whose blocks are not in their order (block {})", task.block));
            }
            rows[task.group as usize] += chosen.len() as u64;
        } else if so_far.end != task.wanted.start {
            return invalid(format!("a plan whose blocks do not meet (block {})", task.block));
        }
        so_far.end = task.wanted.end;
    }
    for ((group, covered), rows) in plan.groups.iter().zip(&at).zip(rows).take(plan.delivered as usize) {
        let counted = group.items.as_ref().unwrap_or(&plan.entries);
        if let Some(chosen) = plan.chosen.as_ref().filter(|chosen| rows != chosen.len() as u64) {
            let all = chosen.len();
            return invalid(format!("a plan with blocks for {rows} of {all} entries of {}", group.path));
        }
        let covered = covered.as_ref().map_or(counted.is_empty(), |c| c == counted);
        if !covered && plan.chosen.is_none() {
            let Range { start, end } = counted;
            return invalid(format!("a plan that does not cover entries {start} to {end} of {}", group.path));
        }
    }
    Ok(())
}

/// Whether a group has the columns that its decoder and its counter require.
fn consistent(plan: &Plan, group: &Group) -> bool {
    let columns = match &group.decoder {
        Decoder::Kernel(Kernel::Flat { per_entry, .. }) if *per_entry > 0 => 1,
        Decoder::Kernel(Kernel::Slots { slots, .. }) => slots.len(),
        Decoder::Kernel(Kernel::Jagged { per_item, .. }) if *per_item > 0 => 2,
        Decoder::Program(program) => program.outputs.len(),
        Decoder::Format(_) => group.columns.len(),
        _ => return false,
    };
    let counter = group.counter.is_none_or(|c| {
        let counter = plan.groups.get(c as usize);
        counter.is_some_and(|c| match (&c.decoder, &group.decoder) {
            (Decoder::Kernel(Kernel::Flat { per_entry: 1, .. }), _) => true,
            // Each item of the counter is a length.
            (Decoder::Kernel(Kernel::Jagged { per_item: 1, .. }), Decoder::Program(program)) => {
                program.counts
            }
            _ => false,
        })
    });
    let offsets = group.columns.iter().all(|c| !c.offsets || c.dtype == DType::Int64);
    let split = !group.split || matches!(group.form, Form::Record { .. });
    let first = plan.groups.first().is_some_and(|first| std::ptr::eq(first, group));
    group.columns.len() == columns && offsets && counter && split && !(group.joins && (first || group.split))
}
