//! Plans for a subset of the entries of a range.

use crate::{Decoder, Group, Plan, Task};
use std::{ops::Range, sync::Arc};

impl Plan {
    /// Restricts the plan to a subset of its entries, and removes the blocks without any of them. `entries`
    /// have to be strictly ascending and within the plan's range, which the engine verifies. `None` if the
    /// plan is already restricted, or if an entry cannot be decoded without earlier ones: by a program, by
    /// the format, or because another column counts its items.
    #[must_use]
    pub fn choosing(mut self, entries: Arc<[u64]>) -> Option<Self> {
        if self.chosen.is_some() || !self.can_choose() {
            return None;
        }
        self.tasks.retain_mut(|task| {
            let (Some(first), Some(last)) = ends(within(&entries, &task.wanted)) else { return false };
            task.wanted = first..last.saturating_add(1);
            true
        });
        self.chosen = Some(entries);
        Some(self)
    }

    /// Whether each entry can be decoded independently.
    #[must_use]
    pub fn can_choose(&self) -> bool {
        self.groups.iter().all(Group::can_choose) && self.tasks.iter().all(|task| task.needs.is_empty())
    }

    /// Returns the selected entries of a task; `None` if the plan has no selection, so that all of the task's
    /// [wanted](Task::wanted) entries are read.
    #[must_use]
    pub fn chosen_of(&self, task: &Task) -> Option<&[u64]> {
        self.chosen.as_deref().map(|chosen| within(chosen, &task.wanted))
    }

    /// Returns the number of rows of each array.
    #[must_use]
    pub fn rows(&self) -> u64 {
        match &self.chosen {
            None => self.entries.end.saturating_sub(self.entries.start),
            Some(chosen) => chosen.len() as u64,
        }
    }

    /// Returns the entry of a row of the arrays.
    #[must_use]
    pub fn entry_of(&self, row: u64) -> u64 {
        let chosen = self.chosen.as_ref().and_then(|chosen| chosen.get(usize::try_from(row).ok()?));
        chosen.copied().unwrap_or_else(|| self.entries.start.saturating_add(row))
    }
}

impl Group {
    /// Whether each entry can be decoded independently.
    #[must_use]
    pub fn can_choose(&self) -> bool {
        let is_alone = self.counter.is_none() && self.items.is_none() && !self.joins;
        is_alone && matches!(self.decoder, Decoder::Kernel(_))
    }
}

/// Returns those of the ascending entries that are in a range.
fn within<'e>(entries: &'e [u64], range: &Range<u64>) -> &'e [u64] {
    let begin = entries.partition_point(|entry| *entry < range.start);
    let end = entries.partition_point(|entry| *entry < range.end);
    entries.get(begin..end).unwrap_or_default()
}

fn ends(entries: &[u64]) -> (Option<u64>, Option<u64>) {
    (entries.first().copied(), entries.last().copied())
}
