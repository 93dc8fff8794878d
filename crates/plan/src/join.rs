//! Merging of tasks whose blocks are contiguous in the file.

use crate::{BlockFormat, Plan, Stored};

impl Plan {
    /// Merges adjacent tasks whose blocks [continue each other](BlockFormat::continues) in the file, for
    /// callers that use the stored bytes directly. Threads can share less of such a plan.
    pub fn join(&mut self, format: &dyn BlockFormat) {
        let groups = &self.groups;
        self.tasks.dedup_by(|next, task| {
            let group = groups.get(task.group as usize).filter(|_| task.group == next.group);
            let is_one = group.is_some_and(|group| format.continues(group, task, next));
            if let (true, Stored::Range(range)) = (is_one, &mut task.stored) {
                range.end = range.end.saturating_add(next.stored.len());
                task.entries.end = next.entries.end;
                task.wanted.end = next.wanted.end;
                task.payload_hint = task.payload_hint.saturating_add(next.payload_hint);
                return true;
            }
            false
        });
    }
}
