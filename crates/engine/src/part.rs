//! The plans of one call, for one or several files whose blocks fill the same columns.

use crate::place::{Load, Places};
use forthwith_io::Source;
use forthwith_plan::{BlockFormat, Decoder, Group, Kernel, Plan};
use std::{fmt, mem::discriminant, sync::Arc};

/// A plan, its source, and the format of its blocks.
#[derive(Clone, Copy)]
pub struct Part<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The source for which the plan was made.
    pub source: &'a Arc<dyn Source>,
    /// The format of its blocks.
    pub format: &'a dyn BlockFormat,
}

impl fmt::Debug for Part<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Part").field("uri", &self.plan.uri).finish_non_exhaustive()
    }
}

/// Whether the blocks of two plans of the same format can fill the same columns: groups and columns are
/// equal, and their decoders need no more context than the blocks of one file do.
#[must_use]
pub fn fills_same_columns(first: &Plan, other: &Plan, format: &dyn BlockFormat) -> bool {
    let settings = |plan: &Plan| {
        (
            plan.delivered,
            plan.utf8,
            plan.text,
            plan.times_as_integers,
            plan.bits,
            plan.views,
            plan.constants.len(),
        )
    };
    first.format == other.format
        && settings(first) == settings(other)
        && first.picks == other.picks
        && first.groups.len() == other.groups.len()
        && first.groups.iter().zip(&other.groups).all(|(first, other)| is_alike(first, other, format))
        && first.constants.iter().zip(&other.constants).all(|(first, other)| {
            first.at == other.at
                && first.constant.name == other.constant.name
                && first.constant.form() == other.constant.form()
        })
}

fn is_alike(first: &Group, other: &Group, format: &dyn BlockFormat) -> bool {
    let settings = |group: &Group| (group.counter, group.split, group.joins, group.items.is_some());
    let are_decoders_alike = match (&first.decoder, &other.decoder) {
        (Decoder::Kernel(first), Decoder::Kernel(other)) => match (first, other) {
            (Kernel::Flat { per_entry: first, .. }, Kernel::Flat { per_entry: other, .. }) => first == other,
            (Kernel::Jagged { per_item: first, .. }, Kernel::Jagged { per_item: other, .. }) => {
                first == other
            }
            (Kernel::Slots { slots: first, .. }, Kernel::Slots { slots: other, .. }) => {
                let counts = |slots: &[forthwith_plan::Slot]| -> Vec<_> {
                    slots.iter().map(|slot| (slot.count, slot.wire.dtype())).collect()
                };
                counts(first) == counts(other)
            }
            _ => discriminant(first) == discriminant(other),
        },
        (Decoder::Program(first), Decoder::Program(other)) => {
            first.finish == other.finish && first.outputs == other.outputs
        }
        (Decoder::Format(_), Decoder::Format(_)) => format.fills_same_columns(first, other),
        _ => false,
    };
    are_decoders_alike
        && settings(first) == settings(other)
        && first.form == other.form
        && first.columns == other.columns
}

/// A counter column, with the mapping of a plan's entries to its rows.
#[derive(Clone, Copy)]
pub(crate) struct Counter<'a> {
    pub(crate) places: &'a Places<'a>,
    origin: Origin,
}

/// The first row of a group that a plan fills.
#[derive(Clone, Copy, Default)]
pub(crate) struct Origin {
    /// Number of rows of earlier plans.
    pub(crate) row: u64,
    /// The plan's entry of this row.
    pub(crate) entry: u64,
}

impl<'a> Counter<'a> {
    pub(crate) const fn new(places: &'a Places<'a>, origin: Origin) -> Self {
        Self { places, origin }
    }

    /// Returns the row of an entry; `None` if it is out of range.
    pub(crate) fn row(&self, entry: u64) -> Option<usize> {
        let row = entry.checked_sub(self.origin.entry)?.checked_add(self.origin.row)?;
        usize::try_from(row).ok()
    }
}

/// Returns the first row of each group, for each plan. `before` are the rows of earlier calls.
pub(crate) fn origins(parts: &[Part<'_>], loads: &[Vec<Load>], before: &[u64]) -> Vec<Vec<Origin>> {
    let mut rows = before.to_vec();
    let of_part = |(part, loads): (&Part<'_>, &Vec<Load>)| {
        let of_group = |(load, row): (&Load, &mut u64)| {
            let entry = load.first.unwrap_or(part.plan.entries.start);
            let origin = Origin { row: *row, entry };
            *row = row.saturating_add(load.entries);
            origin
        };
        loads.iter().zip(&mut rows).map(of_group).collect()
    };
    parts.iter().zip(loads).map(of_part).collect()
}
