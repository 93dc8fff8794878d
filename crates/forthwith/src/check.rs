//! Common part of checks of files that are one table: all data are read, in bounded parts, and dropped.

use crate::table;
use forthwith_columns::Array;
use forthwith_engine::Engine;
use forthwith_io::Source;
use forthwith_plan::{
    Block, BlockFormat, CheckReport, Columns, Dataset, Error, ErrorKind, Finding, Framing, Group, Piece,
    Place, Plan, Result, Scratch, Severity, Stored, Task,
};
use std::{
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

/// Maximum number of payload bytes that are read together, unless a single block is larger.
const WINDOW: u64 = 64 << 20;

/// Callback for the arrays of readable fields.
pub(crate) type Seen<'a> = dyn FnMut(&[u32], &[Array], &mut CheckReport) + 'a;

/// Origin of the byte offsets in errors.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bytes {
    /// Decompressed blocks: such an offset does not exist in the file.
    Decompressed,
    /// Stored blocks. A byte that is already reported is not reported again.
    Stored,
    /// The file.
    File,
}

/// A table whose readability is checked.
pub(crate) struct Reading<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) source: &'a Arc<dyn Source>,
    pub(crate) dataset: &'a dyn Dataset,
    pub(crate) check_text: bool,
    /// Name of the parts of the file that are read: `"blocks"`.
    pub(crate) part: &'static str,
    /// Number of bytes at the start of a task that are not part of its block.
    pub(crate) ahead: u64,
    pub(crate) counted: Bytes,
    pub(crate) format: &'a Counted<'a>,
}

/// A format that counts the bytes it decompresses.
pub(crate) struct Counted<'a> {
    format: &'a dyn BlockFormat,
    bytes: AtomicU64,
}

impl<'a> Counted<'a> {
    pub(crate) fn new(format: &'a dyn BlockFormat) -> Self {
        Self { format, bytes: AtomicU64::new(0) }
    }

    /// Returns the number of decompressed bytes of readable blocks. A payload that is part of the stored
    /// block is not counted.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }
}

impl BlockFormat for Counted<'_> {
    fn id(&self) -> &'static str {
        self.format.id()
    }

    fn unit(&self) -> &'static str {
        self.format.unit()
    }

    fn unframe<'b>(
        &self,
        group: &Group,
        task: &Task,
        stored: &'b [u8],
        scratch: &'b mut Scratch,
    ) -> Result<Block<'b>> {
        let block = self.format.unframe(group, task, stored, scratch)?;
        if !stored.as_ptr_range().contains(&block.payload.as_ptr()) {
            self.bytes.fetch_add(block.payload.len() as u64, Ordering::Relaxed);
        }
        Ok(block)
    }

    fn locate(&self, group: &Group, task: &Task, head: &[u8]) -> Framing {
        self.format.locate(group, task, head)
    }

    fn pieces(&self, group: &Group, task: &Task, stored: &[u8]) -> Result<Vec<Piece>> {
        self.format.pieces(group, task, stored)
    }

    fn may_run_long(&self) -> bool {
        self.format.may_run_long()
    }

    fn decode(
        &self,
        group: &Group,
        task: &Task,
        stored: &[u8],
        scratch: &mut Scratch,
        columns: &mut dyn Columns,
    ) -> Result<()> {
        self.format.decode(group, task, stored, scratch, columns)
    }
}

impl Reading<'_> {
    /// Returns the readable fields that are not parts of others. Unreadable ones are reported as remarks.
    pub(crate) fn fields(&self, report: &mut CheckReport) -> Result<Vec<u32>> {
        let mut fields = Vec::new();
        for (number, field) in (0..).zip(self.dataset.fields()?).filter(|(_, field)| !field.is_part) {
            match self.dataset.describe(number)?.reading {
                Ok(_) => fields.push(number),
                Err(why) => report.add(Finding {
                    severity: Severity::Remark,
                    part: "columns",
                    object: Some(field.path.clone()),
                    byte: None,
                    what: Error::unsupported(why).kind.to_string(),
                }),
            }
        }
        Ok(fields)
    }

    /// Reads entries of some fields, and passes the arrays to `seen`. If they cannot be read together, each
    /// field is read alone, and then each part of an unreadable field.
    pub(crate) fn columns(
        &self,
        fields: &[u32],
        entries: &Range<u64>,
        report: &mut CheckReport,
        seen: &mut Seen<'_>,
    ) -> Result<()> {
        let planned = self.dataset.plan(fields, entries.clone());
        let failed = match (fields, planned) {
            ([], _) => return Ok(()),
            ([_, _, ..], Ok(plan)) if window(&plan) > WINDOW => None,
            (_, Ok(plan)) => match self.read(&plan) {
                Ok(arrays) => {
                    seen(fields, &arrays, report);
                    return Ok(());
                }
                Err(error) => Some((error, Some(plan))),
            },
            (_, Err(error)) => Some((error, None)),
        };
        if let ([_, _, ..], _) | (_, None) = (fields, &failed) {
            let (first, second) = fields.split_at(fields.len() / 2);
            self.columns(first, entries, report, seen)?;
            return self.columns(second, entries, report, seen);
        }
        let Some((error, plan)) = failed else { return Ok(()) };
        let mut found = false;
        if let Some(plan) = plan.as_ref().filter(|plan| plan.groups.len() > 1) {
            for part in parts(plan) {
                if let Err(error) = self.read(&part) {
                    self.found(error, part.tasks.first(), report)?;
                    found = true;
                }
            }
        }
        // Parts that can be read alone may not match each other.
        if found {
            Ok(())
        } else {
            self.found(error, plan.and_then(|plan| plan.tasks.into_iter().next()).as_ref(), report)
        }
    }

    /// Reads a plan of one group, several blocks at a time, and each block alone if they cannot be read
    /// together.
    pub(crate) fn blocks(&self, mut plan: Plan, report: &mut CheckReport) -> Result<()> {
        let mut tasks = std::mem::take(&mut plan.tasks).into_iter().peekable();
        while let Some(task) = tasks.next() {
            let mut bytes = weight(&task);
            let mut together = vec![task];
            while let Some(task) = tasks.next_if(|task| bytes.saturating_add(weight(task)) <= WINDOW) {
                bytes += weight(&task);
                together.push(task);
            }
            self.together(&mut plan, &together, report)?;
        }
        Ok(())
    }

    fn together(&self, plan: &mut Plan, tasks: &[Task], report: &mut CheckReport) -> Result<()> {
        let (Some(first), Some(last)) = (tasks.first(), tasks.last()) else { return Ok(()) };
        plan.entries = first.wanted.start..last.wanted.end;
        plan.tasks = tasks.to_vec();
        match (self.read(plan), tasks) {
            (Ok(_), _) => Ok(()),
            (Err(error), [task]) => self.found(error, Some(task), report),
            (Err(_), _) => {
                let (first, second) = tasks.split_at(tasks.len() / 2);
                self.together(plan, first, report)?;
                self.together(plan, second, report)
            }
        }
    }

    fn read(&self, plan: &Plan) -> Result<Vec<Array>> {
        let before = self.format.bytes();
        let unchecked = (plan.utf8 && !self.check_text).then(|| Plan { utf8: false, ..plan.clone() });
        let plan = unchecked.as_ref().unwrap_or(plan);
        let read = table::read(self.engine, self.source, self.format, self.dataset, plan, None, None);
        if read.is_err() {
            self.format.bytes.store(before, Ordering::Relaxed);
        }
        read
    }

    /// Reports the fault of a block. Errors of the source are returned.
    pub(crate) fn found(&self, error: Error, task: Option<&Task>, report: &mut CheckReport) -> Result<()> {
        if matches!(error.kind, ErrorKind::Source(_) | ErrorKind::Cancelled) {
            return Err(error);
        }
        let Error { kind, place } = error;
        let start = task.and_then(|task| match &task.stored {
            Stored::Range(range) => Some(range.start.saturating_add(self.ahead)),
            Stored::Missing { at, .. } => *at,
            Stored::Inline(_) => None,
        });
        let block = place.block.or(task.map(|task| task.block));
        let unit = Some(place.unit.unwrap_or(self.format.unit()));
        let within = Place { uri: None, object: None, block, unit, ..*place };
        let object = place.object.or_else(|| Some(self.dataset.object().to_owned()));
        // An unsupported part of a plan is not damage; in a block, an unknown number may be.
        let severity = match kind {
            ErrorKind::Unsupported { .. } if task.is_none() => Severity::Remark,
            _ => Severity::Damage,
        };
        let byte = match self.counted {
            Bytes::Decompressed => start,
            // In an uncompressed block, offsets of the block are offsets of the file.
            Bytes::Stored => start.map(|start| start.saturating_add(within.byte.unwrap_or(0))),
            Bytes::File => within.byte.or(start),
        };
        let known = |known: &Finding| {
            known.severity == Severity::Damage && known.byte == byte && known.object == object
        };
        if !(self.counted == Bytes::Stored && report.findings.iter().any(known)) {
            report.add(Finding {
                severity,
                part: self.part,
                object,
                byte,
                what: format!("{kind}, in {within}"),
            });
        }
        Ok(())
    }
}

/// Returns the declared payload size of a block, or its stored size if that is larger.
fn weight(task: &Task) -> u64 {
    task.payload_hint.max(task.stored.len())
}

fn window(plan: &Plan) -> u64 {
    plan.tasks.iter().map(weight).fold(0, u64::saturating_add)
}

/// Splits a plan into one plan for each group.
fn parts(plan: &Plan) -> impl Iterator<Item = Plan> {
    (0..).zip(&plan.groups).map(|(number, group)| {
        let mine = plan.tasks.iter().filter(|task| task.group == number);
        Plan {
            groups: vec![Group { joins: false, ..group.clone() }],
            tasks: mine.map(|task| Task { group: 0, ..task.clone() }).collect(),
            delivered: 1,
            picks: Vec::new(),
            ..plan.clone()
        }
    })
}
