//! A table of a file: fields and entries.

mod summaries;

use crate::constants::{WithConstants, put_constants};
use crate::field_names::FieldNames;
use crate::{File, Gap, Selection, Step, Steps, TableSummaries, Words, cut, format};
use forthwith_columns::{Array, Form, TextPolicy, arrow::SchemaRef};
use forthwith_engine::{Engine, ProgressCallback, RawBlock};
use forthwith_io::{Several, Source};
use forthwith_plan::{
    BlockFormat, Constant, Dataset, Description, Error, ErrorKind, Field, NameListing, Plan, Result,
    similar_names,
};
use std::{
    any::Any,
    ops::{Bound, Range, RangeBounds},
    sync::Arc,
};

/// A table of a file. Metadata only; fields are looked at when asked for. Cheap to clone, shared between threads as it is.
#[derive(Clone)]
pub struct Table {
    file: File,
    dataset: Arc<dyn Dataset>,
    /// The format's own, where columns were put beside those of the file.
    own: Option<Arc<dyn Dataset>>,
    constants: Arc<[Constant]>,
    text: TextPolicy,
    times_as_integers: bool,
    names: Arc<FieldNames>,
    summaries: Option<Arc<TableSummaries>>,
}

/// A field of a table: its position among [`Table::fields`], or its name as [`Table::find`] takes it.
pub trait FieldRef {
    /// The position.
    ///
    /// # Errors
    /// As [`Table::find`].
    fn position(&self, table: &Table) -> Result<u32>;
}

impl FieldRef for u32 {
    fn position(&self, _: &Table) -> Result<u32> {
        Ok(*self)
    }
}

impl FieldRef for &str {
    fn position(&self, table: &Table) -> Result<u32> {
        table.find(self)
    }
}

impl FieldRef for String {
    fn position(&self, table: &Table) -> Result<u32> {
        table.find(self)
    }
}

impl Table {
    pub(crate) fn new(file: File, dataset: Arc<dyn Dataset>) -> Self {
        let (constants, names) = (Arc::default(), Arc::default());
        Self {
            file,
            dataset,
            own: None,
            constants,
            text: TextPolicy::default(),
            times_as_integers: false,
            names,
            summaries: None,
        }
    }

    /// Appends columns of one value each, such as [Hive partitions](crate::files::partitions). A column of
    /// the file takes precedence over one of the same name; values that are not records get none.
    ///
    /// # Errors
    /// Damaged metadata.
    pub fn with_constants(&self, constants: &[Constant]) -> Result<Self> {
        let own = self.own.as_ref().unwrap_or(&self.dataset);
        if constants.is_empty() || !own.is_record() {
            return Ok(self.clone());
        }
        let dataset = Arc::new(self.here(WithConstants::new(Arc::clone(own), constants))?);
        let own = Some(Arc::clone(own));
        Ok(Self { dataset, own, constants: constants.into(), names: Arc::default(), ..self.clone() })
    }

    /// The fields, by path, that have timestamps in a zone.
    #[must_use]
    pub fn zones(&self) -> Vec<(String, Form)> {
        self.dataset.zones()
    }

    /// The table with its timestamps shown in the [zones](Self::zones) of another table, and in UTC where that one has
    /// none: as the tables of several files are read together.
    ///
    /// # Errors
    /// Damaged metadata.
    pub fn in_zones_of(&self, zones: &[(String, Form)]) -> Result<Self> {
        let Some(dataset) = self.own_dataset().in_zones_of(zones) else { return Ok(self.clone()) };
        let bare = Self { dataset, own: None, constants: Arc::default(), ..self.clone() };
        bare.with_constants(&self.constants)
    }

    /// The Arrow schema that the table was written from, if the file has it.
    #[must_use]
    pub fn arrow_schema(&self) -> Option<SchemaRef> {
        self.dataset.arrow_schema()
    }

    /// The distinct texts of a field in the order of the categories that they were written from, if the file has
    /// them.
    ///
    /// # Errors
    /// No such field; the file cannot be read.
    pub fn dictionary(&self, field: u32) -> Result<Option<Array>> {
        self.here(self.dataset.dictionary(field))
    }

    /// The format's own view of the table.
    fn own_dataset(&self) -> &dyn Dataset {
        self.own.as_deref().unwrap_or(&*self.dataset)
    }

    /// Sets the treatment of text that is not UTF-8.
    #[must_use]
    pub fn with_text_policy(mut self, policy: TextPolicy) -> Self {
        self.text = policy;
        self
    }

    /// The treatment of text that is not UTF-8.
    #[must_use]
    pub fn text_policy(&self) -> TextPolicy {
        self.text
    }

    /// Sets whether dates, times and durations are read as the numbers that they are stored as.
    #[must_use]
    pub fn with_times_as_integers(mut self, times_as_integers: bool) -> Self {
        self.times_as_integers = times_as_integers;
        self
    }

    /// Whether dates, times and lengths of time are read as the numbers that they are stored as.
    #[must_use]
    pub fn has_times_as_integers(&self) -> bool {
        self.times_as_integers
    }

    /// Whether values of a Form differ from the stored ones.
    pub(crate) fn converts(&self, stored: &Form) -> bool {
        let is_text = |node: &Form| matches!(node, Form::String { .. });
        let is_time = |node: &Form| matches!(node, Form::Logical { meaning, .. } if meaning.is_time());
        (self.text.converts() && stored.nodes().any(is_text))
            || (self.times_as_integers && stored.nodes().any(is_time))
    }

    /// A description with the types that arrays get. Constants are not stored, so they are not converted.
    fn converted(&self, field: u32, mut description: Description) -> Result<Description> {
        if let Ok(reading) = &mut description.reading {
            self.convert_form(field, &mut reading.form)?;
        }
        Ok(description)
    }

    /// Makes the Form of a stored field that of its arrays.
    pub(crate) fn convert_form(&self, field: u32, form: &mut Form) -> Result<()> {
        if (self.text.converts() || self.times_as_integers)
            && (field as usize) < self.own_dataset().fields()?.len()
        {
            self.text.convert_form(form);
            if self.times_as_integers {
                form.strip_times();
            }
        }
        Ok(())
    }

    /// Returns the table without unreadable parts of the file, and these parts: a truncated end of an Avro
    /// file, and blocks of wrong length. `None` for formats in which damage to a block does not hide others.
    ///
    /// # Errors
    /// The source cannot be read.
    pub fn around_damage(&self) -> Result<Option<(Self, Vec<Gap>)>> {
        let around = self.file.container().dataset_around_damage(self.path())?;
        let Some((dataset, gaps)) = around else { return Ok(None) };
        let bare =
            Self { dataset, own: None, constants: Arc::default(), names: Arc::default(), ..self.clone() };
        Ok(Some((bare.with_constants(&self.constants)?, gaps)))
    }

    /// The file it is in.
    #[must_use]
    pub fn file(&self) -> &File {
        &self.file
    }

    /// The format's words for the things in it.
    #[must_use]
    pub fn words(&self) -> &'static Words {
        self.file.words_of(self.own_dataset())
    }

    /// The path in the file.
    #[must_use]
    pub fn path(&self) -> &str {
        self.dataset.object()
    }

    /// The format's own view of the table, if it is of this type: `table.own::<forthwith::root::Tree>()`.
    #[must_use]
    pub fn own<T: Any>(&self) -> Option<&T> {
        (self.own_dataset() as &dyn Any).downcast_ref()
    }

    pub(crate) fn dataset(&self) -> &dyn Dataset {
        self.dataset.as_ref()
    }

    /// Names of tables whose rows say something of ranges of entries of this one; [`File::table`] opens them by
    /// this table's path, `@` and the name.
    #[must_use]
    pub fn attribute_sets(&self) -> Vec<String> {
        self.dataset.attribute_sets()
    }

    /// The entries a field has of its own; a branch may be shorter than its tree.
    ///
    /// # Errors
    /// Damaged metadata, or no such field.
    pub fn entry_range(&self, field: u32) -> Result<Range<u64>> {
        self.entry_range_up_to(field, u64::MAX)
    }

    /// Like [`entry_range`](Self::entry_range), but counting of blocks stops at `most` entries.
    ///
    /// # Errors
    /// As [`entry_range`](Self::entry_range).
    pub fn entry_range_up_to(&self, field: u32, most: u64) -> Result<Range<u64>> {
        self.here(self.dataset.entry_range(field, most))
    }

    /// Number of entries. Where blocks have to be counted, all of them are.
    ///
    /// # Errors
    /// A block that cannot be found: it is cut off, or does not end as it should.
    pub fn entries(&self) -> Result<u64> {
        self.here(self.dataset.entries())
    }

    /// The number of entries, or `most` if there are more: no more blocks are counted than it takes to know.
    ///
    /// # Errors
    /// As [`entries`](Self::entries).
    pub fn entries_up_to(&self, most: u64) -> Result<u64> {
        self.here(self.dataset.entries_up_to(most))
    }

    /// How many entries there are, by an estimate where blocks have to be counted and not all were.
    ///
    /// # Errors
    /// As [`entries`](Self::entries).
    pub fn likely_entries(&self) -> Result<u64> {
        self.here(self.dataset.likely_entries())
    }

    /// Whether entries are counted by looking at one block after another; see [`Dataset::counts_blocks`].
    #[must_use]
    pub fn counts_blocks(&self) -> bool {
        self.dataset.counts_blocks()
    }

    /// Whether entries arrive while the table is read; see [`Dataset::is_stream`].
    #[must_use]
    pub fn is_stream(&self) -> bool {
        self.dataset.is_stream()
    }

    /// All fields in the file's order, parents before their children.
    ///
    /// # Errors
    /// Damaged metadata.
    pub fn fields(&self) -> Result<&[Field]> {
        self.here(self.dataset.fields())
    }

    /// A field by its path, `a/a.b`, with dots between its parts as expressions have it, or by its own name if only one has it.
    /// Where a file repeats a path, the first one.
    ///
    /// # Errors
    /// [`NotFound`](ErrorKind::NotFound) with the most similar names.
    pub fn find(&self, name: &str) -> Result<u32> {
        if let Some(at) = self.found(name)? {
            return Ok(at);
        }
        // A path in the spelling of expressions.
        if name.contains('.')
            && let Some(at) = self.names.at_path(self.fields()?, &name.replace('.', "/"))
        {
            return Ok(at);
        }
        self.here(Err(self.missing(name)?))
    }

    /// The error for a name that no field has, with those that are similar.
    ///
    /// # Errors
    /// Damaged metadata.
    pub fn missing(&self, name: &str) -> Result<Error> {
        let fields = self.fields()?;
        let paths = fields.iter().filter(|f| f.name == name && !f.is_part).map(|f| f.path.clone());
        let mut near: Vec<String> = paths.take(3).collect();
        if near.is_empty() {
            near = similar_names(name, fields.iter().map(|f| f.path.as_str()));
        }
        let known = NameListing::of(fields.iter().filter(|f| f.parent.is_none()).map(|f| f.path.as_str()));
        Ok(Error::new(ErrorKind::NotFound { what: "branch", name: name.to_owned(), near, known }))
    }

    /// A field by its path or by its own name, without an error, for names that may be something else: those that are similar take long
    /// to find.
    ///
    /// # Errors
    /// Damaged metadata.
    pub fn found(&self, name: &str) -> Result<Option<u32>> {
        let fields = self.fields()?;
        if let Some(at) = self.names.at_path(fields, name) {
            return Ok(Some(at));
        }
        // Values that are no records have no name of their own.
        if name.is_empty() && !self.dataset.is_record() {
            return Ok(Some(0));
        }
        Ok(self.names.named(fields, name))
    }

    /// Whether an entry is a record, whose fields are those of the table. Otherwise the only field is the entry itself.
    #[must_use]
    pub fn is_record(&self) -> bool {
        self.dataset.is_record()
    }

    /// How a field is read, or why it cannot be.
    ///
    /// # Errors
    /// Damaged metadata, or no such field.
    pub fn describe(&self, field: u32) -> Result<Description> {
        self.here(self.dataset.describe(field).and_then(|found| self.converted(field, found)))
    }

    /// Like [`describe`](Self::describe), but counting of blocks may stop after the first `entries` entries.
    ///
    /// # Errors
    /// As [`describe`](Self::describe).
    pub fn describe_first(&self, field: u32, entries: u64) -> Result<Description> {
        let described = self.dataset.describe_first(field, entries);
        self.here(described.and_then(|found| self.converted(field, found)))
    }

    /// Names of the codecs of a field's blocks, as [`Dataset::codecs`].
    ///
    /// # Errors
    /// Damaged metadata, or no such field.
    pub fn codecs(&self, field: u32) -> Result<Vec<String>> {
        self.here(self.dataset.codecs(field))
    }

    /// The plan for reading these fields, named or numbered, for these entries.
    ///
    /// # Errors
    /// No such field; a field that is not supported, by its type; entries the table or a field does not have; damaged metadata.
    pub fn plan<F: FieldRef>(&self, fields: &[F], entries: impl RangeBounds<u64>) -> Result<Plan> {
        let fields = self.positions(fields)?;
        let (start, end) = bounds(&entries);
        let end = end.map_or_else(|| self.entries(), Ok)?;
        let mut plan = self.here(self.dataset.plan(&fields, start..end))?;
        plan.utf8 &= self.text == TextPolicy::Strict;
        plan.text = self.text;
        plan.times_as_integers = self.times_as_integers;
        Ok(plan)
    }

    /// The entries at which blocks of some fields begin, each for itself where a plan has several in one task, and both ends of the
    /// range.
    ///
    /// # Errors
    /// Damaged metadata; no such field or entries, in formats that look at them for it.
    pub fn boundaries(&self, fields: &[u32], entries: Range<u64>) -> Result<Vec<u64>> {
        self.here(self.dataset.boundaries(fields, entries))
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
        tick: Option<&mut ProgressCallback<'_>>,
    ) -> Result<Vec<Array>> {
        let source = self.source(plan)?;
        let mut arrays =
            read(self.file.engine(), &source, format(&plan.format)?, self.dataset(), plan, threads, tick)?;
        self.here(convert(plan, &mut arrays, threads))?;
        put_constants(plan, &mut arrays)?;
        Ok(arrays)
    }

    /// All entries of a field, named or numbered.
    ///
    /// ```
    /// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data");
    /// let events = forthwith::File::open(format!("{folder}/zmumu.root"))?.table("events")?;
    /// let met = events.column("MET_pt")?;
    /// assert_eq!((met.length, met.form.type_string()), (3600, "float32".to_owned()));
    /// # Ok::<(), forthwith::plan::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`plan`](Self::plan) and [`read`](Self::read).
    pub fn column(&self, field: impl FieldRef) -> Result<Array> {
        let field = field.position(self)?;
        let plan = self.plan(&[field], self.entry_range(field)?)?;
        let mut arrays = self.read(&plan, None, None)?;
        match (arrays.pop(), arrays.is_empty()) {
            (Some(array), true) => Ok(array),
            _ => self.here(Err(Error::invalid("a plan for more than one field"))),
        }
    }

    /// All entries of some fields, named or numbered: an array for each.
    ///
    /// # Errors
    /// As [`plan`](Self::plan) and [`read`](Self::read).
    pub fn columns<F: FieldRef>(&self, fields: &[F]) -> Result<Vec<Array>> {
        self.read(&self.plan(fields, ..)?, None, None)
    }

    /// A plan for [`raw`](Self::raw): blocks that lie in the file as one are one of its tasks. So a column
    /// without compression and without anything between its blocks is one block, and a view of a mapped file.
    ///
    /// # Errors
    /// As [`plan`](Self::plan).
    pub fn plan_raw<F: FieldRef>(&self, fields: &[F], entries: impl RangeBounds<u64>) -> Result<Plan> {
        let mut plan = self.plan(fields, entries)?;
        plan.join(format(&plan.format)?);
        Ok(plan)
    }

    /// One of a plan's blocks, decompressed and not decoded.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn raw(&self, plan: &Plan, task: usize) -> Result<RawBlock> {
        self.file.engine().raw(plan, task, &self.source(plan)?, format(&plan.format)?)
    }

    /// The file, and those besides that a plan has blocks of.
    pub(crate) fn source(&self, plan: &Plan) -> Result<Arc<dyn Source>> {
        let first = self.file.source();
        if plan.others.is_empty() {
            return Ok(Arc::clone(first));
        }
        let others = plan.others.iter().map(|name| first.beside(name)).collect::<Result<Vec<_>, _>>()?;
        Ok(Arc::new(Several::new(Arc::clone(first), others)))
    }

    /// Cuts a range of entries into steps of a number of entries, or of about a number of bytes in memory ending where blocks end.
    ///
    /// # Errors
    /// As [`plan`](Self::plan).
    pub fn cut<F: FieldRef>(
        &self,
        fields: &[F],
        entries: impl RangeBounds<u64>,
        step: Step,
    ) -> Result<Vec<Range<u64>>> {
        let fields = self.positions(fields)?;
        let (start, end) = bounds(&entries);
        let end = end.map_or_else(|| self.entries(), Ok)?;
        let density = self.here(cut::density(self.dataset(), &fields, None))?;
        self.here(cut::cut(self.dataset(), &fields, start..end, step, density))
    }

    /// Reads fields, named or numbered, step by step. The range may end behind the last entry. Where blocks have to be counted, steps are
    /// cut on the way.
    ///
    /// ```
    /// use forthwith::Step;
    /// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data");
    ///
    /// let events = forthwith::File::open(format!("{folder}/zmumu.root"))?.table("events")?;
    /// for step in events.steps(&["MET_pt", "nMuon"], .., Step::Entries(1000))? {
    ///     let step = step?;
    ///     assert_eq!(step.arrays[0].length, step.entries.end - step.entries.start);
    /// }
    /// # Ok::<(), forthwith::plan::Error>(())
    /// ```
    ///
    /// # Errors
    /// Damaged metadata, or no such field.
    pub fn steps<F: FieldRef>(
        &self,
        fields: &[F],
        entries: impl RangeBounds<u64>,
        step: Step,
    ) -> Result<Steps> {
        let fields = self.positions(fields)?;
        Selection::plain(self.clone(), fields).steps(entries, step)
    }

    /// Reads fields in steps that are given, such as [`cut`](Self::cut) makes.
    ///
    /// # Errors
    /// Damaged metadata, or no such field.
    pub fn steps_of<F: FieldRef>(&self, fields: &[F], steps: Vec<Range<u64>>) -> Result<Steps> {
        Steps::of(Selection::plain(self.clone(), self.positions(fields)?), steps)
    }

    fn positions<F: FieldRef>(&self, fields: &[F]) -> Result<Vec<u32>> {
        fields.iter().map(|field| field.position(self)).collect()
    }

    pub(crate) fn here<T>(&self, result: Result<T>) -> Result<T> {
        result.map_err(|e| e.in_file(self.file.uri()).in_object(self.path()))
    }
}

/// Converts text and times of arrays as the plan says.
///
/// # Errors
/// Text that the policy refuses.
pub(crate) fn convert(plan: &Plan, arrays: &mut [Array], threads: Option<usize>) -> Result<()> {
    for array in arrays {
        if plan.times_as_integers {
            array.form.strip_times();
        }
        let converted = plan.text.convert(array, threads.unwrap_or(1));
        converted.map_err(|error| Error::fault(error.to_string()))?;
    }
    Ok(())
}

/// Reads a plan of a dataset. Where that fails, what failed is read again by what says where in a block the error is.
pub(crate) fn read(
    engine: &Engine,
    source: &Arc<dyn Source>,
    format: &dyn BlockFormat,
    dataset: &dyn Dataset,
    plan: &Plan,
    threads: Option<usize>,
    mut tick: Option<&mut ProgressCallback<'_>>,
) -> Result<Vec<Array>> {
    let read = |plan: &Plan, threads, tick: Option<&mut ProgressCallback<'_>>| {
        engine.read(plan, source, format, threads, tick)
    };
    let failed = match read(plan, threads, tick.as_deref_mut()) {
        Err(error) => error,
        arrays => return arrays,
    };
    let damaged =
        matches!(failed.kind, ErrorKind::Fault { .. } | ErrorKind::Machine(_) | ErrorKind::Codec(_));
    // An entry without a block is that of text that is not UTF-8, which is precise.
    if !damaged || (failed.place.block.is_none() && failed.place.entry.is_some()) {
        return Err(failed);
    }
    let block = failed.place.block;
    let task = block.and_then(|block| plan.tasks.iter().find(|task| task.block == block));
    // A check after all was read knows no block.
    let threads = if task.is_some() { Some(1) } else { threads };
    let Ok(precise) = dataset.locate_damage(plan, task) else { return Err(failed) };
    for plan in precise {
        read(&plan, threads, tick.as_deref_mut())?;
    }
    Err(failed)
}

/// The first entry, and the one after the last if there is an end.
pub(crate) fn bounds(entries: &impl RangeBounds<u64>) -> (u64, Option<u64>) {
    let start = match entries.start_bound() {
        Bound::Included(start) => *start,
        Bound::Excluded(start) => start.saturating_add(1),
        Bound::Unbounded => 0,
    };
    let end = match entries.end_bound() {
        Bound::Included(end) => Some(end.saturating_add(1)),
        Bound::Excluded(end) => Some(*end),
        Bound::Unbounded => None,
    };
    (start, end)
}

forthwith_io::impl_debug!(Table, |it| "file": it.file.uri(), "path": it.path());
