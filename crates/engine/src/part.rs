//! The plans of one call: that of a file, or of several files whose blocks fill the same columns.

use crate::place::{Load, Places};
use forthwith_io::Source;
use forthwith_plan::{BlockFormat, Decoder, Group, Kernel, Plan};
use std::{fmt, mem::discriminant, sync::Arc};

/// A plan, the source it was made for, and the format that understands its blocks.
#[derive(Clone, Copy)]
pub struct Part<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The file.
    pub source: &'a Arc<dyn Source>,
    /// The format of its blocks.
    pub format: &'a dyn BlockFormat,
}

impl fmt::Debug for Part<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Part").field("uri", &self.plan.uri).finish_non_exhaustive()
    }
}

/// Whether the blocks of both plans, which are of this format, can fill the same columns: groups and columns are equal, and
/// decoded in ways that need no more than the blocks of one file.
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

/// Rows of a column that counts items, as the tasks of one plan number them.
#[derive(Clone, Copy)]
pub(crate) struct Counter<'a> {
    pub(crate) places: &'a Places<'a>,
    origin: Origin,
}

/// The first row that a plan fills of a group.
#[derive(Clone, Copy, Default)]
pub(crate) struct Origin {
    /// Rows of the plans before it.
    pub(crate) row: u64,
    /// The entry that is this row.
    pub(crate) entry: u64,
}

impl<'a> Counter<'a> {
    pub(crate) const fn new(places: &'a Places<'a>, origin: Origin) -> Self {
        Self { places, origin }
    }

    /// The row of an entry.
    pub(crate) fn row(&self, entry: u64) -> Option<usize> {
        let row = entry.checked_sub(self.origin.entry)?.checked_add(self.origin.row)?;
        usize::try_from(row).ok()
    }
}

/// The first row of each group, for each plan. `before` are rows of calls before this one.
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
