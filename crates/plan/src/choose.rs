//! Plans for some of the entries of a range.

use crate::{Decoder, Group, Plan, Task};
use std::{ops::Range, sync::Arc};

impl Plan {
    /// The plan for some of its entries alone, without the blocks that have none of them. They have to ascend and to be in the
    /// plan's range, which the engine verifies. `None` where some were chosen before, and where an entry cannot be decoded without
    /// those before it: by a program, by the format, or because another column counts its items.
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

    /// Whether each entry can be decoded by itself.
    #[must_use]
    pub fn can_choose(&self) -> bool {
        self.groups.iter().all(Group::can_choose) && self.tasks.iter().all(|task| task.needs.is_empty())
    }

    /// The entries of a task that are chosen; `None` if the plan chooses none, so that all that the task wants are read.
    #[must_use]
    pub fn chosen_of(&self, task: &Task) -> Option<&[u64]> {
        self.chosen.as_deref().map(|chosen| within(chosen, &task.wanted))
    }

    /// The number of entries of each array.
    #[must_use]
    pub fn rows(&self) -> u64 {
        match &self.chosen {
            None => self.entries.end.saturating_sub(self.entries.start),
            Some(chosen) => chosen.len() as u64,
        }
    }

    /// The entry that a row of the arrays is.
    #[must_use]
    pub fn entry_of(&self, row: u64) -> u64 {
        let chosen = self.chosen.as_ref().and_then(|chosen| chosen.get(usize::try_from(row).ok()?));
        chosen.copied().unwrap_or_else(|| self.entries.start.saturating_add(row))
    }
}

impl Group {
    /// Whether each entry can be decoded by itself.
    #[must_use]
    pub fn can_choose(&self) -> bool {
        let is_alone = self.counter.is_none() && self.items.is_none() && !self.joins;
        is_alone && matches!(self.decoder, Decoder::Kernel(_))
    }
}

/// Those of ascending entries that are in a range.
fn within<'e>(entries: &'e [u64], range: &Range<u64>) -> &'e [u64] {
    let begin = entries.partition_point(|entry| *entry < range.start);
    let end = entries.partition_point(|entry| *entry < range.end);
    entries.get(begin..end).unwrap_or_default()
}

fn ends(entries: &[u64]) -> (Option<u64>, Option<u64>) {
    (entries.first().copied(), entries.last().copied())
}
