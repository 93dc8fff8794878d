//! `forthwith sniff`: summarises a file in one line.

use crate::{
    console::Console,
    failure::{Failure, Result},
    human,
    opened::{self, Opening},
    shape::Shape,
    survey::{Means, survey},
    target::Target,
};
use forthwith::{File, Table};
use serde::Serialize;

/// Maximum number of tables described.
const TABLES: usize = 8;

/// Summary of a file.
#[derive(Debug, Serialize)]
struct Report {
    file: String,
    format: String,
    version: String,
    compression: String,
    bytes: u64,
    /// Number of objects other than tables and directories.
    objects: u64,
    /// Number of tables.
    tables: u64,
    /// Layouts of the first [`TABLES`] tables.
    layout: Vec<Layout>,
}

/// Layout of a table.
#[derive(Debug, Serialize)]
struct Layout {
    path: String,
    class: String,
    entries: u64,
    columns: u64,
    /// Maximum number of blocks of any column.
    blocks: u64,
    stored_bytes: u64,
    /// Decompressed bytes; 0 if unknown.
    payload_bytes: u64,
}

pub(crate) fn sniff(
    targets: &[Target],
    shape: Shape,
    opening: &Opening,
    console: &mut Console<'_>,
) -> Result<()> {
    let (mut reports, mut code) = (Vec::new(), 0);
    for target in targets {
        match opened::file(target, opening).and_then(|file| report(&file, target)) {
            Ok(report) if shape == Shape::Json => reports.push(report),
            Ok(report) => console.line(&line(&report))?,
            Err(failure) if targets.len() == 1 => return Err(failure),
            Err(failure) => {
                console.fail(&failure);
                code = if code == 0 { failure.code() } else { code };
            }
        }
    }
    if shape == Shape::Json {
        console.json(&reports)?;
    }
    if code == 0 { Ok(()) } else { Err(Failure::Told { code }) }
}

fn report(file: &File, target: &Target) -> Result<Report> {
    if !target.object.is_empty() {
        let what = format!("sniff looks at a whole file: leave out :{}", target.object);
        return Err(Failure::misuse(what));
    }
    let info = file.info()?;
    let keys = file.keys("", true)?;
    let paths = opened::trees(file)?;
    let mut layout = Vec::new();
    for path in paths.iter().take(TABLES) {
        let class = keys.iter().find(|key| key.path == *path).map_or("", |key| &key.class);
        layout.push(of_table(&file.table(path)?, path, class)?);
    }
    Ok(Report {
        file: file.uri().to_owned(),
        format: info.format,
        version: info.version,
        compression: info.compression,
        bytes: info.size,
        objects: keys.iter().filter(|key| !key.is_directory && !key.is_table).count() as u64,
        tables: paths.len() as u64,
        layout,
    })
}

fn of_table(table: &Table, path: &str, class: &str) -> Result<Layout> {
    let branches = survey(table)?;
    let columns: Vec<_> = branches.iter().filter(|branch| branch.means() != Means::Group).collect();
    let described = || columns.iter().filter_map(|branch| branch.description.as_ref().ok());
    // In row formats, all columns have the same description.
    let rows = table.words().rows;
    let bytes = |bytes: fn(&forthwith::plan::Description) -> u64| -> u64 {
        if rows { described().map(bytes).max().unwrap_or(0) } else { described().map(bytes).sum() }
    };
    Ok(Layout {
        path: path.to_owned(),
        class: class.to_owned(),
        entries: table.entries()?,
        columns: columns.len() as u64,
        blocks: described().map(|description| description.blocks).max().unwrap_or(0),
        stored_bytes: bytes(|description| description.stored_bytes),
        payload_bytes: bytes(|description| description.payload_bytes),
    })
}

fn line(report: &Report) -> String {
    let mut parts = vec![format!("{} {}", report.format, report.version).trim_end().to_owned()];
    parts.extend(Some(report.compression.clone()).filter(|text| !text.is_empty()));
    parts.push(human::bytes(report.bytes));
    for table in &report.layout {
        let entries = human::counted(table.entries, "entry", "entries");
        let columns = human::counted(table.columns, "column", "columns");
        let blocks = human::counted(table.blocks, "block", "blocks");
        let ratio = match human::ratio(table.payload_bytes, table.stored_bytes).as_str() {
            "-" => String::new(),
            ratio => format!(", ratio {ratio}"),
        };
        let class = if table.class == report.format { String::new() } else { format!("{} ", table.class) };
        let name = if table.path.is_empty() { "table".into() } else { format!("{class}{}", table.path) };
        parts.push(format!("{name}: {entries}, {columns} in {blocks}{ratio}"));
    }
    let more = report.tables - report.layout.len() as u64;
    if more > 0 {
        parts.push(human::counted(more, "more table", "more tables"));
    }
    if report.objects > 0 {
        parts.push(human::counted(report.objects, "object", "objects"));
    }
    human::clean(&format!("{}: {}", report.file, parts.join("; ")))
}
