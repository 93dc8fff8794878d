//! `forthwith count`: numbers of entries, read from metadata or from the headers of blocks.

use crate::{
    console::Console,
    failure::{Failure, Result},
    meaning::Shape,
    opened,
    target::Target,
};
use serde::Serialize;

/// The entries of one table.
#[derive(Debug, Serialize)]
struct Row {
    file: String,
    table: String,
    entries: u64,
}

pub(crate) fn count(
    targets: &[Target],
    shape: Shape,
    opening: &opened::Opening,
    console: &mut Console<'_>,
) -> Result<()> {
    let (mut rows, mut code) = (Vec::new(), 0);
    for target in targets {
        let counted = opened::place_of(target, opening).and_then(|place| {
            let (file, table) = (place.table.file().uri().to_owned(), place.table.path().to_owned());
            Ok(Row { file, table, entries: place.table.entries()? })
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
