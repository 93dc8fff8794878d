//! Matching of the entries of two tables by the values of key columns.

use super::{DiffOptions, DiffProgress};
use crate::{SelectOptions, Selection, Step, Table};
use forthwith_columns::{Array, Form, Value};
use forthwith_plan::{Error, ErrorKind, Result};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Number of bytes of key columns that are read at a time.
const STEP: u64 = 32 << 20;

/// Entries of two tables with equal keys, in the order of the left table, and unmatched ones.
#[derive(Debug, Default)]
pub(super) struct Matched {
    pub(super) pairs: Vec<[u64; 2]>,
    pub(super) unmatched: [Vec<u64>; 2],
}

/// Matches the entries of two tables. Duplicate keys are matched in order.
///
/// Keys are compared by a 64-bit hash. If two different keys collide, the comparison of the key columns shows
/// that they differ.
pub(super) fn match_keys(
    tables: [&Table; 2],
    options: &DiffOptions,
    progress: &mut DiffProgress<'_>,
) -> Result<Matched> {
    let left = sorted_keys(tables[0], options, progress)?;
    let right = sorted_keys(tables[1], options, progress)?;
    let mut matched = Matched::default();
    let (mut l, mut r) = (left.iter().peekable(), right.iter().peekable());
    loop {
        match (l.peek(), r.peek()) {
            (Some((key, entry)), Some((other, of))) if key == other => {
                matched.pairs.push([*entry, *of]);
                l.next();
                r.next();
            }
            (Some((key, entry)), other) if other.is_none_or(|(other, _)| key < other) => {
                matched.unmatched[0].push(*entry);
                l.next();
            }
            (_, Some((_, entry))) => {
                matched.unmatched[1].push(*entry);
                r.next();
            }
            (_, None) => break,
        }
    }
    matched.pairs.sort_unstable();
    matched.unmatched.iter_mut().for_each(|entries| entries.sort_unstable());
    Ok(matched)
}

/// Selects the key columns of a table.
///
/// # Errors
/// An unknown name, or values that are not supported as keys.
pub(super) fn key_columns(table: &Table, options: &DiffOptions) -> Result<Selection> {
    let names: Vec<&str> = options.on.iter().map(String::as_str).collect();
    let selection = table.select(&names, SelectOptions::default())?;
    for (name, form) in names.iter().zip(selection.forms()?) {
        if !is_key(&form) {
            let what = format!("{name} is {}: keys are numbers or text", form.type_string());
            return table.here(Err(Error::invalid(what)));
        }
    }
    Ok(selection)
}

/// Returns the hashes of the keys of all entries with their entries, in ascending order.
fn sorted_keys(
    table: &Table,
    options: &DiffOptions,
    progress: &mut DiffProgress<'_>,
) -> Result<Vec<(u64, u64)>> {
    let mut keys = Vec::new();
    let selection = key_columns(table, options)?;
    let mut steps = selection.steps(.., Step::Bytes(STEP))?;
    while let Some(step) = steps.read_batch(options.threads, None)? {
        if !progress(0, 0) {
            return Err(Error::new(ErrorKind::Cancelled));
        }
        let rows = step.entries.end - step.entries.start;
        let mut hashers = vec![DefaultHasher::new(); rows as usize];
        for array in &step.arrays {
            add(array, &mut hashers)
                .map_err(|error| table.here::<()>(Err(error)).err().unwrap_or_else(|| Error::fault("")))?;
        }
        keys.extend(hashers.into_iter().map(|hasher| hasher.finish()).zip(step.entries));
    }
    keys.sort_unstable();
    Ok(keys)
}

fn is_key(form: &Form) -> bool {
    match form {
        Form::Numpy { shape, .. } => shape.is_empty(),
        Form::String { .. } | Form::Categorical { .. } => true,
        Form::Option { content, .. } | Form::Logical { content, .. } => is_key(content),
        _ => false,
    }
}

/// Adds the values of a column to the hashes of its rows. Equal numbers have equal hashes, whatever their types.
fn add(array: &Array, hashers: &mut [DefaultHasher]) -> Result<()> {
    if let Form::Numpy { key, .. } = array.form.kept()
        && let Some(column) = array.column(&format!("{key}-data"))
        && column.len() >= hashers.len()
        && column.integer(0).is_some()
    {
        for (at, hasher) in hashers.iter_mut().enumerate() {
            column.integer(at).hash(hasher);
        }
        return Ok(());
    }
    let bare = Array { form: array.form.kept().clone(), ..array.clone() };
    for (row, hasher) in (0..).zip(hashers) {
        match bare.value(row).map_err(|error| Error::fault(error.to_string()))? {
            Value::Bool(value) => Some(i128::from(value)).hash(hasher),
            Value::Int(value) => Some(i128::from(value)).hash(hasher),
            Value::UInt(value) => Some(i128::from(value)).hash(hasher),
            Value::Float32(value) => float(f64::from(value), hasher),
            Value::Float64(value) => float(value, hasher),
            Value::String(text) | Value::Logical(text) => text.hash(hasher),
            Value::Bytes(bytes) => bytes.hash(hasher),
            _ => None::<i128>.hash(hasher),
        }
    }
    Ok(())
}

fn float(value: f64, hasher: &mut DefaultHasher) {
    let whole = value as i128;
    if whole as f64 == value {
        Some(whole).hash(hasher);
    } else {
        (if value.is_nan() { f64::NAN } else { value }).to_bits().hash(hasher);
    }
}
