//! Reading of the inputs of a selection, each once, from blocks with selected entries.

use super::{
    Computed,
    inputs::{Input, Inputs, entry_array},
    joined::{By, Joined, Key, integers, places},
    missing,
    rows::{EntryRuns, Part, Rows, parts},
};
use crate::{Progress, ProgressCallback, Table};
use forthwith_columns::Array;
use forthwith_plan::{Error, ErrorKind, Group, Plan, Result};
use forthwith_platform::Instant;
use std::{
    collections::{HashMap, HashSet},
    iter,
    ops::Range,
    time::Duration,
};

/// Reads inputs once, for rows that are narrowed by a cut.
pub(super) struct Reader<'a, 'b, 'c> {
    inputs: &'a Inputs,
    threads: Option<usize>,
    tick: Option<&'b mut ProgressCallback<'c>>,
    /// The last progress reported to `tick`.
    progress: Progress,
    /// Arrays that were read, for the current rows.
    held: HashMap<Input, Array>,
}

/// Interval between calls of `tick` while expressions are computed.
const TICK: Duration = Duration::from_millis(50);

impl<'a, 'b, 'c> Reader<'a, 'b, 'c> {
    pub(super) fn new(
        inputs: &'a Inputs,
        threads: Option<usize>,
        tick: Option<&'b mut ProgressCallback<'c>>,
    ) -> Self {
        Self { inputs, threads, tick, progress: Progress::default(), held: HashMap::new() }
    }

    /// Reads the inputs of expressions for some rows, and computes them.
    pub(super) fn computed(&mut self, computed: &Computed, rows: &Rows) -> Result<Vec<Array>> {
        self.read(&computed.inputs, rows)?;
        let mut tick = self.tick.take();
        let made = self.made(computed, rows, tick.as_deref_mut());
        self.tick = tick;
        made
    }

    /// Computes expressions of inputs that were read.
    fn made(
        &self,
        computed: &Computed,
        rows: &Rows,
        mut tick: Option<&mut ProgressCallback<'_>>,
    ) -> Result<Vec<Array>> {
        let inputs = computed.inputs.iter().map(|input| self.array(*input)).collect::<Result<Vec<_>>>()?;
        let mut told = Instant::now();
        let mut goes_on = || match &mut tick {
            // Progress is only reported if blocks were read.
            Some(tick) if self.progress.all_blocks > 0 && told.elapsed() >= TICK => {
                told = Instant::now();
                tick(self.progress)
            }
            _ => true,
        };
        let made = computed.program.run_while(&inputs, rows.len(), self.workers(), &mut goes_on);
        let made = made.map_err(|error| {
            let entry = error.entry.and_then(|row| rows.entry(row));
            let error = Error::invalid(error.to_string());
            let error = match entry {
                Some(entry) => error.at_entry(entry),
                None => error,
            };
            let table = &self.inputs.table;
            error.in_file(table.file().uri()).in_object(table.path())
        })?;
        made.ok_or_else(|| Error::new(ErrorKind::Cancelled))
    }

    /// Reads a plan, and reports its progress.
    fn decoded(&mut self, table: &Table, plan: &Plan) -> Result<Vec<Array>> {
        let Some(tick) = self.tick.as_deref_mut() else { return table.read(plan, self.threads, None) };
        let latest = &mut self.progress;
        let mut told = |progress| {
            *latest = progress;
            tick(progress)
        };
        table.read(plan, self.threads, Some(&mut told))
    }

    pub(super) fn array(&self, input: Input) -> Result<&Array> {
        self.held.get(&input).ok_or_else(|| missing(&self.inputs.path(input)))
    }

    /// Narrows the arrays that were read to fewer rows.
    pub(super) fn narrowed(&mut self, before: Rows, after: Rows) -> Result<Rows> {
        if before.len() == after.len() {
            return Ok(before);
        }
        let Rows::Some(entries) = &after else { return Ok(before) };
        let runs = before.places_of(entries);
        for array in self.held.values_mut() {
            *array = gathered(&[(array, &runs)])?;
        }
        Ok(after)
    }

    /// Reads the inputs that were not read yet.
    pub(super) fn read(&mut self, inputs: &[Input], rows: &Rows) -> Result<()> {
        let mut wanted: Vec<u32> = Vec::new();
        let mut beside: Vec<(u32, Vec<u32>)> = Vec::new();
        let mut united: Vec<u32> = Vec::new();
        let members = inputs.iter().filter_map(|input| match input {
            Input::Member(at) if !self.held.contains_key(input) => Some(*at),
            _ => None,
        });
        let members: Vec<u32> = members.collect();
        let mut seen = HashSet::new();
        for input in inputs.iter().map(|input| self.inputs.whole(*input)) {
            if self.held.contains_key(&input) || !seen.insert(input) {
                continue;
            }
            let (fields, field) = match input {
                Input::Field(field) => (&mut wanted, field),
                Input::Friend { friend, field } => {
                    let at = beside.iter().position(|(known, _)| *known == friend).unwrap_or_else(|| {
                        beside.push((friend, Vec::new()));
                        beside.len() - 1
                    });
                    (&mut beside[at].1, field)
                }
                Input::United(at) => {
                    united.push(at);
                    match self.inputs.united(at)?.field {
                        Some(field)
                            if !self.held.contains_key(&Input::Field(field))
                                && seen.insert(Input::Field(field)) =>
                        {
                            (&mut wanted, field)
                        }
                        _ => continue,
                    }
                }
                Input::Entry { local } => {
                    let before = if local { 0 } else { self.inputs.before };
                    let entries = rows.runs().iter().flat_map(Clone::clone);
                    let entries = entries.map(|entry| before.saturating_add(entry) as i64);
                    self.held.insert(input, entry_array(entries.collect()));
                    continue;
                }
                Input::Member(at) => return Err(Error::fault(format!("there is no member {at}"))),
            };
            fields.push(field);
        }
        if !wanted.is_empty() {
            let arrays = self.rows(&self.inputs.table, &wanted, rows)?;
            self.held.extend(wanted.into_iter().map(Input::Field).zip(arrays));
        }
        for (friend, fields) in beside {
            let joined = self.inputs.friend(friend)?;
            let arrays = self.joined(joined, &fields, rows)?;
            let inputs = fields.into_iter().map(|field| Input::Friend { friend, field });
            self.held.extend(inputs.zip(arrays));
        }
        for at in united {
            let column = self.inputs.united(at)?;
            let field = column.field.map(|field| self.array(Input::Field(field))).transpose()?;
            let array = self.inputs.table.here(column.array(field, rows.len()))?;
            self.held.insert(Input::United(at), array);
        }
        for at in members {
            let member = self.inputs.member(at)?;
            let array = member.array(self.array(member.of)?)?;
            self.held.insert(Input::Member(at), array);
        }
        Ok(())
    }

    fn workers(&self) -> usize {
        self.threads.unwrap_or_else(|| self.inputs.table.file().engine().options().threads)
    }

    /// Reads fields of a friend for entries of the table.
    fn joined(&mut self, joined: &Joined, fields: &[u32], rows: &Rows) -> Result<Vec<Array>> {
        let (keys, index) = match &joined.by {
            By::Number(before) => return self.of_friend(joined, fields, &rows.shifted(*before)),
            By::Index { keys, rows } => (keys, rows),
        };
        let numbers = [self.key(&keys[0], rows)?, self.key(&keys[1], rows)?];
        let found = joined.find(index, &numbers[0], &numbers[1]);
        let mut entries: Vec<u64> = found.iter().flatten().copied().collect();
        entries.sort_unstable();
        entries.dedup();
        let places = places(&found, &entries);
        let there: Vec<bool> = found.iter().map(Option::is_some).collect();
        let read = self.of_friend(joined, fields, &Rows::Some(entries.into_iter().collect()))?;
        let spread = |array: Array| {
            let array = gathered(&[(&array, &places)])?;
            array.spread(&there).map_err(|error| Error::fault(error.to_string()))
        };
        read.into_iter().map(spread).collect()
    }

    /// Returns the numbers that entries of a friend are looked up by, for entries of the table.
    fn key(&mut self, key: &Key, rows: &Rows) -> Result<Vec<Option<i64>>> {
        match key {
            Key::Constant(number) => Ok((0..rows.len()).map(|_| Some(*number)).collect()),
            Key::Field(field) => {
                self.read(&[Input::Field(*field)], rows)?;
                integers(self.array(Input::Field(*field))?)
            }
        }
    }

    /// Reads fields of the tables of a friend, for the friend's own entries.
    fn of_friend(&mut self, joined: &Joined, fields: &[u32], rows: &Rows) -> Result<Vec<Array>> {
        let mut read = Vec::new();
        for (table, rows) in joined.parts(rows)? {
            let fields = joined.fields_in(table, fields)?;
            read.push((table, self.rows(table, &fields, &rows)?));
        }
        if read.len() == 1 {
            return Ok(read.pop().map(|(_, arrays)| arrays).unwrap_or_default());
        }
        let whole = |at: usize| {
            let mut pieces: Vec<&Array> = Vec::with_capacity(read.len());
            for (table, arrays) in &read {
                let Some(array) = arrays.get(at) else { continue };
                if let Some(first) = pieces.first()
                    && first.form != array.form
                {
                    let (name, first) = (joined.name(), first.form.type_string());
                    let found = array.form.type_string();
                    let what =
                        format!("a column of the friend {name:?} is {found}, and {first} in tables before");
                    return table.here(Err(Error::invalid(what)));
                }
                pieces.push(array);
            }
            joined_up(&pieces)
        };
        (0..fields.len()).map(whole).collect()
    }

    /// Reads fields of a table, for its own entries.
    fn rows(&mut self, table: &Table, fields: &[u32], rows: &Rows) -> Result<Vec<Array>> {
        match rows {
            Rows::All(range) => self.range(table, fields, range.clone()),
            Rows::Some(entries) => self.some(table, fields, entries),
        }
    }

    fn range(&mut self, table: &Table, fields: &[u32], range: Range<u64>) -> Result<Vec<Array>> {
        let plan = table.plan(fields, range)?;
        self.decoded(table, &plan)
    }

    /// Reads the blocks that have the entries. Fields with the same block boundaries and way of decoding are
    /// read together.
    fn some(&mut self, table: &Table, fields: &[u32], entries: &EntryRuns) -> Result<Vec<Array>> {
        let (Some(first), Some(last)) = (entries.as_slice().first(), entries.as_slice().last()) else {
            return self.range(table, fields, 0..0);
        };
        let all = first.start..last.end;
        let choosing = choosing(&table.plan(fields, 0..0)?, fields.len());
        let mut alike: Vec<(Vec<Part>, bool, Vec<u32>)> = Vec::new();
        for (field, chooses) in fields.iter().zip(choosing) {
            let cuts = table.boundaries(&[*field], all.clone())?;
            let parts = parts(&cuts, entries);
            match alike.iter_mut().find(|(known, how, _)| *how == chooses && *known == parts) {
                Some((.., same)) => same.push(*field),
                None => alike.push((parts, chooses, vec![*field])),
            }
        }
        let mut made: HashMap<u32, Array> = HashMap::new();
        for (parts, chooses, fields) in alike {
            let mut read = Vec::with_capacity(parts.len());
            for (part, entries) in &parts {
                read.push(self.part(table, &fields, part, entries, chooses)?);
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
                made.insert(*field, whole);
            }
        }
        let array = |field: &u32| made.remove(field).ok_or_else(|| missing(&field.to_string()));
        fields.iter().map(array).collect()
    }

    /// Reads the blocks of a part; also returns the rows of the entries, which are all rows if only the
    /// entries are decoded.
    fn part(
        &mut self,
        table: &Table,
        fields: &[u32],
        part: &Range<u64>,
        entries: &EntryRuns,
        chooses: bool,
    ) -> Result<(Vec<Array>, EntryRuns)> {
        let rows = Rows::Some(entries.clone()).shifted(part.start);
        let count = rows.len();
        if chooses && count < part.end - part.start {
            let plan = table.plan(fields, part.clone())?;
            let chosen: Vec<u64> = rows.runs().iter().flat_map(Clone::clone).collect();
            if let Some(plan) = plan.choosing(chosen.into()) {
                let arrays = self.decoded(table, &plan)?;
                return Ok((arrays, iter::once(0..count).collect()));
            }
        }
        Ok((self.range(table, fields, part.clone())?, entries.clone()))
    }
}

/// Returns for each field of a plan whether single entries can be decoded. Fields that share groups have the
/// same result.
fn choosing(plan: &Plan, fields: usize) -> Vec<bool> {
    match plan.groups.get(..fields).filter(|_| plan.delivered as usize == fields) {
        Some(groups) => groups.iter().map(Group::can_choose).collect(),
        None => vec![plan.can_choose(); fields],
    }
}

pub(super) fn gathered(parts: &[(&Array, &[Range<u64>])]) -> Result<Array> {
    Array::gather(parts).map_err(|error| Error::fault(error.to_string()))
}

/// Concatenates arrays.
pub(crate) fn joined_up(arrays: &[&Array]) -> Result<Array> {
    let whole = |array: &&Array| {
        let all = 0..array.length;
        [all]
    };
    let rows: Vec<_> = arrays.iter().map(whole).collect();
    let parts: Vec<(&Array, &[Range<u64>])> =
        arrays.iter().zip(&rows).map(|(array, rows)| (*array, rows.as_slice())).collect();
    gathered(&parts)
}
