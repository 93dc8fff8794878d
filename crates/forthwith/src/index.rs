//! Index of a file: all bytes that are read before its data.

use crate::{File, Table};
use forthwith_engine::{Engine, Options};
use forthwith_io::{ErrorKind as SourceKind, Index, Recorder, Source};
use forthwith_plan::{Error, ErrorKind, Result};
use std::{collections::BTreeSet, sync::Arc};

/// Makes an index of a file: opens the file and all its tables, plans the read of each of their columns, and
/// records the bytes that are read for that. [`files::source_indexed`](crate::files::source_indexed) opens
/// the file with it.
///
/// ```
/// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data");
/// let source = forthwith::io::open(&format!("{folder}/zmumu.root"))?;
/// let size = source.size()?;
/// let index = forthwith::index(source)?;
/// assert!(index.ranges().iter().map(|range| range.end - range.start).sum::<u64>() < size / 10);
/// # Ok::<(), forthwith::plan::Error>(())
/// ```
///
/// # Errors
/// The file cannot be read, has an unknown format, or changes meanwhile. Unreadable tables and columns are
/// left out of the index.
pub fn index(source: Arc<dyn Source>) -> Result<Index> {
    let recorder = Arc::new(Recorder::new(source)?);
    let engine = Arc::new(Engine::new(Options::with_threads(1)));
    let file = File::from_source(Arc::clone(&recorder) as Arc<dyn Source>, engine)?;
    file.info()?;
    let mut paths: Vec<String> = Vec::new();
    let mut seen = BTreeSet::new();
    for key in file.keys("", true)?.into_iter().filter(|key| key.is_table) {
        paths.push(format!("{};{}", key.path, key.cycle));
    }
    while let Some(path) = paths.pop().filter(|path| seen.insert(path.clone())) {
        if let Some(table) = readable(file.table(&path))? {
            plan(&table)?;
            paths.extend(table.attribute_sets().into_iter().map(|name| format!("{}@{name}", table.path())));
        }
        recorder.pause()?;
    }
    Ok(recorder.index()?)
}

/// Performs all reads of a table that precede those of its data.
fn plan(table: &Table) -> Result<()> {
    let Some(entries) = readable(table.entries())? else { return Ok(()) };
    let Some(fields) = readable(table.fields())? else { return Ok(()) };
    let dataset = table.dataset();
    for (field, _) in (0..).zip(fields).filter(|(_, field)| field.has_data) {
        readable(table.describe(field))?;
        if let Some(range) = readable(table.entry_range(field))? {
            readable(table.plan(&[field], range))?;
        }
        readable(dataset.limits(field, 0..entries))?;
        readable(dataset.finer_limits(field, 0..entries))?;
    }
    readable(dataset.aliases())?;
    Ok(())
}

/// Returns `None` for errors that are due to the file itself; errors of the source are returned.
fn readable<T>(found: Result<T>) -> Result<Option<T>> {
    use SourceKind as Kind;
    let of_the_file = |error: &Error| match &error.kind {
        ErrorKind::Source(error) => {
            matches!(
                error.kind,
                Kind::BeyondEnd { .. } | Kind::NothingBeside { .. } | Kind::Elsewhere | Kind::NotFound
            )
        }
        ErrorKind::Cancelled | ErrorKind::OutOfMemory { .. } => false,
        _ => true,
    };
    match found {
        Err(error) if of_the_file(&error) => Ok(None),
        found => found.map(Some),
    }
}
