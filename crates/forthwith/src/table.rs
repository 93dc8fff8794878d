//! A table of a file: fields and entries.

use crate::{File, Step, Walk, format, steps};
use forthwith_avro::AvroTable;
use forthwith_columns::Array;
use forthwith_engine::{RawBlock, Tick};
use forthwith_io::{Several, Source};
use forthwith_parquet::ParquetTable;
use forthwith_plan::{Dataset, Description, Error, ErrorKind, Field, Plan, Result, similar_names};
use forthwith_root::Tree;
use std::{collections::VecDeque, ops::Range, sync::Arc};

/// A tree, or the values of an Avro or a Parquet file. Metadata only; branches are looked at when asked for. Cheap to clone, shared between threads
/// as it is.
#[derive(Clone)]
pub struct Table {
    file: File,
    content: Content,
    /// Whether text is taken as it is.
    unchecked_text: bool,
}

#[derive(Clone)]
enum Content {
    Tree(Arc<Tree>),
    Avro(Arc<AvroTable>),
    Parquet(Arc<ParquetTable>),
}

impl Table {
    pub(crate) fn of_tree(file: File, tree: Tree) -> Self {
        Self { file, content: Content::Tree(Arc::new(tree)), unchecked_text: true }
    }

    pub(crate) fn of_avro(file: File, table: AvroTable) -> Self {
        Self { file, content: Content::Avro(Arc::new(table)), unchecked_text: false }
    }

    pub(crate) fn of_parquet(file: File, table: ParquetTable) -> Self {
        Self { file, content: Content::Parquet(Arc::new(table)), unchecked_text: false }
    }

    /// The same table, of whose text nobody looks whether it is UTF-8. That of ROOT is taken as it is anyway: ROOT says nothing of it.
    #[must_use]
    pub fn with_unchecked_text(mut self, unchecked: bool) -> Self {
        self.unchecked_text |= unchecked;
        self
    }

    fn dataset(&self) -> &dyn Dataset {
        match &self.content {
            Content::Tree(tree) => tree.as_ref(),
            Content::Avro(table) => table.as_ref(),
            Content::Parquet(table) => table.as_ref(),
        }
    }

    /// The file it is in.
    #[must_use]
    pub fn file(&self) -> &File {
        &self.file
    }

    /// The path in the file.
    #[must_use]
    pub fn path(&self) -> &str {
        self.dataset().object()
    }

    /// The format's own view of a tree.
    #[must_use]
    pub fn tree(&self) -> Option<&Tree> {
        match &self.content {
            Content::Tree(tree) => Some(tree),
            _ => None,
        }
    }

    /// The format's own view of an Avro file's values.
    #[must_use]
    pub fn avro(&self) -> Option<&AvroTable> {
        match &self.content {
            Content::Avro(table) => Some(table),
            _ => None,
        }
    }

    /// The format's own view of a Parquet file's values.
    #[must_use]
    pub fn parquet(&self) -> Option<&ParquetTable> {
        match &self.content {
            Content::Parquet(table) => Some(table),
            _ => None,
        }
    }

    /// The entries a field has of its own; a branch may be shorter than its tree.
    ///
    /// # Errors
    /// Damaged metadata, or no such field.
    pub fn entry_range(&self, field: u32) -> Result<Range<u64>> {
        match &self.content {
            Content::Tree(tree) => self.here(tree.entry_range(field)),
            _ => {
                self.describe(field)?;
                Ok(0..self.entries()?)
            }
        }
    }

    /// The same for whoever wants no entries behind `most`: no more is looked for than it takes.
    ///
    /// # Errors
    /// As [`entry_range`](Self::entry_range).
    pub fn entry_range_up_to(&self, field: u32, most: u64) -> Result<Range<u64>> {
        match &self.content {
            Content::Avro(_) => {
                self.describe_first(field, 0)?;
                Ok(0..self.entries_up_to(most)?)
            }
            _ => self.entry_range(field),
        }
    }

    /// Number of entries. In an Avro file that is known when all blocks were looked for.
    ///
    /// # Errors
    /// A block that cannot be found: it is cut off, or does not end as it should.
    pub fn entries(&self) -> Result<u64> {
        self.here(self.dataset().entries())
    }

    /// The number of entries, or `most` if there are more: no more is looked for than it takes to know.
    ///
    /// # Errors
    /// As [`entries`](Self::entries).
    pub fn entries_up_to(&self, most: u64) -> Result<u64> {
        self.here(self.dataset().entries_up_to(most))
    }

    /// How many entries there are as far as is known without looking further: exactly, but for an Avro file whose blocks were not all
    /// looked for.
    ///
    /// # Errors
    /// As [`entries`](Self::entries).
    pub fn likely_entries(&self) -> Result<u64> {
        match self.avro() {
            Some(table) => self.here(table.likely_entries()),
            None => self.entries(),
        }
    }

    /// All fields in the file's order, parents before their children.
    ///
    /// # Errors
    /// Damaged metadata.
    pub fn fields(&self) -> Result<&[Field]> {
        self.here(self.dataset().fields())
    }

    /// A field by its path, `a/a.b`, or by its own name if only one has it. Where a file repeats a path, the first one.
    ///
    /// # Errors
    /// [`NotFound`](ErrorKind::NotFound) with the most similar names.
    pub fn find(&self, name: &str) -> Result<u32> {
        let fields = self.fields()?;
        if let Some(at) = fields.iter().position(|f| f.path == name) {
            return Ok(at as u32);
        }
        // Values that are no records have no name of their own.
        if name.is_empty() && self.avro().is_some_and(|table| !table.is_record()) {
            return Ok(0);
        }
        let mut named = fields.iter().enumerate().filter(|(_, f)| f.name == name && !f.is_part);
        if let (Some((at, _)), None) = (named.next(), named.next()) {
            return Ok(at as u32);
        }
        let paths = fields.iter().filter(|f| f.name == name && !f.is_part).map(|f| f.path.clone());
        let mut similar: Vec<String> = paths.take(3).collect();
        if similar.is_empty() {
            similar = similar_names(name, fields.iter().map(|f| f.path.as_str()))
                .iter()
                .map(|s| s.to_string())
                .collect();
        }
        self.here(Err(Error::new(ErrorKind::NotFound {
            what: "branch",
            name: name.to_owned(),
            near: similar,
        })))
    }

    /// How a field is read, or why it cannot be.
    ///
    /// # Errors
    /// Damaged metadata, or no such field.
    pub fn describe(&self, field: u32) -> Result<Description> {
        self.here(self.dataset().describe(field))
    }

    /// The same, but of an Avro file what is counted may end behind the first `entries` entries, so that no more has to be looked for.
    ///
    /// # Errors
    /// As [`describe`](Self::describe).
    pub fn describe_first(&self, field: u32, entries: u64) -> Result<Description> {
        self.here(self.dataset().describe_first(field, entries))
    }

    /// What it takes to read these fields for these entries.
    ///
    /// # Errors
    /// A field that is not supported, by its type; entries the table or a field does not have; damaged metadata.
    pub fn plan(&self, fields: &[u32], entries: Range<u64>) -> Result<Plan> {
        let mut plan = self.here(self.dataset().plan(fields, entries))?;
        plan.utf8 &= !self.unchecked_text;
        Ok(plan)
    }

    /// Reads a plan: one array for each field it was made for, in that order. `threads` overrides the engine's number; `tick` is
    /// called on this thread from time to time and stops the work by answering `false`.
    ///
    /// # Errors
    /// Whatever is wrong with the data, with file, branch, basket, entry and byte; [`ErrorKind::Cancelled`].
    pub fn read(
        &self,
        plan: &Plan,
        threads: Option<usize>,
        tick: Option<&mut Tick<'_>>,
    ) -> Result<Vec<Array>> {
        let source = self.source(plan)?;
        let read = |plan: &Plan, threads, tick: Option<&mut Tick<'_>>| {
            self.file.engine().read(plan, &source, format(&plan.format)?, threads, tick)
        };
        let failed = match (read(plan, threads, tick), &self.content) {
            (Err(error), Content::Avro(_)) => error,
            (done, _) => return done,
        };
        // Small blocks are read several at once. One by one they tell which it is.
        let damaged =
            matches!(failed.kind, ErrorKind::Fault { .. } | ErrorKind::Machine(_) | ErrorKind::Codec(_));
        // Of text that is none the entry is told.
        let damaged = damaged && (failed.place.block.is_some() || failed.place.entry.is_none());
        let Content::Avro(table) = &self.content else { return Err(failed) };
        if !damaged {
            return Err(failed);
        }
        let block = failed.place.block;
        let task = block.and_then(|block| plan.tasks.iter().find(|task| task.block == block));
        // What is looked at when all has been read has no block yet.
        let threads = if task.is_some() { Some(1) } else { threads };
        let Ok(precise) = table.one_by_one(plan, task) else { return Err(failed) };
        for plan in precise {
            read(&plan, threads, None)?;
        }
        Err(failed)
    }

    /// Without the blocks that turn out to be damaged when they are read: all of them are, once.
    pub(crate) fn without_damage(self) -> Result<Self> {
        let Content::Avro(table) = &self.content else { return Ok(self) };
        let all = (0..).zip(table.fields()?).filter(|(_, field)| !field.is_part).map(|(number, _)| number);
        // Fields that cannot be read at all are no damage.
        let fields: Vec<u32> =
            all.filter(|field: &u32| table.describe(*field).is_ok_and(|d| d.reading.is_ok())).collect();
        let mut bad = Vec::new();
        let table = table.with_single_blocks();
        for block in table.blocks()? {
            let mut plan = table.plan(&fields, block.entries.clone())?;
            plan.utf8 &= !self.unchecked_text;
            let read =
                self.file.engine().read(&plan, self.file.source(), format(&plan.format)?, Some(1), None);
            match read {
                Ok(_) => {}
                Err(error) if matches!(error.kind, ErrorKind::Source(_) | ErrorKind::OutOfMemory { .. }) => {
                    return Err(error);
                }
                Err(error) => bad.push((block.number, error.kind.to_string())),
            }
        }
        Ok(Self { content: Content::Avro(Arc::new(table.without(&bad)?)), ..self })
    }

    /// One of a plan's blocks, decompressed and not decoded.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn raw(&self, plan: &Plan, task: usize) -> Result<RawBlock> {
        self.file.engine().raw(plan, task, &self.source(plan)?, format(&plan.format)?)
    }

    /// The file, and those besides that a plan has blocks of.
    fn source(&self, plan: &Plan) -> Result<Arc<dyn Source>> {
        let first = self.file.source();
        if plan.others.is_empty() {
            return Ok(Arc::clone(first));
        }
        let others = plan.others.iter().map(|name| first.beside(name)).collect::<Result<Vec<_>, _>>()?;
        Ok(Arc::new(Several::new(Arc::clone(first), others)))
    }

    /// Cuts a range of entries into steps of a number of entries, or of about so many bytes in memory ending where blocks end.
    ///
    /// # Errors
    /// As [`plan`](Self::plan).
    pub fn steps(&self, fields: &[u32], entries: Range<u64>, step: Step) -> Result<Vec<Range<u64>>> {
        let density = self.density(fields, None)?;
        self.here(steps::steps(self.dataset(), fields, entries, step, density))
    }

    /// Reads fields in steps, which [`steps`](Self::steps) cuts.
    ///
    /// # Errors
    /// Damaged metadata, or no such field.
    pub fn walk(&self, fields: &[u32], steps: Vec<Range<u64>>) -> Result<Walk> {
        Walk::new(self.clone(), fields.to_vec(), steps.into(), None)
    }

    /// Reads fields in steps that are cut on the way: how many entries there are need not be known. The range may end behind the last
    /// entry.
    ///
    /// # Errors
    /// Damaged metadata, or no such field.
    pub fn walk_cutting(&self, fields: &[u32], entries: Range<u64>, step: Step) -> Result<Walk> {
        if self.avro().is_none() {
            let end = self.entries_up_to(entries.end)?;
            return self.walk(fields, self.steps(fields, entries.start.min(end)..end, step)?);
        }
        Walk::new(self.clone(), fields.to_vec(), VecDeque::new(), Some((entries, step)))
    }

    pub(crate) fn density(&self, fields: &[u32], known: Option<u64>) -> Result<f64> {
        let known = match (known, self.avro()) {
            // What stands before a damaged block tells, too.
            (Some(known), Some(table)) if self.entries_up_to(known).is_err() => {
                Some(known.min(table.entries_found()))
            }
            (known, _) => known,
        };
        self.here(steps::density(self.dataset(), fields, known))
    }

    /// The first steps of a range, for which no more is looked for than about `entries` entries, and where the next ones begin if there are
    /// any.
    pub(crate) fn some_steps(
        &self,
        fields: &[u32],
        range: Range<u64>,
        step: Step,
        entries: u64,
    ) -> Result<(Vec<Range<u64>>, Option<u64>)> {
        let mut ahead = entries.max(1);
        loop {
            let wanted = range.start.saturating_add(ahead).min(range.end);
            let (end, damaged) = match (self.entries_up_to(wanted), self.avro()) {
                (Ok(end), _) => (end, false),
                // First what stands before; whoever wants what is behind that comes again.
                (Err(_), Some(table)) if table.entries_found() > range.start => (table.entries_found(), true),
                (Err(error), _) => return Err(error),
            };
            let start = range.start.min(end);
            let density = self.density(fields, Some(end))?;
            let mut steps = self.here(steps::steps(self.dataset(), fields, start..end, step, density))?;
            if damaged {
                return Ok((steps, Some(end)));
            }
            if end < wanted || end == range.end {
                return Ok((steps, None));
            }
            // The last one ends where the looking ended, and may not be what it will be.
            if steps.len() > 1
                && let Some(last) = steps.pop()
            {
                return Ok((steps, Some(last.start)));
            }
            ahead = ahead.saturating_mul(2);
        }
    }

    fn here<T>(&self, result: Result<T>) -> Result<T> {
        result.map_err(|e| e.in_file(self.file.uri()).in_object(self.path()))
    }
}

impl std::fmt::Debug for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Table")
            .field("file", &self.file.uri())
            .field("path", &self.path())
            .finish_non_exhaustive()
    }
}
