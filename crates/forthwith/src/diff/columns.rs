//! Matching of the columns of two tables.

use super::{ColumnDiff, DiffOptions, TableDiff, types::are_comparable};
use crate::Table;
use forthwith_columns::Form;
use forthwith_plan::{Field, Result};
use std::{
    collections::{HashMap, HashSet, VecDeque},
    iter,
    ops::Range,
};

/// A column that both tables have.
#[derive(Clone, Debug)]
pub(super) struct ColumnPair {
    /// Position in [`TableDiff::columns`].
    pub(super) at: usize,
    pub(super) fields: [u32; 2],
    pub(super) path: String,
    /// Entries that both have, relative to the first compared entry.
    pub(super) entries: Range<u64>,
}

/// Ranges of entries of two tables that are compared.
#[derive(Clone, Debug)]
pub(super) struct Part {
    /// First entry in each table.
    pub(super) starts: [u64; 2],
    pub(super) length: u64,
    /// Number of the first entry in the result.
    pub(super) first: u64,
}

impl Part {
    /// Converts a range of entries of one table to one relative to the part.
    pub(super) fn relative(&self, entries: &Range<u64>, side: usize) -> Range<u64> {
        let at = |entry: u64| entry.saturating_sub(self.starts[side]).min(self.length);
        at(entries.start)..at(entries.end)
    }

    /// Converts a range relative to the part to entries of one table.
    pub(super) fn absolute(&self, entries: &Range<u64>, side: usize) -> Range<u64> {
        self.starts[side] + entries.start..self.starts[side] + entries.end
    }
}

/// Matches the columns of both tables, and reports those that only one has, those that cannot be read, and
/// different types. Returns the pairs whose values are compared.
pub(super) fn pair(
    tables: [&Table; 2],
    part: &Part,
    options: &DiffOptions,
    report: &mut TableDiff,
) -> Result<Vec<ColumnPair>> {
    let [left, right] = tables;
    let (own, others) = (top(left, options)?, top(right, options)?);
    let mut taken: HashSet<u32> = HashSet::new();
    let mut pairs = Vec::new();
    let mut of_path: HashMap<&str, VecDeque<u32>> = HashMap::new();
    for &(at, path) in &others {
        of_path.entry(path).or_default().push_back(at);
    }
    for &(field, path) in &own {
        let alike = of_path.get_mut(path);
        let same_path =
            alike.and_then(|alike| iter::from_fn(|| alike.pop_front()).find(|at| !taken.contains(at)));
        let found = match same_path {
            Some(at) => Some(at),
            None if options.same_content => spelled_otherwise(right, path)?.filter(|at| !taken.contains(at)),
            None => None,
        };
        match found {
            Some(other) => {
                taken.insert(other);
                pairs.extend(compared(tables, part, [field, other], path, options, report)?);
            }
            None => report.only[0].push(path.to_owned()),
        }
    }
    let fields = right.fields()?;
    let mut below: HashMap<u32, Vec<u32>> = HashMap::new();
    for part in (0..).take(fields.len()) {
        above(fields, part).for_each(|above| below.entry(above).or_default().push(part));
    }
    for &(at, path) in others.iter().filter(|(at, _)| !taken.contains(at)) {
        // A column counts as present if its parts were compared.
        let parts = below.get(&at).map_or(&[][..], Vec::as_slice);
        if !parts.iter().any(|part| taken.contains(part)) {
            report.only[1].push(path.to_owned());
            continue;
        }
        let is_leaf = |part: &u32| !below.contains_key(part);
        let is_taken = |part: u32| iter::once(part).chain(above(fields, part)).any(|at| taken.contains(&at));
        let missing = parts.iter().filter(|part| is_leaf(part) && !is_taken(**part));
        report.only[1].extend(missing.filter_map(|part| Some(fields.get(*part as usize)?.path.clone())));
    }
    if options.common {
        report.only = Default::default();
    }
    Ok(pairs)
}

/// Returns the selected fields that have data and are not parts of others.
fn top<'t>(table: &'t Table, options: &DiffOptions) -> Result<Vec<(u32, &'t str)>> {
    let fields = (0..).zip(table.fields()?).filter(|(_, field)| field.has_data && !field.is_part);
    let is_chosen = |path: &str| options.columns.as_ref().is_none_or(|columns| columns(path));
    Ok(fields.map(|(at, field)| (at, field.path.as_str())).filter(|(_, path)| is_chosen(path)).collect())
}

/// Looks up a path that has dots instead of slashes, or the reverse, in the other table.
fn spelled_otherwise(table: &Table, path: &str) -> Result<Option<u32>> {
    let last = path.rsplit_once('/').map(|(_, last)| last);
    let spellings = [path.replace('/', "."), path.replace('.', "/"), path.to_owned()];
    for spelling in spellings.iter().map(String::as_str).chain(last) {
        if let Some(at) = table.found(spelling)?
            && table.fields()?.get(at as usize).is_some_and(|field| field.has_data)
        {
            return Ok(Some(at));
        }
    }
    Ok(None)
}

/// Returns the pair, if both columns can be read and have comparable types.
fn compared(
    tables: [&Table; 2],
    part: &Part,
    fields: [u32; 2],
    path: &str,
    options: &DiffOptions,
    report: &mut TableDiff,
) -> Result<Option<ColumnPair>> {
    let mut forms: Vec<Form> = Vec::new();
    for (table, field) in tables.into_iter().zip(fields) {
        match table.describe_first(field, 0)?.reading {
            Ok(reading) => forms.push(reading.form),
            Err(why) => {
                let why = format!("not supported yet in {}: {why}", table.file().uri());
                report.not_compared.push((path.to_owned(), why));
                return Ok(None);
            }
        }
    }
    let [left, right] = &forms[..] else { return Ok(None) };
    let types = [left.type_string(), right.type_string()];
    let types_differ = if options.same_content { !are_comparable(left, right) } else { types[0] != types[1] };
    let ranges = [tables[0].entry_range(fields[0])?, tables[1].entry_range(fields[1])?];
    let are_own = (0..2).any(|at| ranges[at] != (0..report.entries[at]));
    let relative = |at: usize| part.relative(&ranges[at], at);
    let entries = relative(0).start.max(relative(1).start)..relative(0).end.min(relative(1).end);
    report.columns.push(ColumnDiff {
        path: path.to_owned(),
        types,
        types_differ,
        entries: are_own.then_some(ranges),
        summary: None,
        differing: 0,
        largest: None,
        first: Vec::new(),
    });
    let at = report.columns.len() - 1;
    Ok((!types_differ).then(|| ColumnPair { at, fields, path: path.to_owned(), entries }))
}

/// Iterates over the ancestors of a field, nearest first.
fn above(fields: &[Field], at: u32) -> impl Iterator<Item = u32> {
    // Parents precede their children, so the chain ends.
    let parent = |at: u32| fields.get(at as usize).and_then(|field| field.parent).filter(|up| *up < at);
    iter::successors(parent(at), move |at| parent(*at))
}
