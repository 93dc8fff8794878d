//! Tables of a file: fields and entries.

mod raw;
mod summaries;

use crate::constants::{WithConstants, put_constants};
use crate::field_names::FieldNames;
use crate::{File, Gap, Selection, Step, Steps, TableSummaries, Words, cut, format};
use forthwith_columns::{Array, Form, TextPolicy, arrow::SchemaRef};
use forthwith_engine::{Engine, ProgressCallback};
use forthwith_io::Source;
use forthwith_plan::{
    BlockFormat, Constant, Dataset, Description, Error, ErrorKind, Field, NameListing, Plan, Result,
    similar_names,
};
use std::{
    any::Any,
    ops::{Bound, Range, RangeBounds},
    sync::Arc,
};

/// A table of a file. It has metadata only; fields are examined on request. Clones are cheap and can be used
/// from several threads.
#[derive(Clone)]
pub struct Table {
    file: File,
    dataset: Arc<dyn Dataset>,
    /// The dataset of the format, if `dataset` adds constant columns to it.
    own: Option<Arc<dyn Dataset>>,
    constants: Arc<[Constant]>,
    text: TextPolicy,
    times_as_integers: bool,
    names: Arc<FieldNames>,
    summaries: Option<Arc<TableSummaries>>,
}

/// A reference to a field of a table: its index in [`Table::fields`], or its name as in [`Table::find`].
pub trait FieldRef {
    /// Returns the index of the field.
    ///
    /// # Errors
    /// Returns the errors of [`Table::find`].
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
    /// Returns an error if the metadata are damaged.
    pub fn with_constants(&self, constants: &[Constant]) -> Result<Self> {
        let own = self.own.as_ref().unwrap_or(&self.dataset);
        if constants.is_empty() || !own.is_record() {
            return Ok(self.clone());
        }
        let dataset = Arc::new(self.here(WithConstants::new(Arc::clone(own), constants))?);
        let own = Some(Arc::clone(own));
        Ok(Self { dataset, own, constants: constants.into(), names: Arc::default(), ..self.clone() })
    }

    /// Returns the path and Form of each field that has timestamps with a time zone.
    #[must_use]
    pub fn zones(&self) -> Vec<(String, Form)> {
        self.dataset.zones()
    }

    /// Returns the table with the time [zones](Self::zones) of another table, as tables of several files are
    /// read together. Timestamps of fields without a zone there are shown in UTC.
    ///
    /// # Errors
    /// Returns an error if the metadata are damaged.
    pub fn in_zones_of(&self, zones: &[(String, Form)]) -> Result<Self> {
        let Some(dataset) = self.own_dataset().in_zones_of(zones) else { return Ok(self.clone()) };
        let bare = Self { dataset, own: None, constants: Arc::default(), ..self.clone() };
        bare.with_constants(&self.constants)
    }

    /// Returns the Arrow schema that the table was written from, if the file stores it.
    #[must_use]
    pub fn arrow_schema(&self) -> Option<SchemaRef> {
        self.dataset.arrow_schema()
    }

    /// Returns the categories of a field in their original order, if the file stores them.
    ///
    /// # Errors
    /// Returns an error if the field does not exist, or if the file cannot be read.
    pub fn dictionary(&self, field: u32) -> Result<Option<Array>> {
        self.here(self.dataset.dictionary(field))
    }

    /// Returns the dataset of the format, without constant columns.
    fn own_dataset(&self) -> &dyn Dataset {
        self.own.as_deref().unwrap_or(&*self.dataset)
    }

    /// Sets the treatment of text that is not UTF-8.
    #[must_use]
    pub fn with_text_policy(mut self, policy: TextPolicy) -> Self {
        self.text = policy;
        self
    }

    /// Returns the treatment of text that is not UTF-8.
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

    /// Whether dates, times and durations are read as the integers that they are stored as.
    #[must_use]
    pub fn has_times_as_integers(&self) -> bool {
        self.times_as_integers
    }

    /// Whether the values of a Form are converted after decoding.
    pub(crate) fn converts(&self, stored: &Form) -> bool {
        let is_text = |node: &Form| matches!(node, Form::String { .. });
        let is_time = |node: &Form| matches!(node, Form::Logical { meaning, .. } if meaning.is_time());
        (self.text.converts() && stored.nodes().any(is_text))
            || (self.times_as_integers && stored.nodes().any(is_time))
    }

    /// Returns a description with the Form of the arrays. Constants are not stored, so they are not
    /// converted.
    fn converted(&self, field: u32, mut description: Description) -> Result<Description> {
        if let Ok(reading) = &mut description.reading {
            self.convert_form(field, &mut reading.form)?;
        }
        Ok(description)
    }

    /// Converts the Form of a stored field to that of its arrays.
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
    /// Returns an error if the source cannot be read.
    pub fn around_damage(&self) -> Result<Option<(Self, Vec<Gap>)>> {
        let around = self.file.container().dataset_around_damage(self.path())?;
        let Some((dataset, gaps)) = around else { return Ok(None) };
        let bare =
            Self { dataset, own: None, constants: Arc::default(), names: Arc::default(), ..self.clone() };
        Ok(Some((bare.with_constants(&self.constants)?, gaps)))
    }

    /// Returns the file of the table.
    #[must_use]
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Returns the terms of the format for tables, columns and blocks.
    #[must_use]
    pub fn words(&self) -> &'static Words {
        self.file.words_of(self.own_dataset())
    }

    /// Returns the path of the table in the file.
    #[must_use]
    pub fn path(&self) -> &str {
        self.dataset.object()
    }

    /// Returns the dataset of the format if it has this type: `table.own::<forthwith::root::Tree>()`.
    #[must_use]
    pub fn own<T: Any>(&self) -> Option<&T> {
        (self.own_dataset() as &dyn Any).downcast_ref()
    }

    pub(crate) fn dataset(&self) -> &dyn Dataset {
        self.dataset.as_ref()
    }

    /// Returns the names of the table's attribute sets, whose rows describe ranges of its entries.
    /// [`File::table`] opens them by the table's path, `@` and the name.
    #[must_use]
    pub fn attribute_sets(&self) -> Vec<String> {
        self.dataset.attribute_sets()
    }

    /// Returns the entries that a field has. A branch may be shorter than its tree.
    ///
    /// # Errors
    /// Returns an error if the metadata are damaged, or if the field does not exist.
    pub fn entry_range(&self, field: u32) -> Result<Range<u64>> {
        self.entry_range_up_to(field, u64::MAX)
    }

    /// Returns the entries that a field has, as [`entry_range`](Self::entry_range) does, but stops counting
    /// blocks at `most` entries.
    ///
    /// # Errors
    /// Returns the errors of [`entry_range`](Self::entry_range).
    pub fn entry_range_up_to(&self, field: u32, most: u64) -> Result<Range<u64>> {
        self.here(self.dataset.entry_range(field, most))
    }

    /// Returns the number of entries. If blocks have to be counted, all of them are.
    ///
    /// # Errors
    /// Returns an error if a block cannot be found: the file is truncated, or a block has a wrong length.
    pub fn entries(&self) -> Result<u64> {
        self.here(self.dataset.entries())
    }

    /// Returns the number of entries, or `most` if there are more. No more blocks are counted than necessary.
    ///
    /// # Errors
    /// Returns the errors of [`entries`](Self::entries).
    pub fn entries_up_to(&self, most: u64) -> Result<u64> {
        self.here(self.dataset.entries_up_to(most))
    }

    /// Returns the number of entries, or an estimate if blocks have to be counted and some were not yet.
    ///
    /// # Errors
    /// Returns the errors of [`entries`](Self::entries).
    pub fn likely_entries(&self) -> Result<u64> {
        self.here(self.dataset.likely_entries())
    }

    /// Whether the number of entries is known only after counting blocks one by one; see
    /// [`Dataset::counts_blocks`].
    #[must_use]
    pub fn counts_blocks(&self) -> bool {
        self.dataset.counts_blocks()
    }

    /// Whether entries arrive while the table is read; see [`Dataset::is_stream`].
    #[must_use]
    pub fn is_stream(&self) -> bool {
        self.dataset.is_stream()
    }

    /// Returns all fields in the order of the file, parents before their children.
    ///
    /// # Errors
    /// Returns an error if the metadata are damaged.
    pub fn fields(&self) -> Result<&[Field]> {
        self.here(self.dataset.fields())
    }

    /// Returns the index of a field by its path, `a/a.b`, by the path with dots in place of slashes, as in
    /// expressions, or by its own name if only one field has it. If a path occurs several times, the first
    /// field is returned.
    ///
    /// # Errors
    /// Returns [`NotFound`](ErrorKind::NotFound) if no field, or more than one, has the name: with the paths
    /// of these fields, or with similar names. Returns an error if the metadata are damaged.
    pub fn find(&self, name: &str) -> Result<u32> {
        if let Some(at) = self.found(name)? {
            return Ok(at);
        }
        // A path in the notation of expressions.
        if name.contains('.')
            && let Some(at) = self.names.at_path(self.fields()?, &name.replace('.', "/"))
        {
            return Ok(at);
        }
        self.here(Err(self.missing(name)?))
    }

    /// Creates the error for an unknown name, with similar names.
    ///
    /// # Errors
    /// Returns an error if the metadata are damaged.
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

    /// Returns the index of a field by its path, or by its own name; `None` if no field, or more than one, has
    /// the name. It is intended for names that may not be fields: unlike [`find`](Self::find), it
    /// does not search for similar names, which takes long.
    ///
    /// # Errors
    /// Returns an error if the metadata are damaged.
    pub fn found(&self, name: &str) -> Result<Option<u32>> {
        let fields = self.fields()?;
        if let Some(at) = self.names.at_path(fields, name) {
            return Ok(Some(at));
        }
        // The only field of a table without records has an empty name.
        if name.is_empty() && !self.dataset.is_record() {
            return Ok(Some(0));
        }
        Ok(self.names.named(fields, name))
    }

    /// Whether entries are records, whose fields are the fields of the table. Otherwise the entry itself is
    /// the only field.
    #[must_use]
    pub fn is_record(&self) -> bool {
        self.dataset.is_record()
    }

    /// Describes how a field is read, or why it cannot be read.
    ///
    /// # Errors
    /// Returns an error if the metadata are damaged, or if the field does not exist.
    pub fn describe(&self, field: u32) -> Result<Description> {
        self.here(self.dataset.describe(field).and_then(|found| self.converted(field, found)))
    }

    /// Describes how a field is read, as [`describe`](Self::describe) does, but may stop counting blocks
    /// after `entries` entries.
    ///
    /// # Errors
    /// Returns the errors of [`describe`](Self::describe).
    pub fn describe_first(&self, field: u32, entries: u64) -> Result<Description> {
        let described = self.dataset.describe_first(field, entries);
        self.here(described.and_then(|found| self.converted(field, found)))
    }

    /// Returns the names of the codecs of a field's blocks; see [`Dataset::codecs`].
    ///
    /// # Errors
    /// Returns an error if the metadata are damaged, or if the field does not exist.
    pub fn codecs(&self, field: u32) -> Result<Vec<String>> {
        self.here(self.dataset.codecs(field))
    }

    /// Creates the plan for reading entries of fields, which are given by name or index.
    ///
    /// # Errors
    /// Returns an error if the field does not exist, if the type of a field is unsupported, if entries are
    /// out of range, or if the metadata are damaged.
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

    /// Returns the entries at which blocks of these fields begin, and both ends of the range. Blocks that a
    /// plan combines in one task are listed separately.
    ///
    /// # Errors
    /// Returns an error if the metadata are damaged; or if fields or entries do not exist, in formats that
    /// check them.
    pub fn boundaries(&self, fields: &[u32], entries: Range<u64>) -> Result<Vec<u64>> {
        self.here(self.dataset.boundaries(fields, entries))
    }

    /// Reads a plan, and returns one array for each of its fields, in the order in which they were requested.
    /// `threads` overrides the number of threads of the engine. `tick` is called on this thread from time to
    /// time, and cancels the read by returning `false`.
    ///
    /// # Errors
    /// Returns an error, with the file, branch, basket, entry and byte, if the data cannot be decoded;
    /// [`ErrorKind::Cancelled`] if `tick` cancels.
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

    /// Reads all entries of a field, which is given by name or index.
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
    /// Returns the errors of [`plan`](Self::plan) and [`read`](Self::read).
    pub fn column(&self, field: impl FieldRef) -> Result<Array> {
        let field = field.position(self)?;
        let plan = self.plan(&[field], self.entry_range(field)?)?;
        let mut arrays = self.read(&plan, None, None)?;
        match (arrays.pop(), arrays.is_empty()) {
            (Some(array), true) => Ok(array),
            _ => self.here(Err(Error::invalid("a plan for more than one field"))),
        }
    }

    /// Reads all entries of some fields, which are given by name or index, and returns an array for each.
    ///
    /// # Errors
    /// Returns the errors of [`plan`](Self::plan) and [`read`](Self::read).
    pub fn columns<F: FieldRef>(&self, fields: &[F]) -> Result<Vec<Array>> {
        self.read(&self.plan(fields, ..)?, None, None)
    }

    /// Divides a range of entries into steps of a number of entries, or of about a number of bytes in memory.
    /// Steps by bytes end at block boundaries.
    ///
    /// # Errors
    /// Returns the errors of [`plan`](Self::plan).
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

    /// Reads fields, which are given by name or index, step by step. The range may end after the last entry.
    /// If blocks have to be counted, steps are cut while reading.
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
    /// Returns an error if the metadata are damaged, or if the field does not exist.
    pub fn steps<F: FieldRef>(
        &self,
        fields: &[F],
        entries: impl RangeBounds<u64>,
        step: Step,
    ) -> Result<Steps> {
        let fields = self.positions(fields)?;
        Selection::plain(self.clone(), fields).steps(entries, step)
    }

    /// Reads fields in given steps, such as those of [`cut`](Self::cut).
    ///
    /// # Errors
    /// Returns an error if the metadata are damaged, or if the field does not exist.
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

/// Converts text and times of arrays by the settings of the plan.
///
/// # Errors
/// Returns an error if the policy refuses a text.
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

/// Reads a plan of a dataset. If decoding fails, the failed part is read again by more precise plans, whose
/// error includes the position within a block.
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
    // An error with an entry but without a block is about text that is not UTF-8, and is precise already.
    if !damaged || (failed.place.block.is_none() && failed.place.entry.is_some()) {
        return Err(failed);
    }
    let block = failed.place.block;
    let task = block.and_then(|block| plan.tasks.iter().find(|task| task.block == block));
    // Checks that follow the read do not know the block.
    let threads = if task.is_some() { Some(1) } else { threads };
    let Ok(precise) = dataset.locate_damage(plan, task) else { return Err(failed) };
    for plan in precise {
        read(&plan, threads, tick.as_deref_mut())?;
    }
    Err(failed)
}

/// Returns the first entry, and the one after the last; `None` if the range is unbounded.
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
