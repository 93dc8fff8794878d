//! Columns that are read or computed, of entries that are chosen.

use crate::{ProgressCallback, Step, Steps, Table, table::bounds};
use forthwith_columns::{Array, Form};
use forthwith_expr::{Expression, Named, Program, Spelling, holding};
use forthwith_plan::{Error, ErrorKind, Result, similar_names};
use std::{
    collections::HashMap,
    ops::{Range, RangeBounds},
    sync::Arc,
};

/// What is wanted of a table beside the names of columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SelectOptions {
    /// Names for expressions, which names of columns and other expressions may use.
    pub aliases: Vec<(String, String)>,
    /// Only entries for which this expression is true. It has one value for each entry.
    pub cut: Option<String>,
    /// Only these entries, counted in the table, in ascending order.
    pub entries: Option<Vec<u64>>,
}

/// Columns of a table, read or computed, of all entries or of some: [`Table::select`] makes it, and checks all types.
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
    table: Table,
    columns: Vec<Column>,
    /// The expressions among the columns.
    computed: Option<Computed>,
    cut: Option<Computed>,
    entries: Option<Arc<[u64]>>,
    /// All fields that may be read.
    fields: Vec<u32>,
}

#[derive(Clone, Debug)]
struct Column {
    label: String,
    made: Made,
}

/// What a column is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Made {
    Field(u32),
    /// One of the expressions.
    Computed(usize),
}

/// Expressions and the fields they need, in the order they need them.
#[derive(Clone, Debug)]
struct Computed {
    program: Arc<Program>,
    inputs: Vec<u32>,
}

/// Entries that were read.
#[derive(Clone, Debug)]
pub struct Selected {
    /// The entries looked at.
    pub entries: Range<u64>,
    /// Those of them that the arrays have, if these may not be all.
    pub kept: Option<Vec<u64>>,
    /// An array for each column.
    pub arrays: Vec<Array>,
}

impl Table {
    /// Columns by their names, aliases, or expressions; see `docs/expressions.md` for these. A name that a column of the file has is that
    /// column, whatever else it may mean. Aliases that the file has itself count where nothing else has their name.
    ///
    /// # Errors
    /// Expressions that cannot be understood or computed, with the place in their text; names that there are not; entries that do not
    /// ascend.
    pub fn select(&self, names: &[&str], options: SelectOptions) -> Result<Selection> {
        self.select_fields(&names.iter().map(|name| (*name, None)).collect::<Vec<_>>(), options)
    }

    /// The same, where the fields of some columns are known, whatever these are called.
    ///
    /// # Errors
    /// As [`select`](Self::select).
    pub fn select_fields(&self, names: &[(&str, Option<u32>)], options: SelectOptions) -> Result<Selection> {
        let names_of = Names::new(self, &options.aliases)?;
        let mut columns = Vec::with_capacity(names.len());
        let mut expressions = Vec::new();
        for (name, known) in names {
            let field = known.map_or_else(|| names_of.field(name), |field| Ok(Some(field)))?;
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
            // An alias of a column is that column: of any type, and not computed.
            for column in &mut columns {
                if let Made::Computed(output) = column.made
                    && let Some(name) = program.program.column(output)
                    && let Some(field) = names_of.field(name)?
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
            let what = format!("entries have to ascend: {} comes before {}", wrong[0], wrong[1]);
            return self.here(Err(ErrorKind::Invalid { what }.into()));
        }
        if let Some(last) = entries.as_ref().and_then(|entries| entries.last())
            && self.entries_up_to(last.saturating_add(1))? <= *last
        {
            let what = format!("there is no entry {last}, only {}", self.entries()?);
            return self.here(Err(ErrorKind::Invalid { what }.into()));
        }
        Ok(Selection::of(self.clone(), columns, computed, cut, entries))
    }

    /// Names of the file itself for expressions, in TTreeFormula's spelling.
    ///
    /// # Errors
    /// Damaged metadata.
    pub fn aliases(&self) -> Result<Vec<(String, String)>> {
        self.here(self.dataset().aliases())
    }

    /// The Form of a field.
    ///
    /// # Errors
    /// No such field, or one that cannot be read.
    pub fn form(&self, field: u32) -> Result<Form> {
        match self.describe_first(field, 0)?.reading {
            Ok(reading) => Ok(reading.form),
            Err(what) => {
                // Planning says it best.
                self.plan(&[field], 0..0)?;
                self.here(Err(Error::unsupported(what)))
            }
        }
    }

    /// One value that is true or false for each entry.
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
                "the cut {text:?} is {} for each entry, which has to be one value: any(…) or all(…) of it is; \
                 to choose items, write them as x[condition]",
                form.type_string()
            ),
            _ => format!("the cut {text:?} is {} for each entry, not true or false", form.type_string()),
        };
        self.here(Err(ErrorKind::Invalid { what }.into()))
    }
}

impl Selection {
    fn of(
        table: Table,
        columns: Vec<Column>,
        computed: Option<Computed>,
        cut: Option<Computed>,
        entries: Option<Arc<[u64]>>,
    ) -> Self {
        let mut fields = Vec::new();
        let direct = columns.iter().filter_map(|column| match column.made {
            Made::Field(field) => Some(field),
            Made::Computed(_) => None,
        });
        let inputs =
            [&cut, &computed].into_iter().flatten().flat_map(|computed| computed.inputs.iter().copied());
        for field in direct.chain(inputs) {
            if !fields.contains(&field) {
                fields.push(field);
            }
        }
        Self { table, columns, computed, cut, entries, fields }
    }

    /// Fields as they are.
    pub(crate) fn plain(table: Table, fields: Vec<u32>) -> Self {
        let columns = fields.iter().map(|field| Column { label: String::new(), made: Made::Field(*field) });
        let columns = columns.collect();
        Self { table, columns, computed: None, cut: None, entries: None, fields }
    }

    /// The table.
    #[must_use]
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// The fields that are read, for the columns and for what is computed.
    #[must_use]
    pub fn fields(&self) -> &[u32] {
        &self.fields
    }

    /// The names of the columns, as they were asked for.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.columns.iter().map(|column| column.label.as_str())
    }

    /// Whether entries may be left out.
    #[must_use]
    pub fn chooses_entries(&self) -> bool {
        self.cut.is_some() || self.entries.is_some()
    }

    /// The Form of each column, for which nothing is read.
    ///
    /// # Errors
    /// A field that cannot be read.
    pub fn forms(&self) -> Result<Vec<Form>> {
        let form = |column: &Column| match column.made {
            Made::Field(field) => self.table.form(field),
            Made::Computed(output) => {
                let form = self.computed.as_ref().and_then(|computed| computed.program.form(output));
                Ok(form.unwrap_or(Form::Empty))
            }
        };
        self.columns.iter().map(form).collect()
    }

    /// The names of the columns for messages: those of fields by their paths.
    #[must_use]
    pub fn paths(&self) -> Vec<String> {
        let known = self.table.fields().unwrap_or_default();
        let path = |column: &Column| match column.made {
            Made::Field(field) => {
                known.get(field as usize).map(|field| field.path.clone()).unwrap_or_default()
            }
            Made::Computed(_) => column.label.clone(),
        };
        let within = |path: String| match self.table.path() {
            "" => path,
            table => format!("{table}/{path}"),
        };
        self.columns.iter().map(path).map(within).collect()
    }

    /// Reads and computes the columns for a range of entries. `threads` and `tick` are those of [`Table::read`]; `tick` hears of each of
    /// several readings anew: of the columns of the cut first, then of the blocks that have entries which pass.
    ///
    /// # Errors
    /// As [`Table::plan`] and [`Table::read`]; lists that meet in an expression and are not equally long.
    pub fn read(
        &self,
        entries: impl RangeBounds<u64>,
        threads: Option<usize>,
        tick: Option<&mut ProgressCallback<'_>>,
    ) -> Result<Selected> {
        let (start, end) = bounds(&entries);
        let end = end.map_or_else(|| self.table.entries(), Ok)?;
        self.read_range(start..end.max(start), threads, tick)
    }

    /// The same step by step.
    ///
    /// # Errors
    /// Damaged metadata.
    pub fn steps(&self, entries: impl RangeBounds<u64>, step: Step) -> Result<Steps> {
        let (start, end) = bounds(&entries);
        let entries = start..end.unwrap_or(u64::MAX);
        if self.table.counts_blocks() {
            return Steps::cutting(self.clone(), entries, step);
        }
        let end = self.table.entries_up_to(entries.end)?;
        let cut = self.table.cut(&self.fields, entries.start.min(end)..end, step)?;
        Steps::of(self.clone(), cut)
    }

    pub(crate) fn read_range(
        &self,
        range: Range<u64>,
        threads: Option<usize>,
        tick: Option<&mut ProgressCallback<'_>>,
    ) -> Result<Selected> {
        let mut reader = Reader { table: &self.table, threads, tick, held: HashMap::new() };
        if self.computed.is_none() && !self.chooses_entries() {
            let plan = self.table.plan(&self.fields, range.clone())?;
            let arrays = self.table.read(&plan, threads, reader.tick)?;
            return Ok(Selected { entries: range, kept: None, arrays });
        }
        let mut rows = Rows::All(range.clone());
        if let Some(wanted) = &self.entries {
            let begin = wanted.partition_point(|entry| *entry < range.start);
            let end = wanted.partition_point(|entry| *entry < range.end);
            rows = Rows::Some(wanted[begin..end].to_vec());
        }
        if let Some(cut) = &self.cut {
            let passed = reader.computed(cut, &rows)?;
            let held = passed.first().and_then(holding).unwrap_or_default();
            let entries = held.into_iter().filter_map(|row| rows.entry(row)).collect();
            rows = reader.narrowed(rows, Rows::Some(entries))?;
        }
        let mut needed: Vec<u32> = Vec::new();
        for column in &self.columns {
            needed.extend(match column.made {
                Made::Field(field) => Some(field),
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
                Made::Field(field) => reader.array(field)?.clone(),
                Made::Computed(output) => made.get(output).cloned().ok_or_else(|| missing(&column.label))?,
            });
        }
        let kept = match rows {
            Rows::All(_) => None,
            Rows::Some(entries) => Some(entries),
        };
        Ok(Selected { entries: range, kept, arrays })
    }
}

fn missing(label: &str) -> Error {
    Error::new(ErrorKind::Fault { what: format!("the column {label:?} was not read") })
}

/// Entries that are read.
#[derive(Clone, Debug, PartialEq)]
enum Rows {
    All(Range<u64>),
    Some(Vec<u64>),
}

impl Rows {
    fn len(&self) -> u64 {
        match self {
            Self::All(range) => range.end - range.start,
            Self::Some(entries) => entries.len() as u64,
        }
    }

    /// The entry that a row of an array is.
    fn entry(&self, row: u64) -> Option<u64> {
        match self {
            Self::All(range) => range.start.checked_add(row),
            Self::Some(entries) => entries.get(usize::try_from(row).ok()?).copied(),
        }
    }
}

/// Reads fields once each, for rows that become fewer.
struct Reader<'a, 'b, 'c> {
    table: &'a Table,
    threads: Option<usize>,
    tick: Option<&'b mut ProgressCallback<'c>>,
    /// What was read, of the present rows.
    held: HashMap<u32, Array>,
}

impl Reader<'_, '_, '_> {
    /// Expressions, for whose fields these rows are read.
    fn computed(&mut self, computed: &Computed, rows: &Rows) -> Result<Vec<Array>> {
        self.read(&computed.inputs, rows)?;
        let inputs = computed.inputs.iter().map(|field| self.array(*field)).collect::<Result<Vec<_>>>()?;
        let made = computed.program.run(&inputs, rows.len());
        made.map_err(|error| {
            let entry = error.entry.and_then(|row| rows.entry(row));
            let error = Error::new(ErrorKind::Invalid { what: error.to_string() });
            let error = match entry {
                Some(entry) => error.at_entry(entry),
                None => error,
            };
            error.in_file(self.table.file().uri()).in_object(self.table.path())
        })
    }

    fn array(&self, field: u32) -> Result<&Array> {
        self.held.get(&field).ok_or_else(|| missing(&field.to_string()))
    }

    /// Fewer rows of what was read.
    fn narrowed(&mut self, before: Rows, after: Rows) -> Result<Rows> {
        if before.len() == after.len() {
            return Ok(before);
        }
        let Rows::Some(entries) = &after else { return Ok(before) };
        let runs = match &before {
            Rows::All(range) => runs(entries, |entry| entry - range.start),
            Rows::Some(known) => runs(entries, |entry| known.partition_point(|at| *at < entry) as u64),
        };
        for array in self.held.values_mut() {
            *array = gathered(&[(array, &runs)])?;
        }
        Ok(after)
    }

    /// Reads what is not there yet.
    fn read(&mut self, fields: &[u32], rows: &Rows) -> Result<()> {
        let mut wanted: Vec<u32> = Vec::new();
        for field in fields {
            if !self.held.contains_key(field) && !wanted.contains(field) {
                wanted.push(*field);
            }
        }
        if wanted.is_empty() {
            return Ok(());
        }
        match rows {
            Rows::All(range) => {
                let arrays = self.range(&wanted, range.clone())?;
                self.held.extend(wanted.into_iter().zip(arrays));
            }
            Rows::Some(entries) => self.some(&wanted, entries)?,
        }
        Ok(())
    }

    fn range(&mut self, fields: &[u32], range: Range<u64>) -> Result<Vec<Array>> {
        let plan = self.table.plan(fields, range)?;
        self.table.read(&plan, self.threads, self.tick.as_deref_mut())
    }

    /// Reads the blocks that have the entries. Fields that are divided alike are read together.
    fn some(&mut self, fields: &[u32], entries: &[u64]) -> Result<()> {
        let (Some(first), Some(last)) = (entries.first(), entries.last()) else {
            let arrays = self.range(fields, 0..0)?;
            self.held.extend(fields.iter().copied().zip(arrays));
            return Ok(());
        };
        let all = *first..last.saturating_add(1);
        let mut alike: Vec<(Vec<Range<u64>>, Vec<u32>)> = Vec::new();
        for field in fields {
            let cuts = self.table.here(self.table.dataset().boundaries(&[*field], all.clone()))?;
            let parts = parts(&cuts, entries);
            match alike.iter_mut().find(|(known, _)| *known == parts) {
                Some((_, same)) => same.push(*field),
                None => alike.push((parts, vec![*field])),
            }
        }
        for (parts, fields) in alike {
            let mut read = Vec::with_capacity(parts.len());
            for part in &parts {
                let begin = entries.partition_point(|entry| *entry < part.start);
                let end = entries.partition_point(|entry| *entry < part.end);
                let runs = runs(&entries[begin..end], |entry| entry - part.start);
                read.push((self.range(&fields, part.clone())?, runs));
            }
            for (at, field) in fields.iter().enumerate() {
                let pieces: Vec<(&Array, &[Range<u64>])> = read
                    .iter()
                    .filter_map(|(arrays, runs)| arrays.get(at).map(|array| (array, runs.as_slice())))
                    .collect();
                let whole = match pieces[..] {
                    [(array, [run])] if run.start == 0 && run.end == array.length => array.clone(),
                    _ => gathered(&pieces)?,
                };
                self.held.insert(*field, whole);
            }
        }
        Ok(())
    }
}

fn gathered(parts: &[(&Array, &[Range<u64>])]) -> Result<Array> {
    Array::gather(parts).map_err(|error| Error::new(ErrorKind::Fault { what: error.to_string() }))
}

/// Entries that follow each other, as ranges of where they are.
fn runs(entries: &[u64], place: impl Fn(u64) -> u64) -> Vec<Range<u64>> {
    let mut runs: Vec<Range<u64>> = Vec::new();
    for entry in entries {
        let at = place(*entry);
        match runs.last_mut() {
            Some(last) if last.end == at => last.end += 1,
            _ => runs.push(at..at + 1),
        }
    }
    runs
}

/// The ranges to read for entries where blocks begin at `cuts`: from the first to the last entry of blocks that follow each other and all
/// have some.
fn parts(cuts: &[u64], entries: &[u64]) -> Vec<Range<u64>> {
    let mut parts: Vec<Range<u64>> = Vec::new();
    let mut block = None;
    for entry in entries {
        let here = cuts.partition_point(|cut| cut <= entry);
        match parts.last_mut() {
            Some(last) if block.is_some_and(|before| here - before <= 1) => last.end = entry + 1,
            _ => parts.push(*entry..entry + 1),
        }
        block = Some(here);
    }
    parts
}

/// What names stand for in expressions.
struct Names<'t> {
    table: &'t Table,
    given: Vec<(String, Arc<Expression>)>,
    own: Vec<(String, String)>,
}

impl<'t> Names<'t> {
    fn new(table: &'t Table, aliases: &[(String, String)]) -> Result<Self> {
        let mut names = Self { table, given: Vec::new(), own: table.aliases()? };
        for (at, (name, text)) in aliases.iter().enumerate() {
            if names.exact(name)?.is_some() {
                let what = format!("the alias {name:?} is the name of a column, which it cannot replace");
                return table.here(Err(ErrorKind::Invalid { what }.into()));
            }
            if aliases[..at].iter().any(|(other, _)| other == name) {
                let what = format!("the alias {name:?} is given twice");
                return table.here(Err(ErrorKind::Invalid { what }.into()));
            }
            let expression = names.parsed(text, Spelling::Python)?;
            names.given.push((name.clone(), Arc::new(expression)));
        }
        Ok(names)
    }

    fn parsed(&self, text: &str, spelling: Spelling) -> Result<Expression> {
        let parsed = Expression::parse_as(text, spelling);
        self.table.here(parsed.map_err(|error| ErrorKind::Invalid { what: error.to_string() }.into()))
    }

    /// The field whose path or own name it is.
    fn exact(&self, name: &str) -> Result<Option<u32>> {
        match self.table.find(name) {
            Ok(field) => Ok(Some(field)),
            Err(Error { kind: ErrorKind::NotFound { .. }, .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The field that a name in an expression is: dots may stand between the parts of a path.
    fn field(&self, name: &str) -> Result<Option<u32>> {
        if let Some(field) = self.exact(name)? {
            return Ok(Some(field));
        }
        let is_alias = self.given.iter().any(|(known, _)| known == name);
        if !name.contains('.')
            || is_alias
            || !name.chars().all(|c| c.is_alphanumeric() || c == '.' || c == '_')
        {
            return Ok(None);
        }
        self.exact(&name.replace('.', "/"))
    }

    /// A text that is no field, as an expression; a name that stands for nothing is an error with similar names.
    fn expression(&self, text: &str) -> Result<Arc<Expression>> {
        if let Some(alias) = self.alias(text)? {
            return Ok(alias);
        }
        let parsed = Expression::parse(text);
        if parsed.as_ref().is_ok_and(|expression| expression.names() == [text]) {
            self.table.find(text)?;
        }
        match parsed {
            Ok(expression) => Ok(Arc::new(expression)),
            Err(error) => {
                // What has no operators and cannot be read was meant as a name.
                let near = similar_names(text, self.table.fields()?.iter().map(|field| field.path.as_str()));
                if near.is_empty() {
                    return self.table.here(Err(ErrorKind::Invalid { what: error.to_string() }.into()));
                }
                let what = format!(
                    "{error}\n  there is no branch of this name, either; similar: {}",
                    near.join(", ")
                );
                self.table.here(Err(ErrorKind::Invalid { what }.into()))
            }
        }
    }

    fn alias(&self, name: &str) -> Result<Option<Arc<Expression>>> {
        if let Some((_, alias)) = self.given.iter().find(|(known, _)| known == name) {
            return Ok(Some(Arc::clone(alias)));
        }
        match self.own.iter().find(|(known, _)| known == name) {
            Some((_, text)) => self.parsed(text, Spelling::TTreeFormula).map(|alias| Some(Arc::new(alias))),
            None => Ok(None),
        }
    }

    fn program(&self, expressions: &[Arc<Expression>]) -> Result<Computed> {
        let expressions: Vec<&Expression> = expressions.iter().map(AsRef::as_ref).collect();
        let mut failed = None;
        let made = Program::new(&expressions, &mut |name| {
            self.named(name).unwrap_or_else(|error| {
                let what = error.kind.to_string();
                failed.get_or_insert(error);
                Named::Refused(what)
            })
        });
        let program = match (made, failed) {
            (Ok(program), _) => program,
            // An error of the file rather than of the expression.
            (Err(_), Some(error)) => return Err(error),
            (Err(error), None) => {
                return self.table.here(Err(ErrorKind::Invalid { what: error.to_string() }.into()));
            }
        };
        let mut inputs = Vec::new();
        for name in program.inputs() {
            inputs.push(self.field(name)?.ok_or_else(|| missing(name))?);
        }
        Ok(Computed { program: Arc::new(program), inputs })
    }

    fn named(&self, name: &str) -> Result<Named> {
        if let Some(field) = self.field(name)? {
            return Ok(Named::Column(self.table.form(field)?));
        }
        if let Some(alias) = self.alias(name)? {
            return Ok(Named::Alias(alias));
        }
        let fields = self.table.fields()?.iter().map(|field| field.path.as_str());
        let known = fields.chain(self.given.iter().map(|(name, _)| name.as_str()));
        Ok(Named::Unknown(similar_names(name, known)))
    }
}

#[cfg(test)]
#[expect(clippy::single_range_in_vec_init, reason = "what is read are ranges")]
mod tests {
    use super::*;

    #[test]
    fn blocks_without_entries_part_what_is_read() {
        let cuts = [0, 10, 20, 30, 40];
        assert_eq!(parts(&cuts, &[3, 5, 12]), [3..13]);
        assert_eq!(parts(&cuts, &[3, 25, 39]), [3..4, 25..40]);
        assert_eq!(parts(&cuts, &[9, 10]), [9..11]);
        assert_eq!(parts(&cuts, &[]), []);
        assert_eq!(runs(&[3, 4, 7], |entry| entry - 3), [0..2, 4..5]);
    }
}
