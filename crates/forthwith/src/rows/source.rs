//! Sources of rows: a table, or several as one.

use crate::{
    ProgressCallback, SelectOptions, Selected, Selection, Step, Steps, Table, steps::TOGETHER_BYTES,
};
use forthwith_columns::{Array, Column, DType, Encoding, Form};
use forthwith_plan::{Error, Plan, Result};
use std::{ops::Range, sync::Arc};

/// Columns that are looked up by name and read in steps: a [`Table`], or several files as one.
pub trait RowSource: Send + Sync {
    /// Returns the Form of a column, or `None` if it is absent.
    ///
    /// # Errors
    /// The column cannot be read; damaged metadata.
    fn form(&self, column: &str) -> Result<Option<Form>>;

    /// Returns the names of all columns.
    ///
    /// # Errors
    /// Damaged metadata.
    fn names(&self) -> Result<Vec<String>>;

    /// Adds the file and the table to an error.
    fn locate(&self, error: Error) -> Error;

    /// Checks that a column can be read without decoding.
    ///
    /// # Errors
    /// The reason why it cannot.
    fn check_raw(&self, column: &str, order: RawOrder) -> Result<()>;

    /// Plans the read of columns in steps.
    ///
    /// # Errors
    /// Errors of [`Table::select`].
    fn steps(&self, columns: &[RowColumn], options: &RowOptions) -> Result<Box<dyn RowSteps>>;
}

/// Byte order and type of numbers that are read without decoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawOrder {
    /// Whether the most significant byte comes first.
    pub big: bool,
    /// Type of the numbers.
    pub dtype: DType,
}

/// A column to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowColumn {
    /// Name of the column.
    pub name: String,
    /// Byte order, if the column is read without decoding: its array then has the stored bytes.
    pub raw: Option<RawOrder>,
}

/// Options for reading rows.
#[derive(Clone, Debug)]
pub struct RowOptions {
    /// Selects entries for which this expression is true.
    pub cut: Option<String>,
    /// Selects these entries, in ascending order.
    pub entries: Option<Vec<u64>>,
    /// First entry.
    pub start: u64,
    /// End of the entries.
    pub end: u64,
    /// Size of steps.
    pub step: Step,
    /// Number of threads; by default that of the engine.
    pub threads: Option<usize>,
}

impl Default for RowOptions {
    fn default() -> Self {
        // Smaller steps would be read together, and then copied individually.
        let (step, threads) = (Step::Bytes(TOGETHER_BYTES), None);
        Self { cut: None, entries: None, start: 0, end: u64::MAX, step, threads }
    }
}

/// Steps that are read in order, or by several threads.
pub trait RowSteps: Send {
    /// Reads the next step; `None` after the last.
    ///
    /// # Errors
    /// Errors of [`Table::read`].
    fn read_next(
        &mut self,
        threads: Option<usize>,
        tick: &mut ProgressCallback<'_>,
    ) -> Result<Option<Selected>>;

    /// Skips the next step and returns its entries; `None` after the last.
    ///
    /// # Errors
    /// Errors of [`Table::plan`].
    fn skip_step(&mut self) -> Result<Option<Range<u64>>>;

    /// Returns a reader for skipped steps.
    fn reader(&self) -> Arc<dyn StepReader>;

    /// Whether steps are views of the file, which a prefetching thread could not speed up.
    fn are_views(&self) -> bool {
        false
    }

    /// Whether a step is enough work for a thread, so that threads read whole steps instead of parts of one.
    fn are_large(&self) -> bool {
        false
    }
}

/// Reads steps by their entries, on any thread.
pub trait StepReader: Send + Sync {
    /// Reads a step.
    ///
    /// # Errors
    /// Errors of [`Table::read`].
    fn read_step(
        &self,
        step: Range<u64>,
        threads: Option<usize>,
        tick: &mut ProgressCallback<'_>,
    ) -> Result<Selected>;

    /// Allows a stream to drop entries before this one, which are not read again.
    ///
    /// # Errors
    /// The stream is read by another process.
    fn release(&self, before: u64) -> Result<()> {
        let _ = before;
        Ok(())
    }
}

impl Table {
    /// Looks up a column by its name or path, or a member of a column's records.
    fn row_column(&self, name: &str) -> Result<Option<(u32, Option<Selection>)>> {
        if let Some(field) = self.found(name)? {
            return Ok(Some((field, None)));
        }
        let is_path = name.contains('.') && name.chars().all(|c| c.is_alphanumeric() || "._/:".contains(c));
        if !is_path {
            return Ok(None);
        }
        if let Ok(field) = self.find(name) {
            return Ok(Some((field, None)));
        }
        let member = self.select(&[name], SelectOptions::default()).ok();
        Ok(member.map(|selection| (0, Some(selection))))
    }

    /// Plans a column of numbers as blocks of the file, merged where they are adjacent.
    fn raw_plan(&self, column: &str, entries: Range<u64>, order: RawOrder) -> Result<Plan> {
        let field = self.find(column)?;
        match Self::form(self, field)?.kept() {
            Form::Numpy { dtype, shape, .. } if *dtype == order.dtype && shape.is_empty() => {}
            form => return Err(Error::invalid(format!("it is {}, not {}", form.type_string(), order.dtype))),
        }
        self.plan_raw(&[field], entries)
    }

    /// Returns a block of raw numbers, which is a view of the file.
    fn raw_block(
        &self,
        column: &str,
        plan: &Plan,
        task: usize,
        order: RawOrder,
    ) -> Result<(Range<u64>, bytes::Bytes)> {
        if !self.file().source().lends_views() {
            return Err(Error::invalid("the file was not opened by File::map, so its bytes are not lent"));
        }
        let block = self.raw(plan, task)?;
        if !block.view {
            return Err(Error::invalid(format!("block {task} of {column:?} is compressed")));
        }
        let is_stored_so = match block.values {
            Some(Encoding::Big(dtype)) => dtype == order.dtype && (order.big || dtype.size() == 1),
            Some(Encoding::Little(dtype)) => dtype == order.dtype && (!order.big || dtype.size() == 1),
            _ => false,
        };
        if !is_stored_so {
            let found =
                block.values.map_or_else(|| "in another way".to_owned(), |wire| format!("as {wire:?}"));
            let wanted = if order.big { "most" } else { "least" };
            let what =
                format!("block {task} of {column:?} is stored {found}, not {wanted} significant byte first");
            return Err(Error::invalid(what));
        }
        Ok((block.entries, block.payload))
    }
}

impl RowSource for Table {
    fn form(&self, column: &str) -> Result<Option<Form>> {
        match self.row_column(column)? {
            None => Ok(None),
            Some((field, None)) => Self::form(self, field).map(Some),
            Some((_, Some(member))) => Ok(member.forms()?.pop()),
        }
    }

    fn names(&self) -> Result<Vec<String>> {
        Ok(self.fields()?.iter().map(|field| field.path.clone()).collect())
    }

    fn locate(&self, error: Error) -> Error {
        error.in_file(self.file().uri()).in_object(self.path())
    }

    fn check_raw(&self, column: &str, order: RawOrder) -> Result<()> {
        let plan = self.raw_plan(column, 0..self.entries()?, order)?;
        if plan.tasks.is_empty() { Ok(()) } else { self.raw_block(column, &plan, 0, order).map(drop) }
    }

    fn steps(&self, columns: &[RowColumn], options: &RowOptions) -> Result<Box<dyn RowSteps>> {
        let decoded: Vec<&str> =
            columns.iter().filter(|column| column.raw.is_none()).map(|column| column.name.as_str()).collect();
        let fields = decoded.iter().map(|name| Ok((*name, self.found(name)?)));
        let fields: Vec<(&str, Option<u32>)> = fields.collect::<Result<_>>()?;
        let select = SelectOptions {
            cut: options.cut.clone(),
            entries: options.entries.clone(),
            ..SelectOptions::default()
        };
        let selection = self.select_fields(&fields, select)?;
        if decoded.len() == columns.len() {
            return Ok(Box::new(selection.steps(options.start..options.end, options.step)?));
        }
        if selection.chooses_entries() {
            return Err(
                self.locate(Error::unsupported("a cut, or a list of entries, of rows with raw numbers"))
            );
        }
        let entries = options.start..options.end.min(self.entries()?);
        let raw = RawColumns::new(self, columns, entries.start.min(entries.end)..entries.end)?;
        let ranges = raw.cut(&selection, options.step)?;
        Ok(Box::new(RawSteps { selection, raw: Arc::new(raw), ranges: ranges.into_iter() }))
    }
}

impl RowSteps for Steps {
    fn read_next(
        &mut self,
        threads: Option<usize>,
        tick: &mut ProgressCallback<'_>,
    ) -> Result<Option<Selected>> {
        self.read_batch(threads, Some(tick))
    }

    fn skip_step(&mut self) -> Result<Option<Range<u64>>> {
        Self::skip_step(self)
    }

    fn reader(&self) -> Arc<dyn StepReader> {
        Arc::new(self.selection().clone())
    }

    fn are_large(&self) -> bool {
        Self::are_large(self)
    }
}

impl StepReader for Selection {
    fn read_step(
        &self,
        step: Range<u64>,
        threads: Option<usize>,
        tick: &mut ProgressCallback<'_>,
    ) -> Result<Selected> {
        self.read_range(step, threads, Some(tick))
    }

    fn release(&self, before: u64) -> Result<()> {
        Self::release(self, before)
    }
}

/// Raw columns of a table among those that rows need.
struct RawColumns {
    table: Table,
    entries: Range<u64>,
    /// Plan of each raw column; `None` for the others.
    plans: Vec<Option<(String, RawOrder, Plan)>>,
}

impl RawColumns {
    fn new(table: &Table, columns: &[RowColumn], entries: Range<u64>) -> Result<Self> {
        let plan = |column: &RowColumn| match column.raw {
            None => Ok(None),
            Some(order) => {
                let plan = table.raw_plan(&column.name, entries.clone(), order)?;
                Ok(Some((column.name.clone(), order, plan)))
            }
        };
        let plans = columns.iter().map(plan).collect::<Result<_>>()?;
        Ok(Self { table: table.clone(), entries, plans })
    }

    /// Returns steps that end at block boundaries of the raw columns, and at those of the steps of the
    /// decoded columns.
    fn cut(&self, decoded: &Selection, step: Step) -> Result<Vec<Range<u64>>> {
        let tasks = self.plans.iter().flatten().flat_map(|(.., plan)| &plan.tasks);
        let mut ends: Vec<u64> = tasks.flat_map(|task| [task.entries.start, task.entries.end]).collect();
        if !decoded.fields().is_empty() {
            ends.extend(
                self.table.cut(decoded.fields(), self.entries.clone(), step)?.iter().map(|step| step.end),
            );
        } else if let Step::Entries(count) = step {
            ends.extend((self.entries.clone()).step_by(usize::try_from(count.max(1)).unwrap_or(usize::MAX)));
        }
        ends.extend([self.entries.start, self.entries.end]);
        ends.retain(|end| self.entries.start <= *end && *end <= self.entries.end);
        ends.sort_unstable();
        ends.dedup();
        Ok(ends.windows(2).map(|pair| pair[0]..pair[1]).collect())
    }

    /// Returns the bytes of a raw column for a step within one block.
    fn array(&self, (name, order, plan): &(String, RawOrder, Plan), step: &Range<u64>) -> Result<Array> {
        let has_step = |entries: &Range<u64>| entries.start <= step.start && step.end <= entries.end;
        let missing = || Error::fault(format!("no block of {name:?} has the entries {step:?}"));
        let task = plan.tasks.partition_point(|task| task.entries.end <= step.start);
        if !plan.tasks.get(task).is_some_and(|task| has_step(&task.entries)) {
            return Err(missing());
        }
        let (entries, payload) = self.table.raw_block(name, plan, task, *order)?;
        let count = entries.end - entries.start;
        let size = (payload.len() as u64).checked_div(count).unwrap_or(0);
        if !has_step(&entries) || size.checked_mul(count) != Some(payload.len() as u64) {
            return Err(missing());
        }
        let at = |entry: u64| ((entry - entries.start) * size) as usize; // within the payload
        let bytes = payload.slice(at(step.start)..at(step.end));
        let form = Form::Numpy { key: "raw".into(), dtype: DType::UInt8, shape: vec![size] };
        let columns = vec![("raw-data".into(), Column::from_bytes(DType::UInt8, bytes))];
        Ok(Array { form, length: step.end - step.start, columns })
    }
}

/// Steps of rows with raw columns.
struct RawSteps {
    selection: Selection,
    raw: Arc<RawColumns>,
    ranges: std::vec::IntoIter<Range<u64>>,
}

impl RowSteps for RawSteps {
    fn read_next(
        &mut self,
        threads: Option<usize>,
        tick: &mut ProgressCallback<'_>,
    ) -> Result<Option<Selected>> {
        let Some(step) = self.ranges.next() else { return Ok(None) };
        self.reader().read_step(step, threads, tick).map(Some)
    }

    fn skip_step(&mut self) -> Result<Option<Range<u64>>> {
        Ok(self.ranges.next())
    }

    fn reader(&self) -> Arc<dyn StepReader> {
        Arc::new(RawStepReader { selection: self.selection.clone(), raw: Arc::clone(&self.raw) })
    }

    fn are_views(&self) -> bool {
        self.selection.names().len() == 0
    }
}

struct RawStepReader {
    selection: Selection,
    raw: Arc<RawColumns>,
}

impl StepReader for RawStepReader {
    fn read_step(
        &self,
        step: Range<u64>,
        threads: Option<usize>,
        tick: &mut ProgressCallback<'_>,
    ) -> Result<Selected> {
        let mut read = match self.selection.names().len() {
            0 => Selected { entries: step.clone(), kept: None, arrays: Vec::new() },
            _ => self.selection.read_step(step.clone(), threads, tick)?,
        };
        let mut decoded = std::mem::take(&mut read.arrays).into_iter();
        for plan in &self.raw.plans {
            read.arrays.extend(match plan {
                Some(raw) => Some(self.raw.array(raw, &step).map_err(|e| self.raw.table.locate(e))?),
                None => decoded.next(),
            });
        }
        Ok(read)
    }
}
