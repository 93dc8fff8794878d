//! Reading of the tables of several files as one.

use crate::{
    array::{Array, Buffer, place},
    desk::raised,
    file::format_options,
    files::{self, Store},
    read::listening,
    selection::{self, United, united_columns},
    table::{Constant, Table, constants},
};
use forthwith::{
    Chain, ChainFile, ChainOptions, ChainRun, ChainSelected, Damage, Division, DivisionSchema, Engine,
    SchemaColumns, SelectOptions, Step, Unlike,
};
use pyo3::{prelude::*, types::PyDict};
use std::{path::PathBuf, sync::Arc};

/// Path of a file, path of the table in it, and its Hive partition columns.
pub(crate) type Part = (PathBuf, String, Vec<Constant>);

/// Creates the chain of the files; `None` without files.
pub(crate) fn chain(
    parts: Vec<Part>,
    options: Option<&Bound<'_, PyDict>>,
    store: Store,
    engine: Option<Arc<Engine>>,
    damage: Damage,
) -> PyResult<Option<Chain>> {
    let made = parts.into_iter().map(|(path, object, said)| {
        let constants = constants(said);
        ChainFile { path, object, constants }
    });
    let open = format_options(options)?;
    let store = files::options(&store.unwrap_or_default());
    let options = ChainOptions { open, store, engine, damage, ..ChainOptions::default() };
    Ok(Chain::new(made.collect(), options).ok())
}

/// Parses the name of a treatment of damage.
pub(crate) fn damage(errors: &str) -> Damage {
    match errors {
        "skip" => Damage::Skip,
        "null" => Damage::Null,
        _ => Damage::Raise,
    }
}

/// Returns the number of entries of each file; files are opened in parallel. With a treatment of damage other
/// than `"raise"`, only readable entries count. Returns `None` if a file cannot be read.
#[pyfunction]
#[pyo3(signature = (parts, *, errors="raise", options=None, store=None))]
pub(crate) fn count_entries(
    py: Python<'_>,
    parts: Vec<Part>,
    errors: &str,
    options: Option<&Bound<'_, PyDict>>,
    store: Store,
) -> PyResult<Option<Vec<u64>>> {
    let Some(chain) = chain(parts, options, store, None, damage(errors))? else { return Ok(None) };
    let counted = py.detach(|| chain.lengths().ok());
    match raised() {
        Some(raised) => Err(raised),
        None => Ok(counted),
    }
}

/// Returns for each file the position of the first file with the same fields in the same types. Returns
/// `None` if more than `most` schemas differ, or if a file cannot be read.
#[pyfunction]
#[pyo3(signature = (parts, most=None, *, options=None, store=None))]
pub(crate) fn same_schemas(
    py: Python<'_>,
    parts: Vec<Part>,
    most: Option<usize>,
    options: Option<&Bound<'_, PyDict>>,
    store: Store,
) -> PyResult<Option<Vec<usize>>> {
    let Some(chain) = chain(parts, options, store, None, Damage::Raise)? else { return Ok(None) };
    let found = py.detach(|| chain.same_schemas(most.unwrap_or(usize::MAX)).ok().flatten());
    match raised() {
        Some(raised) => Err(raised),
        None => Ok(found),
    }
}

/// Partitions of a table, stored bytes of its columns, its entries, and size and identity of its file.
pub(crate) type Divided = (Vec<(u64, u64)>, u64, u64, u64, Option<String>);

pub(crate) fn divided(division: Division) -> Divided {
    let Division { partitions, stored_bytes, entries, file_size, identity } = division;
    let partitions = partitions.into_iter().map(|part| (part.start, part.end)).collect();
    (partitions, stored_bytes, entries, file_size, identity)
}

/// Returns the size of a partition; `None` means the whole table.
pub(crate) fn partition_size(entries: Option<u64>, bytes: Option<u64>) -> Option<Step> {
    entries.map(Step::Entries).or(bytes.map(Step::Bytes))
}

/// Divides each file whose fields match one of `schemas`, which are tables with positions of fields, and
/// returns it with the position of the schema. `None` for files with other fields or with an error.
#[pyfunction]
#[pyo3(signature = (parts, schemas, *, entries=None, bytes=None, align=true, options=None, store=None))]
#[expect(clippy::too_many_arguments, reason = "the arguments of Python")]
pub(crate) fn divide_alike(
    py: Python<'_>,
    parts: Vec<Part>,
    schemas: Vec<(Bound<'_, Table>, Vec<u32>)>,
    entries: Option<u64>,
    bytes: Option<u64>,
    align: bool,
    options: Option<&Bound<'_, PyDict>>,
    store: Store,
) -> PyResult<Vec<Option<(usize, Divided)>>> {
    let Some(chain) = chain(parts, options, store, None, Damage::Raise)? else { return Ok(Vec::new()) };
    let schema = |(table, fields): (Bound<'_, Table>, Vec<u32>)| DivisionSchema {
        table: table.get().table.clone(),
        fields,
    };
    let schemas: Vec<DivisionSchema> = schemas.into_iter().map(schema).collect();
    let step = partition_size(entries, bytes);
    let found = py.detach(|| chain.divide_alike(&schemas, step, align));
    match raised() {
        Some(raised) => Err(raised),
        None => {
            Ok(found.into_iter().map(|found| found.map(|(at, division)| (at, divided(division)))).collect())
        }
    }
}

/// An array for each column, the entries of these arrays if some may be excluded, and the number of entries
/// of each file as far as known.
type Read = (Vec<Array>, Option<Buffer>, Vec<Option<u64>>);

/// The columns of all files, or the reason why they are not read into one result.
#[derive(IntoPyObject)]
pub(crate) enum Alike {
    Read(Read),
    Unlike(&'static str),
}

/// Reads columns of all files, by the positions of their fields in the first table or as expressions, if the
/// files have the same fields in the same types. Otherwise returns `"types"`, or `"unreadable"` if a file
/// cannot be read.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "the arguments of Python")]
#[pyo3(signature = (first, columns, parts, aliases, cut=None, start=0, stop=None, *, bits=false, threads=None, options=None, store=None))]
pub(crate) fn read_alike(
    py: Python<'_>,
    first: &Bound<'_, Table>,
    columns: Vec<(String, Option<u32>)>,
    parts: Vec<Part>,
    aliases: Vec<(String, String)>,
    cut: Option<String>,
    start: u64,
    stop: Option<u64>,
    bits: bool,
    threads: Option<usize>,
    options: Option<&Bound<'_, PyDict>>,
    store: Store,
) -> PyResult<Alike> {
    let first = first.get();
    let engine = Arc::clone(first.table.file().engine());
    let Some(chain) = chain(parts, options, store, Some(engine), Damage::Raise)? else {
        return Ok(Alike::Unlike("types"));
    };
    let (table, entries) = (&first.table, start..stop.unwrap_or(u64::MAX));
    let columns: Vec<_> = columns.iter().map(|(name, field)| (name.as_str(), *field)).collect();
    let read = listening(py, &first.handle, None, |tick| {
        let options = SelectOptions { aliases, cut, ..SelectOptions::default() };
        let Ok(selection) = chain.select_like(table, &columns, options) else {
            return Ok(Err(Unlike::Types));
        };
        selection.with_bits(bits).read_alike(entries, threads, Some(tick))
    })?;
    let ChainSelected { kept: entries, arrays, .. } = match read {
        Ok(selected) => selected,
        Err(Unlike::Types) => return Ok(Alike::Unlike("types")),
        Err(Unlike::Unreadable) => return Ok(Alike::Unlike("unreadable")),
    };
    let made = arrays.iter().zip(&columns).map(|(array, (name, _))| {
        Array::new(py, array, place(table.file().uri(), (*name).to_owned(), start), table.text_policy())
    });
    Ok(Alike::Read((made.collect::<PyResult<_>>()?, entries.map(selection::kept), chain.known_lengths())))
}

/// First file of a run, its first entry in the chain, an array for each column, and the entries of these
/// arrays if some may be excluded.
type Run = (usize, u64, Vec<Array>, Option<Buffer>);

/// Runs, and the number of entries of each file if known.
type Runs = (Vec<Run>, Vec<Option<u64>>);

/// A table of a schema, the number of its file, the position of the field of each column or `None` for
/// computed ones, columns with a common type, and the group of schemas whose files may be read into one
/// result.
type Schema<'py> = (Bound<'py, Table>, usize, Vec<Option<u32>>, Vec<United<'py>>, usize);

/// Reads columns of files of several schemas; `of_file` has the position of each file's schema. Returns a
/// result for each run of files of one group in which the columns have the same types, or `None` if a file
/// cannot be read.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "the arguments of Python")]
#[pyo3(signature = (schemas, of_file, names, parts, aliases, cut=None, start=0, stop=None, *, bits=false, threads=None, options=None, store=None))]
pub(crate) fn read_schemas(
    py: Python<'_>,
    schemas: Vec<Schema<'_>>,
    of_file: Vec<usize>,
    names: Vec<String>,
    parts: Vec<Part>,
    aliases: Vec<(String, String)>,
    cut: Option<String>,
    start: u64,
    stop: Option<u64>,
    bits: bool,
    threads: Option<usize>,
    options: Option<&Bound<'_, PyDict>>,
    store: Store,
) -> PyResult<Option<Runs>> {
    let Some(first) = schemas.first().map(|(table, ..)| table.get()) else { return Ok(None) };
    let (handle, policy) = (Arc::clone(&first.handle), first.table.text_policy());
    let uri = first.table.file().uri().to_owned();
    let engine = Arc::clone(first.table.file().engine());
    let Some(chain) = chain(parts, options, store, Some(engine), Damage::Raise)? else { return Ok(None) };
    let columns = |(table, file, fields, united, group): Schema<'_>| {
        let table = table.get().table.clone();
        SchemaColumns { table, file, fields, united: united_columns(united), group }
    };
    let schemas: Vec<SchemaColumns> = schemas.into_iter().map(columns).collect();
    let read = listening(py, &handle, None, |tick| {
        let options = SelectOptions { aliases, cut, ..SelectOptions::default() };
        let labels: Vec<&str> = names.iter().map(String::as_str).collect();
        let Ok(selection) = chain.select_schemas(&labels, schemas, of_file, options) else { return Ok(None) };
        selection.with_bits(bits).read_runs(start..stop.unwrap_or(u64::MAX), threads, Some(tick))
    })?;
    let Some(runs) = read else { return Ok(None) };
    let run = |ChainRun { file, selected }: ChainRun| -> PyResult<Run> {
        let ChainSelected { entries, kept, arrays, .. } = selected;
        let made = arrays
            .iter()
            .zip(&names)
            .map(|(array, name)| Array::new(py, array, place(&uri, name.clone(), entries.start), policy));
        Ok((file, entries.start, made.collect::<PyResult<_>>()?, kept.map(selection::kept)))
    };
    Ok(Some((runs.into_iter().map(run).collect::<PyResult<_>>()?, chain.known_lengths())))
}
