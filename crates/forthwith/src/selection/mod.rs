//! Selections: stored and computed columns of some entries.

mod inputs;
mod joined;
mod member;
mod names;
mod promise;
mod reader;
mod rows;
mod united;

use crate::{Friend, ProgressCallback, Step, Steps, Table, cut, table::bounds};
use forthwith_columns::{Array, Form};
use forthwith_expr::{Program, Spelling, holding};
use forthwith_plan::{Error, Extent, Plan, Result};
use inputs::{Input, Inputs};
use names::Names;
use promise::{certain, promising};
use reader::Reader;
pub(crate) use reader::joined_up;
use rows::Rows;
use std::{
    collections::HashSet,
    ops::{Range, RangeBounds},
    sync::Arc,
};

/// Options of a selection, in addition to the names of columns.
#[derive(Clone, Debug, Default)]
pub struct SelectOptions {
    /// Names for expressions, which column names and other expressions may use.
    pub aliases: Vec<(String, String)>,
    /// Selects entries for which this expression is true. It has one value for each entry.
    pub cut: Option<String>,
    /// Selects these entries of the table, in ascending order.
    pub entries: Option<Vec<u64>>,
    /// Friends of the table, in addition to the friends that its file names.
    pub friends: Vec<Friend>,
    /// Columns with a common type across several tables. A column that this table lacks is null, other types
    /// of numbers are converted, and options of the common Form are added. An integer that a floating-point
    /// type cannot represent is an error of [`Selection::read`].
    pub united: Vec<UnitedColumn>,
    /// Number of entries of tables before this one, which `Entry$` includes.
    pub before: u64,
}

/// A column with a common type across several tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitedColumn {
    /// Name in expressions and among the columns.
    pub name: String,
    /// Field of this table, if it has the column.
    pub field: Option<u32>,
    /// Common Form across all tables.
    pub form: Form,
}

/// Stored and computed columns of all or some entries of a table, made by [`Table::select`].
///
/// ```
/// use forthwith::SelectOptions;
/// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data");
///
/// let events = forthwith::File::open(format!("{folder}/zmumu.root"))?.table("events")?;
/// let options = SelectOptions {
///     aliases: vec![("pt2".into(), "Muon_pt**2".into())],
///     cut: Some("nMuon > 1".into()),
///     ..SelectOptions::default()
/// };
/// let selected = events.select(&["pt2", "MET_pt"], options)?.read(.., None, None)?;
/// assert_eq!(selected.arrays[0].form.type_string(), "var * float32");
/// assert_eq!(selected.arrays[1].length, selected.kept.map_or(0, |kept| kept.len() as u64));
/// # Ok::<(), forthwith::plan::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Selection {
    inputs: Inputs,
    columns: Vec<Column>,
    /// Expressions among the columns.
    computed: Option<Computed>,
    cut: Option<Computed>,
    entries: Option<Arc<[u64]>>,
    /// Fields of the table that may be read.
    fields: Vec<u32>,
    /// All inputs, including these fields.
    all: Vec<Input>,
    /// Whether options are read as validity bits if all entries are read.
    bits: bool,
    /// Whether text is read as views if all entries are read.
    views: bool,
}

#[derive(Clone, Debug)]
struct Column {
    label: String,
    made: Made,
}

/// The origin of a column: a field, or an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Made {
    Field(Input),
    /// Number of an expression.
    Computed(usize),
}

/// Expressions and their inputs, in order.
#[derive(Clone, Debug)]
struct Computed {
    program: Arc<Program>,
    inputs: Vec<Input>,
}

/// Arrays of the entries that were read.
#[derive(Clone, Debug)]
pub struct Selected {
    /// Range of entries that was read.
    pub entries: Range<u64>,
    /// Entries that the arrays have; `None` for all of the range.
    pub kept: Option<Vec<u64>>,
    /// An array for each column.
    pub arrays: Vec<Array>,
}

impl Table {
    /// Selects columns by names, aliases or expressions; see `docs/details/expressions.md` for these. The
    /// name of a column of the file takes precedence over other meanings. The file's own aliases have the
    /// lowest precedence.
    ///
    /// Returns an error, with the position in its text, if an expression cannot be parsed or computed; if a
    /// name is unknown; or if entries are not in ascending order or out of range.
    pub fn select(&self, names: &[&str], options: SelectOptions) -> Result<Selection> {
        self.select_fields(&names.iter().map(|name| (*name, None)).collect::<Vec<_>>(), options)
    }

    /// Selects columns like [`select`](Self::select), where the fields of some columns are given by number.
    ///
    /// Returns the errors of [`select`](Self::select).
    pub fn select_fields(&self, names: &[(&str, Option<u32>)], options: SelectOptions) -> Result<Selection> {
        let names_of = Names::new(self, &options.aliases, options.friends, &options.united)?;
        names_of.check_aliases()?;
        let mut columns = Vec::with_capacity(names.len());
        let mut expressions = Vec::new();
        for (name, known) in names {
            let field = known.map_or_else(|| names_of.input(name), |field| Ok(Some(Input::Field(field))))?;
            let made = match field {
                Some(field) => Made::Field(field),
                None => {
                    expressions.push(names_of.expression(name)?);
                    Made::Computed(expressions.len() - 1)
                }
            };
            columns.push(Column { label: (*name).to_owned(), made });
        }
        let mut computed = None;
        if !expressions.is_empty() {
            let program = names_of.program(&expressions)?;
            // An alias of a column is that column, even if expressions do not support its type.
            for column in &mut columns {
                if let Made::Computed(output) = column.made
                    && let Some(name) = program.program.column(output)
                    && let Some(field) = names_of.input(name)?
                {
                    column.made = Made::Field(field);
                }
            }
            computed = Some(program);
        }
        let mut cut = None;
        if let Some(text) = &options.cut {
            let expression = names_of.parsed(text, Spelling::Python)?;
            let program = names_of.program(&[Arc::new(expression)])?;
            self.check_cut(text, program.program.form(0))?;
            cut = Some(program);
        }
        let entries: Option<Arc<[u64]>> = options.entries.map(Into::into);
        if let Some(wrong) =
            entries.iter().flat_map(|entries| entries.windows(2)).find(|pair| pair[0] >= pair[1])
        {
            let what = format!("entries must be in ascending order: {} comes before {}", wrong[0], wrong[1]);
            return self.here(Err(Error::invalid(what)));
        }
        if let Some(last) = entries.as_ref().and_then(|entries| entries.last())
            && self.entries_up_to(last.saturating_add(1))? <= *last
        {
            let what = format!("there is no entry {last}: the number of entries is {}", self.entries()?);
            return self.here(Err(Error::invalid(what)));
        }
        Ok(Selection::of(names_of.into_inputs(options.before), columns, computed, cut, entries))
    }

    /// Returns the file's own aliases, as names and expressions in the syntax of TTreeFormula.
    ///
    /// Returns an error if the metadata are damaged.
    pub fn aliases(&self) -> Result<Vec<(String, String)>> {
        self.here(self.dataset().aliases())
    }

    /// Returns the Form of a field.
    ///
    /// Returns an error if the field does not exist or cannot be read.
    pub fn form(&self, field: u32) -> Result<Form> {
        self.form_of(field, self.describe_first(field, 0)?.reading.map(|reading| reading.form))
    }

    /// Returns the Forms of several fields.
    ///
    /// Returns the errors of [`form`](Self::form), for the first field that fails.
    pub fn forms(&self, fields: &[u32]) -> Result<Vec<Form>> {
        let extents = self.here(self.dataset().extents(fields, 0))?;
        let form = |(field, extent): (&u32, Extent)| {
            let mut form = self.form_of(*field, extent.form)?;
            self.here(self.convert_form(*field, &mut form))?;
            Ok(form)
        };
        fields.iter().zip(extents).map(form).collect()
    }

    fn form_of(&self, field: u32, form: std::result::Result<Form, String>) -> Result<Form> {
        form.or_else(|what| {
            // Planning gives the most precise error.
            self.plan(&[field], 0..0)?;
            self.here(Err(Error::unsupported(what)))
        })
    }

    /// Checks that a cut has one boolean for each entry.
    fn check_cut(&self, text: &str, form: Option<Form>) -> Result<()> {
        let form = form.unwrap_or(Form::Empty);
        let kept = match &form {
            Form::Option { content, .. } => content,
            other => other,
        };
        let what = match kept {
            Form::Numpy { dtype: forthwith_columns::DType::Bool, shape, .. } if shape.is_empty() => {
                return Ok(());
            }
            Form::List { .. } | Form::Regular { .. } => format!(
                "the cut {text:?} gives {} for each entry, not one true or false: reduce it by any(…) or all(…), \
                 or choose items by x[condition]",
                form.type_string()
            ),
            _ => format!("the cut {text:?} gives {} for each entry, not true or false", form.type_string()),
        };
        self.here(Err(Error::invalid(what)))
    }
}

impl Selection {
    fn of(
        inputs: Inputs,
        columns: Vec<Column>,
        computed: Option<Computed>,
        cut: Option<Computed>,
        entries: Option<Arc<[u64]>>,
    ) -> Self {
        let (mut all, mut seen) = (Vec::new(), HashSet::new());
        let direct = columns.iter().filter_map(|column| match column.made {
            Made::Field(input) => Some(input),
            Made::Computed(_) => None,
        });
        let beside =
            [&cut, &computed].into_iter().flatten().flat_map(|computed| computed.inputs.iter().copied());
        all.extend(direct.chain(beside).chain(inputs.keys()).filter(|input| seen.insert(*input)));
        let mut known = HashSet::new();
        let fields = all.iter().filter_map(|input| inputs.field(*input));
        let fields: Vec<u32> = fields.filter(|field| known.insert(*field)).collect();
        Self { fields, all, inputs, columns, computed, cut, entries, bits: false, views: false }
    }

    /// Selects fields without conversion.
    pub(crate) fn plain(table: Table, fields: Vec<u32>) -> Self {
        let columns = fields
            .iter()
            .map(|field| Column { label: String::new(), made: Made::Field(Input::Field(*field)) });
        let columns = columns.collect();
        let all = fields.iter().copied().map(Input::Field).collect();
        let inputs = Inputs::alone(table);
        Self {
            inputs,
            columns,
            computed: None,
            cut: None,
            entries: None,
            fields,
            all,
            bits: false,
            views: false,
        }
    }

    /// Divides the columns into groups of at most `most`, whose fields have the same range of entries;
    /// returns each group with its range. Computed columns form one group.
    ///
    /// Returns an error if the metadata are damaged.
    pub(crate) fn in_groups(&self, most: usize) -> Result<Vec<(Self, Range<u64>)>> {
        let mut groups: Vec<(Option<Range<u64>>, Vec<Column>)> = Vec::new();
        for column in &self.columns {
            let field = match column.made {
                Made::Field(input) => self.inputs.field(input),
                Made::Computed(_) => None,
            };
            let entries = field.map(|field| self.table().entry_range(field)).transpose()?;
            let fits = |group: &&mut (Option<Range<u64>>, Vec<Column>)| {
                group.0 == entries && (group.1.len() < most || entries.is_none())
            };
            match groups.iter_mut().find(fits) {
                Some((_, group)) => group.push(column.clone()),
                None => groups.push((entries, vec![column.clone()])),
            }
        }
        let group = |(entries, columns): (Option<Range<u64>>, Vec<Column>)| {
            let is_computed = columns.iter().any(|column| matches!(column.made, Made::Computed(_)));
            let computed = self.computed.clone().filter(|_| is_computed);
            let (inputs, cut) = (self.inputs.clone(), self.cut.clone());
            let entries = match entries {
                Some(entries) => entries,
                None => 0..self.table().entries()?,
            };
            Ok((Self::of(inputs, columns, computed, cut, self.entries.clone()), entries))
        };
        groups.into_iter().map(group).collect()
    }

    /// Returns the table.
    #[must_use]
    pub fn table(&self) -> &Table {
        &self.inputs.table
    }

    /// Returns the fields of the columns that are fields.
    pub(crate) fn column_fields(&self) -> Vec<u32> {
        let field = |column: &Column| match column.made {
            Made::Field(Input::Field(field)) => Some(field),
            _ => None,
        };
        self.columns.iter().filter_map(field).collect()
    }

    /// Whether all inputs are fields of the table.
    fn is_plain(&self) -> bool {
        self.all.iter().all(|input| matches!(input, Input::Field(_)))
    }

    /// Whether entry numbers across all tables are an input.
    pub(crate) fn counts_entries(&self) -> bool {
        self.all.iter().any(|input| matches!(input, Input::Entry { local: false }))
    }

    /// Whether the columns are distinct fields of the table, and all entries are read.
    pub(crate) fn is_of_fields_alone(&self) -> bool {
        self.columns.len() == self.fields.len()
            && self.is_plain()
            && self.computed.is_none()
            && !self.chooses_entries()
    }

    /// Returns the fields of the table that are read, for columns and expressions.
    #[must_use]
    pub fn fields(&self) -> &[u32] {
        &self.fields
    }

    /// Iterates over the names of the columns, as they were given.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.columns.iter().map(|column| column.label.as_str())
    }

    /// Whether entries may be left out, by a cut or a list of entries.
    #[must_use]
    pub fn chooses_entries(&self) -> bool {
        self.cut.is_some() || self.entries.is_some()
    }

    /// Returns the Form of each column, without reading data.
    ///
    /// Returns an error if a field cannot be read.
    pub fn forms(&self) -> Result<Vec<Form>> {
        let form = |column: &Column| match column.made {
            Made::Field(input) => self.inputs.form(input),
            Made::Computed(output) => {
                let form = self.computed.as_ref().and_then(|computed| computed.program.form(output));
                Ok(form.unwrap_or(Form::Empty))
            }
        };
        self.columns.iter().map(form).collect()
    }

    /// Returns the names of the columns for messages, which are paths for fields.
    #[must_use]
    pub fn paths(&self) -> Vec<String> {
        let path = |column: &Column| match column.made {
            Made::Field(input) => self.inputs.path(input),
            Made::Computed(_) => column.label.clone(),
        };
        let within = |path: String| match self.table().path() {
            "" => path,
            table => format!("{table}/{path}"),
        };
        self.columns.iter().map(path).map(within).collect()
    }

    /// Returns the parts of a range of entries in which the cut may hold by the file's statistics, in
    /// ascending order. Without a cut or statistics, this is the whole range.
    ///
    /// Returns an error if the metadata are damaged.
    pub fn promising(&self, entries: Range<u64>) -> Result<Vec<Range<u64>>> {
        match &self.cut {
            Some(cut) => promising(&self.inputs, cut, &entries),
            None => Ok(vec![entries]),
        }
    }

    /// Reads and computes the columns for a range of entries. `threads` and `tick` are those of
    /// [`Table::read`]; progress restarts for each of several reads: first of the columns of the cut, then of
    /// the blocks with entries that pass.
    ///
    /// Returns the errors of [`Table::plan`] and [`Table::read`], and an error if lists in an expression
    /// differ in length.
    pub fn read(
        &self,
        entries: impl RangeBounds<u64>,
        threads: Option<usize>,
        tick: Option<&mut ProgressCallback<'_>>,
    ) -> Result<Selected> {
        let (start, end) = bounds(&entries);
        let end = end.map_or_else(|| self.table().entries(), Ok)?;
        self.read_range(start..end.max(start), threads, tick)
    }

    /// Sets whether options are read as validity bits if the file stores them so, and their index is computed
    /// on first access. This suits data that become Arrow arrays.
    #[must_use]
    pub const fn with_bits(mut self, bits: bool) -> Self {
        self.bits = bits;
        self
    }

    /// Sets whether text is read as Arrow views where the format supports it. Offsets and bytes are then
    /// computed on first access. Applies to fields that are read without a cut, and whose text is validated.
    #[must_use]
    pub const fn with_views(mut self, views: bool) -> Self {
        self.views = views;
        self
    }

    pub(crate) const fn has_bits(&self) -> bool {
        self.bits
    }

    /// Returns steps that read and compute the columns.
    ///
    /// Returns an error if the metadata are damaged.
    pub fn steps(&self, entries: impl RangeBounds<u64>, step: Step) -> Result<Steps> {
        let (start, end) = bounds(&entries);
        let entries = start..end.unwrap_or(u64::MAX);
        let table = self.table();
        if table.counts_blocks() {
            return Steps::cutting(self.clone(), entries, step);
        }
        let end = table.entries_up_to(entries.end)?;
        let density = self.density(None)?;
        let entries = entries.start.min(end)..end;
        let cut = table.here(cut::cut(table.dataset(), &self.fields, entries, step, density))?;
        Steps::cut_to(self.clone(), cut, step)
    }

    /// Returns the average number of decompressed bytes of an entry, over all entries or, if counting them is
    /// costly, the first `known` ones.
    pub(crate) fn density(&self, known: Option<u64>) -> Result<f64> {
        self.inputs.density(&self.fields, &self.all, known)
    }

    /// Allows a stream to drop the entries before `before`, which will not be read again.
    pub(crate) fn release(&self, before: u64) -> Result<()> {
        let table = self.table();
        table.here(table.dataset().release(before))
    }

    pub(crate) fn read_range(
        &self,
        range: Range<u64>,
        threads: Option<usize>,
        tick: Option<&mut ProgressCallback<'_>>,
    ) -> Result<Selected> {
        if self.is_of_fields_alone() {
            let (bits, views) = (self.bits, self.views);
            let plan = Plan { bits, views, ..self.table().plan(&self.fields, range.clone())? };
            let arrays = self.table().read(&plan, threads, tick)?;
            return Ok(Selected { entries: range, kept: None, arrays });
        }
        let Some(cut) = &self.cut else { return self.read_part(range, threads, tick) };
        if self.entries.is_none() {
            let certain = certain(&self.inputs, cut, &range)?;
            let count: u64 = certain.iter().map(|part| part.end - part.start).sum();
            if count > 0 && count >= (range.end - range.start) / 2 {
                return self.read_certain(cut, range, &certain, threads, tick);
            }
        }
        // Skip blocks in which no entry can pass the cut, by the statistics of the file.
        let parts = promising(&self.inputs, cut, &range)?;
        match parts.as_slice() {
            [part] if *part == range => self.read_part(range, threads, tick),
            [] if range.is_empty() => self.read_part(range, threads, tick),
            [] => {
                let none = self.read_part(range.start..range.start, threads, tick)?;
                Ok(Selected { entries: range, kept: Some(Vec::new()), arrays: none.arrays })
            }
            parts => self.read_parts(range, parts, threads, tick),
        }
    }

    /// Reads several ranges, and concatenates their arrays.
    fn read_parts(
        &self,
        range: Range<u64>,
        parts: &[Range<u64>],
        threads: Option<usize>,
        mut tick: Option<&mut ProgressCallback<'_>>,
    ) -> Result<Selected> {
        let mut kept = Vec::new();
        let mut read = Vec::with_capacity(parts.len());
        for part in parts {
            let selected = self.read_part(part.clone(), threads, tick.as_deref_mut())?;
            match selected.kept {
                Some(entries) => kept.extend(entries),
                None => kept.extend(part.clone()),
            }
            read.push(selected.arrays);
        }
        let arrays = (0..self.columns.len()).map(|column| {
            joined_up(&read.iter().filter_map(|arrays| arrays.get(column)).collect::<Vec<_>>())
        });
        Ok(Selected { entries: range, kept: Some(kept), arrays: arrays.collect::<Result<_>>()? })
    }

    fn read_part(
        &self,
        range: Range<u64>,
        threads: Option<usize>,
        tick: Option<&mut ProgressCallback<'_>>,
    ) -> Result<Selected> {
        let mut reader = Reader::new(&self.inputs, threads, tick);
        let mut rows = Rows::All(range.clone());
        if let Some(wanted) = &self.entries {
            let begin = wanted.partition_point(|entry| *entry < range.start);
            let end = wanted.partition_point(|entry| *entry < range.end);
            rows = Rows::Some(wanted[begin..end].iter().copied().collect());
        }
        if let Some(cut) = &self.cut {
            let passed = reader.computed(cut, &rows)?;
            let held = passed.first().and_then(holding).unwrap_or_default();
            let entries = rows.at(&held);
            rows = reader.narrowed(rows, Rows::Some(entries))?;
        }
        self.columns_of(reader, range, rows)
    }

    /// Reads and computes the columns for some entries of a range.
    fn columns_of(&self, mut reader: Reader<'_, '_, '_>, range: Range<u64>, rows: Rows) -> Result<Selected> {
        let mut needed: Vec<Input> = Vec::new();
        for column in &self.columns {
            needed.extend(match column.made {
                Made::Field(input) => Some(input),
                Made::Computed(_) => None,
            });
        }
        needed.extend(self.computed.iter().flat_map(|computed| computed.inputs.iter().copied()));
        reader.read(&needed, &rows)?;
        let made = match &self.computed {
            Some(computed) => reader.computed(computed, &rows)?,
            None => Vec::new(),
        };
        let mut arrays = Vec::with_capacity(self.columns.len());
        for column in &self.columns {
            arrays.push(match column.made {
                Made::Field(input) => reader.array(input)?.clone(),
                Made::Computed(output) => made.get(output).cloned().ok_or_else(|| missing(&column.label))?,
            });
        }
        let kept = match rows {
            Rows::All(_) => None,
            Rows::Some(entries) => Some(entries.to_vec()),
        };
        Ok(Selected { entries: range, kept, arrays })
    }
}

fn missing(label: &str) -> Error {
    Error::fault(format!("the column {label:?} was not read"))
}
