//! `forthwith count`: numbers of entries, from metadata or from the headers of blocks.

use crate::{
    chain::TargetChain,
    console::Console,
    failure::{Failure, Result},
    opened::{Opening, Place, Values},
    shape::Shape,
    target::Target,
};
use forthwith::{Damage, MissingColumns, SelectOptions, Step, Table};
use serde::Serialize;

/// Number of decompressed bytes that are read at a time for a cut.
const STEP: u64 = 64 << 20;

/// Number of entries of one table.
#[derive(Debug, Serialize)]
struct Row {
    file: String,
    table: String,
    entries: u64,
}

/// Number of entries of several files.
#[derive(Debug, Serialize)]
struct Total {
    files: usize,
    entries: u64,
}

/// Counts the entries of a table that pass a cut.
fn entries(table: &Table, cut: Option<&str>, threads: Option<usize>) -> Result<u64> {
    let all = table.entries()?;
    let Some(cut) = cut else { return Ok(all) };
    let mut steps = table.select_fields(&[], cut_options(cut))?.steps(0..all, Step::Bytes(STEP))?;
    let mut count = 0;
    while let Some(batch) = steps.read_batch(threads, None)? {
        count += batch.kept.map_or(batch.entries.end - batch.entries.start, |kept| kept.len() as u64);
    }
    Ok(count)
}

fn cut_options(cut: &str) -> SelectOptions {
    SelectOptions { cut: Some(cut.to_owned()), ..SelectOptions::default() }
}

/// Counts the entries of each file.
pub(crate) fn count(
    targets: &[Target],
    cut: Option<&str>,
    shape: Shape,
    opening: &Opening,
    console: &mut Console<'_>,
) -> Result<()> {
    let files = chain(targets, opening)?;
    let all = files.chain.engine().options().threads;
    // Files are counted in parallel and share the threads.
    let threads = if targets.len() == 1 { opening.threads } else { Some((all / targets.len()).max(1)) };
    let row = |place: Place| {
        let (file, table) = (place.table.file().uri().to_owned(), place.table.path().to_owned());
        Ok(Row { file, table, entries: entries(&place.table, cut, threads)? })
    };
    let (mut rows, mut code) = (Vec::new(), 0);
    for batch in files.batches() {
        for (target, counted) in targets[batch.clone()].iter().zip(files.map_places(batch, row)) {
            match counted {
                Ok(row) if shape == Shape::Json => rows.push(row),
                // A plain number without separators, which programs can parse.
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
    }
    if shape == Shape::Json {
        console.json(&rows)?;
    }
    if code == 0 { Ok(()) } else { Err(Failure::Told { code }) }
}

/// Counts the entries of all files as one table.
pub(crate) fn count_chain(
    targets: &[Target],
    cut: Option<&str>,
    shape: Shape,
    opening: &Opening,
    console: &mut Console<'_>,
) -> Result<()> {
    let files = chain(targets, opening)?;
    let mut total = Total { files: targets.len(), entries: 0 };
    match cut {
        None => total.entries = files.chain.entries()?,
        Some(cut) => {
            let mut steps = files.chain.select(&[], cut_options(cut))?.steps(.., Step::Bytes(STEP))?;
            while let Some(step) = steps.read(opening.threads, &mut |_| true)? {
                let all = step.entries.end - step.entries.start;
                total.entries += step.kept.map_or(all, |kept| kept.len() as u64);
            }
        }
    }
    match shape {
        Shape::Json => console.json(&total),
        _ => console.line(&total.entries.to_string()),
    }
}

fn chain(targets: &[Target], opening: &Opening) -> Result<TargetChain> {
    TargetChain::new(targets, opening, Values::default(), MissingColumns::Raise, Damage::Raise)
}
