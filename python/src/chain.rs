//! Reading the tables of many files at once.

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

/// The path of a file, the table in it, and the columns that its folders say.
pub(crate) type Part = (PathBuf, String, Vec<Constant>);

/// The files as one; `None` if there is none.
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

/// How damage is treated, by its name in Python.
pub(crate) fn damage(errors: &str) -> Damage {
    match errors {
        "skip" => Damage::Skip,
        "null" => Damage::Null,
        _ => Damage::Raise,
    }
}

/// The number of entries of each file, which are opened side by side; those around damage, if that is not an error. Nothing if something
/// is wrong with one of them.
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

/// For each file the first one with the same fields in the same types. Nothing if more than `most` differ, or if something is wrong
/// with one of them.
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

/// The partitions of a table, the stored bytes of its columns, its entries, and the size and the identity of its file.
pub(crate) type Divided = (Vec<(u64, u64)>, u64, u64, u64, Option<String>);

pub(crate) fn divided(division: Division) -> Divided {
    let Division { partitions, stored_bytes, entries, file_size, identity } = division;
    let partitions = partitions.into_iter().map(|part| (part.start, part.end)).collect();
    (partitions, stored_bytes, entries, file_size, identity)
}

/// The size of a partition; `None` for all of a table.
pub(crate) fn partition_size(entries: Option<u64>, bytes: Option<u64>) -> Option<Step> {
    entries.map(Step::Entries).or(bytes.map(Step::Bytes))
}

/// Divides files with the fields of one of some tables, of which positions of fields are given, and says of which; `None` of a file
/// with other fields, or with something wrong.
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

/// An array for each column, the entries that they have if these may not be all, and the number of entries of each file, as
/// far as known.
type Read = (Vec<Array>, Option<Buffer>, Vec<Option<u64>>);

/// The columns of all files, or why they are not read as one.
#[derive(IntoPyObject)]
pub(crate) enum Alike {
    Read(Read),
    Unlike(&'static str),
}

/// Columns of all files, by the positions of their fields in the first table or as expressions, if the files have the same fields in
/// the same types. `"types"` if they have not, and `"unreadable"` if something is wrong with one of them.
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

/// The first file of a run, the first entry, counted in all files, an array for each column, and the entries that these have if
/// they may not be all.
type Run = (usize, u64, Vec<Array>, Option<Buffer>);

/// Runs, and the entries of each file if known.
type Runs = (Vec<Run>, Vec<Option<u64>>);

/// A table of a schema, the number of its file, the position of each column that is a field, columns in other types, and the number
/// of schemas whose files may be read into one result.
type Schema<'py> = (Bound<'py, Table>, usize, Vec<Option<u32>>, Vec<United<'py>>, usize);

/// Columns of files of several schemas, of which each file's position is given: a result for each run of files of one group in which
/// the columns have the same types. Nothing if something is wrong with one of them.
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
