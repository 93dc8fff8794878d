//! `forthwith count`: numbers of entries, read from metadata or from the headers of blocks.

use crate::{
    console::Console,
    failure::{Failure, Result},
    opened,
    shape::Shape,
    target::Target,
};
use forthwith::{SelectOptions, Step, Table};
use serde::Serialize;

/// Decompressed bytes that are read at a time for a condition.
const STEP: u64 = 64 << 20;

/// The entries of one table.
#[derive(Debug, Serialize)]
struct Row {
    file: String,
    table: String,
    entries: u64,
}

/// The entries of a table that pass a condition.
fn entries(table: &Table, cut: Option<&str>, opening: &opened::Opening) -> Result<u64> {
    let all = table.entries()?;
    let Some(cut) = cut else { return Ok(all) };
    let options = SelectOptions { cut: Some(cut.to_owned()), ..SelectOptions::default() };
    let mut steps = table.select_fields(&[], options)?.steps(0..all, Step::Bytes(STEP))?;
    let mut count = 0;
    while let Some(batch) = steps.read_batch(opening.threads, None)? {
        count += batch.kept.map_or(batch.entries.end - batch.entries.start, |kept| kept.len() as u64);
    }
    Ok(count)
}

pub(crate) fn count(
    targets: &[Target],
    cut: Option<&str>,
    shape: Shape,
    opening: &opened::Opening,
    console: &mut Console<'_>,
) -> Result<()> {
    let (mut rows, mut code) = (Vec::new(), 0);
    for target in targets {
        let counted = opened::place_of(target, opening).and_then(|place| {
            let (file, table) = (place.table.file().uri().to_owned(), place.table.path().to_owned());
            Ok(Row { file, table, entries: entries(&place.table, cut, opening)? })
        });
        match counted {
            Ok(row) if shape == Shape::Json => rows.push(row),
            // A bare number, without separators: for programs, too.
            Ok(row) if targets.len() == 1 => console.line(&row.entries.to_string())?,
            Ok(row) => {
                console.line(&format!("{}\t{}", row.entries, crate::human::clean(&target.typed())))?;
            }
            Err(failure) if targets.len() == 1 => return Err(failure),
            Err(failure) => {
                console.fail(&failure);
                code = if code == 0 { failure.code() } else { code };
            }
        }
    }
    if shape == Shape::Json {
        console.json(&rows)?;
    }
    if code == 0 { Ok(()) } else { Err(Failure::Told { code }) }
}
