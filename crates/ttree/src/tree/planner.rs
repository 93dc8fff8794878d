//! The groups and tasks of a tree's plan.

use std::ops::Range;

use forthwith_columns::LogicalType;
use forthwith_io::Several;
use forthwith_plan::{Error, Group, Reading, Result, Stored, Task};

use super::Tree;
use crate::{baskets, columns, format::misplaced, metadata::Branch};

/// Groups and tasks of a plan that is being made.
pub(super) struct Planner<'t> {
    pub(super) tree: &'t Tree,
    pub(super) entries: Range<u64>,
    pub(super) groups: Vec<Group>,
    pub(super) tasks: Vec<Task>,
    /// Other files that blocks are in.
    pub(super) others: Vec<String>,
}

impl Planner<'_> {
    /// Adds a field's group and tasks, and answers which branch its baskets need besides.
    pub(super) fn add(&mut self, field: u32) -> Result<Option<u32>> {
        let tree = self.tree;
        let branch = tree.branch(field)?;
        let column = tree.column(field, &branch)?;
        let reading = match &column.reading {
            Ok(reading) => with_times(&branch, reading.clone()),
            Err(what) => return Err(Error::unsupported(what)),
        };
        let baskets = tree.baskets(&branch)?;
        // Small branches are in the tree's record all the same.
        let file = match baskets.iter().any(|basket| matches!(basket.bytes, baskets::Bytes::File(_))) {
            true => self.file(&branch)?,
            false => Stretch { number: 0, size: 0 },
        };
        let (begin, end) = (branch.first_entry, branch.end());
        let Range { start, end: stop } = self.entries.clone();
        if start < stop && (start < begin || stop > end) {
            let path = &branch.field.path;
            let what = format!("entries {start} to {stop} of {path:?}, which has entries {begin} to {end}");
            return Err(Error::invalid(what));
        }
        let group = self.groups.len() as u32;
        let counter = match (&column.counter, branch.generates_offsets) {
            (Some(_), true) => Some(tree.counter(&column)?),
            _ => column.counts,
        };
        let specs = columns::specs(&reading, &branch.field.name);
        self.groups.push(Group::of(&branch.field.path, reading, specs));
        // The branch's own account, for want of a better one, shared out by size.
        let ratio = branch.total_bytes as f64 / branch.zip_bytes.max(1) as f64;
        let size = if branch.file_name.is_empty() { tree.file_size } else { file.size };
        let first = baskets.partition_point(|basket| basket.entries.end <= start);
        for basket in &baskets[first..] {
            if basket.entries.start.max(start) >= stop {
                break;
            }
            let length = basket.len();
            let missing = |seek, length| {
                let error = misplaced(seek, length, size);
                Stored::Missing { reason: error.kind.to_string(), at: error.place.byte }
            };
            let stored = match &basket.bytes {
                baskets::Bytes::File(range) => match file.range(range) {
                    Some(range) => Stored::Range(range),
                    None => missing(range.start as i64, length as i64),
                },
                baskets::Bytes::Record(range) => {
                    Stored::Inline(tree.metadata.objects.payload().slice(range.clone()))
                }
                &baskets::Bytes::Nowhere(seek, length) => missing(seek, length),
            };
            self.tasks.push(Task {
                wanted: basket.entries.start.max(start)..basket.entries.end.min(stop),
                payload_hint: (length as f64 * ratio.max(1.0)) as u64,
                ..Task::of(group, basket.number, basket.entries.clone(), stored)
            });
        }
        Ok(counter)
    }

    /// The file that the baskets of a branch are in, which is opened to see that it is there.
    fn file(&mut self, branch: &Branch<'_>) -> Result<Stretch> {
        if branch.file_name.is_empty() {
            return Ok(Stretch { number: 0, size: u64::MAX });
        }
        let size = self.tree.source.beside(&branch.file_name)?.size()?;
        let known = self.others.iter().position(|name| **name == *branch.file_name);
        let at = known.unwrap_or_else(|| {
            self.others.push(branch.file_name.to_string());
            self.others.len() - 1
        });
        Ok(Stretch { number: at + 1, size })
    }

    pub(super) fn need(&mut self, group: u32, counter: u32) {
        self.groups[group as usize].counter = Some(counter);
        for task in self.tasks.iter_mut().filter(|task| task.group == group) {
            task.needs.push(counter);
        }
    }
}

/// One of the files of a plan.
struct Stretch {
    number: usize,
    size: u64,
}

impl Stretch {
    /// The place of a range of the file among all files, if the file has it.
    fn range(&self, range: &Range<u64>) -> Option<Range<u64>> {
        let place = |at| Several::place(self.number, at).filter(|_| range.end <= self.size);
        Some(place(range.start)?..place(range.end)?)
    }
}

/// A reading with numbers as the times that the branch's title names.
pub(super) fn with_times(branch: &Branch<'_>, reading: Reading) -> Reading {
    match LogicalType::of_title(&branch.field.title) {
        Some(times) => Reading { form: reading.form.with_times(times), ..reading },
        None => reading,
    }
}
