//! Division of tables into partitions, which are ranges of entries that the workers of a cluster read.

use super::{Chain, file_schemas::has_same_fields, opening};
use crate::{Step, Table};
use forthwith_plan::Result;
use std::{collections::BTreeSet, ops::Range};

/// Number of remote files that are opened concurrently. Each takes a few small requests.
const REMOTE: usize = 16;

/// The partitions of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Division {
    /// Entries of each partition, in ascending order. An empty table has one empty partition.
    pub partitions: Vec<Range<u64>>,
    /// Number of stored bytes of the columns in all entries.
    pub stored_bytes: u64,
    /// Number of entries of the table.
    pub entries: u64,
    /// Size of the file in bytes.
    pub file_size: u64,
    /// The [identity](crate::FileInfo::identity) of the file.
    pub identity: Option<String>,
}

/// Fields of a table, which other tables with the same fields are divided by.
#[derive(Clone, Debug)]
pub struct DivisionSchema {
    /// The table.
    pub table: Table,
    /// Positions of the fields that are read.
    pub fields: Vec<u32>,
}

impl Table {
    /// Divides the table into partitions of about the size `step`, or into a single one if it is `None`. With
    /// `align`, partitions only end where blocks of all fields end, and may be larger.
    ///
    /// ```
    /// use forthwith::{File, Step};
    /// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data");
    ///
    /// let events = File::open(format!("{folder}/zmumu.root"))?.table("events")?;
    /// let field = events.find("MET_pt")?;
    /// let division = events.divide(&[field], Some(Step::Entries(1000)), false)?;
    /// assert_eq!(division.partitions, [0..1000, 1000..2000, 2000..3000, 3000..3600]);
    /// # Ok::<(), forthwith::plan::Error>(())
    /// ```
    ///
    /// # Errors
    /// Errors of [`plan`](Self::plan).
    pub fn divide(&self, fields: &[u32], step: Option<Step>, align: bool) -> Result<Division> {
        let entries = self.entries()?;
        let stored_bytes = if fields.is_empty() { 0 } else { self.plan(fields, 0..entries)?.stored_bytes() };
        let partitions = match step {
            Some(step) if entries > 0 => {
                let steps = self.cut(fields, 0..entries, step)?;
                if align { aligned(&steps, &self.block_ends(fields, entries)?) } else { steps }
            }
            _ => std::iter::once(0..entries).collect(),
        };
        let info = self.file().info()?;
        Ok(Division { partitions, stored_bytes, entries, file_size: info.size, identity: info.identity })
    }

    /// Returns the entries at which blocks of all fields end, and the end of the table.
    fn block_ends(&self, fields: &[u32], entries: u64) -> Result<BTreeSet<u64>> {
        let plan = self.plan(fields, 0..entries)?;
        let mut ends: Vec<BTreeSet<u64>> = vec![BTreeSet::new(); fields.len().min(plan.groups.len())];
        for task in &plan.tasks {
            if let Some(ends) = ends.get_mut(task.group as usize) {
                ends.insert(plan.entries_of(task, &task.entries).end);
            }
        }
        let mut groups = ends.into_iter().filter(|ends| !ends.is_empty());
        let mut common = groups.next().unwrap_or_default();
        for ends in groups {
            common.retain(|end| ends.contains(end));
        }
        common.retain(|end| (1..entries).contains(end));
        common.insert(entries);
        Ok(common)
    }
}

impl Chain {
    /// Divides each table that matches one of `schemas` as [`Table::divide`] does, and returns it with the
    /// position of the schema. A table matches if it has the same fields, and those to read have the same
    /// types. `None` for other tables, and for files with an error.
    #[must_use]
    pub fn divide_alike(
        &self,
        schemas: &[DivisionSchema],
        step: Option<Step>,
        align: bool,
    ) -> Vec<Option<(usize, Division)>> {
        let divide = |file: usize| -> Result<Option<(usize, Division)>> {
            let table = self.table(file)?;
            for (at, schema) in schemas.iter().enumerate() {
                if schema.is_of(&table)? {
                    return Ok(Some((at, table.divide(&schema.fields, step, align)?)));
                }
            }
            Ok(None)
        };
        let workers = opening::workers(self, REMOTE);
        let divided = opening::side_by_side_of(0..self.len(), workers, &divide);
        divided.into_iter().map(|division| division.ok().flatten()).collect()
    }
}

impl DivisionSchema {
    fn is_of(&self, table: &Table) -> Result<bool> {
        Ok(has_same_fields(&self.table, table)?
            && self.table.forms(&self.fields)? == table.forms(&self.fields)?)
    }
}

/// Returns partitions that end at allowed entries: at the last one at or before the end of a step, or at the
/// first one after it.
fn aligned(steps: &[Range<u64>], allowed: &BTreeSet<u64>) -> Vec<Range<u64>> {
    let mut partitions = Vec::new();
    let mut start = 0;
    for &stop in allowed {
        let first = steps.partition_point(|step| step.end <= start);
        let has_end = steps.get(first).is_some_and(|step| step.end <= stop);
        if has_end || Some(&stop) == allowed.last() {
            partitions.push(start..stop);
            start = stop;
        }
    }
    partitions
}
