//! Comparison of two tables in steps.

use super::columns::{ColumnPair, Part, pair};
use super::keys::{Matched, key_columns, match_keys};
use super::summaries::compare_summaries;
use super::walk::{self, RowDifferences};
use super::{DamagedEntries, DiffOptions, DiffProgress, Difference, TableDiff, UnmatchedEntries};
use crate::{SelectOptions, Selected, Selection, Step, Table};
use forthwith_columns::Array;
use forthwith_plan::{Error, ErrorKind, Result};
use std::ops::Range;

/// Number of bytes of arrays of each table that are read at a time.
const STEP: u64 = 24 << 20;
/// Number of columns that are read together, unless blocks have all columns: fewer columns allow more entries
/// in a step.
const COLUMNS: usize = 32;
/// Maximum number of listed damaged ranges.
pub(super) const MOST_DAMAGE: usize = 100;
/// Maximum number of listed unmatched entries.
const MOST_UNMATCHED: usize = 10;

/// Compares two tables of any formats: their columns, types and values.
///
/// Entries are matched by number, or by the values of [`on`](DiffOptions::on), which takes about 50 bytes for
/// each entry; otherwise, memory is bounded by the step size. Damage of a table is part of the result, and
/// the remaining entries are compared.
///
/// ```
/// use forthwith::{DiffOptions, diff};
/// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data");
///
/// let events = forthwith::File::open(format!("{folder}/zmumu.root"))?.table("events")?;
/// let found = diff(&events, &events, &DiffOptions::default(), &mut |_, _| true)?;
/// assert!(found.is_same() && found.compared == 3600);
/// # Ok::<(), forthwith::plan::Error>(())
/// ```
///
/// # Errors
/// The metadata of a table cannot be read; names in `on` that are unknown, or whose values are not supported
/// as keys; errors of the source; [`Cancelled`](ErrorKind::Cancelled).
pub fn diff(
    left: &Table,
    right: &Table,
    options: &DiffOptions,
    progress: &mut DiffProgress<'_>,
) -> Result<TableDiff> {
    let mut report = TableDiff::default();
    let sound = [sound(left, 0, &mut report)?, sound(right, 1, &mut report)?];
    let tables = [&sound[0], &sound[1]];
    let (part, pairs) = metadata(tables, options, &mut report)?;
    if report.stopped {
        return Ok(report);
    }
    let mut comparison = Comparison { tables, part, options, report, progress, done: 0, total: 0 };
    if options.on.is_empty() {
        comparison.by_entry(pairs)?;
    } else {
        let matched = match_keys(tables, options, comparison.progress)?;
        comparison.by_key(&pairs, &matched)?;
    }
    Ok(comparison.report)
}

/// Compares two tables without their values: by entries, columns, types and cached summaries.
pub(super) fn diff_metadata(left: &Table, right: &Table, options: &DiffOptions) -> Result<TableDiff> {
    let mut report = TableDiff::default();
    let sound = [sound(left, 0, &mut report)?, sound(right, 1, &mut report)?];
    metadata([&sound[0], &sound[1]], options, &mut report)?;
    Ok(report)
}

/// Compares entries, columns and types, and returns the entries and columns whose values are to be compared.
/// A brief comparison also compares summaries, and [stops](TableDiff::stopped) if something differs and
/// values would have to be read.
fn metadata(
    tables: [&Table; 2],
    options: &DiffOptions,
    report: &mut TableDiff,
) -> Result<(Part, Vec<ColumnPair>)> {
    let [left, right] = tables;
    // Unknown names are an error regardless of other differences.
    if !options.on.is_empty() {
        tables.into_iter().try_for_each(|table| key_columns(table, options).map(drop))?;
    }
    report.entries = [left.entries()?, right.entries()?];
    let length = report.entries[0].min(report.entries[1]);
    let part = Part { starts: [0, 0], length, first: 0 };
    let are_by_number = options.on.is_empty();
    if are_by_number {
        unmatched(report);
    }
    let pairs = pair(tables, &part, options, report)?;
    if options.brief {
        if report.is_same() && are_by_number {
            compare_summaries(tables, &pairs, options, report)?;
        }
        let have_values = !are_by_number || pairs.iter().any(|pair| !pair.entries.is_empty());
        report.stopped = !report.is_same() && have_values;
    }
    Ok((part, pairs))
}

/// Returns the table without its gaps, which are reported as damage of a side.
pub(super) fn sound(table: &Table, side: usize, report: &mut TableDiff) -> Result<Table> {
    let (table, gaps) = table.sound()?;
    report.damage[side].extend(gaps.into_iter().map(|gap| DamagedEntries {
        entries: gap.entry..gap.entry,
        columns: Vec::new(),
        error: format!("{} in block {}, byte {:#x}", gap.what, gap.block, gap.byte),
    }));
    Ok(table)
}

/// Reports the entries of the longer side that the other lacks.
pub(super) fn unmatched(report: &mut TableDiff) {
    let [left, right] = report.entries;
    let common = left.min(right);
    for (at, entries) in [left, right].into_iter().enumerate() {
        let first = (common..entries).take(MOST_UNMATCHED).collect();
        report.unmatched[at] = UnmatchedEntries { count: entries - common, first };
    }
}

/// Compares a part of two tables entry by entry, and adds the differences to a report.
pub(super) fn compare(
    tables: [&Table; 2],
    part: Part,
    options: &DiffOptions,
    mut report: TableDiff,
    progress: &mut DiffProgress<'_>,
) -> Result<TableDiff> {
    let pairs = pair(tables, &part, options, &mut report)?;
    let mut comparison = Comparison { tables, part, options, report, progress, done: 0, total: 0 };
    comparison.by_entry(pairs)?;
    Ok(comparison.report)
}

struct Comparison<'c, 'p> {
    tables: [&'c Table; 2],
    part: Part,
    options: &'c DiffOptions,
    report: TableDiff,
    progress: &'c mut DiffProgress<'p>,
    /// Number of compared entries, over all groups of columns.
    done: u64,
    total: u64,
}

impl Comparison<'_, '_> {
    fn by_entry(&mut self, pairs: Vec<ColumnPair>) -> Result<()> {
        let groups = self.groups(pairs);
        let entries = |group: &Vec<ColumnPair>| group.first().map_or(0, |pair| length(&pair.entries));
        self.total = groups.iter().map(entries).sum();
        let mut groups = groups.into_iter().peekable();
        while let Some(group) = groups.next() {
            let Some(range) = group.first().map(|pair| pair.entries.clone()) else { continue };
            let fields: Vec<u32> = group.iter().map(|pair| pair.fields[0]).collect();
            let range = self.part.absolute(&range, 0);
            let mut steps = self.tables[0].cut(&fields, range, Step::Bytes(STEP))?.into_iter().peekable();
            while let Some(step) = steps.next() {
                let step = self.part.relative(&step, 0);
                self.step(&group, &step)?;
                self.report.compared = self.report.compared.max(step.end);
                if self.stops(steps.peek().is_some() || groups.peek().is_some()) {
                    return Ok(());
                }
                self.advance(length(&step))?;
            }
        }
        self.report.compared = self.part.length;
        Ok(())
    }

    /// Returns whether to stop at the first difference, and records it if there is more to read.
    fn stops(&mut self, has_more: bool) -> bool {
        let report = &mut self.report;
        let is_found = report.only.iter().any(|only| !only.is_empty())
            || report.unmatched.iter().any(|unmatched| unmatched.count > 0)
            || report.columns.iter().any(|column| !column.is_same());
        report.stopped = self.options.brief && is_found && has_more;
        report.stopped
    }

    /// Divides columns into groups that are read together, which have the same entries.
    fn groups(&self, pairs: Vec<ColumnPair>) -> Vec<Vec<ColumnPair>> {
        let most = if self.tables.iter().any(|table| table.words().rows) { usize::MAX } else { COLUMNS };
        let mut groups: Vec<Vec<ColumnPair>> = Vec::new();
        for pair in pairs.into_iter().filter(|pair| !pair.entries.is_empty()) {
            let fits = |group: &&mut Vec<ColumnPair>| group.len() < most && group[0].entries == pair.entries;
            match groups.iter_mut().find(fits) {
                Some(group) => group.push(pair),
                None => groups.push(vec![pair]),
            }
        }
        groups
    }

    fn advance(&mut self, entries: u64) -> Result<()> {
        self.done += entries;
        if (self.progress)(self.done, self.total) { Ok(()) } else { Err(Error::new(ErrorKind::Cancelled)) }
    }

    /// Compares a range of entries of some columns, around damage. Entries are relative to the first compared
    /// ones.
    fn step(&mut self, group: &[ColumnPair], entries: &Range<u64>) -> Result<()> {
        let selections = [0, 1].map(|at: usize| {
            let fields = group.iter().map(|pair| pair.fields[at]).collect();
            Selection::plain(self.tables[at].clone(), fields)
        });
        let mut read = Vec::new();
        for (at, selection) in selections.iter().enumerate() {
            let own = self.part.absolute(entries, at);
            let (done, total, progress) = (self.done, self.total, &mut *self.progress);
            let tick: &mut crate::ProgressCallback<'_> = &mut |_| progress(done, total);
            match selection.read(own.clone(), self.options.threads, Some(tick)) {
                Ok(selected) => read.push(vec![selected]),
                // Damage of one column does not affect others, unless blocks have all of them.
                Err(error)
                    if error.is_damage()
                        && group.len() > 1
                        && !self.tables.iter().any(|t| t.words().rows) =>
                {
                    let (first, second) = group.split_at(group.len() / 2);
                    self.step(first, entries)?;
                    return self.step(second, entries);
                }
                Err(error) if error.is_damage() => read.push(self.around(selection, group, &own, at)?),
                Err(error) => return Err(error),
            }
        }
        let [left, right] = &read[..] else { return Ok(()) };
        let part = self.part.clone();
        for one in left {
            for other in right {
                let (own, others) = (part.relative(&one.entries, 0), part.relative(&other.entries, 1));
                let both = own.start.max(others.start)..own.end.min(others.end);
                if both.is_empty() {
                    continue;
                }
                let starts = [both.start - own.start, both.start - others.start];
                for (at, pair) in group.iter().enumerate() {
                    let arrays = [(&one.arrays[at], starts[0]), (&other.arrays[at], starts[1])];
                    self.column(pair, arrays, length(&both), &|row| [part.first + both.start + row; 2])?;
                }
            }
        }
        Ok(())
    }

    /// Reads a range around damage.
    fn around(
        &mut self,
        selection: &Selection,
        group: &[ColumnPair],
        entries: &Range<u64>,
        side: usize,
    ) -> Result<Vec<Selected>> {
        let (done, total, progress) = (self.done, self.total, &mut *self.progress);
        let tick: &mut crate::ProgressCallback<'_> = &mut |_| progress(done, total);
        let (pieces, losses) = selection.read_around_damage(entries.clone(), self.options.threads, tick)?;
        let room = MOST_DAMAGE.saturating_sub(self.report.damage[side].len());
        let columns: Vec<String> = group.iter().map(|pair| pair.path.clone()).collect();
        self.report.damage[side].extend(losses.into_iter().take(room).map(|loss| DamagedEntries {
            entries: loss.entries,
            columns: columns.clone(),
            error: loss.error.to_string(),
        }));
        Ok(pieces)
    }

    fn by_key(&mut self, pairs: &[ColumnPair], matched: &Matched) -> Result<()> {
        for (at, unmatched) in matched.unmatched.iter().enumerate() {
            let first = unmatched.iter().take(MOST_UNMATCHED).copied().collect();
            self.report.unmatched[at] = UnmatchedEntries { count: unmatched.len() as u64, first };
        }
        let groups = self.groups(pairs.to_vec());
        if self.stops(!groups.is_empty() && !matched.pairs.is_empty()) {
            return Ok(());
        }
        self.total = (matched.pairs.len() * groups.len()) as u64;
        let mut groups = groups.into_iter().peekable();
        while let Some(group) = groups.next() {
            let density = self.matched(&group, 0, Vec::new())?.density(None)?.max(1.0);
            let step = ((STEP as f64 / density) as usize).max(1);
            let mut compared = 0;
            let mut chunks = matched.pairs.chunks(step).peekable();
            while let Some(chunk) = chunks.next() {
                self.chunk(&group, chunk)?;
                compared += chunk.len() as u64;
                self.report.compared = self.report.compared.max(compared);
                if self.stops(chunks.peek().is_some() || groups.peek().is_some()) {
                    return Ok(());
                }
                self.advance(chunk.len() as u64)?;
            }
        }
        self.report.compared = matched.pairs.len() as u64;
        Ok(())
    }

    /// Compares pairs of entries, which are in ascending order of the left table.
    fn chunk(&mut self, group: &[ColumnPair], chunk: &[[u64; 2]]) -> Result<()> {
        let left: Vec<u64> = chunk.iter().map(|pair| pair[0]).collect();
        let mut right: Vec<u64> = chunk.iter().map(|pair| pair[1]).collect();
        right.sort_unstable();
        let order = chunk.iter().map(|pair| right.partition_point(|entry| *entry < pair[1]) as u64);
        let order = runs(order);
        let mut read = Vec::new();
        for (at, entries) in [left, right].into_iter().enumerate() {
            let (Some(first), Some(last)) = (entries.first().copied(), entries.last().copied()) else {
                return Ok(());
            };
            let selection = self.matched(group, at, entries)?;
            read.push(selection.read(first..last + 1, self.options.threads, None)?.arrays);
        }
        let [left, right] = &read[..] else { return Ok(()) };
        for ((pair, left), right) in group.iter().zip(left).zip(right) {
            let right = Array::gather(&[(right, &order)]).map_err(|error| Error::fault(error.to_string()))?;
            let entries = |row: u64| chunk.get(row as usize).copied().unwrap_or_default();
            self.column(pair, [(left, 0), (&right, 0)], chunk.len() as u64, &entries)?;
        }
        Ok(())
    }

    /// Selects some columns and entries of one table.
    fn matched(&self, group: &[ColumnPair], at: usize, entries: Vec<u64>) -> Result<Selection> {
        let fields: Vec<(&str, Option<u32>)> =
            group.iter().map(|pair| (pair.path.as_str(), Some(pair.fields[at]))).collect();
        let options = SelectOptions { entries: Some(entries), ..SelectOptions::default() };
        self.tables[at].select_fields(&fields, options)
    }

    /// Compares some rows of one column.
    fn column(
        &mut self,
        pair: &ColumnPair,
        arrays: [(&Array, u64); 2],
        rows: u64,
        entries: &dyn Fn(u64) -> [u64; 2],
    ) -> Result<()> {
        let Some(known) = self.report.columns.get_mut(pair.at) else { return Ok(()) };
        let most = self.options.most.saturating_sub(known.first.len());
        let found = walk::compare(arrays, rows, self.options, most);
        let RowDifferences { rows, first, largest, .. } =
            found.map_err(|error| Error::fault(error.to_string()).in_object(&pair.path))?;
        known.differing += rows.len() as u64;
        known.largest = [known.largest, largest].into_iter().flatten().reduce(f64::max);
        known.first.extend(first.into_iter().map(|found| Difference {
            entries: entries(found.row),
            path: found.path,
            values: found.values,
        }));
        Ok(())
    }
}

const fn length(entries: &Range<u64>) -> u64 {
    entries.end - entries.start
}

/// Merges consecutive numbers to ranges.
fn runs(numbers: impl Iterator<Item = u64>) -> Vec<Range<u64>> {
    let mut runs: Vec<Range<u64>> = Vec::new();
    for number in numbers {
        match runs.last_mut().filter(|last| last.end == number) {
            Some(last) => last.end += 1,
            None => runs.push(number..number + 1),
        }
    }
    runs
}
