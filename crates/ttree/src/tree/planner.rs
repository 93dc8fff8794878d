//! Groups and tasks of a tree's plan.

use std::ops::Range;

use forthwith_columns::LogicalType;
use forthwith_io::Several;
use forthwith_plan::{Error, Group, Reading, Result, Stored, Task};

use super::Tree;
use crate::{baskets, columns, format::misplaced, metadata::Branch};

/// Builder of the groups and tasks of a plan.
pub(super) struct Planner<'t> {
    pub(super) tree: &'t Tree,
    pub(super) entries: Range<u64>,
    pub(super) groups: Vec<Group>,
    pub(super) tasks: Vec<Task>,
    /// Other files that have baskets.
    pub(super) others: Vec<String>,
}

impl Planner<'_> {
    /// Adds the group and the tasks of a field. Returns the branch whose values its baskets need to find
    /// their entries.
    pub(super) fn add(&mut self, field: u32) -> Result<Option<u32>> {
        let tree = self.tree;
        let branch = tree.branch(field)?;
        let column = tree.column(field, &branch)?;
        let reading = match &column.reading {
            Ok(reading) => with_times(&branch, reading.clone()),
            Err(what) => return Err(Error::unsupported(what)),
        };
        let baskets = tree.baskets(&branch)?;
        // Baskets of small branches may be in the tree's record, even if a file is named.
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
        // The expansion of the whole branch is distributed in proportion to the sizes of its baskets.
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

    /// Returns the file with the baskets of a branch, which is opened to check that it exists.
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
    /// Returns the position of a range of this file among all files, or `None` if it exceeds the file.
    fn range(&self, range: &Range<u64>) -> Option<Range<u64>> {
        let place = |at| Several::place(self.number, at).filter(|_| range.end <= self.size);
        Some(place(range.start)?..place(range.end)?)
    }
}

/// Returns a reading whose numbers have the logical type in the branch's title, if it names one.
pub(super) fn with_times(branch: &Branch<'_>, reading: Reading) -> Reading {
    match LogicalType::of_title(&branch.field.title) {
        Some(times) => Reading { form: reading.form.with_times(times), ..reading },
        None => reading,
    }
}
